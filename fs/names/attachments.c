/*
 * attachments/: see attachments.h.
 *
 * An attachment exists from the close that stores it until a message sends it
 * (store/turn/turn.c). A name that starts with a dot is a scratch file; a rename
 * turns the scratch file into an attachment.
 */
#include "fs/names/attachments.h"

#include "base/name.h"
#include "fs/draft/scratch.h"
#include "fs/draft/text.h"
#include "fs/tree/fs.h"
#include "fs/tree/tree.h"
#include "store/turn/attachment.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#define COOKIE_STEP (1ull << 53) /* between the cookies of stored and of scratch files */
#define SCRATCH_PART                                                                               \
	(1ull << 55) /* with a session's number: the scratch_info.dir of attachments/ */

/* The session's number itself is the scratch_info.dir of its artifacts/. */
static uint64_t attachments_scratch(const struct place *dir)
{
	return SCRATCH_PART | dir->ref.session;
}

static void notify_list(const struct place *dir)
{
	notify_attributes(&dir->fs->notify, node_ino(dir->ref.session, ID_ATTACHMENTS));
}

/* The name of an attachment, as the model sees it. -ENOENT: no attachment has such a file name. */
static int id_of_name(const char *name, struct buf *id, struct err *err)
{
	int r;

	if (name[0] == '.')
		return err_set(err, -ENOENT, "there is no %s here", name);
	r = name_decode(span_of(name), NAME_HIDE_DOT, id, err);
	if (r == 0 && memchr(id->data, 0, id->len))
		r = err_set(err, -EINVAL, "an attachment's name cannot contain a NUL");
	return r < 0 ? r : buf_cstr(id) ? 0 : err_nomem(err);
}

int attachments_dir_stat(const struct place *at, struct node_stat *st, struct err *err)
{
	struct scope_info info;
	int r = scope_stat(at->fs->store, at->ref, &info, err);

	if (r < 0)
		return r;
	st->mtime = MAX(info.attachments_stamp, at->fs->mounted);
	st->mtime = MAX(st->mtime, scratch_dir_stamp(at->fs, attachments_scratch(at)));
	return 0;
}

static void show_attachment(const struct attachment_info *info, struct node_stat *st)
{
	st->size = info->size;
	st->mtime = info->stamp;
}

static int attachment_file_stat(const struct place *at, struct node_stat *st, struct err *err)
{
	struct attachment_info info;
	int r = attachment_stat(at->fs->store, at->ref, at->item, &info, err);

	if (r == 0)
		show_attachment(&info, st);
	if (r != -ENOENT || !at->inode || !atomic_load(&at->inode->pending))
		return r;
	st->size = 0; /* the file is being written for the first time */
	return 0;
}

static int attachment_file_show(const struct place *at, struct buf *out, struct err *err)
{
	int r = attachment_read(at->fs->store, at->ref, at->item, out, err);

	return r == -ENOENT && atomic_load(&at->inode->pending) ? 0 : r;
}

static int check_bytes(struct handle *h, struct span bytes, struct err *err)
{
	const struct place *at = inode_place(h->inode);

	return attachment_check(at->fs->store, at->ref, at->name, bytes.len, err);
}

/* If the attachment was sent in the meantime, store a new one for the next message. */
static int set_bytes(struct handle *h, struct span bytes, struct err *err)
{
	const struct place *at = inode_place(h->inode);
	uint64_t number = atomic_load(&h->inode->gone) ? 0 : at->item;

	return attachment_put(at->fs->store, at->ref, at->name, bytes, number, err);
}

/* Load the text at the open: a message may send, and so remove, the file at any time. */
static int attachment_file_open(struct handle *h, struct err *err)
{
	CLEANUP(buf_release) struct buf none = { 0 };
	int r = h->flags & O_TRUNC ? 0 : handle_read_shown(h, 0, 0, &none, err);

	if (r == -ENOENT)
		return -ESTALE;
	return r;
}

static const struct text_rules byte_rules = {
	.is_bytes = true,
	.max = ATTACHMENTS_MAX + 1,
	.what = "an attachment",
	.open = attachment_file_open,
	.check = check_bytes,
	.set = set_bytes,
};

const struct node_type attachments_members[] = {
	{ .name = "<name>",
	  .id = ID_OBJECT,
	  .mode = S_IFREG | 0600,
	  .stat = attachment_file_stat,
	  .show = attachment_file_show,
	  .read = text_read,
	  .file = &text_ops,
	  .text = &byte_rules },
	{ 0 },
};

static void file_place(const struct place *dir, uint64_t number, struct place *child)
{
	*child = place_child(dir, dir->type->members);
	child->item = number;
}

static int attachments_find(const struct place *dir, const char *name, struct place *child,
			    struct buf *text, struct err *err)
{
	CLEANUP(buf_release) struct buf id = { 0 };
	struct attachment_info info;
	struct scratch_info scratch;
	int r;

	if (scratch_find(dir->fs, attachments_scratch(dir), name, &scratch))
		return scratch_found(dir, &scratch, child, text, err);
	r = id_of_name(name, &id, err);
	if (r == 0)
		r = attachment_find(dir->fs->store, dir->ref, id.data, &info, err);
	if (r < 0)
		return r;
	file_place(dir, info.number, child);
	return place_copy_name(child, info.name, text, err);
}

static int list_file(void *arg, const struct attachment_info *info)
{
	struct lister *l = arg;
	CLEANUP(buf_release) struct buf name = { 0 };
	struct node_stat st = { 0 };
	struct place child;

	if (name_encode(span_of(info->name), NAME_HIDE_DOT, &name, NULL) < 0 || !buf_cstr(&name))
		return -ENOMEM;
	file_place(l->dir, info->number, &child);
	child.name = info->name;
	show_attachment(info, &st);
	return lister_emit(l, name.data, &child, info->number, &st);
}

static int attachments_list(const struct place *dir, uint64_t after, struct lister *l,
			    struct err *err)
{
	int r = 0;

	if (after < COOKIE_STEP)
		r = attachment_list(dir->fs->store, dir->ref, after, list_file, l, err);
	return r ? r : scratch_emit(l, attachments_scratch(dir), COOKIE_STEP, after);
}

static struct scratch_info new_unsent_scratch(const struct place *dir, const char *name)
{
	struct scratch_info info = { .dir = attachments_scratch(dir), .scope = dir->ref };

	(void)snprintf(info.name, sizeof info.name, "%s", name);
	return info;
}

static int attachments_create(const struct place *dir, const char *name, const struct node_new *by,
			      struct place *child, struct buf *text, struct err *err)
{
	CLEANUP(buf_release) struct buf id = { 0 };
	uint64_t number;
	int r;

	if (attachments_find(dir, name, child, text, NULL) == 0)
		return 0;     /* another open has made the file in the meantime */
	if (name[0] == '.') { /* tools write such a file before they rename it */
		struct scratch_info scratch = new_unsent_scratch(dir, name);

		r = scratch_create(dir->fs, &scratch, by, err);
		if (r < 0)
			return r;
		notify_list(dir);
		return scratch_found(dir, &scratch, child, text, err);
	}
	r = id_of_name(name, &id, err);
	if (r == 0)
		r = attachment_check(dir->fs->store, dir->ref, id.data, 0, err);
	if (r < 0)
		return r;
	number = store_new_number(dir->fs->store, err);
	if (!number)
		return -EIO;
	file_place(dir, number, child);
	return place_copy_name(child, id.data, text, err);
}

static void remove_scratch(const struct place *dir, uint64_t number)
{
	scratch_unlink(dir->fs, number);
	notify_list(dir);
}

/* Discard the bytes of opens that write the attachment. */
static void forget_writers(const struct place *dir, uint64_t number)
{
	handle_removed(dir->fs, node_ino(number, ID_OBJECT));
}

static int attachments_remove(const struct place *dir, const char *name, struct err *err)
{
	CLEANUP(buf_release) struct buf text = { 0 };
	struct place child = *dir;
	int r = attachments_find(dir, name, &child, &text, err);

	if (r < 0)
		return r;
	if (child.type == &scratch_node) {
		remove_scratch(dir, child.item);
		return 0;
	}
	forget_writers(dir, child.item);
	return attachment_remove(dir->fs->store, dir->ref, child.name, err);
}

/* Discard the bytes of opens that write the file `name`, which a rename is about to replace. */
static void forget_replaced(const struct place *dir, const char *name, const char *id)
{
	struct attachment_info info;

	(void)handle_remove_made(dir->fs, inode_number(dir), name);
	if (attachment_find(dir->fs->store, dir->ref, id, &info, NULL) == 0)
		forget_writers(dir, info.number);
}

/* Move the inode to the new name. */
static int move_attachment(const struct place *from, const struct place *new_dir, const char *name,
			   const char *new_name, struct err *err)
{
	struct place at = *from;

	at.inode = NULL;
	at.name = name;
	if (inode_move(&at.fs->inodes, &at, inode_number(new_dir), new_name) < 0)
		return err_nomem(err);
	notify_list(new_dir);
	return 0;
}

static int rename_within_scratch(const struct place *from, const struct place *dir,
				 const char *new_name, struct err *err)
{
	scratch_move(dir->fs, from->item, attachments_scratch(dir), new_name);
	return move_attachment(from, dir, new_name, new_name, err);
}

/* Turn a scratch file into an attachment. Returns 1: the new name has another object; -errno. */
static int publish_attachment(const struct place *from, const struct place *dir,
			      const char *new_name, struct err *err)
{
	CLEANUP(buf_release) struct buf bytes = { 0 };
	CLEANUP(buf_release) struct buf id = { 0 };
	int r = id_of_name(new_name, &id, err);

	if (r == 0)
		r = scratch_text(dir->fs, from->item, ATTACHMENTS_MAX, &bytes, err);
	if (r < 0)
		return r;
	forget_replaced(dir, new_name, id.data);
	r = attachment_put(dir->fs->store, dir->ref, id.data, buf_span(&bytes), 0, err);
	if (r < 0)
		return r;
	remove_scratch(dir, from->item);
	return 1;
}

/* Turn an attachment into a scratch file. Returns 1: the new name has another object; -errno. */
static int withdraw_attachment(const struct place *from, const struct place *dir,
			       const char *new_name, struct err *err)
{
	const struct node_new by = { .uid = getuid(), .gid = getgid() };
	CLEANUP(buf_release) struct buf bytes = { 0 };
	struct scratch_info info = new_unsent_scratch(dir, new_name);
	int r = attachment_read(dir->fs->store, dir->ref, from->item, &bytes, err);

	if (r == 0)
		r = scratch_replace(dir->fs, &info, &by, buf_span(&bytes), err);
	notify_list(dir);
	if (r == 0)
		r = attachment_remove(dir->fs->store, dir->ref, from->name, err);
	return r < 0 ? r : 1;
}

static int rename_attachment(const struct place *from, const struct place *dir,
			     const char *new_name, bool must_be_new, struct err *err)
{
	CLEANUP(buf_release) struct buf id = { 0 };
	struct attachment_info info;
	int r = id_of_name(new_name, &id, err);

	if (r < 0)
		return r;
	forget_replaced(dir, new_name, id.data);
	r = attachment_rename(dir->fs->store, dir->ref,
			      &(struct attachment_rename){ from->name, id.data, must_be_new },
			      &info, err);
	return r < 0 ? r : move_attachment(from, dir, id.data, new_name, err);
}

/* Rename a new file that is still open: its close will store it under the new name. */
static int rename_made(const struct place *dir, const char *name, const char *new_name,
		       struct err *err)
{
	uint64_t ino = handle_find_made(dir->fs, inode_number(dir), name);
	const struct inode *inode = ino ? inode_find(&dir->fs->inodes, ino) : NULL;
	CLEANUP(buf_release) struct buf id = { 0 };
	int r;

	if (!inode)
		return -ENOENT;
	if (new_name[0] == '.')
		return err_set(err, -EBUSY, "%s is still being written", name);
	r = id_of_name(new_name, &id, err);
	if (r == 0)
		r = attachment_check(dir->fs->store, dir->ref, id.data, 0, err);
	if (r < 0)
		return r;
	forget_replaced(dir, new_name, id.data);
	r = attachment_remove(dir->fs->store, dir->ref, id.data, NULL);
	if (r < 0 && r != -ENOENT)
		return r;
	return move_attachment(inode_place(inode), dir, id.data, new_name, err);
}

static int attachments_rename(const struct node_rename *rn, struct err *err)
{
	CLEANUP(buf_release) struct buf text = { 0 };
	CLEANUP(buf_release) struct buf other = { 0 };
	struct place from = *rn->dir;
	struct place found = *rn->new_dir;
	const struct place *to = rn->new_dir;
	const char *name = rn->new_name;
	int r = attachments_find(rn->dir, rn->name, &from, &text, err);

	if (r < 0 && r != -ENOENT)
		return r;
	if (rn->dir->ref.session != to->ref.session)
		return err_set(err, -EXDEV, "an attachment of another session can only be copied");
	if (rn->must_be_new && attachments_find(to, name, &found, &other, NULL) == 0)
		return err_set(err, -EEXIST, "there is '%s' already", name);
	if (r < 0)
		return rename_made(to, rn->name, name, err);
	if (from.type == &scratch_node)
		return name[0] == '.' ? rename_within_scratch(&from, to, name, err)
				      : publish_attachment(&from, to, name, err);
	if (name[0] == '.')
		return withdraw_attachment(&from, to, name, err);
	return rename_attachment(&from, to, name, rn->must_be_new, err);
}

const struct dir_ops attachments_ops = {
	.list = attachments_list,
	.find = attachments_find,
	.create = attachments_create,
	.remove = attachments_remove,
	.rename = attachments_rename,
};

/*
 * Operations on names: finding, listing, making, removing and renaming them.
 */
#include "fs/kernel/request.h"
#include "fs/tree/closing.h"
#include "fs/tree/tree.h"

#include <stdio.h>
#include <stdlib.h>

/*
 * Reply that a name is missing. The kernel may cache that, unless the name is only hidden or
 * may appear in the directory without news.
 */
static void reply_missing(fuse_req_t req, const struct place *dir, const struct place *child,
			  const char *name)
{
	struct fuse_entry_param e = { .ino = 0, .entry_timeout = FOR_EVER };

	if (tree_is_hidden(dir, name) || (child->type && tree_is_fleeting(child)) ||
	    (dir->type->flags & (NODE_SHOWS_ABOVE | NODE_LATE | NODE_FRESH)))
		(void)fuse_reply_err(req, ENOENT);
	else
		(void)fuse_reply_entry(req, &e);
}

void op_lookup(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	struct fs *fs = request_fs(req);
	struct inode *dir = request_inode(req, parent);
	CLEANUP(buf_release) struct buf text = { 0 };
	struct fuse_entry_param e;
	struct place child = { 0 };
	struct err err = { 0 };
	int r;

	atomic_fetch_add(&fs->requests[REQUEST_LOOKUP], 1);
	if (!dir)
		return;
	r = tree_find(inode_place(dir), name, &child, &text, &err);
	if (r == 0)
		r = request_enter(&child, parent, name, NULL, &e, &err);
	if (r == 0)
		request_show_draft(req, inode_find(&fs->inodes, e.ino), &e.attr);
	if (r == 0)
		request_reply_entry(req, &e);
	else if (r == -ENOENT)
		reply_missing(req, inode_place(dir), &child, name);
	else if (r == -ESTALE)
		(void)fuse_reply_err(req, ENOENT);
	else /* such as an invalid name, which cannot be made either */
		request_refuse(req, dir, name, r, &err);
}

void op_forget(fuse_req_t req, fuse_ino_t ino, uint64_t lookups)
{
	inode_forget(&request_fs(req)->inodes, ino, lookups);
	fuse_reply_none(req);
}

void op_forget_multi(fuse_req_t req, size_t count, struct fuse_forget_data *forgets)
{
	size_t i;

	for (i = 0; i < count; i++)
		inode_forget(&request_fs(req)->inodes, forgets[i].ino, forgets[i].nlookup);
	fuse_reply_none(req);
}

void op_opendir(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	(void)ino;
	(void)fi;
	(void)fuse_reply_err(req,
			     ENOSYS); /* the kernel then never asks again, and caches listings */
}

/* A listing that becomes the reply to READDIR or READDIRPLUS. */
struct listing {
	struct lister lister;
	fuse_req_t req;
	uint64_t dir;
	uint64_t since; /* inodes.changes before the listing began */
	char *data;
	size_t size;
	size_t used;
};

static int emit_name(struct lister *lister, const char *name, const struct place *child,
		     uint64_t cookie, const struct node_stat *st UNUSED)
{
	struct listing *l = CONTAINER_OF(lister, struct listing, lister);
	struct stat attr = { .st_ino = inode_number(child), .st_mode = child->type->mode };
	size_t n = fuse_add_direntry(l->req, l->data + l->used, l->size - l->used, name, &attr,
				     (off_t)cookie);

	if (n > l->size - l->used)
		return 1;
	l->used += n;
	return 0;
}

static int emit_entry(struct lister *lister, const char *name, const struct place *child,
		      uint64_t cookie, const struct node_stat *st)
{
	struct listing *l = CONTAINER_OF(lister, struct listing, lister);
	const struct known known = { st, l->since };
	struct fuse_entry_param e = { 0 };
	struct err err;

	if (fuse_add_direntry_plus(l->req, NULL, 0, name, NULL, 0) > l->size - l->used)
		return 1;
	if (child->type->flags &
	    NODE_LAZY) { /* e.ino stays 0: the kernel looks the name up when needed */
		e.attr.st_ino = inode_number(child);
		e.attr.st_mode = child->type->mode;
	} else if (request_enter(child, l->dir, name, &known, &e, &err) < 0) {
		return 0; /* the name disappeared during the listing */
	}
	l->used += fuse_add_direntry_plus(l->req, l->data + l->used, l->size - l->used, name, &e,
					  (off_t)cookie);
	return 0;
}

static void list_directory(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset, bool plus)
{
	struct fs *fs = request_fs(req);
	struct inode *dir = request_inode(req, ino);
	struct listing l = { .lister.emit = plus ? emit_entry : emit_name,
			     .req = req,
			     .dir = ino,
			     .size = size,
			     .since = atomic_load(&fs->inodes.changes) };
	struct err err = { 0 };
	int r;

	atomic_fetch_add(&fs->requests[REQUEST_LOOKUP], 1);
	if (!dir)
		return;
	l.data = malloc(size);
	r = l.data ? tree_list(inode_place(dir), (uint64_t)offset, &l.lister, &err) : -ENOMEM;
	if (r == -ENOENT && tree_is_unlinked(inode_place(dir)))
		r = 0; /* a directory that was removed is empty */
	/*
	 * If the listing fails after some names, send these: their lookups are counted, and a
	 * short reply is valid.
	 */
	if (r < 0 && !l.used)
		(void)fuse_reply_err(req, r == -ENOENT ? ESTALE : -r);
	else
		(void)fuse_reply_buf(req, l.data, l.used);
	free(l.data);
}

void op_readdir(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset,
		struct fuse_file_info *fi)
{
	(void)fi;
	list_directory(req, ino, size, offset, false);
}

void op_readdirplus(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset,
		    struct fuse_file_info *fi)
{
	(void)fi;
	list_directory(req, ino, size, offset, true);
}

static void reply_readlink(struct waiting *w)
{
	const struct place *at = inode_place(w->inode);
	CLEANUP(buf_release) struct buf target = { 0 };
	struct err err = { 0 };
	int r = at->type->link ? at->type->link(at, &target, &err) : -EINVAL;

	if (r == 0 && !buf_cstr(&target))
		r = -ENOMEM;
	if (r < 0)
		(void)fuse_reply_err(w->req, -r);
	else
		(void)fuse_reply_readlink(w->req, target.data);
}

void op_readlink(fuse_req_t req, fuse_ino_t ino)
{
	struct waiting w = { .req = req,
			     .fs = request_fs(req),
			     .inode = request_inode(req, ino),
			     .reply = reply_readlink };

	if (w.inode)
		request_after_close(&w, closing_deadline(inode_place(w.inode)->ref.session));
}

/* Reply with the entry of a name that was just made; or with r, if that is an error. */
static void reply_made(fuse_req_t req, const struct inode *dir, const char *name, int r,
		       struct err *err)
{
	CLEANUP(buf_release) struct buf text = { 0 };
	struct fuse_entry_param e;
	struct place child = { 0 };

	if (r == 0)
		r = tree_find(inode_place(dir), name, &child, &text, err);
	if (r == 0)
		r = request_enter(&child, dir->ino, name, NULL, &e, err);
	if (r < 0)
		request_refuse(req, dir, name, r, err);
	else
		request_reply_entry(req, &e);
}

void op_mkdir(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode)
{
	struct inode *dir = request_inode(req, parent);
	struct node_new by = request_maker(req, mode);
	const struct dir_ops *ops;
	struct err err = { 0 };
	int r;

	if (!dir)
		return;
	ops = node_dir(inode_place(dir)->type);
	if (!ops->make)
		r = err_set(&err, -EPERM, "directories cannot be made here");
	else
		r = owners_may_join(inode_place(dir), name, request_caller(req), &err);
	if (r == 0)
		r = ops->make(inode_place(dir), name, &by, &err);
	reply_made(req, dir, name, r, &err);
}

/* Remove a member. Names of rows, and links to other scopes, are only hidden. */
static int remove_name(struct inode *dir, const char *name, bool is_dir, struct err *err)
{
	const struct dir_ops *ops = node_dir(inode_place(dir)->type);
	CLEANUP(buf_release) struct buf text = { 0 };
	struct place child = { 0 };
	int (*remove)(const struct place *, const char *, struct err *);
	int r = tree_find(inode_place(dir), name, &child, &text, err);

	if (r < 0)
		return r;
	if (is_dir && !S_ISDIR(child.type->mode))
		return err_set(err, -ENOTDIR, "%s is not a directory", name);
	if (!is_dir && S_ISDIR(child.type->mode))
		return err_set(err, -EISDIR, "%s is a directory", name);
	remove = is_dir ? ops->remove_dir : ops->remove;
	if (remove) {
		r = remove(inode_place(dir), name, err);
		if (r == 0 && is_dir)
			inode_unlinked(&child.fs->inodes, inode_number(&child));
		if (r == 0)
			handle_removed(child.fs, inode_number(&child));
		if (r != -EOPNOTSUPP)
			return r;
	}
	if (!inode_place(dir)->ref.session) /* only names in a session can be hidden */
		return err_set(err, -EPERM, "%s cannot be removed", name);
	tree_hide(inode_place(dir), name);
	return 0;
}

static void remove_now(fuse_req_t req, struct inode *dir, const char *name, bool is_dir)
{
	struct err err = { 0 };
	int r = remove_name(dir, name, is_dir, &err);

	if (r == -ENOENT && !is_dir && handle_remove_made(request_fs(req), dir->ino, name))
		r = 0;
	if (r == -ESTALE && tree_is_unlinked(inode_place(dir)))
		r = -ENOENT; /* a removed directory is empty */
	if (r < 0)
		request_refuse(req, dir, name, r, &err);
	else
		(void)fuse_reply_err(req, 0);
}

static bool answer_names(struct waiting *w, enum park_reason reason)
{
	if (request_must_wait(w, reason))
		return false;
	request_leave_park(w);
	w->reply(w);
	return true;
}

/*
 * Call w->reply when the files of w->inode that are being closed have their names: a new file gets
 * its name with its last close. w gets copies of the names; new_name may be "".
 */
static void change_names(struct waiting *w, const char *name, const char *new_name)
{
	uint64_t deadline = request_wait_until(w->inode);

	w->answer = answer_names;
	w->name = strdup(name);
	w->new_name = strdup(new_name);
	if (w->name && w->new_name && deadline) {
		request_park(w, deadline);
		return;
	}
	if (w->name && w->new_name)
		w->reply(w);
	else
		(void)fuse_reply_err(w->req, ENOMEM);
	free(w->name);
	free(w->new_name);
}

static void reply_unlink(struct waiting *w)
{
	remove_now(w->req, w->inode, w->name, false);
}

void op_unlink(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	struct waiting w = { .req = req,
			     .fs = request_fs(req),
			     .inode = request_inode(req, parent),
			     .reply = reply_unlink };

	if (w.inode)
		change_names(&w, name, "");
}

void op_rmdir(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	struct inode *dir = request_inode(req, parent);

	if (dir)
		remove_now(req, dir, name, true);
}

static void refuse_name(fuse_req_t req, fuse_ino_t parent, const char *name, const char *why)
{
	struct inode *dir = request_inode(req, parent);
	struct err err = { 0 };

	if (!dir)
		return;
	(void)err_set(&err, -EPERM, "%s", why);
	request_refuse(req, dir, name, -EPERM, &err);
}

static int rename_name(const struct node_rename *rn, unsigned flags, struct err *err)
{
	const struct dir_ops *from = node_dir(rn->dir->type);
	const struct dir_ops *to = node_dir(rn->new_dir->type);

	if (flags & ~(unsigned)RENAME_NOREPLACE)
		return err_set(err, -EINVAL, "two names cannot be exchanged here");
	if (!from->rename)
		return err_set(err, -EPERM, "%s cannot be renamed", rn->name);
	if (!to->rename)
		return err_set(err, -EPERM, "files cannot be moved to that directory");
	if (from->rename != to->rename)
		return err_set(err, -EXDEV, "%s cannot be moved to a directory of another kind",
			       rn->name);
	return from->rename(rn, err);
}

static void reply_rename(struct waiting *w)
{
	const struct node_rename rn = { .dir = inode_place(w->inode),
					.name = w->name,
					.new_dir = inode_place(w->new_dir),
					.new_name = w->new_name,
					.must_be_new = w->flags & RENAME_NOREPLACE,
					.by = request_maker(w->req, 0) };
	struct err err = { 0 };
	int r = rename_name(&rn, w->flags, &err);

	if (r == -ENOENT && handle_find_made(w->fs, w->inode->ino, w->name))
		r = err_set(&err, -EBUSY, "%s is still being written: rename it after it is closed",
			    w->name);
	if (r < 0) {
		request_refuse(w->req, w->inode, w->name, r, &err);
		return;
	}
	if (r == 1) /* the new name has another inode than the kernel thinks */
		notify_name(&w->fs->notify, w->new_dir->ino, w->new_name);
	(void)fuse_reply_err(w->req, 0);
}

void op_rename(fuse_req_t req, fuse_ino_t parent, const char *name, fuse_ino_t new_parent,
	       const char *new_name, unsigned flags)
{
	struct waiting w = { .req = req,
			     .fs = request_fs(req),
			     .inode = request_inode(req, parent),
			     .flags = flags,
			     .reply = reply_rename };

	w.new_dir = w.inode ? request_inode(req, new_parent) : NULL;
	if (w.new_dir)
		change_names(&w, name, new_name);
}

void op_symlink(fuse_req_t req, const char *target, fuse_ino_t parent, const char *name)
{
	struct inode *dir = request_inode(req, parent);
	const struct dir_ops *ops;
	struct err err = { 0 };
	int r;

	if (!dir)
		return;
	ops = node_dir(inode_place(dir)->type);
	r = ops->link_to ? ops->link_to(inode_place(dir), name, target, &err)
			 : err_set(&err, -EPERM, "links cannot be made here");
	reply_made(req, dir, name, r, &err);
}

void op_mknod(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode, dev_t dev)
{
	(void)mode;
	(void)dev;
	refuse_name(req, parent, name, "special files cannot be made here");
}

void op_link(fuse_req_t req, fuse_ino_t ino, fuse_ino_t parent, const char *name)
{
	(void)ino;
	refuse_name(req, parent, name, "hard links cannot be made here");
}

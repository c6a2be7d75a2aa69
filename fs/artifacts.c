/*
 * artifacts/: see artifacts.h.
 *
 * A name is the latest version; .versions/<name>/<n> is each of them, beside
 * it <n>.json. What is written goes to bulk bytes of its own and becomes a
 * version when the file is closed; further closes of the same open add to that
 * version.
 */
#include "fs/artifacts.h"

#include "base/name.h"
#include "fs/handle.h"
#include "fs/tree.h"
#include "store/artifact.h"
#include "store/bulk.h"
#include "store/mime.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define ARTIFACT_MAX (1ull << 40)
#define USER_PREFIX  "user:"
#define COOKIE_STEP  (1ull << 53)

static const struct node_type artifact_file;
static const struct node_type artifact_directory;
static const struct node_type artifact_link;
static const struct node_type versions_of;
static const struct node_type versions_directory;

/* Number of the directory that a place stands for: of artifacts or of their versions. */
static uint64_t directory_number(const struct place *dir)
{
	return dir->item ? dir->item : ref_number(dir->ref);
}

static bool is_top_of_session(const struct place *dir)
{
	return dir->ref.session && !dir->item;
}

static struct ref user_of(struct ref ref)
{
	ref.session = 0;
	return ref;
}

int artifacts_top_stat(const struct place *at, struct node_stat *st, struct err *err)
{
	struct ref up = user_of(at->ref);
	struct scope_info info;
	struct scope_info user = { 0 };
	int r = scope_stat(at->fs->store, at->ref, &info, err);

	if (r == 0 && at->ref.session)
		r = scope_stat(at->fs->store, up, &user, err);
	if (r < 0)
		return r;
	st->size = 0;
	st->mtime = MAX(MAX(info.artifacts_stamp, user.artifacts_stamp), at->fs->mounted);
	return 0;
}

static int own_info(const struct place *at, struct artifact_info *info, struct err *err)
{
	return artifact_stat(at->fs->store, at->parent, at->item, info, err);
}

/* A directory's list is as new as the latest list of any in the scope. */
static int directory_stat(const struct place *at, struct node_stat *st, struct err *err)
{
	struct artifact_info info;
	int r = own_info(at, &info, err);

	return r < 0 ? r : artifacts_top_stat(at, st, err);
}

static int file_stat(const struct place *at, struct node_stat *st, struct err *err)
{
	struct artifact_info info;
	int r = own_info(at, &info, err);

	if (r == -ENOENT && at->inode && atomic_load(&at->inode->pending)) {
		st->size = 0; /* being written for the first time */
		return 0;
	}
	if (r < 0)
		return r;
	st->size = info.size;
	st->mtime = info.stamp;
	return 0;
}

/* One open of an artifact or of a version. */
struct opened {
	int fd; /* the bytes that reads come from; -1: not open */
	uint64_t size;
	uint64_t change; /* of the inode, when fd was opened */
	bool valid;

	struct bulk_writer upload; /* the bytes that writes go to; fd -1: none yet */
	uint64_t bulk;
	bool changed;     /* since it was saved */
	uint64_t version; /* saved as; 0: not yet */
};

static int opened_open(struct handle *h, struct err *err)
{
	struct opened *o = calloc(1, sizeof *o);

	if (!o)
		return err_nomem(err);
	o->fd = o->upload.fd = o->upload.direct = -1;
	o->changed = handle_writes(h) && (h->flags & O_TRUNC);
	h->state = o;
	return 0;
}

/* The version that a read sees: the latest, or the one that the place names. */
static int version_of(const struct place *at, struct version_info *v, struct err *err)
{
	struct artifact_info info;
	int r;

	if (at->n)
		return artifact_version(at->fs->store, at->parent, at->n, v, err);
	r = own_info(at, &info, err);
	return r < 0 ? r : artifact_version(at->fs->store, info.number, info.latest, v, err);
}

/* The page cache is shared by all opens: each of them serves the version of now. */
static int refresh(struct handle *h, struct opened *o, struct err *err)
{
	uint64_t change = atomic_load(&h->inode->change);
	struct version_info v;
	int fd = -1;
	int r;

	if (o->valid && o->change == change)
		return 0;
	r = version_of(&h->at, &v, err);
	if (r == -ENOENT && atomic_load(&h->inode->pending)) {
		v = (struct version_info){ 0 };
		r = 0;
	}
	if (r < 0)
		return r;
	if (v.bulk)
		fd = bulk_open(h->at.fs->store, v.bulk, err);
	if (v.bulk && fd < 0)
		return fd;
	if (o->fd >= 0)
		(void)close(o->fd);
	o->fd = fd;
	o->size = v.size;
	o->change = change;
	o->valid = true;
	return 0;
}

static int read_fd(int fd, uint64_t end, uint64_t offset, size_t size, struct buf *out,
		   struct err *err)
{
	size_t want = offset < end ? MIN(size, end - offset) : 0;
	size_t done = 0;

	if (!want)
		return 0;
	if (!buf_reserve(out, want))
		return err_nomem(err);
	while (done < want) {
		ssize_t n = pread(fd, out->data + out->len, want - done, (off_t)(offset + done));

		if (n < 0)
			return err_errno(err, -errno, "the artifact cannot be read");
		if (n == 0) /* a hole at the end of the file */
			break;
		out->len += (size_t)n;
		done += (size_t)n;
	}
	if (done < want) {
		memset(out->data + out->len, 0, want - done);
		out->len += want - done;
	}
	return 0;
}

static int file_read(struct handle *h, uint64_t offset, size_t size, struct buf *out,
		     struct err *err)
{
	struct opened *o = h->state;
	uint64_t end;
	int r = 0;
	int fd;

	mutex_lock(&h->lock);
	if (o->upload.fd < 0)
		r = refresh(h, o, err);
	else if (bulk_drain(&o->upload) < 0)
		r = err_set(err, -EIO, "the artifact cannot be written");
	end = o->upload.fd < 0 ? o->size : o->upload.size;
	fd = r < 0 ? -1 : dup(o->upload.fd < 0 ? o->fd : o->upload.fd);
	mutex_unlock(&h->lock);
	if (r < 0 || !end)
		return r;
	if (fd < 0)
		return err_errno(err, -errno, "the artifact cannot be read");
	r = read_fd(fd, end, offset, size, out, err);
	(void)close(fd);
	return r;
}

/* Start from the bytes that are there. */
static int copy_old(struct handle *h, struct opened *o, struct err *err)
{
	off_t from = 0;
	off_t to = 0;
	int r = refresh(h, o, err);

	if (r < 0 || !o->size || o->fd < 0)
		return r;
	while ((uint64_t)from < o->size) {
		ssize_t n = copy_file_range(o->fd, &from, o->upload.fd, &to,
					    o->size - (uint64_t)from, 0);

		if (n < 0)
			return err_errno(err, -errno, "the artifact cannot be copied");
		if (n == 0)
			break;
	}
	o->upload.size = o->upload.start = o->size;
	return 0;
}

static int need_upload(struct handle *h, struct opened *o, struct err *err)
{
	int r;

	if (o->upload.fd >= 0)
		return 0;
	r = bulk_writer_open(&o->upload, h->at.fs->store, &o->bulk, err);
	if (r < 0)
		return r;
	return h->flags & O_TRUNC ? 0 : copy_old(h, o, err);
}

/* Writes and truncations of one file come one at a time: the kernel sees to it. */
static ssize_t file_write(struct handle *h, uint64_t offset, struct span data, struct err *err)
{
	struct opened *o = h->state;
	int r = need_upload(h, o, err);

	if (r < 0)
		return r;
	mutex_lock(&h->lock);
	if (h->flags & O_APPEND)
		offset = o->upload.size;
	if (offset + data.len > ARTIFACT_MAX)
		r = err_set(err, -EFBIG, "an artifact may have %llu bytes", ARTIFACT_MAX);
	if (r == 0) {
		r = bulk_write(&o->upload, offset, data);
		if (r < 0)
			(void)err_errno(err, r, "the artifact cannot be written");
	}
	o->changed |= r == 0;
	mutex_unlock(&h->lock);
	return r < 0 ? r : (ssize_t)data.len;
}

static int file_truncate(struct handle *h, uint64_t size, struct err *err)
{
	struct opened *o = h->state;
	int r;

	if (size > ARTIFACT_MAX)
		return err_set(err, -EFBIG, "an artifact may have %llu bytes", ARTIFACT_MAX);
	r = need_upload(h, o, err);
	if (r < 0)
		return r;
	mutex_lock(&h->lock);
	o->changed |= size != o->upload.size;
	r = bulk_truncate(&o->upload, size);
	mutex_unlock(&h->lock);
	return r < 0 ? err_errno(err, r, "the artifact cannot be truncated") : 0;
}

static int file_sync(struct handle *h, struct err *err)
{
	struct opened *o = h->state;
	int fd = o->upload.fd;
	int r;

	mutex_lock(&h->lock);
	r = fd >= 0 ? bulk_drain(&o->upload) : refresh(h, o, err);
	fd = fd >= 0 ? fd : o->fd;
	mutex_unlock(&h->lock);
	if (r == 0 && fd >= 0 && fdatasync(fd) < 0)
		r = -errno;
	return r < 0 ? err_errno(err, r, "the artifact cannot be written") : 0;
}

/* Whether a version has to be on the disk before its name is. */
static bool wants_sync(const struct handle *h)
{
	return (h->flags & O_DSYNC) || store_durability(h->at.fs->store) == DURABILITY_DISK;
}

static void guess_type(const struct opened *o, const char *name, char *mime, size_t size)
{
	CLEANUP(buf_release) struct buf head = { 0 };

	if (o->upload.fd >= 0) /* what cannot be read has no type of its own */
		(void)!read_fd(o->upload.fd, o->upload.size, 0, MIME_LOOK_BYTES, &head, NULL);
	mime_guess(buf_span(&head), name, mime, size);
}

static int save(struct handle *h, struct opened *o, struct err *err)
{
	const char *slash = strrchr(h->at.name, '/');
	char mime[128];
	struct artifact_info info;
	struct artifact_save s = {
		.scope = h->at.ref,
		.parent = h->at.parent,
		.name = slash ? slash + 1 : h->at.name,
		.full_name = h->at.name,
		.bulk = o->upload.fd < 0 ? 0 : o->bulk,
		.size = o->upload.size,
		.mime = mime,
		.number = h->at.item,
		.version = o->version,
		.event_session = h->via,
	};
	CLEANUP(buf_release) struct buf via = { 0 };
	int r = o->upload.fd < 0 ? 0 : bulk_drain(&o->upload);

	if (r < 0)
		return err_errno(err, r, "the artifact cannot be written");
	if (wants_sync(h)) {
		r = file_sync(h, err);
		if (r < 0)
			return r;
	}
	if (h->via.session) {
		buf_printf(&via, USER_PREFIX "%s", h->at.name);
		s.event_name = buf_cstr(&via);
	}
	guess_type(o, s.name, mime, sizeof mime);
	r = artifact_publish(h->at.fs->store, &s, &info, err);
	if (r == 0 && !o->version)
		o->version = info.latest;
	return r;
}

/* A close with something new in it saves; the first flush of a shell has nothing. */
static int file_flush(struct handle *h, struct err *err)
{
	struct opened *o = h->state;
	int r = 0;

	if (o->upload.fd < 0 || !o->changed)
		return 0;
	o->changed = false;
	r = save(h, o, err);
	o->changed |= r < 0;
	return r;
}

static void file_release(struct handle *h, struct err *err)
{
	struct opened *o = h->state;
	bool is_new = h->created && !o->version;

	/* An empty file, made or truncated, is known to be one only now. */
	if (handle_writes(h) && !o->version && (o->changed || is_new) && save(h, o, err) < 0)
		err->code = err->code ? err->code : -EIO;
	if (o->upload.fd >= 0 && !o->version)
		bulk_remove(h->at.fs->store, o->bulk);
	if (o->fd >= 0)
		(void)close(o->fd);
	bulk_writer_close(&o->upload);
	free(o);
}

static const struct file_ops artifact_ops = {
	.open = opened_open,
	.write = file_write,
	.truncate = file_truncate,
	.flush = file_flush,
	.sync = file_sync,
	.release = file_release,
};

/* Versions are only read. */
static const struct file_ops version_ops = { .open = opened_open,
					     .sync = file_sync,
					     .release = file_release };

static int link_target(const struct place *at, struct buf *out, struct err *err)
{
	CLEANUP(buf_release) struct buf name = { 0 };
	int r = name_encode(span_of(at->name), NAME_HIDE_DOT, &name, err);

	buf_text(out, "../../../artifacts/");
	buf_span_add(out, buf_span(&name));
	return r < 0 ? r : buf_check(out, err);
}

static const struct node_type artifact_file = {
	.name = "<name>",
	.id = ID_OBJECT,
	.mode = S_IFREG | 0600,
	.stat = file_stat,
	.read = file_read,
	.file = &artifact_ops,
};

static const struct node_type artifact_link = {
	.name = "user:<name>",
	.id = ID_OBJECT_LINK,
	.mode = S_IFLNK | 0777,
	.link = link_target,
};

static const struct node_type artifact_directory = {
	.name = "<directory>",
	.id = ID_OBJECT,
	.mode = S_IFDIR | 0700,
	.stat = directory_stat,
	.list = artifacts_list,
	.find = artifacts_find,
	.create = artifacts_create,
	.make = artifacts_make,
	.remove = artifacts_remove,
	.remove_dir = artifacts_remove_dir,
};

/* What an entry of a directory is in the tree of artifacts, respectively of versions. */
static void entry_place(const struct place *dir, const struct artifact_info *info,
			const struct node_type *file, const struct node_type *directory,
			struct place *child)
{
	*child = *dir;
	child->inode = NULL;
	child->type = info->is_directory ? directory : file;
	child->parent = directory_number(dir);
	child->item = info->number;
}

static int decode_name(const char *name, struct buf *id, struct err *err)
{
	int r;

	if (name[0] == '.')
		return err_set(err, -ENOENT, "there is no %s here", name);
	r = name_decode(span_of(name), NAME_HIDE_DOT, id, err);
	if (r == 0 && (memchr(id->data, 0, id->len) || memchr(id->data, '/', id->len)))
		r = err_set(err, -EINVAL,
			    "a component of an artifact's name holds no NUL and no "
			    "slash");
	return r < 0 ? r : buf_cstr(id) ? 0 : err_nomem(err);
}

/* Whether the name is a user's file seen from a session; *rest is its own name. */
static bool is_user_name(const struct place *dir, const char *id, const char **rest)
{
	size_t n = strlen(USER_PREFIX);

	if (!is_top_of_session(dir) || strncmp(id, USER_PREFIX, n) != 0 || !id[n])
		return false;
	*rest = id + n;
	return true;
}

static int find_in(const struct place *dir, const char *name, const struct node_type *file,
		   const struct node_type *directory, struct place *child, struct buf *text,
		   struct err *err)
{
	struct artifact_info info;
	int r = decode_name(name, text, err);

	if (r == 0)
		r = artifact_find(dir->fs->store, directory_number(dir), text->data, &info, err);
	if (r < 0)
		return r;
	entry_place(dir, &info, file, directory, child);
	buf_clear(text);
	buf_text(text, info.full_name);
	child->name = buf_cstr(text);
	return child->name ? 0 : err_nomem(err);
}

int artifacts_find(const struct place *dir, const char *name, struct place *child, struct buf *text,
		   struct err *err)
{
	CLEANUP(buf_release) struct buf id = { 0 };
	struct artifact_info info;
	const char *rest;
	int r = decode_name(name, &id, err);

	if (r < 0)
		return r;
	if (!is_user_name(dir, id.data, &rest))
		return find_in(dir, name, &artifact_file, &artifact_directory, child, text, err);
	r = artifact_find(dir->fs->store, dir->ref.user, rest, &info, err);
	if (r < 0)
		return r;
	*child = *dir;
	child->inode = NULL;
	child->type = &artifact_link;
	child->item = info.number;
	buf_text(text, rest);
	child->name = buf_cstr(text);
	return child->name ? 0 : err_nomem(err);
}

struct listing {
	const struct place *dir;
	struct lister *l;
	const struct node_type *file;
	const struct node_type *directory;
	uint64_t after;
};

static int list_entry(void *arg, const struct artifact_info *info)
{
	struct listing *ls = arg;
	CLEANUP(buf_release) struct buf name = { 0 };
	struct node_stat st = { .size = info->size, .mtime = info->stamp };
	struct place child;

	if (name_encode(span_of(info->name), NAME_HIDE_DOT, &name, NULL) < 0 || !buf_cstr(&name))
		return 0;
	entry_place(ls->dir, info, ls->file, ls->directory, &child);
	child.name = info->full_name;
	return lister_emit(ls->l, name.data, &child, TREE_MEMBER_COOKIE + info->number,
			   S_ISREG(child.type->mode) ? &st : NULL);
}

static int list_link(void *arg, const struct artifact_info *info)
{
	struct listing *ls = arg;
	CLEANUP(buf_release) struct buf id = { 0 };
	CLEANUP(buf_release) struct buf name = { 0 };
	struct place child = *ls->dir;

	buf_printf(&id, USER_PREFIX "%s", info->name);
	if (name_encode(buf_span(&id), NAME_HIDE_DOT, &name, NULL) < 0 || !buf_cstr(&name) ||
	    tree_is_hidden(ls->dir, name.data))
		return 0;
	child.inode = NULL;
	child.type = &artifact_link;
	child.item = info->number;
	child.name = info->name;
	return lister_emit(ls->l, name.data, &child,
			   TREE_MEMBER_COOKIE + COOKIE_STEP + info->number, NULL);
}

int artifacts_list(const struct place *dir, uint64_t after, struct lister *l, struct err *err)
{
	struct listing ls = { dir, l, &artifact_file, &artifact_directory, after };
	struct store *st = dir->fs->store;
	int r = 0;

	if (after < COOKIE_STEP)
		r = artifact_list(st, directory_number(dir), after, list_entry, &ls, err);
	if (r == 0 && is_top_of_session(dir))
		r = artifact_list(st, dir->ref.user, after < COOKIE_STEP ? 0 : after % COOKIE_STEP,
				  list_link, &ls, err);
	return r;
}

/* The ADK file name of a new entry. */
static int full_name(const struct place *dir, const char *id, struct buf *out, struct err *err)
{
	if (dir->item)
		buf_printf(out, "%s/", dir->name);
	buf_text(out, id);
	return buf_cstr(out) ? 0 : err_nomem(err);
}

int artifacts_create(const struct place *dir, const char *name, struct place *child,
		     struct buf *text, struct err *err)
{
	CLEANUP(buf_release) struct buf id = { 0 };
	struct artifact_info info;
	const char *rest = NULL;
	int r;

	if (name[0] == '.')
		return err_set(err, -EINVAL, "names that start with a dot are written %%2E here");
	r = decode_name(name, &id, err);
	if (r < 0)
		return r;
	child->type = &artifact_file;
	child->parent = directory_number(dir);
	if (is_user_name(dir, id.data, &rest)) {
		child->ref = user_of(dir->ref);
		child->parent = dir->ref.user;
		buf_text(text, rest);
		r = buf_cstr(text) ? 0 : err_nomem(err);
	} else {
		r = full_name(dir, id.data, text, err);
	}
	if (r < 0)
		return r;
	child->name = text->data;
	r = artifact_find(dir->fs->store, child->parent, rest ? rest : id.data, &info, NULL);
	child->item = r == 0 ? info.number : store_new_number(dir->fs->store, err);
	return child->item ? 0 : -EIO;
}

int artifacts_make(const struct place *dir, const char *name, struct err *err)
{
	CLEANUP(buf_release) struct buf id = { 0 };
	CLEANUP(buf_release) struct buf full = { 0 };
	int r;

	if (name[0] == '.')
		return err_set(err, -EINVAL, "names that start with a dot are written %%2E here");
	r = decode_name(name, &id, err);
	if (r == 0)
		r = full_name(dir, id.data, &full, err);
	return r < 0 ? r
		     : artifact_mkdir(dir->fs->store, dir->ref, directory_number(dir), id.data,
				      full.data, NULL, err);
}

int artifacts_remove(const struct place *dir, const char *name, struct err *err)
{
	CLEANUP(buf_release) struct buf id = { 0 };
	const char *rest;
	int r = decode_name(name, &id, err);

	if (r < 0)
		return r;
	if (is_user_name(dir, id.data, &rest))
		return -EOPNOTSUPP; /* a link: what others use is not deleted through it */
	return artifact_remove(dir->fs->store, dir->ref, directory_number(dir), id.data, err);
}

int artifacts_remove_dir(const struct place *dir, const char *name, struct err *err)
{
	CLEANUP(buf_release) struct buf id = { 0 };
	int r;

	if (name[0] == '.')
		return -EOPNOTSUPP; /* .versions */
	r = decode_name(name, &id, err);
	return r < 0 ? r
		     : artifact_rmdir(dir->fs->store, dir->ref, directory_number(dir), id.data,
				      err);
}

/* .versions */

static int versions_find(const struct place *dir, const char *name, struct place *child,
			 struct buf *text, struct err *err)
{
	return find_in(dir, name, &versions_of, &versions_directory, child, text, err);
}

static int versions_list(const struct place *dir, uint64_t after, struct lister *l, struct err *err)
{
	struct listing ls = { dir, l, &versions_of, &versions_directory, after };

	return artifact_list(dir->fs->store, directory_number(dir), after, list_entry, &ls, err);
}

static int version_stat(const struct place *at, struct node_stat *st, struct err *err)
{
	struct version_info v;
	int r = artifact_version(at->fs->store, at->parent, at->n, &v, err);

	if (r < 0)
		return r;
	st->size = v.size;
	st->mtime = v.stamp;
	return 0;
}

static const struct node_type version_file = {
	.name = "<n>",
	.id = ID_OBJECT,
	.mode = S_IFREG | 0400,
	.stat = version_stat,
	.read = file_read,
	.file = &version_ops,
};

static int json_stat(const struct place *at, struct node_stat *st, struct err *err)
{
	int r = version_stat(at, st, err);

	st->size = NODE_MEASURE;
	return r;
}

static int scope_ids(const struct place *at, struct scope_info *app, struct scope_info *user,
		     struct scope_info *session, struct err *err)
{
	struct store *st = at->fs->store;
	struct ref ref = at->ref;
	int r = ref.session ? scope_stat(st, ref, session, err) : 0;

	ref.session = 0;
	if (r == 0)
		r = scope_stat(st, ref, user, err);
	ref.user = 0;
	return r < 0 ? r : scope_stat(st, ref, app, err);
}

static int json_show(const struct place *at, struct buf *out, struct err *err)
{
	struct scope_info app;
	struct scope_info user;
	struct scope_info session;
	struct version_info v;
	struct artifact_info info = { 0 };
	int r = artifact_version(at->fs->store, at->parent, at->n, &v, err);

	if (r == 0)
		r = scope_ids(at, &app, &user, &session, err);
	if (r < 0)
		return r;
	(void)snprintf(info.full_name, sizeof info.full_name, "%s", at->name);
	artifact_describe(out, app.id, user.id, at->ref.session ? session.id : NULL, &info, &v);
	return buf_check(out, err);
}

static const struct node_type version_json = {
	.name = "<n>.json",
	.id = ID_OBJECT_JSON,
	.mode = S_IFREG | 0400,
	.stat = json_stat,
	.show = json_show,
};

static void version_place(const struct place *dir, const struct version_info *v,
			  const struct node_type *type, struct place *child)
{
	*child = *dir;
	child->inode = NULL;
	child->type = type;
	child->parent = dir->item;
	child->item = v->number;
	child->n = v->n;
	child->name = dir->name;
}

static int version_find(const struct place *dir, const char *name, struct place *child,
			struct buf *text, struct err *err)
{
	struct version_info v;
	char *end;
	uint64_t n = strtoull(name, &end, 10);
	bool json = !strcmp(end, ".json");
	int r;

	if (!n || name[0] < '1' || name[0] > '9' || (*end && !json))
		return err_set(err, -ENOENT, "versions are numbers, not %s", name);
	r = artifact_version(dir->fs->store, dir->item, n, &v, err);
	if (r < 0)
		return r;
	version_place(dir, &v, json ? &version_json : &version_file, child);
	buf_text(text, dir->name);
	child->name = buf_cstr(text);
	return child->name ? 0 : err_nomem(err);
}

static int list_version(void *arg, const struct version_info *v)
{
	struct listing *ls = arg;
	struct node_stat st = { .size = v->size, .mtime = v->stamp };
	struct place child;
	char name[40];
	uint64_t cookie = TREE_MEMBER_COOKIE + v->n * 2;
	int r;

	version_place(ls->dir, v, &version_file, &child);
	(void)snprintf(name, sizeof name, "%llu", (unsigned long long)v->n);
	r = v->n * 2 - 1 > ls->after ? lister_emit(ls->l, name, &child, cookie - 1, &st) : 0;
	if (r)
		return r;
	version_place(ls->dir, v, &version_json, &child);
	(void)snprintf(name, sizeof name, "%llu.json", (unsigned long long)v->n);
	return tree_is_hidden(ls->dir, name) ? 0 : lister_emit(ls->l, name, &child, cookie, NULL);
}

/* Two names a version, of odd and even cookies: a listing may end between them. */
static int version_list(const struct place *dir, uint64_t after, struct lister *l, struct err *err)
{
	struct listing ls = { .dir = dir, .l = l, .after = after };

	return artifact_versions(dir->fs->store, dir->item, after / 2, list_version, &ls, err);
}

static int version_remove(const struct place *dir, const char *name, struct err *err)
{
	char *end;
	uint64_t n = strtoull(name, &end, 10);

	if (*end)
		return -EOPNOTSUPP; /* <n>.json goes with its version */
	return artifact_remove_version(dir->fs->store, dir->ref, dir->parent, dir->item, n, err);
}

static int versions_of_stat(const struct place *at, struct node_stat *st, struct err *err)
{
	struct artifact_info info;
	int r = own_info(at, &info, err);

	if (r < 0)
		return r;
	st->size = 0;
	st->mtime = info.versions_stamp;
	return 0;
}

static const struct node_type versions_of = {
	.name = ".versions/<name>",
	.id = ID_OBJECT_VERSIONS,
	.mode = S_IFDIR | 0700,
	.stat = versions_of_stat,
	.list = version_list,
	.find = version_find,
	.remove = version_remove,
};

static const struct node_type versions_directory = {
	.name = ".versions/<directory>",
	.id = ID_OBJECT_VERSIONS,
	.mode = S_IFDIR | 0700,
	.stat = directory_stat,
	.list = versions_list,
	.find = versions_find,
};

const struct node_type artifacts_entries[] = {
	{ .name = ".versions",
	  .id = ID_VERSIONS,
	  .mode = S_IFDIR | 0700,
	  .flags = NODE_UNLISTED,
	  .help = "every version: .versions/NAME/N, and N.json about it",
	  .stat = artifacts_top_stat,
	  .list = versions_list,
	  .find = versions_find },
	{ 0 },
};

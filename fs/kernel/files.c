/*
 * Operations on files by their names: attributes, opening, making.
 */
#include "base/clock.h"
#include "fs/kernel/request.h"
#include "fs/tree/closing.h"
#include "fs/tree/tree.h"

#include <stdlib.h>
#include <unistd.h>

static int open_file(struct handle *h, struct err *err)
{
	if (h->at.type->open)
		return h->at.type->open(h, err);
	return h->ops && h->ops->open ? h->ops->open(h, err) : 0;
}

/* truncate(2) without a descriptor: an open, a truncate and a close. */
static int truncate_alone(struct inode *inode, uint64_t size, uid_t caller, struct err *err)
{
	const struct file_ops *ops = inode_place(inode)->type->file;
	struct handle *h = handle_new(inode, O_WRONLY, caller);
	int r;

	if (!h)
		return err_nomem(err);
	h->ops = ops;
	r = ops->settle ? ops->settle(inode, err) : 0;
	if (r == 0)
		r = open_file(h, err);
	if (r == 0) {
		r = ops->truncate(h, size, err);
		if (r == 0 && ops->flush)
			r = ops->flush(h, err);
		if (ops->release)
			ops->release(h, err);
	}
	handle_free(h);
	return r;
}

static int set_size(struct inode *inode, uint64_t size, struct fuse_file_info *fi, uid_t caller,
		    struct err *err)
{
	const struct file_ops *ops = inode_place(inode)->type->file;

	if (!ops || !ops->truncate)
		return err_set(err, -EPERM, "this file cannot be truncated");
	if (fi)
		return ops->truncate(request_handle(fi), size, err);
	return truncate_alone(inode, size, caller, err);
}

/*
 * Whether the file has this size already. Such a truncate(2) changes the time alone, and the
 * kernel leaves that to the file system.
 */
static bool has_size(struct inode *inode, uint64_t size)
{
	struct stat st;

	return tree_stat(inode_place(inode), NULL, &st, NULL) == 0 && (uint64_t)st.st_size == size;
}

static int64_t ns_of(struct timespec ts)
{
	return (int64_t)ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

/* Whether one of the two bits is set; *ns is the present time or the given one. */
static bool read_time(int set, int bit, int now_bit, struct timespec given, int64_t *ns)
{
	struct timespec now;

	if (!(set & (bit | now_bit)))
		return false;
	(void)clock_gettime(CLOCK_REALTIME, &now);
	*ns = ns_of(set & now_bit ? now : given);
	return true;
}

/* Set mode, owner and times. A row without set_attr ignores them. */
static int set_attributes(struct inode *inode, const struct stat *attr, int set, struct err *err)
{
	const struct place *at = inode_place(inode);
	struct artifact_attr a = { .mode = attr->st_mode & 07777,
				   .uid = attr->st_uid,
				   .gid = attr->st_gid };

	if (set & FUSE_SET_ATTR_MODE)
		a.has |= ATTR_MODE;
	if (set & FUSE_SET_ATTR_UID)
		a.has |= ATTR_UID;
	if (set & FUSE_SET_ATTR_GID)
		a.has |= ATTR_GID;
	if (read_time(set, FUSE_SET_ATTR_MTIME, FUSE_SET_ATTR_MTIME_NOW, attr->st_mtim, &a.mtime))
		a.has |= ATTR_MTIME;
	if (read_time(set, FUSE_SET_ATTR_ATIME, FUSE_SET_ATTR_ATIME_NOW, attr->st_atim, &a.atime))
		a.has |= ATTR_ATIME;
	if (!a.has || !at->type->set_attr)
		return 0;
	return at->type->set_attr(at, &a, err);
}

void op_setattr(fuse_req_t req, fuse_ino_t ino, struct stat *attr, int set,
		struct fuse_file_info *fi)
{
	struct inode *inode = request_inode(req, ino);
	struct err err = { 0 };
	int r = 0;

	if (!inode)
		return;
	if ((set & FUSE_SET_ATTR_SIZE) && !fi && has_size(inode, (uint64_t)attr->st_size))
		set |= FUSE_SET_ATTR_MTIME | FUSE_SET_ATTR_MTIME_NOW;
	if (set & FUSE_SET_ATTR_SIZE)
		r = set_size(inode, (uint64_t)attr->st_size, fi, request_caller(req), &err);
	if (r == 0)
		r = set_attributes(inode, attr, set, &err);
	if (r < 0)
		request_refuse(req, inode, NULL, r, &err);
	else
		request_reply_attr(req, inode);
}

static void reply_getattr(struct waiting *w)
{
	request_reply_attr(w->req, w->inode);
}

void op_getattr(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct fs *fs = request_fs(req);
	struct waiting w = { .req = req, .fs = fs, .reply = reply_getattr };

	(void)fi;
	atomic_fetch_add(&fs->requests[REQUEST_OTHER], 1);
	w.inode = request_inode(req, ino);
	if (w.inode)
		request_after_close(&w, closing_deadline(inode_place(w.inode)->item));
}

/* Choose how the kernel treats the open file. */
static void set_file_flags(struct handle *h, struct fuse_file_info *fi)
{
	unsigned flags = h->at.type->flags;

	fi->fh = (uintptr_t)h;
	if (flags & NODE_STREAM) {
		fi->direct_io = 1;
		fi->nonseekable = handle_writes(h); /* readers such as wc(1) seek */
	} else if (handle_writes(h)) {
		/*
		 * A draft is not the stored file, so its bytes must not enter the shared pages.
		 * But a file open for reading and writing may be mapped, and older kernels map
		 * only pages.
		 */
		fi->direct_io = request_maps_direct || !h->ops->draft_size ||
				(h->flags & O_ACCMODE) != O_RDWR;
	} else {
		/* The kernel's pages may contain a mapped draft. */
		bool shared = (flags & (NODE_DIRECT | NODE_FRESH)) ||
			      atomic_load(&h->inode->writers) ||
			      (request_maps_direct && tree_is_moving(&h->at));

		fi->direct_io = shared;
		fi->keep_cache = !shared && !(flags & NODE_VOLATILE);
	}
	h->direct = fi->direct_io;
	fi->noflush = !handle_writes(h) && !h->created;
}

static int open_handle(fuse_req_t req, struct inode *inode, int flags, struct handle **out,
		       struct err *err)
{
	const struct node_type *type = inode_place(inode)->type;
	struct handle *h;
	int r = 0;

	if (atomic_load(&inode->gone))
		return -ESTALE;
	h = handle_new(inode, flags, request_caller(req));
	if (!h)
		return err_nomem(err);
	h->ops = type->file;
	h->pid = fuse_req_ctx(req)->pid;
	if (handle_writes(h) && (!h->ops || !h->ops->write))
		r = err_set(err, -EACCES, "%s cannot be written", type->name);
	else if (!handle_writes(h) && !type->show && !type->read && !(h->ops && h->ops->follow))
		r = err_set(err, -EACCES, "%s cannot be read", type->name);
	else
		r = open_file(h, err);
	if (r < 0) {
		handle_free(h);
		return r;
	}
	atomic_store(&h->is_open, true);
	*out = h;
	return 0;
}

static void reply_open(struct waiting *w)
{
	fuse_req_t req = w->req;
	struct inode *inode = w->inode;
	struct fuse_file_info *fi = &w->fi;
	struct handle *h = NULL;
	struct err err = { 0 };
	int r = open_handle(req, inode, fi->flags, &h, &err);

	if (r == -ESTALE) {
		(void)fuse_reply_err(req, ESTALE); /* the kernel looks up the path again */
	} else if (r < 0) {
		request_refuse(req, inode, NULL, r, &err);
	} else {
		/* With O_TRUNC the kernel itself drops size and times when it gets this reply. */
		bool dropped = (fi->flags & O_TRUNC) && atomic_exchange(&inode->asked, false);

		set_file_flags(h, fi);
		if (fuse_reply_open(req, fi) != -ENOENT)
			return;
		if (dropped)
			atomic_store(&inode->asked, true);
		handle_close(h, &err);
	}
}

void op_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct fs *fs = request_fs(req);
	struct waiting w = { .req = req, .fs = fs, .fi = *fi, .reply = reply_open };

	atomic_fetch_add(&fs->requests[REQUEST_OTHER], 1);
	w.inode = request_inode(req, ino);
	if (w.inode)
		request_after_close(&w, request_wait_until(w.inode));
}

/* Plan the place of a new file. A file of another scope (user:x) needs the right to write there. */
static int plan_file(const struct place *dir, const char *name, const struct node_new *by,
		     struct place *child, struct buf *text, struct err *err)
{
	const struct dir_ops *ops = node_dir(dir->type);
	int r;

	if (!ops->create && tree_is_hidden(dir, name))
		return err_set(err, -EPERM,
			       "%s was removed; the name comes back within ten seconds", name);
	if (!ops->create)
		return err_set(err, -EPERM, "files cannot be made here");
	*child = *dir;
	child->inode = NULL;
	r = ops->create(dir, name, by, child, text, err);
	if (r == 0 && ref_number(child->ref) != ref_number(dir->ref))
		r = owners_may_write(dir->fs, child->ref, by->uid, err);
	return r;
}

/* A file that op_create() makes and opens. */
struct made {
	const struct inode *dir;
	const char *name;
	struct inode *inode;
	struct handle *h;
	struct fuse_entry_param e;
};

/* Undo open_made(): the caller has gone. */
static void drop_made(struct made *m)
{
	struct inodes *inodes = &inode_place(m->dir)->fs->inodes;
	struct err unused;

	atomic_fetch_sub(&m->inode->pending, 1);
	if (m->h)
		handle_close(m->h, &unused);
	inode_forget(inodes, m->inode->ino, 1);
}

/* Enter the file, open it and describe it. */
static int open_made(fuse_req_t req, const struct place *at, int flags, struct made *m,
		     struct err *err)
{
	const struct place *dir = inode_place(m->dir);
	int r;

	m->inode = inode_enter(&dir->fs->inodes, at, m->dir->ino, m->name);
	if (!m->inode)
		return err_nomem(err);
	atomic_fetch_add(&m->inode->pending, 1);
	m->e = (struct fuse_entry_param){
		.ino = m->inode->ino,
		.attr_timeout = request_attr_timeout(inode_place(m->inode)),
		.entry_timeout = request_name_timeout(inode_place(m->inode))
	};
	r = open_handle(req, m->inode, flags, &m->h, err);
	if (r == 0) {
		m->h->created = true;
		if (dir->ref.session && !at->ref.session) {
			m->h->via = dir->ref;
			m->h->via_name = strdup(m->name);
		}
		r = tree_stat(inode_place(m->inode), NULL, &m->e.attr, err);
	}
	if (r < 0)
		drop_made(m);
	return r;
}

void op_create(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode,
	       struct fuse_file_info *fi)
{
	struct inode *dir = request_inode(req, parent);
	struct made m = { .dir = dir, .name = name };
	CLEANUP(buf_release) struct buf text = { 0 };
	struct node_new by = request_maker(req, mode);
	struct place child = { 0 };
	struct err err = { 0 };
	int r;

	if (!dir)
		return;
	r = plan_file(inode_place(dir), name, &by, &child, &text, &err);
	if (r == 0)
		r = open_made(req, &child, fi->flags, &m, &err);
	if (r < 0) {
		request_refuse(req, dir, name, r, &err);
		return;
	}
	set_file_flags(m.h, fi);
	if (fuse_reply_create(req, &m.e, fi) == -ENOENT)
		drop_made(&m);
}

/*
 * FUSE operations: requests in, replies out.
 *
 * Knows node tables and never a name. Each operation finds the place, lets its
 * row act, and turns the result into a reply; an error with a text is also
 * told in the .errors of the place. What cannot be answered yet is parked.
 */
#define FUSE_USE_VERSION FUSE_MAKE_VERSION(3, 12)

#include "fs/ops.h"

#include "base/clock.h"
#include "fs/closing.h"
#include "fs/handle.h"
#include "fs/tree.h"

#include <errno.h>
#include <fuse_lowlevel.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/statvfs.h>
#include <sys/uio.h>
#include <unistd.h>

#define FOR_EVER        1e9
#define FLEETING        1.0 /* seconds; names that depend on something outside of the mount */
#define PARALLEL_DIROPS (1u << 18)
#define INIT_EXT        (1u << 30) /* flags2 counts */
#define ALLOW_MMAP      (1u << 4)  /* of flags2: direct_io files may be mapped, from Linux 6.6 */
#define ALLOW_MMAP_FROM 39         /* minor version of the protocol */
#define MAX_BACKGROUND  64
#define CONGESTION      48
#define WRITE_MAX       (1u << 20)

/* The kernel maps files that it keeps no bytes of; set by op_init(). */
static bool maps_direct;

static struct fs *fs_of(fuse_req_t req)
{
	return fuse_req_userdata(req);
}

static uid_t caller_of(fuse_req_t req)
{
	return fuse_req_ctx(req)->uid;
}

static struct inode *inode_of(fuse_req_t req, fuse_ino_t ino)
{
	struct fs *fs = fs_of(req);
	struct inode *inode = inode_find(&fs->inodes, ino);

	if (!inode)
		(void)fuse_reply_err(req, ESTALE);
	return inode;
}

static struct handle *handle_of(const struct fuse_file_info *fi)
{
	return (struct handle *)(uintptr_t)fi->fh;
}

/* Tell a refusal where people look for it. */
static void tell_error(struct fs *fs, const struct inode *inode, const char *child,
		       const struct err *err)
{
	CLEANUP(buf_release) struct buf name = { 0 };
	uint64_t place = handle_error_place(inode_place(inode));
	uint64_t ino;

	if (!place || !err->text[0])
		return;
	handle_error_name(fs, inode, child, &name);
	if (!buf_cstr(&name))
		return;
	errors_add(&fs->errors, place, name.data, err);
	ino = errors_ino(place);
	notify_attributes(fs, ino);
}

/* Reply with an error that a change was refused with. */
static void refuse(fuse_req_t req, const struct inode *inode, const char *child, int r,
		   struct err *err)
{
	err->code = r;
	if (r == -ENODATA)
		r = -EINVAL;
	tell_error(fs_of(req), inode, child, err);
	(void)fuse_reply_err(req, -r);
}

static double attr_timeout(const struct place *at)
{
	if (at->type->flags & NODE_VOLATILE)
		return 0;
	if (at->inode && atomic_load(&at->inode->writers))
		return 0; /* who writes sees another size than all others */
	if (tree_hides_names(at))
		return FLEETING;
	return owners_keep(at) ? owners_keep(at) : FOR_EVER;
}

static double name_timeout(const struct place *at)
{
	return tree_is_fleeting(at) ? FLEETING : FOR_EVER;
}

/*
 * Enter a place and describe it. Counts a lookup on success. What is lazy is
 * described by attributes that are over at once, so that whoever needs them asks.
 */
static int make_entry(struct fs *fs, const struct place *at, uint64_t parent, const char *name,
		      const struct node_stat *known, struct fuse_entry_param *e, struct err *err)
{
	struct inode *inode = inode_enter(&fs->inodes, at, parent, name);
	const struct node_stat unasked = { .mtime = fs->mounted };
	bool is_lazy = at->type->flags & NODE_LAZY;
	int r;

	if (!inode)
		return err_nomem(err);
	*e = (struct fuse_entry_param){ .ino = inode->ino,
					.generation = atomic_load(&inode->generation) };
	r = tree_stat(inode_place(inode), is_lazy ? &unasked : known, &e->attr, err);
	if (r < 0) {
		inode_forget(&fs->inodes, inode->ino, 1);
		return r;
	}
	e->attr_timeout = is_lazy ? 0 : attr_timeout(inode_place(inode));
	e->entry_timeout = name_timeout(at);
	return 0;
}

static void reply_entry(fuse_req_t req, const struct fuse_entry_param *e)
{
	struct fs *fs = fs_of(req);

	/* -ENOENT: the caller is gone, and the kernel never learned of the lookup. */
	if (fuse_reply_entry(req, e) == -ENOENT && e->ino)
		inode_forget(&fs->inodes, e->ino, 1);
}

/*
 * A missing name, which the kernel may remember unless it is only hidden, or the
 * directory has links to what others make at any time.
 */
static void reply_missing(fuse_req_t req, const struct place *dir, const struct place *child,
			  const char *name)
{
	struct fuse_entry_param e = { .ino = 0, .entry_timeout = FOR_EVER };

	if (tree_is_hidden(dir, name) || (child->type && tree_is_fleeting(child)) ||
	    (dir->type->flags & (NODE_SHOWS_STATE | NODE_LATE)))
		(void)fuse_reply_err(req, ENOENT);
	else
		(void)fuse_reply_entry(req, &e);
}

/* Whether two threads are of one process. */
static bool same_process(pid_t a, pid_t b)
{
	char path[64];

	if (!a || !b || a == b)
		return a == b && a;
	(void)snprintf(path, sizeof path, "/proc/%ld/task/%ld", (long)a, (long)b);
	return access(path, F_OK) == 0;
}

struct asking {
	pid_t pid;
	uint64_t size;
	bool found;
};

static void look_for_draft(struct handle *h, void *arg)
{
	struct asking *a = arg;

	/* Of several, the one that was opened last. */
	if (!a->found && h->ops && h->ops->draft_size && handle_writes(h) &&
	    same_process(a->pid, h->pid))
		a->found = h->ops->draft_size(h, &a->size);
}

/* To who writes it, a file has the size that it will have. */
static void show_draft(fuse_req_t req, const struct inode *inode, struct stat *st)
{
	struct asking a = { .pid = fuse_req_ctx(req)->pid };

	if (!atomic_load(&inode->writers))
		return;
	handle_each(inode, look_for_draft, &a);
	if (!a.found)
		return;
	st->st_size = (off_t)a.size;
	st->st_blocks = (st->st_size + 511) / 512;
}

static void op_lookup(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	struct fs *fs = fs_of(req);
	struct inode *dir = inode_of(req, parent);
	CLEANUP(buf_release) struct buf text = { 0 };
	struct fuse_entry_param e;
	struct place child = { 0 };
	struct err err;
	int r;

	atomic_fetch_add(&fs->requests[REQUEST_LOOKUP], 1);
	if (!dir)
		return;
	r = tree_find(inode_place(dir), name, &child, &text, &err);
	if (r == 0)
		r = make_entry(fs, &child, parent, name, NULL, &e, &err);
	if (r == 0)
		show_draft(req, inode_find(&fs->inodes, e.ino), &e.attr);
	if (r == 0)
		reply_entry(req, &e);
	else if (r == -ENOENT)
		reply_missing(req, inode_place(dir), &child, name);
	else
		(void)fuse_reply_err(req, r == -ESTALE ? ENOENT : -r);
}

static void op_forget(fuse_req_t req, fuse_ino_t ino, uint64_t lookups)
{
	inode_forget(&fs_of(req)->inodes, ino, lookups);
	fuse_reply_none(req);
}

static void op_forget_multi(fuse_req_t req, size_t count, struct fuse_forget_data *forgets)
{
	size_t i;

	for (i = 0; i < count; i++)
		inode_forget(&fs_of(req)->inodes, forgets[i].ino, forgets[i].nlookup);
	fuse_reply_none(req);
}

static void reply_attr(fuse_req_t req, const struct inode *inode)
{
	struct stat st;
	struct err err;
	int r = tree_stat(inode_place(inode), NULL, &st, &err);

	if (r < 0) {
		(void)fuse_reply_err(req, -r);
		return;
	}
	show_draft(req, inode, &st);
	(void)fuse_reply_attr(req, &st, attr_timeout(inode_place(inode)));
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
	if (r == 0 && ops->open)
		r = ops->open(h, err);
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
		return ops->truncate(handle_of(fi), size, err);
	return truncate_alone(inode, size, caller, err);
}

static int64_t ns_of(struct timespec ts)
{
	return (int64_t)ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

/* Mode, owner and times, where the row keeps them; else they are what they are. */
static int set_attributes(struct inode *inode, const struct stat *attr, int set, struct err *err)
{
	const struct place *at = inode_place(inode);
	struct timespec now;
	struct artifact_attr a = { 0 };

	(void)clock_gettime(CLOCK_REALTIME, &now);
	if (set & FUSE_SET_ATTR_MODE)
		a.has |= ATTR_MODE, a.mode = attr->st_mode & 07777;
	if (set & FUSE_SET_ATTR_UID)
		a.has |= ATTR_UID, a.uid = attr->st_uid;
	if (set & FUSE_SET_ATTR_GID)
		a.has |= ATTR_GID, a.gid = attr->st_gid;
	if (set & (FUSE_SET_ATTR_MTIME | FUSE_SET_ATTR_MTIME_NOW))
		a.has |= ATTR_MTIME,
			a.mtime = ns_of(set & FUSE_SET_ATTR_MTIME_NOW ? now : attr->st_mtim);
	if (set & (FUSE_SET_ATTR_ATIME | FUSE_SET_ATTR_ATIME_NOW))
		a.has |= ATTR_ATIME,
			a.atime = ns_of(set & FUSE_SET_ATTR_ATIME_NOW ? now : attr->st_atim);
	if (!a.has || !at->type->set_attr)
		return 0;
	return at->type->set_attr(at, &a, err);
}

static void op_setattr(fuse_req_t req, fuse_ino_t ino, struct stat *attr, int set,
		       struct fuse_file_info *fi)
{
	struct inode *inode = inode_of(req, ino);
	struct err err = { 0 };
	int r = 0;

	if (!inode)
		return;
	if (set & FUSE_SET_ATTR_SIZE)
		r = set_size(inode, (uint64_t)attr->st_size, fi, caller_of(req), &err);
	if (r == 0)
		r = set_attributes(inode, attr, set, &err);
	if (r < 0)
		refuse(req, inode, NULL, r, &err);
	else
		reply_attr(req, inode);
}

/* A request that waits, with what is needed to try it again. */
struct waiting {
	struct parked parked;
	fuse_req_t req;
	struct fs *fs;
	struct inode *inode;
	struct handle *handle;
	struct fuse_file_info fi;
	uint64_t offset;
	size_t size;
	bool (*answer)(struct waiting *w, enum park_reason reason);
};

static bool waiting_again(struct parked *p, enum park_reason reason)
{
	struct waiting *w = CONTAINER_OF(p, struct waiting, parked);

	if (!w->answer(w, reason))
		return false;
	free(w);
	return true;
}

static void on_interrupt(fuse_req_t req, void *data)
{
	struct waiting *w = data;

	(void)req;
	park_interrupt(&w->fs->park, &w->parked);
}

/* Before any reply to a parked request: on_interrupt must not run on freed memory. */
static void leave_park(struct waiting *w)
{
	fuse_req_interrupt_func(w->req, NULL, NULL);
}

/* Park what `model` describes. On failure the request is answered. */
static void park_request(const struct waiting *model, uint64_t deadline)
{
	struct waiting *w = malloc(sizeof *w);
	int r;

	if (!w) {
		(void)fuse_reply_err(model->req, ENOMEM);
		return;
	}
	*w = *model;
	w->parked = (struct parked){ .session = ref_number(inode_place(w->inode)->ref),
				     .deadline = deadline,
				     .again = waiting_again };
	fuse_req_interrupt_func(w->req, on_interrupt, w);
	r = park_add(&w->fs->park, &w->parked);
	if (r == 0)
		return;
	leave_park(w);
	(void)fuse_reply_err(w->req, -r);
	free(w);
}

/* How the kernel shall treat the open file. */
static void set_file_flags(struct handle *h, struct fuse_file_info *fi)
{
	unsigned flags = h->at.type->flags;

	fi->fh = (uintptr_t)h;
	if (flags & NODE_STREAM) {
		fi->direct_io = 1;
		fi->nonseekable = handle_writes(h); /* who reads may seek: wc(1) does */
	} else if (handle_writes(h)) {
		/*
		 * What is stored may differ from what was written, and others do not see it yet.
		 * But what may be mapped has to be, also by kernels that map pages only.
		 */
		fi->direct_io = maps_direct || !h->ops->draft_size ||
				(h->flags & O_ACCMODE) != O_RDWR;
	} else {
		/* The kernel's pages may be those of a draft that is mapped. */
		bool shared = (flags & NODE_DIRECT) || atomic_load(&h->inode->writers) ||
			      (maps_direct && tree_is_moving(&h->at));

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
	h = handle_new(inode, flags, caller_of(req));
	if (!h)
		return err_nomem(err);
	h->ops = type->file;
	h->pid = fuse_req_ctx(req)->pid;
	if (handle_writes(h) && (!h->ops || !h->ops->write))
		r = err_set(err, -EACCES, "%s cannot be written", type->name);
	else if (!handle_writes(h) && !type->show && !type->read && !(h->ops && h->ops->follow))
		r = err_set(err, -EACCES, "%s cannot be read", type->name);
	else if (h->ops && h->ops->open)
		r = h->ops->open(h, err);
	if (r < 0) {
		handle_free(h);
		return r;
	}
	atomic_store(&h->is_open, true);
	*out = h;
	return 0;
}

static void open_now(fuse_req_t req, struct inode *inode, struct fuse_file_info *fi)
{
	struct handle *h = NULL;
	struct err err = { 0 };
	int r = open_handle(req, inode, fi->flags, &h, &err);

	if (r == -ESTALE) {
		(void)fuse_reply_err(req, ESTALE); /* the kernel walks the path again */
	} else if (r < 0) {
		refuse(req, inode, NULL, r, &err);
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

/* Whether a message of the session is still being closed. */
/* Until when an open has to wait: for a message, or for the file itself, that is being closed. */
static uint64_t wait_until(const struct inode *inode)
{
	const struct place *at = inode_place(inode);
	uint64_t message = closing_deadline(at->ref.session);
	uint64_t file = closing_deadline(at->item);

	return MAX(message, file);
}

static bool must_go_on_waiting(struct waiting *w, enum park_reason reason)
{
	uint64_t deadline = wait_until(w->inode);

	if (!deadline || (reason != PARK_MOVED && reason != PARK_TIMED_OUT))
		return false;
	w->parked.deadline = deadline;
	return true;
}

static bool answer_getattr(struct waiting *w, enum park_reason reason)
{
	if (must_go_on_waiting(w, reason))
		return false;
	leave_park(w);
	if (reason == PARK_INTERRUPTED)
		(void)fuse_reply_err(w->req, EINTR);
	else
		reply_attr(w->req, w->inode);
	return true;
}

static void op_getattr(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct fs *fs = fs_of(req);
	struct inode *inode = inode_of(req, ino);
	uint64_t deadline;

	(void)fi;
	atomic_fetch_add(&fs->requests[REQUEST_OTHER], 1);
	if (!inode)
		return;
	deadline = closing_deadline(inode_place(inode)->item);
	if (deadline) {
		struct waiting w = {
			.req = req, .fs = fs, .inode = inode, .answer = answer_getattr
		};

		park_request(&w, deadline);
		return;
	}
	reply_attr(req, inode);
}

static bool answer_open(struct waiting *w, enum park_reason reason)
{
	if (must_go_on_waiting(w, reason))
		return false;
	leave_park(w);
	if (reason == PARK_INTERRUPTED)
		(void)fuse_reply_err(w->req, EINTR);
	else
		open_now(w->req, w->inode, &w->fi);
	return true;
}

static void op_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct fs *fs = fs_of(req);
	struct inode *inode = inode_of(req, ino);
	uint64_t deadline;

	atomic_fetch_add(&fs->requests[REQUEST_OTHER], 1);
	if (!inode)
		return;
	deadline = wait_until(inode);
	if (deadline) {
		struct waiting w = {
			.req = req, .fs = fs, .inode = inode, .fi = *fi, .answer = answer_open
		};

		park_request(&w, deadline);
		return;
	}
	open_now(req, inode, fi);
}

static struct node_new new_by(fuse_req_t req, mode_t mode)
{
	const struct fuse_ctx *ctx = fuse_req_ctx(req);

	return (struct node_new){ .mode = mode & 07777, .uid = ctx->uid, .gid = ctx->gid };
}

static void op_create(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode,
		      struct fuse_file_info *fi)
{
	struct fs *fs = fs_of(req);
	struct inode *dir = inode_of(req, parent);
	CLEANUP(buf_release) struct buf text = { 0 };
	struct fuse_entry_param e;
	struct place child = { 0 };
	struct handle *h = NULL;
	struct inode *inode;
	struct node_new by = new_by(req, mode);
	struct err err = { 0 };
	int r;

	if (!dir)
		return;
	if (!inode_place(dir)->type->create) {
		err_set(&err, -EPERM, "files cannot be made here");
		refuse(req, dir, name, -EPERM, &err);
		return;
	}
	child = *inode_place(dir);
	child.inode = NULL;
	r = inode_place(dir)->type->create(inode_place(dir), name, &by, &child, &text, &err);
	if (r == 0 && ref_number(child.ref) != ref_number(inode_place(dir)->ref))
		r = owners_may_write(fs, child.ref, caller_of(req), &err); /* such as user:x */
	if (r < 0) {
		refuse(req, dir, name, r, &err);
		return;
	}
	inode = inode_enter(&fs->inodes, &child, parent, name);
	if (!inode) {
		(void)fuse_reply_err(req, ENOMEM);
		return;
	}
	atomic_fetch_add(&inode->pending, 1);
	e = (struct fuse_entry_param){ .ino = inode->ino,
				       .attr_timeout = attr_timeout(inode_place(inode)),
				       .entry_timeout = FOR_EVER };
	r = open_handle(req, inode, fi->flags, &h, &err);
	if (r == 0) {
		h->created = true;
		if (inode_place(dir)->ref.session && !child.ref.session) {
			h->via = inode_place(dir)->ref;
			h->via_name = strdup(name);
		}
		r = tree_stat(inode_place(inode), NULL, &e.attr, &err);
	}
	if (r < 0) {
		atomic_fetch_sub(&inode->pending, 1);
		refuse(req, dir, name, r, &err);
		if (h)
			handle_close(h, &err);
		inode_forget(&fs->inodes, inode->ino, 1);
		return;
	}
	set_file_flags(h, fi);
	if (fuse_reply_create(req, &e, fi) == -ENOENT) {
		atomic_fetch_sub(&inode->pending, 1);
		handle_close(h, &err);
		inode_forget(&fs->inodes, e.ino, 1);
	}
}

/* One try of a stream's read. False: there is nothing to answer yet. */
static bool follow_once(struct waiting *w, bool may_wait)
{
	CLEANUP(buf_release) struct buf out = { 0 };
	struct handle *h = w->handle;
	struct err err = { 0 };
	int r = h->ops->follow(h, w->offset, w->size, &out, &err);

	if (r == -EAGAIN && may_wait)
		return false;
	leave_park(w);
	if (r < 0 && r != -EAGAIN) {
		(void)fuse_reply_err(w->req, -r);
		return true;
	}
	h->position = w->offset + out.len;
	(void)fuse_reply_buf(w->req, out.data, out.len);
	return true;
}

static bool answer_follow(struct waiting *w, enum park_reason reason)
{
	if (reason != PARK_INTERRUPTED)
		return follow_once(w, reason == PARK_MOVED);
	leave_park(w);
	(void)fuse_reply_err(w->req, EINTR);
	return true;
}

static void read_stream(fuse_req_t req, struct handle *h, uint64_t offset, size_t size, int flags)
{
	struct waiting w = { .req = req,
			     .fs = fs_of(req),
			     .inode = h->inode,
			     .handle = h,
			     .offset = offset,
			     .size = size,
			     .answer = answer_follow };

	if (follow_once(&w, true))
		return;
	if (flags & O_NONBLOCK)
		(void)fuse_reply_err(req, EAGAIN);
	else
		park_request(&w, 0);
}

static void op_read(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset,
		    struct fuse_file_info *fi)
{
	struct handle *h = handle_of(fi);
	CLEANUP(buf_release) struct buf out = { 0 };
	struct err err = { 0 };
	int r;

	(void)ino;
	atomic_fetch_add(&fs_of(req)->requests[REQUEST_READ], 1);
	if (h->ops && h->ops->follow) {
		read_stream(req, h, (uint64_t)offset, size, fi->flags);
		return;
	}
	if (h->at.type->read)
		r = h->at.type->read(h, (uint64_t)offset, size, &out, &err);
	else
		r = handle_read_shown(h, (uint64_t)offset, size, &out, &err);
	if (r == -ENOENT)
		r = -ESTALE;
	if (r < 0)
		(void)fuse_reply_err(req, -r);
	else
		(void)fuse_reply_buf(req, out.data, MIN(out.len, size));
}

/* All that was taken so far survives a power cut. */
static int sync_handle(struct handle *h, struct err *err)
{
	int r = h->ops && h->ops->sync ? h->ops->sync(h, err) : 0;

	return r < 0 ? r : store_sync(h->at.fs->store, err);
}

/* The reply to a write that may have made names in other directories. */
struct written {
	fuse_req_t req;
	size_t size;
};

static void write_through(void *arg)
{
	struct written *w = arg;

	(void)fuse_reply_write(w->req, w->size);
	free(w);
}

/* Names that the write made are everywhere when write(2) returns. */
static void reply_written(fuse_req_t req, size_t size)
{
	struct written *w = malloc(sizeof *w);

	if (!w) {
		(void)fuse_reply_write(req, size);
		return;
	}
	*w = (struct written){ req, size };
	notify_fence(fs_of(req), write_through, w);
}

static void op_write(fuse_req_t req, fuse_ino_t ino, const char *data, size_t size, off_t offset,
		     struct fuse_file_info *fi)
{
	struct handle *h = handle_of(fi);
	struct err err = { 0 };
	ssize_t n;

	(void)ino;
	atomic_fetch_add(&fs_of(req)->requests[REQUEST_WRITE], 1);
	/* Pages of a mapping are written where they are. */
	if ((fi->flags & O_APPEND) && !fi->writepage)
		n = h->ops->write(h, NODE_APPEND, (struct span){ data, size }, &err);
	else
		n = h->ops->write(h, (uint64_t)offset, (struct span){ data, size }, &err);
	if (n >= 0 && (h->flags & O_DSYNC)) {
		int r = sync_handle(h, &err);

		n = r < 0 ? r : n;
	}
	if (n < 0)
		refuse(req, h->inode, NULL, (int)n, &err);
	else if (h->ops->makes_names)
		reply_written(req, (size_t)n);
	else
		(void)fuse_reply_write(req, (size_t)n);
}

static void flush_through(void *arg)
{
	(void)fuse_reply_err(arg, 0);
}

static void op_flush(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct handle *h = handle_of(fi);
	struct err err = { 0 };
	int r = h->ops && h->ops->flush ? h->ops->flush(h, &err) : 0;

	if (r == 0 && handle_writes(h) && (h->flags & O_DSYNC))
		r = store_sync(h->at.fs->store, &err);
	(void)ino;
	atomic_fetch_add(&fs_of(req)->requests[REQUEST_OTHER], 1);
	/* What was made in a session for its user or app is to be seen as a link from here on. */
	if (r == 0 && h->created && h->via.session)
		notify_name(fs_of(req), inode_spot(h->inode)->parent,
			    inode_spot(h->inode)->file_name);
	if (r < 0)
		refuse(req, h->inode, NULL, r, &err);
	else /* names that the flush made are everywhere when close(2) returns */
		notify_fence(fs_of(req), flush_through, req);
}

static void op_release(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct fs *fs = fs_of(req);
	struct handle *h = handle_of(fi);
	struct inode *inode = h->inode;
	struct err err = { 0 };
	bool created = h->created;

	(void)ino;
	if (atomic_load(&h->polled))
		park_leave(&fs->park, h);
	if (h->ops && h->ops->release)
		h->ops->release(h, &err);
	if (err.code)
		tell_error(fs, inode, NULL, &err);
	if (created) {
		struct stat st;

		atomic_fetch_sub(&inode->pending, 1);
		/* Nothing came of it, or it is to be seen as a link from here on. */
		if (h->via.session || tree_stat(inode_place(inode), NULL, &st, &err) < 0)
			notify_name(fs, inode_spot(inode)->parent, inode_spot(inode)->file_name);
	}
	handle_free(h);
	(void)fuse_reply_err(req, 0);
}

static void op_fsync(fuse_req_t req, fuse_ino_t ino, int datasync, struct fuse_file_info *fi)
{
	struct handle *h = handle_of(fi);
	struct err err = { 0 };
	int r = sync_handle(h, &err);

	(void)ino;
	(void)datasync;
	if (r < 0)
		refuse(req, h->inode, NULL, r, &err);
	else
		(void)fuse_reply_err(req, 0);
}

static void op_fallocate(fuse_req_t req, fuse_ino_t ino, int mode, off_t offset, off_t length,
			 struct fuse_file_info *fi)
{
	struct handle *h = handle_of(fi);
	struct err err = { 0 };
	int r = -EOPNOTSUPP;

	(void)ino;
	if (h->ops && h->ops->allocate)
		r = h->ops->allocate(h, mode, (uint64_t)offset, (uint64_t)length, &err);
	if (r < 0)
		refuse(req, h->inode, NULL, r, &err);
	else
		(void)fuse_reply_err(req, 0);
}

static void op_lseek(fuse_req_t req, fuse_ino_t ino, off_t offset, int whence,
		     struct fuse_file_info *fi)
{
	struct handle *h = handle_of(fi);
	uint64_t found = (uint64_t)offset;
	struct stat st;
	struct err err = { 0 };
	int r;

	(void)ino;
	if (h->ops && h->ops->seek) {
		r = h->ops->seek(h, (uint64_t)offset, whence == SEEK_DATA, &found, &err);
	} else { /* all data */
		r = tree_stat(inode_place(h->inode), NULL, &st, &err);
		if (r == 0 && offset >= st.st_size)
			r = -ENXIO;
		else if (r == 0 && whence == SEEK_HOLE)
			found = (uint64_t)st.st_size;
	}
	if (r < 0)
		(void)fuse_reply_err(req, r == -ENOENT ? ESTALE : -r);
	else
		(void)fuse_reply_lseek(req, (off_t)found);
}

static void op_copy_file_range(fuse_req_t req, fuse_ino_t ino, off_t offset,
			       struct fuse_file_info *fi, fuse_ino_t to_ino, off_t to_offset,
			       struct fuse_file_info *to_fi, size_t len, int flags)
{
	struct handle *from = handle_of(fi);
	struct handle *to = handle_of(to_fi);
	struct err err = { 0 };
	ssize_t n = -EOPNOTSUPP; /* the kernel reads and writes then */

	(void)ino;
	(void)to_ino;
	(void)flags;
	if (from->ops && to->ops && from->ops->copy && from->ops->copy == to->ops->copy)
		n = to->ops->copy(from, (uint64_t)offset, to, (uint64_t)to_offset, len, &err);
	if (n < 0)
		refuse(req, to->inode, NULL, (int)n, &err);
	else
		(void)fuse_reply_write(req, (size_t)n);
}

static void op_opendir(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	(void)ino;
	(void)fi;
	(void)fuse_reply_err(req, ENOSYS); /* the kernel never asks again, and caches listings */
}

struct lister {
	fuse_req_t req;
	struct fs *fs;
	uint64_t dir;
	char *data;
	size_t size;
	size_t used;
	bool plus;
};

int lister_emit(struct lister *l, const char *name, const struct place *child, uint64_t cookie,
		const struct node_stat *st)
{
	struct fuse_entry_param e = { 0 };
	struct err err;
	size_t n;

	if (l->plus) {
		n = fuse_add_direntry_plus(l->req, NULL, 0, name, NULL, 0);
		if (n > l->size - l->used)
			return 1;
		if (child->type->flags & NODE_LAZY) { /* without a number the kernel looks it up */
			e.attr.st_ino = inode_number(child);
			e.attr.st_mode = child->type->mode;
		} else if (make_entry(l->fs, child, l->dir, name, st, &e, &err) < 0) {
			return 0; /* it went away while it was listed */
		}
		l->used += fuse_add_direntry_plus(l->req, l->data + l->used, l->size - l->used,
						  name, &e, (off_t)cookie);
		return 0;
	}
	e.attr.st_ino = inode_number(child);
	e.attr.st_mode = child->type->mode;
	n = fuse_add_direntry(l->req, l->data + l->used, l->size - l->used, name, &e.attr,
			      (off_t)cookie);
	if (n > l->size - l->used)
		return 1;
	l->used += n;
	return 0;
}

static void list_directory(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset, bool plus)
{
	struct fs *fs = fs_of(req);
	struct inode *dir = inode_of(req, ino);
	struct lister l = { req, fs, ino, NULL, size, 0, plus };
	struct err err = { 0 };
	int r;

	atomic_fetch_add(&fs->requests[REQUEST_LOOKUP], 1);
	if (!dir)
		return;
	l.data = malloc(size);
	r = l.data ? tree_list(inode_place(dir), (uint64_t)offset, &l, &err) : -ENOMEM;
	/*
	 * What was entered stays counted when the listing fails half way: part
	 * of it was described already, and a short reply is right.
	 */
	if (r < 0 && !l.used)
		(void)fuse_reply_err(req, r == -ENOENT ? ESTALE : -r);
	else
		(void)fuse_reply_buf(req, l.data, l.used);
	free(l.data);
}

static void op_readdir(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset,
		       struct fuse_file_info *fi)
{
	(void)fi;
	list_directory(req, ino, size, offset, false);
}

static void op_readdirplus(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset,
			   struct fuse_file_info *fi)
{
	(void)fi;
	list_directory(req, ino, size, offset, true);
}

static void readlink_now(fuse_req_t req, const struct inode *inode)
{
	CLEANUP(buf_release) struct buf target = { 0 };
	struct err err = { 0 };
	int r = inode_place(inode)->type->link
			? inode_place(inode)->type->link(inode_place(inode), &target, &err)
			: -EINVAL;

	if (r == 0 && !buf_cstr(&target))
		r = -ENOMEM;
	if (r < 0)
		(void)fuse_reply_err(req, -r);
	else
		(void)fuse_reply_readlink(req, target.data);
}

static bool answer_readlink(struct waiting *w, enum park_reason reason)
{
	if (must_go_on_waiting(w, reason))
		return false;
	leave_park(w);
	if (reason == PARK_INTERRUPTED)
		(void)fuse_reply_err(w->req, EINTR);
	else
		readlink_now(w->req, w->inode);
	return true;
}

static void op_readlink(fuse_req_t req, fuse_ino_t ino)
{
	struct inode *inode = inode_of(req, ino);
	uint64_t deadline;

	if (!inode)
		return;
	deadline = closing_deadline(inode_place(inode)->ref.session);
	if (deadline) {
		struct waiting w = {
			.req = req, .fs = fs_of(req), .inode = inode, .answer = answer_readlink
		};

		park_request(&w, deadline);
		return;
	}
	readlink_now(req, inode);
}

static void op_mkdir(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode)
{
	struct fs *fs = fs_of(req);
	struct inode *dir = inode_of(req, parent);
	CLEANUP(buf_release) struct buf text = { 0 };
	struct fuse_entry_param e;
	struct place child = { 0 };
	struct node_new by = new_by(req, mode);
	struct err err = { 0 };
	int r;

	if (!dir)
		return;
	if (!inode_place(dir)->type->make)
		r = err_set(&err, -EPERM, "directories cannot be made here");
	else
		r = owners_may_join(inode_place(dir), name, caller_of(req), &err);
	if (r == 0)
		r = inode_place(dir)->type->make(inode_place(dir), name, &by, &err);
	if (r == 0)
		r = tree_find(inode_place(dir), name, &child, &text, &err);
	if (r == 0)
		r = make_entry(fs, &child, parent, name, NULL, &e, &err);
	if (r < 0)
		refuse(req, dir, name, r, &err);
	else
		reply_entry(req, &e);
}

/* A row's name, and links of other scopes, are hidden; members are removed. */
static int remove_name(struct inode *dir, const char *name, bool is_dir, struct err *err)
{
	const struct node_type *type = inode_place(dir)->type;
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
	remove = is_dir ? type->remove_dir : type->remove;
	if (remove) {
		r = remove(inode_place(dir), name, err);
		if (r != -EOPNOTSUPP)
			return r;
	}
	if (!inode_place(dir)->ref.session) /* only a session is taken apart this way */
		return err_set(err, -EPERM, "%s cannot be removed", name);
	tree_hide(inode_place(dir), name);
	return 0;
}

static void op_remove(fuse_req_t req, fuse_ino_t parent, const char *name, bool is_dir)
{
	struct inode *dir = inode_of(req, parent);
	struct err err = { 0 };
	int r;

	if (!dir)
		return;
	r = remove_name(dir, name, is_dir, &err);
	if (r < 0)
		refuse(req, dir, name, r, &err);
	else
		(void)fuse_reply_err(req, 0);
}

static void op_unlink(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	op_remove(req, parent, name, false);
}

static void op_rmdir(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	op_remove(req, parent, name, true);
}

static void refuse_name(fuse_req_t req, fuse_ino_t parent, const char *name, const char *why)
{
	struct inode *dir = inode_of(req, parent);
	struct err err = { 0 };

	if (!dir)
		return;
	(void)err_set(&err, -EPERM, "%s", why);
	refuse(req, dir, name, -EPERM, &err);
}

static int rename_now(struct inode *dir, const char *name, struct inode *new_dir,
		      const char *new_name, unsigned flags, const struct node_new *by,
		      struct err *err)
{
	const struct place *from = inode_place(dir);
	const struct place *to = inode_place(new_dir);

	if (flags & ~(unsigned)RENAME_NOREPLACE)
		return err_set(err, -EINVAL, "names cannot be exchanged here");
	if (!from->type->rename)
		return err_set(err, -EPERM, "this name cannot be changed");
	if (!to->type->rename)
		return err_set(err, -EPERM, "nothing can be moved there");
	if (from->type->rename != to->type->rename)
		return err_set(err, -EXDEV, "%s is of another kind there", name);
	return from->type->rename(from, name, to, new_name, flags & RENAME_NOREPLACE, by, err);
}

static void op_rename(fuse_req_t req, fuse_ino_t parent, const char *name, fuse_ino_t new_parent,
		      const char *new_name, unsigned flags)
{
	struct inode *dir = inode_of(req, parent);
	struct inode *new_dir = dir ? inode_of(req, new_parent) : NULL;
	struct node_new by = new_by(req, 0);
	struct err err = { 0 };
	int r;

	if (!new_dir)
		return;
	r = rename_now(dir, name, new_dir, new_name, flags, &by, &err);
	if (r < 0) {
		refuse(req, dir, name, r, &err);
		return;
	}
	if (r == 1) /* the kernel takes the old inode for the new name: it asks again */
		notify_name(fs_of(req), new_parent, new_name);
	(void)fuse_reply_err(req, 0);
}

static void op_symlink(fuse_req_t req, const char *target, fuse_ino_t parent, const char *name)
{
	(void)target;
	refuse_name(req, parent, name, "links cannot be made here");
}

static void op_mknod(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode, dev_t dev)
{
	(void)mode;
	(void)dev;
	refuse_name(req, parent, name, "special files cannot be made here");
}

static void op_link(fuse_req_t req, fuse_ino_t ino, fuse_ino_t parent, const char *name)
{
	(void)ino;
	refuse_name(req, parent, name, "hard links cannot be made here");
}

/* What is left for poll(2) to be told of. */
struct poller {
	struct parked parked;
	struct fs *fs;
	struct fuse_pollhandle *ph;
};

static bool poll_again(struct parked *p, enum park_reason reason)
{
	struct poller *poller = CONTAINER_OF(p, struct poller, parked);

	(void)reason;
	(void)fuse_lowlevel_notify_poll(poller->ph);
	fuse_pollhandle_destroy(poller->ph);
	free(poller);
	return true;
}

static void add_poller(struct fs *fs, struct handle *h, struct fuse_pollhandle *ph)
{
	struct poller *poller = calloc(1, sizeof *poller);

	if (poller) {
		poller->fs = fs;
		poller->ph = ph;
		poller->parked.session = h->at.ref.session;
		poller->parked.owner = h;
		poller->parked.again = poll_again;
		atomic_store(&h->polled, true);
		if (park_add_quiet(&fs->park, &poller->parked) == 0)
			return;
		free(poller);
	}
	fuse_pollhandle_destroy(ph); /* the caller polls again by its own timeout */
}

static bool has_to_wait(struct handle *h)
{
	CLEANUP(buf_release) struct buf out = { 0 };
	struct err err;

	return h->ops && h->ops->follow &&
	       h->ops->follow(h, handle_position(h), 1, &out, &err) == -EAGAIN;
}

static void op_poll(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi,
		    struct fuse_pollhandle *ph)
{
	struct handle *h = handle_of(fi);
	bool waits = has_to_wait(h);

	(void)ino;
	if (waits && ph) {
		add_poller(fs_of(req), h, ph);
		ph = NULL;
		waits = has_to_wait(h); /* once more, so that no change falls between */
	}
	if (ph)
		fuse_pollhandle_destroy(ph);
	(void)fuse_reply_poll(req, waits ? 0 : POLLIN | POLLRDNORM | POLLOUT | POLLWRNORM);
}

static void op_statfs(fuse_req_t req, fuse_ino_t ino)
{
	struct statvfs st = { 0 };

	(void)ino;
	if (statvfs(store_folder(fs_of(req)->store), &st) < 0)
		(void)fuse_reply_err(req, errno);
	else
		(void)fuse_reply_statfs(req, &st);
}

static uint32_t init_extra; /* set by op_init(), before the reply goes out */
static atomic_bool init_sent;

static void op_init(void *userdata, struct fuse_conn_info *conn)
{
	(void)userdata;
	conn->max_write = WRITE_MAX;
	conn->max_background = MAX_BACKGROUND;
	conn->congestion_threshold = CONGESTION;
	conn->want &= ~(unsigned)(FUSE_CAP_READDIRPLUS_AUTO | FUSE_CAP_SPLICE_READ |
				  FUSE_CAP_SPLICE_WRITE | FUSE_CAP_SPLICE_MOVE |
				  FUSE_CAP_WRITEBACK_CACHE | FUSE_CAP_EXPLICIT_INVAL_DATA);
	/* libfuse before 3.17 wants this one and never tells the kernel. */
	if (fuse_version() < 317 && (conn->capable & FUSE_CAP_PARALLEL_DIROPS))
		init_extra |= PARALLEL_DIROPS;
	maps_direct = conn->proto_minor >= ALLOW_MMAP_FROM;
}

/* The INIT reply is the first thing that is written to the device. */
struct init_reply {
	uint32_t major, minor, max_readahead, flags;
	uint16_t max_background, congestion_threshold;
	uint32_t max_write, time_gran;
	uint16_t max_pages, map_alignment;
	uint32_t flags2; /* the rest is not touched */
};

static ssize_t device_writev(int fd, struct iovec *iov, int count, void *data)
{
	(void)data;
	if (!atomic_load(&init_sent) && count == 2 && iov[1].iov_len >= sizeof(struct init_reply)) {
		struct init_reply *reply = iov[1].iov_base;

		if (reply->major == 7) {
			reply->flags |= init_extra;
			if (maps_direct) {
				reply->flags |= INIT_EXT;
				reply->flags2 |= ALLOW_MMAP;
			}
			atomic_store(&init_sent, true);
		}
	}
	return writev(fd, iov, count);
}

static ssize_t device_read(int fd, void *data, size_t len, void *userdata)
{
	(void)userdata;
	return read(fd, data, len);
}

static const struct fuse_custom_io device_io = { .writev = device_writev, .read = device_read };

static const struct fuse_lowlevel_ops operations = {
	.init = op_init,
	.lookup = op_lookup,
	.forget = op_forget,
	.forget_multi = op_forget_multi,
	.getattr = op_getattr,
	.setattr = op_setattr,
	.readlink = op_readlink,
	.mknod = op_mknod,
	.mkdir = op_mkdir,
	.unlink = op_unlink,
	.rmdir = op_rmdir,
	.symlink = op_symlink,
	.rename = op_rename,
	.link = op_link,
	.open = op_open,
	.read = op_read,
	.write = op_write,
	.flush = op_flush,
	.release = op_release,
	.fsync = op_fsync,
	.opendir = op_opendir,
	.readdir = op_readdir,
	.readdirplus = op_readdirplus,
	.statfs = op_statfs,
	.create = op_create,
	.poll = op_poll,
	.fallocate = op_fallocate,
	.lseek = op_lseek,
	.copy_file_range = op_copy_file_range,
};

static int add_arguments(struct fuse_args *args, const char *options)
{
	int r = fuse_opt_add_arg(args, "adkfs");

	r |= fuse_opt_add_arg(args, "-o");
	r |= fuse_opt_add_arg(args, "fsname=adkfs,subtype=adkfs");
	if (options) {
		r |= fuse_opt_add_arg(args, "-o");
		r |= fuse_opt_add_arg(args, options);
	}
	r |= fuse_opt_add_arg(args, "-o"); /* last: they count */
	r |= fuse_opt_add_arg(args, "default_permissions,nosuid,nodev");
	return r < 0 ? -ENOMEM : 0;
}

/* The kernel holds the root without ever asking for it. */
static int enter_root(struct fs *fs, struct err *err)
{
	struct place root = { .fs = fs, .type = &root_dir };

	return inode_enter(&fs->inodes, &root, 0, NULL) ? 0 : err_nomem(err);
}

int ops_mount(struct fs *fs, const char *options, struct err *err)
{
	struct fuse_args args = FUSE_ARGS_INIT(0, NULL);
	int r = add_arguments(&args, options);

	if (r == 0)
		r = enter_root(fs, err);
	if (r == 0) {
		fs->se = fuse_session_new(&args, &operations, sizeof operations, fs);
		if (!fs->se)
			r = err_set(err, -EINVAL, "bad mount options: %s", options ? options : "");
	}
	fuse_opt_free_args(&args);
	if (r < 0)
		return r;
	if (fuse_session_mount(fs->se, fs->mountpoint) != 0) {
		r = err_set(err, -EIO, "%s cannot be mounted (the lines above say why)",
			    fs->mountpoint);
	} else {
		fs->is_mounted = true;
		r = fuse_session_custom_io(fs->se, &device_io, fuse_session_fd(fs->se));
		if (r < 0)
			(void)err_errno(err, r, "mounting %s", fs->mountpoint);
	}
	return r;
}

int ops_serve(struct fs *fs, struct err *err)
{
	struct fuse_loop_config *config = fuse_loop_cfg_create();
	int r;

	if (!config)
		return err_nomem(err);
	fuse_loop_cfg_set_max_threads(config, fs->threads);
	fuse_loop_cfg_set_clone_fd(config, 0);
	r = fuse_session_loop_mt(fs->se, config);
	fuse_loop_cfg_destroy(config);
	return r < 0 ? err_errno(err, r, "serving %s", fs->mountpoint) : 0;
}

void ops_exit(struct fs *fs)
{
	fuse_session_exit(fs->se);
}

void ops_unmount(struct fs *fs)
{
	if (!fs->se)
		return;
	if (fs->is_mounted)
		fuse_session_unmount(fs->se);
	fuse_session_destroy(fs->se);
	fs->se = NULL;
}

int ops_drop_attributes(struct fs *fs, uint64_t ino)
{
	return fuse_lowlevel_notify_inval_inode(fs->se, ino, -1, 0);
}

void ops_drop_pages(struct fs *fs, uint64_t ino)
{
	(void)fuse_lowlevel_notify_inval_inode(fs->se, ino, 0, 0);
}

void ops_drop_name(struct fs *fs, uint64_t parent, const char *name)
{
	(void)fuse_lowlevel_notify_inval_entry(fs->se, parent, name, strlen(name));
}

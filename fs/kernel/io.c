/*
 * Operations on open files: reading, writing, closing, waiting.
 */
#include "fs/kernel/request.h"
#include "fs/tree/tree.h"

#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

/* Try a read of a stream. False: there is nothing to answer yet. */
static bool follow_once(struct waiting *w, bool may_wait)
{
	CLEANUP(buf_release) struct buf out = { 0 };
	struct handle *h = w->handle;
	struct err err = { 0 };
	int r = h->ops->follow(h, w->offset, w->size, &out, &err);

	if (r == -EAGAIN && may_wait)
		return false;
	request_leave_park(w);
	if (r < 0) { /* -EAGAIN: the daemon stops before the bytes have come */
		(void)fuse_reply_err(w->req, r == -EAGAIN ? ESHUTDOWN : -r);
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
	request_leave_park(w);
	(void)fuse_reply_err(w->req, EINTR);
	return true;
}

static void read_stream(fuse_req_t req, struct handle *h, uint64_t offset, size_t size, int flags)
{
	struct waiting w = { .req = req,
			     .fs = request_fs(req),
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
		request_park(&w, 0);
}

void op_read(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset, struct fuse_file_info *fi)
{
	struct handle *h = request_handle(fi);
	CLEANUP(buf_release) struct buf out = { 0 };
	struct err err = { 0 };
	int r;

	(void)ino;
	atomic_fetch_add(&request_fs(req)->requests[REQUEST_READ], 1);
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

/* Make all bytes written so far survive a power cut. */
static int sync_handle(struct handle *h, struct err *err)
{
	int r = h->ops && h->ops->sync ? h->ops->sync(h, err) : 0;

	return r < 0 ? r : store_sync(h->at.fs->store, err);
}

/* A reply to a write, for the fence after the names that the write made. */
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

/* Reply when the kernel has dropped the names that the write made in other directories. */
static void reply_written(fuse_req_t req, size_t size)
{
	struct written *w = malloc(sizeof *w);

	if (!w) {
		(void)fuse_reply_write(req, size);
		return;
	}
	*w = (struct written){ req, size };
	notify_fence(&request_fs(req)->notify, write_through, w);
}

void op_write(fuse_req_t req, fuse_ino_t ino, const char *data, size_t size, off_t offset,
	      struct fuse_file_info *fi)
{
	struct handle *h = request_handle(fi);
	struct err err = { 0 };
	ssize_t n;

	(void)ino;
	atomic_fetch_add(&request_fs(req)->requests[REQUEST_WRITE], 1);
	/* Pages of a mapping have their offset even with O_APPEND. */
	if ((fi->flags & O_APPEND) && !fi->writepage)
		n = h->ops->write(h, NODE_APPEND, (struct span){ data, size }, &err);
	else
		n = h->ops->write(h, (uint64_t)offset, (struct span){ data, size }, &err);
	if (n >= 0 && (h->flags & O_DSYNC)) {
		int r = sync_handle(h, &err);

		n = r < 0 ? r : n;
	}
	if (n < 0)
		request_refuse(req, h->inode, NULL, (int)n, &err);
	else if (h->ops->makes_names)
		reply_written(req, (size_t)n);
	else
		(void)fuse_reply_write(req, (size_t)n);
}

static void flush_through(void *arg)
{
	(void)fuse_reply_err(arg, 0);
}

void op_flush(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct handle *h = request_handle(fi);
	struct err err = { 0 };
	int r = h->ops && h->ops->flush ? h->ops->flush(h, &err) : 0;

	if (r == 0 && handle_writes(h) && (h->flags & O_DSYNC))
		r = store_sync(h->at.fs->store, &err);
	(void)ino;
	atomic_fetch_add(&request_fs(req)->requests[REQUEST_OTHER], 1);
	/* A file of the user or app that was made in a session is a link there from now on. */
	if (r == 0 && h->created && h->via.session)
		notify_name(&request_fs(req)->notify, inode_spot(h->inode)->parent,
			    inode_spot(h->inode)->file_name);
	if (r < 0)
		request_refuse(req, h->inode, NULL, r, &err);
	else /* close(2) returns when the kernel has dropped the names that the flush made */
		notify_fence(&request_fs(req)->notify, flush_through, req);
}

void op_release(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct fs *fs = request_fs(req);
	struct handle *h = request_handle(fi);
	struct inode *inode = h->inode;
	struct err err = { 0 };
	bool created = h->created;

	(void)ino;
	atomic_store(&h->is_left, true);
	if (atomic_load(&h->polled))
		park_leave(&fs->park, h);
	if (h->ops && h->ops->release)
		h->ops->release(h, &err);
	if (err.code)
		request_report(fs, inode, NULL, &err);
	if (created) {
		struct stat st;

		atomic_fetch_sub(&inode->pending, 1);
		/* The file does not exist, or is a link in this directory from now on. */
		if (h->via.session || tree_stat(inode_place(inode), NULL, &st, &err) < 0)
			notify_name(&fs->notify, inode_spot(inode)->parent,
				    inode_spot(inode)->file_name);
	}
	handle_free(h);
	(void)fuse_reply_err(req, 0);
}

void op_fsync(fuse_req_t req, fuse_ino_t ino, int datasync, struct fuse_file_info *fi)
{
	struct handle *h = request_handle(fi);
	struct err err = { 0 };
	int r = sync_handle(h, &err);

	(void)ino;
	(void)datasync;
	if (r < 0)
		request_refuse(req, h->inode, NULL, r, &err);
	else
		(void)fuse_reply_err(req, 0);
}

void op_fallocate(fuse_req_t req, fuse_ino_t ino, int mode, off_t offset, off_t length,
		  struct fuse_file_info *fi)
{
	struct handle *h = request_handle(fi);
	struct err err = { 0 };
	int r = -EOPNOTSUPP;

	(void)ino;
	if (h->ops && h->ops->allocate)
		r = h->ops->allocate(h, mode, (uint64_t)offset, (uint64_t)length, &err);
	if (r < 0)
		request_refuse(req, h->inode, NULL, r, &err);
	else
		(void)fuse_reply_err(req, 0);
}

void op_lseek(fuse_req_t req, fuse_ino_t ino, off_t offset, int whence, struct fuse_file_info *fi)
{
	struct handle *h = request_handle(fi);
	uint64_t found = (uint64_t)offset;
	struct stat st;
	struct err err = { 0 };
	int r;

	(void)ino;
	if (h->ops && h->ops->seek) {
		r = h->ops->seek(h, (uint64_t)offset, whence == SEEK_DATA, &found, &err);
	} else { /* the file has no holes */
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

void op_copy_file_range(fuse_req_t req, fuse_ino_t ino, off_t offset, struct fuse_file_info *fi,
			fuse_ino_t to_ino, off_t to_offset, struct fuse_file_info *to_fi,
			size_t len, int flags)
{
	struct handle *from = request_handle(fi);
	struct handle *to = request_handle(to_fi);
	struct err err = { 0 };
	ssize_t n = -EOPNOTSUPP; /* the kernel then reads and writes */

	(void)ino;
	(void)to_ino;
	(void)flags;
	if (from->ops && to->ops && from->ops->copy && from->ops->copy == to->ops->copy)
		n = to->ops->copy(from, (uint64_t)offset, to, (uint64_t)to_offset, len, &err);
	if (n < 0)
		request_refuse(req, to->inode, NULL, (int)n, &err);
	else
		(void)fuse_reply_write(req, (size_t)n);
}

/* A parked poll(2): the next change of the session notifies the kernel. */
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
	fuse_pollhandle_destroy(ph); /* the caller polls again after its own timeout */
}

static bool has_to_wait(struct handle *h)
{
	CLEANUP(buf_release) struct buf out = { 0 };
	struct err err;

	return h->ops && h->ops->follow && h->ops->follow(h, h->position, 1, &out, &err) == -EAGAIN;
}

void op_poll(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi, struct fuse_pollhandle *ph)
{
	struct handle *h = request_handle(fi);
	bool waits = has_to_wait(h);

	(void)ino;
	if (waits && ph) {
		add_poller(request_fs(req), h, ph);
		ph = NULL;
		waits = has_to_wait(h); /* check again, so that no change in between is missed */
	}
	if (ph)
		fuse_pollhandle_destroy(ph);
	(void)fuse_reply_poll(req, waits ? 0 : POLLIN | POLLRDNORM | POLLOUT | POLLWRNORM);
}

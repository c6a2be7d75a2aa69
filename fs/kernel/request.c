/*
 * Requests: see request.h.
 */
#include "fs/kernel/request.h"

#include "base/clock.h"
#include "fs/tree/closing.h"
#include "fs/tree/tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define FLEETING 1.0 /* seconds; for names that depend on something outside of the mount */

bool request_maps_direct;

struct inode *request_inode(fuse_req_t req, fuse_ino_t ino)
{
	struct fs *fs = request_fs(req);
	struct inode *inode = inode_find(&fs->inodes, ino);

	if (!inode)
		(void)fuse_reply_err(req, ESTALE);
	return inode;
}

void request_report(struct fs *fs, const struct inode *inode, const char *child,
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
	notify_attributes(&fs->notify, ino);
}

void request_refuse(fuse_req_t req, const struct inode *inode, const char *child, int r,
		    struct err *err)
{
	err->code = r;
	if (r == -ENODATA)
		r = -EINVAL;
	request_report(request_fs(req), inode, child, err);
	(void)fuse_reply_err(req, -r);
}

double request_attr_timeout(const struct place *at)
{
	if (at->type->flags & (NODE_VOLATILE | NODE_FRESH))
		return 0;
	if (at->inode && atomic_load(&at->inode->writers))
		return 0; /* a writer sees another size than the others */
	if (S_ISDIR(at->type->mode) && tree_hides_names(inode_number(at)))
		return FLEETING;
	return owners_timeout(at) ? owners_timeout(at) : FOR_EVER;
}

double request_name_timeout(const struct place *at)
{
	if (at->type->flags & NODE_FRESH)
		return 0;
	return tree_is_fleeting(at) ? FLEETING : FOR_EVER;
}

int request_enter(const struct place *at, uint64_t parent, const char *name,
		  const struct known *known, struct fuse_entry_param *e, struct err *err)
{
	struct fs *fs = at->fs;
	struct inode *inode = inode_enter(&fs->inodes, at, parent, name);
	const struct node_stat unasked = { .mtime = fs->mounted };
	bool is_lazy = at->type->flags & NODE_LAZY;
	const struct node_stat *st = is_lazy ? &unasked : known ? known->st : NULL;
	int r;

	if (!inode)
		return err_nomem(err);
	*e = (struct fuse_entry_param){ .ino = inode->ino,
					.generation = atomic_load(&inode->generation) };
	/*
	 * From here on a change drops the attributes that this reply sends. A change between the
	 * listing's read and here did not, so then known->st must not be used.
	 */
	atomic_store(&inode->asked, true);
	if (st && !is_lazy && atomic_load(&inode->changed_at) > known->since)
		st = NULL;
	r = tree_stat(inode_place(inode), st, &e->attr, err);
	if (r < 0) {
		inode_forget(&fs->inodes, inode->ino, 1);
		return r;
	}
	e->attr_timeout = is_lazy ? 0 : request_attr_timeout(inode_place(inode));
	e->entry_timeout = request_name_timeout(at);
	return 0;
}

void request_reply_entry(fuse_req_t req, const struct fuse_entry_param *e)
{
	struct fs *fs = request_fs(req);

	/* -ENOENT: the caller is gone, and the kernel did not count the lookup. */
	if (fuse_reply_entry(req, e) == -ENOENT && e->ino)
		inode_forget(&fs->inodes, e->ino, 1);
}

/* Whether two threads belong to one process. */
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

	/* The latest open comes first, and decides. */
	if (!a->found && h->ops && h->ops->draft_size && handle_writes(h) &&
	    !atomic_load(&h->is_left) && same_process(a->pid, h->pid))
		a->found = h->ops->draft_size(h, &a->size);
}

void request_show_draft(fuse_req_t req, const struct inode *inode, struct stat *st)
{
	struct asking a = { .pid = fuse_req_ctx(req)->pid };

	if (!atomic_load(&inode->writers))
		return;
	handle_each(request_fs(req), inode->ino, look_for_draft, &a);
	if (!a.found)
		return;
	st->st_size = (off_t)a.size;
	st->st_blocks = (st->st_size + 511) / 512;
}

void request_reply_attr(fuse_req_t req, const struct inode *inode)
{
	struct stat st;
	struct err err;
	int r = tree_stat(inode_place(inode), NULL, &st, &err);

	if (r < 0) {
		(void)fuse_reply_err(req, -r);
		return;
	}
	request_show_draft(req, inode, &st);
	(void)fuse_reply_attr(req, &st, request_attr_timeout(inode_place(inode)));
}

static void free_waiting(struct waiting *w)
{
	free(w->name);
	free(w->new_name);
	free(w);
}

static bool waiting_again(struct parked *p, enum park_reason reason)
{
	struct waiting *w = CONTAINER_OF(p, struct waiting, parked);

	if (!w->answer(w, reason))
		return false;
	free_waiting(w);
	return true;
}

static void on_interrupt(fuse_req_t req, void *data)
{
	struct waiting *w = data;

	(void)req;
	park_interrupt(&w->fs->park, &w->parked);
}

void request_leave_park(struct waiting *w)
{
	fuse_req_interrupt_func(w->req, NULL, NULL);
}

void request_park(const struct waiting *model, uint64_t deadline)
{
	struct waiting *w = malloc(sizeof *w);
	int r;

	if (!w) {
		(void)fuse_reply_err(model->req, ENOMEM);
		free(model->name);
		free(model->new_name);
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
	request_leave_park(w);
	(void)fuse_reply_err(w->req, -r);
	free_waiting(w);
}

uint64_t request_wait_until(const struct inode *inode)
{
	const struct place *at = inode_place(inode);
	uint64_t message = closing_deadline(at->ref.session);
	uint64_t file = closing_deadline(at->item);

	return MAX(message, file);
}

bool request_must_wait(struct waiting *w, enum park_reason reason)
{
	uint64_t deadline = request_wait_until(w->inode);

	if (!deadline || (reason != PARK_MOVED && reason != PARK_TIMED_OUT))
		return false;
	w->parked.deadline = deadline;
	return true;
}

static bool answer_after_close(struct waiting *w, enum park_reason reason)
{
	if (request_must_wait(w, reason))
		return false;
	request_leave_park(w);
	if (reason == PARK_INTERRUPTED)
		(void)fuse_reply_err(w->req, EINTR);
	else
		w->reply(w);
	return true;
}

void request_after_close(struct waiting *w, uint64_t deadline)
{
	w->answer = answer_after_close;
	if (deadline)
		request_park(w, deadline);
	else
		w->reply(w);
}

struct node_new request_maker(fuse_req_t req, mode_t mode)
{
	const struct fuse_ctx *ctx = fuse_req_ctx(req);

	return (struct node_new){ .mode = mode & 07777, .uid = ctx->uid, .gid = ctx->gid };
}

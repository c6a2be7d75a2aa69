/*
 * Views: see view.h.
 */
#include "fs/view/view.h"

#include "base/clock.h"
#include "fs/tree/handle.h"
#include "store/session/scope.h"

#include <errno.h>
#include <stdlib.h>

#define IDLE_NS (VIEWS_IDLE_MS * (uint64_t)NSEC_PER_MSEC)

/* The text of one inode. While `busy` is set, only the renderer may use the text. */
struct view {
	struct view *next;
	uint64_t ino;
	uint64_t stamp; /* of the session, before the text was rendered */
	uint64_t used;  /* monotonic time of the latest use */
	bool busy;
	struct buf text;
};

struct views {
	struct mutex lock;
	struct cond moved; /* a text was rendered, or the end */
	struct view *list GUARDED_BY(lock);
	uint64_t bytes GUARDED_BY(lock); /* of all texts */
	bool tidies GUARDED_BY(lock);    /* a thread waits to drop what is idle */
	bool stopping GUARDED_BY(lock);
};

struct views *views_new(void)
{
	struct views *v = calloc(1, sizeof *v);

	if (!v)
		return NULL;
	mutex_init(&v->lock);
	cond_init(&v->moved);
	return v;
}

static struct view **find_locked(struct views *v, uint64_t ino) REQUIRES(v->lock)
{
	struct view **at = &v->list;

	while (*at && (*at)->ino != ino)
		at = &(*at)->next;
	return at;
}

static void drop_locked(struct views *v, struct view **at) REQUIRES(v->lock)
{
	struct view *view = *at;

	*at = view->next;
	v->bytes -= view->text.len;
	buf_release(&view->text);
	free(view);
}

/* Drop unused texts. Returns the time when the next text is due; 0: no text is left. */
static uint64_t drop_idle_locked(struct views *v) REQUIRES(v->lock)
{
	uint64_t now = clock_monotonic();
	uint64_t first = 0;
	struct view **at = &v->list;

	while (*at) {
		uint64_t due = (*at)->busy ? now + IDLE_NS : (*at)->used + IDLE_NS;

		if (due <= now) {
			drop_locked(v, at);
			continue;
		}
		first = first ? MIN(first, due) : due;
		at = &(*at)->next;
	}
	return first;
}

/* Drop texts over the limit, the longest unused first, but never `kept`. */
static void drop_excess_locked(struct views *v, const struct view *kept) REQUIRES(v->lock)
{
	struct view **at;

	do {
		struct view **oldest = NULL;

		for (at = &v->list; *at; at = &(*at)->next) {
			if (*at != kept && !(*at)->busy &&
			    (!oldest || (*at)->used < (*oldest)->used))
				oldest = at;
		}
		if (v->bytes <= VIEWS_KEPT_BYTES || !oldest)
			return;
		drop_locked(v, oldest);
	} while (v->list);
}

/* The tidying thread; it runs while there are texts. */
static void *tidy(void *arg)
{
	struct views *v = arg;
	uint64_t due;

	mutex_lock(&v->lock);
	while (!v->stopping && (due = drop_idle_locked(v)))
		(void)cond_wait_until(&v->moved, &v->lock, due);
	v->tidies = false;
	cond_wake_all(&v->moved); /* under the lock: views_release() frees both when it has it */
	mutex_unlock(&v->lock);
	return NULL;
}

/* If no thread can be started, texts stay until drop_excess_locked() drops them. */
static void start_tidying_locked(struct views *v) REQUIRES(v->lock)
{
	pthread_attr_t attr;
	pthread_t thread;

	if (v->tidies || v->stopping)
		return;
	(void)pthread_attr_init(&attr);
	(void)pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	v->tidies = pthread_create(&thread, &attr, tidy, v) == 0;
	(void)pthread_attr_destroy(&attr);
}

void views_free(struct views *v)
{
	if (!v)
		return;
	mutex_lock(&v->lock);
	v->stopping = true;
	cond_wake_all(&v->moved);
	while (v->tidies)
		cond_wait(&v->moved, &v->lock);
	while (v->list)
		drop_locked(v, &v->list);
	mutex_unlock(&v->lock);
	cond_release(&v->moved);
	mutex_release(&v->lock);
	free(v);
}

/* The stamp of a view: the newest of the log, the turns and the daemon. */
static int stamp_of(const struct place *at, uint64_t *stamp, struct err *err)
{
	struct scope_info info;
	int r = scope_stat(at->fs->store, at->ref, &info, err);

	if (r == 0)
		*stamp = MAX(MAX(info.log_stamp, info.turn_stamp), at->fs->mounted);
	return r;
}

/* The caller took the stamp before: the text may be newer than its stamp, never older. */
static int render(const struct place *at, struct view *into, struct err *err)
{
	CLEANUP(buf_release) struct buf text = { 0 };
	int r = at->type->show(at, &text, err);

	if (r == 0)
		r = buf_check(&text, err);
	if (r < 0)
		return r;
	buf_release(&into->text);
	into->text = text;
	text = (struct buf){ 0 };
	return 0;
}

static struct view *add_locked(struct views *v, uint64_t ino) REQUIRES(v->lock)
{
	struct view *view = calloc(1, sizeof *view);

	if (!view)
		return NULL;
	view->ino = ino;
	view->next = v->list;
	v->list = view;
	return view;
}

/* Render without the lock. On failure the view is freed. */
static int render_locked(struct views *v, const struct place *at, struct view *view,
			 struct err *err) REQUIRES(v->lock)
{
	int r;

	view->busy = true;
	v->bytes -= view->text.len;
	mutex_unlock(&v->lock);
	r = render(at, view, err);
	mutex_lock(&v->lock);
	v->bytes += view->text.len;
	view->busy = false;
	view->used = clock_monotonic();
	cond_wake_all(&v->moved);
	if (r < 0) {
		drop_locked(v, find_locked(v, view->ino));
		return r;
	}
	drop_excess_locked(v, view);
	start_tidying_locked(v);
	return 0;
}

/*
 * Find the view of a stamp, or render it. If two requests need the same text,
 * one renders it and the other waits.
 */
static int need_locked(struct views *v, const struct place *at, uint64_t stamp, struct view **out,
		       struct err *err) REQUIRES(v->lock)
{
	uint64_t ino = inode_number(at);
	struct view *view;
	int r = 0;

	while ((view = *find_locked(v, ino)) && view->busy)
		cond_wait(&v->moved, &v->lock);
	if (!view || view->stamp != stamp) {
		if (!view)
			view = add_locked(v, ino);
		if (!view)
			return err_nomem(err);
		view->stamp = stamp;
		r = render_locked(v, at, view, err);
	}
	if (r == 0) {
		view->used = clock_monotonic();
		*out = view;
	}
	return r;
}

int view_stat(const struct place *at, struct node_stat *st, struct err *err)
{
	struct views *v = at->fs->views;
	struct view *view;
	uint64_t stamp;
	int r = stamp_of(at, &stamp, err);

	if (r < 0)
		return r;
	mutex_lock(&v->lock);
	r = need_locked(v, at, stamp, &view, err);
	if (r == 0) {
		st->size = view->text.len;
		st->mtime = view->stamp;
	}
	mutex_unlock(&v->lock);
	return r;
}

int view_read(struct handle *h, uint64_t offset, size_t size, struct buf *out, struct err *err)
{
	struct views *v = h->at.fs->views;
	struct view *view;
	uint64_t stamp;
	int r = stamp_of(&h->at, &stamp, err);

	if (r < 0)
		return r;
	mutex_lock(&v->lock);
	r = need_locked(v, &h->at, stamp, &view, err);
	if (r == 0 && offset < view->text.len)
		buf_add(out, view->text.data + offset, MIN(size, view->text.len - offset));
	mutex_unlock(&v->lock);
	return r < 0 ? r : buf_check(out, err);
}

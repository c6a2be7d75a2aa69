/*
 * Views: the state as a part of a turn sees it.
 *
 * A view holds changes that are not committed, `temp:` keys among them. It lies above another view
 * or above the store. A call of a tool sees its own changes on top of its agent's view; nobody else
 * sees them before the call's event is committed.
 *
 * Values are canonical JSON text. Any thread.
 */
#ifndef RUNNER_LIVE_STATE_H
#define RUNNER_LIVE_STATE_H

#include "base/mutex.h"
#include "store/json/event.h"
#include "store/session/scope.h"

#include <jansson.h>

#define STATEVIEW_MAX (16u << 20) /* bytes of the changed keys and values of one view */

/* The values below the lowest view. */
struct stateview_source {
	struct store *store;
	struct ref session;
	/* Append the `temp:` keys of the session as an object; nothing without any. */
	int (*temp)(void *arg, struct ref session, struct buf *object);
	void *arg;
};

struct stateview {
	struct stateview *below;               /* NULL: the source is below; fixed */
	const struct stateview_source *source; /* of the lowest; fixed */
	struct mutex lock;
	json_t *changes GUARDED_BY(lock); /* object: key -> text, as a string; null: deleted */
	uint64_t count GUARDED_BY(lock);  /* of changes ever made */
	size_t size GUARDED_BY(lock);     /* of keys and texts in `changes` */
};

/*
 * Make a view above another one, or above a source: one of both is NULL. Both must outlive it.
 * NULL: out of memory.
 */
struct stateview *stateview_new(struct stateview *below, const struct stateview_source *source);
void stateview_free(struct stateview *v); /* NULL is fine */
DEFINE_CLEANUP(struct stateview, stateview_free);

/* Append the value of a key, which has its prefix. -ENOENT: there is none. */
MUST_CHECK int stateview_get(struct stateview *v, struct span key, struct buf *json,
			     struct err *err);

/* Call fn for every key, in no order. A result of fn that is not 0 ends this and is returned. */
typedef int stateview_fn(void *arg, struct span key, struct span json);
MUST_CHECK int stateview_each(struct stateview *v, stateview_fn *fn, void *arg, struct err *err);

/* Append all values as one compact JSON object. */
MUST_CHECK int stateview_map(struct stateview *v, struct buf *out, struct err *err);

/*
 * Change the value of a key; json is canonical. -EINVAL: statekey_check() refuses the key; -EFBIG:
 * the changes would have more than STATEVIEW_MAX bytes; -ENOMEM.
 */
MUST_CHECK int stateview_set(struct stateview *v, struct span key, struct span json,
			     struct err *err);
/* Whether a value of len bytes could be set: 0 or -EFBIG. */
MUST_CHECK int stateview_check(struct stateview *v, struct span key, size_t len, struct err *err);
/* Delete a key. -ENOENT: there is none. */
MUST_CHECK int stateview_delete(struct stateview *v, struct span key, struct err *err);

/* Bytes of the changed keys and their values. */
size_t stateview_size(struct stateview *v);

/* The number of changes ever made. */
uint64_t stateview_count(struct stateview *v);

/* Forget the changes of `temp:` keys. */
MUST_CHECK int stateview_drop_temp(struct stateview *v, struct err *err);

/* Put the changes into the event; those of `temp:` keys become its temp_delta. -ENOMEM. */
MUST_CHECK int stateview_write(struct stateview *v, struct event *e);

/* Lay the later changes of another view over these. */
MUST_CHECK int stateview_lay(struct stateview *v, struct stateview *other, struct err *err);

/* Merge changes that were made side by side with these: objects are merged in depth. */
MUST_CHECK int stateview_merge(struct stateview *v, struct stateview *other, struct err *err);

/* Apply the stateDelta and the temp_delta of an event. */
MUST_CHECK int stateview_take(struct stateview *v, const struct event *e, struct err *err);

#endif

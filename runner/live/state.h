/*
 * Views: state as a part of a turn sees it.
 *
 * A view holds changes that are not committed, `temp:` keys among them, above
 * another view, or above what the store has. A call of a tool sees its own
 * changes on top of its agent's view, and nobody else sees them before the
 * call's event is committed.
 *
 * Values are canonical JSON text. Any thread.
 */
#ifndef RUNNER_LIVE_STATE_H
#define RUNNER_LIVE_STATE_H

#include "base/mutex.h"
#include "store/json/event.h"
#include "store/session/scope.h"

#include <jansson.h>

#define STATEVIEW_MAX (16u << 20) /* bytes of what is changed in one view */

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

/* below or source, which outlive it, is NULL. NULL: out of memory. */
struct stateview *stateview_new(struct stateview *below, const struct stateview_source *source);
void stateview_free(struct stateview *v); /* NULL is fine */
DEFINE_CLEANUP(struct stateview, stateview_free);

/* Append the value of a key, prefix included. -ENOENT. */
MUST_CHECK int stateview_get(struct stateview *v, struct span key, struct buf *json,
			     struct err *err);

/* Every key, changes on top, in no order. Not 0 from fn ends it. */
typedef int stateview_fn(void *arg, struct span key, struct span json);
MUST_CHECK int stateview_each(struct stateview *v, stateview_fn *fn, void *arg, struct err *err);

/* Append all values as one compact JSON object. */
MUST_CHECK int stateview_map(struct stateview *v, struct buf *out, struct err *err);

/*
 * Change: any key that statekey_check() takes; json is canonical. -EINVAL; -EFBIG: all changes
 * would be over STATEVIEW_MAX; -ENOMEM.
 */
MUST_CHECK int stateview_set(struct stateview *v, struct span key, struct span json,
			     struct err *err);
/* Whether a value of len bytes could be set: 0 or -EFBIG. */
MUST_CHECK int stateview_check(struct stateview *v, struct span key, size_t len, struct err *err);
/* -ENOENT: there is none. */
MUST_CHECK int stateview_delete(struct stateview *v, struct span key, struct err *err);

/* Bytes of the changed keys and their values. */
size_t stateview_size(struct stateview *v);

/* The number of changes ever made. */
uint64_t stateview_count(struct stateview *v);

/* Forget its changes of `temp:` keys. */
MUST_CHECK int stateview_drop_temp(struct stateview *v, struct err *err);

/* Put the changes into the event: `temp:` keys as well, as temp_delta. -ENOMEM. */
MUST_CHECK int stateview_write(struct stateview *v, struct event *e);

/* Lay the later changes of another view over these. */
MUST_CHECK int stateview_lay(struct stateview *v, struct stateview *other, struct err *err);

/* Merge changes that were made side by side with these: objects are merged in depth. */
MUST_CHECK int stateview_merge(struct stateview *v, struct stateview *other, struct err *err);

/* Apply the stateDelta and the temp_delta of an event. */
MUST_CHECK int stateview_take(struct stateview *v, const struct event *e, struct err *err);

#endif

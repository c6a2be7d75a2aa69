/*
 * A live turn: one that waits or runs, and what it has said so far.
 *
 * The runner owns it until the turn has ended; readers hold references. Text
 * and stream only grow. Agents side by side may come here in another order than
 * the log has; what an event adds waits until those before it are there.
 */
#ifndef RUNNER_LIVE_LIVE_H
#define RUNNER_LIVE_LIVE_H

#include "base/cancel.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "store/turn/turn.h"

#include <stdatomic.h>

struct late;

enum live_stream { LIVE_OUTPUT, LIVE_EVENTS };

struct live {
	/* fixed after live_new() */
	struct ref ref;
	uint64_t n;
	uint64_t number; /* of the turn's object */
	char invocation[64];
	struct cancel cancel;
	struct buf temp; /* `temp:` keys of the message; set before others know it */

	atomic_uint refs;
	atomic_bool stopping; /* cancelled because the daemon stops; set before cancel fires */
	struct live *next;    /* behind it in its session; guarded by runner.lock */

	struct mutex lock;
	struct buf text[2] GUARDED_BY(lock); /* by enum live_stream */
	uint64_t shown GUARDED_BY(lock);     /* bytes of the turn's lines */
	struct late *late GUARDED_BY(lock);  /* events behind a gap, in order */
	bool ended GUARDED_BY(lock);
	bool failed GUARDED_BY(lock);

	/* Whether it is listened to: live_rest(). */
	struct cond listened;
	bool awaited GUARDED_BY(lock);     /* somebody has all that was said so far, and waits */
	unsigned unheard GUARDED_BY(lock); /* rests in a row before which nobody waited */
};

#define LIVE_REST_AFTER 16
#define LIVE_REST_NS    (10 * NSEC_PER_MSEC)

struct live *live_new(struct ref ref, const struct turn_info *info, struct err *err);
struct live *live_ref(struct live *live);
void live_unref(struct live *live); /* NULL is fine */

void live_add(struct live *live, enum live_stream which, struct span text);
/*
 * What a stored event adds: its line, with a newline, and text. bytes: of the turn's lines up to
 * its end.
 */
void live_add_event(struct live *live, uint64_t bytes, struct span line, struct span output);
void live_end(struct live *live, bool failed);

/*
 * Between two pieces of an answer. When nobody has waited for the last LIVE_REST_AFTER,
 * this waits until somebody does, or for LIVE_REST_NS, so that more is there at once and
 * a stream that nobody listens to costs little.
 */
void live_rest(struct live *live);

/* The turn is to end; whoever works on it is told at once. */
void live_cancel(struct live *live);

/*
 * Append what follows offset, at most size bytes. 0; -EAGAIN: nothing yet; 1:
 * the turn has ended and nothing follows; -EIO: the same, and it failed.
 */
MUST_CHECK int live_read(struct live *live, enum live_stream which, uint64_t offset, size_t size,
			 struct buf *out);

/* Bytes there are so far. */
uint64_t live_size(struct live *live, enum live_stream which);

#endif

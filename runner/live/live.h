/*
 * A live turn: a turn that waits or runs, with its text so far.
 *
 * The runner owns it until the turn has ended; readers hold references. Text and stream only grow.
 * Agents side by side may add events in another order than the log has; an event that comes too
 * early is shown after its predecessors.
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
	struct live *next;    /* the next turn of its session; guarded by runner.lock */

	struct mutex lock;
	struct buf text[2] GUARDED_BY(lock); /* by enum live_stream */
	uint64_t shown GUARDED_BY(lock);     /* bytes of the turn's lines */
	struct late *late GUARDED_BY(lock);  /* events after a gap, in order */
	bool ended GUARDED_BY(lock);
	bool failed GUARDED_BY(lock);

	/* For live_throttle(). */
	struct cond listened;
	bool awaited GUARDED_BY(lock);    /* a reader has read everything, and waits */
	unsigned unread GUARDED_BY(lock); /* pieces in a row for which no reader waited */
};

#define LIVE_THROTTLE_AFTER 16
#define LIVE_THROTTLE_NS    (10 * NSEC_PER_MSEC)

/* Make a live turn with one reference. NULL: out of memory or descriptors, and err is set. */
struct live *live_new(struct ref ref, const struct turn_info *info, struct err *err);
struct live *live_ref(struct live *live);
void live_unref(struct live *live); /* NULL is fine */

/* Append a text to the output or the stream. */
void live_add(struct live *live, enum live_stream which, struct span text);
/*
 * Add what a stored event shows: its line with a newline, and text. bytes: length of the turn's
 * lines up to the end of the event.
 */
void live_add_event(struct live *live, uint64_t bytes, struct span line, struct span output);
/* Show late events, and end the text: readers come to its end. */
void live_end(struct live *live, bool failed);

/*
 * Pause between two pieces of an answer that nobody reads: if no reader waited for the last
 * LIVE_THROTTLE_AFTER pieces, wait for a reader or for LIVE_THROTTLE_NS. Then more text is there
 * at once, and a stream without readers costs little.
 */
void live_throttle(struct live *live);

/* Make the turn end: the agents that work on it are cancelled at once. */
void live_cancel(struct live *live);

/*
 * Append what follows offset, at most size bytes. 0; -EAGAIN: nothing yet; 1: the turn has ended
 * and nothing follows; -EIO: nothing follows the output of a turn that failed.
 */
MUST_CHECK int live_read(struct live *live, enum live_stream which, uint64_t offset, size_t size,
			 struct buf *out);

/* The number of bytes so far. */
uint64_t live_size(struct live *live, enum live_stream which);

#endif

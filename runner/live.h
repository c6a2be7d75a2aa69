/*
 * A live turn: one that waits or runs, and what it has said so far.
 *
 * The runner owns it until the turn has ended; readers hold references. Text
 * and stream only grow.
 */
#ifndef RUNNER_LIVE_H
#define RUNNER_LIVE_H

#include "base/cancel.h"
#include "base/mutex.h"
#include "runner/runner.h"

#include <stdatomic.h>

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
	bool ended GUARDED_BY(lock);
	bool failed GUARDED_BY(lock);
};

struct live *live_new(struct ref ref, const struct turn_info *info, struct err *err);
void live_add(struct live *live, enum live_stream which, struct span text);
void live_end(struct live *live, bool failed);

#endif

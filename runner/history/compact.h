/*
 * Compaction: a summary takes the place of turns that ended, in what models see.
 *
 * Nothing is deleted. The summary is an event with ADK's `compaction`, and with
 * the first and the last invocation in customMetadata["adkfs.compacted"]; what
 * it does is in past.h.
 */
#ifndef RUNNER_HISTORY_COMPACT_H
#define RUNNER_HISTORY_COMPACT_H

#include "store/json/event.h"
#include "store/json/tokens.h"
#include "store/tx/store.h"

#define COMPACT_PROMPT_MAX  (16u << 20) /* bytes of what is to be summarised */
#define COMPACT_SUMMARY_MAX (1u << 20)

struct compact_options {
	unsigned overlap; /* turns that were compacted before, and are taken in again */
	unsigned least;   /* so many turns have to be new; 0: one */
};

/* What there is to compact. */
struct compact_plan {
	char from[64]; /* invocation of the first turn */
	char to[64];   /* and of the last */
	int64_t start; /* microseconds; the times of the first and the last line */
	int64_t end;
	uint64_t rewinds;  /* that the log had then */
	struct buf prompt; /* for the model: what to do, and a line `author: text` for each text */
};

/*
 * Look for turns that ended and are in no summary. 1: there are not enough, or nothing was
 * said in them. -ENOENT: the session is gone; -EFBIG: too much was said.
 */
MUST_CHECK int compact_plan(struct store *st, struct ref session,
			    const struct compact_options *options, struct compact_plan *out,
			    struct err *err);
void compact_plan_release(struct compact_plan *plan);

/* What a model made of it, and what that took. */
struct compact_summary {
	struct buf text;
	struct tokens tokens; /* of all times that it was asked */
	char model[256];      /* the version that the provider reported, or as it is named; "" */
};

/* Make the event of a summary. -EFBIG, -EIO: it is too long, it is empty. */
MUST_CHECK int compact_event(const struct compact_plan *plan, const struct compact_summary *summary,
			     struct event *e, struct err *err);

/* Ask for a summary: the text is replaced, tokens are added. Returns 0 or -errno with a text. */
typedef int compact_ask_fn(void *arg, struct span prompt, struct compact_summary *summary,
			   struct err *err);

/*
 * Compact: plan, ask, append. 1: nothing was to be done. -ESTALE: the session is gone; -EBUSY:
 * it was rewound again and again; what ask returned. Blocks as ask does.
 */
MUST_CHECK int compact_session(struct store *st, struct ref session,
			       const struct compact_options *options, compact_ask_fn *ask,
			       void *arg, struct err *err);

#endif

/*
 * Compaction: models see a summary in place of turns that have ended.
 *
 * Nothing is deleted. The summary is an event with ADK's `compaction`, and with the first and the
 * last invocation in customMetadata["adkfs.compacted"]. past.h says how a summary is used.
 */
#ifndef RUNNER_HISTORY_COMPACT_H
#define RUNNER_HISTORY_COMPACT_H

#include "store/json/event.h"
#include "store/json/tokens.h"
#include "store/tx/store.h"

#define COMPACT_PROMPT_MAX  (16u << 20) /* bytes of the text that the model reads */
#define COMPACT_SUMMARY_MAX (1u << 20)

struct compact_options {
	unsigned overlap; /* turns that an earlier summary has, and the new one too */
	unsigned least;   /* turns that must be new; 0: one */
};

/* The summary that a model wrote, and the tokens it took. */
struct compact_summary {
	struct buf text;
	struct tokens tokens; /* of all requests for it */
	char model[256]; /* the version that the provider reported, or the model's name; or "" */
};

/* Ask for a summary: replace the text, add the tokens. Returns 0 or -errno with the reason. */
typedef int compact_ask_fn(void *arg, struct span prompt, struct compact_summary *summary,
			   struct err *err);

/*
 * Find the turns that ended and are in no summary, ask for a summary of them, append it.
 * 1: there are too few turns, or nobody said anything in them. -ESTALE: the session is gone;
 * -EBUSY: the session was rewound again and again; -EFBIG: the turns or the summary are too long;
 * -EIO: the summary is empty; an error of ask. Blocks as ask does.
 */
MUST_CHECK int compact_session(struct store *st, struct ref session,
			       const struct compact_options *options, compact_ask_fn *ask,
			       void *arg, struct err *err);

#endif

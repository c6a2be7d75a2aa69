/*
 * Kept lines: lines of a log, taken apart once.
 *
 * The bytes of a log never change, so what was made of a line stays right as long as the
 * session is there.
 */
#ifndef RUNNER_HISTORY_KEPT_H
#define RUNNER_HISTORY_KEPT_H

#include "store/json/content.h"
#include "store/session/session.h"

/* What histories are made of. Texts lie behind the struct. */
struct kept_line {
	uint64_t at;             /* where it begins in the log */
	size_t size;             /* with its newline */
	struct content *content; /* owned, not to be changed; NULL: none */
	struct content *story;   /* owned; for who wants to tell it again; NULL: not told yet */
	uint32_t turn;           /* for past.c: the place of its turn, from 1; 0: not known */
	bool is_shown;           /* the content has a role, and is not empty */
	bool has_functions;      /* calls or responses */
	struct span author;
	struct span branch;
	struct span invocation;
	struct span signer; /* the provider whose signatures the content has; empty: not known */
	struct span long_running; /* canonical JSON, as timestamp; len 0: absent */
	struct span timestamp;
};

/* All zero: none. */
struct kept {
	struct buf lines; /* of struct kept_line *, as they stand in the log */
	size_t bytes;     /* of memory, about */
};

void kept_release(struct kept *kept);

/* Keep a line that stands behind the others. -ENOMEM. */
MUST_CHECK int kept_add(struct kept *kept, uint64_t at, struct span text);

/* Those that are kept, borrowed until the next call. */
struct kept_line *const *kept_lines(const struct kept *kept, size_t *count);

/*
 * Call fn for each line in [from, to) of the log, which are ends of lines. What is not kept
 * yet is read. Not 0 from fn ends it.
 */
typedef int kept_fn(void *arg, struct kept_line *line);
MUST_CHECK int kept_each(struct kept *kept, struct store *st, struct ref session, uint64_t from,
			 uint64_t to, kept_fn *fn, void *arg, struct err *err);

#endif

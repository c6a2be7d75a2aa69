/*
 * Lines of a log, and where their members are.
 */
#ifndef RUNNER_HISTORY_LINE_H
#define RUNNER_HISTORY_LINE_H

#include "base/buf.h"

#include <stdint.h>

struct cached_line;

/*
 * A line that counts, or a summary that stands for lines. Texts are canonical JSON of its members;
 * len 0: absent.
 */
struct past_line {
	uint64_t at;   /* where it begins in the log */
	uint64_t turn; /* the turn that it belongs to or follows; 0: it stands before the first */
	struct span content;
	struct span invocation;
	struct span author;
	struct span long_running;
	struct span branch;
	struct span timestamp;
	struct span actions;
	struct span metadata;       /* customMetadata */
	bool is_summary;            /* only the content is set */
	struct cached_line *cached; /* set in place of the texts by a past that caches its lines */
};

/* Find the members of a stored line, which borrows from the text. */
MUST_CHECK int past_pick(struct span text, struct past_line *line);

/* The place of a line: histories go turn by turn, and in each turn in the order of the log. */
struct past_place {
	uint64_t turn;
	uint64_t at;
};

/* For qsort(), of structs that begin with a place. */
int past_by_place(const void *a, const void *b);

#endif

/*
 * The line cache: lines of a log, parsed once.
 *
 * The bytes of a log never change, so a parsed line stays valid as long as the session exists.
 */
#ifndef RUNNER_HISTORY_LINE_CACHE_H
#define RUNNER_HISTORY_LINE_CACHE_H

#include "store/json/content.h"
#include "store/session/session.h"

/* A line, as histories need it. The texts lie in memory after the struct. */
struct cached_line {
	uint64_t at;             /* where it begins in the log */
	size_t size;             /* with its newline */
	struct content *content; /* owned, never changed; NULL: none */
	struct content
		*foreign;   /* owned; the content as other agents read it; NULL: not made yet */
	uint32_t turn;      /* for lines.c: the place of its turn, from 1; 0: not known */
	bool is_shown;      /* the content has a role, and is not empty */
	bool has_functions; /* calls or responses */
	struct span author;
	struct span branch;
	struct span invocation;
	struct span signer; /* the provider whose signatures the content has; empty: not known */
	struct span long_running; /* canonical JSON, as timestamp; len 0: absent */
	struct span timestamp;
};

/* All zero: no lines. */
struct line_cache {
	struct store *store; /* set before line_cache_each() */
	struct ref session;
	struct buf list; /* of struct cached_line *, in the order of the log */
	size_t bytes;    /* of memory, about */
};

void line_cache_release(struct line_cache *cache);

/* Parse a line that stands after the others, and keep it. -ENOMEM. */
MUST_CHECK int line_cache_add(struct line_cache *cache, uint64_t at, struct span text);

/* The lines, borrowed until the next call. */
struct cached_line *const *line_cache_lines(const struct line_cache *cache, size_t *count);

/*
 * Call fn for each line in [from, to) of the log, which are ends of lines. Lines that are not in
 * the cache are read. A result of fn that is not 0 ends this and is returned.
 */
typedef int line_cache_fn(void *arg, struct cached_line *line);
MUST_CHECK int line_cache_each(struct line_cache *cache, uint64_t from, uint64_t to,
			       line_cache_fn *fn, void *arg, struct err *err);

#endif

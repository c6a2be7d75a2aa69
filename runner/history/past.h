/*
 * The past of a session: the lines of its log that count, each with its turn.
 *
 * Lines that a rewind undid do not count. A summary stands in place of the turns that were
 * compacted: these are not even read, unless lines of other turns stand between theirs.
 */
#ifndef RUNNER_HISTORY_PAST_H
#define RUNNER_HISTORY_PAST_H

#include "runner/history/line.h"
#include "runner/history/line_cache.h"
#include "store/timeline/rewind.h"
#include "store/turn/turn.h"

struct past_turn {
	char invocation[64];
	uint64_t n;
	uint64_t first; /* its lines lie in [first, last) of the log */
	uint64_t last;
	int64_t created;
	bool is_whole; /* no line of another turn stands between its lines */
	bool has_ended;
	bool is_undone;
};

/* A compaction. */
struct past_summary {
	uint64_t at;   /* offset of its line */
	uint64_t from; /* the first turn that it stands for */
	uint64_t to;   /* the last one; 0: not known, its lines are found by time */
	int64_t start; /* microseconds, both included */
	int64_t end;
	struct buf content; /* canonical JSON */
	uint64_t follows;   /* the turn in which its line stands */
	bool has_lines;     /* the log has lines that it stands for, perhaps with a later summary */
	bool is_shown;
};

struct past {
	struct store *st;
	struct ref session;
	uint64_t log_size;
	uint64_t rewinds; /* how many the log has */
	struct rewound rewound;
	struct buf turns;     /* of struct past_turn, by number */
	struct buf by_name;   /* of const struct past_turn *, by invocation; made when needed */
	struct buf summaries; /* of struct past_summary, in the order of the log, none undone */
	bool by_time;         /* one of them has no turns */
	bool caches;          /* its lines come from the cache */
	struct line_cache lines;
};

/*
 * Read the past of a session. -ENOENT: the session is gone. The caller releases it, even after an
 * error.
 */
MUST_CHECK int past_load(struct past *p, struct store *st, struct ref session, struct err *err);
void past_release(struct past *p);

/*
 * Bring a past that caches its lines up to date; only new lines are read. A new past is zero,
 * except for st, session and `caches`. -ENOENT: the session is gone. After an error the past can
 * only be released.
 */
MUST_CHECK int past_update(struct past *p, struct err *err);

/* The memory that a past takes, about. */
size_t past_weigh(const struct past *p);

const struct past_turn *past_turns(const struct past *p, size_t *count);

/*
 * Call fn for the lines of the turns `from` to `to`, and for lines of no turn that follow them, in
 * the order of the log. A summary comes where the first of its lines stood. A result of fn that is
 * not 0 ends this and is returned.
 */
typedef int past_fn(void *arg, const struct past_line *line);
MUST_CHECK int past_each(struct past *p, uint64_t from, uint64_t to, past_fn *fn, void *arg,
			 struct err *err);

/* The last turn that a summary stands for; 0: there is none. */
uint64_t past_compacted(const struct past *p);

/* Leave the summaries out from now on: the lines count themselves. */
void past_drop_summaries(struct past *p);

/* For lines.c: find the turn of an invocation, or NULL; list the summaries. */
MUST_CHECK int past_find_turn(struct past *p, struct span invocation, const struct past_turn **out);
struct past_summary *past_summaries(const struct past *p, size_t *count);

#endif

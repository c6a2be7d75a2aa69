/*
 * The past of a session: the lines of its log that count, each with its turn.
 *
 * What a rewind undid does not count. In place of turns that were compacted
 * stands their summary; they are not even read, unless lines of others stand
 * between theirs.
 */
#ifndef RUNNER_HISTORY_PAST_H
#define RUNNER_HISTORY_PAST_H

#include "runner/history/kept.h"
#include "store/timeline/rewind.h"
#include "store/turn/turn.h"

struct past_turn {
	char invocation[64];
	uint64_t n;
	uint64_t first; /* its lines lie in [first, last) of the log */
	uint64_t last;
	int64_t created;
	bool is_whole; /* and nobody else's between them */
	bool has_ended;
	bool is_undone;
};

/* A compaction. */
struct past_summary {
	uint64_t at;   /* of its line */
	uint64_t from; /* it stands for these turns, and for lines of no turn by time; */
	uint64_t to;   /* 0: for all lines by time */
	int64_t start; /* microseconds, both included */
	int64_t end;
	struct buf content; /* canonical JSON */
	uint64_t follows;   /* the turn in which its line stands */
	bool has_lines; /* there are lines that it stands for, be it that a later one does too */
	bool is_told;
};

struct past {
	struct store *st;
	struct ref session;
	uint64_t log_size;
	uint64_t rewinds; /* how many of them the log has */
	struct rewound rewound;
	struct buf turns;     /* of struct past_turn, by number */
	struct buf by_name;   /* of const struct past_turn *, by invocation; made when needed */
	struct buf summaries; /* of struct past_summary, in the order of the log, none undone */
	bool by_time;         /* one of them has no turns */
	bool keeps;           /* its lines come from `kept` */
	struct kept kept;
};

/* A line that counts, or a summary. Texts are canonical JSON of its members; len 0: absent. */
struct past_line {
	uint64_t at;
	uint64_t turn; /* that it belongs to, or stands behind; 0: it stands before the first */
	struct span content;
	struct span invocation;
	struct span author;
	struct span long_running;
	struct span branch;
	struct span timestamp;
	struct span actions;
	struct span metadata;   /* customMetadata */
	bool is_summary;        /* there is the content, and no more */
	struct kept_line *kept; /* of a past that keeps its lines: in place of the texts */
};

/* -ENOENT: the session is gone. Release it in any case. */
MUST_CHECK int past_load(struct past *p, struct store *st, struct ref session, struct err *err);
void past_release(struct past *p);

/*
 * A past that keeps its lines, for more than one time: all zero but store, session and `keeps`
 * at first. Bring it up to date; what is as it was is not read again. -ENOENT: the session is
 * gone. After an error it is of no more use.
 */
MUST_CHECK int past_update(struct past *p, struct err *err);

/* The memory that it takes, about. */
size_t past_weigh(const struct past *p);

const struct past_turn *past_turns(const struct past *p, size_t *count);

/*
 * Call fn for the lines of the turns `from` to `to`, and those of no turn that stand behind
 * them, in the order of the log; a summary comes where the first of its lines stood.
 */
typedef int past_fn(void *arg, const struct past_line *line);
MUST_CHECK int past_each(struct past *p, uint64_t from, uint64_t to, past_fn *fn, void *arg,
			 struct err *err);

/* The last turn that a summary stands for; 0: there is none. */
uint64_t past_compacted(const struct past *p);

/* From now on the lines themselves, summaries are left out. */
void past_drop_summaries(struct past *p);

/* Where a line is told: turn by turn, and in each as the log has it. */
struct past_place {
	uint64_t turn;
	uint64_t at;
};

/* For qsort(), of structs that begin with it. */
int past_by_place(const void *a, const void *b);

/* For lines.c: the turn that an invocation is, or NULL; the summaries. */
MUST_CHECK int past_find_turn(struct past *p, struct span invocation, const struct past_turn **out);
struct past_summary *past_summaries(const struct past *p, size_t *count);

/* Take a stored line apart. */
MUST_CHECK int past_pick(struct span text, struct past_line *line);

#endif

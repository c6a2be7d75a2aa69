/*
 * Calls of a turn: the models that it asked, and the tools that they called.
 *
 * The log has the text of a call. The record of a call has the place in the log, and what events
 * do not have: times, and the standard error of a program. The transactions of the turn's events
 * write the records.
 */
#ifndef STORE_TURN_CALL_H
#define STORE_TURN_CALL_H

#include "store/json/tokens.h"
#include "store/session/session.h"
#include "store/turn/info.h"

#define CALL_STDERR_MAX (64u << 10) /* only the last bytes are stored */
#define CALL_LOOK_BACK  1000        /* turns that are searched for the call of a late response */

enum call_kind { CALL_MODEL, CALL_TOOL };

/* A line of the log. */
struct call_line {
	uint64_t at;
	uint64_t len;  /* without the newline; 0: there is no line */
	uint64_t part; /* index in the parts of its content */
};

struct call_info {
	uint64_t n;   /* turn */
	uint64_t seq; /* number in the turn, from 1 */
	enum call_kind kind;
	uint64_t number;         /* tools: number of the object */
	uint64_t stamp;          /* ns; the latest change */
	int64_t started;         /* microseconds */
	int64_t ended;           /* 0: the call runs */
	int64_t first;           /* models: the time of the first text; 0: none came */
	struct call_line said;   /* tools: the call; models: the answer */
	struct call_line answer; /* tools: the response */
	uint64_t stderr_size;    /* tools */
	struct tokens tokens;    /* models */
	char id[256];            /* tools: id of the function call; "": none */
	char name[256];          /* the tool, or the model as the agent names it; perhaps cut */
	char file_name[256];     /* tools: unique in the turn; the id if that can be a name */
	char agent[256];         /* the agent that called */
};

/* A report on a call for turn_commit(), with what the events do not have. All borrowed. */
struct call_report {
	enum call_kind kind;
	const char *id;          /* tools: id of the function call */
	const char *model;       /* models: the model as the agent names it */
	const char *agent;       /* models: the agent that asked */
	int64_t started;         /* models: microseconds */
	uint64_t nsec;           /* time that the call took */
	uint64_t first_nsec;     /* models: time until the first text; 0: none came */
	struct span usage;       /* models: usageMetadata, or empty */
	struct span stderr_text; /* tools */
};

/* The place of a call in its session. */
struct call_place {
	uint64_t n;   /* turn */
	uint64_t seq; /* number in the turn, from 1 */
};

/*
 * List the calls of turn after.n, in order, that come after `after`; seq 0: all. Not 0 from fn
 * ends the walk.
 */
typedef int call_fn(void *arg, const struct call_info *info);
MUST_CHECK int call_list(struct store *st, struct ref session, struct call_place after, call_fn *fn,
			 void *arg, struct err *err);

/* Describe a call. -ENOENT. */
MUST_CHECK int call_stat(struct store *st, struct ref session, uint64_t n, uint64_t seq,
			 struct call_info *out, struct err *err);

/* Find the call of a tool by its file name. -ENOENT. */
MUST_CHECK int call_find(struct store *st, struct ref session, uint64_t n, const char *file_name,
			 struct call_info *out, struct err *err);

/*
 * Read the part of an event that calls or answers. The caller calls part_release() after a
 * success. -ENOENT: there is no such line yet; -EIO: the line has no such part.
 */
MUST_CHECK int call_part(struct store *st, struct ref session, const struct call_line *where,
			 struct part *part, struct err *err);

/* Append what the program of a call wrote to its standard error. */
MUST_CHECK int call_stderr(struct store *st, struct ref session, const struct call_info *info,
			   struct buf *out, struct err *err);

/*
 * For fork.c, inside a transaction: copy the calls of turn n whose lines end before `cut` to
 * another session.
 */
MUST_CHECK int call_fork(struct store_tx *tx, struct ref from, struct ref to, uint64_t n,
			 uint64_t cut);

/* For turn.c: the calls of a turn in its transaction. The caller sets s and t; the rest is zero. */
struct calls_tx {
	struct session_tx *s;
	struct turn_info *t;
	struct buf tools; /* struct call_info */
	bool loaded;
};
void calls_release(struct calls_tx *c);

/* Note that a call has ended. line: the answer of a model. */
MUST_CHECK int calls_add_report(struct calls_tx *c, const struct call_report *report,
				const struct call_line *line);
/* Note the calls and the responses in an event that was added. */
MUST_CHECK int calls_add_event(struct calls_tx *c, const struct event *e,
			       const struct content *content, struct call_line line);

#endif

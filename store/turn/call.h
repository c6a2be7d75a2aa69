/*
 * Calls of a turn: the models it asked, the tools that they called.
 *
 * What was said is in the log; a record here says where, and keeps what events
 * have no place for: times, and what a program wrote to its standard error.
 * Records are made and completed in the transactions of the turn's events.
 */
#ifndef STORE_TURN_CALL_H
#define STORE_TURN_CALL_H

#include "store/json/tokens.h"
#include "store/session/session.h"
#include "store/turn/info.h"

#define CALL_STDERR_MAX (64u << 10) /* the last so many bytes are kept */
#define CALL_LOOK_BACK  1000        /* turns in which the call of a late response is looked for */

enum call_kind { CALL_MODEL, CALL_TOOL };

/* A line of the log. */
struct call_line {
	uint64_t at;
	uint64_t len;  /* without its newline; 0: there is none */
	uint64_t part; /* of its content */
};

struct call_info {
	uint64_t n;   /* turn */
	uint64_t seq; /* in the turn, from 1 */
	enum call_kind kind;
	uint64_t number;         /* tools: of the object */
	uint64_t stamp;          /* ns; of its latest change */
	int64_t started;         /* microseconds */
	int64_t ended;           /* 0: it runs */
	int64_t first;           /* models: when the first text came; 0: none came */
	struct call_line said;   /* of the call; models: of the answer */
	struct call_line answer; /* tools: the response */
	uint64_t stderr_size;    /* tools */
	struct tokens tokens;    /* models */
	char id[256];            /* tools: of the function call, "" without one */
	char name[256];          /* of the tool, or the model as the agent names it; perhaps cut */
	char file_name[256];     /* tools: unique in the turn; the id if it can be a name */
	char agent[256];         /* who called */
};

/* A report on a call, for turn_commit(): what its events do not have. All borrowed. */
struct call_report {
	enum call_kind kind;
	const char *id;          /* tools: which call */
	const char *model;       /* models: as the agent names it */
	const char *agent;       /* models: who asked */
	int64_t started;         /* models: microseconds */
	uint64_t nsec;           /* how long it took */
	uint64_t first_nsec;     /* models: until the first text; 0: none came */
	struct span usage;       /* models: usageMetadata, or empty */
	struct span stderr_text; /* tools */
};

/* The place of a call in its session. */
struct call_place {
	uint64_t n;   /* turn */
	uint64_t seq; /* in the turn, from 1 */
};

/*
 * List the calls of turn after.n, in order, that come after `after`; seq 0: all. Not 0 from fn
 * ends the walk.
 */
typedef int call_fn(void *arg, const struct call_info *info);
MUST_CHECK int call_list(struct store *st, struct ref session, struct call_place after, call_fn *fn,
			 void *arg, struct err *err);

/* -ENOENT. */
MUST_CHECK int call_stat(struct store *st, struct ref session, uint64_t n, uint64_t seq,
			 struct call_info *out, struct err *err);

/* A call of a tool by its file name. -ENOENT. */
MUST_CHECK int call_find(struct store *st, struct ref session, uint64_t n, const char *file_name,
			 struct call_info *out, struct err *err);

/* The part of the log that calls, or answers. -ENOENT: not yet. part: to be released. */
MUST_CHECK int call_part(struct store *st, struct ref session, const struct call_line *where,
			 struct part *part, struct err *err);

/* Append what its program wrote to standard error. */
MUST_CHECK int call_stderr(struct store *st, struct ref session, const struct call_info *info,
			   struct buf *out, struct err *err);

/*
 * For turn.c: the calls of a turn of another session, as far as their lines end before
 * `cut`, inside a transaction.
 */
MUST_CHECK int call_fork(struct store_tx *tx, struct ref from, struct ref to, uint64_t n,
			 uint64_t cut);

/* For turn.c: the calls of a turn inside its transaction. All zero but the first two at first. */
struct calls_tx {
	struct session_tx *s;
	struct turn_info *t;
	struct buf tools; /* of struct call_info */
	bool loaded;
};
void calls_release(struct calls_tx *c);

/* A call has ended. line: the model's answer. */
MUST_CHECK int calls_add_report(struct calls_tx *c, const struct call_report *report,
				const struct call_line *line);
/* An event was added: it calls tools, or answers them. */
MUST_CHECK int calls_add_event(struct calls_tx *c, const struct event *e,
			       const struct content *content, struct call_line line);

#endif

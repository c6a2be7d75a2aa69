/*
 * Scopes: apps, users and sessions. Each has a name in the one above, a
 * number, and what a directory shows: times and counts.
 */
#ifndef STORE_SESSION_SCOPE_H
#define STORE_SESSION_SCOPE_H

#include "store/tx/store.h"

struct scope_info {
	uint64_t number;
	char id[256];               /* as ADK knows it; the mount shows it through name_encode() */
	int64_t created;            /* microseconds */
	int64_t updated;            /* sessions: ADK's lastUpdateTime, microseconds */
	uint64_t stamp;             /* ns; of the latest change of anything below */
	uint64_t members_stamp;     /* ns; of the list of users or sessions */
	uint64_t state_stamp;       /* ns; of any state key of this scope */
	uint64_t state_names_stamp; /* ns; of the list of its state keys */
	uint64_t artifacts_stamp;   /* ns; of the list of artifacts at the top */
	uint64_t turns_stamp;       /* ns; of the list of turns */
	uint64_t turn_stamp;        /* ns; of the state of any turn */
	uint64_t log_stamp;         /* ns */
	uint64_t log_size;          /* bytes of events.jsonl */
	uint64_t sealed;            /* the log is folded up to here */
	uint64_t events;
	uint64_t turns;             /* number of the latest turn */
	uint64_t members;           /* apps and users: how many users or sessions */
	uint64_t rewinds;           /* events in the log that undo others */
	uint64_t attachments;       /* files that ride along with the next message */
	uint64_t attachment_bytes;  /* of all of them */
	uint64_t attachments_stamp; /* ns; of any of them, and of their list */
	uint64_t memory;            /* sessions: number of the link that remembers it; 0: none */
	uint64_t memory_stamp;      /* users, ns; of the list of these links */
};

/*
 * Make an app (parent: all zero), a user (parent: an app) or a session.
 * *out names it and *info describes it (either may be NULL).
 * -EEXIST; -ENOENT the parent is gone; -EINVAL a bad id; -ENAMETOOLONG.
 */
MUST_CHECK int scope_create(struct store *st, struct ref parent, const char *id, struct ref *out,
			    struct scope_info *info, struct err *err);

/* Find by name. -ENOENT. */
MUST_CHECK int scope_find(struct store *st, struct ref parent, const char *id, struct ref *out,
			  struct scope_info *info, struct err *err);

/* -ENOENT: it is gone. */
MUST_CHECK int scope_stat(struct store *st, struct ref ref, struct scope_info *info,
			  struct err *err);

/* Describe the app, the user and the session of a ref, as of one moment. -ENOENT: one is gone. */
struct scopes {
	struct scope_info app;
	struct scope_info user;    /* all zero if the ref names no user */
	struct scope_info session; /* all zero if the ref names no session */
};
MUST_CHECK int scope_stat_all(struct store *st, struct ref ref, struct scopes *out,
			      struct err *err);

/*
 * List what is in a scope, in order of number, numbers above `after` only.
 * fn returns not 0 to stop; scope_list returns it.
 */
typedef int scope_fn(void *arg, const struct scope_info *info);
MUST_CHECK int scope_list(struct store *st, struct ref parent, uint64_t after, scope_fn *fn,
			  void *arg, struct err *err);

/* Whether an id can be one: -EINVAL, -ENAMETOOLONG. */
MUST_CHECK int scope_check_id(const char *id, struct err *err);

/*
 * Inside a transaction: a new scope gets its name, info->id, and its record.
 * -EEXIST; -ENOENT the parent is gone.
 */
MUST_CHECK int scope_publish(struct store_tx *tx, struct ref ref, const struct scope_info *info);

/*
 * Inside a transaction: a scope without members loses its name, its record and its rows.
 * Its artifacts and its memory are removed before.
 */
MUST_CHECK int scope_unpublish(struct store_tx *tx, struct ref ref, const struct scope_info *info);

/* Inside a transaction: the rows that lie under a scope's number, but its artifacts. */
void scope_delete_rows(struct store_tx *tx, uint64_t number);

/*
 * Inside a transaction: read a scope's record. -ENOENT: the scope is gone; scope_need() returns
 * -ESTALE then.
 */
MUST_CHECK int scope_load(struct store_tx *tx, struct ref ref, struct scope_info *info);
MUST_CHECK int scope_need(struct store_tx *tx, struct ref ref, struct scope_info *info);

/* Inside a transaction: write a scope's record. */
void scope_save(struct store_tx *tx, struct ref ref, const struct scope_info *info);

#endif

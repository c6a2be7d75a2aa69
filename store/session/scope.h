/*
 * Scopes: apps, users and sessions.
 *
 * Each scope has a name in the scope above, a number, and the times and counts that the mount
 * shows.
 */
#ifndef STORE_SESSION_SCOPE_H
#define STORE_SESSION_SCOPE_H

#include "store/tx/store.h"

struct scope_info {
	uint64_t number;
	char id[256];               /* ADK's id; the mount shows it through name_encode() */
	int64_t created;            /* microseconds */
	int64_t updated;            /* sessions: ADK's lastUpdateTime, microseconds */
	uint64_t stamp;             /* ns; the latest change of the scope or of anything below it */
	uint64_t members_stamp;     /* ns; the latest change of the list of users or sessions */
	uint64_t state_stamp;       /* ns; the latest change of any state key of this scope */
	uint64_t state_names_stamp; /* ns; the latest change of the list of its state keys */
	uint64_t artifacts_stamp;   /* ns; ... of the list of artifacts at the top */
	uint64_t turns_stamp;       /* ns; ... of the list of turns */
	uint64_t turn_stamp;        /* ns; ... of any turn */
	uint64_t log_stamp;         /* ns; ... of the log */
	uint64_t log_size;          /* bytes of events.jsonl */
	uint64_t events;
	uint64_t turns;             /* number of the latest turn */
	uint64_t members;           /* apps and users: how many users or sessions */
	uint64_t rewinds;           /* events in the log that undo others */
	uint64_t attachments;       /* files for the next message */
	uint64_t attachment_bytes;  /* bytes of all attachments */
	uint64_t attachments_stamp; /* ns; the latest change of any attachment or of their list */
	uint64_t memory; /* sessions: number of the link by which the user remembers it; 0: none */
	uint64_t memory_stamp; /* users, ns; the latest change of the list of these links */
};

/*
 * Make an app (parent: all zero), a user (parent: an app) or a session.
 * *out names the scope and *info describes it; either may be NULL. -EEXIST; -ENOENT: the parent
 * is gone; -EINVAL: the id is invalid; -ENAMETOOLONG. Any thread, as for all functions here.
 */
MUST_CHECK int scope_create(struct store *st, struct ref parent, const char *id, struct ref *out,
			    struct scope_info *info, struct err *err);

/* Find a scope by its id. out and info as for scope_create(). -ENOENT. */
MUST_CHECK int scope_find(struct store *st, struct ref parent, const char *id, struct ref *out,
			  struct scope_info *info, struct err *err);

/* Describe a scope. -ENOENT: the scope is gone. */
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
 * List the scopes in a scope, in the order of their numbers, with numbers above `after` only.
 * Not 0 from fn ends the walk and is returned. All lists of the store work in this way.
 */
typedef int scope_fn(void *arg, const struct scope_info *info);
MUST_CHECK int scope_list(struct store *st, struct ref parent, uint64_t after, scope_fn *fn,
			  void *arg, struct err *err);

/* Whether a scope can have this id. -EINVAL; -ENAMETOOLONG. */
MUST_CHECK int scope_check_id(const char *id, struct err *err);

/*
 * Inside a transaction: write the record of a new scope, and give it its name, info->id. The log
 * of a session that has one is folded up to its end.
 * -EEXIST; -ENOENT: the parent is gone.
 */
MUST_CHECK int scope_publish(struct store_tx *tx, struct ref ref, const struct scope_info *info);

/*
 * Inside a transaction: delete the name and the record of a scope without members. Its other rows
 * stay under its number.
 */
MUST_CHECK int scope_unpublish(struct store_tx *tx, struct ref ref, const struct scope_info *info);

/* The spaces with rows under the number of a scope or a directory, 0 at the end. */
extern const enum key_space scope_spaces[];

/* Convert an older store: each session gets its KEY_SEAL row. */
MUST_CHECK int scope_convert_seals(struct store *st, struct err *err);

/*
 * Inside a transaction: read a scope's record. -ENOENT: the scope is gone; scope_need() returns
 * -ESTALE then.
 */
MUST_CHECK int scope_load(struct store_tx *tx, struct ref ref, struct scope_info *info);
MUST_CHECK int scope_need(struct store_tx *tx, struct ref ref, struct scope_info *info);

/* Inside a transaction: write a scope's record. */
void scope_save(struct store_tx *tx, struct ref ref, const struct scope_info *info);

#endif

/*
 * Memory: which sessions a user wants remembered, and finding in them.
 *
 * A user remembers a session by a link; what is appended later is found too.
 * An index leads from words to the events whose texts have them. It is written
 * in the transaction that appends an event; of what the session had before, it
 * is made in small transactions, and so it is taken away again when the link
 * or the session goes. Thoughts and what tools were given and gave are not
 * searched, nor is what a rewind has undone.
 */
#ifndef STORE_MEMORY_MEMORY_H
#define STORE_MEMORY_MEMORY_H

#include "base/mutex.h"
#include "store/session/scope.h"

#define MEMORY_MATCHES_MAX     10  /* that a search in the mount gives */
#define MEMORY_QUERY_WORDS_MAX 256 /* different words of a query; more are not looked at */

struct memory_link {
	uint64_t number;  /* of the object */
	uint64_t session; /* number of the session */
	uint64_t stamp;   /* ns; when it was made */
	char id[256];     /* of the session */
};

/*
 * Remember a session. When this returns it is found, unless it is long: then a
 * thread of the store goes on. -EEXIST: it is remembered; -ENOENT: it is gone.
 */
MUST_CHECK int memory_remember(struct store *st, struct ref session, struct memory_link *out,
			       struct err *err);

/* -ENOENT: it is not remembered, or gone. */
MUST_CHECK int memory_forget(struct store *st, struct ref session, struct err *err);

/* Describe a link by its number. -ENOENT. */
MUST_CHECK int memory_stat(struct store *st, struct ref user, uint64_t number,
			   struct memory_link *out, struct err *err);

/* In order of number, numbers above `after` only. Not 0 from fn ends it. */
typedef int memory_link_fn(void *arg, const struct memory_link *link);
MUST_CHECK int memory_list(struct store *st, struct ref user, uint64_t after, memory_link_fn *fn,
			   void *arg, struct err *err);

/*
 * When what a search finds may have changed last, in ns: another value after each change.
 * 0: never.
 */
MUST_CHECK int memory_stamp(struct store *st, struct ref user, uint64_t *stamp, struct err *err);

/* An event that was found. */
struct memory_match {
	struct span line;    /* canonical JSON, without newline */
	const char *session; /* id */
	unsigned shared;     /* different words of the query that it has */
};

struct memory_query {
	struct ref user; /* who remembers */
	struct span text;
	unsigned max; /* matches */
};

/*
 * Call fn for the events that match best: an event that shares more words with the query comes
 * first; of two with equally many, the later one. Not 0 from fn ends the search and is returned.
 *
 * The search takes time for each event that has a word of the query, and it reads the rewinds
 * and turns of each rewound session with such an event.
 */
typedef int memory_fn(void *arg, const struct memory_match *match);
MUST_CHECK int memory_search(struct store *st, const struct memory_query *query, memory_fn *fn,
			     void *arg, struct err *err);

/* Append a match as a JSON object of ADK, a MemoryEntry, without newline. -ENOMEM. */
MUST_CHECK int memory_show(const struct memory_match *match, struct buf *out);

/* Inside a transaction: the link of a session goes. info->memory is not cleared. */
MUST_CHECK int memory_drop(struct store_tx *tx, struct ref session, const struct scope_info *info);

/* Inside a transaction. -ENOENT. id is not set. */
MUST_CHECK int memory_load(struct store_tx *tx, uint64_t user, uint64_t number,
			   struct memory_link *out);

/* For open.c: the thread that makes and takes away what is long. */
struct memory_worker {
	struct mutex lock;
	struct cond wake;
	bool has_work GUARDED_BY(lock);
	bool stopping GUARDED_BY(lock);
	bool runs; /* who starts and stops it is one thread */
	pthread_t thread;
};
void memory_init(struct memory_worker *worker);
void memory_release(struct memory_worker *worker);
MUST_CHECK int memory_start(struct store *st, struct err *err);

/* Wake the thread: there may be work, such as what a closed store left. */
void memory_work(struct store *st);

/* Stop the thread after its current transaction. Call this before the watcher goes; twice is fine.
 */
void memory_stop(struct store *st);

#endif

/*
 * Memory: the sessions that a user remembers, and searching them.
 *
 * A user remembers a session by a link, and finds the events of the session from then on, old
 * and new ones. An index (index/postings.h) leads from words to events. The transaction that
 * appends an event also writes its part of the index. The older events of a session are indexed
 * in small transactions. When the link or the session goes, small transactions remove the index.
 * A search does not look at thoughts, calls and responses, and it does not find events that a
 * rewind has undone.
 */
#ifndef STORE_MEMORY_MEMORY_H
#define STORE_MEMORY_MEMORY_H

#include "base/mutex.h"
#include "store/session/scope.h"

#define MEMORY_MATCHES_MAX     10  /* matches of a search in the mount */
#define MEMORY_QUERY_WORDS_MAX 256 /* different words of a query; the rest is ignored */

struct memory_link {
	uint64_t number;  /* number of the link */
	uint64_t session; /* number of the session */
	uint64_t stamp;   /* ns; the time when it was made */
	char id[256];     /* id of the session */
};

/*
 * Remember a session. All its events can be found when this returns, unless the session is long:
 * then a thread of the store indexes the rest. out: NULL is fine. -EEXIST: the session is
 * remembered already; -ENOENT: the session is gone.
 */
MUST_CHECK int memory_remember(struct store *st, struct ref session, struct memory_link *out,
			       struct err *err);

/* Forget a session. -ENOENT: the session is not remembered, or is gone. */
MUST_CHECK int memory_forget(struct store *st, struct ref session, struct err *err);

/* Describe a link by its number. -ENOENT. */
MUST_CHECK int memory_stat(struct store *st, struct ref user, uint64_t number,
			   struct memory_link *out, struct err *err);

/* List the links of a user in the order of their numbers, with numbers above `after` only. */
typedef int memory_link_fn(void *arg, const struct memory_link *link);
MUST_CHECK int memory_list(struct store *st, struct ref user, uint64_t after, memory_link_fn *fn,
			   void *arg, struct err *err);

/*
 * The time of the latest change of what the user can find, in ns. The value differs after each
 * change. 0: there was none.
 */
MUST_CHECK int memory_stamp(struct store *st, struct ref user, uint64_t *stamp, struct err *err);

/* An event that was found. */
struct memory_match {
	struct span line;    /* canonical JSON, without newline */
	const char *session; /* id */
	unsigned shared;     /* number of different words of the query that the event has */
};

struct memory_query {
	struct ref user; /* the user who remembers */
	struct span text;
	unsigned max; /* limit of matches */
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

/* Append a match as ADK's JSON object MemoryEntry, without a newline. -ENOMEM. */
MUST_CHECK int memory_show(const struct memory_match *match, struct buf *out);

/*
 * Inside a transaction: remove the link of a session. The caller clears info->memory or removes
 * the session, and calls memory_work() after the commit.
 */
MUST_CHECK int memory_drop(struct store_tx *tx, struct ref session, const struct scope_info *info);

/* Inside a transaction: read a link without the session's id. -ENOENT. */
MUST_CHECK int memory_load(struct store_tx *tx, uint64_t user, uint64_t number,
			   struct memory_link *out);

/* For open.c: the thread that makes and removes the index of long sessions. */
struct memory_worker {
	struct mutex lock;
	struct cond wake;
	bool has_work GUARDED_BY(lock);
	bool stopping GUARDED_BY(lock);
	bool runs; /* used by the one thread that starts and stops the worker */
	pthread_t thread;
};
void memory_init(struct memory_worker *worker);
void memory_release(struct memory_worker *worker);
MUST_CHECK int memory_start(struct store *st, struct err *err);

/* Wake the thread, because there may be work. Any thread. */
void memory_work(struct store *st);

/*
 * Stop the thread after its current transaction. Call this before the watcher goes. A second call
 * does nothing.
 */
void memory_stop(struct store *st);

#endif

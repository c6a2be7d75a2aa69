/*
 * Postings: rows that lead from a word to the events that have it.
 *
 * Only the events of sessions that a user remembers have postings. `link` is the number by which
 * the user remembers the session. All functions with a struct store_tx run inside its transaction.
 *
 * Rows: KEY_WORD user word link start -> record: time, length of the line;
 * KEY_WORDS link start -> the words of that line, which lead to the postings to remove;
 * KEY_WORD user NUL -> stamp: the time of the latest change of what can be found.
 */
#ifndef STORE_INDEX_POSTINGS_H
#define STORE_INDEX_POSTINGS_H

#include "store/tx/store.h"

/* An event that can be found, by the place of its line in the log of its session. */
struct posting {
	uint64_t link;
	uint64_t at;
	uint64_t len; /* with the newline */
	int64_t time; /* timestamp of the event, microseconds */
};

/*
 * Call fn for each text of a content that is searched, as a JSON string with its quotes.
 * Thoughts, calls and responses are not searched. Not 0 from fn ends the walk and is returned.
 */
typedef int posting_text_fn(void *arg, struct span token);
MUST_CHECK int posting_texts(struct span content, posting_text_fn *fn, void *arg);

/*
 * Add an event to the index. content: the canonical JSON of its content; empty: none.
 * *count: the number of its words; NULL is fine.
 */
MUST_CHECK int postings_add(struct store_tx *tx, uint64_t user, const struct posting *event,
			    struct span content, size_t *count);

/*
 * Remove about `max` postings of a link, from the row *from of KEY_WORDS on. Returns 1 and moves
 * *from if more are left, else 0.
 */
MUST_CHECK int postings_drop(struct store_tx *tx, uint64_t user, uint64_t link, struct key *from,
			     size_t max);

/* Decode a row of KEY_WORD. -EIO. */
MUST_CHECK int posting_decode(struct span key, struct span value, struct posting *out);

/*
 * Note that the user of a session finds something else now: set the stamp, and tell the watcher
 * of a change of this kind, which the caller fills in. NULL: out of memory.
 */
struct change *postings_changed(struct store_tx *tx, enum change_kind kind, struct ref session);

/* The user's stamp, which differs after each change. 0: nothing ever changed. */
MUST_CHECK int postings_stamp(struct store_tx *tx, uint64_t user, uint64_t *stamp);

/* Delete the stamp of a user who is removed. */
void postings_drop_stamp(struct store_tx *tx, uint64_t user);

#endif

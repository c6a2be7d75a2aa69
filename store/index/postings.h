/*
 * Postings: the rows by which a user finds events, from a word to each event that has it.
 *
 * Only the events of sessions that a user remembers have them; `link` is the
 * number by which the user remembers the session. All functions work inside a
 * transaction.
 *
 * Rows: KEY_WORD user word link start -> record: time, length of the line;
 * KEY_WORDS link start -> the words of that line, by which its postings are
 * removed; KEY_WORD user NUL -> stamp: when what can be found changed last.
 */
#ifndef STORE_INDEX_POSTINGS_H
#define STORE_INDEX_POSTINGS_H

#include "store/tx/store.h"

/* An event that can be found: where its line lies in the log of its session. */
struct posting {
	uint64_t link;
	uint64_t at;
	uint64_t len; /* with the newline */
	int64_t time; /* of the event, microseconds */
};

/*
 * Walk the texts of a content that are searched, each as in its canonical JSON, with quotes.
 * Thoughts, calls and responses are not searched. Not 0 from fn ends the walk.
 */
typedef int posting_text_fn(void *arg, struct span token);
MUST_CHECK int posting_texts(struct span content, posting_text_fn *fn, void *arg);

/*
 * Add an event to the index. content: its canonical JSON; empty: the event has none.
 * count takes how many words it has; NULL is fine.
 */
MUST_CHECK int postings_add(struct store_tx *tx, uint64_t user, const struct posting *event,
			    struct span content, size_t *count);

/*
 * Remove postings of a link, from the row *from of KEY_WORDS on, until about `max` are gone.
 * Returns 1 and moves *from when more are left, else 0.
 */
MUST_CHECK int postings_drop(struct store_tx *tx, uint64_t user, uint64_t link, struct key *from,
			     size_t max);

/* Decode a row of KEY_WORD. -EIO. */
MUST_CHECK int posting_decode(struct span key, struct span value, struct posting *out);

/*
 * What the session's user can find has changed: set the stamp, and report a change of this kind
 * to the watcher. Returns the change to be filled in, or NULL: no memory.
 */
struct change *postings_changed(struct store_tx *tx, enum change_kind kind, struct ref session);

/* The user's stamp, another value after each change; 0: nothing ever changed. */
MUST_CHECK int postings_stamp(struct store_tx *tx, uint64_t user, uint64_t *stamp);

/* Delete the stamp of a user who is removed. */
void postings_drop_stamp(struct store_tx *tx, uint64_t user);

#endif

/*
 * Words: what texts are searched by.
 *
 * A word is a run of letters and digits, without case. Where a script puts no
 * blanks between words (Chinese, Japanese, Thai, ...) each character is a word,
 * and so are two neighbours.
 */
#ifndef STORE_INDEX_WORDS_H
#define STORE_INDEX_WORDS_H

#include "base/buf.h"

#define WORD_MAX        64           /* bytes; a longer one is cut */
#define WORDS_BYTES_MAX (512u << 10) /* of a set, encoded */

/* A set of words in the order in which they came. All zero is an empty one. */
struct words {
	struct buf list;  /* texts of records: also how they are stored */
	struct buf slots; /* of uint32_t: where in the list; by hash */
	size_t count;
	size_t max; /* how many are taken; 0: as many as WORDS_BYTES_MAX bytes hold */
};

void words_release(struct words *w);

/* Add the words of a text; those that are over a limit are left out. -ENOMEM. */
MUST_CHECK int words_add(struct words *w, struct span text, struct err *err);

/* Take the next word of a list. False: its end, or it is damaged. */
bool words_take(struct span *list, struct span *word);

#endif

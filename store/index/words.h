/*
 * Words: the units in which texts are searched.
 *
 * A word is a run of letters and digits; its case does not matter. Some scripts (Chinese,
 * Japanese, Thai, ...) put no blanks between words. In them each character is a word, and each
 * pair of neighbours is another.
 */
#ifndef STORE_INDEX_WORDS_H
#define STORE_INDEX_WORDS_H

#include "base/buf.h"

#define WORD_MAX        64           /* bytes; a longer one is cut */
#define WORDS_BYTES_MAX (512u << 10) /* of the list of a set */

/* A set of words in the order in which they came. All zero is an empty set. */
struct words {
	struct buf list;  /* texts as in a record; stored in this form */
	struct buf slots; /* uint32_t: places in the list, by hash */
	size_t count;
	size_t max; /* limit of count; 0: WORDS_BYTES_MAX is the only limit */
};

void words_release(struct words *w);

/* Add the words of a text. Words over a limit are left out. -ENOMEM. Any thread. */
MUST_CHECK int words_add(struct words *w, struct span text, struct err *err);

/* Take the next word of a list. False: the list has ended or is damaged. */
bool words_take(struct span *list, struct span *word);

#endif

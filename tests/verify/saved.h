/*
 * Saved: the versions that a mount of adkfs keeps of a file.
 *
 * Each close that changed something is one file in .versions/NAME, numbered
 * from 1 up; the bytes of the last ones are remembered and read again. Without a
 * directory all of these do nothing.
 */
#ifndef VERIFY_SAVED_H
#define VERIFY_SAVED_H

#include "tests/verify/content.h"

#include <stdbool.h>

void saved_begin(const char *dir, uint64_t room);

/* The next save is of another open: it is another version. */
void saved_opened(void);

/* What happened since the last time. */
enum saved_what {
	SAVED_NOTHING,
	SAVED_PERHAPS, /* a call that could have changed something, and did not */
	SAVED_CHANGE,
	SAVED_EMPTY, /* made or cut by the open, and no more: known when the last copy is closed,
		      * which is a moment after close(2) */
};

/*
 * The file was saved, or closed without a change: the newest version is its
 * content, and the older ones are what they were.
 */
void saved_check(const struct content *now, enum saved_what what);

/* Before the next change one more may come: an open that may have been saved, or not. */
void saved_may_follow(void);

/* The name went and came back: what the mount keeps of older versions is its own affair. */
void saved_moved(void);

/* The name was removed: no version may be left. */
void saved_gone(void);

void saved_end(void);

#endif

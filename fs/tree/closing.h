/*
 * Closing: objects whose latest close(2) has returned and is not yet in effect.
 *
 * close(2) returns after FLUSH, but the bytes take effect in RELEASE: a message
 * becomes a turn, an emptied file is saved. In between, other opens of the object
 * wait, so that `echo hi > input; cat output` never shows the turn before. The
 * object is a session for its input, and the file itself (place.item) for
 * artifacts and texts; scopes and items share one sequence of numbers. All
 * functions may be called on any thread and do not block.
 */
#ifndef FS_TREE_CLOSING_H
#define FS_TREE_CLOSING_H

#include <stdint.h>

#define CLOSING_WAIT_MS 100 /* how long an open waits between FLUSH and RELEASE */

/* FLUSH of a file of the object; RELEASE has saved the file, or there was nothing to save. */
void closing_begin(uint64_t object);
void closing_end(uint64_t object);

/* RELEASE has begun, so closing_end() is sure to come: opens wait without a limit. */
void closing_hold(uint64_t object);

/*
 * The time (monotonic ns) until which an open of the object must wait. 0: no wait; UINT64_MAX:
 * until closing_end(), which is sure to come.
 */
uint64_t closing_deadline(uint64_t object);

#endif

/*
 * Sessions whose message was closed and is not yet a turn.
 *
 * Between FLUSH (the writer's close(2) returns) and RELEASE (the message
 * becomes a turn) other opens in the session wait, so that
 * `echo hi > input; cat output` never shows the turn before.
 */
#ifndef FS_TREE_CLOSING_H
#define FS_TREE_CLOSING_H

#include <stdint.h>

#define CLOSING_WAIT_MS 100 /* how long an open waits for a message that is being closed */

/* One message of the session was flushed, respectively is a turn (or nothing) now. */
void closing_begin(uint64_t session);
void closing_end(uint64_t session);

/* The last descriptor is gone, the turn is being made: opens wait for its end now. */
void closing_hold(uint64_t session);

/* Until when (monotonic ns) an open in the session has to wait; 0: it has not; UINT64_MAX:
 * closing_end() is sure to come. */
uint64_t closing_deadline(uint64_t session);

#endif

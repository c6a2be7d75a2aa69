/*
 * Writers: the order in which transactions that lose races get through.
 *
 * Transactions run side by side, and one that lost a race runs again. A large
 * one could lose against small ones for ever. So a transaction that lost too
 * often takes a turn: those that run come to their end, no other begins, and
 * the one whose turn it is runs alone. Turns are taken in the order in which
 * they were asked for.
 *
 * Any thread. The lock is a leaf. A thread that is inside must not enter again.
 */
#ifndef STORE_TX_WRITERS_H
#define STORE_TX_WRITERS_H

#include "base/mutex.h"

struct writers {
	struct mutex lock;
	struct cond changed;
	unsigned running GUARDED_BY(lock);
	uint64_t next_turn GUARDED_BY(lock); /* the next turn to be handed out */
	uint64_t turn GUARDED_BY(lock);      /* the earliest one that has not ended */
};

void writers_init(struct writers *w);
void writers_release(struct writers *w);

/* Enter beside others. Waits while anybody has a turn or waits for one. */
void writers_enter(struct writers *w);
void writers_leave(struct writers *w);

/* Enter alone, when all earlier turns and all who run have ended. */
void writers_enter_alone(struct writers *w);
void writers_leave_alone(struct writers *w);

#endif

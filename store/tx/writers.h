/*
 * Writers: the order in which transactions that lose races get through.
 *
 * Transactions run side by side, and a transaction that lost a race runs again. A large
 * transaction could lose against small ones for ever. So a transaction that lost too often asks
 * for a turn: no other transaction begins, the running ones end, and then it runs alone. Turns
 * come in the order in which they were asked for.
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

/* Enter beside others. Waits while a transaction has a turn or waits for one. */
void writers_enter(struct writers *w);
void writers_leave(struct writers *w);

/* Enter alone. Waits until all earlier turns and all running transactions have ended. */
void writers_enter_alone(struct writers *w);
void writers_leave_alone(struct writers *w);

#endif

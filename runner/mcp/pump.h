/*
 * Pumps: a thread that talks to the program of an MCP link.
 *
 * The thread starts the program, since a sandbox ends with the thread that made it.
 * The thread writes the queued lines, reads lines from standard output, hands each
 * answer to the waiter with its id, keeps the end of standard error, and sees the
 * program end. No other thread uses the pipes. So a slow call delays no other call, and
 * a program that does not read delays no caller.
 */
#ifndef RUNNER_MCP_PUMP_H
#define RUNNER_MCP_PUMP_H

#include "base/mutex.h"
#include "runner/mcp/link.h"
#include "runner/process/child.h"

/* A request that waits for its answer. */
struct mcp_waiter {
	/* set by the caller */
	uint64_t id;
	struct cancel done; /* fired when the answer has come, or none will come */
	uint64_t patience;  /* ns; progress moves the deadline to so long from then */
	uint64_t deadline;  /* monotonic; guarded by the pump's lock once it was sent */
	uint64_t last;      /* the deadline never moves beyond this */

	/* the result, once it is done */
	struct buf answer;
	int failure; /* -EPIPE: the program ended; -EPROTO, -EFBIG: no valid answer; -ENOMEM */

	struct mcp_waiter *next;
};

enum mcp_phase {
	MCP_SERVING,
	MCP_CLOSED, /* standard input is closed: the program should end by itself */
	MCP_ENDING, /* a TERM was sent */
	MCP_KILLED, /* a KILL was sent: no deadline */
};

struct mcp_pump {
	struct mcp_link *link;
	pthread_t thread;
	int wake; /* an eventfd: something is new for the thread */

	const struct mcp_home *home;

	struct mutex lock;
	struct cond news;                   /* is_up or ended became true */
	bool is_up GUARDED_BY(lock);        /* the program was started, or failed to: */
	int start_failure GUARDED_BY(lock); /* 0: it was started */
	struct err start_reason GUARDED_BY(lock);
	struct mcp_waiter *waiters GUARDED_BY(lock);
	struct buf unsent GUARDED_BY(lock);
	bool stopping GUARDED_BY(lock); /* nothing can be sent any more */
	bool ended GUARDED_BY(lock);
	struct buf last_words GUARDED_BY(lock); /* how it ended, once it has */

	/* of the thread */
	struct child child;
	enum mcp_phase phase;
	uint64_t deadline; /* of the phase */
	struct buf sending;
	size_t sent;
	struct buf in;      /* an unfinished line */
	struct buf in_head; /* the start of a line that is too long; `in` has its end then */
	struct buf stderr_text;
};

/* Start the thread, which starts the program. 0; -errno with err: nothing is left to free. */
MUST_CHECK int mcp_pump_start(struct mcp_pump *pump, struct mcp_link *link,
			      const struct mcp_home *home, struct err *err);

/*
 * Queue a message. With w (or NULL) wait for its answer: w belongs to the pump then
 * until mcp_pump_leave(). 0; -EPIPE: the program has ended or is ending; -EBUSY: it
 * does not read; -ENOMEM.
 */
int mcp_pump_send(struct mcp_pump *pump, struct span message, struct mcp_waiter *w);

/* Milliseconds until the waiter's deadline; 0: it has passed. */
int mcp_pump_left(struct mcp_pump *pump, struct mcp_waiter *w);

/* Take a waiter back from the pump. True: it has its result. */
bool mcp_pump_leave(struct mcp_pump *pump, struct mcp_waiter *w);

/* Start to end the program. */
void mcp_pump_stop(struct mcp_pump *pump);

/* Whether nothing can be sent any more; whether the program has ended, too. */
bool mcp_pump_is_over(struct mcp_pump *pump);
bool mcp_pump_has_ended(struct mcp_pump *pump);

/*
 * Append how the program ended, "ended with exit status 3: its last line". Waits for its end, but
 * not longer than PROCESS_DRAIN_MS.
 */
void mcp_pump_say(struct mcp_pump *pump, struct buf *out);

/* End the program, wait for that, and free what the pump holds. */
void mcp_pump_release(struct mcp_pump *pump);

#endif

/*
 * Open calls: calls in events that nothing has answered. A turn that ends closes them, but for
 * long-running ones, which may be answered later.
 */
#ifndef RUNNER_HISTORY_OPEN_CALLS_H
#define RUNNER_HISTORY_OPEN_CALLS_H

#include "store/json/content.h"
#include "store/json/event.h"

/* An event with calls, some of them open. */
struct open_event {
	struct content *content; /* a call that was answered is no call any more */
	struct buf author;
	struct buf branch;       /* empty: none */
	struct buf long_running; /* JSON list */
};

/* Zeroed: none. */
struct open_calls {
	struct buf list; /* of struct open_event, in the order of the events */
};

/* What a call is answered that its turn did not wait for. */
#define OPEN_CALLS_CUT_SHORT "{\"error\":\"the turn ended before the tool did\"}"

/* Note the calls and the responses of the next event. A response that is pending is none. -ENOMEM.
 */
MUST_CHECK int open_calls_note(struct open_calls *open, const struct event *e);
void open_calls_release(struct open_calls *open);

/* The events with open calls; borrowed until the next one is noted. */
struct open_event *open_calls_list(const struct open_calls *open, size_t *n);

/* Whether one of them may be answered later. */
bool open_calls_wait(const struct open_calls *open);

/*
 * Answer that a long-running call is pending. pending: JSON list in the making, of such calls;
 * empty at first. The event lists them as long-running, as it is no answer that ends the wait.
 */
MUST_CHECK int pending_add(struct content *to, struct buf *pending, const char *id,
			   const char *name);
void pending_put(struct event *e, struct buf *pending);

/* Add a response, JSON, to each of an event's open calls that cannot be answered later. -ENOMEM. */
MUST_CHECK int open_event_answer(const struct open_event *a, struct span response,
				 struct content *to);

#endif

/*
 * Open calls: calls in events that nothing has answered. A turn that ends answers them, except for
 * long-running calls, whose answers may come later.
 */
#ifndef RUNNER_HISTORY_OPEN_CALLS_H
#define RUNNER_HISTORY_OPEN_CALLS_H

#include "store/json/content.h"
#include "store/json/event.h"

/* An event with calls, some of them open. */
struct open_event {
	struct content *content; /* the parts of answered calls are released */
	struct buf author;
	struct buf branch;       /* empty: none */
	struct buf long_running; /* JSON list */
};

/* All zero: none. */
struct open_calls {
	struct buf list; /* of struct open_event, in the order of the events */
};

/* The answer to a call when the turn ends first. */
#define OPEN_CALLS_CUT_SHORT "{\"error\":\"the turn ended before the tool did\"}"

/* Note the calls and responses of the next event. A pending response does not count. -ENOMEM. */
MUST_CHECK int open_calls_note(struct open_calls *open, const struct event *e);
void open_calls_release(struct open_calls *open);

/* The events with open calls; borrowed until the next event is noted. */
struct open_event *open_calls_list(const struct open_calls *open, size_t *n);

/* Whether an open call may be answered later. */
bool open_calls_wait(const struct open_calls *open);

/*
 * Answer that a long-running call is pending. Such an answer does not end the wait: pending
 * collects the ids of these calls, and pending_put() lists them in the event. -ENOMEM.
 */
MUST_CHECK int pending_add(struct content *to, struct buf *pending, const char *id,
			   const char *name);
void pending_put(struct event *e, struct buf *pending);

/* Add a response, JSON, to each of an event's open calls that cannot be answered later. -ENOMEM. */
MUST_CHECK int open_event_answer(const struct open_event *a, struct span response,
				 struct content *to);

#endif

/*
 * Messages: the text that a user writes, and the event that it becomes.
 *
 * A message is plain text or JSON. The JSON is an ADK Content, or the body of ADK's run request,
 * which has the Content as newMessage.
 */
#ifndef STORE_JSON_MESSAGE_H
#define STORE_JSON_MESSAGE_H

#include "store/json/event.h"

#define MESSAGE_MAX (16u << 20)

enum message_kind { MESSAGE_TEXT, MESSAGE_JSON }; /* stored: the numbers are fixed */

/* The session that a run request names. A text that the request lacks is empty. */
struct message_place {
	struct buf app;
	struct buf user;
	struct buf session;
	struct buf invocation;
};

void message_place_release(struct message_place *place);

/*
 * Make the user's event from a whole message. The event has no invocation id yet. *place takes
 * the names in a run request; NULL is fine.
 *
 * Returns 0; 1: the message is empty; -ENODATA: the message is valid so far, but ends too early;
 * -EINVAL, -EFBIG: the message is invalid; -ENOMEM. Call event_release() in any case.
 */
MUST_CHECK int message_parse(enum message_kind kind, struct span text, struct event *e,
			     struct message_place *place, struct err *err);

#endif

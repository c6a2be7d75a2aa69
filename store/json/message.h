/*
 * Messages: what a user says, as it is written, and the event that it becomes.
 *
 * Either plain text, or JSON: an ADK Content, or the body of ADK's run request
 * with the Content as newMessage.
 */
#ifndef STORE_JSON_MESSAGE_H
#define STORE_JSON_MESSAGE_H

#include "store/json/event.h"

#define MESSAGE_MAX (16u << 20)

enum message_kind { MESSAGE_TEXT, MESSAGE_JSON }; /* kept in the store */

/* The session that a run request names; a text is empty when the request lacks it. */
struct message_place {
	struct buf app;
	struct buf user;
	struct buf session;
	struct buf invocation;
};

void message_place_release(struct message_place *place);

/*
 * Make the user's event of a whole message; its invocation is not set yet. place may be NULL.
 *
 * Returns 0; 1: the message is empty; -ENODATA: right so far, but it ends too
 * early; -EINVAL, -EFBIG: it is none, err says why. *e is to be released.
 */
MUST_CHECK int message_parse(enum message_kind kind, struct span text, struct event *e,
			     struct message_place *place, struct err *err);

#endif

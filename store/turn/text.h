/*
 * What turns said: their messages, answers and lines, read from their events.
 */
#ifndef STORE_TURN_TEXT_H
#define STORE_TURN_TEXT_H

#include "store/json/event.h"
#include "store/turn/info.h"

/* Append the text of the message; the text of the answer; the lines of the turn. */
MUST_CHECK int turn_input(struct store *st, struct ref session, const struct turn_info *info,
			  struct buf *out, struct err *err);
MUST_CHECK int turn_output(struct store *st, struct ref session, const struct turn_info *info,
			   struct buf *out, struct err *err);
MUST_CHECK int turn_events(struct store *st, struct ref session, const struct turn_info *info,
			   struct buf *out, struct err *err);

/* Append what an event adds to the answer's text: nothing for the user's. */
MUST_CHECK int turn_event_output(const struct event *e, struct buf *out);

/* The content of an event; NULL when it has none. */
MUST_CHECK int turn_content(const struct event *e, struct content **out);
/* Append the text of a message; what an event adds to the answer's text. */
MUST_CHECK int turn_event_input(const struct event *e, struct buf *out);
MUST_CHECK int turn_answer_text(const struct event *e, const struct content *content,
				struct buf *out);

/* 1: the line is an event of the turn, read to e. */
MUST_CHECK int turn_own_line(const struct turn_info *info, struct span line, struct event *e);

#endif

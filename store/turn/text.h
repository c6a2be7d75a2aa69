/*
 * The texts of turns: messages, answers and lines, read from the events of a turn.
 */
#ifndef STORE_TURN_TEXT_H
#define STORE_TURN_TEXT_H

#include "store/json/event.h"
#include "store/turn/info.h"

/* Append the text of a turn's message, the text of its answer, or its lines. */
MUST_CHECK int turn_input(struct store *st, struct ref session, const struct turn_info *info,
			  struct buf *out, struct err *err);
MUST_CHECK int turn_output(struct store *st, struct ref session, const struct turn_info *info,
			   struct buf *out, struct err *err);
MUST_CHECK int turn_events(struct store *st, struct ref session, const struct turn_info *info,
			   struct buf *out, struct err *err);

/* Append the text that an event adds to the answer: nothing for an event of the user. */
MUST_CHECK int turn_event_output(const struct event *e, struct buf *out);

/* Parse the content of an event, which the caller frees. *out stays as it is if there is none. */
MUST_CHECK int turn_content(const struct event *e, struct content **out);
/* Append the text of a message. */
MUST_CHECK int turn_event_input(const struct event *e, struct buf *out);
/* turn_event_output() for an event whose content is parsed; NULL: it has none. */
MUST_CHECK int turn_answer_text(const struct event *e, const struct content *content,
				struct buf *out);

/* Whether a line is an event of a turn. 1: yes, and *e is the event, to be released; 0: no. */
MUST_CHECK int turn_own_line(const struct turn_info *info, struct span line, struct event *e);

#endif

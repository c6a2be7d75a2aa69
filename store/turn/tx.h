/*
 * Turns inside transactions: see turn.h. For turn.c, text.c, fork.c, staged.c.
 */
#ifndef STORE_TURN_TX_H
#define STORE_TURN_TX_H

#include "store/turn/turn.h"

/* The record of a turn. */
void turn_encode(const struct turn_info *t, struct buf *out);
MUST_CHECK int turn_decode(struct span record, uint64_t n, struct turn_info *t);
/* -ENOENT. */
MUST_CHECK int turn_load(struct store_tx *tx, struct ref ref, uint64_t n, struct turn_info *t);
MUST_CHECK int turn_save(struct session_tx *s, struct turn_info *t, enum change_kind kind);

/* The content of an event; NULL when it has none. */
MUST_CHECK int turn_content(const struct event *e, struct content **out);
/* Append the text of a message; what an event adds to the answer's text. */
MUST_CHECK int turn_event_input(const struct event *e, struct buf *out);
MUST_CHECK int turn_answer_text(const struct event *e, const struct content *content,
				struct buf *out);

/* 1: the line is an event of the turn, read to e. */
MUST_CHECK int turn_own_line(const struct turn_info *info, struct span line, struct event *e);

/* Delete the pieces of a staged message. */
MUST_CHECK int message_delete(struct store_tx *tx, uint64_t message);

#endif

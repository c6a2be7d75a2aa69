/*
 * Putting: JSON is written as text, member by member, at the end of a buf.
 *
 * Requests are written in this way: their arguments, results and numbers are JSON
 * text already and must not change. Commas come by themselves; the caller writes
 * the brackets.
 */
#ifndef RUNNER_SYNTAX_JSON_PUT_H
#define RUNNER_SYNTAX_JSON_PUT_H

#include "base/buf.h"

#include <jansson.h>

/* Begin a member of the current object. */
void jsonput_key(struct buf *out, const char *name);

/* Write a member whose value is a text; invalid UTF-8 becomes U+FFFD. */
void jsonput_text(struct buf *out, const char *name, struct span text);

/* Write a member whose value is JSON text. */
void jsonput_raw(struct buf *out, const char *name, struct span json);

/* Begin the next item of the current list: write a comma, unless a bracket was just opened. */
void jsonput_item(struct buf *out);

/* Append a value. Numbers are short: 0.7, not 0.69999999999999996. 0 or -ENOMEM. */
MUST_CHECK int jsonput_value(struct buf *out, const json_t *value);

#endif

/*
 * Putting: JSON written as text, member by member, at the end of a buf.
 *
 * For requests, whose arguments, results and numbers are JSON text already and
 * have to stay as they are. Commas come by themselves; brackets are the caller's.
 */
#ifndef RUNNER_SYNTAX_JSON_PUT_H
#define RUNNER_SYNTAX_JSON_PUT_H

#include "base/buf.h"

#include <jansson.h>

/* Begin a member of the object that is being written. */
void jsonput_key(struct buf *out, const char *name);

/* The same with a text as its value; what is not UTF-8 in it becomes U+FFFD. */
void jsonput_text(struct buf *out, const char *name, struct span text);

/* The same with JSON text as its value. */
void jsonput_raw(struct buf *out, const char *name, struct span json);

/* Begin the next element of the list that is being written. */
void jsonput_item(struct buf *out);

/* Append a value. Numbers keep the digits people write: 0.7, not 0.69999999999999996. -ENOMEM. */
MUST_CHECK int jsonput_value(struct buf *out, const json_t *value);

#endif

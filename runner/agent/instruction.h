/*
 * Instructions: a text with {placeholders} for state and artifacts.
 *
 *   {k} {app:k} {user:k} {temp:k}  a state key: a string as it is, null as
 *				     nothing, any other value as compact JSON
 *   {artifact.NAME}		     the text of an artifact
 *   a '?' at the end		     nothing if the value is missing or is not text
 *
 * Repeated braces, and blanks inside of them, change nothing. Any other text between
 * braces stays as written.
 */
#ifndef RUNNER_AGENT_INSTRUCTION_H
#define RUNNER_AGENT_INSTRUCTION_H

#include "base/buf.h"

/*
 * The source of the values. Each function appends a value: 0; -ENOENT: no such value;
 * another -errno ends the rendering.
 */
struct instruction_source {
	/* The canonical JSON of a state key, which may have a prefix such as `temp:`. */
	int (*state)(void *arg, struct span key, struct buf *json, struct err *err);
	/* The text of an artifact's latest version; -EILSEQ: the version is not text. */
	int (*artifact)(void *arg, struct span name, struct buf *text, struct err *err);
	void *arg;
};

/*
 * Whether a text is an identifier: a letter or '_', then letters, digits, '_'. Bytes from
 * 0x80 on count as letters.
 */
bool instruction_is_identifier(struct span text);

/*
 * Append the text with its placeholders filled in. Placeholders in values stay as they
 * are. 0; -EINVAL: a value that is not optional is missing, err has the sentence that
 * ends the turn; an error of the source; -ENOMEM. After an error nothing was appended.
 */
MUST_CHECK int instruction_render(struct span text, const struct instruction_source *source,
				  struct buf *out, struct err *err);

#endif

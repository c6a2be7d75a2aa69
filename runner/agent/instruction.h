/*
 * Instructions: a text with {placeholders} for state and artifacts.
 *
 *   {k} {app:k} {user:k} {temp:k}  a state key: a string as it is, null as
 *				     nothing, everything else as compact JSON
 *   {artifact.NAME}		     the text of an artifact
 *   a '?' at the end		     nothing when it is missing, or is not text
 *
 * More braces and blanks inside them mean the same. Everything else between
 * braces is left as it is written.
 */
#ifndef RUNNER_AGENT_INSTRUCTION_H
#define RUNNER_AGENT_INSTRUCTION_H

#include "base/buf.h"

/* The source of the values. 0; -ENOENT; another error ends the rendering. */
struct instruction_source {
	/* Canonical JSON of a state key with its prefix, `temp:` included. */
	int (*state)(void *arg, struct span key, struct buf *json, struct err *err);
	/* Text of the latest version; -EILSEQ: it is not text. */
	int (*artifact)(void *arg, struct span name, struct buf *text, struct err *err);
	void *arg;
};

/* A letter or '_', then letters, digits, '_'; bytes from 0x80 on count as letters. */
bool instruction_is_identifier(struct span text);

/*
 * Append the text with its placeholders filled in. Values are not scanned again.
 * -EINVAL: a key or artifact that is not optional is missing; err is the
 * sentence that ends the turn.
 */
MUST_CHECK int instruction_render(struct span text, const struct instruction_source *source,
				  struct buf *out, struct err *err);

#endif

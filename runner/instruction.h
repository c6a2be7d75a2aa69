/*
 * Instructions: a text with {placeholders} for state and artifacts.
 */
#ifndef RUNNER_INSTRUCTION_H
#define RUNNER_INSTRUCTION_H

#include "base/buf.h"

/* Where the values come from. 0, -ENOENT, or another error, which ends the rendering. */
struct instruction_source {
	/* Canonical JSON of a state key with its prefix, `temp:` included. */
	int (*state)(void *arg, struct span key, struct buf *json, struct err *err);
	/* Text of the latest version; -EILSEQ: it is not text. */
	int (*artifact)(void *arg, struct span name, struct buf *text, struct err *err);
	void *arg;
};

/*
 * Append the text with its placeholders filled in. Values are not scanned again.
 * -EINVAL: a key or artifact that is not optional is missing; err is the
 * sentence that ends the turn.
 */
MUST_CHECK int instruction_render(struct span text, const struct instruction_source *source,
				  struct buf *out, struct err *err);

#endif

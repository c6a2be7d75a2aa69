/*
 * Tokens: the counts of a usageMetadata, summed.
 */
#ifndef STORE_JSON_TOKENS_H
#define STORE_JSON_TOKENS_H

#include "base/buf.h"

#include <stdint.h>

enum token_count {
	TOKENS_PROMPT,
	TOKENS_CANDIDATES,
	TOKENS_CACHED,
	TOKENS_THOUGHTS,
	TOKENS_TOOL_USE,
	TOKENS_TOTAL,
	TOKENS_COUNTS,
};

struct tokens {
	uint64_t count[TOKENS_COUNTS];
};

/* ADK's name of a count, as in usageMetadata. */
const char *tokens_name(enum token_count which);

/* Add the counts of a checked usageMetadata object. What is no count adds nothing. */
void tokens_add_json(struct tokens *t, struct span usage);

/* Add counts. A sum stays at the largest number there is. */
void tokens_add(struct tokens *t, const struct tokens *more);

#endif

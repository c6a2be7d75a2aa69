/*
 * Tokens: sums of the counts in usageMetadata.
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

/* The name of a count in usageMetadata. */
const char *tokens_name(enum token_count which);

/* Add the counts of a checked usageMetadata object; other members are ignored. */
void tokens_add_json(struct tokens *t, struct span usage);

/* Add counts. A sum that would overflow stays at UINT64_MAX. */
void tokens_add(struct tokens *t, const struct tokens *more);

#endif

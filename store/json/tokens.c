/*
 * Tokens: see tokens.h.
 */
#include "store/json/tokens.h"

#include "base/json_text.h"

#include <ctype.h>
#include <stdlib.h>

#define DIGITS_MAX 20

static const char *const names[TOKENS_COUNTS] = {
	[TOKENS_PROMPT] = "promptTokenCount",          [TOKENS_CANDIDATES] = "candidatesTokenCount",
	[TOKENS_CACHED] = "cachedContentTokenCount",   [TOKENS_THOUGHTS] = "thoughtsTokenCount",
	[TOKENS_TOOL_USE] = "toolUsePromptTokenCount", [TOKENS_TOTAL] = "totalTokenCount",
};

const char *tokens_name(enum token_count which)
{
	return names[which];
}

static void add(uint64_t *sum, uint64_t more)
{
	if (__builtin_add_overflow(*sum, more, sum))
		*sum = UINT64_MAX;
}

static int take_member(void *arg, struct span key, struct span value)
{
	struct tokens *t = arg;
	char digits[DIGITS_MAX + 1];
	size_t i;

	if (!value.len || value.len > DIGITS_MAX || !isdigit((unsigned char)value.data[0]))
		return 0;
	memcpy(digits, value.data, value.len);
	digits[value.len] = 0;
	for (i = 0; i < TOKENS_COUNTS; i++) {
		if (span_is(key, names[i]))
			add(&t->count[i], strtoull(digits, NULL, 10));
	}
	return 0;
}

void tokens_add_json(struct tokens *t, struct span usage)
{
	if (usage.len)
		(void)!json_each(usage, take_member, t); /* checked when it was stored */
}

void tokens_add(struct tokens *t, const struct tokens *more)
{
	size_t i;

	for (i = 0; i < TOKENS_COUNTS; i++)
		add(&t->count[i], more->count[i]);
}

/*
 * Tokens that OpenAI's two APIs count, and the servers that imitate them.
 */
#include "runner/provider/openai/openai.h"

struct usage {
	struct span prompt;
	struct span answer;
	struct span total;
	struct span prompt_details;
	struct span answer_details;
};

const struct jsonpick openai_chat_usage[] = {
	{ "prompt_tokens", offsetof(struct usage, prompt) },
	{ "completion_tokens", offsetof(struct usage, answer) },
	{ "total_tokens", offsetof(struct usage, total) },
	{ "prompt_tokens_details", offsetof(struct usage, prompt_details) },
	{ "completion_tokens_details", offsetof(struct usage, answer_details) },
	{ 0 },
};

const struct jsonpick openai_responses_usage[] = {
	{ "input_tokens", offsetof(struct usage, prompt) },
	{ "output_tokens", offsetof(struct usage, answer) },
	{ "total_tokens", offsetof(struct usage, total) },
	{ "input_tokens_details", offsetof(struct usage, prompt_details) },
	{ "output_tokens_details", offsetof(struct usage, answer_details) },
	{ 0 },
};

struct details {
	struct span cached;
	struct span reasoning;
};

static const struct jsonpick detail_members[] = {
	{ "cached_tokens", offsetof(struct details, cached) },
	{ "reasoning_tokens", offsetof(struct details, reasoning) },
	{ 0 },
};

/*
 * ADK counts reasoning beside the answer; most services count it in the answer. xAI counts it
 * beside the answer too, which the total shows.
 */
static void set_reasoning(long long *counts, long long reasoning)
{
	long long *answer = &counts[MODEL_COUNT_CANDIDATES];
	long long total = counts[MODEL_COUNT_TOTAL];

	counts[MODEL_COUNT_THOUGHTS] = reasoning;
	if (reasoning > 0 && *answer >= reasoning &&
	    (total < 0 || counts[MODEL_COUNT_PROMPT] + *answer == total))
		*answer -= reasoning;
}

/* A missing count is absent, and not zero. */
int openai_usage_take(struct model_decode *d, const struct jsonpick *members, struct span object)
{
	struct usage u = { 0 };
	struct details details = { 0 };
	long long counts[MODEL_COUNTS];
	int r;

	if (!jsonpick_is(object, '{'))
		return 0;
	r = jsonpick_object(object, members, &u);
	if (r == 0)
		r = jsonpick_object(u.prompt_details, detail_members, &details);
	if (r == 0)
		r = jsonpick_object(u.answer_details, detail_members, &details);
	if (r < 0)
		return r;
	counts[MODEL_COUNT_PROMPT] = jsonpick_count(u.prompt);
	counts[MODEL_COUNT_CANDIDATES] = jsonpick_count(u.answer);
	counts[MODEL_COUNT_TOTAL] = jsonpick_count(u.total);
	counts[MODEL_COUNT_CACHED] = jsonpick_count(details.cached);
	set_reasoning(counts, jsonpick_count(details.reasoning));
	return model_reply_usage(d->reply, counts);
}

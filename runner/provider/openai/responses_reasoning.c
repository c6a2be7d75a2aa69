/*
 * Reasoning items of OpenAI Responses, and which models have them.
 */
#include "runner/provider/openai/responses.h"

#include "runner/syntax/json_put.h"

bool responses_may_think(const char *name)
{
	static const char *const others[] = { "gpt-3", "gpt-4", "gpt-5-chat", "chatgpt-" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(others); i++) {
		if (strncmp(name, others[i], strlen(others[i])) == 0)
			return false;
	}
	return true;
}

const struct jsonpick responses_reasoning_members[] = {
	{ "id", offsetof(struct responses_reasoning, id) },
	{ "summary", offsetof(struct responses_reasoning, summary) },
	{ "content", offsetof(struct responses_reasoning, content) },
	{ "encrypted_content", offsetof(struct responses_reasoning, encrypted_content) },
	{ 0 },
};

void responses_reasoning_put(const struct responses_reasoning *item, struct buf *out)
{
	if (jsonpick_is(item->id, '"'))
		jsonput_raw(out, "id", item->id);
	jsonput_raw(out, "summary", jsonpick_is(item->summary, '[') ? item->summary : SPAN("[]"));
	if (jsonpick_is(item->content, '[') && !span_is(item->content, "[]"))
		jsonput_raw(out, "content", item->content);
	jsonput_raw(out, "encrypted_content", item->encrypted_content);
}

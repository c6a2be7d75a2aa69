/*
 * Answers of models, as decoders and generate() build them: see reply.h.
 */
#include "runner/wire/reply.h"

#include "base/json_text.h"
#include "runner/syntax/json_pick.h"
#include "runner/syntax/json_put.h"
#include "store/json/base64.h"

#include <errno.h>
#include <stdlib.h>

#define CALL_ID_MAX 255 /* bytes, as the log takes them */

void model_reply_release(struct model_reply *reply)
{
	size_t i;

	content_free(reply->content);
	free(reply->finish_reason);
	free(reply->finish_word);
	free(reply->model_version);
	for (i = 0; i < MODEL_EXTRAS; i++)
		buf_release(&reply->extras[i]);
	buf_release(&reply->usage);
	free(reply->error_code);
	free(reply->error_message);
	*reply = (struct model_reply){ 0 };
}

static int need_content(struct model_reply *reply)
{
	if (!reply->content)
		reply->content = content_new("model");
	return reply->content ? 0 : -ENOMEM;
}

int model_reply_text(struct model_reply *reply, struct span text, bool thought)
{
	int r;

	if (!text.len)
		return 0;
	r = need_content(reply);
	if (r == 0)
		r = content_add_text(reply->content, text, thought);
	if (r == 0 && reply->on_text)
		reply->on_text(reply->arg, text, thought);
	return r;
}

bool model_call_keeps_id(const struct content *content, size_t at, const char *id)
{
	size_t i;

	if (!id || !*id || strlen(id) > CALL_ID_MAX)
		return false;
	for (i = 0; i < at; i++) {
		const struct part *p = &content->parts[i];

		if (p->kind == PART_CALL && p->id && strcmp(p->id, id) == 0)
			return false;
	}
	return true;
}

int model_reply_call(struct model_reply *reply, const char *id, const char *name, struct span args)
{
	int r = need_content(reply);

	if (r < 0)
		return r;
	if (!model_call_keeps_id(reply->content, reply->content->count, id))
		id = NULL;
	return content_add_function(reply->content, PART_CALL, id, name, args);
}

int model_reply_empty(struct model_reply *reply)
{
	int r = need_content(reply);

	return r < 0 || content_add(reply->content, PART_TEXT) ? r : -ENOMEM;
}

/* Take the parts of a content over. */
static int take_parts(struct model_reply *reply, struct content *from)
{
	size_t i;
	int r = need_content(reply);

	for (i = 0; r == 0 && i < from->count; i++) {
		struct part *p = content_add(reply->content, PART_TEXT);

		if (!p)
			return -ENOMEM;
		*p = from->parts[i];
		from->parts[i] = (struct part){ 0 };
	}
	return r;
}

int model_reply_part(struct model_reply *reply, struct span json)
{
	CLEANUP(content_free_p) struct content *content = NULL;
	CLEANUP(buf_release) struct buf text = { 0 };
	int r;

	buf_text(&text, "{\"role\":\"model\",\"parts\":[");
	buf_span_add(&text, json);
	buf_text(&text, "]}");
	r = buf_check(&text, NULL);
	if (r == 0)
		r = content_from_json(buf_span(&text), &content, NULL);
	return r < 0 ? r : take_parts(reply, content);
}

int model_reply_inline(struct model_reply *reply, const char *mime, struct span base64)
{
	CLEANUP(buf_release) struct buf json = { 0 };
	int r;

	buf_text(&json, "{\"inlineData\":{\"data\":");
	json_quote_lossy(&json, base64);
	buf_text(&json, ",\"mimeType\":");
	json_quote_lossy(&json, span_of(mime));
	buf_text(&json, "}}");
	r = buf_check(&json, NULL);
	return r < 0 ? r : model_reply_part(reply, buf_span(&json));
}

int model_reply_sign_text(struct model_reply *reply, struct span text)
{
	CLEANUP(buf_release) struct buf base64 = { 0 };

	base64_encode(&base64, text, BASE64_URL_SAFE);
	return base64.failed ? -ENOMEM : model_reply_sign(reply, buf_span(&base64));
}

int model_reply_sign(struct model_reply *reply, struct span base64)
{
	CLEANUP(buf_release) struct buf bytes = { 0 };
	CLEANUP(buf_release) struct buf own = { 0 };
	struct part *last;
	int r = base64_decode(base64, &bytes);

	if (r == 0 && !(reply->content && reply->content->count))
		r = model_reply_empty(reply);
	if (r < 0)
		return r;
	base64_encode(&own, buf_span(&bytes), BASE64_URL_SAFE);
	if (!buf_cstr(&own))
		return -ENOMEM;
	last = &reply->content->parts[reply->content->count - 1];
	free(last->signature);
	last->signature = strdup(own.data);
	return last->signature ? 0 : -ENOMEM;
}

int model_reply_extra(struct model_reply *reply, enum model_extra which, struct span json)
{
	struct buf *out = &reply->extras[which];

	buf_clear(out);
	buf_span_add(out, json);
	return buf_check(out, NULL);
}

static int replace_text(char **where, const char *text)
{
	char *copy = strdup(text);

	if (!copy)
		return -ENOMEM;
	free(*where);
	*where = copy;
	return 0;
}

int model_reply_finish(struct model_reply *reply, const char *reason)
{
	return replace_text(&reply->finish_reason, reason);
}

int model_reply_finish_word(struct model_reply *reply, struct span word)
{
	CLEANUP(buf_release) struct buf text = { 0 };

	buf_span_add(&text, word);
	return buf_cstr(&text) ? replace_text(&reply->finish_word, text.data) : -ENOMEM;
}

int model_reply_error(struct model_reply *reply, const char *code, const char *message)
{
	int r = replace_text(&reply->error_code, code);

	return r < 0 || !message ? r : replace_text(&reply->error_message, message);
}

int model_reply_usage(struct model_reply *reply, const long long counts[MODEL_COUNTS])
{
	static const char *const names[MODEL_COUNTS] = {
		[MODEL_COUNT_CACHED] = "cachedContentTokenCount",
		[MODEL_COUNT_CANDIDATES] = "candidatesTokenCount",
		[MODEL_COUNT_PROMPT] = "promptTokenCount",
		[MODEL_COUNT_THOUGHTS] = "thoughtsTokenCount",
		[MODEL_COUNT_TOTAL] = "totalTokenCount",
	};
	struct buf *out = &reply->usage;
	const char *before = "{";
	size_t i;

	buf_clear(out);
	for (i = 0; i < MODEL_COUNTS; i++) {
		if (counts[i] < 0)
			continue;
		buf_printf(out, "%s\"%s\":%lld", before, names[i], counts[i]);
		before = ",";
	}
	if (out->len)
		buf_char(out, '}');
	return buf_check(out, NULL);
}

/* usageMetadata of ADK, in the order of its canonical form */

struct tokens {
	struct span modality;
	struct span count;
};

static const struct jsonpick tokens_members[] = {
	{ "modality", offsetof(struct tokens, modality) },
	{ "tokenCount", offsetof(struct tokens, count) },
	{ 0 },
};

static int put_tokens(void *arg, struct span item)
{
	struct buf *out = arg;
	struct tokens t = { 0 };
	int r = jsonpick_object(item, tokens_members, &t);

	if (r < 0)
		return r;
	jsonput_item(out);
	buf_char(out, '{');
	if (jsonpick_is(t.modality, '"'))
		jsonput_raw(out, "modality", t.modality);
	if (jsonpick_count(t.count) >= 0)
		jsonput_raw(out, "tokenCount", t.count);
	buf_char(out, '}');
	return 0;
}

static int put_details(struct buf *out, const char *name, struct span value)
{
	int r;

	if (!jsonpick_is(value, '['))
		return 0;
	jsonput_key(out, name);
	buf_char(out, '[');
	r = jsonpick_list(value, put_tokens, out);
	buf_char(out, ']');
	return r;
}

static int put_count(struct buf *out, const char *name, struct span value)
{
	if (jsonpick_count(value) >= 0)
		jsonput_raw(out, name, value);
	return 0;
}

static int put_word(struct buf *out, const char *name, struct span value)
{
	if (jsonpick_is(value, '"'))
		jsonput_raw(out, name, value);
	return 0;
}

static const struct usage_member {
	const char *name;
	int (*put)(struct buf *out, const char *name, struct span value);
} usage_members[] = {
	{ "cacheTokensDetails", put_details },
	{ "candidatesTokensDetails", put_details },
	{ "promptTokensDetails", put_details },
	{ "toolUsePromptTokensDetails", put_details },
	{ "cachedContentTokenCount", put_count },
	{ "candidatesTokenCount", put_count },
	{ "promptTokenCount", put_count },
	{ "thoughtsTokenCount", put_count },
	{ "toolUsePromptTokenCount", put_count },
	{ "totalTokenCount", put_count },
	{ "trafficType", put_word },
};

int model_reply_usage_json(struct model_reply *reply, struct span json)
{
	struct buf *out = &reply->usage;
	size_t i;
	int r = 0;

	buf_clear(out);
	buf_char(out, '{');
	for (i = 0; r == 0 && i < ARRAY_SIZE(usage_members); i++) {
		const struct usage_member *m = &usage_members[i];
		struct span value;

		r = json_member(json, m->name, &value);
		r = r == 0 ? m->put(out, m->name, value) : r == -ENOENT ? 0 : r;
	}
	buf_char(out, '}');
	if (out->len == 2)
		buf_clear(out);
	return r < 0 ? r : buf_check(out, NULL);
}

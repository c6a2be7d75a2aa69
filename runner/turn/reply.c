/*
 * Answers of models: see reply.h.
 */
#include "runner/turn/reply.h"

#include "runner/syntax/json_pick.h"
#include "runner/syntax/json_put.h"

#include <errno.h>
#include <stdlib.h>

/* Members that a few providers fill. */
static const struct {
	const char *name;
	enum event_member which;
} extras[MODEL_EXTRAS] = {
	[MODEL_GROUNDING] = { "groundingMetadata", EVENT_GROUNDING },
	[MODEL_CITATIONS] = { "citationMetadata", EVENT_CITATIONS },
	[MODEL_AVG_LOGPROBS] = { "avgLogprobs", EVENT_AVG_LOGPROBS },
	[MODEL_LOGPROBS] = { "logprobsResult", EVENT_LOGPROBS },
};

static void put_text(struct buf *out, const char *name, const char *text)
{
	if (text)
		jsonput_text(out, name, span_of(text));
}

static void put_json(struct buf *out, const char *name, const struct buf *json)
{
	if (json->len)
		jsonput_raw(out, name, buf_span(json));
}

int reply_to_json(const struct model_reply *reply, struct buf *out)
{
	size_t i;

	buf_text(out, "{\"content\":");
	if (reply->content)
		content_to_json(reply->content, out);
	else
		buf_text(out, "null");
	put_text(out, "finishReason", reply->finish_reason);
	put_text(out, "modelVersion", reply->model_version);
	put_json(out, "usageMetadata", &reply->usage);
	for (i = 0; i < MODEL_EXTRAS; i++)
		put_json(out, extras[i].name, &reply->extras[i]);
	put_text(out, "errorCode", reply->error_code);
	put_text(out, "errorMessage", reply->error_message);
	buf_char(out, '}');
	return buf_check(out, NULL);
}

static int take_text(struct span json, const char *name, char **out, struct err *err)
{
	CLEANUP(buf_release) struct buf text = { 0 };
	struct span value;

	free(*out);
	*out = NULL;
	if (json_member(json, name, &value) < 0 || span_is(value, "null"))
		return 0;
	if (json_unquote(value, &text) < 0 || !buf_cstr(&text))
		return err_set(err, -EINVAL, "%s must be a text", name);
	*out = strdup(text.data);
	return *out ? 0 : err_nomem(err);
}

/* Take a member as JSON, empty when it is absent. -ENOMEM. */
static int take_json(struct span json, const char *name, struct buf *out)
{
	struct span value;

	buf_clear(out);
	if (json_member(json, name, &value) == 0 && !span_is(value, "null"))
		buf_span_add(out, value);
	return buf_check(out, NULL);
}

int reply_from_json(struct model_reply *reply, struct span json, struct err *err)
{
	struct content *content = NULL;
	struct span value;
	size_t i;
	int r = 0;

	if (json_member(json, "content", &value) == 0 && !span_is(value, "null"))
		r = content_from_json(value, &content, err);
	else if (json_member(json, "errorCode", &value) < 0)
		return err_set(err, -EINVAL, "a response needs content or an errorCode");
	if (r < 0)
		return r;
	content_free(reply->content);
	reply->content = content;
	if (content && !content->role)
		content->role = strdup("model");
	r = take_text(json, "finishReason", &reply->finish_reason, err);
	if (r == 0)
		r = take_text(json, "errorCode", &reply->error_code, err);
	if (r == 0)
		r = take_text(json, "errorMessage", &reply->error_message, err);
	if (r == 0 && json_member(json, "usageMetadata", &value) == 0)
		r = model_reply_usage_json(reply, jsonpick_is(value, '{') ? value : SPAN("{}"));
	for (i = 0; r == 0 && i < MODEL_EXTRAS; i++)
		r = take_json(json, extras[i].name, &reply->extras[i]);
	return r;
}

/* Add the extras. An extra that does not have ADK's form is left out. */
static void set_extras(struct event *e, const struct model_reply *reply)
{
	size_t i;

	for (i = 0; i < MODEL_EXTRAS; i++) {
		CLEANUP(buf_release) struct buf json = { 0 };
		CLEANUP(event_release) struct event parsed = { 0 };

		if (!reply->extras[i].len)
			continue;
		buf_printf(&json, "{\"author\":\"model\",\"%s\":", extras[i].name);
		buf_span_add(&json, buf_span(&reply->extras[i]));
		buf_char(&json, '}');
		e->text.failed |= json.failed;
		if (!json.failed && event_from_json(buf_span(&json), &parsed, NULL) == 0)
			event_set_json(e, extras[i].which, event_json(&parsed, extras[i].which));
	}
}

/* Note the provider, and its own word for how the answer ended. */
static void set_provider(struct event *e, const struct model_reply *reply)
{
	CLEANUP(buf_release) struct buf json = { 0 };

	if (!reply->provider)
		return;
	buf_text(&json, "{\"adkfs.model\":{");
	jsonput_text(&json, "provider", span_of(reply->provider));
	if (reply->finish_word && *reply->finish_word)
		jsonput_text(&json, "finishReason", span_of(reply->finish_word));
	buf_text(&json, "}}");
	e->text.failed |= json.failed;
	event_set_json(e, EVENT_CUSTOM_METADATA, buf_span(&json));
}

static void set_if(struct event *e, enum event_member which, const char *text)
{
	if (text)
		event_set_text(e, which, span_of(text));
}

void reply_to_event(const struct model_reply *reply, struct event *e)
{
	set_if(e, EVENT_MODEL_VERSION, reply->model_version);
	set_if(e, EVENT_FINISH_REASON, reply->finish_reason);
	set_if(e, EVENT_ERROR_CODE, reply->error_code);
	set_if(e, EVENT_ERROR_MESSAGE, reply->error_message);
	if (reply->usage.len)
		event_set_json(e, EVENT_USAGE, buf_span(&reply->usage));
	set_extras(e, reply);
	set_provider(e, reply);
	if (reply->content)
		event_set_content(e, reply->content);
}

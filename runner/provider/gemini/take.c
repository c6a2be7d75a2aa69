/*
 * The parts of Gemini's answers. What ADK's form of a part lacks is left out.
 */
#include "runner/provider/gemini/gemini.h"

#include "base/json_text.h"
#include "runner/syntax/json_put.h"
#include "runner/wire/calls.h"

#include <errno.h>

struct span gemini_mended(struct gemini_decoder *d, struct span token)
{
	struct surrogate_joint joint = { 0 };

	if (!d->base.marked)
		return token;
	buf_clear(&d->scratch);
	surrogate_join(&joint, token, &d->scratch);
	surrogate_finish(&joint, &d->scratch);
	d->no_memory |= d->scratch.failed;
	return buf_span(&d->scratch);
}

/* Texts */

/* Add the text that was decoded last to the whole answer too. */
static int keep_text(struct gemini_decoder *d, enum model_voice voice)
{
	return model_reply_text(&d->whole, buf_span(&d->base.text), voice == MODEL_THOUGHT);
}

int gemini_end_text(struct gemini_decoder *d)
{
	int r = model_decode_text_end(&d->base, &d->joint, d->voice);

	return r < 0 ? r : keep_text(d, d->voice);
}

static int take_words(struct gemini_decoder *d, struct span token, enum model_voice voice)
{
	int r = voice == d->voice ? 0 : gemini_end_text(d);

	d->voice = voice;
	if (r == 0)
		r = model_decode_text(&d->base, token, &d->joint, voice);
	return r < 0 ? r : keep_text(d, voice);
}

static int sign(struct gemini_decoder *d, struct span token)
{
	CLEANUP(buf_release) struct buf base64 = { 0 };
	int r;

	if (!model_decode_string(token, &base64))
		return buf_check(&base64, NULL);
	r = model_reply_sign(&d->whole, buf_span(&base64));
	return r == -EINVAL ? err_set(d->base.err, -EPROTO,
				      "the model sent a thoughtSignature that is not base64")
			    : r;
}

/* The members of a part that matter, as JSON. */
struct part_spans {
	struct span text;
	struct span thought;
	struct span signature;
	struct span call;
	struct span inline_data;
	struct span file;
	struct span code;
	struct span code_result;
	struct span tool_call;
	struct span tool_response;
	struct span video;
};

/* A signed text is a part of its own, since the signature covers only this text. */
static int take_text(struct gemini_decoder *d, const struct part_spans *p)
{
	enum model_voice voice = span_is(p->thought, "true") ? MODEL_THOUGHT : MODEL_SPOKEN;
	struct content *content;
	int r;

	if (p->signature.len <= 2)
		return take_words(d, p->text, voice);
	r = gemini_end_text(d);
	if (r == 0)
		r = model_reply_empty(&d->whole);
	if (r < 0)
		return r;
	content = d->whole.content;
	content->parts[content->count - 1].thought = voice == MODEL_THOUGHT;
	r = take_words(d, p->text, voice);
	if (r == 0)
		r = gemini_end_text(d);
	return r < 0 ? r : sign(d, p->signature);
}

/* Calls */

struct call_spans {
	struct model_call_spans call;
	struct span pieces;
	struct span more;
};

static const struct jsonpick call_members[] = {
	{ "id", offsetof(struct call_spans, call.id) },
	{ "name", offsetof(struct call_spans, call.name) },
	{ "args", offsetof(struct call_spans, call.args) },
	{ "partialArgs", offsetof(struct call_spans, pieces) },
	{ "willContinue", offsetof(struct call_spans, more) },
	{ 0 },
};

static int add_call(struct gemini_decoder *d, const struct call_spans *s)
{
	CLEANUP(model_calls_release) struct model_calls one = { 0 };
	int r;

	if (d->calls++ == MODEL_CALLS_MAX)
		return err_set(d->base.err, -E2BIG, "the model made more than %d calls at once",
			       MODEL_CALLS_MAX);
	r = model_calls_take(&one, 0, &s->call, d->base.marked, d->base.err);
	return r < 0 ? r : model_calls_finish(&one, false, &d->whole, d->base.err);
}

/* Calls must come whole: we do not ask for pieces. */
static int take_call(struct gemini_decoder *d, const struct part_spans *p)
{
	struct call_spans s = { 0 };
	int r = jsonpick_object(p->call, call_members, &s);

	if (r < 0)
		return r;
	if (jsonpick_present(s.pieces) || span_is(s.more, "true"))
		return err_set(d->base.err, -EPROTO,
			       "the model sent a call in pieces, which is not supported");
	r = gemini_end_text(d);
	if (r == 0)
		r = add_call(d, &s);
	return r < 0 ? r : sign(d, p->signature);
}

/* Other parts */

#define INNER_MAX 4

/* Parts that are kept without the members that ADK's form lacks. */
static const struct kind {
	const char *name;
	size_t at;
	const char *inner[INNER_MAX];
} kinds[] = {
	{ "inlineData", offsetof(struct part_spans, inline_data), { "data", "mimeType" } },
	{ "fileData", offsetof(struct part_spans, file), { "fileUri", "mimeType" } },
	{ "executableCode", offsetof(struct part_spans, code), { "code", "language", "id" } },
	{ "codeExecutionResult",
	  offsetof(struct part_spans, code_result),
	  { "outcome", "output", "id" } },
	{ "toolCall", offsetof(struct part_spans, tool_call), { "id", "toolType", "args" } },
	{ "toolResponse",
	  offsetof(struct part_spans, tool_response),
	  { "id", "toolType", "response" } },
};

static const struct jsonpick part_members[] = {
	{ "text", offsetof(struct part_spans, text) },
	{ "thought", offsetof(struct part_spans, thought) },
	{ "thoughtSignature", offsetof(struct part_spans, signature) },
	{ "functionCall", offsetof(struct part_spans, call) },
	{ "inlineData", offsetof(struct part_spans, inline_data) },
	{ "fileData", offsetof(struct part_spans, file) },
	{ "executableCode", offsetof(struct part_spans, code) },
	{ "codeExecutionResult", offsetof(struct part_spans, code_result) },
	{ "toolCall", offsetof(struct part_spans, tool_call) },
	{ "toolResponse", offsetof(struct part_spans, tool_response) },
	{ "videoMetadata", offsetof(struct part_spans, video) },
	{ 0 },
};

static int put_members(struct span object, const char *const *names, struct buf *out)
{
	size_t i;
	int r = 0;

	buf_char(out, '{');
	for (i = 0; r == 0 && i < INNER_MAX && names[i]; i++) {
		struct span value;

		r = json_member(object, names[i], &value);
		if (r == 0)
			jsonput_raw(out, names[i], value);
		r = r == -ENOENT ? 0 : r;
	}
	buf_char(out, '}');
	return r;
}

static int take_kind(struct gemini_decoder *d, const struct part_spans *p, const struct kind *k,
		     struct span object)
{
	CLEANUP(buf_release) struct buf json = { 0 };
	int r = gemini_end_text(d);

	buf_char(&json, '{');
	jsonput_key(&json, k->name);
	if (r == 0)
		r = put_members(object, k->inner, &json);
	if (span_is(p->thought, "true"))
		jsonput_raw(&json, "thought", p->thought);
	if (p->signature.len)
		jsonput_raw(&json, "thoughtSignature", p->signature);
	buf_char(&json, '}');
	if (r == 0)
		r = buf_check(&json, NULL);
	if (r == 0)
		r = model_reply_part(&d->whole, gemini_mended(d, buf_span(&json)));
	return r == -EINVAL ? err_set(d->base.err, -EPROTO, "the model sent an invalid %s", k->name)
			    : r;
}

/* Parts of unknown kinds are ignored, as in Google's SDKs. */
int gemini_take_part(struct gemini_decoder *d, struct span object)
{
	struct part_spans p = { 0 };
	int r = jsonpick_object(object, part_members, &p);
	size_t i;

	if (r < 0)
		return r;
	if (jsonpick_is(p.call, '{'))
		return take_call(d, &p);
	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		const struct span *value = (const struct span *)(const void *)((const char *)&p +
									       kinds[i].at);

		if (jsonpick_is(*value, '{'))
			return take_kind(d, &p, &kinds[i], *value);
	}
	return jsonpick_is(p.text, '"') || p.signature.len ? take_text(d, &p) : 0;
}

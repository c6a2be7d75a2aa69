/*
 * The conversation for OpenAI Responses: a list of items, which are messages, calls, results
 * and thoughts.
 */
#include "runner/provider/openai/responses.h"

#include "base/json_text.h"
#include "runner/provider/openai/openai.h"
#include "runner/syntax/json_put.h"
#include "runner/wire/media.h"
#include "runner/wire/pairs.h"
#include "runner/wire/refuse.h"
#include "store/json/base64.h"

#include <errno.h>
#include <strings.h>

const struct model_name_rule responses_names = { RESPONSES_SAID, "", 64 };

/* The items while they are written. */
struct encoder {
	struct model_place at;
	bool thinks; /* the model may think */
	struct buf *out;
	struct buf text; /* words of the model that are not written yet */
	struct model_pairs pairs;
};

static void open_item(struct encoder *e, const char *type)
{
	jsonput_item(e->out);
	buf_char(e->out, '{');
	jsonput_text(e->out, "type", span_of(type));
}

static void text_item(struct encoder *e, struct span text)
{
	open_item(e, "input_text");
	jsonput_text(e->out, "text", text);
	buf_char(e->out, '}');
}

static void inline_image(struct encoder *e, const struct part *p)
{
	open_item(e, "input_image");
	jsonput_text(e->out, "detail", SPAN("auto"));
	model_data_uri_put(e->out, "image_url", p);
	buf_char(e->out, '}');
}

static void inline_file(struct encoder *e, const struct part *p)
{
	open_item(e, "input_file");
	jsonput_text(e->out, "filename", span_of(p->name && *p->name ? p->name : "document.pdf"));
	model_data_uri_put(e->out, "file_data", p);
	buf_char(e->out, '}');
}

static int said_text(struct encoder *e, const struct part *p)
{
	CLEANUP(buf_release) struct buf text = { 0 };
	int r = model_said_text(&e->at, p, &text);

	if (r == 0)
		text_item(e, buf_span(&text));
	return r < 0 ? r : buf_check(&text, NULL);
}

static int put_inline(struct encoder *e, const struct part *p)
{
	if (model_mime_is_plain(p->mime) && model_mime_is(p->mime, "image/"))
		inline_image(e, p);
	else if (model_mime_is(p->mime, "application/pdf"))
		inline_file(e, p);
	else
		return said_text(e, p);
	return 0;
}

/* A file at an address without a type is an image. */
static int put_file(struct encoder *e, const struct part *p)
{
	bool pdf = model_mime_is(p->mime, "application/pdf");

	if (!p->uri || strncasecmp(p->uri, "https://", 8) != 0)
		return model_refuse(&e->at, "fileData that is not an https address:", p->uri);
	if (p->mime && !pdf && !model_mime_is(p->mime, "image/"))
		return model_refuse(&e->at, "fileData", p->mime);
	open_item(e, pdf ? "input_file" : "input_image");
	if (!pdf)
		jsonput_text(e->out, "detail", SPAN("auto"));
	jsonput_text(e->out, pdf ? "file_url" : "image_url", span_of(p->uri));
	buf_char(e->out, '}');
	return 0;
}

/* Items for each kind of part in a user's message; results were sent before it. */
static int (*const user_items[])(struct encoder *e, const struct part *p) = {
	[PART_TEXT] = said_text,    [PART_CALL] = said_text, [PART_RESPONSE] = said_text,
	[PART_INLINE] = put_inline, [PART_FILE] = put_file,  [PART_OTHER] = said_text,
};

static bool is_said(const struct part *p)
{
	return model_is_said(p) && p->kind != PART_RESPONSE;
}

static bool says_something(const struct content *c)
{
	size_t i;

	for (i = 0; i < c->count; i++) {
		if (is_said(&c->parts[i]))
			return true;
	}
	return false;
}

static int put_user(struct encoder *e, const struct content *c)
{
	size_t i;
	int r = 0;

	if (!says_something(c))
		return 0;
	open_item(e, "message");
	buf_text(e->out, ",\"role\":\"user\",\"content\":[");
	for (i = 0; r == 0 && i < c->count; i++) {
		if (is_said(&c->parts[i]))
			r = user_items[c->parts[i].kind](e, &c->parts[i]);
	}
	buf_text(e->out, "]}");
	return r;
}

/* Append the output: the response as text, or a list of the response and the media. */
static int put_output(struct encoder *e, const struct part *response)
{
	CLEANUP(content_free_p) struct content *media = NULL;
	int r = model_result_media(response, &media);
	size_t count = media ? media->count : 0;
	size_t i;

	if (!count) {
		jsonput_text(e->out, "output", span_of(response->json));
		return r;
	}
	jsonput_key(e->out, "output");
	buf_char(e->out, '[');
	if (strcmp(response->json, "{}") != 0)
		text_item(e, span_of(response->json));
	for (i = 0; r == 0 && i < count; i++)
		r = user_items[media->parts[i].kind](e, &media->parts[i]);
	buf_char(e->out, ']');
	return r;
}

static int put_result(struct encoder *e, const struct part *p)
{
	const struct model_pair *pair = model_pairs_answer(&e->pairs, p);
	int r;

	if (!pair)
		return model_refuse(&e->at,
				    "a functionResponse without its functionCall:", p->name);
	open_item(e, "function_call_output");
	jsonput_key(e->out, "call_id");
	model_pair_put_id(pair, e->out);
	r = put_output(e, p);
	buf_char(e->out, '}');
	return r;
}

/* Every result is an item of its own, before the user's words. */
static int put_results(struct encoder *e, const struct content *c)
{
	size_t i;
	int r = 0;

	for (i = 0; r == 0 && i < c->count; i++) {
		if (c->parts[i].kind == PART_RESPONSE)
			r = put_result(e, &c->parts[i]);
	}
	return r;
}

/* Write the collected texts as one message. */
static int flush_text(struct encoder *e)
{
	int r = buf_check(&e->text, NULL);

	if (r == 0 && e->text.len) {
		open_item(e, "message");
		buf_text(e->out, ",\"role\":\"assistant\"");
		jsonput_text(e->out, "content", buf_span(&e->text));
		buf_char(e->out, '}');
	}
	buf_clear(&e->text);
	return r;
}

static int put_call(struct encoder *e, const struct part *p)
{
	CLEANUP(buf_release) struct buf name = { 0 };
	const struct model_pair *pair;
	int r = model_name_encode_past(&responses_names, p->name, &name, e->at.err);

	if (r == 0)
		r = model_pairs_call(&e->pairs, p, &pair);
	if (r < 0)
		return r;
	open_item(e, "function_call");
	jsonput_key(e->out, "call_id");
	model_pair_put_id(pair, e->out);
	jsonput_text(e->out, "name", buf_span(&name));
	jsonput_text(e->out, "arguments", span_of(p->json));
	buf_char(e->out, '}');
	return 0;
}

static bool is_object(struct span text)
{
	struct json_scan s = json_scan_of(text, JSON_DEPTH_FREE, NULL);
	struct span value;

	return json_peek(&s) == '{' && json_raw(&s, &value) == 0 && json_end(&s) == 0;
}

/* Append a thought from OpenAI; signatures of other providers have another form. */
static int put_reasoning(struct encoder *e, const struct part *p)
{
	CLEANUP(buf_release) struct buf text = { 0 };
	struct responses_reasoning item = { 0 };
	int r = base64_decode(span_of(p->signature), &text);

	if (r == -ENOMEM || text.failed)
		return -ENOMEM;
	if (r < 0 || !is_object(buf_span(&text)))
		return 0;
	r = jsonpick_object(buf_span(&text), responses_reasoning_members, &item);
	if (r < 0 || !jsonpick_is(item.encrypted_content, '"'))
		return r;
	r = flush_text(e);
	open_item(e, "reasoning");
	responses_reasoning_put(&item, e->out);
	buf_char(e->out, '}');
	return r;
}

static int put_model_part(struct encoder *e, const struct part *p)
{
	int r = p->kind == PART_CALL ? flush_text(e) : 0;

	if (r < 0 || p->thought)
		return r;
	if (p->kind == PART_CALL)
		return put_call(e, p);
	if (p->kind == PART_INLINE || p->kind == PART_FILE || p->kind == PART_RESPONSE)
		return model_refuse_part(&e->at, p);
	return model_said_text(&e->at, p, &e->text);
}

/* Thoughts at the end are left out: the service refuses thoughts that nothing follows. */
static int put_model(struct encoder *e, const struct content *c)
{
	size_t end = c->count;
	size_t i;
	int r = 0;

	while (end && !model_is_said(&c->parts[end - 1]))
		end--;
	for (i = 0; r == 0 && i < end; i++) {
		if (e->thinks && c->parts[i].thought && c->parts[i].signature)
			r = put_reasoning(e, &c->parts[i]);
		if (r == 0)
			r = put_model_part(e, &c->parts[i]);
	}
	return r < 0 ? r : flush_text(e);
}

static int put_content(struct encoder *e, const struct content *c)
{
	int r;

	if (c->role && strcmp(c->role, "model") == 0)
		return put_model(e, c);
	r = put_results(e, c);
	return r < 0 ? r : put_user(e, c);
}

int responses_input(const struct question *q, struct buf *out, struct err *err)
{
	struct encoder e = { .at = { RESPONSES_SAID, 0, err },
			     .thinks = responses_may_think(q->name),
			     .out = out };
	int r = 0;

	jsonput_key(out, "input");
	buf_char(out, '[');
	for (; r == 0 && e.at.message < q->count; e.at.message++)
		r = put_content(&e, q->contents[e.at.message]);
	buf_char(out, ']');
	buf_release(&e.text);
	model_pairs_release(&e.pairs);
	return r;
}

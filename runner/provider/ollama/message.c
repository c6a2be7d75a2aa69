/*
 * The messages of a request for Ollama: the content of each is one string, with
 * images beside it.
 */
#include "runner/provider/ollama/ollama.h"

#include "base/json_text.h"
#include "runner/syntax/json_put.h"
#include "runner/wire/media.h"
#include "runner/wire/pairs.h"
#include "runner/wire/refuse.h"
#include "store/json/base64.h"

#include <errno.h>

/* The messages while they are written. */
struct encoder {
	struct model_place at;
	struct buf *out;
	struct buf text;   /* of the current message */
	struct buf images; /* the elements of its list */
};

static void open_message(struct encoder *e, const char *role)
{
	jsonput_item(e->out);
	buf_char(e->out, '{');
	jsonput_text(e->out, "role", span_of(role));
}

static void put_image(struct encoder *e, const struct part *p)
{
	if (e->images.len)
		buf_char(&e->images, ',');
	buf_char(&e->images, '"');
	base64_put_standard(&e->images, buf_span(&p->text));
	buf_char(&e->images, '"');
}

/* Add a part to the message; each part begins a line. */
static int take_said(struct encoder *e, const struct part *p)
{
	if (p->kind == PART_INLINE && model_mime_is_plain(p->mime) &&
	    model_mime_is(p->mime, "image/")) {
		put_image(e, p);
		return 0;
	}
	if (e->text.len && e->text.data[e->text.len - 1] != '\n')
		buf_char(&e->text, '\n');
	return model_said_text(&e->at, p, &e->text);
}

/* The words of the user, after the media of the results. */
static int put_user(struct encoder *e, const struct content *c)
{
	size_t i;
	int r = 0;

	for (i = 0; r == 0 && i < c->count; i++) {
		if (model_is_said(&c->parts[i]) && c->parts[i].kind != PART_RESPONSE)
			r = take_said(e, &c->parts[i]);
	}
	if (r == 0 && (e->text.failed || e->images.failed))
		r = -ENOMEM;
	if (r < 0 || (!e->text.len && !e->images.len))
		return r;
	open_message(e, "user");
	jsonput_text(e->out, "content", buf_span(&e->text));
	if (e->images.len) {
		jsonput_key(e->out, "images");
		buf_char(e->out, '[');
		buf_span_add(e->out, buf_span(&e->images));
		buf_char(e->out, ']');
	}
	buf_char(e->out, '}');
	return 0;
}

/* Append a member with the name as Ollama gets it. */
static int put_name(struct encoder *e, const char *member, const char *name)
{
	CLEANUP(buf_release) struct buf wire = { 0 };
	int r = model_name_encode_past(&ollama_names, name, &wire, e->at.err);

	if (r == 0)
		jsonput_text(e->out, member, buf_span(&wire));
	return r;
}

/* Keep the media of a result for the next message of the user: a result takes only text. */
static int keep_media(struct encoder *e, const struct part *response)
{
	CLEANUP(content_free_p) struct content *media = NULL;
	int r = model_result_media(response, &media);
	size_t count = media ? media->count : 0;
	size_t i;

	if (count)
		buf_printf(&e->text, "%sThe result of %s came with this:", e->text.len ? "\n" : "",
			   response->name);
	for (i = 0; r == 0 && i < count; i++)
		r = take_said(e, &media->parts[i]);
	return r;
}

static int put_result(struct encoder *e, const struct part *p)
{
	const char *id = model_foreign_id(p->id);
	int r;

	open_message(e, "tool");
	r = put_name(e, "tool_name", p->name);
	if (id)
		jsonput_text(e->out, "tool_call_id", span_of(id));
	jsonput_text(e->out, "content", span_of(p->json));
	buf_char(e->out, '}');
	return r < 0 ? r : keep_media(e, p);
}

/* Every result is a message of its own, before the user's words. */
static int put_results(struct encoder *e, const struct content *c)
{
	size_t i;
	int r = 0;

	buf_clear(&e->text);
	buf_clear(&e->images);
	for (i = 0; r == 0 && i < c->count; i++) {
		if (c->parts[i].kind == PART_RESPONSE)
			r = put_result(e, &c->parts[i]);
	}
	return r;
}

static int put_call(struct encoder *e, const struct part *p)
{
	const char *id = model_foreign_id(p->id);
	int r;

	jsonput_item(e->out);
	buf_char(e->out, '{');
	if (id)
		jsonput_text(e->out, "id", span_of(id));
	jsonput_key(e->out, "function");
	buf_char(e->out, '{');
	r = put_name(e, "name", p->name);
	jsonput_raw(e->out, "arguments", span_of(p->json));
	buf_text(e->out, "}}");
	return r;
}

static int put_calls(struct encoder *e, const struct content *c)
{
	size_t i;
	int r = 0;

	if (!content_has(c, PART_CALL))
		return 0;
	jsonput_key(e->out, "tool_calls");
	buf_char(e->out, '[');
	for (i = 0; r == 0 && i < c->count; i++) {
		if (c->parts[i].kind == PART_CALL)
			r = put_call(e, &c->parts[i]);
	}
	buf_char(e->out, ']');
	return r;
}

/* Collect the words of the model; its media cannot be sent. */
static int take_model(struct encoder *e, const struct content *c, struct buf *thinking)
{
	size_t i;
	int r = 0;

	buf_clear(&e->text);
	for (i = 0; r == 0 && i < c->count; i++) {
		const struct part *p = &c->parts[i];

		if (p->kind == PART_CALL)
			continue;
		if (p->kind == PART_INLINE || p->kind == PART_RESPONSE)
			r = model_refuse_part(&e->at, p);
		else
			r = model_said_text(&e->at, p, p->thought ? thinking : &e->text);
	}
	if (r == 0 && (e->text.failed || thinking->failed))
		r = -ENOMEM;
	return r;
}

/* Write a message of the model; a message of thoughts only is left out. */
static int put_assistant(struct encoder *e, const struct content *c)
{
	CLEANUP(buf_release) struct buf thinking = { 0 };
	int r = take_model(e, c, &thinking);

	if (r < 0 || (!e->text.len && !content_has(c, PART_CALL)))
		return r;
	open_message(e, "assistant");
	jsonput_text(e->out, "content", buf_span(&e->text));
	if (thinking.len)
		jsonput_text(e->out, "thinking", buf_span(&thinking));
	r = put_calls(e, c);
	buf_char(e->out, '}');
	return r;
}

static int put_content(struct encoder *e, const struct content *c)
{
	int r;

	if (c->role && strcmp(c->role, "model") == 0)
		return put_assistant(e, c);
	r = put_results(e, c);
	return r < 0 ? r : put_user(e, c);
}

int ollama_messages(const struct question *q, struct buf *out, struct err *err)
{
	struct encoder e = { .at = { OLLAMA_NAME, 0, err }, .out = out };
	int r = 0;

	jsonput_key(out, "messages");
	buf_char(out, '[');
	if (q->system && *q->system) {
		open_message(&e, "system");
		jsonput_text(out, "content", span_of(q->system));
		buf_char(out, '}');
	}
	for (; r == 0 && e.at.message < q->count; e.at.message++)
		r = put_content(&e, q->contents[e.at.message]);
	buf_char(out, ']');
	buf_release(&e.text);
	buf_release(&e.images);
	return r;
}

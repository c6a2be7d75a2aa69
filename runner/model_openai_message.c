/*
 * The messages of a request for OpenAI chat completions: contents and their
 * parts, a row of a table for each type of inlineData and each kind of part.
 *
 * What the protocol has no place for is an error that names it, before
 * anything is sent. Thoughts are not sent back.
 */
#include "runner/model_openai.h"

#include "base/jsontext.h"
#include "runner/jsonput.h"
#include "runner/model_media.h"
#include "runner/model_pairs.h"

#include <errno.h>
#include <strings.h>

/* The messages while they are written. */
struct encoder {
	const struct model_request *rq;
	struct buf *out;
	struct model_pairs pairs;
	size_t message; /* index of the content at hand, for errors */
	struct err *err;
};

static int refuse(const struct encoder *e, const char *what, const char *detail)
{
	return err_set(e->err, -EINVAL, "message %zu: %s%s%.100s cannot be sent to openai",
		       e->message + 1, what, detail ? " " : "", detail ? detail : "");
}

static void open_message(struct encoder *e, const char *role)
{
	jsonput_item(e->out);
	buf_char(e->out, '{');
	jsonput_text(e->out, "role", span_of(role));
}

static int inline_image(struct encoder *e, const struct part *p)
{
	buf_text(e->out, "{\"type\":\"image_url\",\"image_url\":{");
	model_data_uri_put(e->out, "url", p);
	buf_text(e->out, "}}");
	return 0;
}

static int inline_file(struct encoder *e, const struct part *p)
{
	buf_text(e->out, "{\"type\":\"file\",\"file\":{");
	jsonput_text(e->out, "filename", span_of(p->name && *p->name ? p->name : "document.pdf"));
	model_data_uri_put(e->out, "file_data", p);
	buf_text(e->out, "}}");
	return 0;
}

static int put_audio(struct encoder *e, const struct part *p, const char *format)
{
	buf_text(e->out, "{\"type\":\"input_audio\",\"input_audio\":{\"data\":\"");
	model_base64_put(e->out, buf_span(&p->text));
	buf_printf(e->out, "\",\"format\":\"%s\"}}", format);
	return 0;
}

static int inline_wav(struct encoder *e, const struct part *p)
{
	return put_audio(e, p, "wav");
}

static int inline_mp3(struct encoder *e, const struct part *p)
{
	return put_audio(e, p, "mp3");
}

static void text_item(struct encoder *e, struct span text)
{
	buf_text(e->out, "{\"type\":\"text\"");
	jsonput_text(e->out, "text", text);
	buf_char(e->out, '}');
}

static int inline_text(struct encoder *e, const struct part *p)
{
	CLEANUP(buf_release) struct buf text = { 0 };
	int r = model_inline_text(p, &text);

	if (r == -EINVAL)
		return refuse(e, "inlineData that is no base64", p->mime);
	if (r == -EILSEQ)
		return refuse(e, "inlineData that is not UTF-8", p->mime);
	if (r == 0)
		text_item(e, buf_span(&text));
	return r;
}

/* Types of inlineData; a name that ends with '/' stands for all that begin so. */
static const struct inline_type {
	const char *mime;
	int (*put)(struct encoder *e, const struct part *p);
} inline_types[] = {
	{ "image/", inline_image },          { "application/pdf", inline_file },
	{ "audio/wav", inline_wav },         { "audio/x-wav", inline_wav },
	{ "audio/wave", inline_wav },        { "audio/mpeg", inline_mp3 },
	{ "audio/mp3", inline_mp3 },         { "text/", inline_text },
	{ "application/json", inline_text },
};

static int put_inline(struct encoder *e, const struct part *p)
{
	size_t i;

	if (!model_mime_is_plain(p->mime))
		return refuse(e, "inlineData without a proper mimeType", p->mime);
	for (i = 0; i < ARRAY_SIZE(inline_types); i++) {
		if (model_mime_is(p->mime, inline_types[i].mime))
			return inline_types[i].put(e, p);
	}
	return refuse(e, "inlineData", p->mime);
}

/* Only images have a place for an address. */
static int put_file(struct encoder *e, const struct part *p)
{
	if (!p->uri || strncasecmp(p->uri, "https://", 8) != 0)
		return refuse(e, "fileData that is no https address", p->uri);
	if (p->mime && !model_mime_is(p->mime, "image/"))
		return refuse(e, "fileData", p->mime);
	buf_text(e->out, "{\"type\":\"image_url\",\"image_url\":{");
	jsonput_text(e->out, "url", span_of(p->uri));
	buf_text(e->out, "}}");
	return 0;
}

static int put_text_item(struct encoder *e, const struct part *p)
{
	text_item(e, buf_span(&p->text));
	return 0;
}

static int refuse_other(struct encoder *e, const struct part *p)
{
	CLEANUP(buf_release) struct buf kind = { 0 };
	int r = model_part_kind(p, &kind);

	if (r < 0 || !buf_cstr(&kind))
		return r < 0 ? r : -ENOMEM;
	return refuse(e, "a part", kind.data);
}

static int put_other(struct encoder *e, const struct part *p)
{
	CLEANUP(buf_release) struct buf text = { 0 };
	struct span token;
	int r = model_part_text(p, &token);

	if (r == -ENOENT)
		return refuse_other(e, p);
	if (r == 0)
		r = json_unquote(token, &text);
	if (r == 0)
		text_item(e, buf_span(&text));
	return r;
}

static int refuse_call(struct encoder *e, const struct part *p)
{
	return refuse(e, "a functionCall of the user", p->name);
}

/* What each part of a user's message becomes; results were sent before it. */
static int (*const user_items[])(struct encoder *e, const struct part *p) = {
	[PART_TEXT] = put_text_item, [PART_CALL] = refuse_call, [PART_RESPONSE] = NULL,
	[PART_INLINE] = put_inline,  [PART_FILE] = put_file,    [PART_OTHER] = put_other,
};

/* Thoughts, results and empty texts are no part of a message. */
static bool is_said(const struct part *p)
{
	if (p->thought || p->kind == PART_RESPONSE)
		return false;
	return p->kind != PART_TEXT || p->text.len;
}

static size_t count_said(const struct content *c, const struct part **last)
{
	size_t n = 0;
	size_t i;

	for (i = 0; i < c->count; i++) {
		if (!is_said(&c->parts[i]))
			continue;
		*last = &c->parts[i];
		n++;
	}
	return n;
}

static int put_items(struct encoder *e, const struct content *c)
{
	size_t i;
	int r = 0;

	jsonput_key(e->out, "content");
	buf_char(e->out, '[');
	for (i = 0; r == 0 && i < c->count; i++) {
		if (!is_said(&c->parts[i]))
			continue;
		jsonput_item(e->out);
		r = user_items[c->parts[i].kind](e, &c->parts[i]);
	}
	buf_char(e->out, ']');
	return r;
}

/* Old servers know nothing but a string: a single text is one. */
static int put_user(struct encoder *e, const struct content *c)
{
	const struct part *last = NULL;
	size_t n = count_said(c, &last);
	int r = 0;

	if (!n)
		return 0;
	open_message(e, "user");
	if (n == 1 && last->kind == PART_TEXT)
		jsonput_text(e->out, "content", buf_span(&last->text));
	else
		r = put_items(e, c);
	buf_char(e->out, '}');
	return r;
}

static int put_result(struct encoder *e, const struct part *p)
{
	const struct model_pair *pair = model_pairs_answer(&e->pairs, p);

	if (!pair)
		return refuse(e, "a functionResponse without its functionCall:", p->name);
	open_message(e, "tool");
	jsonput_key(e->out, "tool_call_id");
	model_pair_put_id(pair, e->out);
	jsonput_text(e->out, "content", span_of(p->json));
	buf_char(e->out, '}');
	return 0;
}

/* Every result is a message of its own, before anything else that was said. */
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

static int put_call(struct encoder *e, const struct part *p)
{
	CLEANUP(buf_release) struct buf name = { 0 };
	const struct model_pair *pair;
	int r = model_name_encode(&openai_names, p->name, &name, e->err);

	if (r == 0)
		r = model_pairs_call(&e->pairs, p, &pair);
	if (r < 0)
		return r;
	jsonput_item(e->out);
	buf_text(e->out, "{\"id\":");
	model_pair_put_id(pair, e->out);
	buf_text(e->out, ",\"type\":\"function\",\"function\":{");
	jsonput_text(e->out, "name", buf_span(&name));
	jsonput_text(e->out, "arguments", span_of(p->json));
	buf_text(e->out, "}}");
	return 0;
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

/* The words of the model; media of its own have no place in this protocol. */
static int model_text(struct encoder *e, const struct content *c, struct buf *text)
{
	size_t i;
	int r = 0;

	for (i = 0; r == 0 && i < c->count; i++) {
		const struct part *p = &c->parts[i];
		struct span token;

		if (p->thought || p->kind == PART_CALL)
			continue;
		if (p->kind == PART_TEXT)
			buf_span_add(text, buf_span(&p->text));
		else if (p->kind == PART_OTHER && model_part_text(p, &token) == 0)
			r = json_unquote(token, text);
		else if (p->kind == PART_OTHER)
			r = refuse_other(e, p);
		else
			r = refuse(e, "a part of the model that is no text:", p->mime);
	}
	return r < 0 ? r : buf_check(text, NULL);
}

static int put_assistant(struct encoder *e, const struct content *c)
{
	CLEANUP(buf_release) struct buf text = { 0 };
	int r = model_text(e, c, &text);

	if (r < 0 || (!text.len && !content_has(c, PART_CALL)))
		return r;
	open_message(e, "assistant");
	if (text.len) {
		jsonput_text(e->out, "content", buf_span(&text));
	} else {
		jsonput_key(e->out, "content");
		buf_text(e->out, "null");
	}
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

int openai_messages(const struct model_request *rq, const char *system_role, struct buf *out,
		    struct err *err)
{
	struct encoder e = { .rq = rq, .out = out, .err = err };
	int r = 0;

	jsonput_key(out, "messages");
	buf_char(out, '[');
	if (rq->system && *rq->system) {
		open_message(&e, system_role);
		jsonput_text(out, "content", span_of(rq->system));
		buf_char(out, '}');
	}
	for (; r == 0 && e.message < rq->count; e.message++)
		r = put_content(&e, rq->contents[e.message]);
	buf_char(out, ']');
	model_pairs_release(&e.pairs);
	return r;
}

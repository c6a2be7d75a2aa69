/*
 * The messages of a request for OpenAI chat completions: contents and their
 * parts, a row of a table for each type of inlineData and each kind of part.
 *
 * What the protocol has no place for is an error that names it, before
 * anything is sent. Thoughts are not sent back.
 */
#include "runner/model_openai.h"

#include "base/jsontext.h"
#include "base/name.h"

#include <errno.h>
#include <strings.h>

/* A call of the conversation, so that results without an id find theirs. */
struct asked {
	const char *id; /* NULL: it has none and goes out as call_NUMBER */
	const char *name;
	size_t number;
	bool answered;
};

/* The messages while they are written. */
struct encoder {
	const struct model_request *rq;
	struct buf *out;
	struct buf asked; /* of struct asked */
	size_t message;   /* index of the content at hand, for errors */
	struct err *err;
};

static int refuse(const struct encoder *e, const char *what, const char *detail)
{
	return err_set(e->err, -EINVAL, "message %zu: %s%s%.100s cannot be sent to openai",
		       e->message + 1, what, detail ? " " : "", detail ? detail : "");
}

static void open_message(struct encoder *e, const char *role)
{
	openai_item(e->out);
	buf_char(e->out, '{');
	openai_text(e->out, "role", span_of(role));
}

/* Ours is URL-safe, theirs is not. */
static void put_base64(struct buf *out, struct span data)
{
	size_t from = out->len;
	size_t i;

	buf_span_add(out, data);
	for (i = from; i < out->len; i++) {
		if (out->data[i] == '-')
			out->data[i] = '+';
		else if (out->data[i] == '_')
			out->data[i] = '/';
	}
}

static void put_data_uri(struct buf *out, const char *name, const struct part *p)
{
	openai_key(out, name);
	buf_printf(out, "\"data:%.*s;base64,", (int)strcspn(p->mime, "; "), p->mime);
	put_base64(out, buf_span(&p->text));
	buf_char(out, '"');
}

static int inline_image(struct encoder *e, const struct part *p)
{
	buf_text(e->out, "{\"type\":\"image_url\",\"image_url\":{");
	put_data_uri(e->out, "url", p);
	buf_text(e->out, "}}");
	return 0;
}

static int inline_file(struct encoder *e, const struct part *p)
{
	buf_text(e->out, "{\"type\":\"file\",\"file\":{");
	openai_text(e->out, "filename", span_of(p->name && *p->name ? p->name : "document.pdf"));
	put_data_uri(e->out, "file_data", p);
	buf_text(e->out, "}}");
	return 0;
}

static int put_audio(struct encoder *e, const struct part *p, const char *format)
{
	buf_text(e->out, "{\"type\":\"input_audio\",\"input_audio\":{\"data\":\"");
	put_base64(e->out, buf_span(&p->text));
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
	openai_text(e->out, "text", text);
	buf_char(e->out, '}');
}

static int inline_text(struct encoder *e, const struct part *p)
{
	CLEANUP(buf_release) struct buf text = { 0 };
	int r = model_base64_decode(buf_span(&p->text), &text);

	if (r < 0)
		return r == -ENOMEM ? r : refuse(e, "inlineData that is no base64", p->mime);
	if (!name_is_utf8(buf_span(&text)))
		return refuse(e, "inlineData that is not UTF-8", p->mime);
	text_item(e, buf_span(&text));
	return 0;
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

/* Parameters behind a ';' do not count. */
static bool mime_is(const char *mime, const char *wanted)
{
	size_t n = strlen(wanted);

	if (strncasecmp(mime, wanted, n) != 0)
		return false;
	return wanted[n - 1] == '/' || mime[n] == 0 || mime[n] == ';' || mime[n] == ' ';
}

/* A type goes into a URI as it is, but for its parameters. */
static bool mime_is_plain(const char *mime)
{
	for (; *mime; mime++) {
		if (*mime < 0x20 || *mime > 0x7e || strchr("\"\\,<>", *mime))
			return false;
	}
	return true;
}

static int put_inline(struct encoder *e, const struct part *p)
{
	size_t i;

	if (!p->mime || !mime_is_plain(p->mime))
		return refuse(e, "inlineData without a proper mimeType", p->mime);
	for (i = 0; i < ARRAY_SIZE(inline_types); i++) {
		if (mime_is(p->mime, inline_types[i].mime))
			return inline_types[i].put(e, p);
	}
	return refuse(e, "inlineData", p->mime);
}

/* Only images have a place for an address. */
static int put_file(struct encoder *e, const struct part *p)
{
	if (!p->uri || strncasecmp(p->uri, "https://", 8) != 0)
		return refuse(e, "fileData that is no https address", p->uri);
	if (p->mime && !mime_is(p->mime, "image/"))
		return refuse(e, "fileData", p->mime);
	buf_text(e->out, "{\"type\":\"image_url\",\"image_url\":{");
	openai_text(e->out, "url", span_of(p->uri));
	buf_text(e->out, "}}");
	return 0;
}

static int put_text_item(struct encoder *e, const struct part *p)
{
	text_item(e, buf_span(&p->text));
	return 0;
}

static int note_kind(void *arg, struct span key, struct span value UNUSED)
{
	struct buf *kind = arg;

	if (!kind->len)
		buf_span_add(kind, key);
	return 0;
}

/* A text with more members than we look at, as the string token; else -ENOENT. */
static int other_text(const struct part *p, struct span *token)
{
	return json_member(span_of(p->json), "text", token);
}

static int refuse_other(struct encoder *e, const struct part *p)
{
	CLEANUP(buf_release) struct buf kind = { 0 };
	int r = json_each(span_of(p->json), note_kind, &kind);

	if (r < 0 || !buf_cstr(&kind))
		return r < 0 ? r : -ENOMEM;
	return refuse(e, "a part", kind.data);
}

static int put_other(struct encoder *e, const struct part *p)
{
	CLEANUP(buf_release) struct buf text = { 0 };
	struct span token;
	int r = other_text(p, &token);

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

	openai_key(e->out, "content");
	buf_char(e->out, '[');
	for (i = 0; r == 0 && i < c->count; i++) {
		if (!is_said(&c->parts[i]))
			continue;
		openai_item(e->out);
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
		openai_text(e->out, "content", buf_span(&last->text));
	else
		r = put_items(e, c);
	buf_char(e->out, '}');
	return r;
}

static struct asked *asked_list(const struct encoder *e, size_t *n)
{
	*n = e->asked.len / sizeof(struct asked);
	return (struct asked *)(void *)e->asked.data;
}

/* By id; without one the first open call of that name, else the first open one. */
static struct asked *asked_find(const struct encoder *e, const struct part *p)
{
	struct asked *other = NULL;
	struct asked *list;
	size_t n;
	size_t i;

	list = asked_list(e, &n);
	for (i = 0; i < n; i++) {
		struct asked *a = &list[i];

		if (a->answered)
			continue;
		if (p->id && a->id ? strcmp(p->id, a->id) == 0 : strcmp(p->name, a->name) == 0)
			return a;
		if (!other)
			other = a;
	}
	return p->id ? NULL : other;
}

static void put_id(struct buf *out, const char *name, const struct asked *a)
{
	openai_key(out, name);
	if (a->id)
		json_quote_lossy(out, span_of(a->id));
	else
		buf_printf(out, "\"call_%zu\"", a->number);
}

static int put_result(struct encoder *e, const struct part *p)
{
	struct asked *a = asked_find(e, p);

	if (!a)
		return refuse(e, "a functionResponse without its functionCall:", p->name);
	a->answered = true;
	open_message(e, "tool");
	put_id(e->out, "tool_call_id", a);
	openai_text(e->out, "content", span_of(p->json));
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
	struct asked a = { p->id && *p->id ? p->id : NULL, p->name, 0, false };
	int r = openai_name_encode(p->name, &name, e->err);

	if (r < 0)
		return r;
	(void)asked_list(e, &a.number);
	buf_add(&e->asked, &a, sizeof a);
	openai_item(e->out);
	buf_char(e->out, '{');
	put_id(e->out, "id", &a);
	buf_text(e->out, ",\"type\":\"function\",\"function\":{");
	openai_text(e->out, "name", buf_span(&name));
	openai_text(e->out, "arguments", span_of(p->json));
	buf_text(e->out, "}}");
	return buf_check(&e->asked, NULL);
}

static int put_calls(struct encoder *e, const struct content *c)
{
	size_t i;
	int r = 0;

	if (!content_has(c, PART_CALL))
		return 0;
	openai_key(e->out, "tool_calls");
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
		else if (p->kind == PART_OTHER && other_text(p, &token) == 0)
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
		openai_text(e->out, "content", buf_span(&text));
	} else {
		openai_key(e->out, "content");
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

	openai_key(out, "messages");
	buf_char(out, '[');
	if (rq->system && *rq->system) {
		open_message(&e, system_role);
		openai_text(out, "content", span_of(rq->system));
		buf_char(out, '}');
	}
	for (; r == 0 && e.message < rq->count; e.message++)
		r = put_content(&e, rq->contents[e.message]);
	buf_char(out, ']');
	buf_release(&e.asked);
	return r;
}

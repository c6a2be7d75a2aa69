/*
 * The contents of a request for Gemini. They have ADK's own form, except for ids that we
 * made up, the names of functions, and members that one of the two services lacks.
 *
 * A part that cannot be sent is an error before anything is sent.
 */
#include "runner/provider/gemini/gemini.h"

#include "base/json_text.h"
#include "runner/syntax/json_put.h"
#include "runner/wire/media.h"
#include "runner/wire/pairs.h"
#include "runner/wire/refuse.h"
#include "store/json/base64.h"

#include <errno.h>

/*
 * The signature of calls that no Gemini model made: base64 of
 * "skip_thought_signature_validator", as in Google's documentation.
 */
#define SIGNATURE_OF_OTHERS "c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I="

/* The user's last words, since a request must end with the user, as in ADK. */
#define NOTHING_SAID "Do what the system instruction says."
#define GO_ON        "Go on as you were instructed, or end if nothing is left to do."

static int refuse(const struct gemini_encoder *e, const char *what, const char *detail)
{
	const struct model_place at = { e->q->provider->name, e->message, e->err };

	return model_refuse(&at, what, detail);
}

static int put_name(const struct gemini_encoder *e, const char *name)
{
	CLEANUP(buf_release) struct buf wire = { 0 };
	int r = model_name_encode_past(&gemini_names, name, &wire, e->err);

	if (r == 0)
		jsonput_text(e->out, "name", buf_span(&wire));
	return r;
}

static int put_text(const struct gemini_encoder *e, const struct part *p)
{
	jsonput_text(e->out, "text", buf_span(&p->text));
	return 0;
}

/* Write a call or a result, whose value is JSON text already. */
static int put_function(const struct gemini_encoder *e, const struct part *p, const char *kind,
			const char *value)
{
	int r;

	jsonput_key(e->out, kind);
	buf_char(e->out, '{');
	if (model_foreign_id(p->id))
		jsonput_text(e->out, "id", span_of(p->id));
	r = put_name(e, p->name);
	jsonput_raw(e->out, value, span_of(p->json));
	buf_char(e->out, '}');
	return r;
}

static int put_call(const struct gemini_encoder *e, const struct part *p)
{
	return put_function(e, p, "functionCall", "args");
}

static int put_whole(const struct gemini_encoder *e, struct span json);

static int put_response(const struct gemini_encoder *e, const struct part *p)
{
	if (p->more)
		return put_whole(e, span_of(p->more));
	return put_function(e, p, "functionResponse", "response");
}

/* Types of inlineData; a name that ends with '/' means all types that begin with it. */
static const struct inline_type {
	const char *mime;
	const char
		*instead; /* sent instead of a type that the service does not know; NULL: itself */
} inline_types[] = {
	{ "image/", NULL },
	{ "audio/", NULL },
	{ "video/", NULL },
	{ "text/", NULL },
	{ "application/pdf", NULL },
	{ "application/json", "text/plain" },
	{ "application/xml", "text/plain" },
	{ "application/csv", "text/plain" },
	{ "application/yaml", "text/plain" },
	{ "application/javascript", "text/plain" },
};

static const struct inline_type *find_type(const char *mime)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(inline_types); i++) {
		if (model_mime_is(mime, inline_types[i].mime))
			return &inline_types[i];
	}
	return NULL;
}

/* Only Vertex AI takes the name of a file. */
static void put_display_name(const struct gemini_encoder *e, const struct part *p)
{
	if (e->service->vertex && p->name && *p->name)
		jsonput_text(e->out, "displayName", span_of(p->name));
}

static int put_inline(const struct gemini_encoder *e, const struct part *p)
{
	const struct inline_type *type;

	if (!model_mime_is_plain(p->mime))
		return refuse(e, "inlineData without a valid mimeType", p->mime);
	type = find_type(p->mime);
	if (!type)
		return refuse(e, "inlineData", p->mime);
	jsonput_key(e->out, "inlineData");
	buf_char(e->out, '{');
	jsonput_text(e->out, "mimeType", span_of(type->instead ? type->instead : p->mime));
	put_display_name(e, p);
	jsonput_key(e->out, "data");
	buf_char(e->out, '"');
	base64_put_standard(e->out, buf_span(&p->text));
	buf_text(e->out, "\"}");
	return 0;
}

static int put_file(const struct gemini_encoder *e, const struct part *p)
{
	if (!p->uri || !*p->uri)
		return refuse(e, "fileData without a fileUri", NULL);
	jsonput_key(e->out, "fileData");
	buf_char(e->out, '{');
	if (p->mime)
		jsonput_text(e->out, "mimeType", span_of(p->mime));
	put_display_name(e, p);
	jsonput_text(e->out, "fileUri", span_of(p->uri));
	buf_char(e->out, '}');
	return 0;
}

/* Parts of other kinds, and parts with more members than struct part has */

struct other {
	const struct gemini_encoder *e;
	size_t data; /* number of members that are data */
	bool function;
};

static int put_member(const struct other *o, struct span key, struct span value)
{
	CLEANUP(buf_release) struct buf name = { 0 };

	buf_span_add(&name, key);
	if (!buf_cstr(&name))
		return -ENOMEM;
	jsonput_raw(o->e->out, name.data, value);
	return 0;
}

/* Members of functionCall, functionResponse, inlineData and fileData. */
static int put_inner(void *arg, struct span key, struct span value)
{
	const struct other *o = arg;
	CLEANUP(buf_release) struct buf text = { 0 };
	int r;

	if (!o->function && span_is(key, "displayName") && !o->e->service->vertex)
		return 0;
	if (!o->function || (!span_is(key, "id") && !span_is(key, "name")))
		return put_member(o, key, value);
	r = json_unquote(value, &text);
	if (r < 0 || !buf_cstr(&text))
		return r < 0 ? r : -ENOMEM;
	if (span_is(key, "name"))
		return put_name(o->e, text.data);
	if (model_foreign_id(text.data))
		jsonput_text(o->e->out, "id", buf_span(&text));
	return 0;
}

enum where { EVERYWHERE, ELSE_REFUSED, ELSE_DROPPED }; /* on Vertex AI */

static const struct member {
	const char *name;
	bool data;
	bool inner; /* its members are checked one by one */
	enum where where;
} members[] = {
	{ "text", true, false, EVERYWHERE },
	{ "functionCall", true, true, EVERYWHERE },
	{ "functionResponse", true, true, EVERYWHERE },
	{ "inlineData", true, true, EVERYWHERE },
	{ "fileData", true, true, EVERYWHERE },
	{ "executableCode", true, false, EVERYWHERE },
	{ "codeExecutionResult", true, false, EVERYWHERE },
	{ "toolCall", true, false, ELSE_REFUSED },
	{ "toolResponse", true, false, ELSE_REFUSED },
	{ "partMetadata", false, false, ELSE_DROPPED },
};

static const struct member *find_member(struct span name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(members); i++) {
		if (span_is(name, members[i].name))
			return &members[i];
	}
	return NULL;
}

static int put_outer(void *arg, struct span key, struct span value)
{
	struct other *o = arg;
	const struct member *m = find_member(key);
	int r;

	if (m && m->where == ELSE_REFUSED && o->e->service->vertex)
		return refuse(o->e, "a part", m->name);
	if (m && m->where == ELSE_DROPPED && o->e->service->vertex)
		return 0;
	o->data += m && m->data;
	if (!m || !m->inner)
		return put_member(o, key, value);
	o->function = strncmp(m->name, "function", 8) == 0;
	jsonput_key(o->e->out, m->name);
	buf_char(o->e->out, '{');
	r = json_each(value, put_inner, o);
	buf_char(o->e->out, '}');
	return r;
}

/* Write a part from its JSON, since struct part lacks some of its members. */
static int put_whole(const struct gemini_encoder *e, struct span json)
{
	struct other other = { .e = e };
	int r = json_each(json, put_outer, &other);

	if (r < 0 || other.data == 1)
		return r;
	return refuse(e, other.data ? "a part with several kinds of data" : "a part without data",
		      NULL);
}

static int put_other(const struct gemini_encoder *e, const struct part *p)
{
	return put_whole(e, span_of(p->json));
}

static int (*const kinds[])(const struct gemini_encoder *e, const struct part *p) = {
	[PART_TEXT] = put_text,     [PART_CALL] = put_call, [PART_RESPONSE] = put_response,
	[PART_INLINE] = put_inline, [PART_FILE] = put_file, [PART_OTHER] = put_other,
};

/* An empty text is sent only for its signature: Vertex AI refuses other empty texts. */
static bool is_said(const struct part *p)
{
	return p->kind != PART_TEXT || p->text.len || p->signature;
}

static void put_signature(const struct gemini_encoder *e, const char *base64)
{
	jsonput_key(e->out, "thoughtSignature");
	buf_char(e->out, '"');
	base64_put_standard(e->out, span_of(base64));
	buf_char(e->out, '"');
}

/* first: the part is the first call of its content, whose signature counts for all calls. */
static int put_part(const struct gemini_encoder *e, const struct part *p, bool first)
{
	int r;

	jsonput_item(e->out);
	buf_char(e->out, '{');
	r = kinds[p->kind](e, p);
	if (p->kind != PART_OTHER && !p->more && p->thought)
		jsonput_raw(e->out, "thought", SPAN("true"));
	if (p->signature)
		put_signature(e, p->signature);
	else if (first && e->signs)
		put_signature(e, SIGNATURE_OF_OTHERS);
	buf_char(e->out, '}');
	return r;
}

static bool is_of_model(const struct content *c)
{
	return c->role && strcmp(c->role, "model") == 0;
}

/* Every role except "model" is sent as the user, tools too. */
static int put_content(const struct gemini_encoder *e, const struct content *c)
{
	bool model = is_of_model(c);
	size_t calls = 0;
	size_t i;
	int r = 0;

	jsonput_item(e->out);
	buf_char(e->out, '{');
	jsonput_text(e->out, "role", model ? SPAN("model") : SPAN("user"));
	jsonput_key(e->out, "parts");
	buf_char(e->out, '[');
	for (i = 0; r == 0 && i < c->count; i++) {
		const struct part *p = &c->parts[i];

		if (is_said(p))
			r = put_part(e, p, p->kind == PART_CALL && !calls++);
	}
	buf_text(e->out, "]}");
	return r;
}

static bool says_something(const struct content *c)
{
	size_t i = 0;

	while (i < c->count && !is_said(&c->parts[i]))
		i++;
	return i < c->count;
}

/* Add a message of the user if the last content is the agent's own. */
static int put_request(const struct gemini_encoder *e, const struct content *last)
{
	CLEANUP(content_free_p) struct content *c = NULL;
	int r;

	if (last && !is_of_model(last))
		return 0;
	c = content_new("user");
	r = c ? content_add_text(c, last ? SPAN(GO_ON) : SPAN(NOTHING_SAID), false) : -ENOMEM;
	return r < 0 ? r : put_content(e, c);
}

int gemini_contents(struct gemini_encoder *e)
{
	const struct content *last = NULL;
	int r = 0;

	jsonput_key(e->out, "contents");
	buf_char(e->out, '[');
	for (; r == 0 && e->message < e->q->count; e->message++) {
		if (!says_something(e->q->contents[e->message]))
			continue;
		last = e->q->contents[e->message];
		r = put_content(e, last);
	}
	if (r == 0)
		r = put_request(e, last);
	buf_char(e->out, ']');
	return r;
}

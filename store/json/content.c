/*
 * Content: see content.h. The tables of its JSON are in content_shape.c.
 */
#include "store/json/content.h"

#include <errno.h>
#include <stdlib.h>

struct content *content_new(const char *role)
{
	struct content *content = calloc(1, sizeof *content);

	if (!content)
		return NULL;
	content->role = role ? strdup(role) : NULL;
	if (role && !content->role) {
		free(content);
		return NULL;
	}
	return content;
}

void part_release(struct part *p)
{
	buf_release(&p->text);
	free(p->id);
	free(p->name);
	free(p->mime);
	free(p->uri);
	free(p->signature);
	free(p->json);
	free(p->more);
	*p = (struct part){ .kind = PART_TEXT };
}

static bool copy_text(const char *from, char **to)
{
	*to = from ? strdup(from) : NULL;
	return *to || !from;
}

int part_copy(struct part *to, const struct part *from)
{
	bool done = true;

	*to = (struct part){ .kind = from->kind, .thought = from->thought };
	buf_span_add(&to->text, buf_span(&from->text));
	done &= copy_text(from->id, &to->id);
	done &= copy_text(from->name, &to->name);
	done &= copy_text(from->mime, &to->mime);
	done &= copy_text(from->uri, &to->uri);
	done &= copy_text(from->signature, &to->signature);
	done &= copy_text(from->json, &to->json);
	done &= copy_text(from->more, &to->more);
	return done && !to->text.failed ? 0 : -ENOMEM;
}

struct content *content_ref(struct content *content)
{
	atomic_fetch_add(&content->others, 1);
	return content;
}

void content_free(struct content *content)
{
	size_t i;

	if (!content || atomic_fetch_sub(&content->others, 1) > 0)
		return;
	for (i = 0; i < content->count; i++)
		part_release(&content->parts[i]);
	free(content->parts);
	free(content->role);
	free(content);
}

struct part *content_add(struct content *content, enum part_kind kind)
{
	size_t n = content->count;
	struct part *parts;

	/* Grow by doubling: at every power of two. */
	if (!(n & (n - 1))) {
		parts = realloc(content->parts, (n ? n * 2 : 1) * sizeof *parts);
		if (!parts)
			return NULL;
		content->parts = parts;
	}
	content->parts[n] = (struct part){ .kind = kind };
	content->count++;
	return &content->parts[n];
}

int content_add_text(struct content *content, struct span text, bool thought)
{
	struct part *last = content->count ? &content->parts[content->count - 1] : NULL;

	if (!last || last->kind != PART_TEXT || last->thought != thought || last->signature) {
		last = content_add(content, PART_TEXT);
		if (!last)
			return -ENOMEM;
		last->thought = thought;
	}
	buf_span_add(&last->text, text);
	return buf_check(&last->text, NULL);
}

int content_add_function(struct content *content, enum part_kind kind, const char *id,
			 const char *name, struct span json)
{
	struct part *p = content_add(content, kind);

	if (!p)
		return -ENOMEM;
	p->id = id ? strdup(id) : NULL;
	p->name = strdup(name);
	p->json = span_dup(json);
	return p->name && p->json && (p->id || !id) ? 0 : -ENOMEM;
}

/* Decode a string token into a new C string, which ends at a NUL in the token. */
static int take_token(struct span token, char **out)
{
	CLEANUP(buf_release) struct buf text = { 0 };
	int r = json_unquote(token, &text);

	if (r < 0)
		return r;
	*out = span_dup(buf_span(&text));
	return *out ? 0 : -ENOMEM;
}

/* Copy the string of a member, which may be absent. */
static int take_text(struct span object, const char *name, char **out)
{
	struct span token;
	int r = json_member(object, name, &token);

	if (r == -ENOENT)
		return 0;
	return r < 0 ? r : take_token(token, out);
}

static int take_json(struct span object, const char *name, char **out)
{
	struct span token = SPAN("{}");
	int r = json_member(object, name, &token);

	if (r < 0 && r != -ENOENT)
		return r;
	*out = span_dup(token);
	return *out ? 0 : -ENOMEM;
}

static int fill_function(struct part *p, struct span object, const char *json_name)
{
	int r = take_text(object, "id", &p->id);

	if (r == 0)
		r = take_text(object, "name", &p->name);
	if (r == 0)
		r = take_json(object, json_name, &p->json);
	if (r == 0 && !p->name)
		p->name = strdup("");
	return r < 0 ? r : p->name ? 0 : -ENOMEM;
}

static int fill_inline(struct part *p, struct span object)
{
	struct span data = SPAN("\"\"");
	int r = json_member(object, "data", &data);

	if (r == 0 || r == -ENOENT)
		r = json_unquote(data, &p->text);
	if (r == 0)
		r = take_text(object, "mimeType", &p->mime);
	return r < 0 ? r : take_text(object, "displayName", &p->name);
}

static int fill_file(struct part *p, struct span object)
{
	int r = take_text(object, "fileUri", &p->uri);

	if (r == 0)
		r = take_text(object, "mimeType", &p->mime);
	return r < 0 ? r : take_text(object, "displayName", &p->name);
}

/* Members of a canonical part that we have a field for. */
struct part_scan {
	struct span call, response, inline_data, file, text, signature;
	bool thought, other;
	unsigned data; /* how many data members */
};

static int note_member(void *arg, struct span key, struct span value)
{
	struct part_scan *scan = arg;

	if (span_is(key, "thought"))
		scan->thought = span_is(value, "true");
	else if (span_is(key, "thoughtSignature"))
		scan->signature = value;
	else if (span_is(key, "functionCall"))
		scan->call = value, scan->data++;
	else if (span_is(key, "functionResponse"))
		scan->response = value, scan->data++;
	else if (span_is(key, "inlineData"))
		scan->inline_data = value, scan->data++;
	else if (span_is(key, "fileData"))
		scan->file = value, scan->data++;
	else if (span_is(key, "text"))
		scan->text = value, scan->data++;
	else
		scan->other = true;
	return 0;
}

static int only_known(void *arg, struct span key, struct span value)
{
	const char *json_name = arg;

	(void)value;
	return !span_is(key, "id") && !span_is(key, "name") && !span_is(key, json_name);
}

/* Whether a call or a response has members that struct part has no field for. */
static bool has_more(struct span object, const char *json_name)
{
	return object.data && json_each(object, only_known, (void *)json_name) != 0;
}

/* A part with a response is always a PART_RESPONSE, even with other members, such as media. */
static int fill_response(struct part *p, const struct part_scan *scan, struct span object)
{
	int r = fill_function(p, scan->response, "response");

	p->kind = PART_RESPONSE;
	if (r == 0 && (scan->other || has_more(scan->response, "response"))) {
		p->more = span_dup(object);
		return p->more ? 0 : -ENOMEM;
	}
	return r == 0 && scan->signature.len ? take_token(scan->signature, &p->signature) : r;
}

/* Add a canonical part. A part with members that have no field becomes PART_OTHER. */
static int add_part(struct content *content, struct span object)
{
	struct part_scan scan = { 0 };
	struct part *p = content_add(content, PART_OTHER);
	int r;

	if (!p)
		return -ENOMEM;
	r = json_each(object, note_member, &scan);
	if (r < 0)
		return r;
	p->thought = scan.thought;
	if (scan.response.data && scan.data == 1)
		return fill_response(p, &scan, object);
	if (scan.other || scan.data != 1 || has_more(scan.call, "args")) {
		p->json = span_dup(object);
		return p->json ? 0 : -ENOMEM;
	}
	r = scan.signature.len ? take_token(scan.signature, &p->signature) : 0;
	if (r < 0)
		return r;
	if (scan.call.data) {
		p->kind = PART_CALL;
		return fill_function(p, scan.call, "args");
	}
	if (scan.inline_data.data) {
		p->kind = PART_INLINE;
		return fill_inline(p, scan.inline_data);
	}
	if (scan.file.data) {
		p->kind = PART_FILE;
		return fill_file(p, scan.file);
	}
	p->kind = PART_TEXT;
	return json_unquote(scan.text, &p->text);
}

/* The members of a canonical content; len 0: absent. */
struct content_scan {
	struct span role, parts;
};

static int note_content(void *arg, struct span key, struct span value)
{
	struct content_scan *scan = arg;

	if (span_is(key, "role"))
		scan->role = value;
	else if (span_is(key, "parts"))
		scan->parts = value;
	return 0;
}

static int from_canonical(struct span text, struct content *content)
{
	struct content_scan scan = { 0 };
	struct json_scan s;
	bool first = true;
	int r = json_each(text, note_content, &scan);

	if (r == 0 && scan.role.len)
		r = take_token(scan.role, &content->role);
	if (r < 0 || !scan.parts.len)
		return r;
	s = json_scan_of(scan.parts, JSON_DEPTH_MAX, NULL);
	r = json_open(&s, '[');
	while (r >= 0 && (r = json_item(&s, &first)) == 1) {
		struct span object;

		r = json_raw(&s, &object);
		if (r == 0)
			r = add_part(content, object);
	}
	return r;
}

int content_from_json(struct span text, struct content **out, struct err *err)
{
	CLEANUP(buf_release) struct buf canonical = { 0 };
	CLEANUP(content_free_p) struct content *content = content_new(NULL);
	int r;

	if (!content)
		return err_nomem(err);
	r = shape_canonical_text(text, &content_shape, &canonical, err);
	if (r < 0)
		return r;
	r = from_canonical(buf_span(&canonical), content);
	if (r < 0)
		return err_set(err, r, "the content cannot be read");
	*out = STEAL(&content);
	return 0;
}

int content_from_stored(struct span canonical, struct content **out)
{
	CLEANUP(content_free_p) struct content *content = content_new(NULL);
	int r = content ? from_canonical(canonical, content) : -ENOMEM;

	if (r == 0)
		*out = STEAL(&content);
	return r;
}

struct content *content_copy(const struct content *content)
{
	CLEANUP(content_free_p) struct content *copy = content_new(content->role);
	size_t i;

	for (i = 0; copy && i < content->count; i++) {
		struct part *p = content_add(copy, PART_TEXT);

		if (!p || part_copy(p, &content->parts[i]) < 0)
			return NULL;
	}
	return STEAL(&copy);
}

static void put_member(struct buf *out, const char *name, const char *value)
{
	if (!value)
		return;
	if (out->data[out->len - 1] != '{')
		buf_char(out, ',');
	buf_printf(out, "\"%s\":", name);
	json_quote(out, span_of(value));
}

static void put_json(struct buf *out, const char *name, const char *json)
{
	if (out->data[out->len - 1] != '{')
		buf_char(out, ',');
	buf_printf(out, "\"%s\":%s", name, json);
}

static void part_to_json(const struct part *p, struct buf *out)
{
	if (p->kind == PART_OTHER || p->more) {
		buf_text(out, p->more ? p->more : p->json ? p->json : "{}");
		return;
	}
	buf_char(out, '{');
	if (!buf_reserve(out, 1))
		return;
	switch (p->kind) {
	case PART_TEXT:
		buf_text(out, "\"text\":");
		json_quote(out, buf_span(&p->text));
		break;
	case PART_CALL:
		buf_text(out, "\"functionCall\":{");
		put_member(out, "id", p->id);
		put_json(out, "args", p->json);
		put_member(out, "name", p->name);
		buf_char(out, '}');
		break;
	case PART_RESPONSE:
		buf_text(out, "\"functionResponse\":{");
		put_member(out, "id", p->id);
		put_member(out, "name", p->name);
		put_json(out, "response", p->json);
		buf_char(out, '}');
		break;
	case PART_INLINE:
		buf_text(out, "\"inlineData\":{\"data\":");
		json_quote(out, buf_span(&p->text));
		put_member(out, "displayName", p->name);
		put_member(out, "mimeType", p->mime);
		buf_char(out, '}');
		break;
	case PART_FILE:
		buf_text(out, "\"fileData\":{");
		put_member(out, "displayName", p->name);
		put_member(out, "fileUri", p->uri);
		put_member(out, "mimeType", p->mime);
		buf_char(out, '}');
		break;
	case PART_OTHER:
		break;
	}
	if (p->thought)
		buf_text(out, ",\"thought\":true");
	put_member(out, "thoughtSignature", p->signature);
	buf_char(out, '}');
}

void content_to_json(const struct content *content, struct buf *out)
{
	size_t i;

	buf_text(out, "{\"parts\":[");
	for (i = 0; i < content->count && !out->failed; i++) {
		if (i)
			buf_char(out, ',');
		part_to_json(&content->parts[i], out);
	}
	buf_char(out, ']');
	if (!out->failed)
		put_member(out, "role", content->role);
	buf_char(out, '}');
}

void content_text(const struct content *content, struct buf *out)
{
	size_t i;

	for (i = 0; i < content->count; i++) {
		if (content->parts[i].kind == PART_TEXT && !content->parts[i].thought)
			buf_span_add(out, buf_span(&content->parts[i].text));
	}
}

bool content_is_empty(const struct content *content)
{
	size_t i;

	for (i = 0; i < content->count; i++) {
		const struct part *p = &content->parts[i];

		if (p->kind != PART_TEXT || p->text.len || p->signature)
			return false;
	}
	return true;
}

bool content_has(const struct content *content, enum part_kind kind)
{
	size_t i;

	for (i = 0; i < content->count; i++) {
		if (content->parts[i].kind == kind)
			return true;
	}
	return false;
}

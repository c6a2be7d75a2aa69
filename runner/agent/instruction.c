/*
 * Instructions: see instruction.h.
 *
 * A placeholder matches {+[^{}]*}+. Its name is the inside without the blanks around
 * it. A placeholder whose name is no key and no artifact stays as written.
 */
#include "runner/agent/instruction.h"

#include "base/json_text.h"
#include "store/json/state_key.h"

#include <ctype.h>
#include <errno.h>

#define ARTIFACT_PREFIX "artifact."

struct rendering {
	const struct instruction_source *source;
	struct buf *out;
	struct err *err;
};

struct placeholder {
	struct span name;
	bool optional;
};

static struct span trim_blanks(struct span s)
{
	while (s.len && isspace((unsigned char)s.data[0]))
		s = span_sub(s, 1, s.len);
	while (s.len && isspace((unsigned char)s.data[s.len - 1]))
		s.len--;
	return s;
}

static struct placeholder placeholder_of(struct span inside)
{
	struct placeholder p = { .name = trim_blanks(inside) };

	if (p.name.len && p.name.data[p.name.len - 1] == '?') {
		p.optional = true;
		p.name.len--;
	}
	return p;
}

/* Letters of other scripts are bytes from 0x80 on. */
static bool is_letter(char c)
{
	return (unsigned char)c >= 0x80 || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       c == '_';
}

bool instruction_is_identifier(struct span text)
{
	size_t i;

	if (!text.len || !is_letter(text.data[0]))
		return false;
	for (i = 1; i < text.len; i++) {
		if (!is_letter(text.data[i]) && !(text.data[i] >= '0' && text.data[i] <= '9'))
			return false;
	}
	return true;
}

/* A key of the session, or of another scope after the prefix of that scope. */
static bool is_key(struct span name)
{
	struct span bare;

	(void)statekey_scope(name, &bare);
	return instruction_is_identifier(bare);
}

static bool is_artifact(struct span name)
{
	return name.len >= strlen(ARTIFACT_PREFIX) &&
	       !memcmp(name.data, ARTIFACT_PREFIX, strlen(ARTIFACT_PREFIX));
}

/* A string as it is, null as nothing, everything else as its JSON. */
static int put_value(struct rendering *r, struct span json)
{
	if (span_is(json, "null"))
		return 0;
	if (json.len && json.data[0] == '"')
		return json_unquote(json, r->out);
	buf_span_add(r->out, json);
	return 0;
}

static int put_state(struct rendering *r, const struct placeholder *p)
{
	CLEANUP(buf_release) struct buf json = { 0 };
	int e = r->source->state(r->source->arg, p->name, &json, r->err);

	if (e == -ENOENT && p->optional)
		return 0;
	if (e == -ENOENT)
		return err_set(r->err, -EINVAL, "Context variable not found: `%.*s`.",
			       (int)MIN(p->name.len, 200), p->name.data);
	return e < 0 ? e : put_value(r, buf_span(&json));
}

static int put_artifact(struct rendering *r, const struct placeholder *p)
{
	CLEANUP(buf_release) struct buf text = { 0 };
	struct span name = span_sub(p->name, strlen(ARTIFACT_PREFIX), p->name.len);
	int e = -ENOENT;

	if (name.len)
		e = r->source->artifact(r->source->arg, name, &text, r->err);
	if ((e == -ENOENT || e == -EILSEQ) && p->optional)
		return 0;
	if (e == -ENOENT || e == -EILSEQ)
		return err_set(r->err, -EINVAL, "Artifact '%.*s' %s.", (int)MIN(name.len, 200),
			       name.data, e == -ENOENT ? "not found" : "is not text");
	buf_span_add(r->out, buf_span(&text));
	return e < 0 ? e : buf_check(&text, r->err);
}

static int put_placeholder(struct rendering *r, struct span whole, struct span inside)
{
	struct placeholder p = placeholder_of(inside);

	if (is_artifact(p.name))
		return put_artifact(r, &p);
	if (is_key(p.name))
		return put_state(r, &p);
	buf_span_add(r->out, whole);
	return 0;
}

static size_t skip_char(struct span text, size_t at, char c)
{
	while (at < text.len && text.data[at] == c)
		at++;
	return at;
}

static size_t skip_inside(struct span text, size_t at)
{
	while (at < text.len && text.data[at] != '{' && text.data[at] != '}')
		at++;
	return at;
}

static int render_text(struct rendering *r, struct span text)
{
	size_t at = 0;
	int e = 0;

	while (at < text.len && e == 0) {
		size_t inside = skip_char(text, at, '{');
		size_t close = skip_inside(text, inside);
		size_t end = skip_char(text, close, '}');

		if (inside > at && end > close) {
			e = put_placeholder(r, span_sub(text, at, end),
					    span_sub(text, inside, close));
		} else {
			/* plain text, or braces that nothing closes: go on at the next brace */
			end = MAX(close, at + 1);
			buf_span_add(r->out, span_sub(text, at, end));
		}
		at = end;
	}
	return e < 0 ? e : buf_check(r->out, r->err);
}

int instruction_render(struct span text, const struct instruction_source *source, struct buf *out,
		       struct err *err)
{
	struct rendering r = { .source = source, .out = out, .err = err };
	size_t before = out->len;
	int e = render_text(&r, text);

	if (e < 0)
		out->len = before;
	return e;
}

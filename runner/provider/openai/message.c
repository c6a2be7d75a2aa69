/*
 * The messages of a request for OpenAI chat completions.
 *
 * A part that the protocol has no place for is an error before anything is sent.
 * Thoughts go back only to services that want them.
 */
#include "runner/provider/openai/openai.h"

#include "runner/syntax/json_put.h"
#include "runner/wire/media.h"
#include "store/json/base64.h"

#include <ctype.h>
#include <errno.h>

static size_t count_said(const struct content *c, const struct part **last)
{
	size_t n = 0;
	size_t i;

	for (i = 0; i < c->count; i++) {
		if (!model_is_said(&c->parts[i]))
			continue;
		*last = &c->parts[i];
		n++;
	}
	return n;
}

static int put_items(struct openai_messages *m, const struct content *c)
{
	size_t i;
	int r = 0;

	jsonput_key(m->out, "content");
	buf_char(m->out, '[');
	for (i = 0; r == 0 && i < c->count; i++) {
		if (model_is_said(&c->parts[i]))
			r = openai_put_item(m, &c->parts[i]);
	}
	buf_char(m->out, ']');
	return r;
}

/* A single text is sent as a string: old servers know no other form. */
static int put_user(struct openai_messages *m, const struct content *c)
{
	const struct part *last = NULL;
	size_t n = count_said(c, &last);
	int r = 0;

	if (!n)
		return 0;
	openai_put_files(m);
	openai_open_message(m, "user");
	if (n == 1 && last->kind == PART_TEXT)
		jsonput_text(m->out, "content", buf_span(&last->text));
	else
		r = put_items(m, c);
	buf_char(m->out, '}');
	return r;
}

/* Whether a text can be a signature of Google: these are base64 text. */
static bool is_signature(struct span text)
{
	size_t i;

	for (i = 0; i < text.len; i++) {
		if (!isalnum((unsigned char)text.data[i]) && !memchr("+/-_=", text.data[i], 5))
			return false;
	}
	return text.len > 0;
}

/* Append the signature that reply.c kept, unchanged. */
static int put_signature(struct openai_messages *m, const struct part *p)
{
	CLEANUP(buf_release) struct buf text = { 0 };
	int r;

	if (!p->signature || !(m->way->quirks & OPENAI_SIGNATURES))
		return 0;
	r = base64_decode(span_of(p->signature), &text);
	if (r == -ENOMEM || !is_signature(buf_span(&text)))
		return r == -ENOMEM ? r : 0;
	jsonput_key(m->out, "extra_content");
	buf_text(m->out, "{\"google\":{");
	jsonput_text(m->out, "thought_signature", buf_span(&text));
	buf_text(m->out, "}}");
	return 0;
}

/* Append the signature of the message itself: the last one that is not on a call. */
static int put_own_signature(struct openai_messages *m, const struct content *c)
{
	size_t i;

	for (i = c->count; i-- > 0;) {
		if (c->parts[i].kind != PART_CALL && c->parts[i].signature)
			return put_signature(m, &c->parts[i]);
	}
	return 0;
}

static int put_call(struct openai_messages *m, const struct part *p)
{
	const struct model_name_rule rule = openai_name_rule(m->q->provider);
	CLEANUP(buf_release) struct buf name = { 0 };
	const struct model_pair *pair;
	int r = model_name_encode_past(&rule, p->name, &name, m->at.err);

	if (r == 0)
		r = model_pairs_call(&m->pairs, p, &pair);
	if (r < 0)
		return r;
	jsonput_item(m->out);
	buf_text(m->out, "{\"id\":");
	openai_put_id(m, pair);
	buf_text(m->out, ",\"type\":\"function\",\"function\":{");
	jsonput_text(m->out, "name", buf_span(&name));
	jsonput_text(m->out, "arguments", span_of(p->json));
	buf_char(m->out, '}');
	r = put_signature(m, p);
	buf_char(m->out, '}');
	return r;
}

static int put_calls(struct openai_messages *m, const struct content *c)
{
	size_t i;
	int r = 0;

	if (!content_has(c, PART_CALL))
		return 0;
	jsonput_key(m->out, "tool_calls");
	buf_char(m->out, '[');
	for (i = 0; r == 0 && i < c->count; i++) {
		if (c->parts[i].kind == PART_CALL)
			r = put_call(m, &c->parts[i]);
	}
	buf_char(m->out, ']');
	return r;
}

/* Collect the words of the model; its media cannot be sent. */
static int model_text(struct openai_messages *m, const struct content *c, struct buf *text)
{
	size_t i;
	int r = 0;

	for (i = 0; r == 0 && i < c->count; i++) {
		const struct part *p = &c->parts[i];

		if (p->thought || p->kind == PART_CALL)
			continue;
		if (p->kind == PART_TEXT || p->kind == PART_OTHER)
			r = model_said_text(&m->at, p, text);
		else
			r = model_refuse(&m->at,
					 "a part from the model that is not text:", p->mime);
	}
	return r < 0 ? r : buf_check(text, NULL);
}

/* Whether the user says something, which begins a turn. */
static bool begins_turn(const struct content *c)
{
	const struct part *last = NULL;

	return !(c->role && strcmp(c->role, "model") == 0) && count_said(c, &last) > 0;
}

/* Find the turn of the current message. Each content is visited once. */
static void find_turn(struct openai_messages *m)
{
	size_t i;

	if (m->at.message < m->turn_end)
		return;
	m->has_calls = false;
	for (i = m->at.message; i < m->q->count; i++) {
		const struct content *c = m->q->contents[i];

		if (i > m->at.message && begins_turn(c))
			break;
		m->has_calls |= content_has(c, PART_CALL);
	}
	m->turn_end = i;
}

/* Append the reasoning of a message in a turn with calls, or "". */
static int put_reasoning(struct openai_messages *m, const struct content *c)
{
	CLEANUP(buf_release) struct buf text = { 0 };
	size_t i;

	if (!(m->way->quirks & OPENAI_REASONING_BACK) || !m->has_calls)
		return 0;
	for (i = 0; i < c->count; i++) {
		if (c->parts[i].thought && c->parts[i].kind == PART_TEXT)
			buf_span_add(&text, buf_span(&c->parts[i].text));
	}
	jsonput_text(m->out, "reasoning_content", buf_span(&text));
	return buf_check(&text, NULL);
}

static int put_assistant(struct openai_messages *m, const struct content *c)
{
	CLEANUP(buf_release) struct buf text = { 0 };
	int r = model_text(m, c, &text);

	if (r < 0 || (!text.len && !content_has(c, PART_CALL)))
		return r;
	openai_put_files(m);
	openai_open_message(m, "assistant");
	if (text.len) {
		jsonput_text(m->out, "content", buf_span(&text));
	} else {
		jsonput_key(m->out, "content");
		buf_text(m->out, "null");
	}
	r = put_reasoning(m, c);
	if (r == 0)
		r = put_own_signature(m, c);
	if (r == 0)
		r = put_calls(m, c);
	buf_char(m->out, '}');
	return r;
}

static int put_content(struct openai_messages *m, const struct content *c)
{
	int r;

	find_turn(m);
	if (c->role && strcmp(c->role, "model") == 0)
		return put_assistant(m, c);
	r = openai_put_results(m, c);
	return r < 0 ? r : put_user(m, c);
}

int openai_put_messages(const struct question *q, const struct openai_way *way,
			const char *system_role, struct buf *out, struct err *err)
{
	struct openai_messages m = {
		.q = q, .way = way, .at = { q->provider->name, 0, err }, .out = out
	};
	int r = 0;

	jsonput_key(out, "messages");
	buf_char(out, '[');
	if (q->system && *q->system) {
		openai_open_message(&m, system_role);
		jsonput_text(out, "content", span_of(q->system));
		buf_char(out, '}');
	}
	for (; r == 0 && m.at.message < q->count; m.at.message++)
		r = put_content(&m, q->contents[m.at.message]);
	openai_put_files(&m);
	buf_char(out, ']');
	r = r == 0 ? buf_check(&m.files, NULL) : r;
	buf_release(&m.files);
	model_pairs_release(&m.pairs);
	return r;
}

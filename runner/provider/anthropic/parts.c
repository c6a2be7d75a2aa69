/*
 * The blocks of an answer: see parts.h.
 *
 * Texts and thoughts become parts as they come. A thought gets its signature when its
 * block is complete. Calls wait for the end of the answer.
 */
#include "runner/provider/anthropic/parts.h"

#include "base/json_text.h"
#include "runner/provider/anthropic/anthropic.h"

#include <errno.h>
#include <stdlib.h>

#define BLOCKS_MAX 4096

enum kind { KIND_OTHER, KIND_TEXT, KIND_THINKING, KIND_CALL };

struct anthropic_block {
	long long index;
	enum kind kind;
	bool whole;
	bool has_part;        /* the thought has its part */
	bool has_input;       /* the input with which the call began counts until a piece comes */
	size_t place;         /* the number of parts before the call */
	struct buf signature; /* of the thought; each comes whole, and the last one counts */
	struct surrogate_joint joint;
};

void anthropic_blocks_release(struct anthropic_blocks *blocks)
{
	size_t i;

	for (i = 0; i < blocks->count; i++)
		buf_release(&blocks->list[i].signature);
	free(blocks->list);
	model_calls_release(&blocks->calls);
	*blocks = (struct anthropic_blocks){ 0 };
}

/* Find the latest block of an index, which is a key and not a position. */
static struct anthropic_block *find(const struct anthropic_blocks *blocks, long long index)
{
	size_t i;

	for (i = blocks->count; i-- > 0;) {
		if (blocks->list[i].index == index)
			return &blocks->list[i];
	}
	return NULL;
}

static size_t part_count(const struct model_decode *d)
{
	return d->reply->content ? d->reply->content->count : 0;
}

static struct part *last_part(const struct model_decode *d)
{
	return &d->reply->content->parts[part_count(d) - 1];
}

/* Thoughts */

/* A thought has a part of its own, since a signature belongs to one block. */
static int need_part(struct model_decode *d, struct anthropic_block *b)
{
	int r = b->has_part ? 0 : model_reply_empty(d->reply);

	if (r == 0 && !b->has_part)
		last_part(d)->thought = true;
	b->has_part = true;
	return r;
}

static int add_thought(struct model_decode *d, struct anthropic_block *b, struct span token)
{
	int r = jsonpick_is(token, '"') && token.len > 2 ? need_part(d, b) : 0;

	return r < 0 ? r : model_decode_text(d, token, &b->joint, MODEL_THOUGHT);
}

/* The signature is added last: text after it would become another part. */
static int sign(struct model_decode *d, struct anthropic_block *b)
{
	int r = b->signature.len ? need_part(d, b) : 0;

	if (r < 0 || !b->signature.len || !last_part(d)->thought)
		return r;
	return model_reply_sign_text(d->reply, buf_span(&b->signature));
}

/* Beginning */

struct start {
	struct span type;
	struct span text;
	struct span thinking;
	struct span signature;
	struct span data;
	struct model_call_spans call;
};

static const struct jsonpick start_members[] = {
	{ "type", offsetof(struct start, type) },
	{ "text", offsetof(struct start, text) },
	{ "thinking", offsetof(struct start, thinking) },
	{ "signature", offsetof(struct start, signature) },
	{ "data", offsetof(struct start, data) },
	{ "id", offsetof(struct start, call.id) },
	{ "name", offsetof(struct start, call.name) },
	{ "input", offsetof(struct start, call.args) },
	{ 0 },
};

/* A block that begins. */
struct opening {
	struct anthropic_blocks *blocks;
	struct model_decode *d;
	struct anthropic_block *b;
};

static int begin_text(const struct opening *o, const struct start *s)
{
	o->b->kind = KIND_TEXT;
	return model_decode_text(o->d, s->text, &o->b->joint, MODEL_SPOKEN);
}

static int begin_thinking(const struct opening *o, const struct start *s)
{
	int r = model_call_set(&o->b->signature, s->signature);

	o->b->kind = KIND_THINKING;
	return r < 0 ? r : add_thought(o->d, o->b, s->thinking);
}

/* The data of a redacted block cannot be read; we keep it as the signature. */
static int begin_redacted(const struct opening *o, const struct start *s)
{
	o->b->kind = KIND_THINKING;
	buf_text(&o->b->signature, ANTHROPIC_REDACTED);
	if (model_decode_string(s->data, &o->b->signature) || o->b->signature.failed)
		return buf_check(&o->b->signature, NULL);
	buf_clear(&o->b->signature);
	return 0;
}

static int begin_call(const struct opening *o, const struct start *s)
{
	o->b->kind = KIND_CALL;
	o->b->place = part_count(o->d);
	o->b->has_input = true;
	return model_calls_take(&o->blocks->calls, o->b->index, &s->call, o->d->marked, o->d->err);
}

/* Blocks of other types tell what the service did by itself; they are left out. */
static const struct block_type {
	const char *type;
	int (*begin)(const struct opening *o, const struct start *s);
} block_types[] = {
	{ "\"text\"", begin_text },
	{ "\"thinking\"", begin_thinking },
	{ "\"redacted_thinking\"", begin_redacted },
	{ "\"tool_use\"", begin_call },
};

int anthropic_block_begin(struct anthropic_blocks *blocks, struct model_decode *d, long long index,
			  struct span object)
{
	struct start s = { 0 };
	struct anthropic_block *list;
	struct opening o = { .blocks = blocks, .d = d };
	size_t i;
	int r = jsonpick_object(object, start_members, &s);

	if (r < 0)
		return r;
	if (blocks->count == BLOCKS_MAX)
		return err_set(d->err, -E2BIG, "the answer has more than %d blocks", BLOCKS_MAX);
	list = reallocarray(blocks->list, blocks->count + 1, sizeof *list);
	if (!list)
		return -ENOMEM;
	blocks->list = list;
	o.b = &list[blocks->count++];
	*o.b = (struct anthropic_block){ .index = index };
	for (i = 0; i < ARRAY_SIZE(block_types); i++) {
		if (span_is(s.type, block_types[i].type))
			r = block_types[i].begin(&o, &s);
	}
	return r < 0 || !o.b->signature.failed ? r : -ENOMEM;
}

/* Going on */

struct delta {
	struct span text;
	struct span thinking;
	struct span signature;
	struct span json;
};

static const struct jsonpick delta_members[] = {
	{ "text", offsetof(struct delta, text) },
	{ "thinking", offsetof(struct delta, thinking) },
	{ "signature", offsetof(struct delta, signature) },
	{ "partial_json", offsetof(struct delta, json) },
	{ 0 },
};

static int add_args(struct anthropic_blocks *blocks, struct anthropic_block *b,
		    const struct delta *delta, bool marked)
{
	struct model_call *call = model_calls_find(&blocks->calls, b->index);

	if (!jsonpick_is(delta->json, '"') || delta->json.len == 2)
		return 0;
	if (b->has_input)
		buf_clear(&call->args);
	b->has_input = false;
	return model_call_args(call, delta->json, marked);
}

int anthropic_block_delta(struct anthropic_blocks *blocks, struct model_decode *d, long long index,
			  struct span object)
{
	struct anthropic_block *b = find(blocks, index);
	struct delta delta = { 0 };
	int r = jsonpick_object(object, delta_members, &delta);

	if (r < 0 || !b || b->whole)
		return r;
	switch (b->kind) {
	case KIND_TEXT:
		return model_decode_text(d, delta.text, &b->joint, MODEL_SPOKEN);
	case KIND_THINKING:
		r = model_call_set(&b->signature, delta.signature);
		return r < 0 ? r : add_thought(d, b, delta.thinking);
	case KIND_CALL:
		return add_args(blocks, b, &delta, d->marked);
	case KIND_OTHER:
		break;
	}
	return 0;
}

/* Ending */

static int flush(struct model_decode *d, struct anthropic_block *b)
{
	if (b->kind == KIND_TEXT)
		return model_decode_text_end(d, &b->joint, MODEL_SPOKEN);
	return b->kind == KIND_THINKING ? model_decode_text_end(d, &b->joint, MODEL_THOUGHT) : 0;
}

int anthropic_block_end(struct anthropic_blocks *blocks, struct model_decode *d, long long index)
{
	struct anthropic_block *b = find(blocks, index);
	int r;

	if (!b || b->whole)
		return 0;
	b->whole = true;
	r = flush(d, b);
	return r < 0 || b->kind != KIND_THINKING ? r : sign(d, b);
}

int anthropic_blocks_flush(struct anthropic_blocks *blocks, struct model_decode *d)
{
	size_t i;
	int r = 0;

	for (i = 0; r == 0 && i < blocks->count; i++)
		r = flush(d, &blocks->list[i]);
	return r;
}

/* A call that the service did not end is incomplete, even if its arguments look complete. */
static int check_whole(const struct anthropic_blocks *blocks, bool cut, struct err *err)
{
	size_t i;

	for (i = 0; i < blocks->count; i++) {
		const struct anthropic_block *b = &blocks->list[i];
		struct model_call *call;

		if (b->kind != KIND_CALL || b->whole)
			continue;
		call = model_calls_find(&blocks->calls, b->index);
		return err_set(err, -EPROTO, "the answer was cut off inside a call to '%.*s'%s",
			       (int)MIN(call->name.len, 64), buf_span(&call->name).data,
			       cut ? ": the limit of tokens was reached" : "");
	}
	return 0;
}

/* Move the calls, which are the last parts, to where they were made. */
static void put_in_place(const struct anthropic_blocks *blocks, struct content *content)
{
	size_t first = content->count - blocks->calls.count;
	size_t n = 0;
	size_t i;

	for (i = 0; i < blocks->count; i++) {
		const struct anthropic_block *b = &blocks->list[i];
		struct part *from = &content->parts[first + n];
		struct part *to = &content->parts[b->place + n];
		struct part call;

		if (b->kind != KIND_CALL)
			continue;
		call = *from;
		memmove(to + 1, to, (size_t)(from - to) * sizeof *to);
		*to = call;
		n++;
	}
}

int anthropic_blocks_finish(struct anthropic_blocks *blocks, struct model_decode *d, bool cut)
{
	int r = check_whole(blocks, cut, d->err);

	if (r == 0)
		r = model_calls_finish(&blocks->calls, cut, d->reply, d->err);
	if (r == 0 && blocks->calls.count)
		put_in_place(blocks, d->reply->content);
	return r;
}

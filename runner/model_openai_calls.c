/*
 * Calls in answers of OpenAI chat completions: put together from pieces that
 * every server numbers and names in its own way.
 *
 * The arguments are kept as text, so that numbers stay as written. A call
 * reaches the reply when the answer is complete and its arguments are a whole
 * JSON object; if one call is not, none does.
 */
#include "runner/model_openai.h"

#include "runner/jsonpick.h"

#include <errno.h>
#include <stdlib.h>

#define CALLS_MAX 128
#define QUOTE_MAX 120 /* bytes of bad arguments in an error */

/* A call on its way. */
struct openai_call {
	long long index; /* as the server counts them; -1: it does not */
	struct buf id;
	struct buf name;
	struct buf args; /* the text so far */
	struct surrogate_joint joint;
	struct buf canonical;
};

struct function {
	struct span name;
	struct span arguments;
};

static const struct jsonpick function_members[] = {
	{ "name", offsetof(struct function, name) },
	{ "arguments", offsetof(struct function, arguments) },
	{ 0 },
};

/* A piece of a call, decoded but for the arguments. */
struct piece {
	long long index;
	struct buf id;
	struct buf name;
	struct span arguments;
};

static void piece_release(struct piece *p)
{
	buf_release(&p->id);
	buf_release(&p->name);
}

struct piece_spans {
	struct span index;
	struct span id;
	struct span function;
};

static const struct jsonpick piece_members[] = {
	{ "index", offsetof(struct piece_spans, index) },
	{ "id", offsetof(struct piece_spans, id) },
	{ "function", offsetof(struct piece_spans, function) },
	{ 0 },
};

static int read_piece(struct span item, struct piece *p)
{
	struct piece_spans spans = { 0 };
	struct function function = { 0 };
	int r = jsonpick_object(item, piece_members, &spans);

	if (r == 0)
		r = jsonpick_object(spans.function, function_members, &function);
	if (r == 0 && jsonpick_is(spans.id, '"'))
		r = json_unquote(spans.id, &p->id);
	if (r == 0 && jsonpick_is(function.name, '"'))
		r = json_unquote(function.name, &p->name);
	p->index = jsonpick_count(spans.index);
	p->arguments = function.arguments;
	return r;
}

/*
 * Without an index a new id starts the next call, and so does a name without
 * an id; what has neither belongs to the last one.
 */
static struct openai_call *call_without_index(const struct openai_calls *calls,
					      const struct piece *p)
{
	struct openai_call *last = calls->count ? &calls->list[calls->count - 1] : NULL;

	if (!last)
		return NULL;
	if (p->id.len)
		return span_equal(buf_span(&last->id), buf_span(&p->id)) ? last : NULL;
	return p->name.len ? NULL : last;
}

static bool has_other_id(const struct openai_call *c, const struct piece *p)
{
	return p->id.len && c->id.len && !span_equal(buf_span(&c->id), buf_span(&p->id));
}

/*
 * Which call a piece belongs to; NULL: a new one. The index is a key and not a
 * position. Servers that number all calls 0 tell them apart by a new id that
 * comes with a name.
 */
static struct openai_call *call_of(const struct openai_calls *calls, const struct piece *p)
{
	size_t i;

	if (p->index < 0)
		return call_without_index(calls, p);
	for (i = calls->count; i-- > 0;) {
		struct openai_call *c = &calls->list[i];

		if (c->index == p->index)
			return has_other_id(c, p) && p->name.len ? NULL : c;
	}
	return NULL;
}

static int new_call(struct openai_calls *calls, long long index, struct openai_call **out)
{
	struct openai_call *list;

	if (calls->count == CALLS_MAX)
		return -E2BIG;
	list = reallocarray(calls->list, calls->count + 1, sizeof *list);
	if (!list)
		return -ENOMEM;
	calls->list = list;
	*out = &list[calls->count++];
	**out = (struct openai_call){ .index = index };
	return 0;
}

/* Empty strings and nulls stand for "as before". */
static void replace(struct buf *old, const struct buf *value)
{
	if (!value->len)
		return;
	buf_clear(old);
	buf_span_add(old, buf_span(value));
}

/* Some servers send the arguments as an object in place of its text. */
static int take_arguments(struct openai_call *c, struct span arguments, bool marked)
{
	if (jsonpick_is(arguments, '"'))
		return surrogate_unquote(&c->joint, arguments, marked, &c->args);
	if (jsonpick_is(arguments, '{') && marked)
		surrogate_join(&c->joint, arguments, &c->args);
	else if (jsonpick_is(arguments, '{'))
		buf_span_add(&c->args, arguments);
	return buf_check(&c->args, NULL);
}

static int take_piece(struct openai_calls *calls, const struct piece *p, bool marked)
{
	struct openai_call *c = call_of(calls, p);
	int r = c ? 0 : new_call(calls, p->index, &c);

	if (r < 0)
		return r;
	replace(&c->id, &p->id);
	replace(&c->name, &p->name);
	if (c->id.failed || c->name.failed)
		return -ENOMEM;
	return take_arguments(c, p->arguments, marked);
}

int openai_calls_take(struct openai_calls *calls, struct span item, bool marked, struct err *err)
{
	CLEANUP(piece_release) struct piece p = { 0 };
	int r = read_piece(item, &p);

	if (r == 0)
		r = take_piece(calls, &p, marked);
	if (r == -E2BIG)
		return err_set(err, r, "the model made more than %d calls at once", CALLS_MAX);
	return r;
}

/* No arguments come as "", "{}", "null" or not at all. */
static bool is_empty(struct span args)
{
	while (args.len && strchr(" \t\r\n", args.data[0]))
		args = span_sub(args, 1, args.len);
	while (args.len && strchr(" \t\r\n", args.data[args.len - 1]))
		args.len--;
	return !args.len || span_is(args, "null");
}

static int canonical_args(struct openai_call *c)
{
	CLEANUP(buf_release) struct buf mended = { 0 };
	int r;

	surrogate_finish(&c->joint, &c->args);
	if (is_empty(buf_span(&c->args))) {
		buf_text(&c->canonical, "{}");
		return buf_check(&c->canonical, NULL);
	}
	surrogate_drop(buf_span(&c->args), &mended);
	r = buf_check(&mended, NULL);
	if (r == 0)
		r = json_canonical_text(buf_span(&mended), JSON_DEPTH_FREE, &c->canonical, NULL);
	return r == 0 && c->canonical.data[0] != '{' ? -EINVAL : r;
}

static int check_call(struct openai_call *c, struct span finish, struct err *err)
{
	int r = canonical_args(c);

	if (!buf_cstr(&c->id) || !buf_cstr(&c->name) || r == -ENOMEM)
		return -ENOMEM;
	if (!c->name.len)
		return err_set(err, -EPROTO, "the model made a call without a name");
	if (r < 0 && span_is(finish, OPENAI_FINISH_LENGTH))
		return err_set(err, -EPROTO,
			       "the answer was cut off inside a call of '%.64s': the limit of "
			       "tokens was reached",
			       c->name.data);
	if (r < 0)
		return err_set(err, -EPROTO,
			       "the model called '%.64s' with arguments that are no JSON object: "
			       "%.*s",
			       c->name.data, (int)MIN(c->args.len, QUOTE_MAX),
			       buf_span(&c->args).data);
	return 0;
}

static int hand_over(const struct openai_call *c, struct model_reply *reply)
{
	CLEANUP(buf_release) struct buf name = { 0 };

	openai_name_decode(buf_span(&c->name), &name);
	if (!buf_cstr(&name))
		return -ENOMEM;
	return model_reply_call(reply, c->id.data, name.data, buf_span(&c->canonical));
}

int openai_calls_finish(struct openai_calls *calls, struct span finish, struct model_reply *reply,
			struct err *err)
{
	size_t i;
	int r = 0;

	for (i = 0; r == 0 && i < calls->count; i++)
		r = check_call(&calls->list[i], finish, err);
	for (i = 0; r == 0 && i < calls->count; i++)
		r = hand_over(&calls->list[i], reply);
	return r;
}

void openai_calls_release(struct openai_calls *calls)
{
	size_t i;

	for (i = 0; i < calls->count; i++) {
		struct openai_call *c = &calls->list[i];

		buf_release(&c->id);
		buf_release(&c->name);
		buf_release(&c->args);
		buf_release(&c->canonical);
	}
	free(calls->list);
	*calls = (struct openai_calls){ 0 };
}

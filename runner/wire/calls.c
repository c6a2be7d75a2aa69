/*
 * Calls in answers: see calls.h.
 */
#include "runner/wire/calls.h"

#include "base/json_text.h"
#include "runner/wire/name.h"

#include <errno.h>
#include <stdlib.h>

#define QUOTE_MAX      120 /* bytes of bad arguments in an error */
#define NAME_MAX_BYTES 255 /* no tool has a longer name */

struct model_call *model_calls_find(const struct model_calls *calls, long long key)
{
	size_t i;

	for (i = calls->count; i-- > 0;) {
		if (calls->list[i].key == key)
			return &calls->list[i];
	}
	return NULL;
}

int model_calls_add(struct model_calls *calls, long long key, struct model_call **out,
		    struct err *err)
{
	struct model_call *list;

	if (calls->count == MODEL_CALLS_MAX)
		return err_set(err, -E2BIG, "the model made more than %d calls at once",
			       MODEL_CALLS_MAX);
	list = reallocarray(calls->list, calls->count + 1, sizeof *list);
	if (!list)
		return -ENOMEM;
	calls->list = list;
	*out = &list[calls->count++];
	**out = (struct model_call){ .key = key };
	return 0;
}

int model_call_set(struct buf *old, struct span token)
{
	if (!jsonpick_is(token, '"') || span_is(token, "\"\""))
		return 0;
	buf_clear(old);
	return json_unquote(token, old) < 0 ? -ENOMEM : 0;
}

/* Some servers send the arguments as an object in place of its text. */
int model_call_args(struct model_call *call, struct span token, bool marked)
{
	if (jsonpick_is(token, '"'))
		return surrogate_unquote(&call->joint, token, marked, &call->args);
	if (jsonpick_is(token, '{') && marked)
		surrogate_join(&call->joint, token, &call->args);
	else if (jsonpick_is(token, '{'))
		buf_span_add(&call->args, token);
	return buf_check(&call->args, NULL);
}

const struct jsonpick model_function_members[] = {
	{ "name", offsetof(struct model_call_spans, name) },
	{ "arguments", offsetof(struct model_call_spans, args) },
	{ 0 },
};

int model_calls_take(struct model_calls *calls, long long key, const struct model_call_spans *spans,
		     bool marked, struct err *err)
{
	struct model_call *call;
	int r = model_calls_add(calls, key, &call, err);

	if (r == 0)
		r = model_call_set(&call->id, spans->id);
	if (r == 0)
		r = model_call_set(&call->name, spans->name);
	return r < 0 ? r : model_call_args(call, spans->args, marked);
}

/* Whether a call has no arguments: they come as "", "null" or not at all. */
static bool is_empty(struct span args)
{
	args = span_trim(args);
	return !args.len || span_is(args, "null");
}

static int canonical_args(struct model_call *c)
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

/* Turn the name on the wire into the name of the tool. */
static int decode_name(struct model_call *c)
{
	struct buf name = { 0 };

	model_name_decode(buf_span(&c->name), &name);
	buf_release(&c->name);
	c->name = name;
	return buf_cstr(&c->name) ? 0 : -ENOMEM;
}

static int check_call(struct model_call *c, bool cut, struct err *err)
{
	int r = canonical_args(c);

	if (!buf_cstr(&c->id) || decode_name(c) < 0 || r == -ENOMEM)
		return -ENOMEM;
	if (!*c->name.data)
		return err_set(err, -EPROTO, "the model made a call without a name");
	if (strlen(c->name.data) != c->name.len)
		return err_set(err, -EPROTO,
			       "the model called a function whose name holds a NUL: '%.64s'",
			       c->name.data);
	if (c->name.len > NAME_MAX_BYTES)
		return err_set(err, -EPROTO, "the model called '%.64s...', a name of %zu bytes",
			       c->name.data, c->name.len);
	if (r < 0 && cut)
		return err_set(err, -EPROTO,
			       "the answer was cut off inside a call to '%.64s': the limit of "
			       "tokens was reached",
			       c->name.data);
	if (r < 0)
		return err_set(
			err, -EPROTO,
			"the model called '%.64s' with arguments that are not a JSON object: "
			"%.*s",
			c->name.data, (int)MIN(c->args.len, QUOTE_MAX), buf_span(&c->args).data);
	return 0;
}

int model_calls_check_begun(struct model_calls *calls, struct err *err)
{
	size_t i;

	for (i = 0; i < calls->count; i++) {
		struct model_call *c = &calls->list[i];

		if (!is_empty(buf_span(&c->args)))
			continue;
		if (!buf_cstr(&c->name))
			return -ENOMEM;
		return err_set(err, -EPROTO, "the answer was cut off inside a call to '%.64s'",
			       c->name.data);
	}
	return 0;
}

static int hand_over(const struct model_call *c, struct model_reply *reply)
{
	int r = model_reply_call(reply, c->id.data, c->name.data, buf_span(&c->canonical));

	return r < 0 || !c->signature.len ? r : model_reply_sign(reply, buf_span(&c->signature));
}

int model_calls_finish(struct model_calls *calls, bool cut, struct model_reply *reply,
		       struct err *err)
{
	size_t i;
	int r = 0;

	for (i = 0; r == 0 && i < calls->count; i++)
		r = check_call(&calls->list[i], cut, err);
	for (i = 0; r == 0 && i < calls->count; i++)
		r = hand_over(&calls->list[i], reply);
	return r;
}

void model_calls_release(struct model_calls *calls)
{
	size_t i;

	for (i = 0; i < calls->count; i++) {
		struct model_call *c = &calls->list[i];

		buf_release(&c->id);
		buf_release(&c->name);
		buf_release(&c->args);
		buf_release(&c->signature);
		buf_release(&c->canonical);
	}
	free(calls->list);
	*calls = (struct model_calls){ 0 };
}

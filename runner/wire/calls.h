/*
 * Calls of functions in answers, which come in pieces.
 *
 * The arguments are kept as text, so that numbers stay as written. A call
 * reaches the reply when the answer is complete and its arguments are a whole
 * JSON object; if one call is incomplete, no call reaches the reply.
 */
#ifndef RUNNER_WIRE_CALLS_H
#define RUNNER_WIRE_CALLS_H

#include "runner/syntax/json_pick.h"
#include "runner/syntax/surrogate.h"
#include "runner/wire/reply.h"

#define MODEL_CALLS_MAX 128

/* A call whose pieces are arriving. */
struct model_call {
	long long key; /* chosen by the caller; pieces with the same key belong to one call */
	struct buf id;
	struct buf name;
	struct buf args;              /* the text so far */
	struct buf signature;         /* base64, for the part of the call; empty: none */
	struct surrogate_joint joint; /* half a character that waits for its other half */
	struct buf canonical;         /* the complete arguments */
};

/* The calls of one answer. All zero is an empty list. */
struct model_calls {
	struct model_call *list;
	size_t count;
};

void model_calls_release(struct model_calls *calls);

/* Find the latest call with a key; NULL: none. */
struct model_call *model_calls_find(const struct model_calls *calls, long long key);

/*
 * Add a call. *out is valid until the next call is added. -E2BIG: more than MODEL_CALLS_MAX;
 * -ENOMEM without a sentence.
 */
MUST_CHECK int model_calls_add(struct model_calls *calls, long long key, struct model_call **out,
			       struct err *err);

/* The members of a call in an answer, as JSON tokens. */
struct model_call_spans {
	struct span id;
	struct span name;
	struct span args;
};

/* Reads "name" and "arguments" of a `function` into a struct model_call_spans. */
extern const struct jsonpick model_function_members[];

/* Add a call that came as a whole, or how it begins; marked: as model_call_args(). Returns as
 * model_calls_add(). */
MUST_CHECK int model_calls_take(struct model_calls *calls, long long key,
				const struct model_call_spans *spans, bool marked, struct err *err);

/* Replace a text by a string token; "" and other tokens change nothing. -ENOMEM. */
MUST_CHECK int model_call_set(struct buf *old, struct span token);

/*
 * Append a piece of the arguments: a string token or an object, as checked JSON.
 * marked: surrogate_mark() changed the text. -ENOMEM.
 */
MUST_CHECK int model_call_args(struct model_call *call, struct span token, bool marked);

/*
 * Check the calls of an answer that ended early. -EPROTO: a call has no arguments, since they may
 * not have come; -ENOMEM without a sentence.
 */
MUST_CHECK int model_calls_check_begun(struct model_calls *calls, struct err *err);

/*
 * Add all calls to the reply, with decoded names (name.h). cut: the answer ended at a limit of
 * tokens, which the error then says. -EPROTO: a call is incomplete, and no call was added; -ENOMEM.
 */
MUST_CHECK int model_calls_finish(struct model_calls *calls, bool cut, struct model_reply *reply,
				  struct err *err);

#endif

/*
 * Calls in answers that come in pieces.
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

/* A call on its way. */
struct model_call {
	long long key; /* chosen by the caller; pieces with the same key are of the same call */
	struct buf id;
	struct buf name;
	struct buf args;      /* the text so far */
	struct buf signature; /* of its part, ours; empty: none */
	struct surrogate_joint joint;
	struct buf canonical;
};

/* All zero is none. */
struct model_calls {
	struct model_call *list;
	size_t count;
};

void model_calls_release(struct model_calls *calls);

/* The latest call with that key; NULL: none. */
struct model_call *model_calls_find(const struct model_calls *calls, long long key);

/* A new call, good until the next one. -E2BIG: too many, with a sentence; -ENOMEM without. */
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

/* Set a text that a piece brings; "" and null stand for "as before". -ENOMEM. */
MUST_CHECK int model_call_set(struct buf *old, struct span token);

/*
 * Add a piece of the arguments: a string token, or an object, as checked JSON.
 * marked: surrogate_mark changed the text. -ENOMEM.
 */
MUST_CHECK int model_call_args(struct model_call *call, struct span token, bool marked);

/*
 * Check calls of an answer that ended before the model was done. -EPROTO: a call has no
 * arguments, which may not have come; -ENOMEM without a text.
 */
MUST_CHECK int model_calls_check_begun(struct model_calls *calls, struct err *err);

/*
 * Hand all calls over to the reply, their names decoded (name.h). cut: the
 * answer ended at a limit of tokens. -EPROTO: a call is incomplete, and no call is handed over.
 * -ENOMEM.
 */
MUST_CHECK int model_calls_finish(struct model_calls *calls, bool cut, struct model_reply *reply,
				  struct err *err);

#endif

/*
 * What the files of the openai provider share. Nobody else includes this.
 *
 *	model_openai.c	       the request as a whole, where it goes
 *	model_openai_message.c its messages
 *	model_openai_config.c  what generate_content_config adds to it
 *	model_openai_reply.c   the answer
 *	model_openai_calls.c   the calls in it
 */
#ifndef RUNNER_MODEL_OPENAI_H
#define RUNNER_MODEL_OPENAI_H

#include "runner/model.h"
#include "runner/surrogate.h"

#define OPENAI_NAME_MAX      64 /* characters of a function name on the wire */
#define OPENAI_FINISH_LENGTH "length"

/*
 * Function names are [a-zA-Z0-9_-]{1,64} on the wire. Any other byte is
 * written "-xHH-" in upper-case hex ("a.b" is "a-x2E-b"), and so is the '-'
 * that would start such a sequence in the name itself: the mapping is one to
 * one and needs no memory. -EINVAL: empty, or longer than OPENAI_NAME_MAX.
 */
MUST_CHECK int openai_name_encode(const char *name, struct buf *out, struct err *err);
void openai_name_decode(struct span wire, struct buf *name);

/* Begin a member of the object that is being written at the end of out. */
void openai_key(struct buf *out, const char *name);

/* The same with a text as its value; what is not UTF-8 in it becomes U+FFFD. */
void openai_text(struct buf *out, const char *name, struct span text);

/* Begin the next element of the list that is being written at the end of out. */
void openai_item(struct buf *out);

/*
 * Append the member "messages". -EINVAL names the part that cannot be sent;
 * -ENOMEM without a text.
 */
MUST_CHECK int openai_messages(const struct model_request *rq, const char *system_role,
			       struct buf *out, struct err *err);

/* Append a JSON Schema with its types in lower case, as Gemini does not write them. */
MUST_CHECK int openai_schema(const json_t *schema, struct buf *out);

/*
 * Append the members that generate_content_config stands for. -EINVAL names
 * what has no counterpart. max_tokens is the name of that member; the tools
 * tell whether a choice between them can be sent.
 */
MUST_CHECK int openai_config(const struct model_request *rq, const char *max_tokens,
			     struct buf *out, struct err *err);

/* The calls of an answer. All zero is none. */
struct openai_calls {
	struct openai_call *list;
	size_t count;
};

/*
 * Take an element of `tool_calls`, as checked JSON; marked: surrogate_mark had
 * something to do in it. -E2BIG: too many; -ENOMEM without a text.
 */
MUST_CHECK int openai_calls_take(struct openai_calls *calls, struct span item, bool marked,
				 struct err *err);

/* Hand all calls over to the reply. -EPROTO: one is not whole, then none is. -ENOMEM. */
MUST_CHECK int openai_calls_finish(struct openai_calls *calls, struct span finish,
				   struct model_reply *reply, struct err *err);
void openai_calls_release(struct openai_calls *calls);

/* The decoder, as struct model_provider wants it. */
void *openai_decoder_new(void);
MUST_CHECK int openai_decode(void *decoder, struct span event, struct model_reply *reply,
			     struct err *err);
MUST_CHECK int openai_end(void *decoder, struct model_reply *reply, struct err *err);
void openai_decoder_free(void *decoder);
bool openai_error_message(struct span body, struct buf *message);

#endif

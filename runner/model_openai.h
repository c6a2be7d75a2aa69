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
#include "runner/model_name.h"

extern const struct model_name_rule openai_names;

/*
 * Append the member "messages". -EINVAL names the part that cannot be sent;
 * -ENOMEM without a text.
 */
MUST_CHECK int openai_messages(const struct model_request *rq, const char *system_role,
			       struct buf *out, struct err *err);

/*
 * Append the members that generate_content_config stands for. -EINVAL names
 * what has no counterpart. max_tokens is the name of that member; the tools
 * tell whether a choice between them can be sent.
 */
MUST_CHECK int openai_config(const struct model_request *rq, const char *max_tokens,
			     struct buf *out, struct err *err);

/*
 * Take an element of `tool_calls`, as checked JSON; marked: surrogate_mark had
 * something to do in it. -E2BIG: too many; -ENOMEM without a text.
 */
struct model_calls;
MUST_CHECK int openai_calls_take(struct model_calls *calls, struct span item, bool marked,
				 struct err *err);

/* The decoder, as struct model_provider wants it. */
void *openai_decoder_new(void);
MUST_CHECK int openai_decode(void *decoder, struct span event, struct model_reply *reply,
			     struct err *err);
MUST_CHECK int openai_end(void *decoder, struct model_reply *reply, struct err *err);
void openai_decoder_free(void *decoder);
bool openai_error_message(struct span body, struct buf *message);

#endif

/*
 * Exchanges: the answer to one attempt, which goes through the stream and the
 * decoder into the reply.
 */
#ifndef RUNNER_MODEL_EXCHANGE_H
#define RUNNER_MODEL_EXCHANGE_H

#include "base/net/stream.h"
#include "runner/wire/decode.h"

#define MODEL_HEAD_MAX 120 /* bytes of a body that is not an answer, for the error */

struct model_exchange {
	struct model_reply *reply; /* borrowed, and so is err */
	struct model_decode *decoder;
	struct stream stream;
	bool started;                  /* the first byte that is not blank has come */
	bool heard;                    /* an event has come */
	size_t taken;                  /* bytes of the body so far */
	char head[MODEL_HEAD_MAX + 1]; /* how the body begins */
	struct err *err;
};

/* Begin an exchange; the caller releases it, even after -ENOMEM. */
MUST_CHECK int model_exchange_init(struct model_exchange *x, const struct model_provider *provider,
				   struct model_reply *reply, struct err *err);
void model_exchange_release(struct model_exchange *x);

/* Decode a piece of the body of a 2xx answer; arg is the exchange. An http_body_fn. */
int model_exchange_piece(void *arg, struct span piece);

/*
 * The body of a 2xx answer has ended, with r from http_send(). A connection that broke after the
 * end mark is not an error; if it broke before, err says how. Returns 0 or -errno.
 */
MUST_CHECK int model_exchange_close(struct model_exchange *x, int r);

/* Whether the connection broke, or fell silent, in the middle of an answer. */
bool model_exchange_broke(int r);

#endif

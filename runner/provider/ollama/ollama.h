/*
 * Shared by the files of the ollama provider, which alone include this.
 *
 *	ollama.c   a request as a whole
 *	host.c     its address
 *	message.c  its messages
 *	tools.c    the tools, with the parts of their schemas that Ollama takes
 *	config.c   what generate_content_config adds
 *	reply.c    the answer
 */
#ifndef RUNNER_PROVIDER_OLLAMA_OLLAMA_H
#define RUNNER_PROVIDER_OLLAMA_OLLAMA_H

#include "runner/wire/name.h"
#include "runner/wire/provider.h"

#define OLLAMA_NAME "ollama"
#define OLLAMA_HOST "OLLAMA_HOST" /* the setting */

extern const struct model_name_rule ollama_names;

/*
 * Append the address that a value of OLLAMA_HOST stands for, as Ollama's own
 * client reads it: "", HOST, HOST:PORT, :PORT, an IPv6 address with or without
 * brackets, each of them with or without http:// or https:// before it and /PATH after it. NULL
 * is the local server. *cloud: it is ollama.com. -EINVAL; -ENOMEM.
 */
MUST_CHECK int ollama_address(const char *host, struct buf *url, bool *cloud, struct err *err);

/*
 * Append the member "messages". -EINVAL names the part that cannot be sent;
 * -ENOMEM without a text.
 */
MUST_CHECK int ollama_messages(const struct question *q, struct buf *out, struct err *err);

/* Append the member "tools", if there are any to be called. -EINVAL; -ENOMEM without a text. */
MUST_CHECK int ollama_tools(const struct question *q, struct buf *out, struct err *err);

/* Report the parts of the tools' schemas that are left out: `review` of struct model_provider. */
MUST_CHECK int ollama_review(const struct question *q, model_review_fn *fn, void *arg);

/* Append the members that generate_content_config stands for. -EINVAL; -ENOMEM. */
MUST_CHECK int ollama_config(const struct question *q, struct buf *out, struct err *err);

/* Whether the model may call tools: *may. -EINVAL: the toolConfig cannot be sent. */
MUST_CHECK int ollama_may_call(const struct question *q, bool *may, struct err *err);

extern const struct model_decoder ollama_decoder;
bool ollama_error_message(struct span body, struct buf *message);

#endif

/*
 * Shared by the files of the ollama provider, which alone include this.
 *
 *	ollama.c   the request as a whole
 *	host.c     its address
 *	message.c  its messages
 *	tools.c    the tools, with the parts of their schemas that Ollama takes
 *	config.c   generate_content_config
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
 * Append the address of a value of OLLAMA_HOST, which is read as in Ollama's own client: "",
 * HOST, HOST:PORT, :PORT, an IPv6 address with or without brackets; each may have http:// or
 * https:// before it and /PATH after it. NULL is the local server. *cloud: the host is ollama.com.
 * -EINVAL; -ENOMEM.
 */
MUST_CHECK int ollama_address(const char *host, struct buf *url, bool *cloud, struct err *err);

/*
 * Append the member "messages". -EINVAL names the part that cannot be sent;
 * -ENOMEM without a text.
 */
MUST_CHECK int ollama_messages(const struct question *q, struct buf *out, struct err *err);

/* Append the member "tools", if the model may call tools. -EINVAL; -ENOMEM without a sentence. */
MUST_CHECK int ollama_tools(const struct question *q, struct buf *out, struct err *err);

/* Report the parts of the tools' schemas that are left out: `review` of struct model_provider. */
MUST_CHECK int ollama_review(const struct question *q, model_review_fn *fn, void *arg);

/* Append the members that follow from generate_content_config. -EINVAL; -ENOMEM. */
MUST_CHECK int ollama_config(const struct question *q, struct buf *out, struct err *err);

/* Whether the model may call tools: *may. -EINVAL: the toolConfig cannot be sent. */
MUST_CHECK int ollama_may_call(const struct question *q, bool *may, struct err *err);

extern const struct model_decoder ollama_decoder;
bool ollama_error_message(struct span body, struct buf *message);

#endif

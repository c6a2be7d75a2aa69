/*
 * Shared by the files of the anthropic provider, which alone include this.
 *
 *	anthropic.c  the request as a whole, and its address
 *	message.c    the messages of a request, with calls and results
 *	block.c      the blocks of a message
 *	result.c     the content of a tool_result
 *	config.c     generate_content_config
 *	schema.c     the schemas that this service takes
 *	reply.c      the answer
 *	parts.c      the blocks of an answer as parts of an event
 */
#ifndef RUNNER_PROVIDER_ANTHROPIC_ANTHROPIC_H
#define RUNNER_PROVIDER_ANTHROPIC_ANTHROPIC_H

#include "runner/wire/name.h"
#include "runner/wire/pairs.h"
#include "runner/wire/provider.h"
#include "runner/wire/refuse.h"

#define ANTHROPIC_SETTING_MAX_TOKENS "ANTHROPIC_MAX_TOKENS"
#define ANTHROPIC_SETTING_BETAS      "ANTHROPIC_BETAS"

/*
 * A decoded thoughtSignature that begins with this, on a part with an empty text, is a
 * redacted_thinking block: the rest is its data. Another text is the signature of a
 * thinking block, whose thinking may be empty.
 */
#define ANTHROPIC_REDACTED "redacted_thinking:"

extern const struct model_name_rule anthropic_names;

/* Messages while they are written. */
enum anthropic_role { ANTHROPIC_NOBODY, ANTHROPIC_USER, ANTHROPIC_ASSISTANT };
struct anthropic_writer {
	const struct question *q;
	struct buf *out;
	struct model_place at;
	enum anthropic_role role; /* whose blocks are written */
	enum anthropic_role open; /* whose message is open */
	struct model_pairs pairs;
};

/* Append the member "messages". -EINVAL names the part that cannot be sent; -ENOMEM. */
MUST_CHECK int anthropic_messages(const struct question *q, struct buf *out, struct err *err);

/* Begin a block in a message of w->role; the caller closes it with '}'. */
void anthropic_open_block(struct anthropic_writer *w, const char *type);

/* Append a text block; a text of white space only is left out. */
void anthropic_text(struct anthropic_writer *w, struct span text);

/* Append a part from the user, or the media of a result. -EINVAL; -ENOMEM. */
MUST_CHECK int anthropic_user_part(struct anthropic_writer *w, const struct part *p);

/* Append a part from the model that is not a call. -EINVAL; -ENOMEM. */
MUST_CHECK int anthropic_model_part(struct anthropic_writer *w, const struct part *p);

/* Whether the service takes images of a type. *type is its own name of the type. */
bool anthropic_image_type(const char *mime, const char **type);

/* Append an image block; type is from anthropic_image_type(). */
void anthropic_image(struct anthropic_writer *w, const char *type, struct span base64);

/* Append the member "content" of a tool_result. -EINVAL; -ENOMEM. */
MUST_CHECK int anthropic_result(struct anthropic_writer *w, const struct part *response);

/*
 * Append the members that follow from generate_content_config, and max_tokens in any case.
 * -EINVAL names a member that cannot be sent; -ENOMEM.
 */
MUST_CHECK int anthropic_config(const struct question *q, struct buf *out, struct err *err);

/* Append the schema of an answer in the form that the service takes. -E2BIG; -ENOMEM. */
MUST_CHECK int anthropic_output_schema(const json_t *schema, struct buf *out);

/* For struct model_provider. */
MUST_CHECK int anthropic_review(const struct question *q, model_review_fn *fn, void *arg);
extern const struct model_decoder anthropic_decoder;
bool anthropic_error_message(struct span body, struct buf *message);

#endif

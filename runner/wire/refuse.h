/*
 * Refusing parts: a part that a provider has no place for is an error before
 * anything is sent. The error names the message, the part and the provider.
 */
#ifndef RUNNER_WIRE_REFUSE_H
#define RUNNER_WIRE_REFUSE_H

#include "store/json/content.h"

/* The place that an encoder has reached. */
struct model_place {
	const char *provider; /* as errors name it */
	size_t message;       /* index of the content at hand */
	struct err *err;
};

/* "message 3: WHAT DETAIL cannot be sent to PROVIDER"; detail NULL: none. -EINVAL. */
int model_refuse(const struct model_place *at, const char *what, const char *detail);

/* Refuse a part by its kind. -EINVAL; -ENOMEM without a text. */
int model_refuse_part(const struct model_place *at, const struct part *p);

/* Whether a part belongs in a message: not a thought, a result or an empty text. */
bool model_is_said(const struct part *p);

/*
 * Append the words of a part: a text, with or without members of its own, or
 * inlineData that is text. -EINVAL: another part, which is refused; -ENOMEM without a text.
 */
MUST_CHECK int model_said_text(const struct model_place *at, const struct part *p,
			       struct buf *text);

#endif

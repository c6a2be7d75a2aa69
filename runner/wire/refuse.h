/*
 * Refusing parts: a part that a provider cannot take is an error before anything is
 * sent. The error names the message, the part and the provider.
 */
#ifndef RUNNER_WIRE_REFUSE_H
#define RUNNER_WIRE_REFUSE_H

#include "store/json/content.h"

/* The place that an encoder has reached. */
struct model_place {
	const char *provider; /* as errors name it */
	size_t message;       /* index of the content that is written */
	struct err *err;
};

/* Fail with "message 3: WHAT DETAIL cannot be sent to PROVIDER"; detail may be NULL. -EINVAL. */
int model_refuse(const struct model_place *at, const char *what, const char *detail);

/* Refuse a part by its kind. -EINVAL; -ENOMEM without a sentence. */
int model_refuse_part(const struct model_place *at, const struct part *p);

/* Whether a part is said in a message: it is not a thought, a result or an empty text. */
bool model_is_said(const struct part *p);

/*
 * Append the words of a part: its text, or inlineData that is text. -EINVAL: another part,
 * which is refused; -ENOMEM without a sentence.
 */
MUST_CHECK int model_said_text(const struct model_place *at, const struct part *p,
			       struct buf *text);

#endif

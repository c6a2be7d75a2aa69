/*
 * Names of functions on the wire of a provider.
 *
 * A byte that the provider does not allow is written "-xHH-" in upper-case hex
 * ("a.b" is "a-x2E-b"), and so is the '-' that would start such a sequence in
 * the name itself: the mapping is one to one and needs no memory.
 */
#ifndef RUNNER_WIRE_NAME_H
#define RUNNER_WIRE_NAME_H

#include "base/buf.h"

/* What a provider takes: a-z A-Z 0-9 _ -, these, and no more than that many. */
struct model_name_rule {
	const char *provider; /* as errors name it */
	const char *also;     /* other characters */
	size_t max;
};

/* Append the name. -EINVAL: empty, or too long. -ENOMEM. */
MUST_CHECK int model_name_encode(const struct model_name_rule *rule, const char *name,
				 struct buf *out, struct err *err);

/*
 * The same of a function that was called: models make up names, and what is
 * behind the maximum is left out, since the conversation has to go on.
 */
MUST_CHECK int model_name_encode_past(const struct model_name_rule *rule, const char *name,
				      struct buf *out, struct err *err);

/* Append a text with all bytes but a-z A-Z 0-9 _ - and `also` written so, without a limit. */
void model_name_escape(const char *also, const char *text, struct buf *out);

/* Append what a name from the wire stands for; the name itself, if that is not UTF-8. */
void model_name_decode(struct span wire, struct buf *name);

#endif

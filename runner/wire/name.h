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

/* Names that a provider takes: a-z A-Z 0-9 _ - and `also`, `max` characters at the most. */
struct model_name_rule {
	const char *provider; /* its name in errors */
	const char *also;     /* other characters */
	size_t max;
};

/* Append the name. -EINVAL: empty, or too long. -ENOMEM. */
MUST_CHECK int model_name_encode(const struct model_name_rule *rule, const char *name,
				 struct buf *out, struct err *err);

/*
 * Append the name of a function that was called. Models make up names: characters
 * after the maximum are left out, since the conversation must go on.
 */
MUST_CHECK int model_name_encode_past(const struct model_name_rule *rule, const char *name,
				      struct buf *out, struct err *err);

/* Append a text with each byte but a-z A-Z 0-9 _ - and `also` as "-xHH-", without a limit. */
void model_name_escape(const char *also, const char *text, struct buf *out);

/* Append the name that a name on the wire stands for; if that is not UTF-8, the wire's. */
void model_name_decode(struct span wire, struct buf *name);

#endif

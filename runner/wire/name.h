/*
 * Names of functions on the wire of a provider.
 *
 * A byte that the provider does not allow is written "-xHH-" in upper-case hex
 * ("a.b" is "a-x2E-b"). A '-' that would begin such a sequence in the name itself is
 * written so too: every name has one form, and can be decoded without a table.
 */
#ifndef RUNNER_WIRE_NAME_H
#define RUNNER_WIRE_NAME_H

#include "base/buf.h"

/* The names that a provider takes: 1 to `max` characters of a-z A-Z 0-9 _ - and `also`. */
struct model_name_rule {
	const char *provider; /* its name in errors */
	const char *also;     /* other characters */
	size_t max;
};

/* Append the name as it is sent. -EINVAL: it is empty or too long; -ENOMEM. */
MUST_CHECK int model_name_encode(const struct model_name_rule *rule, const char *name,
				 struct buf *out, struct err *err);

/*
 * Append the name of a function that a model called, cut at the maximum: models make up names,
 * and the conversation must go on. -EINVAL: it is empty; -ENOMEM.
 */
MUST_CHECK int model_name_encode_past(const struct model_name_rule *rule, const char *name,
				      struct buf *out, struct err *err);

/* Append a text, with "-xHH-" for each byte that is not in a-z A-Z 0-9 _ - and `also`. */
void model_name_escape(const char *also, const char *text, struct buf *out);

/* Append the decoded form of a name on the wire; if it is not UTF-8, the name unchanged. */
void model_name_decode(struct span wire, struct buf *name);

#endif

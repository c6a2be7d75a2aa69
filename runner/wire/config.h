/*
 * generate_content_config on the wire of a provider: a row per member.
 *
 * A member without a row has no counterpart and is refused: an agent that asks
 * for something must not silently run without it.
 */
#ifndef RUNNER_WIRE_CONFIG_H
#define RUNNER_WIRE_CONFIG_H

#include "runner/wire/provider.h"

/* A provider's config while it is written, into the object that is open in out. */
struct model_config {
	const struct question *q;
	const char *provider; /* its name in errors */
	struct buf *out;
	struct err *err;
	const void *arg; /* of the provider's own rows */
};

struct model_option {
	const char *name; /* in generate_content_config, camelCase; NULL ends a table */
	const char *wire; /* in the request */
	int (*put)(const struct model_config *w, const struct model_option *o, const json_t *value);
};

/* Fail with "generate_content_config: NAME: WHAT". -EINVAL. */
int model_option_bad(const struct model_config *w, const char *name, const char *what);

/* Write the members that are there, in the order of the rows; null counts as absent. */
MUST_CHECK int model_config_put(const struct model_config *w, const struct model_option *rows);

/* Check that each member has a row in one of two tables; more may be NULL. -EINVAL names it. */
MUST_CHECK int model_config_check(const struct model_config *w, const struct model_option *rows,
				  const struct model_option *more);

/* Functions for rows. 0; -EINVAL; -ENOMEM. */
int model_option_number(const struct model_config *w, const struct model_option *o,
			const json_t *value);
int model_option_integer(const struct model_config *w, const struct model_option *o,
			 const json_t *value);
int model_option_json(const struct model_config *w, const struct model_option *o,
		      const json_t *value); /* as it is */
int model_option_one(const struct model_config *w, const struct model_option *o,
		     const json_t *value); /* only 1, and not sent */
int model_option_off(const struct model_config *w, const struct model_option *o,
		     const json_t *value); /* only false, and not sent */
int model_option_ignore(const struct model_config *w, const struct model_option *o,
			const json_t *value); /* for another row to look at */
int model_option_extra(const struct model_config *w, const struct model_option *o,
		       const json_t *value); /* httpOptions that hold extraBody only; not sent */

/*
 * Write a member with text around the value: a schema between two texts; `json`, when the
 * answer must be JSON without a schema; a thinkingLevel in lower case as the named member.
 */
MUST_CHECK int model_config_put_schema(const struct model_config *w, const struct model_option *o,
				       const json_t *schema, const char *before, const char *after);
MUST_CHECK int model_config_put_json(const struct model_config *w, const struct model_option *o,
				     struct span json);
MUST_CHECK int model_config_put_level(const struct model_config *w, const struct model_option *o,
				      const char *member, const char *level);

/* Members that people add to the body of the request: httpOptions.extraBody, or NULL. */
const json_t *model_config_extra(const struct question *q);

/*
 * Write the members of extra; NULL: there are none. -EINVAL: one is written by a row that has
 * a value, or by the provider itself (own, NULL at the end; NULL: nothing).
 */
MUST_CHECK int model_config_put_extra(const struct model_config *w, const struct model_option *rows,
				      const json_t *extra, const char *const *own);

/* The schema of the answer: responseJsonSchema, or NULL. */
const json_t *model_config_schema(const struct question *q);

/* Whether the answer must be JSON without a schema. -EINVAL: a type that nobody gives. */
MUST_CHECK int model_config_mime(const struct model_config *w, bool *json);

/* toolConfig.functionCallingConfig. */
enum model_choice { MODEL_CHOICE_AUTO, MODEL_CHOICE_ANY, MODEL_CHOICE_NONE };
struct model_tool_choice {
	enum model_choice mode;
	const char *only; /* a single function that is allowed; NULL: all are */
	size_t allowed;   /* how many are named; 0: all */
};
MUST_CHECK int model_config_choice(const struct model_config *w, struct model_tool_choice *out);

#endif

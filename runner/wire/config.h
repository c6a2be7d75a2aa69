/*
 * generate_content_config in the request to a provider: a row of a table per member.
 *
 * A member without a row is refused: an agent that asks for something must not
 * silently run without it.
 */
#ifndef RUNNER_WIRE_CONFIG_H
#define RUNNER_WIRE_CONFIG_H

#include "runner/wire/provider.h"

/* The config while it is written into a JSON object that has begun in out. */
struct model_config {
	const struct question *q;
	const char *provider; /* its name in errors */
	struct buf *out;
	struct err *err;
	const void *arg; /* for the functions of the provider's own rows */
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

/* Functions for rows: write a value of a certain form. -EINVAL: another form; -ENOMEM. */
int model_option_number(const struct model_config *w, const struct model_option *o,
			const json_t *value);
int model_option_integer(const struct model_config *w, const struct model_option *o,
			 const json_t *value);
int model_option_json(const struct model_config *w, const struct model_option *o,
		      const json_t *value); /* any JSON, unchanged */
int model_option_one(const struct model_config *w, const struct model_option *o,
		     const json_t *value); /* must be 1; not sent */
int model_option_off(const struct model_config *w, const struct model_option *o,
		     const json_t *value); /* must be false; not sent */
int model_option_ignore(const struct model_config *w, const struct model_option *o,
			const json_t *value); /* written elsewhere */
int model_option_extra(const struct model_config *w, const struct model_option *o,
		       const json_t *value); /* httpOptions with nothing but extraBody; not sent */

/*
 * Write a schema between two texts; `json`, if the answer must be JSON but has no schema;
 * the letters of a thinkingLevel in lower case. -EINVAL; -ENOMEM.
 */
MUST_CHECK int model_config_put_schema(const struct model_config *w, const struct model_option *o,
				       const json_t *schema, const char *before, const char *after);
MUST_CHECK int model_config_put_json(const struct model_config *w, const struct model_option *o,
				     struct span json);
MUST_CHECK int model_config_put_level(const struct model_config *w, const struct model_option *o,
				      const char *member, const char *level);

/* httpOptions.extraBody: members that the user adds to the body of the request; or NULL. */
const json_t *model_config_extra(const struct question *q);

/*
 * Write the members of extra, which may be NULL. -EINVAL: the request has a member of that name
 * already, from a row or from the provider itself. own: the provider's members, NULL at the end;
 * NULL: none.
 */
MUST_CHECK int model_config_put_extra(const struct model_config *w, const struct model_option *rows,
				      const json_t *extra, const char *const *own);

/* responseJsonSchema, the schema of the answer; or NULL. */
const json_t *model_config_schema(const struct question *q);

/* *json: whether responseMimeType is application/json. -EINVAL: a type that is not supported. */
MUST_CHECK int model_config_mime(const struct model_config *w, bool *json);

/* toolConfig.functionCallingConfig: whether the model must, may or must not call. */
enum model_choice { MODEL_CHOICE_AUTO, MODEL_CHOICE_ANY, MODEL_CHOICE_NONE };
struct model_tool_choice {
	enum model_choice mode;
	const char *only; /* the only function that is allowed; NULL: not a single one */
	size_t allowed;   /* how many functions are named; 0: all are allowed */
};

/* Read the choice. -EINVAL: an unknown mode. */
MUST_CHECK int model_config_choice(const struct model_config *w, struct model_tool_choice *out);

#endif

/*
 * generate_content_config on the wire: see config.h.
 */
#include "runner/wire/config.h"

#include "base/json_text.h"
#include "runner/syntax/json_put.h"
#include "runner/syntax/schema_copy.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <strings.h>

#define EXTRA_BODY "extraBody"

int model_option_bad(const struct model_config *w, const char *name, const char *what)
{
	return err_set(w->err, -EINVAL, "generate_content_config: %s: %s", name, what);
}

static bool has_row(const struct model_option *rows, const char *name)
{
	while (rows && rows->name && strcmp(rows->name, name) != 0)
		rows++;
	return rows && rows->name;
}

int model_config_check(const struct model_config *w, const struct model_option *rows,
		       const struct model_option *more)
{
	json_t *config = (json_t *)w->q->config; /* json_object_foreach takes no const */
	const char *name;
	json_t *value;

	json_object_foreach(config, name, value)
	{
		if (!json_is_null(value) && !has_row(rows, name) && !has_row(more, name))
			return err_set(w->err, -EINVAL,
				       "generate_content_config: %s: cannot be sent to %s", name,
				       w->provider);
	}
	return 0;
}

int model_config_put(const struct model_config *w, const struct model_option *rows)
{
	for (; rows->name; rows++) {
		const json_t *value = json_object_get(w->q->config, rows->name);
		int r = value && !json_is_null(value) ? rows->put(w, rows, value) : 0;

		if (r < 0)
			return r == -ENOMEM ? err_nomem(w->err) : r;
	}
	return buf_check(w->out, w->err);
}

int model_option_number(const struct model_config *w, const struct model_option *o,
			const json_t *value)
{
	if (!json_is_number(value))
		return model_option_bad(w, o->name, "is not a number");
	return model_option_json(w, o, value);
}

int model_option_integer(const struct model_config *w, const struct model_option *o,
			 const json_t *value)
{
	double number = json_number_value(value);

	if (!json_is_number(value) || number != trunc(number) || fabs(number) > 1e15)
		return model_option_bad(w, o->name, "is not a whole number");
	jsonput_key(w->out, o->wire);
	buf_printf(w->out, "%.0f", number);
	return 0;
}

int model_option_json(const struct model_config *w, const struct model_option *o,
		      const json_t *value)
{
	jsonput_key(w->out, o->wire);
	return jsonput_value(w->out, value);
}

int model_option_one(const struct model_config *w, const struct model_option *o,
		     const json_t *value)
{
	return json_number_value(value) == 1 ? 0 : model_option_bad(w, o->name, "must be 1");
}

int model_option_off(const struct model_config *w, const struct model_option *o,
		     const json_t *value)
{
	if (json_is_false(value))
		return 0;
	return err_set(w->err, -EINVAL, "generate_content_config: %s: is not supported with %s",
		       o->name, w->provider);
}

int model_option_ignore(const struct model_config *w UNUSED, const struct model_option *o UNUSED,
			const json_t *value UNUSED)
{
	return 0;
}

const json_t *model_config_extra(const struct question *q)
{
	const json_t *options = json_object_get(q->config, "httpOptions");
	const json_t *extra = json_object_get(options, EXTRA_BODY);

	return json_is_object(extra) ? extra : NULL;
}

int model_option_extra(const struct model_config *w, const struct model_option *o,
		       const json_t *value)
{
	const char *name;
	json_t *option;

	json_object_foreach((json_t *)value, name, option) /* the loop takes no const */
	{
		if (json_is_null(option))
			continue;
		if (strcmp(name, EXTRA_BODY) != 0)
			return err_set(w->err, -EINVAL,
				       "generate_content_config: %s.%s: cannot be sent to %s",
				       o->name, name, w->provider);
		if (!json_is_object(option))
			return model_option_bad(w, o->name, EXTRA_BODY " is not a mapping");
	}
	return 0;
}

/* Whether a member of the request is written already. */
static bool is_written(const struct model_config *w, const struct model_option *rows,
		       const char *const *own, const char *name)
{
	for (; rows->name; rows++) {
		const json_t *value = json_object_get(w->q->config, rows->name);

		if (rows->wire && strcmp(rows->wire, name) == 0 && value && !json_is_null(value))
			return true;
	}
	while (own && *own && strcmp(*own, name) != 0)
		own++;
	return own && *own;
}

int model_config_put_extra(const struct model_config *w, const struct model_option *rows,
			   const json_t *extra, const char *const *own)
{
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)extra, name, value) /* the loop takes no const */
	{
		if (is_written(w, rows, own, name))
			return err_set(w->err, -EINVAL,
				       "generate_content_config: httpOptions." EXTRA_BODY
				       ".%.64s: is in the request already",
				       name);
		jsonput_item(w->out);
		json_quote_lossy(w->out, span_of(name));
		buf_char(w->out, ':');
		if (jsonput_value(w->out, value) < 0)
			return err_nomem(w->err);
	}
	return buf_check(w->out, w->err);
}

const json_t *model_config_schema(const struct question *q)
{
	const json_t *schema = json_object_get(q->config, "responseJsonSchema");

	return json_is_object(schema) ? schema : NULL;
}

int model_config_mime(const struct model_config *w, bool *json)
{
	const json_t *value = json_object_get(w->q->config, "responseMimeType");
	const char *mime = json_is_string(value) ? json_string_value(value) : "";

	*json = strcasecmp(mime, "application/json") == 0;
	if (!value || json_is_null(value) || *json || strcasecmp(mime, "text/plain") == 0)
		return 0;
	return err_set(w->err, -EINVAL,
		       "generate_content_config: responseMimeType: must be text/plain or "
		       "application/json with %s",
		       w->provider);
}

int model_config_put_schema(const struct model_config *w, const struct model_option *o,
			    const json_t *schema, const char *before, const char *after)
{
	int r;

	if (!json_is_object(schema))
		return model_option_bad(w, o->name, "is not an object");
	jsonput_key(w->out, o->wire);
	buf_text(w->out, before);
	r = schema_copy_put(schema, w->out);
	buf_text(w->out, after);
	return r == -E2BIG ? model_option_bad(w, o->name, "is nested too deeply") : r;
}

/* A schema says already that the answer is JSON. */
int model_config_put_json(const struct model_config *w, const struct model_option *o,
			  struct span json)
{
	bool wanted;
	int r = model_config_mime(w, &wanted);

	if (r == 0 && wanted && !model_config_schema(w->q))
		jsonput_raw(w->out, o->wire, json);
	return r;
}

int model_config_put_level(const struct model_config *w, const struct model_option *o,
			   const char *member, const char *level)
{
	size_t i;

	jsonput_key(w->out, member);
	buf_char(w->out, '"');
	for (i = 0; isalpha((unsigned char)level[i]); i++)
		buf_char(w->out, (char)tolower((unsigned char)level[i]));
	buf_char(w->out, '"');
	return level[i] ? model_option_bad(w, o->name, "the thinkingLevel is not a word") : 0;
}

static const struct {
	const char *word;
	enum model_choice mode;
} modes[] = {
	{ "AUTO", MODEL_CHOICE_AUTO },      { "MODE_UNSPECIFIED", MODEL_CHOICE_AUTO },
	{ "VALIDATED", MODEL_CHOICE_AUTO }, { "ANY", MODEL_CHOICE_ANY },
	{ "NONE", MODEL_CHOICE_NONE },
};

int model_config_choice(const struct model_config *w, struct model_tool_choice *out)
{
	const json_t *config = json_object_get(w->q->config, "toolConfig");
	const json_t *calling = json_object_get(config, "functionCallingConfig");
	const json_t *names = json_object_get(calling, "allowedFunctionNames");
	const char *word = json_string_value(json_object_get(calling, "mode"));
	size_t i = 0;

	*out = (struct model_tool_choice){ .mode = MODEL_CHOICE_AUTO,
					   .allowed = json_array_size(names) };
	if (out->allowed == 1)
		out->only = json_string_value(json_array_get(names, 0));
	if (!word)
		return 0;
	while (i < ARRAY_SIZE(modes) && strcasecmp(modes[i].word, word) != 0)
		i++;
	if (i == ARRAY_SIZE(modes))
		return model_option_bad(w, "toolConfig", "the mode is not AUTO, ANY or NONE");
	out->mode = modes[i].mode;
	return 0;
}

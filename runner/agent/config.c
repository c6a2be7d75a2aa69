/*
 * generate_content_config: see config.h. The table of options is first.
 */
#include "runner/agent/config.h"

#include <errno.h>
#include <stdio.h>

#define NAME_MAX_LEN 128

enum kind {
	KIND_NUMBER,
	KIND_INTEGER,
	KIND_BOOL,
	KIND_TEXT,
	KIND_LIST,
	KIND_TEXTS,
	KIND_OBJECT,
	KIND_REFUSED,
};

static const struct option {
	const char *name;
	enum kind kind;
	const char *instead; /* for KIND_REFUSED: the field to use */
} options[] = {
	{ "temperature", KIND_NUMBER, NULL },
	{ "topP", KIND_NUMBER, NULL },
	{ "topK", KIND_NUMBER, NULL },
	{ "candidateCount", KIND_INTEGER, NULL },
	{ "maxOutputTokens", KIND_INTEGER, NULL },
	{ "stopSequences", KIND_TEXTS, NULL },
	{ "presencePenalty", KIND_NUMBER, NULL },
	{ "frequencyPenalty", KIND_NUMBER, NULL },
	{ "seed", KIND_INTEGER, NULL },
	{ "responseLogprobs", KIND_BOOL, NULL },
	{ "logprobs", KIND_INTEGER, NULL },
	{ "responseMimeType", KIND_TEXT, NULL },
	{ "responseJsonSchema", KIND_OBJECT, NULL },
	{ "responseModalities", KIND_TEXTS, NULL },
	{ "safetySettings", KIND_LIST, NULL },
	{ "toolConfig", KIND_OBJECT, NULL },
	{ "thinkingConfig", KIND_OBJECT, NULL },
	{ "labels", KIND_OBJECT, NULL },
	{ "cachedContent", KIND_TEXT, NULL },
	{ "mediaResolution", KIND_TEXT, NULL },
	{ "speechConfig", KIND_OBJECT, NULL },
	{ "audioTimestamp", KIND_BOOL, NULL },
	{ "routingConfig", KIND_OBJECT, NULL },
	{ "modelSelectionConfig", KIND_OBJECT, NULL },
	{ "automaticFunctionCalling", KIND_OBJECT, NULL },
	{ "httpOptions", KIND_OBJECT, NULL },
	{ "tools", KIND_REFUSED, "tools" },
	{ "systemInstruction", KIND_REFUSED, "instruction" },
	{ "responseSchema", KIND_REFUSED, "output_schema" },
};

/* Maps whose member names are the user's own, and stay unchanged. */
static const char *const free_maps[] = {
	"responseJsonSchema",
	"labels",
	"headers",
	"extraBody",
};

#define TYPE(type) (1u << (type))

static const struct {
	const char *say;
	unsigned types; /* jansson's, as bits */
} kinds[] = {
	[KIND_NUMBER] = { "a number", TYPE(JSON_INTEGER) | TYPE(JSON_REAL) },
	[KIND_INTEGER] = { "an integer", TYPE(JSON_INTEGER) },
	[KIND_BOOL] = { "true or false", TYPE(JSON_TRUE) | TYPE(JSON_FALSE) },
	[KIND_TEXT] = { "a text", TYPE(JSON_STRING) },
	[KIND_LIST] = { "a list", TYPE(JSON_ARRAY) },
	[KIND_TEXTS] = { "a list of texts", TYPE(JSON_ARRAY) },
	[KIND_OBJECT] = { "a mapping", TYPE(JSON_OBJECT) },
};

static bool is_of_kind(enum kind kind, const json_t *value)
{
	json_t *item;
	size_t i;

	json_array_foreach(value, i, item)
	{
		if (kind == KIND_TEXTS && !json_is_string(item))
			return false;
	}
	return kinds[kind].types & TYPE(json_typeof(value));
}

static const struct option *find_option(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(options); i++) {
		if (!strcmp(options[i].name, name))
			return &options[i];
	}
	return NULL;
}

static bool is_free_map(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(free_maps); i++) {
		if (!strcmp(free_maps[i], name))
			return true;
	}
	return false;
}

/* Write max_output_tokens as maxOutputTokens. A name without '_' stays. False: too long. */
static bool to_camel(const char *name, char *out)
{
	size_t n = 0;

	for (; *name; name++) {
		if (n + 1 == NAME_MAX_LEN)
			return false;
		if (*name == '_' && n && name[1] >= 'a' && name[1] <= 'z')
			out[n++] = (char)(*++name - 'a' + 'A');
		else
			out[n++] = *name;
	}
	out[n] = 0;
	return true;
}

static json_t *camel_value(const json_t *value);

static json_t *camel_list(const json_t *list)
{
	json_auto_t *out = json_array();
	json_t *item;
	size_t i;

	json_array_foreach(list, i, item)
	{
		if (json_array_append_new(out, camel_value(item)))
			return NULL;
	}
	return STEAL(&out);
}

static json_t *camel_map(const json_t *map)
{
	json_auto_t *out = json_object();
	const char *key;
	json_t *value;

	/* jansson's loop wants a mutable object, but does not change it */
	json_object_foreach((json_t *)map, key, value)
	{
		char name[NAME_MAX_LEN];
		const char *to = to_camel(key, name) ? name : key;
		json_t *new = is_free_map(to) ? json_deep_copy(value) : camel_value(value);

		if (json_object_set_new(out, to, new))
			return NULL;
	}
	return STEAL(&out);
}

/* Copy a value with all names in camelCase, except those in free maps. NULL: out of memory. */
static json_t *camel_value(const json_t *value)
{
	if (json_is_object(value))
		return camel_map(value);
	if (json_is_array(value))
		return camel_list(value);
	return json_deep_copy(value);
}

static int read_option(const struct yaml_tree *tree, const char *key, const json_t *value,
		       json_t *config, struct err *err)
{
	const struct option *option = NULL;
	char path[sizeof GENCONFIG_FIELD + NAME_MAX_LEN];
	char name[NAME_MAX_LEN];
	json_t *copy;

	(void)snprintf(path, sizeof path, "%s.%.100s", GENCONFIG_FIELD, key);
	if (to_camel(key, name))
		option = find_option(name);
	if (!option)
		return yaml_tree_fail(tree, err, path, "unknown option");
	if (option->kind == KIND_REFUSED)
		return yaml_tree_fail(tree, err, path, "belongs in the field %s", option->instead);
	if (json_is_null(value))
		return 0;
	if (!is_of_kind(option->kind, value))
		return yaml_tree_fail(tree, err, path, "must be %s", kinds[option->kind].say);
	if (json_object_get(config, name))
		return yaml_tree_fail(tree, err, path, "is set twice");
	copy = is_free_map(name) ? json_deep_copy(value) : camel_value(value);
	return json_object_set_new(config, name, copy) ? err_nomem(err) : 0;
}

int genconfig_read(const struct yaml_tree *tree, const json_t *value, json_t **out, struct err *err)
{
	json_auto_t *config = json_object();
	const char *key;
	json_t *option;

	if (!config)
		return err_nomem(err);
	json_object_foreach((json_t *)value, key, option)
	{
		int r = read_option(tree, key, option, config, err);

		if (r < 0)
			return r;
	}
	*out = STEAL(&config);
	return 0;
}

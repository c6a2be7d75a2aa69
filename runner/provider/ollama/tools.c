/*
 * Tools for Ollama. The server reads their schemas into structs: members that it does not
 * know are lost, and values of another form make it refuse the request. So we send only
 * what the server takes, and the review reports what is left out.
 *
 * Some unknown members are sent in another form: const, oneOf, an allOf with one schema,
 * and references inside the schema.
 */
#include "runner/provider/ollama/ollama.h"

#include "runner/syntax/json_put.h"
#include "runner/syntax/schema_copy.h"
#include "runner/syntax/schema_ref.h"
#include "runner/wire/tool.h"

#include <errno.h>
#include <strings.h>

#define REFS_MAX  256        /* references that are followed in one schema */
#define REF_DEPTH 4          /* references inside references: a schema may hold itself */
#define REF_BYTES (1u << 20) /* of all schemas that references lead to */
#define LEFT_OUT  1          /* the value cannot be sent */

/* A schema while it is narrowed. */
struct narrowing {
	const json_t *root; /* what references are relative to */
	const char *tool;
	model_review_fn *fn; /* gets a sentence for each loss; NULL: not called */
	void *arg;
	int stopped;     /* what fn returned */
	struct buf path; /* of the current schema */
	unsigned refs;   /* followed so far */
	size_t bytes;    /* of the schemas that they led to */
	unsigned ref_depth;
};

/* The level of a schema, and its form for Ollama. */
struct level {
	int depth; /* levels that may still be opened */
	json_t *out;
};

struct member {
	const char *name;
	const char *wire;
	int type; /* of the JSON value; ANY: every type */
	int (*take)(struct narrowing *n, const struct member *m, const json_t *value,
		    const struct level *at);
};

#define ANY (-1)

const struct model_name_rule ollama_names = { OLLAMA_NAME, ".", 128 };

static int narrow_property(struct narrowing *n, const json_t *schema, int depth, json_t *out);

static int take(struct narrowing *n UNUSED, const struct member *m, const json_t *value,
		const struct level *at)
{
	return json_object_set_new(at->out, m->wire, json_deep_copy(value)) ? -ENOMEM : 0;
}

static int take_texts(struct narrowing *n, const struct member *m, const json_t *value,
		      const struct level *at)
{
	json_t *item;
	size_t i;

	json_array_foreach(value, i, item)
	{
		if (!json_is_string(item))
			return LEFT_OUT;
	}
	return json_is_array(value) ? take(n, m, value, at) : LEFT_OUT;
}

static int take_type(struct narrowing *n, const struct member *m, const json_t *value,
		     const struct level *at)
{
	return json_is_string(value) ? take(n, m, value, at) : take_texts(n, m, value, at);
}

/* The root is always sent as an object; another type is left out. */
static int take_root_type(struct narrowing *n UNUSED, const struct member *m UNUSED,
			  const json_t *value, const struct level *at UNUSED)
{
	const char *word = json_string_value(value);

	return word && strcasecmp(word, "object") == 0 ? 0 : LEFT_OUT;
}

static int take_const(struct narrowing *n UNUSED, const struct member *m, const json_t *value,
		      const struct level *at)
{
	json_t *list = json_array();
	int r = list ? json_array_append_new(list, json_deep_copy(value)) : -1;

	if (r == 0)
		r = json_object_set(at->out, m->wire, list);
	json_decref(list);
	return r ? -ENOMEM : 0;
}

/* Narrow a schema. Its path was appended at `mark`, and is removed again. */
static int narrow_at(struct narrowing *n, size_t mark, const json_t *schema, int depth, json_t *out)
{
	int r = buf_check(&n->path, NULL);

	if (r == 0)
		r = narrow_property(n, schema, depth, out);
	n->path.len = mark;
	return r;
}

static int take_choices(struct narrowing *n, const struct member *m, const json_t *value,
			const struct level *at)
{
	json_t *list = json_array();
	json_t *item;
	size_t i;
	int r = json_object_set_new(at->out, m->wire, list) ? -ENOMEM : 0;

	json_array_foreach(value, i, item)
	{
		size_t mark = n->path.len;
		json_t *one = r < 0 ? NULL : json_object();

		if (r < 0)
			break;
		if (json_array_append_new(list, one))
			r = -ENOMEM;
		buf_printf(&n->path, ".%s[%zu]", m->name, i);
		if (r == 0)
			r = narrow_at(n, mark, item, at->depth, one);
	}
	return r;
}

static int take_properties(struct narrowing *n, const struct member *m, const json_t *value,
			   const struct level *at)
{
	json_t *map = json_object();
	const char *key;
	json_t *item;
	int r = json_object_set_new(at->out, m->wire, map) ? -ENOMEM : 0;

	json_object_foreach((json_t *)value, key, item) /* the loop takes no const */
	{
		size_t mark = n->path.len;
		json_t *one = r < 0 ? NULL : json_object();

		if (r < 0)
			break;
		if (json_object_set_new(map, key, one))
			r = -ENOMEM;
		buf_printf(&n->path, ".%s.%s", m->name, key);
		if (r == 0)
			r = narrow_at(n, mark, item, at->depth, one);
	}
	return r;
}

static const struct member root_members[] = {
	{ "type", "type", JSON_STRING, take_root_type },
	{ "$defs", "$defs", ANY, take },
	{ "items", "items", ANY, take },
	{ "required", "required", JSON_ARRAY, take_texts },
	{ "properties", "properties", JSON_OBJECT, take_properties },
	{ 0 },
};

static const struct member members[] = {
	{ "type", "type", ANY, take_type },
	{ "description", "description", JSON_STRING, take },
	{ "enum", "enum", JSON_ARRAY, take },
	{ "const", "enum", ANY, take_const },
	{ "items", "items", ANY, take },
	{ "anyOf", "anyOf", JSON_ARRAY, take_choices },
	{ "oneOf", "anyOf", JSON_ARRAY, take_choices },
	{ "properties", "properties", JSON_OBJECT, take_properties },
	{ "required", "required", JSON_ARRAY, take_texts },
	{ 0 },
};

/* Whether a member says nothing about values. */
static bool is_note(const char *name)
{
	static const char *const notes[] = { "$schema", "$id", "$anchor", "$comment", "title" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(notes); i++) {
		if (strcmp(notes[i], name) == 0)
			return true;
	}
	return false;
}

static int report(struct narrowing *n, const struct buf *left)
{
	CLEANUP(buf_release) struct buf text = { 0 };

	if (!left->len || !n->fn)
		return buf_check(left, NULL);
	buf_printf(&text, "tool '%.64s': %.*s is sent to " OLLAMA_NAME " without %.*s", n->tool,
		   (int)n->path.len, n->path.data, (int)left->len, left->data);
	if (left->failed || !buf_cstr(&text))
		return -ENOMEM;
	n->stopped = n->fn(n->arg, text.data);
	return n->stopped ? -ECANCELED : 0;
}

static int take_member(struct narrowing *n, const struct member *table, const char *name,
		       const json_t *value, const struct level *at)
{
	const struct member *m = table;

	while (m->name && strcmp(m->name, name) != 0)
		m++;
	if (!m->name || (m->type != ANY && m->type != (int)json_typeof(value)) ||
	    (json_object_get(at->out, m->wire) && m->take != take_root_type))
		return LEFT_OUT;
	return m->take(n, m, value, at);
}

/* Take each member of a schema by its row in a table. */
static int take_members(struct narrowing *n, const struct member *table, const json_t *schema,
			const struct level *at)
{
	CLEANUP(buf_release) struct buf left = { 0 };
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)schema, name, value) /* the loop takes no const */
	{
		int r = take_member(n, table, name, value, at);

		if (r < 0)
			return r;
		if (r == LEFT_OUT && !is_note(name))
			buf_printf(&left, "%s%s", left.len ? ", " : "", name);
	}
	return report(n, &left);
}

/* The size of a value in bytes, estimated; counting stops at max. */
static size_t weigh(const json_t *value, size_t max)
{
	size_t size = 8 + json_string_length(value);
	const char *name;
	json_t *member;
	size_t i;

	json_object_foreach((json_t *)value, name, member) /* the loop takes no const */
	{
		if (size <= max)
			size += strlen(name) + weigh(member, max - size);
	}
	json_array_foreach(value, i, member)
	{
		if (size <= max)
			size += weigh(member, max - size);
	}
	return size;
}

/*
 * Merge a schema with the schema that its $ref, or its single allOf, leads to; its own members
 * win. *out is a new reference; NULL: there is nothing to merge, or too much was merged already.
 */
static int merge_base(struct narrowing *n, const json_t *schema, json_t **out)
{
	const json_t *all = json_object_get(schema, "allOf");
	const char *ref = json_string_value(json_object_get(schema, "$ref"));
	const char *by = ref ? "$ref" : "allOf";
	const json_t *base = NULL;
	json_auto_t *merged = NULL;
	int r = 0;

	*out = NULL;
	if (n->refs == REFS_MAX || n->ref_depth == REF_DEPTH)
		return 0;
	if (ref && *ref)
		r = schema_find_ref(n->root, ref, NULL, &base);
	else if (json_array_size(all) == 1)
		base = json_array_get(all, 0);
	if (base)
		n->bytes += weigh(base, REF_BYTES);
	if (!json_is_object(base) || n->bytes > REF_BYTES)
		return r == -ENOMEM ? r : 0;
	merged = json_copy((json_t *)base);
	if (!merged || json_object_update(merged, (json_t *)schema))
		return -ENOMEM;
	if (json_object_get(base, by))
		(void)json_object_set(merged, by, json_object_get(base, by));
	else
		(void)json_object_del(merged, by);
	*out = STEAL(&merged);
	return 0;
}

/* Add the parts of a schema that can be sent to `out`. depth: levels that may still open. */
static int narrow(struct narrowing *n, const struct member *table, const json_t *schema, int depth,
		  json_t *out)
{
	const struct level at = { depth - 1, out };
	json_auto_t *merged = NULL;
	int r = depth > 0 ? merge_base(n, schema, &merged) : -E2BIG;

	if (r < 0)
		return r;
	if (!merged)
		return take_members(n, table, schema, &at);
	n->refs++;
	n->ref_depth++;
	r = narrow(n, table, merged, depth - 1, out);
	n->ref_depth--;
	return r;
}

static int narrow_property(struct narrowing *n, const json_t *schema, int depth, json_t *out)
{
	return narrow(n, members, schema, depth, out);
}

/* Make the schema of parameters that Ollama takes. */
static int narrow_root(struct narrowing *n, json_t **out)
{
	json_auto_t *root = json_pack("{s:s}", "type", "object");
	int r = root ? 0 : -ENOMEM;

	buf_text(&n->path, "parameters");
	if (r == 0)
		r = narrow(n, root_members, n->root, SCHEMA_COPY_DEPTH, root);
	if (r == 0 && !json_object_get(root, "properties") &&
	    json_object_set_new(root, "properties", json_object()))
		r = -ENOMEM;
	if (r == 0)
		*out = STEAL(&root);
	buf_release(&n->path);
	return r;
}

static int put_parameters(const struct model_tool *tool, struct buf *out)
{
	struct narrowing n = { .root = tool->parameters, .tool = tool->name };
	json_auto_t *schema = NULL;
	int r = narrow_root(&n, &schema);

	jsonput_key(out, "parameters");
	return r < 0 ? r : schema_copy_put(schema, out);
}

static const struct model_tool_form tool_form = { MODEL_TOOL_LIST, MODEL_TOOL_FUNCTION,
						  .put_parameters = put_parameters };

int ollama_tools(const struct question *q, struct buf *out, struct err *err)
{
	bool may;
	int r = ollama_may_call(q, &may, err);

	return r < 0 || !may ? r : model_tools_put(&tool_form, &ollama_names, q, out, err);
}

/* A schema that is nested too deeply is not reported here: encode() refuses it. */
int ollama_review(const struct question *q, model_review_fn *fn, void *arg)
{
	size_t i;
	int r = 0;

	for (i = 0; r == 0 && i < q->tool_count; i++) {
		struct narrowing n = { .root = q->tools[i].parameters,
				       .tool = q->tools[i].name,
				       .fn = fn,
				       .arg = arg };
		json_auto_t *schema = NULL;

		r = narrow_root(&n, &schema);
		if (r == -E2BIG)
			r = 0;
		else if (n.stopped)
			r = n.stopped;
	}
	return r;
}

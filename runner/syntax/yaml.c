/*
 * YAML: see yaml.h. libyaml reads events; this file makes values of them.
 */
#include "runner/syntax/yaml.h"

#include "runner/syntax/yaml_plain.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <yaml.h>

#define TAG_PREFIX    "tag:yaml.org,2002:"
#define MERGE_KEY     "<<"
#define WEIGHT_OF_ONE 64

struct reader {
	yaml_parser_t parser;
	struct yaml_tree *tree;
	json_t *anchors; /* object: name -> value */
	struct buf path; /* of the value that is being read */
	size_t weight;
	int depth;
	struct yaml_plain plain;
	struct err *err;
};

void yaml_tree_free(struct yaml_tree *tree)
{
	if (!tree)
		return;
	free(tree->file);
	json_decref(tree->root);
	json_decref(tree->lines);
	free(tree);
}

struct yaml_tree *yaml_tree_new(const char *file)
{
	CLEANUP(yaml_tree_free_p) struct yaml_tree *tree = calloc(1, sizeof *tree);

	if (!tree)
		return NULL;
	tree->file = strdup(file);
	tree->lines = json_object();
	return tree->file && tree->lines ? STEAL(&tree) : NULL;
}

/* Errors */

static int fail_at(struct reader *r, size_t line, const char *fmt, ...) PRINTF(3, 4);

static int fail_at(struct reader *r, size_t line, const char *fmt, ...)
{
	char text[200];
	va_list args;

	va_start(args, fmt);
	(void)vsnprintf(text, sizeof text, fmt, args);
	va_end(args);
	return err_set(r->err, -EINVAL, "%s:%zu: %s", r->tree->file, line + 1, text);
}

static int parser_error(struct reader *r)
{
	const yaml_parser_t *p = &r->parser;
	size_t line = p->problem_mark.line;

	if (p->error == YAML_MEMORY_ERROR)
		return err_nomem(r->err);
	if (p->error == YAML_READER_ERROR)
		line = p->mark.line;
	return fail_at(r, line, "%s%s%s", p->problem ? p->problem : "not YAML",
		       p->context ? " " : "", p->context ? p->context : "");
}

static int next_event(struct reader *r, yaml_event_t *event)
{
	return yaml_parser_parse(&r->parser, event) ? 0 : parser_error(r);
}

static void yaml_event_release(yaml_event_t *event)
{
	yaml_event_delete(event);
}

#define EVENT(name) CLEANUP(yaml_event_release) yaml_event_t name = { 0 }

/* Scalars */

/* The part of a tag after YAML's own prefix; NULL without a tag; "?" for a foreign one. */
static const char *known_tag(const yaml_char_t *tag)
{
	const char *text = (const char *)tag;

	if (!text || !strcmp(text, "!"))
		return NULL;
	if (strncmp(text, TAG_PREFIX, strlen(TAG_PREFIX)) != 0)
		return "?";
	return text + strlen(TAG_PREFIX);
}

static int string_value(struct reader *r, const yaml_event_t *event, json_t **out)
{
	const char *text = (const char *)event->data.scalar.value;
	size_t len = event->data.scalar.length;

	if (memchr(text, 0, len))
		return fail_at(r, event->start_mark.line, "contains a NUL character");
	*out = json_stringn(text, len);
	return *out ? 0 : err_nomem(r->err);
}

/* Read a scalar by its looks; *tag is set to the last part of the tag that fits. */
static int looked_at_value(struct reader *r, const yaml_event_t *event, const char **tag,
			   json_t **out)
{
	struct span text = { (const char *)event->data.scalar.value, event->data.scalar.length };
	int e = yaml_plain_read(&r->plain, text, tag, out);

	if (e == -ERANGE)
		return fail_at(r, event->start_mark.line,
			       "the number is out of range; put a text in quotes");
	if (e == -ENOENT) {
		*tag = "str";
		return string_value(r, event, out);
	}
	return e < 0 ? err_nomem(r->err) : 0;
}

/* Read a scalar with a tag other than !!str, which must look like its tag. */
static int tagged_value(struct reader *r, const yaml_event_t *event, const char *tag, json_t **out)
{
	json_auto_t *value = NULL;
	const char *looks;
	int e = looked_at_value(r, event, &looks, &value);

	if (e < 0)
		return e;
	if (json_is_integer(value) && !strcmp(tag, "float")) {
		*out = json_real((double)json_integer_value(value));
		return *out ? 0 : err_nomem(r->err);
	}
	if (strcmp(tag, looks) != 0)
		return fail_at(r, event->start_mark.line, "the tag !!%.40s does not fit its value",
			       tag);
	*out = STEAL(&value);
	return 0;
}

static int scalar_value(struct reader *r, const yaml_event_t *event, json_t **out)
{
	const char *tag = known_tag(event->data.scalar.tag);

	if (tag && !strcmp(tag, "str"))
		return string_value(r, event, out);
	if (tag && (!strcmp(tag, "int") || !strcmp(tag, "float") || !strcmp(tag, "bool") ||
		    !strcmp(tag, "null")))
		return tagged_value(r, event, tag, out);
	if (tag)
		return fail_at(r, event->start_mark.line, "the tag %.60s is not supported",
			       event->data.scalar.tag);
	if (event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE)
		return looked_at_value(r, event, &tag, out);
	return string_value(r, event, out);
}

/* Weight, anchors, lines */

static size_t weight_of(const json_t *value)
{
	size_t weight = WEIGHT_OF_ONE;
	const char *key;
	json_t *item;
	size_t i;

	if (json_is_string(value))
		return weight + json_string_length(value);
	if (json_is_array(value)) {
		json_array_foreach(value, i, item) weight += weight_of(item);
	} else if (json_is_object(value)) {
		/* jansson's loop wants a mutable object, but does not change it */
		json_object_foreach((json_t *)value, key, item)
			weight += strlen(key) + weight_of(item);
	}
	return weight;
}

/* Levels of lists and maps. */
static int depth_of(const json_t *value)
{
	int deepest = 0;
	const char *key;
	json_t *item;
	size_t i;

	json_array_foreach(value, i, item)
	{
		int depth = depth_of(item);

		deepest = MAX(deepest, depth);
	}
	json_object_foreach((json_t *)value, key, item)
	{
		int depth = depth_of(item);

		deepest = MAX(deepest, depth);
	}
	return json_is_array(value) || json_is_object(value) ? deepest + 1 : 0;
}

static int too_deep(struct reader *r, size_t line)
{
	return fail_at(r, line, "is nested more than %d levels deep", YAML_TREE_DEPTH_MAX);
}

static int add_weight(struct reader *r, size_t line, size_t weight)
{
	r->weight += weight;
	if (r->weight <= YAML_TREE_WEIGHT_MAX)
		return 0;
	return fail_at(r, line, "too many values (aliases count each time)");
}

static int keep_anchor(struct reader *r, const yaml_char_t *name, size_t line, json_t *value)
{
	const char *key = (const char *)name;

	if (!key)
		return 0;
	if (json_object_get(r->anchors, key))
		return fail_at(r, line, "the anchor '%.60s' is defined twice", key);
	return json_object_set(r->anchors, key, value) ? err_nomem(r->err) : 0;
}

static int alias_value(struct reader *r, const yaml_event_t *event, json_t **out)
{
	const char *name = (const char *)event->data.alias.anchor;
	size_t line = event->start_mark.line;
	json_t *value = json_object_get(r->anchors, name);
	int e;

	if (!value)
		return fail_at(r, line, "the alias '%.60s' refers to no anchor before it", name);
	if (r->depth + depth_of(value) > YAML_TREE_DEPTH_MAX)
		return too_deep(r, line);
	e = add_weight(r, line, weight_of(value));
	if (e < 0)
		return e;
	*out = json_deep_copy(value);
	return *out ? 0 : err_nomem(r->err);
}

static int keep_line(struct reader *r, size_t line)
{
	const char *path = buf_cstr(&r->path);

	if (!path)
		return err_nomem(r->err);
	if (r->path.len > YAML_TREE_PATH_MAX)
		return 0;
	return json_object_set_new(r->tree->lines, path, json_integer((json_int_t)line + 1))
		       ? err_nomem(r->err)
		       : 0;
}

/* Collections */

static int value_of(struct reader *r, const yaml_event_t *event, json_t **out);

static int list_value(struct reader *r, json_t **out)
{
	json_auto_t *list = json_array();
	size_t base = r->path.len;
	int e;

	while (list) {
		json_t *item = NULL;
		EVENT(event);

		e = next_event(r, &event);
		if (e < 0)
			return e;
		if (event.type == YAML_SEQUENCE_END_EVENT) {
			*out = STEAL(&list);
			return 0;
		}
		buf_printf(&r->path, "[%zu]", json_array_size(list));
		e = keep_line(r, event.start_mark.line);
		if (e == 0)
			e = value_of(r, &event, &item);
		r->path.len = base;
		if (e < 0)
			return e;
		if (json_array_append_new(list, item))
			break;
	}
	return err_nomem(r->err);
}

/* Read a key; *merge: it is the plain "<<". */
static int key_of(struct reader *r, const yaml_event_t *event, json_t **key, bool *merge)
{
	size_t line = event->start_mark.line;
	const char *text = (const char *)event->data.scalar.value;
	json_auto_t *value = NULL;
	int e;

	if (event->type != YAML_SCALAR_EVENT)
		return fail_at(r, line, "a key must be a string");
	*merge = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE && !event->data.scalar.tag &&
		 !strcmp(text, MERGE_KEY);
	e = scalar_value(r, event, &value);
	if (e == 0)
		e = keep_anchor(r, event->data.scalar.anchor, line, value);
	if (e == 0)
		e = add_weight(r, line, event->data.scalar.length);
	if (e < 0)
		return e;
	if (!json_is_string(value))
		return fail_at(r, line, "the key %.60s is not a string: put it in quotes", text);
	*key = STEAL(&value);
	return 0;
}

static bool is_mergeable(const json_t *from)
{
	json_t *item;
	size_t i;

	json_array_foreach(from, i, item)
	{
		if (!json_is_object(item))
			return false;
	}
	return json_is_object(from) || json_is_array(from);
}

/* Add the members of `from` that the map lacks. A list of mappings is added in its order. */
static int merge_into(json_t *map, json_t *from)
{
	json_t *item;
	size_t i;

	if (json_is_object(from))
		return json_object_update_missing(map, from);
	json_array_foreach(from, i, item)
	{
		if (json_object_update_missing(map, item))
			return -1;
	}
	return 0;
}

/* Read the value of a key into the map, or into the list of mappings to merge at the end. */
static int member_value(struct reader *r, const char *key, json_t *into, size_t line)
{
	size_t base = r->path.len;
	json_t *value = NULL;
	EVENT(event);
	int e;

	e = next_event(r, &event);
	if (e < 0)
		return e;
	buf_printf(&r->path, "%s%s", base ? "." : "", key);
	e = keep_line(r, line);
	if (e == 0)
		e = value_of(r, &event, &value);
	r->path.len = base;
	if (e < 0)
		return e;
	if (json_is_object(into))
		return json_object_set_new(into, key, value) ? err_nomem(r->err) : 0;
	if (json_array_append_new(into, value))
		return err_nomem(r->err);
	return is_mergeable(value) ? 0
				   : fail_at(r, line, "<< needs a mapping or a list of mappings");
}

static int map_member(struct reader *r, const yaml_event_t *event, json_t *map, json_t *merged)
{
	size_t line = event->start_mark.line;
	json_auto_t *key = NULL;
	bool merge = false;
	int e = key_of(r, event, &key, &merge);

	if (e < 0)
		return e;
	if (!merge && json_object_get(map, json_string_value(key)))
		return fail_at(r, line, "the key '%.60s' occurs twice", json_string_value(key));
	return member_value(r, json_string_value(key), merge ? merged : map, line);
}

static int map_value(struct reader *r, json_t **out)
{
	json_auto_t *map = json_object();
	json_auto_t *merged = json_array();
	json_t *from;
	size_t i;

	if (!map || !merged)
		return err_nomem(r->err);
	for (;;) {
		EVENT(event);
		int e = next_event(r, &event);

		if (e == 0 && event.type == YAML_MAPPING_END_EVENT)
			break;
		if (e == 0)
			e = map_member(r, &event, map, merged);
		if (e < 0)
			return e;
	}
	json_array_foreach(merged, i, from)
	{
		if (merge_into(map, from))
			return err_nomem(r->err);
	}
	*out = STEAL(&map);
	return 0;
}

/* Read a list or a map, one level deeper. */
static int collection_value(struct reader *r, const yaml_event_t *event, json_t **out)
{
	size_t line = event->start_mark.line;
	bool is_list = event->type == YAML_SEQUENCE_START_EVENT;
	const yaml_char_t *raw = is_list ? event->data.sequence_start.tag
					 : event->data.mapping_start.tag;
	const char *tag = known_tag(raw);
	int e;

	if (tag && strcmp(tag, is_list ? "seq" : "map") != 0)
		return fail_at(r, line, "the tag %.60s is not supported here", raw);
	if (r->depth == YAML_TREE_DEPTH_MAX)
		return too_deep(r, line);
	r->depth++;
	e = is_list ? list_value(r, out) : map_value(r, out);
	r->depth--;
	return e;
}

static int value_of(struct reader *r, const yaml_event_t *event, json_t **out)
{
	const yaml_char_t *anchor;
	json_auto_t *value = NULL;
	size_t line = event->start_mark.line;
	size_t length = 0;
	int e;

	if (event->type == YAML_ALIAS_EVENT)
		return alias_value(r, event, out);
	if (event->type == YAML_SCALAR_EVENT) {
		anchor = event->data.scalar.anchor;
		length = event->data.scalar.length;
		e = scalar_value(r, event, &value);
	} else {
		anchor = event->type == YAML_SEQUENCE_START_EVENT
				 ? event->data.sequence_start.anchor
				 : event->data.mapping_start.anchor;
		e = collection_value(r, event, &value);
	}
	if (e == 0)
		e = add_weight(r, line, WEIGHT_OF_ONE + length);
	if (e == 0)
		e = keep_anchor(r, anchor, line, value);
	if (e == 0)
		*out = STEAL(&value);
	return e;
}

/* Documents */

/* Read the only document, after the start of the stream. */
static int read_document(struct reader *r)
{
	EVENT(start);
	EVENT(root);
	EVENT(end);
	EVENT(last);
	int e = next_event(r, &start);

	if (e < 0 || start.type == YAML_STREAM_END_EVENT)
		return e;
	e = next_event(r, &root);
	if (e == 0)
		e = keep_line(r, root.start_mark.line);
	if (e == 0)
		e = value_of(r, &root, &r->tree->root);
	if (e == 0)
		e = next_event(r, &end);
	if (e == 0)
		e = next_event(r, &last);
	if (e == 0 && last.type != YAML_STREAM_END_EVENT)
		return fail_at(r, last.start_mark.line, "a second document starts here");
	return e;
}

static void reader_release(struct reader *r)
{
	yaml_parser_delete(&r->parser);
	json_decref(r->anchors);
	buf_release(&r->path);
}

struct span yaml_tree_text(struct span text)
{
	static const char mark[] = "\xEF\xBB\xBF";
	size_t n = strlen(mark);

	return text.len >= n && !memcmp(text.data, mark, n) ? span_sub(text, n, text.len) : text;
}

static int read_tree(struct span text, struct yaml_tree *tree, struct err *err)
{
	CLEANUP(reader_release) struct reader r = { .tree = tree, .err = err };
	EVENT(start);
	int e;

	text = yaml_tree_text(text);
	r.anchors = json_object();
	if (!r.anchors || !yaml_parser_initialize(&r.parser))
		return err_nomem(err);
	yaml_parser_set_encoding(&r.parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&r.parser, (const unsigned char *)text.data, text.len);
	if (yaml_plain_init(&r.plain) < 0)
		return err_nomem(err);
	e = next_event(&r, &start);
	if (e == 0)
		e = read_document(&r);
	yaml_plain_release(&r.plain);
	if (e == 0 && !tree->root)
		tree->root = json_null();
	return e;
}

int yaml_tree_load(struct span text, const char *file, struct yaml_tree **out, struct err *err)
{
	CLEANUP(yaml_tree_free_p) struct yaml_tree *tree = NULL;
	int e;

	if (text.len > YAML_TREE_TEXT_MAX)
		return err_set(err, -EFBIG, "%s: is larger than %u bytes", file,
			       YAML_TREE_TEXT_MAX);
	tree = yaml_tree_new(file);
	if (!tree)
		return err_nomem(err);
	e = read_tree(text, tree, err);
	if (e == 0)
		*out = STEAL(&tree);
	return e;
}

/* Drop the last ".member" or "[index]" of a path. */
static bool path_up(char *path)
{
	char *dot = strrchr(path, '.');
	char *bracket = strrchr(path, '[');
	char *cut = MAX(dot, bracket);

	if (!*path)
		return false;
	*(cut ? cut : path) = 0;
	return true;
}

static int line_of(const struct yaml_tree *tree, const char *path)
{
	char at[YAML_TREE_PATH_MAX + 1];
	json_t *line;

	(void)snprintf(at, sizeof at, "%s", path);
	do {
		line = json_object_get(tree->lines, at);
		if (line)
			return (int)json_integer_value(line);
	} while (path_up(at));
	return 1;
}

int yaml_tree_fail(const struct yaml_tree *tree, struct err *err, const char *path, const char *fmt,
		   ...)
{
	char text[200];
	va_list args;

	va_start(args, fmt);
	(void)vsnprintf(text, sizeof text, fmt, args);
	va_end(args);
	return err_set(err, -EINVAL, "%s:%d: %s%s%s", tree->file, line_of(tree, path), path,
		       *path ? ": " : "", text);
}

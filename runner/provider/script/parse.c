/*
 * Parsing scripts: each mapping has a table of keys, and a row names the function that
 * takes the value.
 */
#include "runner/provider/script/template.h"

#include "runner/syntax/yaml.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* A file while it is read. */
struct loader {
	struct script *script;
	yaml_document_t *document;
	struct script_rule *rule; /* the current rule */
	int line;                 /* of the current text */
	size_t nodes;             /* of the current args, so far */
	struct err *err;
};

static int fail_line(struct loader *l, int line, const char *fmt, ...) PRINTF(3, 4);
static int fail_line(struct loader *l, int line, const char *fmt, ...)
{
	char text[200];
	va_list args;

	va_start(args, fmt);
	(void)vsnprintf(text, sizeof text, fmt, args);
	va_end(args);
	return err_set(l->err, -EINVAL, "%s:%d: %s", l->script->file.name, line, text);
}

static struct span scalar_span(const yaml_node_t *node)
{
	return (struct span){ (const char *)node->data.scalar.value, node->data.scalar.length };
}

static int line_of(const yaml_node_t *node)
{
	return (int)node->start_mark.line + 1;
}

/* A key of a mapping, and the function that puts its value at the offset `at`. */
struct key {
	const char *name;
	int (*take)(struct loader *l, const yaml_node_t *value, void *into);
	size_t at;
};

static const struct key *find_key(const struct key *keys, const yaml_node_t *node)
{
	if (node->type != YAML_SCALAR_NODE)
		return NULL;
	for (; keys->name; keys++) {
		if (span_is(scalar_span(node), keys->name))
			return keys;
	}
	return NULL;
}

static int unknown_key(struct loader *l, const struct key *keys, const yaml_node_t *node)
{
	CLEANUP(buf_release) struct buf known = { 0 };
	const struct key *k;

	for (k = keys; k->name; k++)
		buf_printf(&known, "%s%s", k == keys ? "" : ", ", k->name);
	if (!buf_cstr(&known))
		return err_nomem(l->err);
	return fail_line(l, line_of(node), "unknown key '%.40s' (known here: %s)",
			 node->type == YAML_SCALAR_NODE ? (const char *)node->data.scalar.value
							: "",
			 known.data);
}

static int take_mapping(struct loader *l, const yaml_node_t *node, const struct key *keys,
			void *into)
{
	uint64_t seen = 0;
	yaml_node_pair_t *pair;

	if (node->type != YAML_MAPPING_NODE)
		return fail_line(l, line_of(node), "expected a mapping with '%s'", keys->name);
	for (pair = node->data.mapping.pairs.start; pair < node->data.mapping.pairs.top; pair++) {
		const yaml_node_t *name = yaml_document_get_node(l->document, pair->key);
		const struct key *k = find_key(keys, name);
		int r;

		if (!k)
			return unknown_key(l, keys, name);
		if (seen & 1ull << (k - keys))
			return fail_line(l, line_of(name), "'%s' comes twice", k->name);
		seen |= 1ull << (k - keys);
		r = k->take(l, yaml_document_get_node(l->document, pair->value),
			    (char *)into + k->at);
		if (r < 0)
			return r;
	}
	return 0;
}

static int take_text(struct loader *l, const yaml_node_t *value, void *into)
{
	if (value->type != YAML_SCALAR_NODE)
		return fail_line(l, line_of(value), "expected a text");
	*(struct span *)into = scalar_span(value);
	return 0;
}

static int take_word(struct loader *l, const yaml_node_t *value, void *into)
{
	int r = take_text(l, value, into);

	if (r == 0 && !scalar_span(value).len)
		return fail_line(l, line_of(value), "expected a text that is not empty");
	return r;
}

/* A whole number from 0 to 10^15. */
static int take_count(struct loader *l, const yaml_node_t *value, void *into)
{
	struct span text = value->type == YAML_SCALAR_NODE ? scalar_span(value) : SPAN("");
	long long number = 0;
	size_t i;

	for (i = 0; i < text.len && isdigit((unsigned char)text.data[i]); i++)
		number = number * 10 + (text.data[i] - '0');
	if (!text.len || text.len > 15 || i < text.len)
		return fail_line(l, line_of(value), "expected a whole number");
	*(long long *)into = number;
	return 0;
}

static int take_delay(struct loader *l, const yaml_node_t *value, void *into)
{
	long long *ms = into;
	int r = take_count(l, value, into);

	if (r == 0 && *ms > SCRIPT_DELAY_MAX)
		return fail_line(l, line_of(value), "the delay is longer than %d ms",
				 SCRIPT_DELAY_MAX);
	return r;
}

/* The patterns of a rule, before they are compiled. */
struct when {
	const yaml_node_t *source[SCRIPT_SUBJECTS];
	bool ignore_case;
};

static int take_node(struct loader *l, const yaml_node_t *value, void *into)
{
	if (value->type != YAML_SCALAR_NODE)
		return fail_line(l, line_of(value), "expected a pattern");
	*(const yaml_node_t **)into = value;
	return 0;
}

static int take_bool(struct loader *l, const yaml_node_t *value, void *into)
{
	struct span text = value->type == YAML_SCALAR_NODE ? scalar_span(value) : SPAN("");

	if (!span_is(text, "true") && !span_is(text, "false"))
		return fail_line(l, line_of(value), "expected true or false");
	*(bool *)into = span_is(text, "true");
	return 0;
}

static const struct key when_keys[] = {
	{ "user", take_node, offsetof(struct when, source[SCRIPT_USER]) },
	{ "tool", take_node, offsetof(struct when, source[SCRIPT_TOOL]) },
	{ "result", take_node, offsetof(struct when, source[SCRIPT_RESULT]) },
	{ "ignore_case", take_bool, offsetof(struct when, ignore_case) },
	{ 0 },
};

static int compile_when(struct loader *l, const struct when *when, struct script_rule *rule)
{
	unsigned flags = PATTERN_DOT_ALL | (when->ignore_case ? PATTERN_ANY_CASE : 0u);
	size_t groups = 0;
	size_t i;

	for (i = 0; i < SCRIPT_SUBJECTS; i++) {
		const yaml_node_t *source = when->source[i];
		struct err why = { 0 };
		int r;

		if (!source)
			continue;
		r = pattern_compile(scalar_span(source), flags, &rule->when[i], &why);
		if (r < 0)
			return fail_line(l, line_of(source), "the pattern: %s", why.text);
		groups += pattern_groups(rule->when[i]);
		if (groups > SCRIPT_GROUPS_MAX)
			return fail_line(l, line_of(source), "the rule has more than %d groups",
					 SCRIPT_GROUPS_MAX);
	}
	return 0;
}

static int take_when(struct loader *l, const yaml_node_t *value, void *into)
{
	struct when when = { 0 };
	int r = take_mapping(l, value, when_keys, &when);

	return r < 0 ? r : compile_when(l, &when, into);
}

static int take_args(struct loader *l, const yaml_node_t *value, void *into)
{
	if (value->type != YAML_MAPPING_NODE)
		return fail_line(l, line_of(value), "the args are not a mapping");
	/* Nodes are numbered from 1 in the order of the array. */
	*(int *)into = (int)(value - l->document->nodes.start) + 1;
	return 0;
}

static const struct key call_keys[] = {
	{ "name", take_word, offsetof(struct script_call, name) },
	{ "id", take_word, offsetof(struct script_call, id) },
	{ "args", take_args, offsetof(struct script_call, args) },
	{ 0 },
};

static int take_calls(struct loader *l, const yaml_node_t *value, void *into)
{
	struct script_rule *rule = into;
	yaml_node_item_t *item;
	int r = 0;

	if (value->type != YAML_SEQUENCE_NODE ||
	    value->data.sequence.items.start == value->data.sequence.items.top)
		return fail_line(l, line_of(value), "expected a list of calls");
	rule->calls = calloc(
		(size_t)(value->data.sequence.items.top - value->data.sequence.items.start),
		sizeof *rule->calls);
	if (!rule->calls)
		return err_nomem(l->err);
	for (item = value->data.sequence.items.start;
	     r == 0 && item < value->data.sequence.items.top; item++) {
		const yaml_node_t *node = yaml_document_get_node(l->document, *item);
		struct script_call *call = &rule->calls[rule->call_count++];

		r = take_mapping(l, node, call_keys, call);
		if (r == 0 && !call->name.data)
			r = fail_line(l, line_of(node), "the call has no name");
	}
	return r;
}

static const struct key error_keys[] = {
	{ "code", take_word, offsetof(struct script_rule, error_code) },
	{ "message", take_text, offsetof(struct script_rule, error_message) },
	{ 0 },
};

static int take_error(struct loader *l, const yaml_node_t *value, void *into)
{
	struct script_rule *rule = into;
	int r = take_mapping(l, value, error_keys, rule);

	if (r == 0 && !rule->error_code.data)
		return fail_line(l, line_of(value), "the error has no code");
	return r;
}

#define USAGE_AT(count) (sizeof(long long) * (count))

static const struct key usage_keys[] = {
	{ "prompt", take_count, USAGE_AT(MODEL_COUNT_PROMPT) },
	{ "cached", take_count, USAGE_AT(MODEL_COUNT_CACHED) },
	{ "candidates", take_count, USAGE_AT(MODEL_COUNT_CANDIDATES) },
	{ "thoughts", take_count, USAGE_AT(MODEL_COUNT_THOUGHTS) },
	{ "total", take_count, USAGE_AT(MODEL_COUNT_TOTAL) },
	{ 0 },
};

/* A total that is absent is the sum of its parts. */
static void add_up(long long usage[MODEL_COUNTS])
{
	static const enum model_count parts[] = { MODEL_COUNT_PROMPT, MODEL_COUNT_CANDIDATES,
						  MODEL_COUNT_THOUGHTS };
	long long sum = 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(parts); i++)
		sum += MAX(usage[parts[i]], 0);
	if (usage[MODEL_COUNT_TOTAL] < 0 && sum)
		usage[MODEL_COUNT_TOTAL] = sum;
}

static int take_usage(struct loader *l, const yaml_node_t *value, void *into)
{
	int r = take_mapping(l, value, usage_keys, into);

	if (r == 0)
		add_up(into);
	return r;
}

/* Keep in the order of docs/models.md. */
static const struct key rule_keys[] = {
	{ "when", take_when, 0 },
	{ "thought", take_text, offsetof(struct script_rule, thought) },
	{ "text", take_text, offsetof(struct script_rule, text) },
	{ "pieces", take_count, offsetof(struct script_rule, pieces) },
	{ "delay_ms", take_delay, offsetof(struct script_rule, delay_ms) },
	{ "calls", take_calls, 0 },
	{ "error", take_error, 0 },
	{ "usage", take_usage, offsetof(struct script_rule, usage) },
	{ "finish_reason", take_word, offsetof(struct script_rule, finish_reason) },
	{ 0 },
};

static int check_piece(void *arg, enum script_piece kind, struct span text)
{
	struct loader *l = arg;

	if (kind != SCRIPT_GROUP || script_group(l->rule, text) >= 0)
		return 0;
	return fail_line(l, l->line,
			 "no pattern of the rule has a group '%.*s' (a dollar sign is written $$)",
			 (int)MIN(text.len, 40), text.data);
}

static int check_text(struct loader *l, struct span text, int line)
{
	int r;

	l->line = line;
	r = text.len ? script_pieces(text, check_piece, l) : 0;
	if (r == -EINVAL && !(l->err && l->err->code))
		return fail_line(l, line, "'${' without '}' (a dollar sign is written $$)");
	return r;
}

static bool has_plain_tag(const yaml_node_t *node)
{
	static const char *const plain[] = { YAML_STR_TAG, YAML_SEQ_TAG, YAML_MAP_TAG };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(plain); i++) {
		if (!node->tag || strcmp((const char *)node->tag, plain[i]) == 0)
			return true;
	}
	return false;
}

static int check_node(struct loader *l, int number, int depth);

static int check_children(struct loader *l, const yaml_node_t *node, int depth)
{
	yaml_node_pair_t *pair = node->data.mapping.pairs.start;
	yaml_node_item_t *item = node->data.sequence.items.start;
	int r = 0;

	if (node->type == YAML_SEQUENCE_NODE) {
		for (; r == 0 && item < node->data.sequence.items.top; item++)
			r = check_node(l, *item, depth);
		return r;
	}
	for (; r == 0 && pair < node->data.mapping.pairs.top; pair++) {
		const yaml_node_t *key = yaml_document_get_node(l->document, pair->key);

		if (key->type != YAML_SCALAR_NODE)
			return fail_line(l, line_of(key), "a name in args is not a text");
		r = check_node(l, pair->value, depth);
	}
	return r;
}

/* Check a tree. Aliases can make a huge tree of a small file, so the nodes are counted. */
static int check_node(struct loader *l, int number, int depth)
{
	const yaml_node_t *node = yaml_document_get_node(l->document, number);

	if (!depth || ++l->nodes > SCRIPT_NODES_MAX)
		return fail_line(l, line_of(node), "the args are too deep or too large");
	if (!has_plain_tag(node))
		return fail_line(l, line_of(node), "tags are not supported");
	if (node->type == YAML_SCALAR_NODE)
		return check_text(l, scalar_span(node), line_of(node));
	return check_children(l, node, depth - 1);
}

static int check_args(struct loader *l, const struct script_rule *rule)
{
	size_t i;
	int r = 0;

	for (i = 0; r == 0 && i < rule->call_count; i++) {
		l->nodes = 0;
		if (rule->calls[i].args)
			r = check_node(l, rule->calls[i].args, SCRIPT_DEPTH_MAX);
	}
	return r;
}

static int check_rule(struct loader *l, const struct script_rule *rule)
{
	int r = check_text(l, rule->text, rule->line);

	if (r == 0)
		r = check_text(l, rule->thought, rule->line);
	if (r == 0)
		r = check_text(l, rule->error_message, rule->line);
	if (r == 0)
		r = check_args(l, rule);
	if (r < 0)
		return r;
	if (rule->error_code.data && (rule->text.data || rule->calls))
		return fail_line(l, rule->line, "a rule with an error has no text and no calls");
	if (!rule->error_code.data && !rule->text.data && !rule->calls)
		return fail_line(l, rule->line, "the rule has neither text nor calls nor error");
	return 0;
}

static int take_rule(struct loader *l, const yaml_node_t *node, struct script_rule *rule)
{
	size_t i;
	int r;

	*rule = (struct script_rule){ .line = line_of(node), .pieces = SCRIPT_WORDS };
	for (i = 0; i < MODEL_COUNTS; i++)
		rule->usage[i] = -1;
	l->rule = rule;
	r = take_mapping(l, node, rule_keys, rule);
	return r < 0 ? r : check_rule(l, rule);
}

static int take_rules(struct loader *l)
{
	const yaml_node_t *root = yaml_document_get_root_node(l->document);
	struct script *script = l->script;
	yaml_node_item_t *item;
	int r = 0;

	if (!root || root->type != YAML_SEQUENCE_NODE)
		return fail_line(l, root ? line_of(root) : 1, "expected a list of rules");
	item = root->data.sequence.items.start;
	script->rules = calloc((size_t)(root->data.sequence.items.top - item) + 1,
			       sizeof *script->rules);
	if (!script->rules)
		return err_nomem(l->err);
	for (; r == 0 && item < root->data.sequence.items.top; item++)
		r = take_rule(l, yaml_document_get_node(l->document, *item),
			      &script->rules[script->count++]);
	return r;
}

static int yaml_failed(struct loader *l, const yaml_parser_t *parser)
{
	if (parser->error == YAML_MEMORY_ERROR)
		return err_nomem(l->err);
	return fail_line(l, (int)parser->problem_mark.line + 1, "%s",
			 parser->problem ? parser->problem : "the text is not YAML");
}

static int only_document(struct loader *l, yaml_parser_t *parser)
{
	yaml_document_t more;
	const yaml_node_t *root;
	int line;

	if (!yaml_parser_load(parser, &more))
		return yaml_failed(l, parser);
	root = yaml_document_get_root_node(&more);
	line = root ? line_of(root) : 0;
	yaml_document_delete(&more);
	return line ? fail_line(l, line, "the file has a second document") : 0;
}

int script_parse(struct cached_file *file, struct span text, struct err *err)
{
	struct script *script = (struct script *)file;
	struct loader l = { .script = script, .document = &script->document, .err = err };
	yaml_parser_t parser;
	int r;

	text = yaml_tree_text(text);
	if (!yaml_parser_initialize(&parser))
		return err_nomem(err);
	yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&parser, (const unsigned char *)text.data, text.len);
	script->has_document = yaml_parser_load(&parser, &script->document);
	r = script->has_document ? 0 : yaml_failed(&l, &parser);
	if (r == 0)
		r = take_rules(&l);
	if (r == 0)
		r = only_document(&l, &parser);
	yaml_parser_delete(&parser);
	return r;
}

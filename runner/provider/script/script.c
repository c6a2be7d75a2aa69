/*
 * The provider "script": a model without a network, to try an agent out.
 *
 * "script/FILE" answers by the rules of FILE in the agent's folder: the first rule that
 * matches the last message answers. Equal conversations get equal answers. parse.c reads
 * the file; docs/models.md describes the format.
 */
#include "runner/provider/script/template.h"

#include "base/json_text.h"
#include "base/name.h"

#include <errno.h>

#define ARGS_MAX (1u << 20) /* bytes of the args of a call, filled in */

/* The texts that the rules are matched with. */
struct scene {
	struct buf user;             /* the last words of the user, ended with a NUL */
	const struct part *response; /* the result of a tool, if that came last; else NULL */
};

/* A rule that matched, while its answer is given. */
struct answer {
	const struct script *script;
	const struct script_rule *rule;
	const struct scene *scene;
	struct span groups[SCRIPT_GROUPS_MAX];
	struct cancel *cancel;
	struct model_reply *reply;
	struct buf *out; /* where a text is being filled in */
	struct err *err;
};

static const struct part *last_response(const struct content *c)
{
	size_t i;

	for (i = c->count; i-- > 0;) {
		if (c->parts[i].kind == PART_RESPONSE)
			return &c->parts[i];
	}
	return NULL;
}

static bool is_model(const struct content *c)
{
	return c->role && strcmp(c->role, "model") == 0;
}

static int find_scene(const struct question *q, struct scene *scene)
{
	size_t i;

	if (q->count)
		scene->response = last_response(q->contents[q->count - 1]);
	for (i = q->count; i-- > 0 && !scene->user.len;) {
		if (!is_model(q->contents[i]))
			content_text(q->contents[i], &scene->user);
	}
	return buf_cstr(&scene->user) ? 0 : -ENOMEM;
}

/*
 * A rule with `tool` or `result` answers a result. A rule with `user` alone answers a message, so
 * that it does not make its call again when the result comes.
 */
static bool is_for(const struct script_rule *rule, const struct scene *scene)
{
	if (rule->when[SCRIPT_TOOL] || rule->when[SCRIPT_RESULT])
		return scene->response;
	return !rule->when[SCRIPT_USER] || !scene->response;
}

static bool rule_matches(const struct script_rule *rule, const struct scene *scene,
			 struct span groups[SCRIPT_GROUPS_MAX])
{
	const struct part *p = scene->response;
	struct span subjects[SCRIPT_SUBJECTS] = {
		[SCRIPT_USER] = buf_span(&scene->user),
		[SCRIPT_TOOL] = span_of(p ? p->name : ""),
		[SCRIPT_RESULT] = span_of(p ? p->json : ""),
	};
	size_t at = 0;
	size_t i;

	if (!is_for(rule, scene))
		return false;
	for (i = 0; i < SCRIPT_SUBJECTS; i++) {
		const struct pattern *when = rule->when[i];

		if (!when)
			continue;
		if (pattern_find(when, subjects[i], &groups[at], SCRIPT_GROUPS_MAX - at) != 1)
			return false;
		at += pattern_groups(when);
	}
	return true;
}

static int fail(const struct answer *a, const char *what, struct span name)
{
	return err_set(a->err, -EINVAL, "%s:%d: ${%.*s}: %s", a->script->file.name, a->rule->line,
		       (int)MIN(name.len, 60), name.data, what);
}

/* Find the JSON of "result.a.b" in the last result. */
static int find_member(const struct answer *a, struct span path, struct span *value)
{
	struct span rest = path;
	int r = 0;

	if (!a->scene->response)
		return fail(a, "the last message is not the result of a tool", path);
	*value = span_of(a->scene->response->json);
	while (r == 0) {
		const char *dot = memchr(rest.data, '.', rest.len);
		char name[128];
		size_t n;

		if (!dot)
			return 0;
		rest = span_sub(rest, (size_t)(dot - rest.data) + 1, rest.len);
		dot = memchr(rest.data, '.', rest.len);
		n = dot ? (size_t)(dot - rest.data) : rest.len;
		if (!value->len || value->data[0] != '{' || n >= sizeof name)
			return fail(a, "the result has no such member", path);
		memcpy(name, rest.data, n);
		name[n] = 0;
		r = json_member(*value, name, value);
	}
	return r == -ENOENT ? fail(a, "the result has no such member", path) : r;
}

/* Fill in a string without its quotes, and other values as JSON. */
static int fill_member(struct answer *a, struct span path)
{
	struct span value;
	int r = find_member(a, path, &value);

	if (r < 0)
		return r;
	if (value.data[0] == '"')
		return json_unquote(value, a->out);
	buf_span_add(a->out, value);
	return 0;
}

static int fill_piece(void *arg, enum script_piece kind, struct span text)
{
	struct answer *a = arg;

	switch (kind) {
	case SCRIPT_LITERAL:
		buf_span_add(a->out, text);
		return 0;
	case SCRIPT_GROUP:
		buf_span_add(a->out, a->groups[script_group(a->rule, text)]);
		return 0;
	case SCRIPT_MEMBER:
		break;
	}
	return fill_member(a, text);
}

static int fill(struct answer *a, struct span text, struct buf *out)
{
	int r;

	a->out = out;
	r = script_pieces(text, fill_piece, a);
	return r < 0 ? r : buf_check(out, NULL);
}

static int note_member(void *arg, enum script_piece kind, struct span text)
{
	struct span *member = arg;

	if (kind != SCRIPT_MEMBER || member->data)
		return -ENOENT;
	*member = text;
	return 0;
}

/* Whether the text is nothing but one ${result...}. */
static bool is_single_member(struct span text, struct span *member)
{
	*member = (struct span){ 0 };
	return script_pieces(text, note_member, member) == 0 && member->data;
}

/* Whether a text is a number, true, false or null. */
static bool is_bare_json(struct span text)
{
	struct json_scan s = json_scan_of(text, 1, NULL);
	struct span value;
	int kind = json_peek(&s);

	if (kind < 0 || strchr("{[\"", kind))
		return false;
	return json_raw(&s, &value) == 0 && json_end(&s) == 0;
}

/* An unquoted text of the file is read as a JSON value after its placeholders are filled in. */
static int put_plain(struct answer *a, struct span text, struct buf *out)
{
	CLEANUP(buf_release) struct buf filled = { 0 };
	struct span value;
	int r;

	if (is_single_member(text, &value)) {
		r = find_member(a, value, &value);
		if (r == 0)
			buf_span_add(out, value);
		return r;
	}
	r = fill(a, text, &filled);
	if (r < 0)
		return r;
	if (!text.len || span_is(text, "~"))
		buf_text(out, "null");
	else if (is_bare_json(buf_span(&filled)))
		buf_span_add(out, buf_span(&filled));
	else
		json_quote_lossy(out, buf_span(&filled));
	return 0;
}

static int put_scalar(struct answer *a, const yaml_node_t *node, struct buf *out)
{
	CLEANUP(buf_release) struct buf filled = { 0 };
	struct span text = { (const char *)node->data.scalar.value, node->data.scalar.length };
	int r;

	if (node->data.scalar.style == YAML_PLAIN_SCALAR_STYLE)
		return put_plain(a, text, out);
	r = fill(a, text, &filled);
	if (r == 0)
		json_quote_lossy(out, buf_span(&filled));
	return r;
}

static int put_node(struct answer *a, int number, struct buf *out);

static int put_list(struct answer *a, const yaml_node_t *node, struct buf *out)
{
	const yaml_node_item_t *item = node->data.sequence.items.start;
	int r = 0;

	buf_char(out, '[');
	for (; r == 0 && item < node->data.sequence.items.top; item++) {
		if (item > node->data.sequence.items.start)
			buf_char(out, ',');
		r = put_node(a, *item, out);
	}
	buf_char(out, ']');
	return r;
}

static int put_object(struct answer *a, const yaml_node_t *node, struct buf *out)
{
	const yaml_node_pair_t *pair = node->data.mapping.pairs.start;
	int r = 0;

	buf_char(out, '{');
	for (; r == 0 && pair < node->data.mapping.pairs.top; pair++) {
		const yaml_node_t *key = script_node(a->script, pair->key);

		if (pair > node->data.mapping.pairs.start)
			buf_char(out, ',');
		json_quote(out, span_of((const char *)key->data.scalar.value));
		buf_char(out, ':');
		r = put_node(a, pair->value, out);
	}
	buf_char(out, '}');
	return r;
}

/* The depth was checked when the script was loaded. */
static int put_node(struct answer *a, int number, struct buf *out)
{
	const yaml_node_t *node = script_node(a->script, number);

	if (out->len > ARGS_MAX)
		return err_set(a->err, -EFBIG, "%s:%d: the args are larger than %u bytes",
			       a->script->file.name, a->rule->line, ARGS_MAX);
	if (node->type == YAML_SCALAR_NODE)
		return put_scalar(a, node, out);
	return node->type == YAML_SEQUENCE_NODE ? put_list(a, node, out) : put_object(a, node, out);
}

static int give_call(struct answer *a, const struct script_call *call)
{
	CLEANUP(buf_release) struct buf args = { 0 };
	CLEANUP(buf_release) struct buf canonical = { 0 };
	int r = 0;

	if (call->args)
		r = put_node(a, call->args, &args);
	else
		buf_text(&args, "{}");
	if (r == 0)
		r = buf_check(&args, a->err);
	if (r == 0)
		r = json_canonical_text(buf_span(&args), JSON_DEPTH_FREE, &canonical, a->err);
	if (r == 0)
		r = model_reply_call(a->reply, call->id.data, call->name.data,
				     buf_span(&canonical));
	return r;
}

static size_t skip_word(struct span text)
{
	size_t n = 0;

	while (n < text.len && !memchr(" \t\n", text.data[n], 3))
		n++;
	while (n < text.len && memchr(" \t\n", text.data[n], 3))
		n++;
	return n;
}

static size_t skip_characters(struct span text, long long count)
{
	size_t n = 0;

	while (n < text.len && count-- > 0) {
		n++;
		while (n < text.len && (text.data[n] & 0xc0) == 0x80)
			n++;
	}
	return n;
}

static size_t piece_length(const struct script_rule *rule, struct span text)
{
	if (rule->pieces == 0)
		return text.len;
	return rule->pieces == SCRIPT_WORDS ? skip_word(text) : skip_characters(text, rule->pieces);
}

static int give_text(struct answer *a, struct span template, bool thought)
{
	CLEANUP(buf_release) struct buf text = { 0 };
	struct span rest;
	int r = fill(a, template, &text);

	for (rest = buf_span(&text); r == 0 && rest.len;) {
		size_t n = piece_length(a->rule, rest);

		r = model_reply_text(a->reply, span_sub(rest, 0, n), thought);
		rest = span_sub(rest, n, rest.len);
		if (r == 0)
			r = cancel_wait(a->cancel, (unsigned)a->rule->delay_ms, a->err);
	}
	return r;
}

/* Give an error in place of content. */
static int give_error(struct answer *a)
{
	CLEANUP(buf_release) struct buf message = { 0 };
	int r = fill(a, a->rule->error_message, &message);

	if (r < 0 || !buf_cstr(&message))
		return r < 0 ? r : -ENOMEM;
	return model_reply_error(a->reply, a->rule->error_code.data,
				 message.len ? message.data : NULL);
}

static const char *finish_reason(const struct script_rule *rule)
{
	if (rule->finish_reason.data)
		return rule->finish_reason.data;
	return rule->error_code.data ? rule->error_code.data : "STOP";
}

static int give(struct answer *a)
{
	const struct script_rule *rule = a->rule;
	size_t i;
	int r = give_text(a, rule->thought, true);

	if (r == 0)
		r = give_text(a, rule->text, false);
	for (i = 0; r == 0 && i < rule->call_count; i++)
		r = give_call(a, &rule->calls[i]);
	if (r == 0 && rule->error_code.data)
		r = give_error(a);
	if (r == 0)
		r = model_reply_finish(a->reply, finish_reason(rule));
	return r < 0 ? r : model_reply_usage(a->reply, rule->usage);
}

static int no_rule(const struct answer *a)
{
	const struct scene *scene = a->scene;
	struct span user = buf_span(&scene->user);
	size_t n = skip_characters(user, 80);

	if (scene->response)
		return err_set(a->err, -ENOENT,
			       "no rule of %s matches: the tool '%.64s' gave %.80s",
			       a->script->file.name, scene->response->name, scene->response->json);
	return err_set(a->err, -ENOENT, "no rule of %s matches: the user said '%.*s'",
		       a->script->file.name, (int)n, user.data);
}

static int play(struct answer *a)
{
	size_t i;

	for (i = 0; i < a->script->count; i++) {
		if (rule_matches(&a->script->rules[i], a->scene, a->groups)) {
			a->rule = &a->script->rules[i];
			return give(a);
		}
	}
	return no_rule(a);
}

static int script_generate(const struct question *q, struct cancel *cancel,
			   struct model_reply *reply, struct err *err)
{
	CLEANUP(script_unref_p) struct script *script = NULL;
	struct scene scene = { 0 };
	struct answer a = { .scene = &scene, .cancel = cancel, .reply = reply, .err = err };
	int r = script_open(q->folder, q->name, &script, err);

	if (r < 0)
		return r;
	a.script = script;
	r = find_scene(q, &scene);
	if (r == 0)
		r = play(&a);
	buf_release(&scene.user);
	return r == -ENOMEM ? err_nomem(err) : r;
}

/* Report before the first turn that the script cannot be read. */
static int script_review(const struct question *q, model_review_fn *fn, void *arg)
{
	CLEANUP(script_unref_p) struct script *script = NULL;
	struct err reason = { 0 };
	int r = script_open(q->folder, q->name, &script, &reason);

	return r < 0 && r != -ENOMEM ? fn(arg, reason.text) : r;
}

const struct model_provider model_script = {
	.name = "script",
	.is_file = true,
	.generate = script_generate,
	.review = script_review,
};

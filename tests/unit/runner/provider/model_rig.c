/*
 * Fixtures of model providers: see model_rig.h.
 */
#include "tests/unit/runner/provider/model_rig.h"

#include "base/net/stream.h"

#include <dirent.h>

size_t each_file(const char *folder, const char *prefix, const char *suffix, file_fn *fn)
{
	struct dirent **list;
	int n = scandir(folder, &list, NULL, alphasort);
	size_t done = 0;
	int i;

	if (n < 0)
		fail_msg("%s: cannot be listed (run this in tests/)", folder);
	for (i = 0; i < n; i++) {
		char *name = list[i]->d_name;
		char *dot = strchr(name, '.');

		if (dot && strcmp(dot, suffix) == 0 && strncmp(name, prefix, strlen(prefix)) == 0) {
			*dot = 0;
			fn(folder, name);
			done++;
		}
		free(list[i]);
	}
	free(list);
	return done;
}

void read_text(struct buf *out, const char *folder, const char *name, const char *suffix)
{
	char path[512];
	char block[4096];
	size_t n;
	FILE *f;

	(void)snprintf(path, sizeof path, "%s/%s%s", folder, name, suffix);
	f = fopen(path, "re");
	if (!f)
		fail_msg("%s: cannot be opened", path);
	while ((n = fread(block, 1, sizeof block, f)) > 0)
		buf_add(out, block, n);
	(void)fclose(f);
}

json_t *read_json(const char *folder, const char *name, const char *suffix)
{
	struct buf text = { 0 };
	json_error_t why;
	json_t *json;

	read_text(&text, folder, name, suffix);
	json = json_loadb(text.data, text.len, JSON_ALLOW_NUL, &why);
	if (!json)
		fail_msg("%s/%s%s: %s", folder, name, suffix, why.text);
	buf_release(&text);
	return json;
}

json_t *parsed(struct span text)
{
	json_t *json = json_loadb(text.data, text.len, JSON_ALLOW_NUL, NULL);

	assert_non_null(json);
	return json;
}

const struct model_provider *found(const char *model, const char *name)
{
	const struct model_provider *p = NULL;
	const char *got = NULL;

	assert_int_equal(model_find(model, &p, &got, NULL), 0);
	assert_string_equal(got, name);
	return p;
}

const struct model_provider *provider(void)
{
	const struct model_provider *p;
	const char *name;

	assert_int_equal(model_find(rig.model, &p, &name, NULL), 0);
	return p;
}

static void hear(void *arg, struct span text, bool thought)
{
	struct outcome *o = arg;

	buf_span_add(thought ? &o->thought : &o->heard, text);
}

static int decode(void *arg, struct span event)
{
	struct outcome *o = arg;

	return model_decode_event(o->decoder, event);
}

void outcome_make(struct outcome *o, struct span bytes, size_t size)
{
	enum stream_kind kind = STREAM_NDJSON;
	struct stream s;

	*o = (struct outcome){ .provider = provider() };
	if (o->provider->framing == MODEL_SSE)
		kind = bytes.len && strchr("{[", *bytes.data) ? STREAM_WHOLE : STREAM_SSE;
	o->reply.on_text = hear;
	o->reply.arg = o;
	o->decoder = model_decode_new(o->provider, &o->reply, &o->err);
	o->r = o->decoder ? 0 : -ENOMEM;
	stream_init(&s, kind);
	while (o->r == 0 && bytes.len) {
		size_t n = MIN(size, bytes.len);

		o->r = stream_feed(&s, span_sub(bytes, 0, n), decode, o);
		bytes = span_sub(bytes, n, bytes.len);
	}
	if (o->r == 0)
		o->r = stream_end(&s, decode, o);
	if (o->r == 0)
		o->r = model_decode_end(o->decoder);
	stream_release(&s);
	model_decode_free(o->decoder);
}

void outcome_of_body(struct outcome *o, const char *name, size_t size)
{
	struct buf body = { 0 };

	read_text(&body, rig.bodies.path, name, ".body");
	outcome_make(o, buf_span(&body), size);
	buf_release(&body);
}

void outcome_of_numbers(struct outcome *o)
{
	outcome_make(o, span_of(rig.numbers), SIZE_MAX);
	assert_int_equal(o->r, 0);
	assert_int_equal(o->reply.content->count, 1);
	assert_string_equal(o->reply.content->parts[0].json,
			    "{\"a\":1.50,\"b\":12345678901234567890123,\"c\":1E400}");
}

void outcome_release(struct outcome *o)
{
	model_reply_release(&o->reply);
	buf_release(&o->heard);
	buf_release(&o->thought);
}

/* A reply in the form of *.expect.json. */
static json_t *describe(const struct outcome *o)
{
	json_t *j = json_object();
	struct buf content = { 0 };

	if (o->reply.content) {
		content_to_json(o->reply.content, &content);
		json_object_set_new(j, "content", parsed(buf_span(&content)));
	}
	if (o->reply.finish_reason)
		json_object_set_new(j, "finish", json_string(o->reply.finish_reason));
	if (o->reply.model_version)
		json_object_set_new(j, "version", json_string(o->reply.model_version));
	if (o->reply.usage.len)
		json_object_set_new(j, "usage", parsed(buf_span(&o->reply.usage)));
	if (o->reply.error_code)
		json_object_set_new(j, "errorCode", json_string(o->reply.error_code));
	if (o->r < 0)
		json_object_set_new(j, "error", json_string(o->err.text));
	buf_release(&content);
	return j;
}

/* Errors are compared by their start; in a failed answer the version does not matter. */
static void soften(json_t *wanted, json_t *got)
{
	const char *start = json_string_value(json_object_get(wanted, "error"));
	const char *text = json_string_value(json_object_get(got, "error"));

	if (!start || !text)
		return;
	json_object_del(wanted, "version");
	json_object_del(got, "version");
	if (strncmp(start, text, strlen(start)) == 0)
		json_object_set(got, "error", json_object_get(wanted, "error"));
}

static void assert_described(const char *name, size_t size, json_t *wanted, const struct outcome *o)
{
	json_t *got = describe(o);

	soften(wanted, got);
	if (!json_equal(wanted, got))
		fail_msg("%s, split %zu: got %s", name, size, json_dumps(got, 0));
	json_decref(got);
}

void check_answer(struct span bytes, const char *name, json_t *expect, outcome_fn *check)
{
	static const size_t sizes[] = { 1, 2, 3, 7, 64, SIZE_MAX };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct outcome o;

		outcome_make(&o, bytes, sizes[i]);
		check(name, sizes[i], expect, &o);
		outcome_release(&o);
	}
}

static void check_body(const char *folder, const char *name)
{
	json_t *wanted = read_json(folder, name, ".expect.json");
	struct buf body = { 0 };

	read_text(&body, folder, name, ".body");
	check_answer(buf_span(&body), name, wanted, assert_described);
	buf_release(&body);
	json_decref(wanted);
}

void set_environment(json_t *env)
{
	const char *const *variable;
	const char *name;
	json_t *value;

	for (variable = rig.variables; *variable; variable++)
		unsetenv(*variable);
	json_object_foreach(env, name, value) setenv(name, json_string_value(value), 1);
}

void set_only(const char *variable, const char *value)
{
	set_environment(NULL);
	setenv(variable, value, 1);
}

void fixture_question_make(struct fixture_question *q, const json_t *from)
{
	json_t *item;
	size_t i;

	*q = (struct fixture_question){ 0 };
	json_array_foreach(json_object_get(from, "contents"), i, item)
	{
		char *text = json_dumps(item, 0);
		struct err err = { 0 };

		assert_true(i < ARRAY_SIZE(q->contents));
		if (content_from_json(span_of(text), &q->contents[i], &err) < 0)
			fail_msg("%s", err.text);
		free(text);
		q->rq.count++;
	}
	json_array_foreach(json_object_get(from, "tools"), i, item)
	{
		assert_true(i < ARRAY_SIZE(q->tools));
		q->tools[i].name = json_string_value(json_object_get(item, "name"));
		q->tools[i].description = json_string_value(json_object_get(item, "description"));
		q->tools[i].parameters = json_object_get(item, "parameters");
		q->rq.tool_count++;
	}
	q->rq.name = json_string_value(json_object_get(from, "name"));
	if (!q->rq.name)
		q->rq.name = "m";
	q->rq.system = json_string_value(json_object_get(from, "system"));
	q->rq.contents = q->contents;
	q->rq.tools = q->tools;
	q->rq.config = json_object_get(from, "config");
}

void fixture_question_release(struct fixture_question *q)
{
	size_t i;

	for (i = 0; i < q->rq.count; i++)
		content_free(q->contents[i]);
}

void fixture_question_settle(struct fixture_question *q, const json_t *fixture)
{
	const char *model = json_string_value(json_object_get(fixture, "model"));
	const char *name;

	assert_int_equal(model_find(model ? model : rig.model, &q->rq.provider, &name, NULL), 0);
	if (model)
		q->rq.name = name;
	q->rq.provider = model_settle(&q->rq);
}

int ask_fixture(const json_t *fixture, struct http_request *http, struct err *err)
{
	struct fixture_question q;
	int r;

	set_environment(json_object_get(fixture, "env"));
	fixture_question_make(&q, json_object_get(fixture, "request"));
	fixture_question_settle(&q, fixture);
	r = q.rq.provider->encode(&q.rq, http, err);
	fixture_question_release(&q);
	return r;
}

int ask_word(json_t *env, struct http_request *http, struct err *err)
{
	json_t *fixture = json_pack("{s:o,s:{s:[{s:s,s:[{s:s}]}]}}", "env", env, "request",
				    "contents", "role", "user", "parts", "text", "x");
	int r = ask_fixture(fixture, http, err);

	json_decref(fixture);
	return r;
}

void ask_contents(struct content *const *contents, size_t count, struct http_request *http)
{
	struct question rq = {
		.provider = provider(), .name = "m", .contents = contents, .count = count
	};
	struct err err = { 0 };

	if (rq.provider->encode(&rq, http, &err) < 0)
		fail_msg("%s", err.text);
}

static void check_where(const char *name, const json_t *fixture, const struct http_request *http)
{
	const char *url = json_string_value(json_object_get(fixture, "url"));
	json_t *headers = json_object_get(fixture, "headers");
	json_t *header;
	size_t i;

	if (url && !span_is(buf_span(&http->url), url))
		fail_msg("%s: asks at %.*s", name, (int)http->url.len, http->url.data);
	if (headers)
		assert_int_equal(http->header_count, json_array_size(headers));
	json_array_foreach(headers, i, header)
		assert_string_equal(http->headers[i], json_string_value(header));
}

static void check_request(const char *folder, const char *name)
{
	json_t *fixture = read_json(folder, name, ".json");
	const char *error = json_string_value(json_object_get(fixture, "error"));
	struct http_request http = { 0 };
	struct err err = { 0 };
	int r = ask_fixture(fixture, &http, &err);

	if (error) {
		if (r == 0 || strncmp(err.text, error, strlen(error)) != 0)
			fail_msg("%s: got '%s'", name, err.text);
	} else {
		json_t *body;

		if (r < 0)
			fail_msg("%s: %s", name, err.text);
		body = parsed(buf_span(&http.body));
		if (!json_equal(body, json_object_get(fixture, "body")))
			fail_msg("%s: got %.*s", name, (int)http.body.len, http.body.data);
		check_where(name, fixture, &http);
		json_decref(body);
	}
	http_request_release(&http);
	json_decref(fixture);
}

void check_requests(const struct rig_folder *folder)
{
	assert_true(each_file(folder->path, "", ".json", check_request) > folder->above);
}

static int note_sentence(void *arg, const char *sentence)
{
	struct buf *all = arg;

	buf_printf(all, "%s\n", sentence);
	return 0;
}

void assert_review(const struct question *rq, const char *wanted)
{
	struct buf all = { 0 };

	assert_int_equal(provider()->review(rq, note_sentence, &all), 0);
	assert_string_equal(buf_cstr(&all), wanted);
	buf_release(&all);
}

void test_bodies(void **state)
{
	(void)state;
	assert_true(each_file(rig.bodies.path, "", ".body", check_body) > rig.bodies.above);
}

void test_requests(void **state)
{
	(void)state;
	check_requests(&rig.requests);
}

/* Numbers of arguments stay as the model wrote them. */
void test_numbers(void **state)
{
	struct outcome o;

	(void)state;
	outcome_of_numbers(&o);
	outcome_release(&o);
}

void test_pieces_are_heard(void **state)
{
	struct outcome o;

	(void)state;
	outcome_of_body(&o, rig.heard.body, 7);
	assert_int_equal(o.r, 0);
	assert_string_equal(buf_cstr(&o.heard), rig.heard.text);
	assert_string_equal(buf_cstr(&o.thought), rig.heard.thought);
	assert_string_equal(o.reply.finish_word, rig.heard.finish_word);
	outcome_release(&o);
}

void test_error_messages(void **state)
{
	const struct rig_error *e;

	(void)state;
	for (e = rig.errors; e->body; e++) {
		struct buf message = { 0 };
		bool has = provider()->error_message(span_of(e->body), &message);

		if (has != (e->message != NULL) ||
		    (has && strcmp(buf_cstr(&message), e->message) != 0))
			fail_msg("%s: the message is '%s'", e->body,
				 has ? buf_cstr(&message) : "nothing");
		buf_release(&message);
	}
}

/*
 * The provider openai: what goes out and what comes in, as files.
 *
 * fixtures/openai/NAME.body is an answer, NAME.expect.json what has to become
 * of it, however its bytes are cut. fixtures/openai-requests/NAME.json is a
 * question with the request, or the error, that it makes. Recordings of real
 * providers are used too when ADKFS_RECORDED names their folder.
 */
#include "runner/http.h"
#include "runner/model.h"
#include "runner/stream.h"

#include <dirent.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#define BODIES   "fixtures/openai"
#define REQUESTS "fixtures/openai-requests"

static const size_t sizes[] = { 1, 2, 3, 7, 64, SIZE_MAX };

typedef void file_fn(const char *folder, const char *name);

/* Call fn with the names in a folder that end so, without that end. */
static size_t each_file(const char *folder, const char *suffix, file_fn *fn)
{
	struct dirent **list;
	int n = scandir(folder, &list, NULL, alphasort);
	size_t done = 0;
	int i;

	if (n < 0)
		fail_msg("%s: cannot be listed (run this in tests/)", folder);
	for (i = 0; i < n; i++) {
		char *name = list[i]->d_name;
		size_t len = strlen(name);
		size_t end = strlen(suffix);

		if (len > end && strcmp(name + len - end, suffix) == 0) {
			name[len - end] = 0;
			fn(folder, name);
			done++;
		}
		free(list[i]);
	}
	free(list);
	return done;
}

static void read_text(struct buf *out, const char *folder, const char *name, const char *suffix)
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

static json_t *read_json(const char *folder, const char *name, const char *suffix)
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

static const struct model_provider *openai(void)
{
	const struct model_provider *p;
	const char *name;

	assert_int_equal(model_find("openai/m", &p, &name, NULL), 0);
	assert_string_equal(name, "m");
	return p;
}

/* One answer, decoded. */
struct outcome {
	const struct model_provider *provider;
	void *decoder;
	struct model_reply reply;
	struct err err;
	struct buf heard;   /* what on_text got, without thoughts */
	struct buf thought; /* and with */
	int r;
};

static void hear(void *arg, struct span text, bool thought)
{
	struct outcome *o = arg;

	buf_span_add(thought ? &o->thought : &o->heard, text);
}

static int decode(void *arg, struct span event)
{
	struct outcome *o = arg;

	return o->provider->decode(o->decoder, event, &o->reply, &o->err);
}

static void run(struct outcome *o, struct span bytes, size_t size)
{
	enum stream_kind kind = bytes.len && *bytes.data == '{' ? STREAM_WHOLE : STREAM_SSE;
	struct stream s;

	*o = (struct outcome){ .provider = openai() };
	o->reply.on_text = hear;
	o->reply.arg = o;
	o->decoder = o->provider->decoder_new();
	stream_init(&s, kind);
	while (o->r == 0 && bytes.len) {
		size_t n = MIN(size, bytes.len);

		o->r = stream_feed(&s, span_sub(bytes, 0, n), decode, o);
		bytes = span_sub(bytes, n, bytes.len);
	}
	if (o->r == 0)
		o->r = stream_end(&s, decode, o);
	if (o->r == 0)
		o->r = o->provider->end(o->decoder, &o->reply, &o->err);
	stream_release(&s);
	o->provider->decoder_free(o->decoder);
}

static void outcome_release(struct outcome *o)
{
	model_reply_release(&o->reply);
	buf_release(&o->heard);
	buf_release(&o->thought);
}

static json_t *parsed(struct span text)
{
	json_t *json = json_loadb(text.data, text.len, JSON_ALLOW_NUL, NULL);

	assert_non_null(json);
	return json;
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

static void assert_same(const char *name, size_t size, json_t *wanted, json_t *got)
{
	soften(wanted, got);
	if (!json_equal(wanted, got)) {
		char *text = json_dumps(got, 0);

		fail_msg("%s, split %zu: got %s", name, size, text);
	}
}

static void check_body(const char *folder, const char *name)
{
	json_t *wanted = read_json(folder, name, ".expect.json");
	struct buf body = { 0 };
	size_t i;

	read_text(&body, folder, name, ".body");
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct outcome o;
		json_t *got;

		run(&o, buf_span(&body), sizes[i]);
		got = describe(&o);
		assert_same(name, sizes[i], wanted, got);
		json_decref(got);
		outcome_release(&o);
	}
	buf_release(&body);
	json_decref(wanted);
}

static void test_bodies(void **state)
{
	(void)state;
	assert_true(each_file(BODIES, ".body", check_body) > 30);
}

/* Numbers of arguments stay as the model wrote them. */
static void test_numbers(void **state)
{
	static const char body[] =
		"data: "
		"{\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"c\","
		"\"function\":{\"name\":\"f\",\"arguments\":\"{ \\\"a\\\": 1.50, \\\"b\\\": "
		"12345678901234567890123, \\\"c\\\": 1E400 "
		"}\"}}]},\"finish_reason\":\"stop\"}]}\n\n";
	struct outcome o;

	(void)state;
	run(&o, span_of(body), SIZE_MAX);
	assert_int_equal(o.r, 0);
	assert_int_equal(o.reply.content->count, 1);
	assert_string_equal(o.reply.content->parts[0].json,
			    "{\"a\":1.50,\"b\":12345678901234567890123,\"c\":1E400}");
	outcome_release(&o);
}

static void test_pieces_are_heard(void **state)
{
	struct buf body = { 0 };
	struct outcome o;

	(void)state;
	read_text(&body, BODIES, "usage-null-and-reasoning", ".body");
	run(&o, buf_span(&body), 7);
	assert_true(span_is(buf_span(&o.heard), "42"));
	assert_true(span_is(buf_span(&o.thought), "hm so"));
	outcome_release(&o);
	buf_release(&body);
}

static void test_error_messages(void **state)
{
	static const struct {
		const char *body;
		const char *message; /* NULL: not of the form */
	} bodies[] = {
		{ "{\"error\":{\"message\":\"no such model\",\"code\":null}}", "no such model" },
		{ "{\"error\":{\"code\":429,\"message\":\"x\",\"metadata\":{\"raw\":\"limit\"}}}",
		  "limit" },
		{ "{\"error\":\"text\"}", "text" },
		{ "{\"object\":\"error\",\"message\":\"vllm\"}", "vllm" },
		{ "{\"detail\":\"Not Found\"}", "Not Found" },
		{ "{\"error\":{\"message\":\"a\\ud83d\"}}", "a\xef\xbf\xbd" },
		{ "{\"error\":{}}", NULL },
		{ "<html>502</html>", NULL },
		{ "", NULL },
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(bodies); i++) {
		struct buf message = { 0 };
		bool found = openai()->error_message(span_of(bodies[i].body), &message);

		assert_int_equal(found, bodies[i].message != NULL);
		if (found)
			assert_string_equal(buf_cstr(&message), bodies[i].message);
		buf_release(&message);
	}
}

static const char *const variables[] = { "OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_ORG_ID",
					 "OPENAI_PROJECT", "OPENAI_MAX_TOKENS_FIELD" };

static void set_environment(json_t *env)
{
	const char *name;
	json_t *value;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(variables); i++)
		unsetenv(variables[i]);
	json_object_foreach(env, name, value) setenv(name, json_string_value(value), 1);
}

/* The contents and tools of a request fixture, as C objects. */
struct question {
	struct model_request rq;
	struct content *contents[16];
	struct model_tool tools[8];
};

static void question_make(struct question *q, json_t *from)
{
	json_t *item;
	size_t i;

	*q = (struct question){ 0 };
	json_array_foreach(json_object_get(from, "contents"), i, item)
	{
		char *text = json_dumps(item, 0);
		struct err err = { 0 };

		if (content_from_json(span_of(text), &q->contents[i], &err) < 0)
			fail_msg("%s", err.text);
		free(text);
		q->rq.count++;
	}
	json_array_foreach(json_object_get(from, "tools"), i, item)
	{
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

static void question_release(struct question *q)
{
	size_t i;

	for (i = 0; i < q->rq.count; i++)
		content_free(q->contents[i]);
}

static void check_where(const char *name, json_t *fixture, const struct http_request *http)
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
	struct question q;
	int r;

	set_environment(json_object_get(fixture, "env"));
	question_make(&q, json_object_get(fixture, "request"));
	r = openai()->encode(&q.rq, &http, &err);
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
	question_release(&q);
	json_decref(fixture);
}

static void test_requests(void **state)
{
	(void)state;
	assert_true(each_file(REQUESTS, ".json", check_request) > 20);
}

static void test_find(void **state)
{
	static const char *const bad[] = { "gpt-5", "openai", "openai/", "nobody/x", "", "/x" };
	const struct model_provider *p = NULL;
	const char *name = NULL;
	size_t i;

	(void)state;
	assert_int_equal(model_find("openai/org/model:7b", &p, &name, NULL), 0);
	assert_string_equal(p->name, "openai");
	assert_string_equal(name, "org/model:7b");
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		struct err err = { 0 };

		assert_int_equal(model_find(bad[i], &p, &name, &err), -EINVAL);
		assert_non_null(strstr(err.text, "openai/NAME"));
	}
}

static void assert_calls(const char *name, json_t *wanted, const struct content *content)
{
	size_t at = 0;
	size_t i;

	for (i = 0; content && i < content->count; i++) {
		const struct part *p = &content->parts[i];
		json_t *call;
		json_t *args;
		const char *id;

		if (p->kind != PART_CALL)
			continue;
		call = json_array_get(wanted, at++);
		id = json_string_value(json_object_get(call, "id"));
		args = parsed(span_of(p->json));
		if (!call || !json_equal(args, json_object_get(call, "args")) ||
		    strcmp(p->name, json_string_value(json_object_get(call, "name"))) != 0 ||
		    strcmp(id ? id : "", p->id ? p->id : "") != 0)
			fail_msg("%s: call %zu is %s %s", name, at, p->name, p->json);
		json_decref(args);
	}
	assert_int_equal(at, json_array_size(wanted));
}

static void assert_text(const char *name, const struct buf *got, json_t *expect, const char *what)
{
	const char *wanted = json_string_value(json_object_get(expect, what));

	if (strcmp(what, "text") == 0 && json_object_get(expect, "refusal"))
		wanted = json_string_value(json_object_get(expect, "refusal"));
	if (!span_is(buf_span(got), wanted ? wanted : ""))
		fail_msg("%s: the %s is '%.*s'", name, what, (int)got->len, got->data);
}

static void assert_outcome(const char *name, json_t *expect, const struct outcome *o)
{
	const char *finish = json_string_value(json_object_get(expect, "finish_adk"));
	bool error = strcmp(json_string_value(json_object_get(expect, "outcome")), "error") == 0;

	if (error != (o->r < 0))
		fail_msg("%s: ended with %d %s", name, o->r, o->err.text);
	assert_text(name, &o->heard, expect, "text");
	assert_text(name, &o->thought, expect, "thought");
	assert_calls(name, json_object_get(expect, "tool_calls"), o->reply.content);
	if (finish)
		assert_string_equal(o->reply.finish_reason, finish);
	if (json_is_object(json_object_get(expect, "usage")) && !error)
		assert_true(o->reply.usage.len > 0);
}

/* Wherever an answer is cut before its finish reason, no call comes out of it. */
static void check_cuts(const char *name, struct span bytes)
{
	const char *finish = memmem(bytes.data, bytes.len, "\"finish_reason\":\"", 17);
	size_t end = finish ? (size_t)(finish - bytes.data) : 0;
	size_t cut;

	for (cut = 0; cut < end; cut += 1 + end / 200) {
		struct outcome o;

		run(&o, span_sub(bytes, 0, cut), 512);
		if (o.r == 0 || (o.reply.content && content_has(o.reply.content, PART_CALL)))
			fail_msg("%s: cut at %zu passes", name, cut);
		outcome_release(&o);
	}
}

static void check_recorded_answer(const char *name, const char *suffix, const char *folder,
				  json_t *expect)
{
	struct buf body = { 0 };
	size_t i;

	read_text(&body, folder, name, suffix);
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct outcome o;

		run(&o, buf_span(&body), sizes[i]);
		assert_outcome(name, expect, &o);
		outcome_release(&o);
	}
	if (strcmp(suffix, ".stream") == 0)
		check_cuts(name, buf_span(&body));
	buf_release(&body);
}

static void check_recorded_error(const char *name, const char *folder, json_t *expect)
{
	const char *start = json_string_value(
		json_object_get(json_object_get(expect, "error"), "message_starts"));
	struct buf body = { 0 };
	struct buf message = { 0 };

	read_text(&body, folder, name, ".json");
	assert_true(openai()->error_message(buf_span(&body), &message));
	if (start && strncmp(buf_cstr(&message), start, strlen(start)) != 0)
		fail_msg("%s: the message is '%s'", name, message.data);
	buf_release(&body);
	buf_release(&message);
}

static void check_recorded(const char *folder, const char *name)
{
	json_t *meta = read_json(folder, name, ".meta.json");
	json_t *expect = json_object_get(meta, "expect");

	if (json_integer_value(json_object_get(meta, "status")) != 200)
		check_recorded_error(name, folder, expect);
	else
		check_recorded_answer(name,
				      json_is_true(json_object_get(meta, "streaming")) ? ".stream"
										       : ".json",
				      folder, expect);
	json_decref(meta);
}

static void test_recorded(void **state)
{
	static const char *const folders[] = { "openai", "compatible" };
	const char *root = getenv("ADKFS_RECORDED");
	size_t i;

	(void)state;
	if (!root) {
		print_message("test_recorded: ADKFS_RECORDED is not set, skipped\n");
		skip();
	}
	for (i = 0; i < ARRAY_SIZE(folders); i++) {
		char path[512];

		(void)snprintf(path, sizeof path, "%s/%s", root, folders[i]);
		assert_true(each_file(path, ".meta.json", check_recorded) > 0);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_find),     cmocka_unit_test(test_bodies),
		cmocka_unit_test(test_numbers),  cmocka_unit_test(test_pieces_are_heard),
		cmocka_unit_test(test_requests), cmocka_unit_test(test_error_messages),
		cmocka_unit_test(test_recorded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

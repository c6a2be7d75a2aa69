/*
 * The provider ollama: what goes out and what comes in.
 */
static const char *const variables[] = { "OLLAMA_HOST", "OLLAMA_API_KEY" };

#define RIG_MODEL    "ollama/m"
#define RIG_BODIES   "fixtures/ollama"
#define RIG_REQUESTS "fixtures/ollama-requests"
#define RIG_END      "\"done\":true"
#include "model_rig.h"

static void test_find(void **state)
{
	const struct model_provider *p = NULL;
	const char *name = NULL;

	(void)state;
	assert_int_equal(model_find("ollama_chat/org/model:7b", &p, &name, NULL), 0);
	assert_string_equal(p->name, "ollama");
	assert_string_equal(name, "org/model:7b");
}

static void test_bodies(void **state)
{
	(void)state;
	assert_true(check_bodies() > 30);
}

static void test_requests(void **state)
{
	(void)state;
	assert_true(check_requests() > 40);
}

static void test_recorded(void **state)
{
	static const char *const folders[] = { "ollama", NULL };

	(void)state;
	check_recordings(folders);
}

/* Numbers of arguments stay as the model wrote them. */
static void test_numbers(void **state)
{
	static const char body[] = "{\"message\":{\"tool_calls\":[{\"function\":{\"name\":\"f\","
				   "\"arguments\":{ \"a\": 1.50, \"b\": 12345678901234567890123, "
				   "\"c\": 1E400 }}}]},\"done\":true}";
	struct outcome o;

	(void)state;
	run(&o, span_of(body), SIZE_MAX);
	assert_int_equal(o.r, 0);
	assert_string_equal(o.reply.content->parts[0].json,
			    "{\"a\":1.50,\"b\":12345678901234567890123,\"c\":1E400}");
	outcome_release(&o);
}

static void test_pieces_are_heard(void **state)
{
	struct buf body = { 0 };
	struct outcome o;

	(void)state;
	read_text(&body, RIG_BODIES, "thinking", ".body");
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
		{ "{\"error\":\"model 'x' not found\"}", "model 'x' not found" },
		{ "{\"error\":{\"message\":\"limit\",\"type\":\"x\"}}", "limit" },
		{ "{\"error\":\"a\\ud83d\"}", "a\xef\xbf\xbd" },
		{ "{\"error\":\"\"}", NULL },
		{ "<html>502</html>", NULL },
		{ "", NULL },
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(bodies); i++) {
		struct buf message = { 0 };
		bool found = provider()->error_message(span_of(bodies[i].body), &message);

		assert_int_equal(found, bodies[i].message != NULL);
		if (found)
			assert_string_equal(buf_cstr(&message), bodies[i].message);
		buf_release(&message);
	}
}

/* The address that a request with this OLLAMA_HOST goes to; "": it is refused. */
static void check_host(const char *host, const char *url)
{
	json_t *question_json = json_pack("{s:[{s:s,s:[{s:s}]}]}", "contents", "role", "user",
					  "parts", "text", "x");
	struct http_request http = { 0 };
	struct err err = { 0 };
	struct question q;
	char want[256];
	int r;

	set_environment(NULL);
	setenv("OLLAMA_API_KEY", "made-0123456789", 1);
	if (host)
		setenv("OLLAMA_HOST", host, 1);
	question_make(&q, question_json);
	r = provider()->encode(&q.rq, &http, &err);
	(void)snprintf(want, sizeof want, "%s/api/chat", url);
	if (*url ? r < 0 || !span_is(buf_span(&http.url), want) : r != -EINVAL)
		fail_msg("OLLAMA_HOST=%s: %.*s %s", host ? host : "", (int)http.url.len,
			 http.url.data, err.text);
	if (!*url)
		assert_memory_equal(err.text, "OLLAMA_HOST", 11);
	http_request_release(&http);
	question_release(&q);
	json_decref(question_json);
}

static void test_hosts(void **state)
{
	static const struct {
		const char *host;
		const char *url;
	} hosts[] = {
		{ NULL, "http://127.0.0.1:11434" },
		{ "  ", "http://127.0.0.1:11434" },
		{ "1.2.3.4", "http://1.2.3.4:11434" },
		{ "1.2.3.4:56789", "http://1.2.3.4:56789" },
		{ "example.com", "http://example.com:11434" },
		{ "example.com:8080/", "http://example.com:8080" },
		{ "example.com/a/b/", "http://example.com:11434/a/b" },
		{ ":1234", "http://127.0.0.1:1234" },
		{ ":0", "http://127.0.0.1:0" },
		{ "0.0.0.0", "http://127.0.0.1:11434" },
		{ "0.0.0.0:80", "http://127.0.0.1:80" },
		{ "::", "http://[::1]:11434" },
		{ "[::]:80", "http://[::1]:80" },
		{ "::1", "http://[::1]:11434" },
		{ "[::1]", "http://[::1]:11434" },
		{ "[::1]:1337", "http://[::1]:1337" },
		{ "[::1", "http://[::1]:11434" },
		{ "[2001:db8::1]:1337/x", "http://[2001:db8::1]:1337/x" },
		{ "http://example.com", "http://example.com" },
		{ "http://example.com:80", "http://example.com:80" },
		{ "https://example.com", "https://example.com" },
		{ "HTTPS://example.com", "https://example.com" },
		{ "https://example.com:8443/ollama/", "https://example.com:8443/ollama" },
		{ "https://[::1]/x", "https://[::1]/x" },
		{ "http://", "http://127.0.0.1" },
		{ "ollama.com", "https://ollama.com" },
		{ "https://ollama.com/", "https://ollama.com" },
		{ " \"example.com\" ", "http://example.com:11434" },
		{ "'1.2.3.4:5'", "http://1.2.3.4:5" },
		{ "b\xc3\xbc"
		  "cher.example",
		  "http://b\xc3\xbc"
		  "cher.example:11434" },
		{ "example.com:x", "" },
		{ "example.com:", "" },
		{ "example.com:65536", "" },
		{ "example.com:99999999999999999999", "" },
		{ "example.com:-1", "" },
		{ "ftp://example.com", "" },
		{ "user:secret@example.com", "" },
		{ "user@example.com", "" },
		{ "http://a b", "" },
		{ "example.com/a?b", "" },
		{ "example.com/a#b", "" },
		{ "example.com/a b", "" },
		{ "1:2:3", "" },
		{ "a\r\nHost: b", "" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(hosts); i++)
		check_host(hosts[i].host, hosts[i].url);
}

/* A message of a recorded request as a content. */
static json_t *content_of(json_t *message)
{
	const char *role = json_string_value(json_object_get(message, "role"));
	json_t *text = json_object_get(message, "content");
	json_t *parts = json_array();
	json_t *call;
	size_t i;

	if (strcmp(role, "tool") == 0)
		json_array_append_new(parts,
				      json_pack("{s:{s:O,s:{s:O}}}", "functionResponse", "name",
						json_object_get(message, "tool_name"), "response",
						"result", text));
	else if (*json_string_value(text))
		json_array_append_new(parts, json_pack("{s:O}", "text", text));
	json_array_foreach(json_object_get(message, "tool_calls"), i, call)
	{
		json_t *function = json_object_get(call, "function");

		json_array_append_new(parts, json_pack("{s:{s:O,s:O}}", "functionCall", "name",
						       json_object_get(function, "name"), "args",
						       json_object_get(function, "arguments")));
	}
	return json_pack("{s:s,s:o}", "role", strcmp(role, "assistant") == 0 ? "model" : "user",
			 "parts", parts);
}

/* A recorded request as the question that it answers to. */
static json_t *question_of(json_t *body)
{
	json_t *contents = json_array();
	json_t *tools = json_array();
	json_t *item;
	size_t i;

	json_array_foreach(json_object_get(body, "messages"), i, item)
		json_array_append_new(contents, content_of(item));
	json_array_foreach(json_object_get(body, "tools"), i, item)
		json_array_append(tools, json_object_get(item, "function"));
	return json_pack("{s:O,s:o,s:o}", "name", json_object_get(body, "model"), "contents",
			 contents, "tools", tools);
}

/* What differs on purpose: we stream, and results are JSON. */
static void level(json_t *body)
{
	json_t *message;
	size_t i;

	json_object_set_new(body, "stream", json_false());
	json_array_foreach(json_object_get(body, "messages"), i, message)
	{
		json_t *result = json_loads(json_string_value(json_object_get(message, "content")),
					    0, NULL);

		if (json_object_get(result, "result"))
			json_object_set(message, "content", json_object_get(result, "result"));
		json_decref(result);
	}
}

static void test_recorded_request(void **state)
{
	const char *root = getenv("ADKFS_RECORDED");
	struct http_request http = { 0 };
	struct err err = { 0 };
	struct question q;
	char folder[512];
	json_t *wanted;
	json_t *from;
	json_t *body;

	(void)state;
	if (!root)
		skip();
	set_environment(NULL);
	(void)snprintf(folder, sizeof folder, "%s/requests", root);
	wanted = read_json(folder, "ollama-tool-result", ".json");
	from = question_of(wanted);
	question_make(&q, from);
	assert_int_equal(provider()->encode(&q.rq, &http, &err), 0);
	body = parsed(buf_span(&http.body));
	level(body);
	if (!json_equal(body, wanted))
		fail_msg("got %.*s", (int)http.body.len, http.body.data);
	json_decref(body);
	http_request_release(&http);
	question_release(&q);
	json_decref(from);
	json_decref(wanted);
}

struct heard {
	struct buf text;
	unsigned left; /* sentences until the listener has enough */
};

static int note(void *arg, const char *sentence)
{
	struct heard *h = arg;

	buf_printf(&h->text, "%s\n", sentence);
	return --h->left ? 0 : -EINTR;
}

static void test_review(void **state)
{
	static const char wanted[] =
		"tool 't': parameters.properties.a is sent to ollama without minLength, default\n"
		"tool 't': parameters.properties.b is sent to ollama without maxItems\n"
		"tool 't': parameters.properties.c.oneOf[1] is sent to ollama without "
		"additionalProperties\n"
		"tool 't': parameters.properties.d.properties.n is sent to ollama without minimum\n"
		"tool 't': parameters.properties.f.properties.n is sent to ollama without minimum\n"
		"tool 't': parameters.properties.f is sent to ollama without nullable\n"
		"tool 't': parameters.properties.g is sent to ollama without $ref\n"
		"tool 't': parameters.properties.h is sent to ollama without description, "
		"required, enum\n"
		"tool 't': parameters.properties.i is sent to ollama without oneOf\n"
		"tool 't': parameters is sent to ollama without additionalProperties, "
		"minProperties\n";
	json_t *fixture = read_json(RIG_REQUESTS, "tool-schema", ".json");
	struct heard all = { .left = 100 };
	struct heard some = { .left = 2 };
	struct question q;

	(void)state;
	question_make(&q, json_object_get(fixture, "request"));
	assert_int_equal(provider()->review(&q.rq, note, &all), 0);
	assert_string_equal(buf_cstr(&all.text), wanted);
	assert_int_equal(provider()->review(&q.rq, note, &some), -EINTR);
	assert_int_equal(some.left, 0);
	buf_release(&all.text);
	buf_release(&some.text);
	question_release(&q);
	json_decref(fixture);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_find),     cmocka_unit_test(test_bodies),
		cmocka_unit_test(test_numbers),  cmocka_unit_test(test_pieces_are_heard),
		cmocka_unit_test(test_requests), cmocka_unit_test(test_error_messages),
		cmocka_unit_test(test_hosts),    cmocka_unit_test(test_review),
		cmocka_unit_test(test_recorded), cmocka_unit_test(test_recorded_request),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

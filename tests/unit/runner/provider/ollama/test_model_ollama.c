/*
 * The provider ollama: what goes out and what comes in.
 */
#include "tests/unit/runner/provider/model_rig.h"

static void test_find(void **state)
{
	(void)state;
	assert_string_equal(found("ollama_chat/org/model:7b", "org/model:7b")->name, "ollama");
}

/* The address that a request with this OLLAMA_HOST goes to; "": it is refused. */
static void check_host(const char *host, const char *url)
{
	struct http_request http = { 0 };
	struct err err = { 0 };
	char want[256];
	int r = ask_word(
		json_pack("{s:s,s:s*}", "OLLAMA_API_KEY", "made-0123456789", "OLLAMA_HOST", host),
		&http, &err);

	(void)snprintf(want, sizeof want, "%s/api/chat", url);
	if (*url ? r < 0 || !span_is(buf_span(&http.url), want) : r != -EINVAL)
		fail_msg("OLLAMA_HOST=%s: %.*s %s", host ? host : "", (int)http.url.len,
			 http.url.data, err.text);
	if (!*url)
		assert_memory_equal(err.text, "OLLAMA_HOST", 11);
	http_request_release(&http);
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
static json_t *fixture_of(json_t *recorded)
{
	json_t *contents = json_array();
	json_t *tools = json_array();
	json_t *item;
	size_t i;

	json_array_foreach(json_object_get(recorded, "messages"), i, item)
		json_array_append_new(contents, content_of(item));
	json_array_foreach(json_object_get(recorded, "tools"), i, item)
		json_array_append(tools, json_object_get(item, "function"));
	return json_pack("{s:{s:O,s:o,s:o}}", "request", "name", json_object_get(recorded, "model"),
			 "contents", contents, "tools", tools);
}

/* We stream, and results are JSON. */
static void level(json_t *recorded, json_t *got)
{
	json_t *message;
	size_t i;

	(void)recorded;
	json_object_set_new(got, "stream", json_false());
	json_array_foreach(json_object_get(got, "messages"), i, message)
	{
		json_t *result = json_loads(json_string_value(json_object_get(message, "content")),
					    0, NULL);

		if (json_object_get(result, "result"))
			json_object_set(message, "content", json_object_get(result, "result"));
		json_decref(result);
	}
}

/* A listener who has enough after so many sentences. */
static int hear_some(void *arg, const char *sentence)
{
	unsigned *left = arg;

	(void)sentence;
	return --*left ? 0 : -EINTR;
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
	json_t *fixture = read_json(rig.requests.path, "tool-schema", ".json");
	unsigned left = 2;
	struct fixture_question q;

	(void)state;
	fixture_question_make(&q, json_object_get(fixture, "request"));
	assert_review(&q.rq, wanted);
	assert_int_equal(provider()->review(&q.rq, hear_some, &left), -EINTR);
	assert_int_equal(left, 0);
	fixture_question_release(&q);
	json_decref(fixture);
}

/* What a schema names again and again is not sent so often: its bytes count each time. */
static void test_large_references(void **state)
{
	CLEANUP(buf_release) struct buf fixture = { 0 };
	struct http_request http = { 0 };
	json_t *tree;
	int i;

	(void)state;
	buf_text(&fixture,
		 "{\"request\":{\"name\":\"m\",\"contents\":[],\"tools\":[{\"name\":\"t\","
		 "\"parameters\":{\"type\":\"object\",\"definitions\":{\"b\":{"
		 "\"type\":\"string\",\"description\":\"");
	for (i = 0; i < 100000; i++)
		buf_char(&fixture, 'x');
	buf_text(&fixture, "\"}},\"properties\":{");
	for (i = 0; i < 200; i++)
		buf_printf(&fixture, "%s\"p%d\":{\"$ref\":\"#/definitions/b\"}", i ? "," : "", i);
	buf_text(&fixture, "}}}]}}");
	tree = json_loadb(fixture.data, fixture.len, 0, NULL);
	assert_non_null(tree);
	assert_int_equal(ask_fixture(tree, &http, NULL), 0);
	assert_in_range(http.body.len, 900000, 1200000);
	http_request_release(&http);
	json_decref(tree);
}

static const struct rig_error errors[] = {
	{ "{\"error\":\"model 'x' not found\"}", "model 'x' not found" },
	{ "{\"error\":{\"message\":\"limit\",\"type\":\"x\"}}", "limit" },
	{ "{\"error\":\"a\\ud83d\"}", "a\xef\xbf\xbd" },
	{ "{\"error\":\"\"}", NULL },
	{ "<html>502</html>", NULL },
	{ "", NULL },
	{ 0 },
};

const struct model_rig rig = {
	.model = "ollama/m",
	.variables = (const char *const[]){ "OLLAMA_HOST", "OLLAMA_API_KEY", NULL },
	.bodies = { "fixtures/ollama", .above = 30 },
	.requests = { "fixtures/ollama-requests", .above = 40 },
	.recorded = (const char *const[]){ "ollama", NULL },
	.end_marker = "\"done\":true",
	.numbers = "{\"message\":{\"tool_calls\":[{\"function\":{\"name\":\"f\","
		   "\"arguments\":{ \"a\": 1.50, \"b\": 12345678901234567890123, "
		   "\"c\": 1E400 }}}]},\"done\":true}",
	.heard = { "thinking", "42", "hm so", "stop" },
	.errors = errors,
	.again = { "ollama-", .fixture = fixture_of, .level = level },
};

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_find),
		cmocka_unit_test(test_bodies),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_pieces_are_heard),
		cmocka_unit_test(test_requests),
		cmocka_unit_test(test_error_messages),
		cmocka_unit_test(test_hosts),
		cmocka_unit_test(test_review),
		cmocka_unit_test(test_large_references),
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_recorded),
		cmocka_unit_test(test_recorded_requests),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

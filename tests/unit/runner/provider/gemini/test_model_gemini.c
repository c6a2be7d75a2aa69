/*
 * The providers gemini and vertex_ai: what goes out and what comes in.
 */
#include "tests/unit/runner/provider/model_rig.h"

/* Contents in one spelling, without those that say nothing. */
static void level_contents(json_t *body)
{
	json_t *all = json_array();
	json_t *item;
	size_t i;

	json_array_foreach(json_object_get(body, "contents"), i, item)
	{
		struct buf canonical = { 0 };
		struct content *content;
		char *text = json_dumps(item, 0);

		assert_int_equal(content_from_json(span_of(text), &content, NULL), 0);
		content_to_json(content, &canonical);
		if (!content_is_empty(content))
			json_array_append_new(all, parsed(buf_span(&canonical)));
		content_free(content);
		buf_release(&canonical);
		free(text);
	}
	json_object_set_new(body, "contents", all);
}

static void level(json_t *recorded, json_t *got)
{
	level_contents(recorded);
	level_contents(got);
}

/* A body as a question: what ADK has of it. */
static json_t *fixture_of(json_t *body)
{
	json_t *config = json_deep_copy(json_object_get(body, "generationConfig"));
	json_t *tools = json_array();
	json_t *tool;
	size_t i;

	json_array_foreach(json_object_get(json_array_get(json_object_get(body, "tools"), 0),
					   "functionDeclarations"),
			   i, tool)
	{
		json_t *parameters = json_object_get(tool, "parameters_json_schema");

		json_object_set(tool, "parametersJsonSchema", parameters);
		json_object_del(tool, "parameters_json_schema");
		if (!json_string_length(json_object_get(tool, "description")))
			json_object_del(tool, "description");
		json_array_append_new(tools,
				      json_pack("{sOsO*sO*}", "name", json_object_get(tool, "name"),
						"description", json_object_get(tool, "description"),
						"parameters",
						json_object_get(tool, "parametersJsonSchema")));
	}
	if (!json_object_size(json_object_get(body, "generationConfig")))
		json_object_del(body, "generationConfig");
	if (json_object_get(body, "toolConfig"))
		json_object_set(config, "toolConfig", json_object_get(body, "toolConfig"));
	return json_pack(
		"{s{ss}s{sOsososo*}}", "env", "GEMINI_API_KEY", "k", "request", "contents",
		json_object_get(body, "contents"), "tools", tools, "config", config, "system",
		json_incref(json_object_get(
			json_array_get(json_object_get(json_object_get(body, "systemInstruction"),
						       "parts"),
				       0),
			"text")));
}

/* Why there is no content, in words. */
static void test_reasons(void **state)
{
	static const struct {
		const char *body;
		const char *message;
	} cases[] = {
		{ "{\"candidates\":[{\"finishReason\":\"MODEL_ARMOR\",\"finishMessage\":\"no "
		  "\\ud83d\"}]}",
		  "no \xef\xbf\xbd" },
		{ "{\"candidates\":[{\"finishReason\":\"MAX_TOKENS\"}]}",
		  "the limit of tokens was reached before any content" },
		{ "{\"candidates\":[{\"finishReason\":\"NEW\"}]}",
		  "the model ended without content" },
		{ "{\"promptFeedback\":{\"blockReason\":\"SAFETY\"}}",
		  "the provider refused the request" },
		{ "{\"promptFeedback\":{\"blockReason\":\"X\",\"blockReasonMessage\":\"so\"}}",
		  "so" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct outcome o;

		outcome_make(&o, span_of(cases[i].body), SIZE_MAX);
		assert_int_equal(o.r, 0);
		assert_string_equal(o.reply.error_message, cases[i].message);
		outcome_release(&o);
	}
}

static void assert_extra(const struct outcome *o, enum model_extra which, const char *wanted)
{
	if (!span_is(buf_span(&o->reply.extras[which]), wanted))
		fail_msg("%.*s", (int)o->reply.extras[which].len, o->reply.extras[which].data);
}

/* What is said about the content: the last word counts, citations under ADK's name. */
static void test_extras(void **state)
{
	static const char body[] =
		"data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"a\"}]},"
		"\"groundingMetadata\":{\"webSearchQueries\":[\"x\"]},"
		"\"citationMetadata\":{\"citationSources\":[{\"uri\":\"u\"}]}}]}\r\n\r\n"
		"data: "
		"{\"candidates\":[{\"groundingMetadata\":{\"webSearchQueries\":[\"\\ud83d\"]},"
		"\"avgLogprobs\":-0.25,\"logprobsResult\":{\"chosenCandidates\":[]},"
		"\"finishReason\":\"STOP\"}]}\r\n\r\n";
	struct outcome o;

	(void)state;
	outcome_make(&o, span_of(body), SIZE_MAX);
	assert_int_equal(o.r, 0);
	assert_extra(&o, MODEL_GROUNDING, "{\"webSearchQueries\":[\"\xef\xbf\xbd\"]}");
	assert_extra(&o, MODEL_CITATIONS, "{\"citations\":[{\"uri\":\"u\"}]}");
	assert_extra(&o, MODEL_AVG_LOGPROBS, "-0.25");
	assert_extra(&o, MODEL_LOGPROBS, "{\"chosenCandidates\":[]}");
	outcome_release(&o);
	outcome_make(
		&o,
		SPAN("{\"candidates\":[{\"citationMetadata\":{\"citations\":[{\"uri\":\"v\"}]},"
		     "\"finishReason\":\"STOP\"}]}"),
		SIZE_MAX);
	assert_extra(&o, MODEL_CITATIONS, "{\"citations\":[{\"uri\":\"v\"}]}");
	outcome_release(&o);
}

/* What the model said goes back as it came: parts, ids and signatures, byte for byte. */
static void test_round_trip(void **state)
{
	static const char *const parts[] = {
		"[{\"text\":\"hm\",\"thought\":true,\"thoughtSignature\":\"+/+/AAECAwQF\"},"
		"{\"text\":\"x\"},{\"functionCall\":{\"id\":\"i1\",\"name\":\"f\",\"args\":{\"a\":"
		"1.50}},\"thoughtSignature\":\"////\"},"
		"{\"functionCall\":{\"name\":\"g\",\"args\":{}}},"
		"{\"text\":\"\",\"thoughtSignature\":\"+w==\"}]",
		"[{\"text\":\"see\"},{\"inlineData\":{\"mimeType\":\"image/png\",\"data\":\"+/+/"
		"\"},"
		"\"thoughtSignature\":\"++++\"}]",
	};
	size_t i;

	(void)state;
	set_only("GEMINI_API_KEY", "k");
	for (i = 0; i < ARRAY_SIZE(parts); i++) {
		struct buf body = { 0 };
		struct http_request http = { 0 };
		struct outcome o;
		json_t *sent;
		json_t *wanted = parsed(span_of(parts[i]));

		buf_printf(&body,
			   "data: {\"candidates\":[{\"content\":{\"parts\":%s},\"finishReason\":"
			   "\"STOP\"}]}\r\n\r\n",
			   parts[i]);
		outcome_make(&o, buf_span(&body), 5);
		assert_int_equal(o.r, 0);
		ask_contents(&o.reply.content, 1, &http);
		sent = parsed(buf_span(&http.body));
		if (!json_equal(
			    wanted,
			    json_object_get(json_array_get(json_object_get(sent, "contents"), 0),
					    "parts")))
			fail_msg("sent %.*s", (int)http.body.len, http.body.data);
		json_decref(sent);
		json_decref(wanted);
		http_request_release(&http);
		buf_release(&body);
		outcome_release(&o);
	}
}

/* An image of many megabytes, all in one line. */
static void test_big_image(void **state)
{
	const size_t size = 24u << 20;
	struct buf body = { 0 };
	struct outcome o;

	(void)state;
	buf_text(&body, "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"see\"},"
			"{\"inlineData\":{\"mimeType\":\"image/png\",\"data\":\"");
	assert_true(buf_reserve(&body, size));
	memset(body.data + body.len, '/', size);
	body.len += size;
	buf_text(&body, "\"}}]},\"finishReason\":\"STOP\"}]}\r\n\r\n");
	outcome_make(&o, buf_span(&body), 16384);
	assert_int_equal(o.r, 0);
	assert_int_equal(o.reply.content->count, 2);
	assert_int_equal(o.reply.content->parts[1].text.len, size);
	assert_int_equal(o.reply.content->parts[1].text.data[size - 1], '_');
	outcome_release(&o);
	buf_release(&body);
}

#define RETRY(delay)                                                                               \
	"{\"error\":{\"details\":[{\"@type\":\"x.QuotaFailure\"},{\"@type\":"                      \
	"\"type.googleapis.com/google.rpc.RetryInfo\",\"retryDelay\":" delay "}]}}"

static void test_wait_hints(void **state)
{
	static const struct {
		const char *body;
		int ms; /* below 0: none */
	} bodies[] = {
		{ RETRY("\"34.5s\""), 34500 },
		{ RETRY("\"0s\""), 0 },
		{ "[" RETRY("\"2s\"") "]", 2000 },
		{ RETRY("\"2\""), -1 },
		{ RETRY("\"s\""), -1 },
		{ RETRY("\"-2s\""), -1 },
		{ RETRY("2"), -1 },
		{ "{\"error\":{\"details\":[{\"retryDelay\":\"2s\"}]}}", -1 },
		{ "{\"error\":{\"details\":{}}}", -1 },
		{ "no JSON", -1 },
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(bodies); i++)
		assert_int_equal((int)provider()->wait_hint(span_of(bodies[i].body)), bodies[i].ms);
}

static void test_find(void **state)
{
	static const struct {
		const char *model;
		const struct model_provider *provider;
		const char *name;
	} cases[] = {
		{ "gemini/gemini-2.5-flash", &model_gemini, "gemini-2.5-flash" },
		{ "gemini-2.5-flash", &model_gemini, "gemini-2.5-flash" },
		{ "gemma-3-27b-it", &model_gemini, "gemma-3-27b-it" },
		{ "vertex_ai/gemini-2.5-pro", &model_vertex_ai, "gemini-2.5-pro" },
		{ "projects/p/locations/l/endpoints/1", &model_vertex_ai,
		  "projects/p/locations/l/endpoints/1" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++)
		assert_ptr_equal(found(cases[i].model, cases[i].name), cases[i].provider);
}

static const struct rig_error errors[] = {
	{ "{\"error\":{\"code\":404,\"message\":\"no such model\",\"status\":\"NOT_FOUND\"}}",
	  "no such model" },
	{ " [ {\"error\":{\"message\":\"in a list\"}} ]\n", "in a list" },
	{ "{\"error\":{\"status\":\"INTERNAL\",\"message\":\"\"}}", "INTERNAL" },
	{ "{\"error\":\"text\"}", "text" },
	{ "{\"error\":{\"message\":\"a\\ud83d\"}}", "a\xef\xbf\xbd" },
	{ "{\"error\":{}}", NULL },
	{ "{}", NULL },
	{ "[]", NULL },
	{ "[1]", NULL },
	{ "<html>502</html>", NULL },
	{ "", NULL },
	{ 0 },
};

const struct model_rig rig = {
	.model = "gemini/m",
	.variables =
		(const char *const[]){ "GOOGLE_API_KEY", "GEMINI_API_KEY", "GOOGLE_GEMINI_BASE_URL",
				       "GOOGLE_VERTEX_BASE_URL", "GOOGLE_GENAI_API_VERSION",
				       "GOOGLE_GENAI_USE_ENTERPRISE", "GOOGLE_GENAI_USE_VERTEXAI",
				       "GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION",
				       "CLOUDSDK_AUTH_ACCESS_TOKEN", NULL },
	.bodies = { "fixtures/gemini", .above = 50 },
	.requests = { "fixtures/gemini-requests", .above = 70 },
	.recorded = (const char *const[]){ "gemini", NULL },
	.end_marker = "\"finishReason\":",
	.numbers =
		"data: {\"candidates\":[{\"content\":{\"parts\":[{\"functionCall\":{\"name\":\"f\","
		"\"args\":{ \"a\": 1.50, \"b\": 12345678901234567890123, \"c\": 1E400 }}}]},"
		"\"finishReason\":\"STOP\"}]}\r\n\r\n",
	.errors = errors,
	.again = { "gemini-", .above = 3, .fixture = fixture_of, .level = level },
};

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_find),
		cmocka_unit_test(test_bodies),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_reasons),
		cmocka_unit_test(test_extras),
		cmocka_unit_test(test_big_image),
		cmocka_unit_test(test_requests),
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_error_messages),
		cmocka_unit_test(test_wait_hints),
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_recorded),
		cmocka_unit_test(test_recorded_requests),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

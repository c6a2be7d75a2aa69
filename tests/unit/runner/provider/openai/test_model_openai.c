/*
 * The provider openai and its dialects: what goes out and what comes in.
 */
#include "tests/unit/runner/provider/model_rig.h"

static void test_dialects(void **state)
{
	static const struct rig_folder folder = { "fixtures/openai-dialects", .above = 40 };

	(void)state;
	check_requests(&folder);
}

/* A signature goes back as it came, byte for byte. */
static void test_signature_round_trip(void **state)
{
	struct http_request http = { 0 };
	struct outcome o;

	(void)state;
	set_only("OPENAI_BASE_URL", "https://generativelanguage.googleapis.com/v1beta/openai");
	setenv("OPENAI_API_KEY", "k", 1);
	outcome_of_body(&o, "signature-on-call", SIZE_MAX);
	assert_int_equal(o.r, 0);
	ask_contents(&o.reply.content, 1, &http);
	assert_non_null(
		strstr(buf_cstr(&http.body), "{\"google\":{\"thought_signature\":\"sig+/==\"}}"));
	http_request_release(&http);
	outcome_release(&o);
}

/* Contents of a recorded request, without what the system said. */
static size_t contents_of(json_t *messages, struct content **out)
{
	json_t *message;
	size_t count = 0;
	size_t i;

	json_array_foreach(messages, i, message)
	{
		const char *role = json_string_value(json_object_get(message, "role"));
		const char *text = json_string_value(json_object_get(message, "content"));
		const char *thought = json_string_value(
			json_object_get(message, "reasoning_content"));
		json_t *calls = json_object_get(message, "tool_calls");
		json_t *call;
		struct content *c;
		size_t n;

		if (!strcmp(role, "system"))
			continue;
		c = content_new(!strcmp(role, "assistant") ? "model" : "user");
		out[count++] = c;
		if (!strcmp(role, "tool")) {
			assert_int_equal(content_add_function(c, PART_RESPONSE,
							      json_string_value(json_object_get(
								      message, "tool_call_id")),
							      "", span_of(text)),
					 0);
			continue;
		}
		if (thought && *thought)
			assert_int_equal(content_add_text(c, span_of(thought), true), 0);
		if (text)
			assert_int_equal(content_add_text(c, span_of(text), false), 0);
		json_array_foreach(calls, n, call)
		{
			json_t *f = json_object_get(call, "function");

			assert_int_equal(
				content_add_function(c, PART_CALL,
						     json_string_value(json_object_get(call, "id")),
						     json_string_value(json_object_get(f, "name")),
						     span_of(json_string_value(
							     json_object_get(f, "arguments")))),
				0);
		}
	}
	return count;
}

/* What DeepSeek took in its thinking mode, out of the same conversation. */
static void test_recorded_reasoning(void **state)
{
	struct content *contents[16];
	struct question rq = { .contents = contents };
	struct http_request http = { 0 };
	struct err err = { 0 };
	json_t *wanted = read_recorded("requests", "deepseek-reasoning-sent-back");
	json_t *messages = json_object_get(wanted, "messages");
	json_t *body;
	size_t i;

	(void)state;
	set_only("DEEPSEEK_API_KEY", "k");
	rq.count = contents_of(messages, contents);
	rq.name = "deepseek-reasoner";
	rq.provider = found("deepseek/deepseek-reasoner", rq.name);
	if (rq.provider->encode(&rq, &http, &err) < 0)
		fail_msg("%s", err.text);
	body = parsed(buf_span(&http.body));
	assert_string_equal(json_string_value(json_object_get(body, "model")),
			    json_string_value(json_object_get(wanted, "model")));
	while (!strcmp(json_string_value(json_object_get(json_array_get(messages, 0), "role")),
		       "system"))
		json_array_remove(messages, 0);
	assert_int_equal(json_array_size(messages), rq.count);
	for (i = 0; i < rq.count; i++) {
		json_t *got = json_array_get(json_object_get(body, "messages"), i);

		if (!json_equal(got, json_array_get(messages, i)))
			fail_msg("message %zu is %s", i, json_dumps(got, 0));
		content_free(contents[i]);
	}
	http_request_release(&http);
	json_decref(body);
	json_decref(wanted);
}

static void test_review(void **state)
{
	static const struct model_tool tools[] = { { .name = "docs.search" }, { .name = "plain" } };
	struct question rq = { .provider = provider(), .tools = tools, .tool_count = 2 };
	json_t *config = json_pack("{s:{s:b}}", "thinkingConfig", "includeThoughts", 1);

	(void)state;
	assert_review(&rq, "tool docs.search: its name is sent to openai as docs-x2E-search\n");
	rq.config = config;
	rq.tool_count = 0;
	assert_review(&rq, "generate_content_config: thinkingConfig.includeThoughts: has no "
			   "effect, thoughts are shown whenever they come\n");
	json_decref(config);
}

static void test_find(void **state)
{
	static const char *const bad[] = { "gpt-5", "openai", "openai/", "nobody/", "", "/x" };
	struct err unknown = { 0 };
	const struct model_provider *p = NULL;
	const char *name = NULL;
	size_t i;

	(void)state;
	assert_string_equal(found("openai/org/model:7b", "org/model:7b")->name, "openai");
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		struct err err = { 0 };

		assert_int_equal(model_find(bad[i], &p, &name, &err), -EINVAL);
		assert_non_null(strstr(err.text, "openai/NAME"));
	}
	assert_int_equal(model_find("nobody/x", &p, &name, &unknown), -EINVAL);
	assert_non_null(strstr(unknown.text, "'nobody/x' has the provider 'nobody'"));
}

static const struct rig_error errors[] = {
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
	{ 0 },
};

/* Of all who speak so. */
static const char *const variables[] = {
	"AZURE_AD_TOKEN",
	"AZURE_API_BASE",
	"AZURE_API_KEY",
	"AZURE_API_VERSION",
	"AZURE_MAX_TOKENS_FIELD",
	"AZURE_OPENAI_AD_TOKEN",
	"AZURE_OPENAI_API_KEY",
	"AZURE_OPENAI_ENDPOINT",
	"DEEPSEEK_API_BASE",
	"DEEPSEEK_API_KEY",
	"FIREWORKS_API_BASE",
	"FIREWORKS_API_KEY",
	"GROQ_API_BASE",
	"GROQ_API_KEY",
	"HOSTED_VLLM_API_BASE",
	"HOSTED_VLLM_API_KEY",
	"LITELLM_PROXY_API_BASE",
	"LITELLM_PROXY_API_KEY",
	"LM_STUDIO_API_BASE",
	"LM_STUDIO_API_KEY",
	"MISTRAL_API_BASE",
	"MISTRAL_API_KEY",
	"OPENAI_API_KEY",
	"OPENAI_API_VERSION",
	"OPENAI_BASE_URL",
	"OPENAI_MAX_TOKENS_FIELD",
	"OPENAI_ORG_ID",
	"OPENAI_PROJECT",
	"OPENROUTER_API_BASE",
	"OPENROUTER_API_KEY",
	"OR_APP_NAME",
	"OR_SITE_URL",
	"TOGETHERAI_API_KEY",
	"TOGETHER_AI_API_BASE",
	"TOGETHER_API_KEY",
	"TOGETHER_BASE_URL",
	"XAI_API_BASE",
	"XAI_API_KEY",
	NULL,
};

const struct model_rig rig = {
	.model = "openai/m",
	.variables = variables,
	.bodies = { "fixtures/openai", .above = 30 },
	.requests = { "fixtures/openai-requests", .above = 20 },
	.recorded = (const char *const[]){ "openai", "compatible", NULL },
	.end_marker = "\"finish_reason\":\"",
	.numbers =
		"data: "
		"{\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"c\","
		"\"function\":{\"name\":\"f\",\"arguments\":\"{ \\\"a\\\": 1.50, \\\"b\\\": "
		"12345678901234567890123, \\\"c\\\": 1E400 "
		"}\"}}]},\"finish_reason\":\"stop\"}]}\n\n",
	.heard = { "usage-null-and-reasoning", "42", "hm so", "stop" },
	.errors = errors,
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
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_recorded),
		cmocka_unit_test(test_dialects),
		cmocka_unit_test(test_signature_round_trip),
		cmocka_unit_test(test_recorded_reasoning),
		cmocka_unit_test(test_review),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * The provider openai_responses: what goes out and what comes in.
 */
#include "tests/unit/runner/provider/model_rig.h"

static void test_find(void **state)
{
	static const struct {
		const char *model;
		const char *provider;
		const char *name;
	} models[] = {
		{ "openai/responses/gpt-5-mini", "openai_responses", "gpt-5-mini" },
		{ "openai_responses/org/m", "openai_responses", "org/m" },
		{ "openai/responses", "openai", "responses" },
		{ "openai/gpt-5", "openai", "gpt-5" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(models); i++) {
		const struct model_provider *p = found(models[i].model, models[i].name);

		assert_string_equal(p->name, models[i].provider);
	}
}

/* What was thought goes back as it came, at its place, whatever else is in the answer. */
static void test_reasoning_round_trip(void **state)
{
	static const char wanted[] =
		"\"input\":["
		"{\"type\":\"reasoning\",\"id\":\"rs_a\",\"summary\":[{\"type\": "
		"\"summary_text\", \"text\": \"a\"}],\"encrypted_content\":\"A\"},"
		"{\"type\":\"function_call\",\"call_id\":\"c1\",\"name\":\"f\",\"arguments\":"
		"\"{}\"},"
		"{\"type\":\"reasoning\",\"id\":\"rs_b\",\"summary\":[],\"encrypted_content\":"
		"\"B\"},"
		"{\"type\":\"function_call\",\"call_id\":\"c2\",\"name\":\"g\",\"arguments\":"
		"\"{}\"},"
		"{\"type\":\"message\",\"role\":\"assistant\",\"content\":\"ok\"}]";
	struct http_request http = { 0 };
	struct outcome o;

	(void)state;
	set_only("OPENAI_BASE_URL", "http://127.0.0.1:1");
	outcome_of_body(&o, "reasoning-between-calls", 64);
	assert_int_equal(o.r, 0);
	ask_contents(&o.reply.content, 1, &http);
	if (!strstr(buf_cstr(&http.body), wanted))
		fail_msg("got %s", http.body.data);
	http_request_release(&http);
	outcome_release(&o);
}

static void test_too_many_items(void **state)
{
	struct buf body = { 0 };
	struct outcome o;
	int i;

	(void)state;
	for (i = 0; i <= 1024; i++)
		buf_printf(&body,
			   "data: {\"type\":\"response.output_item.added\",\"output_index\":%d,"
			   "\"item\":{\"type\":\"message\"}}\n\n",
			   i);
	outcome_make(&o, buf_span(&body), SIZE_MAX);
	assert_int_equal(o.r, -E2BIG);
	assert_string_equal(o.err.text, "the answer has more than 1024 items");
	outcome_release(&o);
	buf_release(&body);
}

const struct model_rig rig = {
	.model = "openai/responses/m",
	.variables = (const char *const[]){ "OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_ORG_ID",
					    "OPENAI_PROJECT", NULL },
	.bodies = { "fixtures/responses", .above = 40 },
	.requests = { "fixtures/responses-requests", .above = 30 },
	.recorded = (const char *const[]){ "responses", NULL },
	.end_marker = "event: response.completed",
	.numbers = "data: {\"type\":\"response.output_item.done\",\"output_index\":0,\"item\":{"
		   "\"type\":\"function_call\",\"call_id\":\"c\",\"name\":\"f\",\"arguments\":\"{ "
		   "\\\"a\\\": 1.50, \\\"b\\\": 12345678901234567890123, \\\"c\\\": 1E400 }\"}}\n\n"
		   "data: {\"type\":\"response.completed\"}\n\n",
};

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_find),
		cmocka_unit_test(test_bodies),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_requests),
		cmocka_unit_test(test_reasoning_round_trip),
		cmocka_unit_test(test_too_many_items),
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_recorded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

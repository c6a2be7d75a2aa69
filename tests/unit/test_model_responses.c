/*
 * The provider openai_responses: what goes out and what comes in.
 */
static const char *const variables[] = { "OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_ORG_ID",
					 "OPENAI_PROJECT" };

#define RIG_MODEL    "openai/responses/m"
#define RIG_BODIES   "fixtures/responses"
#define RIG_REQUESTS "fixtures/responses-requests"
#define RIG_END      "event: response.completed"
#include "model_rig.h"

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
		const struct model_provider *p = NULL;
		const char *name = NULL;

		assert_int_equal(model_find(models[i].model, &p, &name, NULL), 0);
		assert_string_equal(p->name, models[i].provider);
		assert_string_equal(name, models[i].name);
	}
}

static void test_bodies(void **state)
{
	(void)state;
	assert_true(check_bodies() > 40);
}

static void test_requests(void **state)
{
	(void)state;
	assert_true(check_requests() > 30);
}

static void test_recorded(void **state)
{
	static const char *const folders[] = { "responses", NULL };

	(void)state;
	check_recordings(folders);
}

/* Numbers of arguments stay as the model wrote them. */
static void test_numbers(void **state)
{
	static const char body[] =
		"data: {\"type\":\"response.output_item.done\",\"output_index\":0,\"item\":{"
		"\"type\":\"function_call\",\"call_id\":\"c\",\"name\":\"f\",\"arguments\":\"{ "
		"\\\"a\\\": 1.50, \\\"b\\\": 12345678901234567890123, \\\"c\\\": 1E400 }\"}}\n\n"
		"data: {\"type\":\"response.completed\"}\n\n";
	struct outcome o;

	(void)state;
	run(&o, span_of(body), SIZE_MAX);
	assert_int_equal(o.r, 0);
	assert_string_equal(o.reply.content->parts[0].json,
			    "{\"a\":1.50,\"b\":12345678901234567890123,\"c\":1E400}");
	outcome_release(&o);
}

/* What was thought goes back as it came, at its place, whatever else is in the answer. */
static void test_reasoning_round_trip(void **state)
{
	struct buf body = { 0 };
	struct buf request = { 0 };
	struct http_request http = { 0 };
	struct err err = { 0 };
	struct outcome o;
	struct model_request rq = { .name = "m", .system = "" };

	(void)state;
	set_environment(NULL);
	setenv("OPENAI_BASE_URL", "http://127.0.0.1:1", 1);
	read_text(&body, RIG_BODIES, "reasoning-between-calls", ".body");
	run(&o, buf_span(&body), 64);
	assert_int_equal(o.r, 0);
	rq.contents = &o.reply.content;
	rq.count = 1;
	assert_int_equal(provider()->encode(&rq, &http, &err), 0);
	buf_text(&request,
		 "\"input\":["
		 "{\"type\":\"reasoning\",\"id\":\"rs_a\",\"summary\":[{\"type\": "
		 "\"summary_text\", \"text\": \"a\"}],\"encrypted_content\":\"A\"},"
		 "{\"type\":\"function_call\",\"call_id\":\"c1\",\"name\":\"f\",\"arguments\":"
		 "\"{}\"},"
		 "{\"type\":\"reasoning\",\"id\":\"rs_b\",\"summary\":[],\"encrypted_content\":"
		 "\"B\"},"
		 "{\"type\":\"function_call\",\"call_id\":\"c2\",\"name\":\"g\",\"arguments\":"
		 "\"{}\"},"
		 "{\"type\":\"message\",\"role\":\"assistant\",\"content\":\"ok\"}]");
	if (!memmem(http.body.data, http.body.len, request.data, request.len))
		fail_msg("got %.*s", (int)http.body.len, http.body.data);
	http_request_release(&http);
	outcome_release(&o);
	buf_release(&request);
	buf_release(&body);
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
	run(&o, buf_span(&body), SIZE_MAX);
	assert_int_equal(o.r, -E2BIG);
	assert_string_equal(o.err.text, "the answer has more than 1024 items");
	outcome_release(&o);
	buf_release(&body);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_find),
		cmocka_unit_test(test_bodies),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_requests),
		cmocka_unit_test(test_reasoning_round_trip),
		cmocka_unit_test(test_too_many_items),
		cmocka_unit_test(test_recorded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

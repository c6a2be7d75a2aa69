/*
 * The provider openai: what goes out and what comes in.
 */
static const char *const variables[] = { "OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_ORG_ID",
					 "OPENAI_PROJECT", "OPENAI_MAX_TOKENS_FIELD" };

#define RIG_MODEL    "openai/m"
#define RIG_BODIES   "fixtures/openai"
#define RIG_REQUESTS "fixtures/openai-requests"
#define RIG_END      "\"finish_reason\":\""
#include "model_rig.h"

static void test_bodies(void **state)
{
	(void)state;
	assert_true(check_bodies() > 30);
}

static void test_requests(void **state)
{
	(void)state;
	assert_true(check_requests() > 20);
}

static void test_recorded(void **state)
{
	static const char *const folders[] = { "openai", "compatible", NULL };

	(void)state;
	check_recordings(folders);
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
	read_text(&body, RIG_BODIES, "usage-null-and-reasoning", ".body");
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
		bool found = provider()->error_message(span_of(bodies[i].body), &message);

		assert_int_equal(found, bodies[i].message != NULL);
		if (found)
			assert_string_equal(buf_cstr(&message), bodies[i].message);
		buf_release(&message);
	}
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

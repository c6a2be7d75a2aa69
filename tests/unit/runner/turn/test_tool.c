/*
 * Tools: what a program gives and what the model gets, and arguments that do not fit.
 */
#include "runner/turn/tool.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>
#include <jansson.h>

static const struct tool plain = { .name = (char *)"t" };

static void expect(struct span output, const char *want)
{
	CLEANUP(buf_release) struct buf response = { 0 };

	assert_int_equal(tool_response(&plain, output, &response), 0);
	assert_string_equal(buf_cstr(&response), want);
}

static void test_forms(void **state UNUSED)
{
	static const struct {
		const char *output;
		const char *want;
	} rows[] = {
		{ "", "{\"result\":null}" },
		{ "{ \"a\" : 1 }\n", "{\"a\":1}" },
		{ "{}", "{}" },
		{ " \n{\"a\":{\"b\":[ ]}}\r\n", "{\"a\":{\"b\":[]}}" },
		{ "{\"n\":1.50,\"big\":123456789012345678901234567890}",
		  "{\"n\":1.50,\"big\":123456789012345678901234567890}" },
		{ "[1, 2]", "{\"result\":[1,2]}" },
		{ "\"text\"", "{\"result\":\"text\"}" },
		{ "7.0\n", "{\"result\":7.0}" },
		{ "true", "{\"result\":true}" },
		{ "null", "{\"result\":null}" },
		{ "sunny, 20 \xc2\xb0"
		  "C\n",
		  "{\"result\":\"sunny, 20 \xc2\xb0"
		  "C\"}" },
		{ "a\nb\n\n", "{\"result\":\"a\\nb\\n\"}" },
		{ "{\"a\":", "{\"result\":\"{\\\"a\\\":\"}" },
		{ "{} {}", "{\"result\":\"{} {}\"}" },
		{ "{\"a\":1,}", "{\"result\":\"{\\\"a\\\":1,}\"}" },
		{ "NaN", "{\"result\":\"NaN\"}" },
		{ "007", "{\"result\":\"007\"}" },
		{ "\"\\ud800\"", "{\"result\":\"\\\"\\\\ud800\\\"\"}" },
		{ "\n", "{\"result\":\"\"}" },
		{ " ", "{\"result\":\" \"}" },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		expect(span_of(rows[i].output), rows[i].want);
	expect((struct span){ "a\0b\n", 4 }, "{\"result\":\"a\\u0000b\"}");
}

static void test_binary(void **state UNUSED)
{
	static const char *const rows[] = { "\377", "{\"a\":\"\xc3\"}", "ok\xed\xa0\x80" };
	CLEANUP(buf_release) struct buf response = { 0 };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		assert_int_equal(tool_response(&plain, span_of(rows[i]), &response), -EILSEQ);
	assert_int_equal(response.len, 0);
}

/* An output that is nested too deep to be stored is a text. */
static void test_deep(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf output = { 0 };
	CLEANUP(buf_release) struct buf response = { 0 };
	int i;

	for (i = 0; i < 100000; i++)
		buf_char(&output, '[');
	for (i = 0; i < 100000; i++)
		buf_char(&output, ']');
	assert_int_equal(tool_response(&plain, buf_span(&output), &response), 0);
	assert_int_equal(strncmp(buf_cstr(&response), "{\"result\":\"[[", 13), 0);
}

static void test_long_running(void **state UNUSED)
{
	struct tool later = plain;
	CLEANUP(buf_release) struct buf response = { 0 };

	later.long_running = true;
	assert_int_equal(tool_response(&later, SPAN(""), &response), 0);
	assert_int_equal(response.len, 0);
	assert_int_equal(tool_response(&later, SPAN("null"), &response), 0);
	assert_string_equal(buf_cstr(&response), "{\"result\":null}");
}

static void test_arguments(void **state UNUSED)
{
	static const struct {
		const char *args;
		const char *why; /* NULL: they fit */
	} rows[] = {
		{ "{\"city\":\"B\"}", NULL },
		{ "{\"city\":\"B\",\"days\":1.50}", NULL },
		{ "{\"city\":\"B\",\"days\":99999999999999999999}", NULL },
		{ "{\"city\":\"B\\u0000\"}", NULL },
		{ "{}", "city: is missing" },
		{ "{\"city\":5}", "city: must be a string, not an integer" },
		{ "{\"city\":null}", "city: must be a string, not null" },
		{ "{\"city\":\"B\",\"x\":1}", "x: is not a known member" },
		{ "{\"city\":\"B\",\"days\":\"2\"}", "days: must be a number, not a string" },
		{ "[1]", "the arguments must be an object" },
		{ "\"{}\"", "the arguments must be an object" },
		{ "", "the arguments must be an object" },
	};
	struct tool strict = plain;
	size_t i;

	strict.parameters = json_loads("{\"type\":\"object\",\"properties\":{\"city\":{\"type\":"
				       "\"string\"},\"days\":{\"type\":\"number\"}},\"required\":["
				       "\"city\"],\"additionalProperties\":false}",
				       0, NULL);
	assert_non_null(strict.parameters);
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct err err = { 0 };
		int r = tool_check_args(&strict, span_of(rows[i].args), &err);

		assert_int_equal(r, rows[i].why ? -EINVAL : 0);
		assert_string_equal(err.text, rows[i].why ? rows[i].why : "");
	}
	assert_int_equal(tool_check_args(&plain, SPAN("{\"any\":[]}"), NULL), 0);
	assert_int_equal(tool_check_args(&plain, SPAN("{\"a\":"), NULL), 0); /* not its part */
	json_decref(strict.parameters);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_forms),     cmocka_unit_test(test_binary),
		cmocka_unit_test(test_deep),      cmocka_unit_test(test_long_running),
		cmocka_unit_test(test_arguments),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

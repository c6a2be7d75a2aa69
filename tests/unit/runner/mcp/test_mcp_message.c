/*
 * Messages of MCP: reading valid ones and broken ones.
 */
#include "runner/mcp/message.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static void test_kinds(void **state UNUSED)
{
	static const struct {
		const char *text;
		int r;
		enum mcp_kind kind;
		const char *id;
	} cases[] = {
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}", 0, MCP_ANSWER, "1" },
		{ " { \"result\" : 3 , \"id\" : \"a\" } \r", 0, MCP_ANSWER, "\"a\"" },
		{ "{\"id\":null,\"error\":{\"code\":1}}", 0, MCP_ANSWER, "" },
		{ "{\"error\":{}}", 0, MCP_ANSWER, "" },
		{ "{\"id\":0,\"method\":\"ping\"}", 0, MCP_ASKS, "0" },
		{ "{\"id\":1,\"id\":2,\"method\":\"ping\"}", 0, MCP_ASKS, "2" },
		{ "{\"method\":\"x\"}", 0, MCP_TELLS, "" },
		{ "{\"id\":1}", 0, MCP_ANSWER, "1" },
		{ "{\"id\":{},\"method\":\"ping\"}", 0, MCP_TELLS, "" },
		{ "{\"id\":[1],\"result\":{}}", 0, MCP_ANSWER, "" },
		{ "{\"method\":3,\"id\":1}", 0, MCP_ANSWER, "1" },
		{ "[{\"id\":1,\"result\":{}}]", 0, MCP_ANSWER, "" },
		{ "{}", 0, MCP_ANSWER, "" },
		{ "42", 0, MCP_ANSWER, "" },
		{ "{\"id\":1,\"result\":{}} x", -EINVAL, 0, NULL },
		{ "{\"id\":1,\"result\":{}", -EINVAL, 0, NULL },
		{ "", -EINVAL, 0, NULL },
		{ "{\"id\":1,\"result\":\"\xff\"}", -EINVAL, 0, NULL },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		CLEANUP(mcp_message_release) struct mcp_message m = { 0 };

		if (mcp_message_read(span_of(cases[i].text), &m) != cases[i].r)
			fail_msg("%s", cases[i].text);
		if (cases[i].r < 0)
			continue;
		assert_int_equal(m.kind, cases[i].kind);
		assert_true(span_is(m.id, cases[i].id));
	}
}

static void test_ids(void **state UNUSED)
{
	assert_int_equal(mcp_message_id(SPAN("17")), 17);
	assert_int_equal(mcp_message_id(SPAN("1.0")), 0);
	assert_int_equal(mcp_message_id(SPAN("-1")), 0);
	assert_int_equal(mcp_message_id(SPAN("\"17\"")), 0);
	assert_int_equal(mcp_message_id(SPAN("")), 0);
	assert_int_equal(mcp_message_id(SPAN("99999999999999999999999")), 0);
}

static void test_guesses(void **state UNUSED)
{
	static const struct {
		const char *text;
		uint64_t id;
	} cases[] = {
		{ "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"a\":[", 7 },
		{ "{\"id\":7,\"result\":{\"a\":\"\xff\"},\"jsonrpc\":\"2.0\"}", 7 },
		{ "...xxxx\"}]},\"jsonrpc\":\"2.0\",\"id\":8}", 8 },
		{ "...xxxx\"}]},\"id\" : 8 } \r\n", 8 },
		{ "...,\"id\":8}}", 0 },
		{ "...,\"id\":\"8\"}", 0 },
		{ "...,\"xid\":8}", 0 },
		{ "...\\\"id\":8\"}", 0 },
		{ "{\"a\":{\"id\":7},", 0 },
		{ "id", 0 },
		{ "}", 0 },
		{ "8}", 0 },
		{ ":8}", 0 },
		{ "", 0 },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		if (mcp_message_guess(span_of(cases[i].text)) != cases[i].id)
			fail_msg("%s", cases[i].text);
	}
}

static void test_mend(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf out = { 0 };

	assert_int_equal(
		mcp_message_mend(SPAN("{\"a\":\"\xc3\xa4\xff\\ud83d\\n\",\"b\":1.50}"), &out), 0);
	assert_string_equal(buf_cstr(&out),
			    "{\"a\":\"\xc3\xa4\xef\xbf\xbd\\ufffd\\n\",\"b\":1.50}");
}

static void test_progress(void **state UNUSED)
{
	CLEANUP(mcp_message_release) struct mcp_message m = { 0 };
	CLEANUP(mcp_message_release) struct mcp_message other = { 0 };

	assert_int_equal(mcp_message_read(SPAN("{\"method\":\"notifications/progress\","
					       "\"params\":{\"progressToken\":5}}"),
					  &m),
			 0);
	assert_int_equal(mcp_message_progress(&m), 5);
	assert_int_equal(mcp_message_read(SPAN("{\"method\":\"notifications/progress\"}"), &other),
			 0);
	assert_int_equal(mcp_message_progress(&other), 0);
}

static void test_reply(void **state UNUSED)
{
	CLEANUP(mcp_message_release) struct mcp_message m = { 0 };
	CLEANUP(buf_release) struct buf out = { 0 };

	assert_int_equal(mcp_message_read(SPAN("{\"method\":\"ping\",\"id\":\"a \\u00e4\"}"), &m),
			 0);
	mcp_write_reply(&out, &m);
	assert_string_equal(buf_cstr(&out),
			    "{\"jsonrpc\":\"2.0\",\"id\":\"a \\u00e4\",\"result\":{}}");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kinds),    cmocka_unit_test(test_ids),
		cmocka_unit_test(test_guesses),  cmocka_unit_test(test_mend),
		cmocka_unit_test(test_progress), cmocka_unit_test(test_reply),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * MCP over standard input and output: parameters, lists, calls, ends. The
 * server is tests/servers/mcp/stdio_server.py; each test picks modes of it.
 */
#include "tests/unit/runner/mcp/mcp_rig.h"

#include "runner/process/sandbox.h"

#include <sys/stat.h>

/* Much less than the limits of calls, even on a busy machine. */
#define AT_ONCE (20ull * NSEC_PER_SEC)

/* The start of errors and warnings. */
#define SERVER "MCP server python3 stdio_server.py: "

/* Such an entry with a time limit for all but calls. */
static struct rig rig_within(const char *seconds, const char *modes, const char *more)
{
	char *yaml;
	struct rig rig;

	assert_true(asprintf(&yaml,
			     "args:\n"
			     "  stdio_connection_params:\n"
			     "    server_params: {command: python3, args: [stdio_server.py, %s],"
			     " env: {ROOMS_TOKEN: s3cret-token}}\n"
			     "    timeout: %s\n"
			     "%s",
			     modes, seconds, more) > 0);
	rig = rig_of(yaml);
	free(yaml);
	return rig;
}

/* Start the test server in modes such as "modern, paged"; `more` are lines of args. */
static struct rig rig_with(const char *modes, const char *more)
{
	return rig_within("4", modes, more);
}

/* Parameters */

static void test_params(void **state UNUSED)
{
	static const char *const bad[][2] = {
		{ "args: {}", "agent.yaml:1: args: needs a connection" },
		{ "args: 3", "args: must be a mapping" },
		{ "args:\n  rooms: 1", "agent.yaml:2: args.rooms: unknown field" },
		{ "args: {stdio_server_params: {}}", "stdio_server_params: needs a command" },
		{ "args: {stdio_server_params: {command: 3}}", "command: must be a text" },
		{ "args: {stdio_server_params: {command: ../x}}", "leaves the agent's folder" },
		{ "args: {stdio_server_params: {command: x, args: [1]}}", "list of texts" },
		{ "args: {stdio_server_params: {command: x, env: {A: 1}}}",
		  "env.A: must be a text" },
		{ "args: {stdio_server_params: {command: x, env: {A=B: c}}}",
		  "not a valid variable name" },
		{ "args: {stdio_server_params: {command: x, shell: y}}", "shell: unknown field" },
		{ "args: {stdio_connection_params: {timeout: 3}}", "needs server_params" },
		{ "args: {stdio_connection_params: {server_params: {command: x}, timeout: -1}}",
		  "timeout: must be a number of seconds" },
		{ "args: {streamable_http_connection_params: {}}", "needs a url" },
		{ "args: {streamable_http_connection_params: {url: 'ftp://x'}}",
		  "must be an http" },
		{ "args: {streamable_http_connection_params: {url: 'http://a:b@x/'}}",
		  "contains credentials" },
		{ "args: {streamable_http_connection_params: {url: 'http://x', headers: {'a b': "
		  "c}}}",
		  "not a valid header name" },
		{ "args: {streamable_http_connection_params: {url: 'http://x', headers: {accept: "
		  "c}}}",
		  "is set by adkfs" },
		{ "args: {streamable_http_connection_params: {url: 'http://x', headers: {a: "
		  "\"b\\nc\"}}}",
		  "control characters" },
		{ "args: {sse_connection_params: {url: 'http://x'}}", "transport of 2024" },
		{ "args: {stdio_server_params: {command: x}, auth_scheme: {type: y}}",
		  "args.auth_scheme: is not supported" },
		{ "args: {stdio_server_params: {command: x}, use_mcp_resources: true}",
		  "only tools" },
		{ "args: {stdio_server_params: {command: x}, tool_filter: rooms}",
		  "list of texts" },
		{ "args: {stdio_server_params: {command: x}, tool_name_prefix: a.b}", "letters" },
		{ "args: {stdio_server_params: {command: x}, streamable_http_connection_params: "
		  "{url: 'http://x'}}",
		  "is a second connection" },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		CLEANUP(yaml_tree_free_p) struct yaml_tree *tree = NULL;
		struct mcp_params *params = NULL;
		struct err err = { 0 };

		if (read_params(bad[i][0], &tree, &params, &err) != -EINVAL)
			fail_msg("%s", bad[i][0]);
		assert_null(params);
		if (!strstr(err.text, bad[i][1]))
			fail_msg("%s: %s", bad[i][0], err.text);
	}
}

static void test_show(void **state UNUSED)
{
	RIG rig = rig_of("args:\n"
			 "  stdio_connection_params:\n"
			 "    server_params: {command: npx, args: [-y], env: {TOKEN: abcdef}}\n"
			 "  tool_filter: [a]\n"
			 "  tool_list_cache_ttl_seconds: 1.5\n"
			 "  auth_scheme: null\n");
	json_t *shown = mcp_params_show(rig.params);
	char *text = json_dumps(shown, JSON_COMPACT | JSON_SORT_KEYS | JSON_REAL_PRECISION(5));

	assert_string_equal(text,
			    "{\"auth_scheme\":null,\"stdio_connection_params\":{\"server_params\":"
			    "{\"args\":[\"-y\"],\"command\":\"npx\",\"env\":{\"TOKEN\":\"***\"}}},"
			    "\"tool_filter\":[\"a\"],\"tool_list_cache_ttl_seconds\":1.5}");
	free(text);
	json_decref(shown);
}

/* Lists */

static void test_list(void **state UNUSED)
{
	RIG rig = rig_with("legacy", "");
	RIG paged = rig_with("paged, changed", "");
	CLEANUP(buf_release) struct buf all = { 0 };
	CLEANUP(buf_release) struct buf pages = { 0 };

	assert_int_equal(list(&rig, &all, NULL), 0);
	assert_memory_equal(all.data, "ask big broken change change_quietly close_out count ", 53);
	assert_int_equal(list(&paged, &pages, NULL), 0);
	assert_string_equal(pages.data, all.data);
}

static void test_filter(void **state UNUSED)
{
	RIG rig = rig_with("legacy", "  tool_filter: [echo, count, nowhere]\n"
				     "  tool_name_prefix: rooms-\n");
	CLEANUP(buf_release) struct buf names = { 0 };
	json_t *warnings;

	assert_int_equal(list(&rig, &names, NULL), 0);
	assert_string_equal(names.data, "rooms-count rooms-echo ");
	warnings = mcp_warnings(rig.server);
	assert_int_equal(json_array_size(warnings), 1);
	assert_string_equal(json_string_value(json_array_get(warnings, 0)),
			    SERVER "tool_filter: the server has no tool nowhere");
	json_decref(warnings);
	expect_text(&rig, "count", "", "1");
}

static void test_odd_tools(void **state UNUSED)
{
	RIG rig = rig_with("odd", "");
	json_t *warnings;
	char *text;

	expect_listed(&rig, "rooms_find_all", true);
	expect_listed(&rig, "no_schema", false);
	expect_listed(&rig, "no_object", false);
	expect_listed(&rig, "not_only_object", false);
	expect_listed(&rig, "bad_properties", false);
	expect_listed(&rig, "no_type", true);
	expect_listed(&rig, "no_type_either", true);
	expect_listed(&rig, "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx_67b9d905",
		      true);
	warnings = mcp_warnings(rig.server);
	text = json_dumps(warnings, JSON_COMPACT);
	assert_string_equal(
		text,
		"[\"" SERVER
		"rooms_find_all is left out: another tool is offered as rooms_find_all\","
		"\"" SERVER "no_schema is left out: it has no inputSchema\","
		"\"" SERVER "no_object is left out: its inputSchema does not describe an object\","
		"\"" SERVER
		"not_only_object is left out: its inputSchema does not describe an object\","
		"\"" SERVER
		"bad_properties is left out: its inputSchema does not describe an object\","
		"\"" SERVER "a tool without a name is left out\","
		"\"" SERVER "echo is left out: another tool has the same name\"]");
	free(text);
	json_decref(warnings);
}

static void expect_warning(const char *mode, const char *want)
{
	RIG rig = rig_with(mode, "");
	CLEANUP(buf_release) struct buf names = { 0 };
	json_t *warnings;

	assert_int_equal(list(&rig, &names, NULL), 0);
	assert_true(names.len > 0);
	warnings = mcp_warnings(rig.server);
	assert_string_equal(json_string_value(json_array_get(warnings, 0)), want);
	json_decref(warnings);
}

static void test_endless_list(void **state UNUSED)
{
	expect_warning("endless", SERVER "only the first 100 pages of tools are offered");
	expect_warning("loops", SERVER "the list of tools repeats itself");
}

/* Limits count all pages together; only the first hundred warnings are kept. */
static void test_large_list(void **state UNUSED)
{
	RIG bulky = rig_with("bulky", "");
	RIG bare = rig_with("bare", "");
	CLEANUP(buf_release) struct buf names = { 0 };
	struct err err = { 0 };
	json_t *warnings;

	assert_int_equal(list(&bulky, &names, &err), -E2BIG);
	assert_string_equal(err.text, SERVER "answered tools/list with more than 16777216 bytes");
	assert_int_equal(list(&bare, &names, NULL), 0);
	warnings = mcp_warnings(bare.server);
	assert_int_equal(json_array_size(warnings), 101);
	assert_string_equal(json_string_value(json_array_get(warnings, 100)), SERVER "and so on");
	json_decref(warnings);
}

static void test_list_changes(void **state UNUSED)
{
	RIG rig = rig_with("legacy", "");
	RIG modern = rig_with("modern", "");
	RIG brief = rig_with("legacy", "  tool_list_cache_ttl_seconds: 0\n");

	/* kept until the server reports a change */
	expect_listed(&rig, "late0", false);
	expect_text(&rig, "change_quietly", "", "changed");
	expect_listed(&rig, "late0", false);
	expect_text(&rig, "change", "", "changed");
	expect_listed(&rig, "late1", true);

	expect_listed(&modern, "late0", false);
	expect_text(&modern, "change", "", "changed");
	expect_listed(&modern, "late0", true);

	expect_listed(&brief, "late0", false);
	expect_text(&brief, "change_quietly", "", "changed");
	expect_listed(&brief, "late0", true);
}

static void test_list_fails(void **state UNUSED)
{
	RIG rig = rig_within("1", "listless", "");
	CLEANUP(buf_release) struct buf names = { 0 };
	struct err err = { 0 };

	assert_int_equal(list(&rig, &names, &err), -ETIMEDOUT);
	assert_string_equal(
		err.text,
		"MCP server python3 stdio_server.py: did not answer tools/list in 1 seconds");
	expect_text(&rig, "count", "", "1"); /* calls do not need the list */
}

/* Calls */

static void test_calls(void **state UNUSED)
{
	RIG rig = rig_with("legacy", "");

	expect_result(&rig, "echo", "{\"a\": \"\\u00e4\\n\"}",
		      "{\"content\":[{\"type\":\"text\",\"text\":\"{\\\"a\\\": "
		      "\\\"\\\\u00e4\\\\n\\\"}\"}],"
		      "\"structuredContent\":{\"a\":\"\xc3\xa4\\n\"}}");
	expect_result(&rig, "empty", "", "{\"content\":[]}");
	expect_result(
		&rig, "fail", "{}",
		"{\"content\":[{\"type\":\"text\",\"text\":\"no such room\"}],\"isError\":true}");
	expect_failure(&rig, "refuse", "{}", -EREMOTEIO,
		       "MCP server python3 stdio_server.py: refused tools/call: Unknown tool: "
		       "refuse (-32602)");
	expect_failure(&rig, "nowhere", "{}", -EREMOTEIO, "Unknown tool: nowhere");
	expect_failure(&rig, "echo", "[1]", -EINVAL, "must be an object");
	expect_failure(&rig, "echo", "{\"a\":", -EINVAL, "");
	expect_failure(&rig, "echo", "{\"a\":NaN}", -EINVAL, "");
}

static void test_numbers(void **state UNUSED)
{
	RIG rig = rig_with("legacy", "");

	expect_result(
		&rig, "raw_args", "{ \"a\": 1.0, \"b\": 12345678901234567890123, \"c\": -0.10e+2 }",
		"{\"content\":[],\"structuredContent\":{\"a\":1.0,\"b\":12345678901234567890123,"
		"\"c\":-0.10e+2}}");
}

static void test_modern(void **state UNUSED)
{
	RIG rig = rig_with("modern", "");

	expect_result(&rig, "empty", "", "{\"content\":[]}");
	expect_text(&rig, "state", "{\"n\":0}", "after 0");
	expect_text(&rig, "state", "{\"n\":3}", "after 3");
	expect_failure(&rig, "state", "{\"n\":4}", -EPROTO, "asked to repeat a call too often");
	expect_failure(&rig, "wants_input", "{}", -EPROTO, "asked for input");
}

static void test_nasty(void **state UNUSED)
{
	RIG rig = rig_with("babble", "");

	expect_text(&rig, "noise", "{}", "quiet again");
	expect_text(&rig, "twice", "{}", "first");
	expect_failure(&rig, "broken", "{}", -EPROTO, "answered tools/call with invalid JSON");
	expect_failure(&rig, "scalar", "{}", -EPROTO, "with no result object");
	expect_failure(&rig, "neither", "{}", -EPROTO, "answered tools/call with no result object");
	expect_failure(&rig, "deep", "{\"n\":130}", -EPROTO, "invalid result");
	expect_failure(&rig, "deep", "{\"n\":5000}", -EPROTO, "invalid JSON");
	expect_text(&rig, "latin", "{}", "caf\xef\xbf\xbd \xef\xbf\xbd");
	expect_text(&rig, "stderr", "{\"n\":20000}", "said");
	expect_text(&rig, "count", "{}", "1"); /* still the same process */
}

static void test_big(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf result = { 0 };
	RIG rig = rig_with("legacy", "");
	struct err err = { 0 };

	assert_int_equal(call_for(&rig, "big", "{\"n\":5000000}", 0, &result, &err), 0);
	assert_true(result.len > 5000000);
	buf_clear(&result);
	assert_int_equal(call_for(&rig, "big", "{\"n\":17000000}", 0, &result, &err), -EFBIG);
	assert_string_equal(err.text,
			    "MCP server python3 stdio_server.py: answered tools/call with "
			    "more than 16777216 bytes");
	expect_text(&rig, "count", "{}", "1");
}

static void test_asked(void **state UNUSED)
{
	RIG rig = rig_with("legacy", "");

	expect_result(&rig, "ask", "{}",
		      "{\"content\":[],\"structuredContent\":{\"ping\":{},\"roots\":-32601}}");
}

static void test_side_by_side(void **state UNUSED)
{
	struct background hanging[8];
	RIG rig = rig_with("legacy", "");
	uint64_t from;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(hanging); i++)
		background_start(&hanging[i], &rig, "hang");
	expect_text(&rig, "count", "{}", "1"); /* all went to one process, and no call waited */
	await_seen(&rig, "tools/call hang", ARRAY_SIZE(hanging));
	from = clock_monotonic();
	for (i = 0; i < ARRAY_SIZE(hanging); i++)
		cancel_fire(&hanging[i].cancel);
	for (i = 0; i < ARRAY_SIZE(hanging); i++) {
		background_join(&hanging[i]);
		assert_int_equal(hanging[i].r, -ECANCELED);
	}
	assert_true(clock_monotonic() - from < AT_ONCE);
	await_seen(&rig, "notifications/cancelled", ARRAY_SIZE(hanging));
	expect_text(&rig, "count", "{}", "2");
}

/* Callers that come while one connects wait for it, each until its own cancel. */
static void test_cancel_connecting(void **state UNUSED)
{
	struct background waiting[3];
	RIG rig = rig_with("silent", "");
	uint64_t from = clock_monotonic();
	size_t i;

	for (i = 0; i < ARRAY_SIZE(waiting); i++)
		background_start(&waiting[i], &rig, "count");
	for (i = 0; i < ARRAY_SIZE(waiting); i++)
		cancel_fire(&waiting[i].cancel);
	for (i = 0; i < ARRAY_SIZE(waiting); i++) {
		background_join(&waiting[i]);
		assert_int_equal(waiting[i].r, -ECANCELED);
	}
	assert_true(clock_monotonic() - from < AT_ONCE);
}

/* Callers that waited while another failed to connect fail with it, and do not try again. */
static void test_failing_together(void **state UNUSED)
{
	struct background waiting[4];
	char tries[] = "/tmp/test_mcp.XXXXXX";
	int fd = mkstemp(tries);
	struct stat st;
	char *yaml;
	size_t i;

	assert_true(fd >= 0);
	assert_true(asprintf(&yaml,
			     "args: {stdio_connection_params: {server_params: {command: sh, args:"
			     " [-c, 'echo try >> %s; exec sleep 60']}, timeout: 0.3}}",
			     tries) > 0);
	{
		RIG rig = rig_of(yaml);

		rig.params->grace_ms = 10;
		for (i = 0; i < ARRAY_SIZE(waiting); i++)
			background_start(&waiting[i], &rig, "count");
		for (i = 0; i < ARRAY_SIZE(waiting); i++) {
			background_join(&waiting[i]);
			assert_int_equal(waiting[i].r, -ETIMEDOUT);
			assert_non_null(strstr(waiting[i].err.text,
					       "did not answer initialize in 0.3 seconds"));
		}
	}
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_size, strlen("try\n"));
	(void)close(fd);
	(void)unlink(tries);
	free(yaml);
}

static void test_time(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf result = { 0 };
	RIG rig = rig_with("legacy", "");
	struct err err = { 0 };

	expect_text(&rig, "count", "{}", "1");
	assert_int_equal(call_for(&rig, "hang", "", 300, &result, &err), -ETIMEDOUT);
	assert_string_equal(err.text,
			    "MCP server python3 stdio_server.py: did not answer tools/call "
			    "in 0.3 seconds");
	await_seen(&rig, "notifications/cancelled", 1);
	/* longer than the limit in all, with progress all the time */
	assert_int_equal(call_for(&rig, "progress", "{\"n\":12,\"ms\":50}", 500, &result, &err), 0);
}

/* Ends */

static void test_death(void **state UNUSED)
{
	struct background dying;
	RIG rig = rig_with("legacy", "");

	expect_text(&rig, "count", "{}", "1");
	background_start(&dying, &rig, "hang");
	await_seen(&rig, "tools/call hang", 1);
	expect_failure(&rig, "die", "{}", -EPIPE,
		       "MCP server python3 stdio_server.py: ended with exit status 3: boom: the "
		       "server dies");
	background_join(&dying);
	assert_int_equal(dying.r, -EPIPE);
	assert_non_null(strstr(dying.err.text, "exit status 3"));
	expect_text(&rig, "count", "{}", "1"); /* another process */
	expect_listed(&rig, "echo", true);
}

static void test_killed_between(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf pid = { 0 };
	RIG rig = rig_with("legacy", "");

	structured(&rig, "where", "pid", &pid);
	expect_text(&rig, "count", "{}", "1");
	assert_int_equal(kill(atoi(pid.data), SIGKILL), 0);
	/* Calls fail until we notice the end; no call is repeated. */
	for (;;) {
		CLEANUP(buf_release) struct buf result = { 0 };
		struct err err = { 0 };
		int r = call_for(&rig, "count", "{}", 0, &result, &err);

		if (r == 0)
			break;
		assert_int_equal(r, -EPIPE);
		assert_non_null(strstr(err.text, "was killed by SIGKILL"));
	}
	expect_text(&rig, "count", "{}", "2");
}

static void test_closed_output(void **state UNUSED)
{
	RIG rig = rig_with("legacy", "");
	CLEANUP(buf_release) struct buf result = { 0 };
	struct err err = { 0 };

	assert_int_equal(call_for(&rig, "close_out", "{}", 20000, &result, &err), -EPIPE);
	expect_text(&rig, "count", "{}", "1");
}

static void test_start_fails(void **state UNUSED)
{
	static const char *const bad[][2] = {
		{ "args: {stdio_server_params: {command: no-such-program}}",
		  "MCP server no-such-program: no-such-program cannot be started: No such file" },
		{ "args: {stdio_server_params: {command: ./loopback.mjs}}",
		  "cannot be started: Permission" },
		{ "args: {stdio_server_params: {command: python3, cwd: ../dialects}}",
		  "working directory is outside" },
		{ "args: {stdio_server_params: {command: python3, cwd: /tmp}}",
		  "working directory is outside" },
		{ "args: {stdio_server_params: {command: python3, cwd: nowhere}}",
		  "working directory nowhere: ENOENT" },
		{ "args: {stdio_server_params: {command: python3, args: [stdio_server.py, dead]}}",
		  "ended with exit status 7: cannot find my rooms" },
		{ "args: {stdio_server_params: {command: 'true'}}", "ended with exit status 0" },
		{ "args: {stdio_server_params: {command: python3, args: [stdio_server.py, "
		  "ancient]}}",
		  "speaks version 1999-01-01 of MCP" },
		{ "args: {stdio_server_params: {command: python3, args: [stdio_server.py, "
		  "refuse]}}",
		  "speaks only unknown versions of MCP: [\"2031-01-01\"]" },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		RIG rig = rig_of(bad[i][0]);
		CLEANUP(buf_release) struct buf result = { 0 };
		struct err err = { 0 };

		assert_true(call_for(&rig, "echo", "{}", 0, &result, &err) < 0);
		if (!strstr(err.text, bad[i][1]))
			fail_msg("%s: %s", bad[i][0], err.text);
	}
}

/* Servers of each era work, whatever they answer to the first request. */
static void test_eras(void **state UNUSED)
{
	static const char *const modes[] = { "legacy", "silent", "touchy",
					     "old",    "modern", "changed" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(modes); i++) {
		RIG rig = rig_with(modes[i], "");

		expect_listed(&rig, "echo", true);
		expect_text(&rig, "count", "{}", "1");
	}
}

/* Finding out the era is part of the time to start. */
static void test_mute(void **state UNUSED)
{
	RIG rig = rig_of("args: {stdio_connection_params: {server_params: {command: sleep, args:"
			 " ['60']}, timeout: 4}}");
	CLEANUP(buf_release) struct buf names = { 0 };
	uint64_t from = clock_monotonic();
	struct err err = { 0 };

	assert_int_equal(list(&rig, &names, &err), -ETIMEDOUT);
	assert_string_equal(err.text,
			    "MCP server sleep 60: did not answer initialize in 4 seconds");
	assert_in_range((clock_monotonic() - from) / NSEC_PER_MSEC, 4000, 7000);
}

/* A modern server that starts more slowly than it is probed. */
static void test_late(void **state UNUSED)
{
	RIG rig = rig_with("late", "");

	expect_text(&rig, "count", "{}", "1");
}

static void test_environment(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf env = { 0 };
	CLEANUP(buf_release) struct buf cwd = { 0 };
	RIG rig = rig_with("legacy", "");
	struct span value;
	json_t *tree;

	assert_int_equal(setenv("OPENAI_API_KEY", "of-the-daemon", 1), 0);
	structured(&rig, "env", NULL, &env);
	assert_int_equal(json_member(buf_span(&env), "ROOMS_TOKEN", &value), 0);
	assert_int_equal(json_member(buf_span(&env), "PATH", &value), 0);
	tree = json_loadb(env.data, env.len, 0, NULL);
	(void)json_object_del(tree, "PATH");
	(void)json_object_del(tree, "HOME");
	(void)json_object_del(tree, "LANG");
	(void)json_object_del(tree, "TMPDIR");
	(void)json_object_del(tree, "ROOMS_TOKEN");
	(void)json_object_del(tree, "LC_CTYPE"); /* Python and its wrappers set this themselves */
	assert_null(json_object_get(tree, "OPENAI_API_KEY"));
	assert_null(json_object_get(tree, "USER"));
	json_decref(tree);
	structured(&rig, "where", "cwd", &cwd);
	assert_memory_equal(cwd.data + 1, folder, strlen(folder));
}

/* Errors do not repeat secrets that the server prints. */
static void test_secret(void **state UNUSED)
{
	RIG rig = rig_of("args: {stdio_server_params: {command: sh,"
			 " args: [-c, 'echo no $KEY >&2; exit 1'], env: {KEY: s3cret-token}}}");

	expect_failure(&rig, "echo", "{}", -EPIPE,
		       "MCP server sh: ended with exit status 1: no ***");
}

static void test_stubborn(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf pid = { 0 };
	struct rig rig = rig_with("stubborn", "");
	uint64_t from;

	rig.params->grace_ms = 100;
	structured(&rig, "where", "pid", &pid);
	from = clock_monotonic();
	rig_release(&rig);
	assert_true(clock_monotonic() - from < 2 * AT_ONCE);
	assert_int_equal(kill(atoi(pid.data), 0), -1);
	assert_int_equal(errno, ESRCH);
}

/* A server in a sandbox outlives the thread that needed it first. */
static void test_enclosed(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf life = { 0 };
	CLEANUP(buf_release) struct buf later = { 0 };
	struct sandbox *sandbox = NULL;
	struct background first;

	assert_int_equal(sandbox_new(SANDBOX_AUTO, &sandbox, NULL), 0);
	if (sandbox_is_on(sandbox)) {
		RIG rig = rig_with("legacy", "");

		mcp_server_enclose(rig.server, sandbox, NULL);
		background_start(&first, &rig, "where");
		background_join(&first);
		assert_int_equal(first.r, 0);
		structured(&rig, "where", "life", &life);
		background_start(&first, &rig, "count");
		background_join(&first);
		structured(&rig, "where", "life", &later);
		assert_string_equal(life.data, later.data);
		expect_text(&rig, "count", "{}", "2");
		expect_failure(&rig, "die", "{}", -EPIPE,
			       "ended with exit status 3: boom: the server dies");
	}
	sandbox_free(sandbox);
}

static void test_unused(void **state UNUSED)
{
	RIG rig = rig_with("legacy", "");

	mcp_server_free(NULL);
	mcp_params_free(NULL);
	(void)rig;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_params),
		cmocka_unit_test(test_show),
		cmocka_unit_test(test_list),
		cmocka_unit_test(test_filter),
		cmocka_unit_test(test_odd_tools),
		cmocka_unit_test(test_endless_list),
		cmocka_unit_test(test_large_list),
		cmocka_unit_test(test_list_changes),
		cmocka_unit_test(test_list_fails),
		cmocka_unit_test(test_calls),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_modern),
		cmocka_unit_test(test_nasty),
		cmocka_unit_test(test_big),
		cmocka_unit_test(test_asked),
		cmocka_unit_test(test_side_by_side),
		cmocka_unit_test(test_cancel_connecting),
		cmocka_unit_test(test_failing_together),
		cmocka_unit_test(test_time),
		cmocka_unit_test(test_death),
		cmocka_unit_test(test_killed_between),
		cmocka_unit_test(test_closed_output),
		cmocka_unit_test(test_start_fails),
		cmocka_unit_test(test_eras),
		cmocka_unit_test(test_mute),
		cmocka_unit_test(test_late),
		cmocka_unit_test(test_environment),
		cmocka_unit_test(test_secret),
		cmocka_unit_test(test_stubborn),
		cmocka_unit_test(test_enclosed),
		cmocka_unit_test(test_unused),
	};
	int r;

	folder = realpath("servers/mcp", NULL);
	if (!folder || cancel_init(&cancel, NULL) < 0)
		return 1;
	(void)signal(SIGPIPE, SIG_IGN);
	r = cmocka_run_group_tests(tests, NULL, NULL);
	cancel_release(&cancel);
	free(folder);
	return r;
}

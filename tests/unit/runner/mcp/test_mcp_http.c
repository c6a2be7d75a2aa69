/*
 * MCP over Streamable HTTP. The server is tests/servers/mcp/http_server.py.
 */
#include "tests/unit/runner/mcp/mcp_rig.h"

#include "base/net/http.h"

#include <sys/wait.h>

static FILE *service; /* the output of the server: its port */
static pid_t service_pid;
static int port;

/* Use the server behind a path; `more` are lines of args. */
static struct rig rig_within(int seconds, const char *path, const char *more)
{
	char *yaml;
	struct rig rig;

	assert_true(asprintf(&yaml,
			     "args:\n"
			     "  streamable_http_connection_params:\n"
			     "    url: http://127.0.0.1:%d/%s\n"
			     "    timeout: %d\n"
			     "%s",
			     port, path, seconds, more) > 0);
	rig = rig_of(yaml);
	free(yaml);
	return rig;
}

static struct rig rig_with(const char *path, const char *more)
{
	return rig_within(4, path, more);
}

static const char *const kinds[] = { "json", "sse", "plain", "resume", "modern", "events" };

static void test_kinds(void **state UNUSED)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		RIG rig = rig_with(kinds[i], "");
		CLEANUP(buf_release) struct buf result = { 0 };
		struct err err = { 0 };

		expect_text(&rig, "count", "{}", "1");
		expect_listed(&rig, "echo", true);
		expect_text(&rig, "count", "{}", "2");
		expect_result(&rig, "raw_args", "{\"a\":1.0,\"b\":12345678901234567890123}",
			      "{\"content\":[],\"structuredContent\":"
			      "{\"a\":1.0,\"b\":12345678901234567890123}}");
		expect_result(&rig, "fail", "{}",
			      "{\"content\":[{\"type\":\"text\",\"text\":\"no such room\"}],"
			      "\"isError\":true}");
		expect_failure(&rig, "refuse", "{}", -EREMOTEIO, "Unknown tool: refuse (-32602)");
		expect_failure(&rig, "broken", "{}", -EPROTO,
			       "answered tools/call with invalid JSON");
		expect_failure(&rig, "scalar", "{}", -EPROTO, "with no result object");
		expect_failure(&rig, "neither", "{}", -EPROTO, "with no result object");
		expect_failure(&rig, "neither", "{\"as\":\"{}\"}", -EPROTO,
			       "with no result object");
		expect_failure(&rig, "neither", "{\"as\":\"[1]\"}", -EPROTO,
			       "with no result object");
		assert_int_equal(call_for(&rig, "big", "{\"n\":5000000}", 0, &result, &err), 0);
		assert_true(result.len > 5000000);
		buf_clear(&result);
		expect_text(&rig, "latin", "{}", "caf\xef\xbf\xbd \xef\xbf\xbd");
	}
}

static void test_big(void **state UNUSED)
{
	RIG rig = rig_with("json/big", "");
	RIG events = rig_with("events/big", "");
	CLEANUP(buf_release) struct buf result = { 0 };
	struct err err = { 0 };

	assert_int_equal(call_for(&rig, "big", "{\"n\":17000000}", 0, &result, &err), -EFBIG);
	assert_non_null(strstr(err.text, "answered tools/call with more than 16777216 bytes"));
	assert_int_equal(call_for(&events, "big", "{\"n\":40000000}", 0, &result, &err), -EFBIG);
}

static void test_noise(void **state UNUSED)
{
	RIG rig = rig_with("events/noise", "");

	expect_text(&rig, "twice", "{}", "first");
	expect_failure(&rig, "noise", "{}", -EPROTO, "invalid JSON");
}

/* Requests of the server in the middle of a call. */
static void test_asked(void **state UNUSED)
{
	RIG rig = rig_with("sse/ask", "");

	expect_result(&rig, "ask", "{}",
		      "{\"content\":[],\"structuredContent\":{\"ping\":{},\"roots\":-32601}}");
}

static void test_sessions(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf seen = { 0 };
	struct rig rig = rig_with("json/sessions", "");
	RIG watcher = rig_with("plain/sessions", "");
	RIG other = rig_with("json/sessions", "");

	(void)watcher;
	expect_listed(&rig, "echo", true);
	expect_text(&rig, "count", "{}", "1");
	expect_result(&rig, "forget", "{}", "{\"content\":[]}");
	expect_text(&rig, "count", "{}", "2"); /* over a new session */
	structured(&rig, "seen", "seen", &seen);
	assert_string_equal(
		seen.data,
		"[\"server/discover\",\"initialize\",\"notifications/initialized\","
		"\"tools/list\",\"tools/call count\",\"tools/call forget\","
		"\"tools/call count\",\"server/discover\",\"initialize\","
		"\"notifications/initialized\",\"tools/call count\",\"tools/call seen\"]");
	rig_release(&rig);
	structured(&other, "seen", "seen", &seen);
	assert_non_null(strstr(seen.data, "\"DELETE\""));
}

static void test_session_is_left(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf seen = { 0 };
	struct rig rig = rig_with("json/left", "    terminate_on_close: false\n");
	RIG other = rig_with("json/left", "");

	expect_text(&rig, "count", "{}", "1");
	rig_release(&rig);
	structured(&other, "seen", "seen", &seen);
	assert_null(strstr(seen.data, "\"DELETE\""));
}

/* A header of the call, as the server got it; NULL: none. */
static char *header(struct rig *rig, const char *args, const char *name)
{
	CLEANUP(buf_release) struct buf result = { 0 };
	CLEANUP(buf_release) struct buf value = { 0 };
	struct err err = { 0 };
	struct span token;

	if (call_for(rig, "headers", args, 0, &result, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(json_member(buf_span(&result), "structuredContent", &token), 0);
	if (json_member(token, name, &token) < 0)
		return NULL;
	assert_int_equal(json_unquote(token, &value), 0);
	return span_dup(buf_span(&value));
}

static void expect_header(struct rig *rig, const char *args, const char *name, const char *want)
{
	char *value = header(rig, args, name);

	if (want)
		assert_string_equal(value ? value : "none", want);
	else
		assert_null(value);
	free(value);
}

static void test_headers(void **state UNUSED)
{
	RIG legacy = rig_with("json/headers",
			      "    headers: {X-Room: a b, Authorization: Bearer x}\n");
	RIG modern = rig_with("modern/headers", "");

	expect_listed(&modern, "headers", true);
	expect_listed(&legacy, "headers", true);
	expect_header(&legacy, "{}", "x-room", "a b");
	expect_header(&legacy, "{}", "authorization", "Bearer x");
	expect_header(&legacy, "{}", "content-type", "application/json");
	expect_header(&legacy, "{}", "accept", "application/json, text/event-stream");
	expect_header(&legacy, "{}", "mcp-protocol-version", "2025-06-18");
	expect_header(&legacy, "{}", "mcp-method", NULL);
	expect_header(&legacy, "{\"region\":\"x\"}", "mcp-param-region", NULL);

	expect_header(&modern, "{}", "mcp-method", "tools/call");
	expect_header(&modern, "{}", "mcp-name", "headers");
	expect_header(&modern, "{}", "mcp-session-id", NULL);
	expect_header(&modern, "{}", "mcp-param-region", NULL);
	expect_header(&modern, "{\"region\":null}", "mcp-param-region", NULL);
	expect_header(&modern, "{\"region\":\"eu west\"}", "mcp-param-region", "eu west");
	expect_header(&modern, "{\"region\":\" x\"}", "mcp-param-region", "=?base64?IHg=?=");
	expect_header(&modern, "{\"region\":\"\xc3\xa4\"}", "mcp-param-region", "=?base64?w6Q=?=");
	expect_header(&modern, "{\"region\":\"=?base64?x?=\"}", "mcp-param-region",
		      "=?base64?PT9iYXNlNjQ/eD89?=");
	expect_header(&modern, "{\"region\":\"a\\r\\nX-Evil: 1\"}", "x-evil", NULL);
	expect_header(&modern, "{\"level\":42}", "mcp-param-level", "42");
	expect_header(&modern, "{\"level\":-1.0e3}", "mcp-param-level", "-1000");
	expect_header(&modern, "{\"dry\":false}", "mcp-param-dry", "false");
	expect_header(&modern, "{\"deep\":{\"down\":\"x\"}}", "mcp-param-down", "x");
}

static void test_marks(void **state UNUSED)
{
	RIG legacy = rig_with("json/marks", "");
	RIG modern = rig_with("modern/marks", "");
	json_t *warnings;

	expect_listed(&legacy, "bad_place", true);
	expect_listed(&modern, "headers", true);
	expect_listed(&modern, "bad_twice", false);
	expect_listed(&modern, "bad_name", false);
	expect_listed(&modern, "bad_type", false);
	expect_listed(&modern, "bad_place", false);
	warnings = mcp_warnings(modern.server);
	assert_int_equal(json_array_size(warnings), 4);
	assert_non_null(strstr(json_string_value(json_array_get(warnings, 3)),
			       "/modern/marks: bad_place is left out: an x-mcp-header does not "
			       "belong to a property"));
	json_decref(warnings);
}

/* A list that is fresh for 0 ms is read each time. */
static void test_lifetime(void **state UNUSED)
{
	RIG modern = rig_with("modern/lifetime", "");
	RIG kept = rig_with("modern/kept", "  tool_list_cache_ttl_seconds: 60\n");

	expect_listed(&modern, "late0", false);
	expect_text(&modern, "change_quietly", "", "changed");
	expect_listed(&modern, "late0", true);
	expect_listed(&kept, "late0", false);
	expect_text(&kept, "change_quietly", "", "changed");
	expect_listed(&kept, "late0", false);
}

static void test_refused(void **state UNUSED)
{
	static const struct {
		const char *path;
		const char *more;
		int r;
		const char *text;
	} bad[] = {
		{ "locked", "", -EACCES, "refused the credentials (401)" },
		{ "locked", "    headers: {Authorization: Bearer s3cret-token}\n", -EACCES,
		  "refused the credentials (401)" },
		{ "old", "", -EPROTO, "the HTTP+SSE transport of 2024 is not supported" },
		{ "html", "", -EPROTO, "answered initialize with invalid JSON" },
		{ "broken", "", -EIO, "answered initialize with 500: out of rooms" },
		{ "odd", "", -EIO, "answered initialize with 500: {\"result\":{}}" },
		{ "moved", "", -EIO, "answered 307: adkfs follows no redirects" },
		{ "cut", "", -EPROTO, "ended the stream without an answer to tools/call" },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		RIG rig = rig_with(bad[i].path, bad[i].more);
		CLEANUP(buf_release) struct buf result = { 0 };
		struct err err = { 0 };
		char *where;

		assert_int_equal(call_for(&rig, "echo", "{}", 0, &result, &err), bad[i].r);
		assert_true(asprintf(&where, "MCP server http://127.0.0.1:%d/%s: ", port,
				     bad[i].path) > 0);
		assert_memory_equal(err.text, where, strlen(where));
		free(where);
		if (!strstr(err.text, bad[i].text))
			fail_msg("%s: %s", bad[i].path, err.text);
		assert_null(strstr(err.text, "s3cret"));
	}
}

static void test_let_in(void **state UNUSED)
{
	RIG rig = rig_with("locked/in", "    headers: {Authorization: Bearer open sesame}\n");

	expect_text(&rig, "count", "{}", "1");
}

static void test_nobody_there(void **state UNUSED)
{
	RIG rig = rig_of(
		"args: {streamable_http_connection_params: {url: 'http://127.0.0.1:1/x?key=y'}}");

	expect_failure(&rig, "echo", "{}", -ECONNREFUSED,
		       "MCP server http://127.0.0.1:1/x: 127.0.0.1:1 cannot be reached");
}

static void test_time(void **state UNUSED)
{
	RIG mute = rig_with("mute", "");
	RIG events = rig_with("sse/time", "");
	CLEANUP(buf_release) struct buf result = { 0 };
	struct err err = { 0 };

	assert_int_equal(call_for(&mute, "echo", "{}", 300, &result, &err), -ETIMEDOUT);
	assert_non_null(strstr(err.text, "did not answer server/discover in 4 seconds"));
	assert_int_equal(call_for(&events, "hang", "{}", 300, &result, &err), -ETIMEDOUT);
	assert_non_null(strstr(err.text, "did not answer tools/call in 0.3 seconds"));
	await_seen(&events, "notifications/cancelled", 1);
	assert_int_equal(call_for(&events, "progress", "{\"n\":10}", 1000, &result, &err), 0);
}

/* The time limit of a connection covers all requests in it. */
static void test_slow(void **state UNUSED)
{
	RIG rig = rig_within(8, "slow",
			     ""); /* 6 seconds for the first answer, 6 more for the second */

	expect_failure(&rig, "echo", "{}", -ETIMEDOUT, "did not answer initialize in 8 seconds");
}

static void test_cancel(void **state UNUSED)
{
	static const char *const paths[] = { "json/cancel", "sse/cancel", "events/cancel" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(paths); i++) {
		struct background hanging[4];
		RIG rig = rig_with(paths[i], "");
		uint64_t from;
		size_t k;

		for (k = 0; k < ARRAY_SIZE(hanging); k++)
			background_start(&hanging[k], &rig, "hang");
		await_seen(&rig, "tools/call hang", ARRAY_SIZE(hanging));
		expect_text(&rig, "count", "{}", "1");
		from = clock_monotonic();
		for (k = 0; k < ARRAY_SIZE(hanging); k++)
			cancel_fire(&hanging[k].cancel);
		for (k = 0; k < ARRAY_SIZE(hanging); k++) {
			background_join(&hanging[k]);
			assert_int_equal(hanging[k].r, -ECANCELED);
		}
		assert_true(clock_monotonic() - from < 20ull * NSEC_PER_SEC);
		if (i < 2)
			await_seen(&rig, "notifications/cancelled", ARRAY_SIZE(hanging));
	}
}

/* Legacy calls go on when a stream breaks off; the rest is fetched only once. */
static void test_resume(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf seen = { 0 };
	RIG rig = rig_with("resume/count", "");

	expect_text(&rig, "count", "{}", "1");
	structured(&rig, "seen", "seen", &seen);
	assert_string_equal(seen.data,
			    "[\"server/discover\",\"initialize\",\"GET\",\"GET\","
			    "\"notifications/initialized\",\"tools/call count\",\"GET\",\"GET\","
			    "\"tools/call seen\"]");
}

/* Changes, reported in a stream of their own. */

static const char *const telling[] = { "push", "listen" };

/* Wait until a list has the tool: the report may be on its way. */
static void await_listed(struct rig *rig, const char *name)
{
	CLEANUP(buf_release) struct buf names = { 0 };
	uint64_t end = clock_monotonic() + 20ull * NSEC_PER_SEC;

	do {
		assert_true(clock_monotonic() < end);
		assert_int_equal(list(rig, &names, NULL), 0);
	} while (!strstr(names.data, name));
}

static size_t times_seen(struct rig *rig, const char *what)
{
	CLEANUP(buf_release) struct buf seen = { 0 };
	const char *at;
	size_t n = 0;

	structured(rig, "seen", "seen", &seen);
	for (at = seen.data; (at = strstr(at, what)); at++)
		n++;
	return n;
}

static void test_told(void **state UNUSED)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(telling); i++) {
		RIG rig = rig_with(telling[i], "");

		expect_listed(&rig, "late0", false);
		await_seen(&rig, "\"listener\"", 1);
		expect_text(&rig, "change_quietly", "", "changed");
		expect_listed(&rig, "late0", false);
		expect_text(&rig, "change", "", "changed");
		await_listed(&rig, "late1 ");
		assert_int_equal(times_seen(&rig, "tools/list"), 2);
		assert_int_equal(times_seen(&rig, "\"listener\""), 1);
	}
}

/* Changes after the end of a stream are not reported, so the list is read again, once. */
static void test_hung_up(void **state UNUSED)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(telling); i++) {
		CLEANUP(buf_release) struct buf result = { 0 };
		char path[32];
		struct err err = { 0 };
		struct rig rig;

		(void)snprintf(path, sizeof path, "%s/hung", telling[i]);
		rig = rig_with(path, "");
		expect_listed(&rig, "late0", false);
		await_seen(&rig, "\"listener\"", 1);
		assert_int_equal(call_for(&rig, "hang_up", "", 0, &result, &err), 0);
		await_seen(&rig, "\"no listener\"", 1);
		expect_text(&rig, "change_quietly", "", "changed");
		await_listed(&rig, "late0 ");
		expect_listed(&rig, "late0", true);
		assert_int_equal(times_seen(&rig, "tools/list"), 2);
		assert_int_equal(times_seen(&rig, "\"listener\""), 1);
		rig_release(&rig);
	}
}

static void test_asked_while_listening(void **state UNUSED)
{
	RIG rig = rig_with("push/ask", "");

	expect_listed(&rig, "echo", true);
	await_seen(&rig, "\"listener\"", 1);
	expect_result(&rig, "ask", "{}",
		      "{\"content\":[],\"structuredContent\":{\"ping\":{},\"roots\":-32601}}");
}

static void test_stream_is_closed(void **state UNUSED)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(telling); i++) {
		struct rig rig;
		struct rig other;
		char path[32];

		(void)snprintf(path, sizeof path, "%s/closed", telling[i]);
		rig = rig_with(path, "");
		other = rig_with(path, "");
		expect_listed(&rig, "echo", true);
		await_seen(&rig, "\"listener\"", 1);
		rig_release(&rig);
		await_seen(&other, "\"no listener\"", 1);
		rig_release(&other);
	}
}

/* A server without such a stream is asked for it once. */
static void test_no_stream(void **state UNUSED)
{
	RIG rig = rig_with("deaf", "  tool_list_cache_ttl_seconds: 0\n");
	size_t i;

	for (i = 0; i < 5; i++)
		expect_listed(&rig, "echo", true);
	await_seen(&rig, "\"GET\"", 1);
	for (i = 0; i < 5; i++)
		expect_listed(&rig, "echo", true);
	assert_int_equal(times_seen(&rig, "\"GET\""), 1);
	assert_int_equal(times_seen(&rig, "tools/list"), 10);
}

/* No caller waits for the stream, even at the end. */
static void test_stuck_stream(void **state UNUSED)
{
	struct rig rig = rig_with("stuck", "");
	uint64_t from = clock_monotonic();

	expect_listed(&rig, "echo", true);
	await_seen(&rig, "\"GET\"", 1);
	expect_text(&rig, "count", "{}", "1");
	rig_release(&rig);
	assert_true(clock_monotonic() - from < 20ull * NSEC_PER_SEC);
}

static int start_service(void)
{
	int ends[2];

	if (pipe(ends) < 0)
		return -1;
	service_pid = fork();
	if (service_pid == 0) {
		(void)dup2(ends[1], 1);
		(void)execlp("python3", "python3", "servers/mcp/http_server.py", (char *)NULL);
		_exit(127);
	}
	(void)close(ends[1]);
	service = fdopen(ends[0], "r");
	return service && fscanf(service, "%d", &port) == 1 ? 0 : -1;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_big),
		cmocka_unit_test(test_noise),
		cmocka_unit_test(test_asked),
		cmocka_unit_test(test_sessions),
		cmocka_unit_test(test_session_is_left),
		cmocka_unit_test(test_headers),
		cmocka_unit_test(test_marks),
		cmocka_unit_test(test_lifetime),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_let_in),
		cmocka_unit_test(test_nobody_there),
		cmocka_unit_test(test_time),
		cmocka_unit_test(test_slow),
		cmocka_unit_test(test_cancel),
		cmocka_unit_test(test_resume),
		cmocka_unit_test(test_told),
		cmocka_unit_test(test_hung_up),
		cmocka_unit_test(test_asked_while_listening),
		cmocka_unit_test(test_stream_is_closed),
		cmocka_unit_test(test_no_stream),
		cmocka_unit_test(test_stuck_stream),
	};
	int r;

	folder = realpath("servers/mcp", NULL);
	(void)unsetenv("http_proxy");
	(void)signal(SIGPIPE, SIG_IGN);
	if (!folder || cancel_init(&cancel, NULL) < 0 || http_init(NULL) < 0 || start_service() < 0)
		return 1;
	r = cmocka_run_group_tests(tests, NULL, NULL);
	(void)kill(service_pid, SIGTERM);
	(void)waitpid(service_pid, NULL, 0);
	(void)fclose(service);
	http_exit();
	cancel_release(&cancel);
	free(folder);
	return r;
}

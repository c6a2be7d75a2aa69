/*
 * Tools: what a program gives, and what the model gets.
 */
#include "runner/tool.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[PATH_MAX];
static struct agent_tree *tree;
static struct cancel cancel;
static char *const env[] = { "ADK_APP_NAME=app", "LANG=xx", NULL };

static void put(const char *name, const char *text, mode_t mode)
{
	int fd;

	(void)unlink(name);
	fd = open(name, O_WRONLY | O_CREAT | O_CLOEXEC, mode);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	assert_int_equal(close(fd), 0);
}

static struct tool_call call_of(const char *name, const char *args)
{
	return (struct tool_call){ .id = "call-1", .name = name, .args = span_of(args) };
}

static void expect_response(struct tool_call *call, const char *want)
{
	assert_string_equal(buf_cstr(&call->response), want);
	tool_call_release(call);
}

/* Tool "t" becomes this script; the response to one call of it. */
static void expect(const char *script, const char *args, const char *want)
{
	struct tool_call call = call_of("t", args);
	struct err err = { 0 };

	put("tools/t", script, 0700);
	assert_int_equal(tool_run_all(tree->root, env, &call, 1, &cancel, &err), 0);
	expect_response(&call, want);
}

static void test_forms(void **state UNUSED)
{
	static const struct {
		const char *script; /* of printf's argument, or more */
		const char *want;
	} rows[] = {
		{ "'{ \"a\" : 1 }\\n'", "{\"a\":1}" },
		{ "'{\"n\":1.50,\"big\":123456789012345678901234567890}'",
		  "{\"n\":1.50,\"big\":123456789012345678901234567890}" },
		{ "'[1, 2]'", "{\"result\":[1,2]}" },
		{ "'\"text\"'", "{\"result\":\"text\"}" },
		{ "'7.0\\n'", "{\"result\":7.0}" },
		{ "null", "{\"result\":null}" },
		{ "'sunny, 20 \\302\\260C\\n'", "{\"result\":\"sunny, 20 \xc2\xb0"
						"C\"}" },
		{ "'a\\nb\\n\\n'", "{\"result\":\"a\\nb\\n\"}" },
		{ "'{\"a\":'", "{\"result\":\"{\\\"a\\\":\"}" },
		{ "'{} {}'", "{\"result\":\"{} {}\"}" },
		{ "NaN", "{\"result\":\"NaN\"}" },
		{ "'\\n'", "{\"result\":\"\"}" },
		{ "''", "{\"result\":null}" },
		{ "'\\377'", "{\"error\":\"the output is not UTF-8 text; binary results are to be "
			     "saved as artifacts\"}" },
	};
	char script[200];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		(void)snprintf(script, sizeof script, "#!/bin/sh\nprintf %s\n", rows[i].script);
		expect(script, "{}", rows[i].want);
	}
}

static void test_failures(void **state UNUSED)
{
	expect("#!/bin/sh\necho x; exit 3\n", "{}", "{\"error\":\"exit status 3\"}");
	expect("#!/bin/sh\necho first >&2; echo 'no such \"city\" ' >&2; echo >&2; exit 1\n", "{}",
	       "{\"error\":\"exit status 1: no such \\\"city\\\"\"}");
	expect("#!/bin/sh\nprintf 'a\\377b' >&2; exit 1\n", "{}",
	       "{\"error\":\"exit status 1: a\xef\xbf\xbd"
	       "b\"}");
	expect("#!/bin/sh\necho why >&2; kill -KILL $$\n", "{}",
	       "{\"error\":\"killed by SIGKILL: why\"}");
	expect("no program\n", "{}",
	       "{\"error\":\"the program cannot be started: Exec format error\"}");
	expect("#!/bin/sh\nexec cat /dev/zero\n", "{}",
	       "{\"error\":\"the output is larger than 16777216 bytes\"}");
	tree->tool_timeout_ms = 200;
	expect("#!/bin/sh\nsleep 1000\n", "{}", "{\"error\":\"timed out after 0.2 seconds\"}");
	tree->tool_timeout_ms = 0;
}

static void test_unknown(void **state UNUSED)
{
	struct tool_call call = call_of("x", "{}");
	struct err err = { 0 };

	assert_int_equal(tool_run_all(tree->root, env, &call, 1, &cancel, &err), 0);
	expect_response(&call, "{\"error\":\"Tool 'x' not found. Available tools: t, strict, "
			       "later\"}");
}

static void test_arguments(void **state UNUSED)
{
	const char *cat = "#!/bin/sh\ncat\n";
	static const struct {
		const char *args;
		const char *want;
	} rows[] = {
		{ "{}", "{\"error\":\"city: is missing\"}" },
		{ "{\"city\":5}", "{\"error\":\"city: must be a string, not an integer\"}" },
		{ "{\"city\":\"B\",\"x\":1}", "{\"error\":\"x: is not a known member\"}" },
		{ "{\"city\":\"B\",\"days\":99999999999999999999}",
		  "{\"city\":\"B\",\"days\":99999999999999999999}" },
		{ "{\"city\":\"B\\u0000\"}", "{\"city\":\"B\\u0000\"}" },
		{ "{\"city\": \"B\", \"days\": 1.50}", "{\"city\":\"B\",\"days\":1.50}" },
	};
	struct err err = { 0 };
	size_t i;

	put("tools/strict", cat, 0700);
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct tool_call call = call_of("strict", rows[i].args);

		assert_int_equal(tool_run_all(tree->root, env, &call, 1, &cancel, &err), 0);
		expect_response(&call, rows[i].want);
	}
	expect(cat, "", "{}");
	expect(cat, "[1]", "{\"error\":\"the arguments have to be an object\"}");
	expect(cat, "{\"a\":", "{\"error\":\"the JSON text ends too early\"}");
	expect("#!/bin/sh\nread -r line && printf %s \"$line\"\n", "{\"a\":1}", "{\"a\":1}");
}

static void test_surroundings(void **state UNUSED)
{
	char want[PATH_MAX + 64];

	expect("#!/bin/sh\necho $ADK_APP_NAME $ADK_FUNCTION_CALL_ID $LANG $HOME $SECRET; "
	       "echo \"$ADK_ARGS\"\n",
	       "{}", "{\"result\":\"app call-1 xx /home/me\\n{\\\"unit\\\":\\\"c\\\"}\"}");
	(void)snprintf(want, sizeof want, "{\"result\":\"%s\"}", folder);
	expect("#!/bin/sh\npwd\n", "{}", want);
}

static void test_long_running(void **state UNUSED)
{
	struct tool_call call = call_of("later", "{}");
	struct err err = { 0 };

	put("tools/later", "#!/bin/sh\necho note >&2\n", 0700);
	assert_int_equal(tool_run_all(tree->root, env, &call, 1, &cancel, &err), 0);
	assert_int_equal(call.response.len, 0);
	assert_string_equal(buf_cstr(&call.stderr_text), "note\n");
	assert_true(call.nsec > 0);
	tool_call_release(&call);
	put("tools/later", "#!/bin/sh\necho '{\"ticket\":1}'\n", 0700);
	assert_int_equal(tool_run_all(tree->root, env, &call, 1, &cancel, &err), 0);
	expect_response(&call, "{\"ticket\":1}");
}

/* Those that run, and those that have their answer already, keep their places. */
static void test_several(void **state UNUSED)
{
	struct tool_call calls[4] = {
		call_of("t", "{\"i\":0}"),
		call_of("none", "{}"),
		call_of("strict", "{}"),
		call_of("t", "{\"i\":3}"),
	};
	struct err err = { 0 };

	put("tools/t", "#!/bin/sh\ncat\n", 0700);
	assert_int_equal(tool_run_all(tree->root, env, calls, 4, &cancel, &err), 0);
	expect_response(&calls[0], "{\"i\":0}");
	expect_response(&calls[1], "{\"error\":\"Tool 'none' not found. Available tools: t, "
				   "strict, later\"}");
	expect_response(&calls[2], "{\"error\":\"city: is missing\"}");
	expect_response(&calls[3], "{\"i\":3}");
	assert_int_equal(tool_run_all(tree->root, env, NULL, 0, &cancel, &err), 0);
}

static void test_cancel(void **state UNUSED)
{
	struct tool_call call = call_of("t", "{}");
	struct cancel own;
	struct err err = { 0 };

	assert_int_equal(cancel_init(&own, &err), 0);
	cancel_fire(&own);
	assert_int_equal(tool_run_all(tree->root, env, &call, 1, &own, &err), -ECANCELED);
	cancel_release(&own);
	tool_call_release(&call);
}

static int write_folder(void)
{
	char name[] = "/tmp/test_tool.XXXXXX";

	if (!mkdtemp(name) || !realpath(name, folder) || chdir(folder) < 0 ||
	    mkdir("tools", 0700) < 0)
		return -1;
	put("root_agent.yaml",
	    "name: a\nmodel: script/s.yaml\ninstruction: i\ntools:\n"
	    "- {name: tools/t, args: {unit: c}}\n- name: tools/strict\n- name: tools/later\n",
	    0600);
	put("tools/t", "", 0700);
	put("tools/t.json", "{\"description\":\"d\"}", 0600);
	put("tools/strict", "", 0700);
	put("tools/strict.json",
	    "{\"description\":\"d\",\"parameters\":{\"type\":\"object\",\"properties\":"
	    "{\"city\":{\"type\":\"string\"},\"days\":{\"type\":\"number\"}},"
	    "\"required\":[\"city\"],\"additionalProperties\":false}}",
	    0600);
	put("tools/later", "", 0700);
	put("tools/later.json", "{\"description\":\"d\",\"isLongRunning\":true}", 0600);
	return 0;
}

static int set_up(void **state UNUSED)
{
	struct err err = { 0 };

	(void)signal(SIGPIPE, SIG_IGN);
	(void)setenv("HOME", "/home/me", 1);
	(void)setenv("SECRET", "not for children", 1);
	if (write_folder() < 0 || cancel_init(&cancel, &err) < 0)
		return -1;
	return agent_load(folder, &tree, &err);
}

static int tear_down(void **state UNUSED)
{
	char command[PATH_MAX + 16];

	agent_tree_unref(tree);
	cancel_release(&cancel);
	(void)snprintf(command, sizeof command, "rm -r %s", folder);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_forms),        cmocka_unit_test(test_failures),
		cmocka_unit_test(test_unknown),      cmocka_unit_test(test_arguments),
		cmocka_unit_test(test_surroundings), cmocka_unit_test(test_long_running),
		cmocka_unit_test(test_several),      cmocka_unit_test(test_cancel),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}

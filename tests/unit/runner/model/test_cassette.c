/*
 * Cassettes: finding a request, saying what differs, playing answers.
 */
#include "runner/model/cassette.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#define FOLDER "/tmp/test_cassette.XXXXXX"
#define HEAD   "\"provider\":\"openai\",\"model\":\"m\",\"settings\":{\"A\":\"1\"},\"path\":\"/\","

static char folder[] = FOLDER;
static struct cancel cancel;

/* What was played. */
struct heard {
	struct buf text; /* pieces in brackets */
	unsigned refuse; /* the number of the piece that is not taken; 0: none */
	unsigned count;
};

static int hear(void *arg, struct span piece)
{
	struct heard *heard = arg;

	buf_printf(&heard->text, "[%.*s]", (int)piece.len, piece.data);
	return ++heard->count == heard->refuse ? -EPROTO : 0;
}

static void put(const char *text)
{
	static unsigned number;
	char path[128];
	FILE *f;

	/* Another file each time, with a time that cannot be mistaken for the one before. */
	(void)snprintf(path, sizeof path, "%s/c.jsonl.%u", folder, number++);
	f = fopen(path, "we");
	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
	(void)chdir(folder);
	assert_int_equal(rename(path, "c.jsonl"), 0);
}

static struct cassette *load(const char *text)
{
	struct cassette *c = NULL;
	struct err err = { 0 };

	put(text);
	if (cassette_open(folder, "c.jsonl", &c, &err) < 0)
		fail_msg("%s", err.text);
	return c;
}

static int take(struct cassette *c, const char *body, const struct cassette_call **call)
{
	CLEANUP(buf_release) struct buf canonical = { 0 };
	const struct cassette_source *sources;
	size_t count;

	sources = cassette_sources(c, &count);
	assert_int_equal(cassette_body(span_of(body), &canonical), 0);
	return cassette_take(c, sources, buf_span(&canonical), call);
}

static void expect_difference(const char *recorded, const char *asked, const char *path)
{
	CLEANUP(buf_release) struct buf text = { 0 };
	CLEANUP(buf_release) struct buf body = { 0 };
	CLEANUP(buf_release) struct buf want = { 0 };
	const struct cassette_call *call;
	struct err err = { 0 };
	struct cassette *c;

	buf_printf(&text, "{\"call\":\"1\"," HEAD "\"body\":%s}\n", recorded);
	c = load(buf_cstr(&text));
	assert_int_equal(take(c, asked, &call), -ENOENT);
	assert_int_equal(cassette_body(span_of(asked), &body), 0);
	assert_int_equal(cassette_differs(c, buf_span(&body), &err), -ENOENT);
	buf_printf(&want, "c.jsonl has no such request: %s differs from line 1, the nearest", path);
	assert_string_equal(err.text, buf_cstr(&want));
	cassette_unref(c);
}

static void test_differences(void **state UNUSED)
{
	expect_difference("{\"a\":1}", "{\"a\":2}", "a");
	expect_difference("{\"a\":1}", "{\"a\":1,\"b\":2}", "b");
	expect_difference("{\"a\":1,\"b\":{\"c\":[]}}", "{\"a\":1,\"b\":{}}", "b.c");
	expect_difference("{\"contents\":[{\"parts\":[{\"text\":\"x\"}]}]}",
			  "{\"contents\":[{\"parts\":[{\"text\":\"y\"}]}]}",
			  "contents[0].parts[0].text");
	expect_difference("{\"l\":[1,2]}", "{\"l\":[1,2,3]}", "l[2]");
	expect_difference("{\"l\":[1,2,3]}", "{\"l\":[1,2]}", "l[2]");
	expect_difference("{\"l\":[1,[2]]}", "{\"l\":[1,{}]}", "l[1]");
}

static void expect_body(const char *text, const char *want)
{
	CLEANUP(buf_release) struct buf body = { 0 };

	assert_int_equal(cassette_body(span_of(text), &body), 0);
	assert_string_equal(buf_cstr(&body), want);
}

#define ID_A "adk-0a1b2c3d-0000-4000-8000-000000000001"
#define ID_B "adk-0a1b2c3d-0000-4000-8000-000000000002"

static void test_bodies(void **state UNUSED)
{
	expect_body(" { \"a\" : 1.50 } ", "{\"a\":1.50}");
	expect_body("{\"x\":\"" ID_B "\",\"y\":\"" ID_A "\",\"z\":\"" ID_B "\"}",
		    "{\"x\":\"adk-1\",\"y\":\"adk-2\",\"z\":\"adk-1\"}");
	expect_body("{\"x\":\"adk-\",\"y\":\"adk-adk-zz\"}",
		    "{\"x\":\"adk-\",\"y\":\"adk-adk-zz\"}");
	expect_body("adk", "\"adk\"");
}

/* Equal ones in their order, attempts together, then from the start. */
static void test_order(void **state UNUSED)
{
	struct cassette *c = load("{\"call\":\"1\"," HEAD "\"body\":{}}\n"
				  "{\"call\":\"2\"," HEAD "\"body\":{}}\n"
				  "\n"
				  "{\"call\":\"1\"," HEAD "\"body\":{}}\n"
				  "{\"call\":\"3\"," HEAD "\"body\":[]}");
	const struct cassette_call *calls[4];
	const struct cassette_call *call;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(calls); i++)
		assert_int_equal(take(c, "{ }", &calls[i]), 0);
	assert_ptr_not_equal(calls[0], calls[1]);
	assert_ptr_equal(calls[0], calls[2]);
	assert_ptr_equal(calls[1], calls[3]);
	assert_int_equal(take(c, "[]", &call), 0);
	assert_int_equal(take(c, "[1]", &call), -ENOENT);
	cassette_unref(c);
}

/* Play an attempt. What http_send would give. */
static int play(const char *rest, struct heard *heard, struct http_answer *answer, struct err *err)
{
	CLEANUP(buf_release) struct buf text = { 0 };
	struct cassette_player player = { 0 };
	struct cassette *c;
	int r;

	buf_printf(&text, "{\"call\":\"1\"," HEAD "\"body\":{},%s}\n", rest);
	c = load(buf_cstr(&text));
	player.cassette = c;
	assert_int_equal(take(c, "{}", &player.call), 0);
	answer->on_body = hear;
	answer->arg = heard;
	r = cassette_play(&player, 0, &cancel, answer, err);
	assert_int_equal(cassette_play(&player, 1, &cancel, answer, NULL), -EINVAL);
	cassette_unref(c);
	return r;
}

static void expect_play(const char *rest, int r, const char *want)
{
	CLEANUP(http_answer_release) struct http_answer answer = { 0 };
	struct heard heard = { 0 };
	struct err err = { 0 };

	assert_int_equal(play(rest, &heard, &answer, &err), r);
	assert_string_equal(buf_cstr(&heard.text), want);
	buf_release(&heard.text);
}

static void test_play(void **state UNUSED)
{
	expect_play("\"status\":200,\"pieces\":[[0,\"a\\n\"],[9,\"b\"],[9,{\"base64\":\"4pg=\"}]]",
		    0, "[a\n][b][\xe2\x98]");
	expect_play("\"status\":200,\"pieces\":[]", 0, "");
	expect_play("\"status\":200", 0, "");
	expect_play("\"status\":200,\"pieces\":[[1,\"a\"]],\"error\":{\"errno\":\"ECONNRESET\","
		    "\"text\":\"x\"}",
		    -ECONNRESET, "[a]");
	expect_play("\"status\":0,\"error\":{\"errno\":\"EWHAT\",\"text\":\"x\"}", -EIO, "");
	expect_play("\"status\":200,\"pieces\":{}", -EINVAL, "");
	expect_play("\"status\":200,\"pieces\":[1]", -EINVAL, "");
	expect_play("\"status\":200,\"pieces\":[[1,2]]", -EINVAL, "");
	expect_play("\"status\":200,\"pieces\":[[1,{\"base64\":\"!\"}]]", -EINVAL, "");
	expect_play("\"status\":200,\"pieces\":[[1,\"a\",\"b\"]]", -EINVAL, "");
}

static void test_refusals(void **state UNUSED)
{
	CLEANUP(http_answer_release) struct http_answer answer = { 0 };
	struct heard heard = { .refuse = 1 };
	struct err err = { 0 };

	assert_int_equal(play("\"status\":429,\"headers\":{\"retry-after\":\"7\",\"x\":\"y\"},"
			      "\"pieces\":[[1,\"no\"]]",
			      &heard, &answer, &err),
			 0);
	assert_int_equal(answer.status, 429);
	assert_string_equal(answer.retry_after, "7");
	assert_string_equal(buf_cstr(&answer.error_body), "no");
	assert_false(answer.got_body);
	assert_int_equal(heard.count, 0);
	/* one that does not want the rest */
	assert_int_equal(
		play("\"status\":200,\"pieces\":[[1,\"a\"],[2,\"b\"]]", &heard, &answer, &err),
		-EPROTO);
	assert_int_equal(heard.count, 1);
	assert_true(answer.got_body);
	buf_release(&heard.text);
}

static void test_broken(void **state UNUSED)
{
	static const char *const rows[][2] = {
		{ "{\"call\":", "c.jsonl:1: the line is not JSON" },
		{ "\n\xff\n", "c.jsonl:2: the line is not JSON" },
		{ "{}", "c.jsonl:1: the line is not an exchange" },
		{ "7\n", "c.jsonl:1: the line is not an exchange" },
		{ "{\"call\":\"1\"}", "c.jsonl:1: the line has no provider, model or call" },
		{ "{\"call\":\"1\"," HEAD "\"x\":1}", "c.jsonl:1: the line has no body" },
		{ "{\"call\":\"1\",\"provider\":\"a\",\"model\":\"b\",\"settings\":[],\"body\":1}",
		  "c.jsonl:1: the settings are not an object of strings" },
		{ "{\"call\":\"1\",\"provider\":\"a\",\"model\":\"b\",\"settings\":{\"a\":1},"
		  "\"body\":1}",
		  "c.jsonl:1: the settings are not an object of strings" },
	};
	struct cassette *c = NULL;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct err err = { 0 };

		put(rows[i][0]);
		assert_int_equal(cassette_open(folder, "c.jsonl", &c, &err), -EINVAL);
		assert_string_equal(err.text, rows[i][1]);
	}
	assert_int_equal(cassette_open(folder, "none", &c, NULL), -ENOENT);
	assert_int_equal(cassette_open(folder, "../x", &c, NULL), -ENOENT);
	assert_int_equal(cassette_open(folder, "/etc/passwd", &c, NULL), -EINVAL);
	assert_null(c);
}

/* Settings of a cassette are all there is. */
static void test_settings(void **state UNUSED)
{
	struct cassette *c = load(
		"{\"call\":\"1\"," HEAD "\"body\":{}}\n"
		"{\"call\":\"2\"," HEAD "\"body\":{}}\n"
		"{\"call\":\"3\",\"provider\":\"x\",\"model\":\"m\",\"body\":{}}\n");
	const struct cassette_source *sources;
	size_t count;

	assert_int_equal(setenv("ADKFS_TEST", "outside", 1), 0);
	sources = cassette_sources(c, &count);
	assert_int_equal(count, 2);
	assert_string_equal(sources[0].provider, "openai");
	assert_string_equal(settings_get(sources[0].settings, "A"), "1");
	assert_null(settings_get(sources[0].settings, "ADKFS_TEST"));
	assert_string_equal(sources[1].provider, "x");
	assert_null(settings_get(sources[1].settings, "A"));
	assert_string_equal(settings_get(NULL, "ADKFS_TEST"), "outside");
	cassette_unref(c);
}

static int set_up(void **state UNUSED)
{
	struct err err;

	return !mkdtemp(folder) || cancel_init(&cancel, &err) < 0;
}

static int tear_down(void **state UNUSED)
{
	char command[64];

	cancel_release(&cancel);
	(void)snprintf(command, sizeof command, "rm -r %s", folder);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_differences), cmocka_unit_test(test_bodies),
		cmocka_unit_test(test_order),       cmocka_unit_test(test_play),
		cmocka_unit_test(test_refusals),    cmocka_unit_test(test_broken),
		cmocka_unit_test(test_settings),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}

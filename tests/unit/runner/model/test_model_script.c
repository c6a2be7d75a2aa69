/*
 * The provider script: rules, placeholders, and what is wrong with a file.
 */
#include "runner/model/ask.h"

#include "base/clock.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define WEATHER "script/weather.yaml"

static char fixtures[4096]; /* absolute */
static char scratch[] = "/tmp/adkfs-script-XXXXXX";

/* One question and its answer. */
struct dialogue {
	struct content *contents[8];
	struct question rq;
	struct cancel cancel;
	struct model_reply reply;
	struct buf pieces; /* each followed by '|' */
	struct err err;
	int r;
};

static void hear(void *arg, struct span text, bool thought)
{
	struct dialogue *d = arg;

	if (thought)
		buf_char(&d->pieces, '~');
	buf_span_add(&d->pieces, text);
	buf_char(&d->pieces, '|');
}

/* The conversation is a JSON list of contents; numbers stay as written. */
static void take_contents(struct dialogue *d, const char *json)
{
	struct json_scan s = json_scan_of(span_of(json), JSON_DEPTH_MAX, NULL);
	struct span item;
	bool first = true;

	assert_int_equal(json_open(&s, '['), 0);
	while (json_item(&s, &first) == 1) {
		assert_int_equal(json_raw(&s, &item), 0);
		assert_int_equal(content_from_json(item, &d->contents[d->rq.count++], NULL), 0);
	}
}

static void ask(struct dialogue *d, const char *model, const char *folder, const char *json)
{
	*d = (struct dialogue){ .rq = { .folder = folder, .system = "" } };
	take_contents(d, json);
	d->rq.contents = d->contents;
	d->reply.on_text = hear;
	d->reply.arg = d;
	assert_int_equal(cancel_init(&d->cancel, NULL), 0);
	d->r = model_ask(model, &d->rq, &d->cancel, &d->reply, &d->err);
}

static void end(struct dialogue *d)
{
	size_t i;

	for (i = 0; i < d->rq.count; i++)
		content_free(d->contents[i]);
	model_reply_release(&d->reply);
	cancel_release(&d->cancel);
	buf_release(&d->pieces);
}

#define USER(text) "{\"role\":\"user\",\"parts\":[{\"text\":\"" text "\"}]}"
#define CALL(name) "{\"role\":\"model\",\"parts\":[{\"functionCall\":{\"name\":\"" name "\"}}]}"
#define RESULT(name, json)                                                                         \
	"{\"role\":\"user\",\"parts\":[{\"functionResponse\":{\"name\":\"" name                    \
	"\",\"response\":" json "}}]}"

static const struct answer_case {
	const char *contents;
	const char *pieces; /* what is heard */
	const char *calls;  /* "name id args;" each */
	const char *finish;
	const char *error; /* of the call: its start */
} cases[] = {
	{ "[" USER("Weather in New York?") "]",
	  "~The |~user |~wants |~the |~weather.|Looking |at |New |York.|",
	  "get_weather c1 {\"city\":\"New York\",\"days\":3,\"unit\":\"c\",\"all\":\"yes\"};",
	  "STOP", NULL },
	{ "[" USER("weather in Oslo") "," CALL("get_weather") "," RESULT(
		  "get_weather", "{\"now\":{\"sky\":\"grey\"},\"degrees\":-3.50}") "]",
	  "It |is |grey, |-3.50 |degrees; |$5 |please.|", "", "STOP", NULL },
	{ "[" USER("weather in Oslo") "," CALL("get_weather") "," RESULT(
		  "get_weather", "{\"error\":\"no net\"}") "]",
	  "I |could |not |find |out |(no |net).|", "", "STOP", NULL },
	{ "[" USER("weather in Oslo") "," CALL("get_weather") "," RESULT("get_weather",
									 "{\"degrees\":1}") "]",
	  "", "", NULL, "weather.yaml:13: ${result.now.sky}: the result has no such member" },
	{ "[" USER("add 12 and 7") "]", "",
	  "add - {\"a\":12,\"b\":7,\"text\":\"12\",\"note\":\"12 and "
	  "7\",\"list\":[12,{\"deep\":7},null,null,true,1.50]};",
	  "STOP", NULL },
	{ "[" USER("add 1 and 2") "," CALL("add") "," RESULT("add", "{\"sum\":3,\"l\":[1]}") "]",
	  "",
	  "keep - {\"value\":\"3\",\"sum\":null,\"same\":[1],\"again\":[1]};copy - "
	  "{\"whole\":{\"sum\":3,\"l\":[1]},\"sum\":3,\"mixed\":\"3!\"};bare - {};",
	  "STOP", NULL },
	{ "[" USER("blocked") "]", "", "", NULL,
	  "weather.yaml:35: ${result}: the last message is not the result of a tool" },
	{ "[" USER("at once") "]", "one two three|", "", "MAX_TOKENS", NULL },
	{ "[" USER("slow") "]",
	  "ab|\xf0\x9f\x98\x80"
	  "c|d|",
	  "", "STOP", NULL },
	{ "[" USER("\xc3\xa9\xf0\x9f\x98\x80") "]", "\xf0\x9f\x98\x80\xc3\xa9|", "", "STOP", NULL },
	{ "[" USER("--y--") "]", "[][y]|", "", "STOP", NULL },
	{ "[" USER("hello") "]", "", "", NULL,
	  "no rule of weather.yaml matches: the user said 'hello'" },
	{ "[" USER("slow") "," CALL("t") "," RESULT("t", "{\"a\":1}") "]", "", "", NULL,
	  "no rule of weather.yaml matches: the tool 't' gave {\"a\":1}" },
	{ "[]", "", "", NULL, "no rule of weather.yaml matches: the user said ''" },
};

static void describe_calls(const struct content *content, struct buf *out)
{
	size_t i;

	for (i = 0; content && i < content->count; i++) {
		const struct part *p = &content->parts[i];

		if (p->kind == PART_CALL)
			buf_printf(out, "%s %s %s;", p->name, p->id ? p->id : "-", p->json);
	}
}

static void check_case(const struct answer_case *c)
{
	struct buf calls = { 0 };
	struct dialogue d;

	ask(&d, WEATHER, fixtures, c->contents);
	if (c->error) {
		if (d.r == 0 || strncmp(d.err.text, c->error, strlen(c->error)) != 0)
			fail_msg("%s: got '%s'", c->contents, d.err.text);
	} else {
		if (d.r < 0)
			fail_msg("%s: %s", c->contents, d.err.text);
		assert_string_equal(d.reply.finish_reason, c->finish);
	}
	if (!span_is(buf_span(&d.pieces), c->pieces))
		fail_msg("%s: heard '%s'", c->contents, buf_cstr(&d.pieces));
	describe_calls(d.reply.content, &calls);
	if (!span_is(buf_span(&calls), c->calls))
		fail_msg("%s: calls '%s'", c->contents, buf_cstr(&calls));
	buf_release(&calls);
	end(&d);
}

static void test_answers(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++)
		check_case(&cases[i]);
}

static void test_error_reason(void **state)
{
	struct dialogue d;

	(void)state;
	ask(&d, WEATHER, fixtures, "[" USER("forbid that") "]");
	assert_int_equal(d.r, 0);
	assert_string_equal(d.reply.error_code, "SAFETY");
	assert_string_equal(d.reply.error_message, "no that");
	assert_string_equal(d.reply.finish_reason, "SAFETY");
	assert_null(d.reply.content);
	end(&d);
}

static void write_script(const char *name, const char *text)
{
	char path[256];
	FILE *f;

	(void)snprintf(path, sizeof path, "%s/%s", scratch, name);
	f = fopen(path, "we");
	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

/* Only a rule that gives numbers reports any; the total is their sum, unless it is given. */
static void test_usage(void **state)
{
	struct dialogue d;

	(void)state;
	ask(&d, WEATHER, fixtures,
	    "[" RESULT("get_weather", "{\"now\":{\"sky\":\"x\"},\"degrees\":1}") "]");
	assert_int_equal(d.r, 0);
	assert_string_equal(buf_cstr(&d.reply.usage),
			    "{\"cachedContentTokenCount\":0,\"candidatesTokenCount\":4,"
			    "\"promptTokenCount\":10,\"totalTokenCount\":14}");
	end(&d);
	ask(&d, WEATHER, fixtures, "[" USER("at once") "]");
	assert_int_equal(d.reply.usage.len, 0);
	end(&d);
	write_script("sums.yaml", "- when: {user: given}\n  text: a\n"
				  "  usage: {prompt: 1, thoughts: 2, total: 9}\n"
				  "- text: a\n  usage: {prompt: 1, candidates: 3, thoughts: 2}\n");
	ask(&d, "script/sums.yaml", scratch, "[" USER("given") "]");
	assert_string_equal(buf_cstr(&d.reply.usage),
			    "{\"promptTokenCount\":1,"
			    "\"thoughtsTokenCount\":2,\"totalTokenCount\":9}");
	end(&d);
	ask(&d, "script/sums.yaml", scratch, "[" USER("not said") "]");
	assert_string_equal(buf_cstr(&d.reply.usage),
			    "{\"candidatesTokenCount\":3,\"promptTokenCount\":1,"
			    "\"thoughtsTokenCount\":2,\"totalTokenCount\":6}");
	end(&d);
}

static const struct bad_file {
	const char *text;
	const char *error;
} bad_files[] = {
	{ "- when: {usr: x}\n  text: a\n", "s.yaml:1: unknown key 'usr' (known here: user, tool" },
	{ "- text: a\n\n- txt: a\n", "s.yaml:3: unknown key 'txt'" },
	{ "- text: a\n  text: b\n", "s.yaml:2: 'text' comes twice" },
	{ "text: a\n", "s.yaml:1: expected a list of rules" },
	{ "", "s.yaml:1: expected a list of rules" },
	{ "- a\n", "s.yaml:1: expected a mapping with 'when'" },
	{ "- when: {user: x}\n", "s.yaml:1: the rule has neither text nor calls nor error" },
	{ "- when:\n    user: '(x'\n  text: a\n", "s.yaml:2: the pattern: " },
	{ "- when: {user: '(?<1>x)'}\n  text: a\n",
	  "s.yaml:1: the pattern: subpattern name must start with a non-digit (at byte 3)" },
	{ "- when: {user: '(1)(2)(3)(4)(5)', result: '(1)(2)(3)(4)(5)'}\n  text: a\n",
	  "s.yaml:1: the rule has more than 9 groups" },
	{ "- text: a $1\n", "s.yaml:1: no pattern of the rule has a group '1'" },
	{ "- when: {user: '(?<a>x)'}\n  text: ${b}\n",
	  "s.yaml:1: no pattern of the rule has a group 'b'" },
	{ "- text: 'a ${b'\n", "s.yaml:1: '${' without '}'" },
	{ "- calls: []\n", "s.yaml:1: expected a list of calls" },
	{ "- calls:\n  - args: {}\n", "s.yaml:2: the call has no name" },
	{ "- calls:\n  - name: f\n    args: 1\n", "s.yaml:3: the args are not a mapping" },
	{ "- calls:\n  - name: f\n    args: {a: !!binary x}\n",
	  "s.yaml:3: tags are not supported" },
	{ "- calls:\n  - name: f\n    args: &a {x: *a}\n",
	  "s.yaml:3: the args are too deep or too large" },
	{ "- calls:\n  - name: f\n    args: {x: $1}\n",
	  "s.yaml:3: no pattern of the rule has a group '1'" },
	{ "- text: a\n  pieces: -1\n", "s.yaml:2: expected a whole number" },
	{ "- text: a\n  delay_ms: 600001\n", "s.yaml:2: the delay is longer than 600000 ms" },
	{ "- text: a\n  error: {code: X}\n", "s.yaml:1: a rule with an error has no text" },
	{ "- error: {message: x}\n", "s.yaml:1: the error has no code" },
	{ "- text: [a]\n", "s.yaml:1: expected a text" },
	{ "- text: a\n  usage: {promt: 1}\n", "s.yaml:2: unknown key 'promt'" },
	{ "- text: a\n  when: {user: x, ignore_case: maybe}\n",
	  "s.yaml:2: expected true or false" },
	{ "- text: a\n---\n- text: b\n", "s.yaml:3: the file has a second document" },
	{ "\xef\xbb\xbf- text: a\n- txt: b\n", "s.yaml:2: unknown key 'txt'" },
	{ "- text: 'a\n", "s.yaml:2: " },
};

static void test_bad_files(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(bad_files); i++) {
		struct dialogue d;

		write_script("s.yaml", bad_files[i].text);
		ask(&d, "script/s.yaml", scratch, "[" USER("x") "]");
		assert_int_equal(d.r, -EINVAL);
		if (strncmp(d.err.text, bad_files[i].error, strlen(bad_files[i].error)) != 0)
			fail_msg("file %zu: got '%s'", i, d.err.text);
		end(&d);
	}
}

/* A file that grows by aliases is refused in time. */
static void test_aliases(void **state)
{
	struct dialogue d;
	uint64_t start = clock_monotonic();

	(void)state;
	write_script("s.yaml",
		     "- calls:\n  - name: f\n    args:\n"
		     "      a: &a [x,x,x,x,x,x,x,x]\n      b: &b [*a,*a,*a,*a,*a,*a,*a,*a]\n"
		     "      c: &c [*b,*b,*b,*b,*b,*b,*b,*b]\n      d: &d [*c,*c,*c,*c,*c,*c]\n"
		     "      e: &e [*d,*d,*d,*d,*d,*d,*d,*d]\n      f: &f [*e,*e,*e,*e,*e,*e]\n");
	ask(&d, "script/s.yaml", scratch, "[" USER("x") "]");
	assert_int_equal(d.r, -EINVAL);
	assert_true(clock_monotonic() - start < NSEC_PER_SEC);
	end(&d);
}

/* A change of the file shows in the next answer. */
static void test_change(void **state)
{
	static const char *const texts[] = { "one", "seven", "longer than that" };
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(texts); i++) {
		char script[64];
		struct dialogue d;

		(void)snprintf(script, sizeof script, "- text: %s\n  pieces: 0\n", texts[i]);
		write_script("change.yaml", script);
		ask(&d, "script/change.yaml", scratch, "[" USER("x") "]");
		assert_int_equal(d.r, 0);
		assert_memory_equal(d.pieces.data, texts[i], strlen(texts[i]));
		end(&d);
	}
}

static void test_outside(void **state)
{
	static const char *const names[] = { "script/../../../etc/passwd", "script//etc/passwd",
					     "script/link", "script/missing.yaml", "script/." };
	static const int errors[] = { -EINVAL, -EINVAL, -EINVAL, -ENOENT, -EINVAL };
	char link[64];
	size_t i;

	(void)state;
	(void)snprintf(link, sizeof link, "%s/link", scratch);
	assert_int_equal(symlink("/etc/passwd", link), 0);
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		struct dialogue d;

		ask(&d, names[i], scratch, "[" USER("x") "]");
		assert_int_equal(d.r, errors[i]);
		end(&d);
	}
}

static void stop(void *arg, struct span text, bool thought)
{
	(void)text;
	(void)thought;
	cancel_fire(arg);
}

/* A delay ends at once when the answer is cancelled; what was said is kept. */
static void test_cancel(void **state)
{
	uint64_t start = clock_monotonic();
	struct dialogue d;

	(void)state;
	write_script("cancel.yaml", "- text: one two\n  delay_ms: 600000\n");
	d = (struct dialogue){ .rq = { .folder = scratch, .system = "" } };
	assert_int_equal(cancel_init(&d.cancel, NULL), 0);
	d.reply.on_text = stop;
	d.reply.arg = &d.cancel;
	d.r = model_ask("script/cancel.yaml", &d.rq, &d.cancel, &d.reply, &d.err);
	assert_int_equal(d.r, -ECANCELED);
	assert_true(clock_monotonic() - start < NSEC_PER_SEC);
	assert_true(span_is(buf_span(&d.reply.content->parts[0].text), "one "));
	end(&d);
}

/* A turn with a cached script costs far less than a millisecond. */
static void test_speed(void **state)
{
	uint64_t start;
	struct dialogue d;
	int i;

	(void)state;
	ask(&d, WEATHER, fixtures, "[" USER("at once") "]");
	start = clock_monotonic();
	for (i = 0; i < 100; i++) {
		struct model_reply reply = { 0 };

		assert_int_equal(model_ask(WEATHER, &d.rq, &d.cancel, &reply, NULL), 0);
		model_reply_release(&reply);
	}
	assert_true(clock_monotonic() - start < 100 * NSEC_PER_MSEC);
	print_message("a cached script answers in %llu us\n",
		      (unsigned long long)(clock_monotonic() - start) / 100 / 1000);
	end(&d);
}

static int setup(void **state)
{
	(void)state;
	if (!realpath("fixtures/scripts", fixtures) || !mkdtemp(scratch)) {
		perror("fixtures/scripts (run this in tests/)");
		return -1;
	}
	return 0;
}

static int teardown(void **state)
{
	static const char *const names[] = { "s.yaml", "sums.yaml", "change.yaml", "cancel.yaml",
					     "link" };
	char path[64];
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		(void)snprintf(path, sizeof path, "%s/%s", scratch, names[i]);
		(void)unlink(path);
	}
	return rmdir(scratch);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_answers), cmocka_unit_test(test_error_reason),
		cmocka_unit_test(test_usage),   cmocka_unit_test(test_bad_files),
		cmocka_unit_test(test_aliases), cmocka_unit_test(test_change),
		cmocka_unit_test(test_outside), cmocka_unit_test(test_cancel),
		cmocka_unit_test(test_speed),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}

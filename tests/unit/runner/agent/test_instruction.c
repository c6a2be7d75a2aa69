/*
 * Instructions: placeholders, row by row.
 */
#include "runner/agent/instruction.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

struct entry {
	const char *name;
	const char *value; /* NULL: it is not text */
};

static const struct entry keys[] = {
	{ "name", "\"Ann\"" },
	{ "quoted", "\"a \\\"b\\\" {name}\"" },
	{ "n", "1.50" },
	{ "big", "123456789012345678901234567890" },
	{ "flag", "true" },
	{ "list", "[1,{\"a\":null}]" },
	{ "nothing", "null" },
	{ "app:topic", "\"rain\"" },
	{ "user:name", "\"Bob\"" },
	{ "temp:x", "5" },
	{ "gr\xc3\xb6\xc3\x9f"
	  "e",
	  "3" },
	{ "_a1", "7" },
};

static const struct entry artifacts[] = {
	{ "notes.md", "Buy {name} milk\n" },
	{ "user:x.md", "mine" },
	{ "my file", "spaced" },
	{ "chart.png", NULL },
};

static int find(const struct entry *list, size_t n, struct span name, struct buf *out)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (!span_is(name, list[i].name))
			continue;
		if (!list[i].value)
			return -EILSEQ;
		buf_text(out, list[i].value);
		return 0;
	}
	return -ENOENT;
}

static int find_state(void *arg UNUSED, struct span key, struct buf *json, struct err *err)
{
	if (span_is(key, "broken"))
		return err_set(err, -EIO, "the store is broken");
	return find(keys, ARRAY_SIZE(keys), key, json);
}

static int find_artifact(void *arg UNUSED, struct span name, struct buf *text,
			 struct err *err UNUSED)
{
	return find(artifacts, ARRAY_SIZE(artifacts), name, text);
}

static const struct instruction_source source = { find_state, find_artifact, NULL };

static void expect(const char *text, const char *want)
{
	CLEANUP(buf_release) struct buf out = { 0 };
	struct err err = { 0 };
	int r = instruction_render(span_of(text), &source, &out, &err);

	if (r < 0)
		fail_msg("%s: %s", text, err.text);
	assert_string_equal(buf_cstr(&out), want);
}

static void expect_error(const char *text, int code, const char *want)
{
	CLEANUP(buf_release) struct buf out = { 0 };
	struct err err = { 0 };

	buf_text(&out, "before");
	assert_int_equal(instruction_render(span_of(text), &source, &out, &err), code);
	assert_string_equal(err.text, want);
	assert_string_equal(buf_cstr(&out), "before");
}

static void test_values(void **state UNUSED)
{
	expect("", "");
	expect("no braces", "no braces");
	expect("Hi {name}!", "Hi Ann!");
	expect("{name}{name}", "AnnAnn");
	expect("{quoted}", "a \"b\" {name}");
	expect("{n} {big} {flag} {list}", "1.50 123456789012345678901234567890 true "
					  "[1,{\"a\":null}]");
	expect("<{nothing}{nothing?}>", "<>");
	expect("{app:topic} {user:name} {temp:x}", "rain Bob 5");
	expect("{gr\xc3\xb6\xc3\x9f"
	       "e} {_a1}",
	       "3 7");
	expect("${n}", "$1.50");
}

static void test_braces(void **state UNUSED)
{
	expect("{{name}} {{{name}}}", "Ann Ann");
	expect("{{name} {name}}", "Ann Ann");
	expect("{ name } {\tname\n}", "Ann Ann");
	expect("{ name? }", "Ann");
	expect("{", "{");
	expect("}", "}");
	expect("{name", "{name");
	expect("name}", "name}");
	expect("{a {name} b}", "{a Ann b}");
	expect("}{name}{", "}Ann{");
	expect("{}", "{}");
	expect("{{}}", "{{}}");
	expect("{ }", "{ }");
}

static void test_optional(void **state UNUSED)
{
	expect("<{missing?}>", "<>");
	expect("<{user:missing?}>", "<>");
	expect_error("{missing}", -EINVAL, "Context variable not found: `missing`.");
	expect_error("{{ user:missing }}", -EINVAL, "Context variable not found: `user:missing`.");
	expect_error("{broken}", -EIO, "the store is broken");
	expect_error("{broken?}", -EIO, "the store is broken");
}

static void test_left_alone(void **state UNUSED)
{
	static const char *const texts[] = {
		"{a.b}",      "{x-y}",   "{foo:k}",   "{x ?}",
		"{\"k\": 1}", "{1a}",    "{app:}",    "{?}",
		"{??}",       "{{a b}}", "{app:x.y}", "{user:1}",
		"{ a b }",    "{a:b:c}", "{:a}",      "{\"a\":{\"b\":1}}",
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(texts); i++)
		expect(texts[i], texts[i]);
}

static void test_artifacts(void **state UNUSED)
{
	expect("{artifact.notes.md}", "Buy {name} milk\n");
	expect("{artifact.user:x.md} {{artifact.my file?}}", "mine spaced");
	expect("<{artifact.none?}{artifact.chart.png?}>", "<>");
	expect_error("{artifact.none}", -EINVAL, "Artifact 'none' not found.");
	expect_error("{artifact.chart.png}", -EINVAL, "Artifact 'chart.png' is not text.");
	expect_error("{artifact.}", -EINVAL, "Artifact '' not found.");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),    cmocka_unit_test(test_braces),
		cmocka_unit_test(test_optional),  cmocka_unit_test(test_left_alone),
		cmocka_unit_test(test_artifacts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

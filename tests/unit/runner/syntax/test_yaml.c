/*
 * YAML as a tree: scalars as Python's safe loader reads them, lines, limits.
 */
#include "runner/syntax/yaml.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

/* Read a text: returns compact JSON, or "CODE text of the error". The caller frees it. */
static char *read_text(struct span text)
{
	CLEANUP(yaml_tree_free_p) struct yaml_tree *tree = NULL;
	struct err err = { 0 };
	char *out = NULL;
	int r = yaml_tree_load(text, "a.yaml", &tree, &err);

	if (r == 0)
		out = json_dumps(tree->root,
				 JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));
	else
		assert_true(asprintf(&out, "%s %s", err_name(r), err.text) > 0);
	assert_int_equal(r, err.code);
	return out;
}

static void expect(const char *text, const char *want)
{
	char *got = read_text(span_of(text));

	if (strcmp(got, want) != 0)
		fail_msg("%s\ngives  %s\nwanted %s", text, got, want);
	free(got);
}

static void expect_start(const char *text, const char *want)
{
	char *got = read_text(span_of(text));

	if (strncmp(got, want, strlen(want)) != 0)
		fail_msg("%.60s\ngives  %s\nwanted %s...", text, got, want);
	free(got);
}

static void test_scalars(void **state UNUSED)
{
	static const struct {
		const char *text;
		const char *json;
	} rows[] = {
		{ "", "null" },
		{ "# nothing", "null" },
		{ "~", "null" },
		{ "Null", "null" },
		{ "nULL", "\"nULL\"" },
		{ "yes", "true" },
		{ "On", "true" },
		{ "TRUE", "true" },
		{ "no", "false" },
		{ "OFF", "false" },
		{ "y", "\"y\"" },
		{ "'yes'", "\"yes\"" },
		{ "\"1\"", "\"1\"" },
		{ "0", "0" },
		{ "-0", "0" },
		{ "+12", "12" },
		{ "1_000", "1000" },
		{ "1_", "1" },
		{ "_1", "\"_1\"" },
		{ "0x1F", "31" },
		{ "-0x1f", "-31" },
		{ "0b101", "5" },
		{ "017", "15" },
		{ "-017", "-15" },
		{ "08", "\"08\"" },
		{ "0o17", "\"0o17\"" },
		{ "1:30", "90" },
		{ "-1:00:01", "-3601" },
		{ "1:30.5", "90.5" },
		{ "1.5", "1.5" },
		{ "1.", "1.0" },
		{ ".5", "0.5" },
		{ "-.5", "\"-.5\"" },
		{ ".", "\".\"" },
		{ "1e3", "\"1e3\"" },
		{ "1.0e3", "\"1.0e3\"" },
		{ "1.5e+3", "1500.0" },
		{ "1_0.5", "10.5" },
		{ "9223372036854775807", "9223372036854775807" },
		{ "2001-12-14", "\"2001-12-14\"" },
		{ "=", "\"=\"" },
		{ "gr\xc3\xbc\xc3\x9f", "\"gr\xc3\xbc\xc3\x9f\"" },
		{ "!!str 123", "\"123\"" },
		{ "!!int '5'", "5" },
		{ "!!float 3", "3.0" },
		{ "!!bool yes", "true" },
		{ "|\n  a\n  b\n", "\"a\\nb\\n\"" },
		{ ">\n  a\n  b\n", "\"a b\\n\"" },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		expect(rows[i].text, rows[i].json);
}

static void test_collections(void **state UNUSED)
{
	expect("a: 1\nb: [x, 'y', {c: ~}]\n", "{\"a\":1,\"b\":[\"x\",\"y\",{\"c\":null}]}");
	expect("- 1\n- - 2\n  - 3\n", "[1,[2,3]]");
	expect("? a\n: b\n", "{\"a\":\"b\"}");
	expect("!!map {a: !!seq [1]}", "{\"a\":[1]}");
	expect("\xef\xbb\xbf"
	       "a: 1\nb: 2\n",
	       "{\"a\":1,\"b\":2}");
}

static void test_aliases(void **state UNUSED)
{
	expect("a: &x [1, 2]\nb: *x\n", "{\"a\":[1,2],\"b\":[1,2]}");
	expect("a: &x {k: 1, l: 2}\nb:\n  <<: *x\n  k: 3\n",
	       "{\"a\":{\"k\":1,\"l\":2},\"b\":{\"k\":3,\"l\":2}}");
	expect("<<: [{a: 1}, {a: 2, c: 3}]\nb: 2\n", "{\"b\":2,\"a\":1,\"c\":3}");
	expect("'<<': 1", "{\"<<\":1}");
	expect("a: *x", "EINVAL a.yaml:1: the alias 'x' refers to no anchor before it");
	expect("&x [*x]", "EINVAL a.yaml:1: the alias 'x' refers to no anchor before it");
	expect("a: &x 1\nb: &x 2", "EINVAL a.yaml:2: the anchor 'x' is defined twice");
	expect_start("<<: 1", "EINVAL a.yaml:1: << needs a mapping");
	expect_start("<<: [1]", "EINVAL a.yaml:1: << needs a mapping");
}

static void test_refused(void **state UNUSED)
{
	expect("a: 1\nb: 2\na: 3\n", "EINVAL a.yaml:3: the key 'a' occurs twice");
	expect("on: 1", "EINVAL a.yaml:1: the key on is not a string: put it in quotes");
	expect("1: a", "EINVAL a.yaml:1: the key 1 is not a string: put it in quotes");
	expect("[a]: b", "EINVAL a.yaml:1: a key must be a string");
	expect("\n- .inf", "EINVAL a.yaml:2: the number is out of range; put a text in quotes");
	expect_start("99999999999999999999", "EINVAL a.yaml:1: the number is");
	expect("0x_", "EINVAL a.yaml:1: the number is out of range; put a text in quotes");
	expect("\"\\0\"", "EINVAL a.yaml:1: contains a NUL character");
	expect("a: 1\n---\nb: 1\n", "EINVAL a.yaml:2: a second document starts here");
	expect("!!int x", "EINVAL a.yaml:1: the tag !!int does not fit its value");
	expect("!!seq {a: 1}",
	       "EINVAL a.yaml:1: the tag tag:yaml.org,2002:seq is not supported here");
	expect("!mine x", "EINVAL a.yaml:1: the tag !mine is not supported");
	expect_start("!!python/object:os.system x", "EINVAL a.yaml:1: the tag");
	expect_start("a: b: c", "EINVAL a.yaml:1: mapping values are not allowed");
	expect_start("a:\n  [1, 2\n", "EINVAL a.yaml:3: ");
	expect_start("a\n\tb: c: d", "EINVAL a.yaml:");
	expect_start("a: \xff", "EINVAL a.yaml:1: ");
}

static void test_limits(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf text = { 0 };
	char *got;
	int i;

	for (i = 0; i < YAML_TREE_DEPTH_MAX + 1; i++)
		buf_char(&text, '[');
	expect_start(buf_cstr(&text), "EINVAL a.yaml:1: is nested more than 64 levels deep");

	/* an alias is as deep as its value */
	buf_clear(&text);
	buf_text(&text, "- &a ");
	for (i = 0; i < 40; i++)
		buf_char(&text, '[');
	for (i = 0; i < 40; i++)
		buf_char(&text, ']');
	buf_text(&text, "\n- ");
	for (i = 0; i < 30; i++)
		buf_char(&text, '[');
	buf_text(&text, "*a");
	expect_start(buf_cstr(&text), "EINVAL a.yaml:2: is nested more than 64 levels deep");

	/* each of ten lists holds the previous one ten times: a thousand million values */
	buf_clear(&text);
	buf_text(&text, "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
	for (i = 1; i < 10; i++)
		buf_printf(&text, "a%d: &a%d [*a%d,*a%d,*a%d,*a%d,*a%d,*a%d,*a%d,*a%d,*a%d,*a%d]\n",
			   i, i, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1,
			   i - 1);
	expect_start(buf_cstr(&text), "EINVAL a.yaml:5: too many values");

	buf_clear(&text);
	assert_true(buf_reserve(&text, YAML_TREE_TEXT_MAX + 1));
	memset(text.data, 'x', YAML_TREE_TEXT_MAX + 1);
	got = read_text((struct span){ text.data, YAML_TREE_TEXT_MAX + 1 });
	assert_memory_equal(got, "EFBIG", 5);
	free(got);
	got = read_text((struct span){ text.data, YAML_TREE_TEXT_MAX });
	assert_int_equal(strlen(got), YAML_TREE_TEXT_MAX + 2);
	free(got);
}

static void expect_failure(const struct yaml_tree *tree, const char *path, const char *want)
{
	struct err err = { 0 };

	assert_int_equal(yaml_tree_fail(tree, &err, path, "is %d", 7), -EINVAL);
	assert_string_equal(err.text, want);
}

static void test_lines(void **state UNUSED)
{
	CLEANUP(yaml_tree_free_p) struct yaml_tree *tree = NULL;
	struct err err = { 0 };
	struct span text = SPAN("# comment\n"
				"name: x\n"
				"tools:\n"
				"  - name: a\n"
				"  - name: b\n"
				"    args:\n"
				"      k: 1\n");

	assert_int_equal(yaml_tree_load(text, "r.yaml", &tree, &err), 0);
	expect_failure(tree, "", "r.yaml:2: is 7");
	expect_failure(tree, "name", "r.yaml:2: name: is 7");
	expect_failure(tree, "tools", "r.yaml:3: tools: is 7");
	expect_failure(tree, "tools[1]", "r.yaml:5: tools[1]: is 7");
	expect_failure(tree, "tools[1].args.k", "r.yaml:7: tools[1].args.k: is 7");
	expect_failure(tree, "tools[1].nothing", "r.yaml:5: tools[1].nothing: is 7");
	expect_failure(tree, "nothing", "r.yaml:2: nothing: is 7");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_scalars), cmocka_unit_test(test_collections),
		cmocka_unit_test(test_aliases), cmocka_unit_test(test_refused),
		cmocka_unit_test(test_limits),  cmocka_unit_test(test_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

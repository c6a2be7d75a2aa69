/*
 * JSON Schema and its patterns.
 */
#include "runner/syntax/pattern.h"
#include "runner/syntax/schema.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

/* want: the error; NULL: the value fits. */
static void expect(const char *schema_text, const char *value_text, const char *want)
{
	json_auto_t *schema = json_loads(schema_text, JSON_DECODE_ANY, NULL);
	json_auto_t *value = json_loads(value_text, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
	struct err err = { 0 };
	int r;

	if (!schema || !value)
		fail_msg("not JSON: %s or %s", schema_text, value_text);
	r = schema_check(schema, value, &err);
	if (r != (want ? -EINVAL : 0) || strcmp(err.text, want ? want : "") != 0)
		fail_msg("%s\nof %s\ngives  %s\nwanted %s", value_text, schema_text,
			 r ? err.text : "no error", want ? want : "no error");
}

static void test_types(void **state UNUSED)
{
	expect("{}", "1", NULL);
	expect("true", "1", NULL);
	expect("false", "1", "is not allowed");
	expect("{\"type\":\"object\"}", "{}", NULL);
	expect("{\"type\":\"OBJECT\"}", "{}", NULL);
	expect("{\"type\":\"object\"}", "[]", "must be an object, not a list");
	expect("{\"type\":\"array\"}", "null", "must be a list, not null");
	expect("{\"type\":\"string\"}", "1", "must be a string, not an integer");
	expect("{\"type\":\"integer\"}", "1.0", NULL);
	expect("{\"type\":\"integer\"}", "1.5", "must be an integer, not a number");
	expect("{\"type\":\"Number\"}", "1", NULL);
	expect("{\"type\":\"boolean\"}", "\"true\"", "must be true or false, not a string");
	expect("{\"type\":\"null\"}", "null", NULL);
	expect("{\"type\":[\"string\",\"null\"]}", "null", NULL);
	expect("{\"type\":[\"string\",\"null\"]}", "1", "has the wrong type: an integer");
	expect("{\"type\":\"string\",\"nullable\":true}", "null", NULL);
	expect("{\"type\":\"TYPE_UNSPECIFIED\"}", "null", NULL);
}

static void test_choices(void **state UNUSED)
{
	expect("{\"enum\":[\"c\",\"f\",1]}", "\"f\"", NULL);
	expect("{\"enum\":[\"c\",\"f\",1]}", "1.0", NULL);
	expect("{\"enum\":[\"c\",\"f\"]}", "\"k\"", "must be one of [\"c\",\"f\"]");
	expect("{\"const\":{\"a\":1}}", "{\"a\":1}", NULL);
	expect("{\"const\":2}", "3", "must be 2");
}

/* Numbers are equal by value, at any depth and for all keywords that compare. */
static void test_equal(void **state UNUSED)
{
	expect("{\"enum\":[[1],{\"a\":[2.0]}]}", "[1.0]", NULL);
	expect("{\"enum\":[[1],{\"a\":[2.0]}]}", "{\"a\":[2]}", NULL);
	expect("{\"const\":{\"a\":1,\"b\":[0.5]}}", "{\"b\":[0.5],\"a\":1.0}", NULL);
	expect("{\"const\":{\"a\":1}}", "{\"a\":1,\"b\":1}", "must be {\"a\":1}");
	expect("{\"const\":{\"a\":1}}", "{\"b\":1}", "must be {\"a\":1}");
	expect("{\"const\":[1,2]}", "[1]", "must be [1,2]");
	expect("{\"const\":[1]}", "[true]", "must be [1]");
	expect("{\"const\":[]}", "{}", "must be []");
	expect("{\"uniqueItems\":true}", "[[1],[1.0]]", "items 0 and 1 are equal");
	expect("{\"uniqueItems\":true}", "[{\"a\":{\"b\":1}},{\"a\":{\"b\":1.0}}]",
	       "items 0 and 1 are equal");
	/* no double lies between these */
	expect("{\"const\":[9007199254740993]}", "[9007199254740993]", NULL);
	expect("{\"const\":[9007199254740993]}", "[9007199254740992]",
	       "must be [9007199254740993]");
	expect("{\"uniqueItems\":true}", "[9007199254740993,9007199254740992.0]", NULL);
	expect("{\"uniqueItems\":true}", "[9007199254740992,9007199254740992.0]",
	       "items 0 and 1 are equal");
	expect("{\"const\":9223372036854775807}", "9223372036854775808.0",
	       "must be 9223372036854775807");
	expect("{\"const\":-9223372036854775808}", "-9223372036854775808.0", NULL);
	expect("{\"const\":-1}", "-1.5", "must be -1");
}

static void test_objects(void **state UNUSED)
{
	const char *city = "{\"type\":\"object\",\"properties\":{\"city\":{\"type\":\"string\"},"
			   "\"at\":{\"type\":\"object\",\"required\":[\"lat\"]}},"
			   "\"required\":[\"city\"]}";

	expect(city, "{\"city\":\"Bonn\"}", NULL);
	expect(city, "{\"city\":\"Bonn\",\"more\":1}", NULL);
	expect(city, "{}", "city: is missing");
	expect(city, "{\"city\":5}", "city: must be a string, not an integer");
	expect(city, "{\"city\":\"\",\"at\":{}}", "at.lat: is missing");
	expect("{\"properties\":{\"a\":{}},\"additionalProperties\":false}", "{\"a\":1}", NULL);
	expect("{\"properties\":{\"a\":{}},\"additionalProperties\":false}", "{\"b\":1}",
	       "b: is not a known member");
	expect("{\"additionalProperties\":{\"type\":\"string\"}}", "{\"b\":1}",
	       "b: must be a string, not an integer");
	expect("{\"patternProperties\":{\"^x\":{}},\"additionalProperties\":false}", "{\"x1\":1}",
	       NULL);
}

static void test_lists(void **state UNUSED)
{
	expect("{\"items\":{\"type\":\"integer\"}}", "[1,2]", NULL);
	expect("{\"properties\":{\"l\":{\"items\":{\"required\":[\"a\"]}}}}",
	       "{\"l\":[{\"a\":1},{}]}", "l[1].a: is missing");
	expect("{\"prefixItems\":[{\"type\":\"string\"}],\"items\":false}", "[\"a\"]", NULL);
	expect("{\"prefixItems\":[{\"type\":\"string\"}],\"items\":false}", "[\"a\",1]",
	       "[1]: is not allowed");
	expect("{\"items\":[{\"type\":\"string\"}]}", "[1]",
	       "[0]: must be a string, not an integer");
	expect("{\"minItems\":1}", "[]", "must have at least 1 items");
	expect("{\"maxItems\":1}", "[1,2]", "must have at most 1 items");
	expect("{\"uniqueItems\":true}", "[1,{\"a\":1},2]", NULL);
	expect("{\"uniqueItems\":true}", "[1,{\"a\":1},{\"a\":1}]", "items 1 and 2 are equal");
}

static void test_strings(void **state UNUSED)
{
	expect("{\"minLength\":2}", "\"\xc3\xbc\xc3\xbc\"", NULL);
	expect("{\"minLength\":2}", "\"\xc3\xbc\"", "must have at least 2 characters");
	expect("{\"maxLength\":1}", "\"ab\"", "must have at most 1 characters");
	expect("{\"pattern\":\"^\\\\d{4}$\"}", "\"2025\"", NULL);
	expect("{\"pattern\":\"^\\\\d{4}$\"}", "\"25\"", "must match the pattern ^\\d{4}$");
	expect("{\"pattern\":\"(?=x)\"}", "\"y\"", "must match the pattern (?=x)");
	expect("{\"pattern\":\"(\"}", "\"y\"", NULL);
	expect("{\"pattern\":\"b\"}", "\"a\\u0000b\"", NULL);
}

static void test_numbers(void **state UNUSED)
{
	expect("{\"minimum\":0,\"maximum\":10}", "10", NULL);
	expect("{\"minimum\":0}", "-0.5", "must be at least 0");
	expect("{\"maximum\":1.5}", "2", "must be at most 1.5");
	expect("{\"exclusiveMinimum\":0}", "0", "must be more than 0");
	expect("{\"exclusiveMaximum\":3}", "3", "must be less than 3");
	expect("{\"exclusiveMaximum\":9223372036854775807}", "9223372036854775806", NULL);
	expect("{\"multipleOf\":0.1}", "0.3", NULL);
	expect("{\"multipleOf\":5}", "12", "must be a multiple of 5");
	expect("{\"multipleOf\":2}", "9007199254740993", "must be a multiple of 2");
	expect("{\"multipleOf\":2}", "-9007199254740992", NULL);
	expect("{\"minimum\":9007199254740993}", "9007199254740992.0",
	       "must be at least 9007199254740993");
	expect("{\"maximum\":9007199254740993}", "9007199254740994",
	       "must be at most 9007199254740993");
	expect("{\"maximum\":-9223372036854775808}", "0", "must be at most -9223372036854775808");
	expect("{\"exclusiveMinimum\":9007199254740992.0}", "9007199254740992",
	       "must be more than 9007199254740992");
	expect("{\"exclusiveMaximum\":1234567890123456789}", "1234567890123456789",
	       "must be less than 1234567890123456789");
	expect("{\"maximum\":1e30}", "1e31", "must be at most 1e+30");
	expect("{\"maximum\":0.1}", "1", "must be at most 0.1");
}

static void test_combinations(void **state UNUSED)
{
	const char *one = "{\"oneOf\":[{\"type\":\"integer\"},{\"type\":\"number\"}]}";

	expect("{\"anyOf\":[{\"type\":\"string\"},{\"type\":\"null\"}]}", "null", NULL);
	expect("{\"anyOf\":[{\"type\":\"string\"}]}", "1", "fits none of the allowed forms");
	expect(one, "1.5", NULL);
	expect(one, "1", "fits more than one of the allowed forms");
	expect("{\"allOf\":[{\"required\":[\"a\"]},{\"required\":[\"b\"]}]}", "{\"a\":1}",
	       "b: is missing");
	expect("{\"not\":{\"type\":\"string\"}}", "1", NULL);
	expect("{\"not\":{\"type\":\"string\"}}", "\"a\"", "has a form that is not allowed");
}

static void test_references(void **state UNUSED)
{
	const char *tree = "{\"type\":\"object\",\"properties\":{\"next\":{\"$ref\":\"#\"}},"
			   "\"required\":[\"v\"]}";

	expect("{\"properties\":{\"a\":{\"$ref\":\"#/$defs/x~1y\"}},"
	       "\"$defs\":{\"x/y\":{\"type\":\"string\"}}}",
	       "{\"a\":1}", "a: must be a string, not an integer");
	expect(tree, "{\"v\":1,\"next\":{\"v\":2}}", NULL);
	expect(tree, "{\"v\":1,\"next\":{}}", "next.v: is missing");
	expect("{\"$ref\":\"#/nowhere\"}", "1", "cannot be checked: the schema has no #/nowhere");
	expect("{\"$ref\":\"http://x/y\"}", "1", "cannot be checked: the schema has no http://x/y");
}

/* "#..." is a percent-encoded pointer, as in URIs. */
static void test_encoded_references(void **state UNUSED)
{
	static const char *const bad = "must be a string, not an integer";
	static const char *const refs[][2] = {
		{ "#/$defs/x%20y", "x y" },         { "#/%24defs/x%20y", "x y" },
		{ "#/$defs/x y", "x y" },           { "#/$defs/%c3%BC", "\xc3\xbc" },
		{ "#/$defs/\xc3\xbc", "\xc3\xbc" }, { "#/$defs/a%7E1b", "a/b" },
		{ "#/$defs/a~0b", "a~b" },          { "#/$defs/a~01b", "a~1b" },
		{ "#/$defs/a~b", "a~b" },           { "#/$defs/50%25", "50%" },
		{ "#/$defs/50%", "50%" },           { "#/$defs/a%2", "a%2" },
		{ "#%2F$defs%2Fa", "a" },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(refs); i++) {
		json_auto_t *schema = json_pack("{s:s,s:{s:{s:s}}}", "$ref", refs[i][0], "$defs",
						refs[i][1], "type", "string");
		char *text = json_dumps(schema, 0);

		assert_non_null(text);
		expect(text, "1", bad);
		free(text);
	}
	expect("{\"$ref\":\"#/$defs/a%2Fb\",\"$defs\":{\"a/b\":{}}}", "1",
	       "cannot be checked: the schema has no #/$defs/a%2Fb");
	expect("{\"$ref\":\"#/$defs/a%00\",\"$defs\":{\"a\":{}}}", "1",
	       "cannot be checked: the schema has no #/$defs/a%00");
	expect("{\"$ref\":\"#/anyOf/1\",\"anyOf\":[true,{\"type\":\"string\"}]}", "1", bad);
	expect("{\"$ref\":\"#/anyOf/x\",\"anyOf\":[true]}", "1",
	       "cannot be checked: the schema has no #/anyOf/x");
}

static void test_anchors(void **state UNUSED)
{
	static const char *const bad = "must be a string, not an integer";

	expect("{\"$ref\":\"#foo\",\"$defs\":{\"x\":{\"$anchor\":\"foo\",\"type\":\"string\"}}}",
	       "1", bad);
	expect("{\"$anchor\":\"top\",\"properties\":{\"a\":{\"$ref\":\"#top\"}},"
	       "\"required\":[\"v\"]}",
	       "{\"v\":1,\"a\":{}}", "a.v: is missing");
	/* a value that looks like a schema is not a schema */
	expect("{\"$ref\":\"#foo\",\"enum\":[{\"$anchor\":\"foo\"}]}", "1",
	       "cannot be checked: the schema has no #foo");
	expect("{\"$ref\":\"#foo\",\"$anchor\":1}", "1",
	       "cannot be checked: the schema has no #foo");
}

/* One schema never ends, another takes 2^200 steps. */
static void test_bounds(void **state UNUSED)
{
	expect("{\"$ref\":\"#\"}", "1", "cannot be checked: the schema asks for too many steps");
	expect("{\"anyOf\":[{\"$ref\":\"#\"},{\"$ref\":\"#\"}]}", "1",
	       "fits none of the allowed forms");
}

/* Looking for anchors takes steps, too. */
static void test_bounded_search(void **state UNUSED)
{
	json_auto_t *schema = json_pack("{s:{s:s},s:[]}", "items", "$ref", "#last", "anyOf");
	json_t *choices = json_object_get(schema, "anyOf");
	json_auto_t *list = json_array();
	struct err err = { 0 };
	size_t i;

	for (i = 0; i < 2000; i++) {
		assert_int_equal(json_array_append_new(choices, json_object()), 0);
		assert_int_equal(json_array_append_new(list, json_null()), 0);
	}
	assert_int_equal(json_array_append_new(choices, json_pack("{s:s}", "$anchor", "last")), 0);
	assert_int_equal(schema_check(schema, list, &err), -EINVAL);
	assert_non_null(strstr(err.text, "cannot be checked: the schema asks for too many steps"));
}

static void match(const char *pattern, const char *text, int want)
{
	int got = pattern_match(pattern, span_of(text));

	if (got != want)
		fail_msg("/%s/ of \"%s\": %d in place of %d", pattern, text, got, want);
}

static void test_patterns(void **state UNUSED)
{
	match("b", "abc", 1);
	match("^b", "abc", 0);
	match("^[\\w.\\-]+@\\w+\\.\\w{2,}$", "a.b-c@example.org", 1);
	match("^[\\w.\\-]+@\\w+\\.\\w{2,}$", "a.b-c@example", 0);
	match("^(?:ab)+?$", "abab", 1);
	match("^\\s*$", " \t\n", 1);
	match("^\\S+$", "a b", 0);
	match("^[^\\d]$", "5", 0);
	match("^[^\\d]$", "x", 1);
	match("^[\\]a]$", "]", 1);
	match("^[\\[]$", "[", 1);
	match("^[\\^]$", "^", 1);
	match("^[\\^-]$", "-", 1);
	match("^[-^]$", "a", 0);
	match("^[a\\\\]$", "\\", 1);
	match("^[a-c]$", "b", 1);
	match("^[a\\-c]$", "b", 0);
	match("^.$", "\xc3\xbc", 1);
	match("^.$", "\n", 0);
	match("a\\/b", "a/b", 1);
	match("\\bcat\\b", "a cat.", 1);
	match("\\bcat\\b", "concat", 0);
	match("a{2}", "aa", 1);
	match("", "x", 1);
	match("^(?!x)", "x", 0);
	match("^(?!x)", "y", 1);
	match("^(?<c>a|b)\\k<c>$", "bb", 1);
	match("^(a)\\1$", "aa", 1);
	match("^\\u0041$", "A", 1);
	match("^\\u{1F600}$", "\xf0\x9f\x98\x80", 1);
	match("^[\xc3\xa4-\xc3\xbc]$", "\xc3\xb6", 1);
	match("^\\p{Lu}$", "\xc3\x84", 1);
	match("a$", "a\n", 0);
	match("[a", "a", -ENOTSUP);
	match("(a", "a", -ENOTSUP);
	match("a\\", "a", -ENOTSUP);
	match("[]", "a", 0);
	match("[\\", "a", -ENOTSUP);
}

/* Patterns of a stranger's server: one that takes too much memory or time is given up soon. */
static void test_hostile_patterns(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf deep = { 0 };
	CLEANUP(buf_release) struct buf text = { 0 };
	int i;

	match("^[a-z]{0,4096}$", "aaa", 1);
	match("^.{0,32767}$", "aaa", 1);
	match("^[a-z]{1,5000}$", "aaa", 1);
	match("^((a{1,200}){1,200}){1,200}$", "aaa", -ENOTSUP);
	for (i = 0; i < 50000; i++)
		buf_char(&deep, '(');
	match(buf_cstr(&deep), "a", -ENOTSUP);
	for (i = 0; i < 1000000; i++)
		buf_char(&text, 'a');
	match("^[a-z]*$", buf_cstr(&text), 1);
	match("^(?:aa)*$", text.data, 1);
	match("^(a+)+[bd]$", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaac", -ENOTSUP);
	match("^(?R)*$", "a", -ENOTSUP);
}

/* Many such patterns in one schema are given up soon, too. */
static void test_many_hostile_patterns(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf schema = { 0 };
	int i;

	buf_text(&schema, "{\"allOf\":[{\"pattern\":\"a\"}");
	for (i = 0; i < 1000; i++)
		buf_text(&schema, ",{\"pattern\":\"^(a|a)+[bd]$\"}");
	buf_text(&schema, "]}");
	expect(buf_cstr(&schema), "\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaac\"",
	       "cannot be checked: the schema's patterns take too long");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_types),
		cmocka_unit_test(test_choices),
		cmocka_unit_test(test_objects),
		cmocka_unit_test(test_lists),
		cmocka_unit_test(test_strings),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_combinations),
		cmocka_unit_test(test_references),
		cmocka_unit_test(test_encoded_references),
		cmocka_unit_test(test_anchors),
		cmocka_unit_test(test_equal),
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_bounded_search),
		cmocka_unit_test(test_patterns),
		cmocka_unit_test(test_hostile_patterns),
		cmocka_unit_test(test_many_hostile_patterns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

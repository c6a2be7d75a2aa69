/*
 * JSON as text: the canonical form, what is refused, and what is merely not
 * complete yet.
 */
#include "base/json_text.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static void expect(const char *text, const char *want)
{
	CLEANUP(buf_release) struct buf out = { 0 };
	CLEANUP(buf_release) struct buf again = { 0 };
	struct err err = { 0 };
	int r = json_canonical_text(span_of(text), JSON_DEPTH_FREE, &out, &err);

	if (r < 0)
		fail_msg("%s: %s: %s", text, err_name(r), err.text);
	assert_string_equal(buf_cstr(&out), want);
	assert_int_equal(json_canonical_text(span_of(want), JSON_DEPTH_FREE, &again, NULL), 0);
	assert_string_equal(buf_cstr(&again), want);
}

static void expect_code(struct span text, int code)
{
	CLEANUP(buf_release) struct buf out = { 0 };
	struct err err = { 0 };
	struct json_scan s = json_scan_of(text, JSON_DEPTH_FREE, NULL);
	struct span value;
	int r = json_canonical_text(text, JSON_DEPTH_FREE, &out, &err);

	if (r != code)
		fail_msg("'%.*s' gives %s (%s), not %s", (int)MIN(text.len, 100), text.data,
			 r ? err_name(r) : "0", err.text, code ? err_name(code) : "0");
	if (code < 0) {
		assert_int_equal(err.code, code);
		assert_string_not_equal(err.text, "");
	}
	/* Checking without writing says the same. */
	r = json_raw(&s, &value);
	if (r == 0)
		r = json_end(&s);
	if (r != code)
		fail_msg("'%.*s' as raw text gives %s", (int)MIN(text.len, 100), text.data,
			 r ? err_name(r) : "0");
}

static void expect_wrong(const char *text)
{
	expect_code(span_of(text), -EINVAL);
}

static void test_canonical(void **state UNUSED)
{
	expect(" null ", "null");
	expect("\t[ ]\r\n", "[]");
	expect("{ }", "{}");
	expect("{ \"b\" : 1 , \"a\" : [ true , false , null ] }",
	       "{\"b\":1,\"a\":[true,false,null]}");
	expect("[[],[[]],{\"\":{}}]", "[[],[[]],{\"\":{}}]");
	expect("\"two  spaces\"", "\"two  spaces\"");
}

static void test_escapes(void **state UNUSED)
{
	expect("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\\"\\\\/\\b\\f\\n\\r\\t\"");
	expect("\"\\u0041\\u00e9\\u20AC\"", "\"A\xc3\xa9\xe2\x82\xac\"");
	expect("\"\\u0000\\u0001\\u001F\\u0008\"", "\"\\u0000\\u0001\\u001f\\b\"");
	expect("\"\\u007f\\u2028\\u2029\"", "\"\x7f\xe2\x80\xa8\xe2\x80\xa9\"");
	expect("\"\\u0022\\u005c\\u002f\"", "\"\\\"\\\\/\"");
	expect("\"\\ud83d\\uDC1D\"", "\"\xf0\x9f\x90\x9d\"");
	expect("\"\\udbff\\udfff\\ud800\\udc00\"", "\"\xf4\x8f\xbf\xbf\xf0\x90\x80\x80\"");
	expect("\"\\ufffe\\uffff\"", "\"\xef\xbf\xbe\xef\xbf\xbf\"");
	expect("{\"\\u0061\":\"\\u0062\"}", "{\"a\":\"b\"}");
}

static void test_surrogates(void **state UNUSED)
{
	expect_wrong("\"\\ud800x\"");
	expect_wrong("\"\\ud800\\n\"");
	expect_wrong("\"\\ud800\\u0041\"");
	expect_wrong("\"\\ud800\\ud800\"");
	expect_wrong("\"\\udc00\"");
	expect_wrong("\"\\udfff\\ud800\"");
	expect_wrong("\"\\ud800\""); /* the text is whole: no more can mend it */
	expect_wrong("{\"\\udead\":1}");
}

static void test_utf8(void **state UNUSED)
{
	expect_wrong("\"\x80\"");
	expect_wrong("\"\xc3\"");
	expect_wrong("\"\xc3\\n\"");
	expect_wrong("\"\xc0\xaf\"");
	expect_wrong("\"\xe0\x80\xaf\"");
	expect_wrong("\"\xed\xa0\x80\"");
	expect_wrong("\"\xf4\x90\x80\x80\"");
	expect_wrong("\"\xf8\x88\x80\x80\x80\"");
	expect_wrong("\xef\xbb\xbf{}"); /* a byte order mark */
	expect_wrong("{\"\xff\":1}");
	expect("\"\xf4\x8f\xbf\xbf\xef\xbf\xbd\"", "\"\xf4\x8f\xbf\xbf\xef\xbf\xbd\"");
}

static void test_numbers(void **state UNUSED)
{
	static const char *const kept[] = {
		"0",
		"-0",
		"1.0",
		"1E+2",
		"1e-2",
		"0.10",
		"-0.0",
		"9223372036854775807",
		"9223372036854775808",
		"123456789012345678901234567890",
		"1e400",
		"-1E0",
		"0e0",
		"3.141592653589793238462643383279",
	};
	static const char *const wrong[] = {
		"+1",    "01",    "-01", "00",  ".5",       "0x10",      "1.e2",
		"--1",   "1e+e",  "1,",  "NaN", "Infinity", "-Infinity", "1.5.5",
		"1_000", "1e5.0", "-a",  "1.x", "2ex",
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(kept); i++)
		expect(kept[i], kept[i]);
	for (i = 0; i < ARRAY_SIZE(wrong); i++)
		expect_wrong(wrong[i]);
	expect_code(SPAN("5."), -ENODATA);
	expect_code(SPAN("-"), -ENODATA);
	expect_code(SPAN("1e+"), -ENODATA);
	expect_wrong("[5.]");
	expect_wrong("[-]");
	expect_wrong("[1e]");
}

static void test_number_limit(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf text = { 0 };
	int i;

	for (i = 0; i < JSON_NUMBER_MAX; i++)
		buf_char(&text, '7');
	expect(buf_cstr(&text), buf_cstr(&text));
	buf_char(&text, '7');
	expect_code(buf_span(&text), -EINVAL);
}

static void test_syntax(void **state UNUSED)
{
	static const char *const wrong[] = {
		"}",
		"]",
		",",
		":",
		"[1,]",
		"[,1]",
		"[1 2]",
		"[1}",
		"{]",
		"{\"a\"}",
		"{\"a\",1}",
		"{\"a\":1,}",
		"{,}",
		"{a:1}",
		"{1:2}",
		"{'a':1}",
		"'a'",
		"True",
		"nul ",
		"nulL",
		"truefalse",
		"{}{}",
		"1 2",
		"[] x",
		"\"a\nb\"",
		"\"\x01\"",
		"\"\\x41\"",
		"\"\\a\"",
		"\"\\u00g0\"",
		"\"\\'\"",
		"/**/1",
		"// c\n1",
		"1 // c",
		"undefined",
		"\x0c"
		"1",
		"\xc2\xa0"
		"1",
		"{\"a\":}",
		"{\"a\"::1}",
		"{\"a\":1 \"b\":2}",
		"[1,,2]",
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(wrong); i++)
		expect_wrong(wrong[i]);
	expect_code(SPAN("\0"), -EINVAL);
	expect_code(SPAN("\"\0\""), -EINVAL);
	expect_code(SPAN("1\0"), -EINVAL);
	expect_code(SPAN("\"\\\0\""), -EINVAL);
}

static void test_repeated_members(void **state UNUSED)
{
	expect("{\"a\":1,\"a\":2}", "{\"a\":2}");
	expect("{\"a\":1,\"b\":2,\"a\":3}", "{\"a\":3,\"b\":2}");
	expect("{\"a\":1,\"b\":2,\"a\":3,\"c\":4,\"b\":5,\"a\":6}", "{\"a\":6,\"b\":5,\"c\":4}");
	expect("{\"\\u0061\":1,\"a\":2}", "{\"a\":2}");
	expect("{\"a\":{\"x\":1,\"x\":2},\"a\":{\"y\":1,\"y\":[{\"z\":1,\"z\":2}]}}",
	       "{\"a\":{\"y\":[{\"z\":2}]}}");
	expect("{\"\":1,\"\":2}", "{\"\":2}");
	expect("[{\"k\":1,\"k\":2},{\"k\":3}]", "[{\"k\":2},{\"k\":3}]");
}

static void nested(struct buf *out, int depth, const char *open, const char *middle,
		   const char *close)
{
	int i;

	for (i = 0; i < depth; i++)
		buf_text(out, open);
	buf_text(out, middle);
	for (i = 0; i < depth; i++)
		buf_text(out, close);
}

static void test_depth(void **state UNUSED)
{
	static const struct {
		const char *open, *middle, *close;
	} kinds[] = { { "[", "", "]" }, { "{\"a\":", "1", "}" }, { "[{\"a\":", "[]", "}]" } };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		CLEANUP(buf_release) struct buf fits = { 0 };
		CLEANUP(buf_release) struct buf over = { 0 };
		int each = i == 2 ? 2 : 1;
		int most = i == 2 ? (JSON_DEPTH_FREE - 1) / each : JSON_DEPTH_FREE;

		nested(&fits, most, kinds[i].open, kinds[i].middle, kinds[i].close);
		expect(buf_cstr(&fits), buf_cstr(&fits));
		nested(&over, most + 1, kinds[i].open, kinds[i].middle, kinds[i].close);
		expect_code(buf_span(&over), -EINVAL);
	}
	/* Many siblings are not depth. */
	expect("[[],[],[],{},{},[[]]]", "[[],[],[],{},{},[[]]]");
}

static const char *const samples[] = {
	"{\"name\":\"J\\u00f6rg \xc3\xb6\xe2\x82\xac\xf0\x9f\x90\x9d "
	"\\ud83d\\udc1d\",\"n\":[0,-1.5e+3,"
	"true,false,null]}",
	"[ {\"a\" : {\"b\" : [ [ ] , { } ]}} , \"\\\\\\\"\\n\" ]",
	"\"\\u0000\\t\"",
	"true",
	"null",
	"{\"k\":-0.5,\"k\":\"\"}",
	" \r\n\t[1,2 , 3]",
};

/* A text that is cut anywhere is incomplete, never wrong. */
static void test_prefixes(void **state UNUSED)
{
	size_t i;
	size_t n;

	for (i = 0; i < ARRAY_SIZE(samples); i++) {
		struct span whole = span_of(samples[i]);

		for (n = 0; n < whole.len; n++)
			expect_code(span_sub(whole, 0, n), -ENODATA);
		expect_code(whole, 0);
	}
	for (n = 1; n <= 4; n++) /* a number may always go on */
		expect_code(span_sub(SPAN("1234"), 0, n), 0);
}

/* ...and one wrong byte at its end is wrong, however much is missing. */
static void test_spoilt_prefixes(void **state UNUSED)
{
	size_t i;
	size_t n;

	for (i = 0; i < ARRAY_SIZE(samples); i++) {
		struct span whole = span_of(samples[i]);

		for (n = 0; n <= whole.len; n++) {
			CLEANUP(buf_release) struct buf text = { 0 };

			buf_span_add(&text, span_sub(whole, 0, n));
			buf_char(&text, '\x01');
			expect_code(buf_span(&text), -EINVAL);
		}
	}
}

static void test_errors_name_the_place(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf out = { 0 };
	struct err err = { 0 };

	assert_int_equal(json_canonical_text(SPAN("{\"a\": x}"), 8, &out, &err), -EINVAL);
	assert_non_null(strstr(err.text, "byte 7"));
	assert_non_null(strstr(err.text, "'x'"));
	assert_int_equal(json_canonical_text(SPAN("[1,\x1b]"), 8, &out, &err), -EINVAL);
	assert_non_null(strstr(err.text, "0x1b"));
}

static void test_walk(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf key = { 0 };
	CLEANUP(buf_release) struct buf seen = { 0 };
	struct json_scan s = json_scan_of(SPAN(" {\"\\u0061\" : [1, 2] , \"b\":\"x\" } "), 2, NULL);
	struct span value;
	bool first = true;

	assert_int_equal(json_peek(&s), '{');
	assert_int_equal(json_open(&s, '{'), 0);
	assert_int_equal(json_key(&s, &first, &key), 1);
	assert_string_equal(buf_cstr(&key), "a");
	assert_int_equal(json_peek(&s), '[');
	assert_int_equal(json_raw(&s, &value), 0);
	assert_true(span_is(value, "[1, 2]"));
	assert_int_equal(json_key(&s, &first, &key), 1);
	assert_string_equal(buf_cstr(&key), "b");
	assert_int_equal(json_take_string(&s, &seen), 0);
	assert_string_equal(buf_cstr(&seen), "x");
	assert_int_equal(json_key(&s, &first, &key), 0);
	assert_int_equal(json_end(&s), 0);

	s = json_scan_of(SPAN("[1,[2],{}]"), 3, NULL);
	first = true;
	assert_int_equal(json_open(&s, '{'), -EINVAL);
	assert_int_equal(json_open(&s, '['), 0);
	buf_clear(&seen);
	while (json_item(&s, &first) == 1) {
		assert_int_equal(json_raw(&s, &value), 0);
		buf_span_add(&seen, value);
		buf_char(&seen, '|');
	}
	assert_string_equal(buf_cstr(&seen), "1|[2]|{}|");
	assert_int_equal(json_end(&s), 0);
}

static int stop_at_b(void *arg, struct span key, struct span value)
{
	buf_span_add(arg, key);
	buf_span_add(arg, value);
	return span_is(key, "b") ? 7 : 0;
}

static void test_members(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf seen = { 0 };
	struct span object = SPAN("{\"a\":1,\"b\":{\"a\":2},\"c\":\"d\\n\"}");
	struct span value = SPAN("untouched");

	assert_int_equal(json_each(object, stop_at_b, &seen), 7);
	assert_string_equal(buf_cstr(&seen), "a1b{\"a\":2}");
	assert_int_equal(json_member(object, "d", &value), -ENOENT);
	assert_true(span_is(value, "untouched"));
	assert_int_equal(json_member(object, "b", &value), 0);
	assert_true(span_is(value, "{\"a\":2}"));
	assert_int_equal(json_member(SPAN("{}"), "b", &value), -ENOENT);
	assert_int_equal(json_member(object, "c", &value), 0);
	buf_clear(&seen);
	assert_int_equal(json_unquote(value, &seen), 0);
	assert_string_equal(buf_cstr(&seen), "d\n");
	assert_int_equal(json_unquote(SPAN("12"), &seen), -EINVAL);
}

/* Every byte and every character comes back from its quoted form. */
static void test_quote(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf text = { 0 };
	CLEANUP(buf_release) struct buf quoted = { 0 };
	CLEANUP(buf_release) struct buf back = { 0 };
	int c;

	for (c = 0; c < 128; c++)
		buf_char(&text, (char)c);
	buf_text(&text, "\xc3\xa9\xe2\x80\xa8\xf0\x9f\x90\x9d");
	json_quote(&quoted, buf_span(&text));
	assert_int_equal(json_unquote(buf_span(&quoted), &back), 0);
	assert_true(span_equal(buf_span(&back), buf_span(&text)));
	buf_clear(&back);
	assert_int_equal(json_canonical_text(buf_span(&quoted), 1, &back, NULL), 0);
	assert_true(span_equal(buf_span(&back), buf_span(&quoted)));
	buf_clear(&quoted);
	json_quote(&quoted, SPAN(""));
	assert_string_equal(buf_cstr(&quoted), "\"\"");
}

static void test_quote_lossy(void **state UNUSED)
{
	static const struct {
		struct span text;
		const char *want;
	} cases[] = {
		{ SPAN("plain"), "\"plain\"" },
		{ SPAN("a\xff"
		       "b"),
		  "\"a\xef\xbf\xbd"
		  "b\"" },
		{ SPAN("\xc3"), "\"\xef\xbf\xbd\"" },
		{ SPAN("\x80\"\n"), "\"\xef\xbf\xbd\\\"\\n\"" },
		{ SPAN("\xc3\xa9\0"), "\"\xc3\xa9\\u0000\"" },
		{ SPAN(""), "\"\"" },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		CLEANUP(buf_release) struct buf out = { 0 };

		json_quote_lossy(&out, cases[i].text);
		assert_string_equal(buf_cstr(&out), cases[i].want);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_canonical),
		cmocka_unit_test(test_escapes),
		cmocka_unit_test(test_surrogates),
		cmocka_unit_test(test_utf8),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_number_limit),
		cmocka_unit_test(test_syntax),
		cmocka_unit_test(test_repeated_members),
		cmocka_unit_test(test_depth),
		cmocka_unit_test(test_prefixes),
		cmocka_unit_test(test_spoilt_prefixes),
		cmocka_unit_test(test_errors_name_the_place),
		cmocka_unit_test(test_walk),
		cmocka_unit_test(test_members),
		cmocka_unit_test(test_quote),
		cmocka_unit_test(test_quote_lossy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * Texts: blanks, UTF-8, percent encoding.
 */
#include "base/char.h"
#include "base/percent.h"
#include "base/utf8.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static void expect_encoded(struct span text, const char *also, const char *encoded)
{
	CLEANUP(buf_release) struct buf out = { 0 };

	percent_encode(&out, text, also);
	buf_char(&out, 0);
	assert_string_equal(out.data, encoded);
}

static void test_percent_encode(void **state UNUSED)
{
	expect_encoded(SPAN(""), "", "");
	expect_encoded(SPAN("AZaz09-._~"), "", "AZaz09-._~");
	expect_encoded(SPAN("a/b c"), "", "a%2Fb%20c");
	expect_encoded(SPAN("a/b c"), "/", "a/b%20c");
	expect_encoded(SPAN("\xc3\xa9%:@"), "", "%C3%A9%25%3A%40");
	expect_encoded(SPAN("a\0b"), "/", "a%00b");
}

static void expect_decoded(struct span text, int result, const char *decoded)
{
	CLEANUP(buf_release) struct buf out = { 0 };

	assert_int_equal(percent_decode(text, &out), result);
	if (result == 0)
		assert_true(span_is(buf_span(&out), decoded));
}

static void test_percent_decode(void **state UNUSED)
{
	expect_decoded(SPAN(""), 0, "");
	expect_decoded(SPAN("a%2Fb%2f%C3%a9"), 0, "a/b/\xc3\xa9");
	expect_decoded(SPAN("%41%7E"), 0, "A~");
	expect_decoded(SPAN("%"), -EINVAL, NULL);
	expect_decoded(SPAN("a%2"), -EINVAL, NULL);
	expect_decoded(SPAN("%2g"), -EINVAL, NULL);
	expect_decoded(SPAN("% 2"), -EINVAL, NULL);
	expect_decoded(SPAN("a\0b"), -EINVAL, NULL);
	expect_decoded(SPAN("%00"), -EINVAL, NULL);
}

static void test_utf8_prefix(void **state UNUSED)
{
	static const struct {
		struct span text;
		size_t whole;
		bool cut;
	} cases[] = {
		{ SPAN(""), 0, false },
		{ SPAN("abc"), 3, false },
		{ SPAN("a\xc3\xa9"), 3, false },
		{ SPAN("a\xc3"), 1, true },
		{ SPAN("\xe2\x82"), 0, true },
		{ SPAN("\xf0\x9f\x90"), 0, true },
		{ SPAN("\xf0\x9f\x90\x9d"), 4, false },
		{ SPAN("\xf4\x8f\xbf\xbf"), 4, false },
		{ SPAN("\xf4\x90"), 0, false },
		{ SPAN("\xe0\x9f"), 0, false }, /* overlong */
		{ SPAN("\xe0\xa0"), 0, true },
		{ SPAN("\xed\xa0"), 0, false }, /* a surrogate */
		{ SPAN("\xed\x9f\xbf"), 3, false },
		{ SPAN("\xf0\x8f"), 0, false },
		{ SPAN("\xc1\x80"), 0, false },
		{ SPAN("\xf5\x80\x80\x80"), 0, false },
		{ SPAN("ab\x80"), 2, false },
		{ SPAN("\xc3z"), 0, false },
		{ SPAN("\xef\xbf\xbf\xff"), 3, false },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		bool cut = !cases[i].cut;

		assert_int_equal(utf8_prefix(cases[i].text, &cut), cases[i].whole);
		assert_int_equal(cut, cases[i].cut);
		assert_int_equal(utf8_is_valid(cases[i].text), cases[i].whole == cases[i].text.len);
	}
}

/* Every character decodes to the number that it was encoded from, and is valid. */
static void test_utf8_each(void **state UNUSED)
{
	uint32_t c;

	for (c = 0; c <= 0x10ffff; c++) {
		char bytes[UTF8_LEN_MAX];
		struct span text = { bytes, utf8_encode(c, bytes) };
		bool is_half = c >= 0xd800 && c <= 0xdfff;

		assert_int_equal(utf8_is_valid(text), !is_half);
		assert_int_equal(utf8_take(&text), is_half ? UTF8_INVALID : c);
		assert_int_equal(text.len, is_half ? 2 : 0);
	}
}

/* One invalid byte is taken at a time, and what follows is read anew. */
static void test_utf8_invalid(void **state UNUSED)
{
	static const uint32_t taken[] = { 'a',  UTF8_INVALID, UTF8_INVALID, 'b',
					  0xe9, UTF8_INVALID, UTF8_INVALID };
	struct span text = SPAN("a\xe2\x82"
				"b\xc3\xa9\xf0\x9f");
	CLEANUP(buf_release) struct buf out = { 0 };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(taken); i++)
		assert_int_equal(utf8_take(&text), taken[i]);
	assert_int_equal(text.len, 0);
	utf8_put(&out, 'a');
	utf8_put(&out, 0x20ac);
	assert_true(span_is(buf_span(&out), "a\xe2\x82\xac"));
}

static void test_blanks(void **state UNUSED)
{
	int c;

	for (c = 0; c < 256; c++)
		assert_int_equal(char_is_blank((char)c), c && strchr(" \t\r\n", c));
	assert_true(span_is_blank(SPAN("")));
	assert_true(span_is_blank((struct span){ 0 }));
	assert_true(span_is_blank(SPAN(" \t\r\n")));
	assert_false(span_is_blank(SPAN(" x ")));
	assert_false(span_is_blank(SPAN(" \0 ")));
	assert_true(span_is(span_trim(SPAN("\r\n a b\t")), "a b"));
	assert_true(span_is(span_trim_start(SPAN(" a ")), "a "));
	assert_true(span_is(span_trim_end(SPAN(" a ")), " a"));
	assert_int_equal(span_trim(SPAN(" \n")).len, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_blanks),         cmocka_unit_test(test_percent_encode),
		cmocka_unit_test(test_percent_decode), cmocka_unit_test(test_utf8_prefix),
		cmocka_unit_test(test_utf8_each),      cmocka_unit_test(test_utf8_invalid),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

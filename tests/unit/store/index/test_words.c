/*
 * Words: how texts are taken apart.
 */
#include "store/index/words.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static void expect(struct span text, const char *want)
{
	CLEANUP(words_release) struct words words = { 0 };
	CLEANUP(buf_release) struct buf got = { 0 };
	struct span left;
	struct span word;
	size_t count = 0;

	assert_int_equal(words_add(&words, text, NULL), 0);
	for (left = buf_span(&words.list); words_take(&left, &word); count++) {
		buf_text(&got, count ? "|" : "");
		buf_span_add(&got, word);
	}
	assert_string_equal(buf_cstr(&got), want);
	assert_int_equal(words.count, count);
}

#define EXPECT(text, want) expect(SPAN(text), want)

static void test_words(void **state UNUSED)
{
	EXPECT("", "");
	EXPECT(" \t\n.,;:!?-_/'\"()[]{}<>@#$%^&*+=~`|\\", "");
	EXPECT("The quick, brown FOX; the fox!", "the|quick|brown|fox");
	EXPECT("don't e-mail load_memory v1.2 x86", "don|t|e|mail|load|memory|v1|2|x86");
	EXPECT("a\0b", "a|b");
	EXPECT("\xc2\xa0x\xe2\x80\x94y\xe2\x80\xa6z", "x|y|z"); /* blank, dash, dots of Unicode */
	EXPECT("\xf0\x9f\x98\x80 smile", "smile");
}

static void test_case(void **state UNUSED)
{
	EXPECT("ÄÖÜ äöü Straße ÉTÉ été", "äöü|straße|été");
	EXPECT("ΣΊΣΥΦΟΣ σίσυφος", "σίσυφοσ");
	EXPECT("ЖИЗНЬ жизнь Ёлка", "жизнь|ёлка");
	EXPECT("ĄĆĘ ąćę İI ıi", "ąćę|ii");
	EXPECT("\xef\xbc\xa1\xef\xbc\xa2\xef\xbc\x91 ab1", "ab1"); /* of full width */
	EXPECT("e\xcc\x81t", "et");                                /* an accent of its own */
	EXPECT("한국어 텍스트", "한국어|텍스트");
	EXPECT("مرحبا بالعالم", "مرحبا|بالعالم");
}

static void test_no_blanks(void **state UNUSED)
{
	EXPECT("東京都", "東|京|東京|都|京都");
	EXPECT("東京。京都", "東|京|東京|都|京都");
	EXPECT("ひらカナ", "ひ|ら|ひら|カ|らカ|ナ|カナ");
	EXPECT("iPhone15を買う", "iphone15|を|買|を買|う|買う");
	EXPECT("コーヒー", "コ|ー|コー|ヒ|ーヒ|ヒー");
	EXPECT("ไทย", "ไ|ท|ไท|ย|ทย");
	EXPECT("\xf0\xa0\x80\x80", "\xf0\xa0\x80\x80"); /* outside of the first plane */
}

static void test_not_utf8(void **state UNUSED)
{
	EXPECT("a\xff\xfe"
	       "b",
	       "a|b");
	EXPECT("a\xc3", "a");
	EXPECT("a\xe2\x82", "a");
	EXPECT("\x80\xbf"
	       "a\xf5\x80\x80\x80",
	       "a");
	EXPECT("\xf0\x9f\x98", "");
}

static void test_limits(void **state UNUSED)
{
	CLEANUP(words_release) struct words few = { .max = 3 };
	CLEANUP(words_release) struct words many = { 0 };
	CLEANUP(buf_release) struct buf text = { 0 };
	CLEANUP(buf_release) struct buf want = { 0 };
	size_t i;

	for (i = 0; i < WORD_MAX; i++)
		buf_char(&want, 'x');
	for (i = 0; i < 1000; i++)
		buf_char(&text, 'X');
	expect(buf_span(&text), buf_cstr(&want));
	/* Cut between characters, and nothing behind the cut. */
	buf_clear(&text);
	buf_clear(&want);
	for (i = 0; i < WORD_MAX - 1; i++)
		buf_char(&want, 'a');
	buf_span_add(&text, buf_span(&want));
	buf_text(&text, "éb c");
	buf_text(&want, "|c");
	expect(buf_span(&text), buf_cstr(&want));

	assert_int_equal(words_add(&few, SPAN("a b a c d e"), NULL), 0);
	assert_int_equal(words_add(&few, SPAN("f"), NULL), 0);
	assert_int_equal(few.count, 3);

	buf_clear(&text);
	for (i = 0; i < 300000; i++)
		buf_printf(&text, "word%zu ", i);
	assert_int_equal(words_add(&many, buf_span(&text), NULL), 0);
	assert_in_range(many.list.len, WORDS_BYTES_MAX - 2 * WORD_MAX, WORDS_BYTES_MAX);
	assert_in_range(many.count, 40000, 60000);
	i = many.count;
	assert_int_equal(words_add(&many, SPAN("word0 word1 more"), NULL), 0);
	assert_int_equal(many.count, i);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words),     cmocka_unit_test(test_case),
		cmocka_unit_test(test_no_blanks), cmocka_unit_test(test_not_utf8),
		cmocka_unit_test(test_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

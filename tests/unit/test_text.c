/*
 * Texts: percent encoding.
 */
#include "base/percent.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_percent_encode),
		cmocka_unit_test(test_percent_decode),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * Bytes: what a buf holds after each step, and how it remembers a failure.
 */
#include "base/buf.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static void test_spans(void **state UNUSED)
{
	static const struct {
		struct span a, b;
		int order;
	} rows[] = {
		{ SPAN(""), SPAN(""), 0 },          { SPAN(""), SPAN("a"), -1 },
		{ SPAN("a"), SPAN("ab"), -1 },      { SPAN("ab"), SPAN("b"), -1 },
		{ SPAN("a\0b"), SPAN("a\0c"), -1 }, { SPAN("\x7f"), SPAN("\x80"), -1 },
		{ SPAN("\xff"), SPAN("\xff"), 0 },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		int r = span_compare(rows[i].a, rows[i].b);
		int back = span_compare(rows[i].b, rows[i].a);

		assert_int_equal((r > 0) - (r < 0), rows[i].order);
		assert_int_equal((back > 0) - (back < 0), -rows[i].order);
		assert_int_equal(span_equal(rows[i].a, rows[i].b), rows[i].order == 0);
	}
	assert_int_equal(span_of(NULL).len, 0);
	assert_true(span_is(SPAN("abc"), "abc"));
	assert_false(span_is(SPAN("abc\0"), "abc"));
	assert_true(span_is(span_sub(SPAN("hello"), 1, 4), "ell"));
}

static void test_dup(void **state UNUSED)
{
	char *copy = span_dup(span_sub(SPAN("hello"), 0, 4));
	char *empty = span_dup((struct span){ 0 });

	assert_string_equal(copy, "hell");
	assert_string_equal(empty, "");
	free(copy);
	free(empty);
}

static void test_append(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf b = { 0 };
	int i;

	assert_int_equal(buf_span(&b).len, 0);
	assert_non_null(buf_span(&b).data);
	buf_add(&b, "", 0);
	buf_text(&b, "one");
	buf_char(&b, 0);
	buf_printf(&b, "%d-%s", 2, "x");
	buf_span_add(&b, SPAN("!"));
	assert_int_equal(b.len, 8);
	assert_memory_equal(b.data,
			    "one\0"
			    "2-x!",
			    8);
	assert_string_equal(buf_cstr(&b) + 4, "2-x!");
	assert_int_equal(b.len, 8);
	for (i = 0; i < 100000; i++)
		buf_printf(&b, "%05d", i);
	assert_int_equal(b.len, 8 + 500000);
	assert_memory_equal(b.data + 8 + 5 * 77777, "77777", 5);
	assert_int_equal(buf_check(&b, NULL), 0);
}

static void test_consume(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf b = { 0 };

	buf_text(&b, "abcdef");
	buf_consume(&b, 0);
	assert_string_equal(buf_cstr(&b), "abcdef");
	buf_consume(&b, 2);
	assert_string_equal(buf_cstr(&b), "cdef");
	buf_consume(&b, 4);
	assert_int_equal(b.len, 0);
	buf_text(&b, "x");
	assert_string_equal(buf_cstr(&b), "x");
	buf_clear(&b);
	assert_int_equal(b.len, 0);
	assert_true(b.cap > 0);
}

/* A buf that could not grow takes nothing more, and one check at the end tells. */
static void test_failure(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf b = { 0 };
	struct err err = { 0 };

	buf_text(&b, "kept");
	assert_false(buf_reserve(&b, SIZE_MAX - 2));
	buf_text(&b, "lost");
	buf_char(&b, 'x');
	buf_printf(&b, "%d", 1);
	assert_int_equal(b.len, 4);
	assert_int_equal(buf_check(&b, &err), -ENOMEM);
	assert_int_equal(err.code, -ENOMEM);
	buf_clear(&b);
	buf_text(&b, "again");
	assert_int_equal(buf_check(&b, NULL), 0);
	assert_string_equal(buf_cstr(&b), "again");
}

/* Whatever is in a name, an error stays one line and inside its field. */
static void test_errors(void **state UNUSED)
{
	struct err err = { 0 };
	char text[600];
	int i;

	assert_int_equal(err_set(NULL, -EIO, "%s", "x"), -EIO);
	assert_int_equal(err_set(&err, -EIO, "no '%s'", "a\nb\x1b\x7f"), -EIO);
	assert_string_equal(err.text, "no 'a b  '");
	assert_int_equal(err_wrap(&err, "agent %s", "p\n"), -EIO);
	assert_string_equal(err.text, "agent p : no 'a b  '");
	memset(text, 'y', sizeof text);
	text[sizeof text - 1] = 0;
	(void)err_set(&err, -EINVAL, "%s", text);
	for (i = 0; i < 4; i++) {
		assert_int_equal(err_wrap(&err, "%s", text), -EINVAL);
		assert_true(strlen(err.text) < sizeof err.text);
	}
	assert_string_equal(err_name(-ENOENT), "ENOENT");
	assert_string_equal(err_name(ENOENT), "ENOENT");
	assert_string_equal(err_name(-99999), "E?");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_spans),   cmocka_unit_test(test_dup),
		cmocka_unit_test(test_append),  cmocka_unit_test(test_consume),
		cmocka_unit_test(test_failure), cmocka_unit_test(test_errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * Names: ids to file names and back, one to one.
 */
#include "base/name.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define ROUNDS 20000

static const struct {
	struct span id;
	const char *plain;
	const char *hidden; /* NAME_HIDE_DOT; NULL: the same */
} rows[] = {
	{ SPAN("a"), "a", NULL },
	{ SPAN("report 7.txt"), "report 7.txt", NULL },
	{ SPAN("a/b"), "a%2Fb", NULL },
	{ SPAN("/"), "%2F", NULL },
	{ SPAN("%"), "%25", NULL },
	{ SPAN("%2F"), "%252F", NULL },
	{ SPAN("100%"), "100%25", NULL },
	{ SPAN("a\0b"), "a%00b", NULL },
	{ SPAN("\0"), "%00", NULL },
	{ SPAN("."), "%2E", NULL },
	{ SPAN(".."), "%2E%2E", NULL },
	{ SPAN("..."), "...", "%2E.." },
	{ SPAN(".a"), ".a", "%2Ea" },
	{ SPAN("a."), "a.", NULL },
	{ SPAN("./"), ".%2F", "%2E%2F" },
	{ SPAN(".%"), ".%25", "%2E%25" },
	{ SPAN("tab\there\n"), "tab\there\n", NULL },
	{ SPAN(" "), " ", NULL },
	{ SPAN("user:x"), "user:x", NULL },
	{ SPAN("\xc3\xa9\xe2\x82\xac\xf0\x9f\x90\x9d"), "\xc3\xa9\xe2\x82\xac\xf0\x9f\x90\x9d",
	  NULL },
};

static void expect_pair(struct span id, enum name_style style, const char *name)
{
	CLEANUP(buf_release) struct buf made = { 0 };
	CLEANUP(buf_release) struct buf back = { 0 };

	buf_text(&made, "<");
	assert_int_equal(name_encode(id, style, &made, NULL), 0);
	assert_string_equal(buf_cstr(&made) + 1, name);
	buf_text(&back, "<");
	assert_int_equal(name_decode(span_of(name), style, &back, NULL), 0);
	assert_int_equal(back.len, id.len + 1);
	assert_memory_equal(back.data + 1, id.data, id.len);
}

static void test_table(void **state UNUSED)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		expect_pair(rows[i].id, NAME_PLAIN, rows[i].plain);
		expect_pair(rows[i].id, NAME_HIDE_DOT,
			    rows[i].hidden ? rows[i].hidden : rows[i].plain);
	}
}

static void expect_refused(struct span name, enum name_style style, int code)
{
	CLEANUP(buf_release) struct buf id = { 0 };
	struct err err = { 0 };
	int r;

	buf_text(&id, "kept");
	r = name_decode(name, style, &id, &err);
	if (r != code)
		fail_msg("'%.*s': %s", (int)name.len, name.data, err_name(r));
	assert_int_equal(err.code, code);
	assert_string_not_equal(err.text, "");
	assert_string_equal(buf_cstr(&id), "kept");
}

/* Only what name_encode makes is a name. */
static void test_refused_names(void **state UNUSED)
{
	static const struct span both[] = {
		SPAN(""),         SPAN("."),    SPAN(".."),
		SPAN("%"),        SPAN("a%"),   SPAN("%2"),
		SPAN("%2f"),      SPAN("%zz"),  SPAN("%41"),
		SPAN("a%20b"),    SPAN("a/b"),  SPAN("a\0b"),
		SPAN("%2E."),     SPAN(".%2E"), SPAN("a%2E"),
		SPAN("\xff"),     SPAN("%FF"),  SPAN("%C3%A9"),
		SPAN("%+2"),      SPAN("% 2F"), SPAN("\xed\xa0\x80"),
		SPAN("\xc0\xaf"), SPAN("\xc3"), SPAN("%%25"),
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(both); i++) {
		expect_refused(both[i], NAME_PLAIN, -EINVAL);
		expect_refused(both[i], NAME_HIDE_DOT, -EINVAL);
	}
	expect_refused(SPAN("%2Ea"), NAME_PLAIN, -EINVAL);
	expect_refused(SPAN(".a"), NAME_HIDE_DOT, -EINVAL);
	expect_refused(SPAN("..."), NAME_HIDE_DOT, -EINVAL);
}

static void expect_id_refused(struct span id, int code)
{
	CLEANUP(buf_release) struct buf name = { 0 };
	struct err err = { 0 };

	buf_text(&name, "kept");
	assert_int_equal(name_encode(id, NAME_PLAIN, &name, &err), code);
	assert_int_equal(err.code, code);
	assert_string_equal(buf_cstr(&name), "kept");
}

static void test_refused_ids(void **state UNUSED)
{
	expect_id_refused(SPAN(""), -EINVAL);
	expect_id_refused((struct span){ 0 }, -EINVAL);
	expect_id_refused(SPAN("\x80"), -EINVAL);
	expect_id_refused(SPAN("a\xc3"), -EINVAL);
	expect_id_refused(SPAN("\xf4\x90\x80\x80"), -EINVAL);
}

/* The limit counts the bytes of the file name. */
static void test_limits(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf id = { 0 };
	CLEANUP(buf_release) struct buf name = { 0 };
	int i;

	for (i = 0; i < NAME_LEN_MAX; i++)
		buf_char(&id, 'x');
	expect_pair(buf_span(&id), NAME_PLAIN, buf_cstr(&id));
	buf_char(&id, 'x');
	expect_id_refused(buf_span(&id), -ENAMETOOLONG);
	expect_refused(buf_span(&id), NAME_PLAIN, -ENAMETOOLONG);

	buf_clear(&id);
	for (i = 0; i < NAME_LEN_MAX / 3; i++) { /* 85 times %2F: 255 */
		buf_char(&id, '/');
		buf_text(&name, "%2F");
	}
	expect_pair(buf_span(&id), NAME_PLAIN, buf_cstr(&name));
	buf_char(&id, 'x');
	expect_id_refused(buf_span(&id), -ENAMETOOLONG);
}

static unsigned next(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(*seed >> 33);
}

/* Ids of the letters that matter; all the round trips of one seed. */
static void test_random_ids(void **state UNUSED)
{
	static const char *const letters[] = { ".", "%",        "/", "2", "E",
					       "F", "\xc3\xa9", "a", "0", "" };
	uint64_t seed = 20240607;
	int i;

	for (i = 0; i < ROUNDS; i++) {
		CLEANUP(buf_release) struct buf id = { 0 };
		CLEANUP(buf_release) struct buf name = { 0 };
		CLEANUP(buf_release) struct buf back = { 0 };
		enum name_style style = next(&seed) % 2 ? NAME_HIDE_DOT : NAME_PLAIN;
		size_t n = 1 + next(&seed) % 12;

		while (n--) {
			const char *letter = letters[next(&seed) % ARRAY_SIZE(letters)];

			buf_add(&id, letter, MAX(strlen(letter), 1)); /* "" is a NUL */
		}
		assert_int_equal(name_encode(buf_span(&id), style, &name, NULL), 0);
		assert_null(memchr(name.data, '/', name.len));
		assert_null(memchr(name.data, 0, name.len));
		assert_false(span_is(buf_span(&name), ".") || span_is(buf_span(&name), ".."));
		assert_false(style == NAME_HIDE_DOT && name.data[0] == '.');
		assert_int_equal(name_decode(buf_span(&name), style, &back, NULL), 0);
		assert_true(span_equal(buf_span(&back), buf_span(&id)));
	}
}

/* Any name that decodes encodes back to itself, so no two names mean one id. */
static void test_random_names(void **state UNUSED)
{
	static const char letters[] = ".%/25EFf0a\xc3\xa9";
	uint64_t seed = 7;
	int accepted = 0;
	int i;

	for (i = 0; i < ROUNDS; i++) {
		CLEANUP(buf_release) struct buf name = { 0 };
		CLEANUP(buf_release) struct buf id = { 0 };
		CLEANUP(buf_release) struct buf again = { 0 };
		enum name_style style = next(&seed) % 2 ? NAME_HIDE_DOT : NAME_PLAIN;
		size_t n = next(&seed) % 6;

		while (n--)
			buf_char(&name, letters[next(&seed) % (sizeof letters - 1)]);
		if (name_decode(buf_span(&name), style, &id, NULL) < 0)
			continue;
		accepted++;
		assert_int_equal(name_encode(buf_span(&id), style, &again, NULL), 0);
		assert_true(span_equal(buf_span(&again), buf_span(&name)));
	}
	assert_in_range(accepted, ROUNDS / 100, ROUNDS - 1);
}

/* Every byte by itself, and what it is spelled as. */
static void test_each_byte(void **state UNUSED)
{
	int c;

	for (c = 0; c < 256; c++) {
		char id[1] = { (char)c };
		char name[4] = { (char)c };

		if (c >= 0x80) {
			expect_id_refused((struct span){ id, 1 }, -EINVAL);
			continue;
		}
		if (c == 0 || strchr("%/.", c))
			(void)snprintf(name, sizeof name, "%%%02X", (unsigned)c);
		expect_pair((struct span){ id, 1 }, NAME_PLAIN, name);
		expect_pair((struct span){ id, 1 }, NAME_HIDE_DOT, name);
	}
}

static int by_bytes(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

#define LETTERS 9
#define LENGTH  4

/* All ids of up to four of the letters that matter: as many names as ids. */
static void test_all_short_ids(void **state UNUSED)
{
	static const char letters[] = ".%/25EFa\0";
	enum {
		ALL = LETTERS + LETTERS * LETTERS + LETTERS * LETTERS * LETTERS +
		      LETTERS * LETTERS * LETTERS * LETTERS
	};
	char **names = calloc(ALL, sizeof *names);
	int count = 0;
	int length;
	int i;

	assert_non_null(names);
	for (length = 1; length <= LENGTH; length++) {
		int digits[LENGTH] = { 0 };
		int at = 0;

		while (at < length) {
			CLEANUP(buf_release) struct buf id = { 0 };
			CLEANUP(buf_release) struct buf name = { 0 };

			for (i = 0; i < length; i++)
				buf_char(&id, letters[digits[i]]);
			assert_int_equal(name_encode(buf_span(&id), NAME_PLAIN, &name, NULL), 0);
			expect_pair(buf_span(&id), NAME_PLAIN, buf_cstr(&name));
			names[count++] = strdup(buf_cstr(&name));
			for (at = 0; at < length && ++digits[at] == LETTERS; at++)
				digits[at] = 0;
		}
	}
	assert_int_equal(count, ALL);
	qsort(names, ALL, sizeof *names, by_bytes);
	for (i = 1; i < ALL; i++)
		assert_string_not_equal(names[i - 1], names[i]);
	for (i = 0; i < ALL; i++)
		free(names[i]);
	free(names);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),       cmocka_unit_test(test_refused_names),
		cmocka_unit_test(test_refused_ids), cmocka_unit_test(test_limits),
		cmocka_unit_test(test_random_ids),  cmocka_unit_test(test_random_names),
		cmocka_unit_test(test_each_byte),   cmocka_unit_test(test_all_short_ids),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * Messages being closed: for how long opens wait.
 */
#include "fs/tree/closing.h"

#include "base/cc.h"
#include "base/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void test_one(void **state UNUSED)
{
	uint64_t now = clock_monotonic();

	assert_int_equal(closing_deadline(1), 0);
	closing_begin(1);
	assert_true(closing_deadline(1) > now);
	assert_int_equal(closing_deadline(2), 0);
	assert_int_equal(closing_deadline(0), 0); /* no object */
	closing_hold(1);
	assert_true(closing_deadline(1) == UINT64_MAX);
	closing_end(1);
	assert_int_equal(closing_deadline(1), 0);
	closing_end(1); /* once too often does no harm */
}

/* With several messages of a session the last one counts. */
static void test_several(void **state UNUSED)
{
	closing_begin(1);
	closing_begin(1);
	closing_begin(2);
	closing_hold(1);
	assert_true(closing_deadline(1) == UINT64_MAX);
	closing_end(1);
	assert_true(closing_deadline(1) != 0);
	closing_end(1);
	assert_int_equal(closing_deadline(1), 0);
	assert_true(closing_deadline(2) != 0);
	closing_end(2);
}

/* A close that never comes does not keep anybody out for ever. */
static void test_over(void **state UNUSED)
{
	closing_begin(1);
	while (closing_deadline(1))
		;
	closing_end(1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one),
		cmocka_unit_test(test_several),
		cmocka_unit_test(test_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

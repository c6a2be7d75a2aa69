/*
 * The ring of recent turns.
 */
#include "runner/recent.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static void check(const struct recent *recent, uint64_t first, uint64_t last)
{
	CLEANUP(buf_release) struct buf list = { 0 };
	const struct turn_place *places;
	uint64_t n;

	recent_list(recent, &list);
	assert_int_equal(list.len, (last - first + 1) * sizeof *places);
	places = (const struct turn_place *)(const void *)list.data;
	for (n = first; n <= last; n++) {
		assert_int_equal(places[n - first].n, n);
		assert_int_equal(places[n - first].session.session, 1000 + n);
	}
}

static void test_ring(void **state)
{
	struct recent *recent = calloc(1, sizeof *recent);
	uint64_t n;

	(void)state;
	assert_non_null(recent);
	check(recent, 1, 0);
	for (n = 1; n <= 2 * RECENT_TURNS + 3; n++) {
		recent_add(recent, (struct ref){ 1, 2, 1000 + n }, n);
		if (n % 333 == 1 || n % RECENT_TURNS < 3)
			check(recent, n > RECENT_TURNS ? n - RECENT_TURNS + 1 : 1, n);
	}
	check(recent, RECENT_TURNS + 4, 2 * RECENT_TURNS + 3);
	free(recent);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_ring) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

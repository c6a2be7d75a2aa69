/*
 * Parked requests: who tries again, when, and why.
 */
#include "fs/tree/park.h"

#include "base/buf.h"
#include "base/clock.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static struct park park;
static struct err err;

/* A request of the test: it counts its tries, and is answered when it may be. */
struct request {
	struct parked parked;
	_Atomic bool may_answer;
	_Atomic int tries;
	_Atomic bool is_done;
	enum park_reason reason; /* of the last try */
};

static struct mutex lock = MUTEX_INIT;
static struct cond moved;

static bool again(struct parked *p, enum park_reason reason)
{
	struct request *rq = CONTAINER_OF(p, struct request, parked);
	bool done;

	mutex_lock(&lock);
	rq->tries++;
	rq->reason = reason;
	done = rq->may_answer || reason != PARK_MOVED;
	rq->is_done = done;
	cond_wake_all(&moved);
	mutex_unlock(&lock);
	return done;
}

/* As above, but a time that is over is only moved. */
static bool again_later(struct parked *p, enum park_reason reason)
{
	if (reason != PARK_TIMED_OUT || p->deadline == UINT64_MAX)
		return again(p, reason);
	(void)again(p, PARK_MOVED);
	p->deadline = UINT64_MAX;
	return false;
}

static void wait_for_tries(struct request *rq, int tries)
{
	mutex_lock(&lock);
	while (rq->tries < tries)
		cond_wait(&moved, &lock);
	mutex_unlock(&lock);
}

static void wait_until_done(struct request *rq)
{
	mutex_lock(&lock);
	while (!rq->is_done)
		cond_wait(&moved, &lock);
	mutex_unlock(&lock);
}

static void allow(struct request *rq)
{
	mutex_lock(&lock);
	rq->may_answer = true;
	mutex_unlock(&lock);
}

static int setup(void **state UNUSED)
{
	cond_init(&moved);
	park = (struct park){ 0 };
	return park_start(&park, &err);
}

static int teardown(void **state UNUSED)
{
	park_stop(&park);
	cond_release(&moved);
	return 0;
}

/* A new request tries once at once, so that no news falls between its look and its parking. */
static void test_new(void **state UNUSED)
{
	struct request rq = { .parked = { .session = 1, .again = again }, .may_answer = true };

	assert_int_equal(park_add(&park, &rq.parked), 0);
	wait_until_done(&rq);
	assert_int_equal(rq.reason, PARK_MOVED);
	park_stop(&park);
	assert_int_equal(rq.tries, 1);
}

/* A session that moves wakes its own requests, and no others. */
static void test_wake(void **state UNUSED)
{
	struct request one = { .parked = { .session = 1, .again = again } };
	struct request two = { .parked = { .session = 2, .again = again } };

	assert_int_equal(park_add_quiet(&park, &one.parked), 0);
	assert_int_equal(park_add_quiet(&park, &two.parked), 0);
	park_wake(&park, 1);
	wait_for_tries(&one, 1);
	assert_int_equal(two.tries, 0);
	assert_int_equal(park_count(&park), 2);
	allow(&one);
	park_wake(&park, 1);
	wait_until_done(&one);
	assert_int_equal(two.tries, 0);
	park_stop(&park);
	assert_int_equal(two.reason, PARK_STOPPING);
}

/* When more sessions moved than are noted, all are tried. */
static void test_wake_many(void **state UNUSED)
{
	struct request rq = { .parked = { .session = 7, .again = again }, .may_answer = true };
	uint64_t i;

	assert_int_equal(park_add_quiet(&park, &rq.parked), 0);
	for (i = 1000; i < 1000 + 10 * PARK_WOKEN_MAX && !rq.is_done; i++)
		park_wake(&park, i);
	park_wake(&park, 7);
	wait_until_done(&rq);
}

/* A time that is over is a reason to answer, unless it is moved. */
static void test_deadline(void **state UNUSED)
{
	struct request rq = {
		.parked = { .session = 1, .deadline = clock_monotonic(), .again = again }
	};
	struct request moved_on = {
		.parked = { .session = 2, .deadline = clock_monotonic(), .again = again_later }
	};

	assert_int_equal(park_add(&park, &rq.parked), 0);
	wait_until_done(&rq);
	assert_int_equal(rq.reason, PARK_TIMED_OUT);
	assert_int_equal(park_add_quiet(&park, &moved_on.parked), 0);
	park_wake(&park, 2);
	wait_for_tries(&moved_on, 1);
	allow(&moved_on);
	park_wake(&park, 2);
	wait_until_done(&moved_on);
}

/* Whoever is interrupted is answered, and so is who will not ask again. */
static void test_interrupt(void **state UNUSED)
{
	struct request one = { .parked = { .session = 1, .again = again } };
	struct request two = { .parked = { .session = 1, .owner = &park, .again = again } };

	assert_int_equal(park_add_quiet(&park, &one.parked), 0);
	assert_int_equal(park_add_quiet(&park, &two.parked), 0);
	park_interrupt(&park, &one.parked);
	wait_until_done(&one);
	assert_int_equal(one.reason, PARK_INTERRUPTED);
	assert_false(two.is_done);
	park_leave(&park, &park);
	wait_until_done(&two);
	assert_int_equal(two.reason, PARK_INTERRUPTED);
}

/* The end answers all, and nothing is parked after it. */
static void test_stop(void **state UNUSED)
{
	struct request rq[3];
	struct request late = { .parked = { .again = again } };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rq); i++) {
		rq[i] = (struct request){ .parked = { .session = i, .again = again } };
		assert_int_equal(park_add_quiet(&park, &rq[i].parked), 0);
	}
	park_stop(&park);
	for (i = 0; i < ARRAY_SIZE(rq); i++)
		assert_int_equal(rq[i].reason, PARK_STOPPING);
	assert_int_equal(park_count(&park), 0);
	assert_int_equal(park_add(&park, &late.parked), -ESHUTDOWN);
}

static void test_full(void **state UNUSED)
{
	struct request *rq = calloc(PARK_MAX + 1, sizeof *rq);
	size_t i;

	assert_non_null(rq);
	for (i = 0; i <= PARK_MAX; i++)
		rq[i].parked = (struct parked){ .session = 1, .again = again };
	for (i = 0; i < PARK_MAX; i++)
		assert_int_equal(park_add_quiet(&park, &rq[i].parked), 0);
	assert_int_equal(park_add(&park, &rq[PARK_MAX].parked), -EAGAIN);
	park_stop(&park);
	free(rq);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_new, setup, teardown),
		cmocka_unit_test_setup_teardown(test_wake, setup, teardown),
		cmocka_unit_test_setup_teardown(test_wake_many, setup, teardown),
		cmocka_unit_test_setup_teardown(test_deadline, setup, teardown),
		cmocka_unit_test_setup_teardown(test_interrupt, setup, teardown),
		cmocka_unit_test_setup_teardown(test_stop, setup, teardown),
		cmocka_unit_test_setup_teardown(test_full, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

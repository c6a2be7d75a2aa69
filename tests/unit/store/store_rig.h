/*
 * A store in a folder of its own for each test, on each engine in turn.
 */
#ifndef UNIT_STORE_RIG_H
#define UNIT_STORE_RIG_H

#include "store/engine/engines.h"
#include "store/session/scope.h"
#include "store/tx/store.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

extern const char *engine; /* the one that is tested */
extern char folder[64];
extern struct store *st;
extern struct ref app, user, session;
extern struct err err;

/* A call that must return so. */
#define CODE(call, code) must((call), (code), #call)
#define OK(call)         CODE(call, 0)
void must(int got, int want, const char *what);

/* Open the store of the folder, also again. */
void open_store(void);

/* The offset up to which the log of `session` is folded. */
uint64_t seal_now(void);

/* Wait until the store has dropped the rows and the files of removed scopes. */
void wait_dropped(void);

/* A new folder and store with an app, a user and a session; and away with them. */
int store_setup(void **state);
int store_teardown(void **state);

#define STORE_TEST(name) cmocka_unit_test_setup_teardown(name, store_setup, store_teardown)

/* Run tests on each engine, and return from main(). */
#define RUN_ON_ENGINES(tests)                                                                      \
	do {                                                                                       \
		const struct engine_ops *const *ops_;                                              \
		int failed_ = 0;                                                                   \
		for (ops_ = engines; *ops_; ops_++) {                                              \
			engine = (*ops_)->name;                                                    \
			failed_ += cmocka_run_group_tests_name(engine, tests, NULL, NULL);         \
		}                                                                                  \
		return failed_;                                                                    \
	} while (0)

#endif

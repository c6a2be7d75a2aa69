/*
 * A store for each test: see store_rig.h.
 */
#include "tests/unit/store/store_rig.h"

#include "base/clock.h"
#include "store/open.h"
#include "store/session/seal.h"

#include <ftw.h>
#include <sched.h>
#include <stdio.h>
#include <unistd.h>

const char *engine = "memory";
char folder[64];
struct store *st;
struct ref app, user, session;
struct err err;

void must(int got, int want, const char *what)
{
	if (got != want)
		fail_msg("%s: %s (%s), not %s", what, got < 0 ? err_name(got) : "no error",
			 err.text, want < 0 ? err_name(want) : "0");
	err = (struct err){ 0 };
}

void open_store(void)
{
	struct store_options options = { .folder = folder, .engine = engine };

	OK(store_open(&options, &st, &err));
}

static int load_seal(struct store_tx *tx, void *arg)
{
	return seal_load(tx, session.session, arg);
}

uint64_t seal_now(void)
{
	uint64_t seal = 0;

	OK(store_view(st, load_seal, &seal, &err));
	return seal;
}

static int count_row(void *arg, struct span key UNUSED, struct span value UNUSED)
{
	++*(size_t *)arg;
	return 0;
}

void wait_dropped(void)
{
	static const enum key_space spaces[] = { KEY_LOOSE, KEY_PENDING };
	uint64_t deadline = clock_monotonic() + 10ull * NSEC_PER_SEC;
	size_t left;
	size_t i;

	do {
		left = 0;
		for (i = 0; i < ARRAY_SIZE(spaces); i++) {
			struct key prefix = key_space(spaces[i]);

			OK(store_rows(st, &prefix, &prefix, count_row, &left, &err));
		}
		(void)sched_yield();
	} while (left && clock_monotonic() < deadline);
	assert_int_equal(left, 0);
}

int store_setup(void **state UNUSED)
{
	(void)snprintf(folder, sizeof folder, "/tmp/adkfs-test-XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	open_store();
	OK(scope_create(st, (struct ref){ 0 }, "app", &app, NULL, &err));
	OK(scope_create(st, app, "user", &user, NULL, &err));
	OK(scope_create(st, user, "session", &session, NULL, &err));
	return 0;
}

static int remove_entry(const char *path, const struct stat *sb UNUSED, int kind UNUSED,
			struct FTW *ftw UNUSED)
{
	return remove(path);
}

int store_teardown(void **state UNUSED)
{
	store_close(st);
	return nftw(folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

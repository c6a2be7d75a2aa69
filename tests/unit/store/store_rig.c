/*
 * A store for each test: see store_rig.h.
 */
#include "tests/unit/store/store_rig.h"

#include "store/open.h"

#include <ftw.h>
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

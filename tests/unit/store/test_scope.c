/*
 * Scopes: apps, users, sessions; and that what was removed leaves nothing.
 */
#include "store/session/scope.h"

#include "base/clock.h"
#include "store/artifact/artifact.h"
#include "store/artifact/bulk.h"
#include "store/open.h"
#include "store/remove.h"
#include "store/session/log.h"
#include "store/session/state.h"
#include "store/turn/turn.h"
#include "store/tx/key.h"
#include "tests/unit/store/store_rig.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct ref root;

static int note_scope(void *arg, const struct scope_info *info)
{
	buf_printf(arg, "%s|", info->id);
	return 0;
}

static void expect_members(struct ref parent, const char *want)
{
	CLEANUP(buf_release) struct buf seen = { 0 };
	struct scope_info info;
	size_t count = 0;
	size_t i;

	OK(scope_list(st, parent, 0, note_scope, &seen, &err));
	assert_string_equal(buf_cstr(&seen), want);
	for (i = 0; want[i]; i++)
		count += want[i] == '|';
	OK(scope_stat(st, parent, &info, &err));
	assert_int_equal(info.members, count);
}

static void test_create(void **state UNUSED)
{
	struct scope_info made;
	struct scope_info found;
	struct ref ref;
	struct ref same;

	OK(scope_create(st, user, "second one", &ref, &made, &err));
	assert_int_equal(ref.app, app.app);
	assert_int_equal(ref.user, user.user);
	assert_int_equal(ref_number(ref), made.number);
	assert_string_equal(made.id, "second one");
	assert_true(made.created > 0 && made.updated == made.created && made.stamp);
	assert_int_equal(made.log_size + made.events + made.turns + made.members, 0);
	OK(scope_find(st, user, "second one", &same, &found, &err));
	assert_memory_equal(&same, &ref, sizeof ref);
	assert_int_equal(found.number, made.number);
	CODE(scope_create(st, user, "second one", &ref, NULL, &err), -EEXIST);
	CODE(scope_find(st, user, "third", &ref, NULL, &err), -ENOENT);
	CODE(scope_find(st, user, "", &ref, NULL, &err), -ENOENT);
	/* Case and blanks count. */
	OK(scope_create(st, user, "Second one", NULL, NULL, &err));
	OK(scope_create(st, user, " second one", NULL, NULL, &err));
	expect_members(user, "session|second one|Second one| second one|");
}

static void test_ids(void **state UNUSED)
{
	char id[300];

	CODE(scope_create(st, root, "", NULL, NULL, &err), -EINVAL);
	CODE(scope_create(st, root, "\xff", NULL, NULL, &err), -EINVAL);
	memset(id, 'x', sizeof id);
	id[256] = 0;
	CODE(scope_create(st, root, id, NULL, NULL, &err), -ENAMETOOLONG);
	id[255] = 0;
	OK(scope_create(st, root, id, NULL, NULL, &err));
	id[254] = 'y';
	OK(scope_create(st, root, id, NULL, NULL, &err));
	OK(scope_find(st, root, id, NULL, NULL, &err));
	OK(scope_create(st, root, "..", NULL, NULL, &err));
	OK(scope_create(st, root, "a/b", NULL, NULL, &err));
	OK(scope_find(st, root, "a/b", NULL, NULL, &err));
}

/* One name, three places. */
static void test_levels(void **state UNUSED)
{
	struct ref a;
	struct ref u;
	struct ref s;

	OK(scope_create(st, root, "x", &a, NULL, &err));
	OK(scope_create(st, a, "x", &u, NULL, &err));
	OK(scope_create(st, u, "x", &s, NULL, &err));
	CODE(scope_find(st, app, "x", NULL, NULL, &err), -ENOENT);
	CODE(scope_find(st, user, "x", NULL, NULL, &err), -ENOENT);
	expect_members(root, "app|x|");
	expect_members(a, "x|");
	expect_members(u, "x|");
}

static int stop_second(void *arg, const struct scope_info *info UNUSED)
{
	return ++*(int *)arg == 2 ? 3 : 0;
}

static void test_stat_all(void **state UNUSED)
{
	struct scopes scopes;

	OK(scope_stat_all(st, session, &scopes, &err));
	assert_string_equal(scopes.app.id, "app");
	assert_string_equal(scopes.user.id, "user");
	assert_string_equal(scopes.session.id, "session");
	OK(scope_stat_all(st, user, &scopes, &err));
	assert_int_equal(scopes.user.number, user.user);
	assert_int_equal(scopes.session.number, 0);
	OK(scope_remove(st, session, &err));
	CODE(scope_stat_all(st, session, &scopes, &err), -ENOENT);
	OK(scope_stat_all(st, user, &scopes, &err));
}

static void test_list_from(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf seen = { 0 };
	struct ref ref[3];
	int calls = 0;

	OK(scope_create(st, user, "c", &ref[0], NULL, &err));
	OK(scope_create(st, user, "a", &ref[1], NULL, &err));
	OK(scope_create(st, user, "b", &ref[2], NULL, &err));
	OK(scope_list(st, user, ref[0].session, note_scope, &seen, &err));
	assert_string_equal(buf_cstr(&seen), "a|b|");
	CODE(scope_list(st, user, 0, stop_second, &calls, &err), 3);
	assert_int_equal(calls, 2);
	buf_clear(&seen);
	OK(scope_list(st, user, ref[2].session, note_scope, &seen, &err));
	assert_int_equal(seen.len, 0);
}

static void test_remove(void **state UNUSED)
{
	struct ref again;
	struct scope_info before;
	struct scope_info after;

	CODE(scope_remove(st, app, &err), -ENOTEMPTY);
	CODE(scope_remove(st, user, &err), -ENOTEMPTY);
	OK(scope_stat(st, user, &before, &err));
	OK(scope_remove(st, session, &err));
	OK(scope_stat(st, user, &after, &err));
	assert_true(after.members_stamp > before.members_stamp);
	CODE(scope_remove(st, session, &err), -ENOENT);
	CODE(scope_find(st, user, "session", NULL, NULL, &err), -ENOENT);
	/* The name is free, the number is not. */
	OK(scope_create(st, user, "session", &again, NULL, &err));
	assert_true(again.session > session.session);
	OK(scope_remove(st, again, &err));
	OK(scope_remove(st, user, &err));
	OK(scope_remove(st, app, &err));
	expect_members(root, "");
	CODE(scope_create(st, app, "u", NULL, NULL, &err), -ENOENT);
	CODE(scope_create(st, user, "s", NULL, NULL, &err), -ENOENT);
}

static int note_row(void *arg, struct span key, struct span value)
{
	size_t i;

	for (i = 0; i < key.len; i++) {
		if (i == 0 || (key.data[i] > ' ' && key.data[i] < 0x7f))
			buf_char(arg, key.data[i]);
		else
			buf_printf(arg, "\\%02x", (unsigned char)key.data[i]);
	}
	/* The record of a scope changes with its members: its key is enough. */
	buf_printf(arg, " %zu\n", key.data[0] == 'i' ? 0 : value.len);
	return 0;
}

static int show_rows(struct store_tx *tx, void *arg)
{
	return tx->ops->scan(tx->txn, SPAN("\0"), SPAN("\xff"), note_row, arg);
}

/* All keys of the engine. */
static void rows(struct buf *out)
{
	buf_clear(out);
	OK(store_view(st, show_rows, out, &err));
	assert_non_null(buf_cstr(out));
}

static int count_file(const char *path UNUSED, const struct stat *sb UNUSED, int kind,
		      struct FTW *ftw UNUSED)
{
	return kind == FTW_F ? 1 : 0; /* the first file ends the walk */
}

/* Whether a file of bulk bytes is left. */
static bool has_bulk(void)
{
	char path[80];

	(void)snprintf(path, sizeof path, "%s/bulk", folder);
	return nftw(path, count_file, 8, FTW_PHYS) == 1;
}

static uint64_t make_bulk(void)
{
	struct bulk_writer w;
	uint64_t number;

	OK(bulk_writer_open(&w, st, &err));
	number = w.number;
	OK(bulk_append(&w, SPAN("bytes"), &err));
	OK(bulk_drain(&w, &err));
	bulk_writer_close(&w);
	return number;
}

static void publish(struct ref scope, uint64_t parent, const char *name)
{
	CLEANUP(blob_close) struct blob blob;
	struct artifact_save save = { .scope = scope,
				      .parent = parent,
				      .name = name,
				      .full_name = name,
				      .blob = &blob,
				      .mime = "text/plain" };

	blob_init(&blob, st);
	OK(blob_write(&blob, 0, SPAN("bytes"), &err));
	OK(blob_settle(&blob, false, &err));
	OK(artifact_publish(st, &save, NULL, &err));
	blob_seal(&blob);
}

static void add_turns(struct ref where)
{
	struct turn_info info;
	int i;

	for (i = 0; i < 3; i++) {
		struct event e = { 0 };
		char invocation[16];

		(void)snprintf(invocation, sizeof invocation, "e-%d", i);
		event_set_text(&e, EVENT_AUTHOR, SPAN("user"));
		event_set_text(&e, EVENT_INVOCATION, span_of(invocation));
		OK(turn_submit(st, where, 0, &e, &info, &err));
		event_release(&e);
	}
	OK(turn_start(st, where, 1, "agent", NULL, &err));
	OK(turn_end(st, where, 1, TURN_DONE, NULL, &err));
	OK(turn_start(st, where, 2, "agent", NULL, &err));
}

static void add_log(struct ref where)
{
	CLEANUP(buf_release) struct buf text = { 0 };
	int i;

	buf_char(&text, '"');
	while (text.len < 100000)
		buf_text(&text, "long ");
	buf_char(&text, '"');
	for (i = 0; i < 12; i++) {
		struct event e = { 0 };

		event_set_text(&e, EVENT_AUTHOR, SPAN("user"));
		event_set_json(&e, EVENT_OUTPUT, buf_span(&text));
		OK(session_append(st, where, &e, 1, &err));
		event_release(&e);
	}
	OK(session_fold(st, where, &err));
}

static void add_artifacts(struct ref where)
{
	struct artifact_info dir;
	struct artifact_info inner;
	uint64_t top = ref_number(where);

	publish(where, top, "a.txt");
	publish(where, top, "a.txt");
	publish(where, top, "gone.txt");
	OK(artifact_remove(st, (struct artifact_name){ where, top, "gone.txt" }, &err));
	OK(artifact_mkdir(st, (struct artifact_name){ where, top, "d" }, "d", NULL, &dir, &err));
	OK(artifact_mkdir(st, (struct artifact_name){ where, dir.number, "e" }, "d/e", NULL, &inner,
			  &err));
	publish(where, inner.number, "deep.txt");
	publish(where, dir.number, "x.txt");
}

/* A session that had everything leaves no row and no file. */
static void test_nothing_is_left(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf before = { 0 };
	CLEANUP(buf_release) struct buf after = { 0 };
	struct ref doomed;

	publish(user, user.user, "mine.txt"); /* stays */
	rows(&before);
	OK(scope_create(st, user, "doomed", &doomed, NULL, &err));
	add_log(doomed);
	add_turns(doomed);
	add_artifacts(doomed);
	OK(state_set(st, doomed, SPAN("k"), SPAN(" 1"), 0, &err));
	OK(state_set(st, doomed, SPAN("l"), SPAN("2"), 0, &err));
	OK(state_delete(st, doomed, SPAN("l"), &err));
	rows(&after);
	assert_true(after.len > before.len + 500);
	OK(scope_remove(st, doomed, &err));
	rows(&after);
	assert_string_equal(after.data, before.data);
	assert_true(has_bulk());
	OK(artifact_remove(st, (struct artifact_name){ user, user.user, "mine.txt" }, &err));
	assert_false(has_bulk());
}

/* Also what was in a directory that went before. */
static void test_nothing_is_left_of_a_directory(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf before = { 0 };
	CLEANUP(buf_release) struct buf after = { 0 };
	struct artifact_info dir;
	struct ref doomed;

	rows(&before);
	OK(scope_create(st, user, "doomed", &doomed, NULL, &err));
	OK(artifact_mkdir(st, (struct artifact_name){ doomed, doomed.session, "d" }, "d", NULL,
			  &dir, &err));
	publish(doomed, dir.number, "x.txt");
	OK(artifact_remove(st, (struct artifact_name){ doomed, dir.number, "x.txt" }, &err));
	OK(artifact_rmdir(st, (struct artifact_name){ doomed, doomed.session, "d" }, &err));
	OK(scope_remove(st, doomed, &err));
	rows(&after);
	assert_string_equal(after.data, before.data);
	assert_false(has_bulk());
}

/* A user goes with artifacts and state, an app with its state. */
static void test_nothing_is_left_of_a_user(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf before = { 0 };
	CLEANUP(buf_release) struct buf after = { 0 };
	struct ref a;
	struct ref u;

	rows(&before);
	OK(scope_create(st, root, "a", &a, NULL, &err));
	OK(scope_create(st, a, "u", &u, NULL, &err));
	add_artifacts(u);
	OK(state_set(st, u, SPAN("k"), SPAN("1"), 0, &err));
	OK(state_set(st, a, SPAN("k"), SPAN("1"), 0, &err));
	OK(scope_remove(st, u, &err));
	OK(scope_remove(st, a, &err));
	rows(&after);
	assert_string_equal(after.data, before.data);
	assert_false(has_bulk());
}

static void note_change(void *arg, const struct change *change)
{
	buf_printf(arg, "%d %llu %s;", (int)change->kind,
		   (unsigned long long)ref_number(change->ref), change->name);
}

static void test_watch(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf seen = { 0 };
	CLEANUP(buf_release) struct buf want = { 0 };
	struct ref ref;

	store_watch(st, note_change, &seen);
	OK(scope_create(st, user, "new", &ref, NULL, &err));
	CODE(scope_create(st, user, "new", NULL, NULL, &err), -EEXIST);
	CODE(scope_remove(st, user, &err), -ENOTEMPTY);
	OK(scope_remove(st, ref, &err));
	CODE(scope_remove(st, ref, &err), -ENOENT);
	buf_printf(&want, "%d %llu new;%d %llu new;", CHANGE_SCOPE_ADDED,
		   (unsigned long long)ref.session, CHANGE_SCOPE_REMOVED,
		   (unsigned long long)ref.session);
	assert_string_equal(buf_cstr(&seen), buf_cstr(&want));
	store_watch(st, NULL, NULL);
}

static int compare_numbers(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a;
	uint64_t y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

#define NUMBERS 3000

static uint64_t numbers[4 * NUMBERS];

static void *take_numbers(void *arg)
{
	uint64_t *out = arg;
	size_t i;

	for (i = 0; i < NUMBERS; i++)
		out[i] = store_new_number(st, NULL);
	return NULL;
}

/* Numbers are never given twice: not to two threads, and not after a restart. */
static void test_numbers(void **state UNUSED)
{
	bool kept = strcmp(engine, "memory") != 0;
	pthread_t threads[3];
	size_t total = kept ? ARRAY_SIZE(numbers) : 3 * NUMBERS;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(threads); i++)
		assert_int_equal(
			pthread_create(&threads[i], NULL, take_numbers, numbers + i * NUMBERS), 0);
	for (i = 0; i < ARRAY_SIZE(threads); i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	if (kept) {
		store_close(st);
		open_store();
		take_numbers(numbers + 3 * NUMBERS);
	}
	qsort(numbers, total, sizeof *numbers, compare_numbers);
	assert_true(numbers[0] > session.session);
	for (i = 1; i < total; i++)
		assert_true(numbers[i] > numbers[i - 1]);
}

static void test_reopen(void **state UNUSED)
{
	struct scope_info before;
	struct scope_info after;

	if (!strcmp(engine, "memory"))
		skip();
	OK(state_set(st, session, SPAN("k"), SPAN("1"), 0, &err));
	OK(scope_stat(st, session, &before, &err));
	store_close(st);
	open_store();
	OK(scope_stat(st, session, &after, &err));
	assert_memory_equal(&before, &after, sizeof before);
	expect_members(root, "app|");
	expect_members(user, "session|");
}

/* Bulk bytes that no version came to refer to are gone after the next start. */
static void test_pending_bulk(void **state UNUSED)
{
	uint64_t number;

	if (!strcmp(engine, "memory"))
		skip();
	number = make_bulk();
	publish(session, session.session, "kept.txt");
	store_close(st);
	open_store();
	CODE(bulk_open(st, number, &err), -ENOENT);
	assert_true(has_bulk());
	OK(artifact_remove(st, (struct artifact_name){ session, session.session, "kept.txt" },
			   &err));
	assert_false(has_bulk());
}

static void test_open_errors(void **state UNUSED)
{
	struct store_options options = { .folder = "/dev/null/x", .engine = engine };
	struct store *other = NULL;

	CODE(store_open(&options, &other, &err), -ENOTDIR);
	options.folder = folder;
	options.engine = "punch cards";
	CODE(store_open(&options, &other, &err), -EINVAL);
	assert_null(other);
	assert_string_equal(store_folder(st), folder);
	assert_string_equal(store_engine(st), engine);
	store_close(NULL);
}

/* What another process sees of a store that is open here. */
static int open_as_other(void)
{
	struct store_options options = { .folder = folder, .engine = engine };
	struct store *other = NULL;
	char holder[32];

	(void)snprintf(holder, sizeof holder, "%ld", (long)getppid());
	if (store_open(&options, &other, &err) != -EBUSY || other)
		return 1;
	return strstr(err.text, holder) ? 0 : 2;
}

static void test_one_process_a_store(void **state UNUSED)
{
	pid_t pid = fork();
	int status = -1;

	assert_true(pid >= 0);
	if (pid == 0)
		_exit(open_as_other());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

static int fail_late(struct store_tx *tx, void *arg)
{
	struct key key = key_space(KEY_META_FORMAT);

	store_put(tx, &key, SPAN("never"));
	(void)!store_add_change(tx, CHANGE_LOG, session);
	return *(int *)arg;
}

static void test_failed_update(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf seen = { 0 };
	CLEANUP(buf_release) struct buf before = { 0 };
	CLEANUP(buf_release) struct buf after = { 0 };
	int code = -EPERM;

	store_watch(st, note_change, &seen);
	rows(&before);
	CODE(store_update(st, fail_late, &code, &err), -EPERM);
	code = 4;
	CODE(store_view(st, fail_late, &code, &err), 4); /* a view commits nothing */
	rows(&after);
	assert_string_equal(after.data, before.data);
	assert_int_equal(seen.len, 0);
	store_watch(st, NULL, NULL);
}

/* A transaction that loses a race in each of its first tries. */
struct race {
	int tries;
	int rivals; /* how often somebody else is faster */
};

static int put_rival(struct store_tx *tx, void *arg UNUSED)
{
	struct key key = key_1(KEY_PENDING, 1);

	store_put(tx, &key, SPAN("rival"));
	return 0;
}

static void *write_rival(void *arg UNUSED)
{
	return store_update(st, put_rival, NULL, NULL) == 0 ? NULL : st;
}

static int run_race(struct store_tx *tx, void *arg)
{
	CLEANUP(buf_release) struct buf value = { 0 };
	struct key key = key_1(KEY_PENDING, 1);
	struct race *race = arg;
	int r = store_get(tx, &key, &value);
	pthread_t rival;
	void *failed;

	if (r < 0 && r != -ENOENT)
		return r;
	if (race->tries++ < race->rivals) {
		assert_int_equal(pthread_create(&rival, NULL, write_rival, NULL), 0);
		assert_int_equal(pthread_join(rival, &failed), 0);
		assert_null(failed);
	}
	store_put(tx, &key, SPAN("mine"));
	return store_add_change(tx, CHANGE_LOG, session) ? 0 : -ENOMEM;
}

/* A lost race is run again, and told once. */
static void test_lost_races(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf seen = { 0 };
	CLEANUP(buf_release) struct buf want = { 0 };
	struct race race = { 0, 5 };

	store_watch(st, note_change, &seen);
	OK(store_update(st, run_race, &race, &err));
	assert_int_equal(race.tries, 6);
	buf_printf(&want, "%d %llu ;", CHANGE_LOG, (unsigned long long)session.session);
	assert_string_equal(buf_cstr(&seen), buf_cstr(&want));
	store_watch(st, NULL, NULL);
}

#define CROWD 2 /* threads that write all the time */

struct crowd {
	_Atomic bool over;
	_Atomic int commits;
	int tries;
};

static void *write_always(void *arg)
{
	struct crowd *crowd = arg;

	while (!crowd->over) {
		if (store_update(st, put_rival, NULL, NULL) < 0)
			return crowd;
		crowd->commits++;
	}
	return NULL;
}

/* Slower than the crowd: before it ends, somebody else has written, unless nobody can. */
static int write_slowly(struct store_tx *tx, void *arg)
{
	CLEANUP(buf_release) struct buf value = { 0 };
	struct key key = key_1(KEY_PENDING, 1);
	struct crowd *crowd = arg;
	int r = store_get(tx, &key, &value);
	uint64_t end = clock_monotonic() + 200 * NSEC_PER_MSEC;
	int before = crowd->commits;

	while (crowd->commits - before <= CROWD && clock_monotonic() < end)
		(void)sched_yield();
	crowd->tries++;
	store_put(tx, &key, SPAN("mine"));
	return r == -ENOENT ? 0 : r;
}

/* A transaction that always loses gets its turn in the end. */
static void test_nobody_starves(void **state UNUSED)
{
	struct crowd crowd = { 0 };
	pthread_t threads[CROWD];
	void *failed;
	size_t i;

	for (i = 0; i < CROWD; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, write_always, &crowd), 0);
	OK(store_update(st, write_slowly, &crowd, &err));
	crowd.over = true;
	for (i = 0; i < CROWD; i++) {
		assert_int_equal(pthread_join(threads[i], &failed), 0);
		assert_null(failed);
	}
	assert_true(crowd.tries > 1 && crowd.tries < 20);
}

#define MANY_NUMBERS 5000

/* Needs many numbers, slowly; whoever takes numbers from the store makes it lose. */
static int use_numbers(struct store_tx *tx, void *arg)
{
	CLEANUP(buf_release) struct buf value = { 0 };
	struct key key = key_space(KEY_META_COUNTER);
	int *tries = arg;
	int r = store_get(tx, &key, &value);
	int i;

	++*tries;
	for (i = 0; r == 0 && i < MANY_NUMBERS; i++)
		r = store_tx_number(tx) ? 0 : -EIO;
	key = key_1(KEY_PENDING, 1);
	store_put(tx, &key, SPAN("mine"));
	return r;
}

/* The second try finds the numbers that the first one missed, however long it took. */
static void test_many_numbers(void **state UNUSED)
{
	int tries = 0;

	OK(store_update(st, use_numbers, &tries, &err));
	assert_int_equal(tries, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		STORE_TEST(test_create),
		STORE_TEST(test_ids),
		STORE_TEST(test_levels),
		STORE_TEST(test_stat_all),
		STORE_TEST(test_list_from),
		STORE_TEST(test_remove),
		STORE_TEST(test_nothing_is_left),
		STORE_TEST(test_nothing_is_left_of_a_directory),
		STORE_TEST(test_nothing_is_left_of_a_user),
		STORE_TEST(test_watch),
		STORE_TEST(test_numbers),
		STORE_TEST(test_reopen),
		STORE_TEST(test_pending_bulk),
		STORE_TEST(test_open_errors),
		STORE_TEST(test_one_process_a_store),
		STORE_TEST(test_failed_update),
		STORE_TEST(test_lost_races),
		STORE_TEST(test_nobody_starves),
		STORE_TEST(test_many_numbers),
	};

	RUN_ON_ENGINES(tests);
}

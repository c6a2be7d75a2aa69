/*
 * Saves: artifacts that are there with the event that names them, or not at all.
 */
#include "store/artifact/saves.h"

#include "store/artifact/artifact.h"
#include "store/remove.h"
#include "store/session/log.h"
#include "store/turn/turn.h"
#include "tests/unit/store/store_rig.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define SAVES_MAX 8

/* What is committed next. */
static struct save saves[SAVES_MAX];
static struct blob blobs[SAVES_MAX];
static size_t save_count;
static struct event event;

static int setup(void **state)
{
	CLEANUP(event_release) struct event e = { 0 };
	struct turn_info info;
	int r = store_setup(state);

	event_set_text(&e, EVENT_INVOCATION, SPAN("e-1"));
	event_set_text(&e, EVENT_AUTHOR, SPAN("user"));
	OK(turn_submit(st, session, 0, &e, &info, &err));
	return r;
}

/* Nothing is to be committed any more. */
static void forget(void)
{
	while (save_count)
		blob_close(&blobs[--save_count]);
	event_release(&event);
}

static int teardown(void **state)
{
	forget();
	return store_teardown(state);
}

static void save(const char *name, const char *text)
{
	struct blob *blob = &blobs[save_count];

	blob_init(blob, st);
	if (*text)
		OK(blob_write(blob, 0, span_of(text), &err));
	OK(blob_settle(blob, false, &err));
	saves[save_count++] = (struct save){ .name = name, .blob = blob, .mime = "text/plain" };
}

static size_t bad_save; /* of the last commit */

static int commit_events(size_t count)
{
	struct turn_commit commit = {
		.events = &event, .count = count, .saves = saves, .save_count = save_count
	};

	int r = turn_commit(st, session, 1, &commit, NULL, &err);

	bad_save = commit.bad_save;
	return r;
}

/* With an event, which has what the test set in it. */
static int commit(void)
{
	size_t i;
	int r;

	event_set_text(&event, EVENT_INVOCATION, SPAN("e-1"));
	event_set_text(&event, EVENT_AUTHOR, SPAN("agent"));
	r = commit_events(1);
	for (i = 0; r == 0 && i < save_count; i++)
		blob_seal(&blobs[i]);
	return r;
}

static void expect_bytes(struct ref scope, const char *name, uint64_t n, const char *want)
{
	CLEANUP(blob_close) struct blob blob;
	CLEANUP(buf_release) struct buf text = { 0 };
	struct artifact_info info;

	OK(artifact_resolve(st, scope, name, NULL, &info, &err));
	assert_string_equal(info.full_name, name);
	blob_init(&blob, st);
	OK(artifact_blob(st, info.history, n, &blob, NULL, &err));
	OK(blob_read(&blob, 0, 64, &text, &err));
	assert_string_equal(text.len ? buf_cstr(&text) : "", want);
}

static uint64_t latest(struct ref scope, const char *name)
{
	struct artifact_info info;
	int r = artifact_resolve(st, scope, name, NULL, &info, NULL);

	return r < 0 ? 0 : info.latest;
}

static int keep_delta(void *arg, struct span line)
{
	CLEANUP(event_release) struct event e = { 0 };
	struct buf *delta = arg;

	OK(event_from_json(line, &e, &err));
	buf_clear(delta);
	buf_span_add(delta, event_action(&e, ACTION_ARTIFACT_DELTA));
	return 0;
}

/* The artifactDelta of the last event. */
static void expect_delta(const char *want)
{
	CLEANUP(buf_release) struct buf delta = { 0 };
	struct scope_info info;

	OK(scope_stat(st, session, &info, &err));
	OK(session_lines(st, (struct log_range){ session, 0, info.log_size }, keep_delta, &delta,
			 &err));
	assert_string_equal(delta.len ? buf_cstr(&delta) : "", want);
}

static uint64_t events(void)
{
	struct scope_info info;

	OK(scope_stat(st, session, &info, &err));
	return info.events;
}

static void test_saves(void **state UNUSED)
{
	save("a.txt", "one");
	save("b.txt", "");
	OK(commit());
	assert_int_equal(saves[0].version, 1);
	assert_int_equal(saves[1].version, 1);
	expect_delta("{\"a.txt\":1,\"b.txt\":1}");
	expect_bytes(session, "a.txt", 1, "one");
	expect_bytes(session, "b.txt", 1, "");
	forget();
	save("a.txt", "two");
	OK(commit());
	assert_int_equal(saves[0].version, 2);
	expect_delta("{\"a.txt\":2}");
	expect_bytes(session, "a.txt", 1, "one");
	expect_bytes(session, "a.txt", 2, "two");
}

/* The end of a turn has them with its event, or is none. */
static void test_end(void **state UNUSED)
{
	struct turn_commit last = { .events = &event, .count = 1, .saves = saves, .save_count = 1 };
	struct turn_info info;

	save("a/b", "one");
	OK(commit());
	forget();
	save("a", "in the way");
	event_set_text(&event, EVENT_AUTHOR, SPAN("agent"));
	last.end = TURN_FAILED;
	last.error = "no";
	CODE(turn_commit(st, session, 1, &last, NULL, &err), -EISDIR);
	assert_int_equal(last.bad_save, 1);
	OK(turn_stat(st, session, 1, &info, &err));
	assert_int_equal(info.ended, 0);
	forget();
	save("c", "x");
	event_set_text(&event, EVENT_AUTHOR, SPAN("agent"));
	OK(turn_commit(st, session, 1, &last, &info, &err));
	blob_seal(&blobs[0]);
	assert_int_equal(info.state, TURN_FAILED);
	expect_delta("{\"c\":1}");
	expect_bytes(session, "c", 1, "x");
}

static void test_same_name(void **state UNUSED)
{
	save("a", "one");
	save("b", "x");
	save("a", "two");
	OK(commit());
	assert_int_equal(saves[0].version, 1);
	assert_int_equal(saves[2].version, 2);
	expect_delta("{\"a\":2,\"b\":1}");
	expect_bytes(session, "a", 1, "one");
	expect_bytes(session, "a", 2, "two");
}

static void test_user_scope(void **state UNUSED)
{
	struct scope_info before;
	struct scope_info after;

	OK(scope_stat(st, user, &before, &err));
	save("user:x.md", "mine");
	save("x.md", "the session's");
	save("user:notes/y.md", "below");
	save("user:", "only a prefix");
	OK(commit());
	expect_delta("{\"user:x.md\":1,\"x.md\":1,\"user:notes/y.md\":1,\"user:\":1}");
	expect_bytes(user, "x.md", 1, "mine");
	expect_bytes(user, "notes/y.md", 1, "below");
	expect_bytes(session, "x.md", 1, "the session's");
	expect_bytes(session, "user:", 1, "only a prefix");
	assert_int_equal(latest(session, "user:x.md"), 0);
	OK(scope_stat(st, user, &after, &err));
	assert_true(after.artifacts_stamp > before.artifacts_stamp);
	assert_true(after.stamp > before.stamp);
}

static void test_directories(void **state UNUSED)
{
	struct artifact_info dir;
	struct artifact_info again;

	save("reports/2026/q1.pdf", "1");
	save("reports/q.pdf", "2");
	OK(commit());
	expect_bytes(session, "reports/2026/q1.pdf", 1, "1");
	expect_bytes(session, "reports/q.pdf", 1, "2");
	OK(artifact_resolve(st, session, "reports/2026", NULL, &dir, &err));
	assert_true(dir.is_directory);
	assert_string_equal(dir.name, "2026");
	forget();
	save("reports/2026/q2.pdf", "3");
	OK(commit());
	OK(artifact_resolve(st, session, "reports/2026", NULL, &again, &err));
	assert_int_equal(again.number, dir.number);
}

/* A directory that was removed comes back, and numbers below it stay used. */
static void test_directory_comes_back(void **state UNUSED)
{
	struct artifact_info dir;

	save("d/a", "one");
	OK(commit());
	forget();
	OK(artifact_resolve(st, session, "d", NULL, &dir, &err));
	OK(artifact_remove(st, (struct artifact_name){ session, dir.number, "a" }, &err));
	OK(artifact_rmdir(st, (struct artifact_name){ session, session.session, "d" }, &err));
	save("d/a", "two");
	OK(commit());
	expect_delta("{\"d/a\":2}");
	expect_bytes(session, "d/a", 2, "two");
}

static void test_delta_of_event(void **state UNUSED)
{
	event_set_action(&event, ACTION_ARTIFACT_DELTA, SPAN("{\"old\":7,\"a\":3}"));
	event_set_state(&event, "k", SPAN("1"));
	save("a", "one");
	save("b", "two");
	OK(commit());
	expect_delta("{\"old\":7,\"a\":1,\"b\":1}");
}

/* What stands before a save that fails is not there either, nor its number used. */
static void test_all_or_nothing(void **state UNUSED)
{
	uint64_t before = events();

	event_set_state(&event, "k", SPAN("1"));
	save("fine", "one");
	save("user:fine", "one");
	save("dir/fine", "one");
	save("fine/below", "a file is in the way");
	CODE(commit(), -ENOTDIR);
	assert_int_equal(events(), before);
	assert_int_equal(latest(session, "fine"), 0);
	assert_int_equal(latest(user, "fine"), 0);
	assert_int_equal(latest(session, "dir/fine"), 0);
	forget();
	save("fine", "again");
	save("dir", "is a name that is free");
	OK(commit());
	expect_delta("{\"fine\":1,\"dir\":1}");
}

static void test_in_the_way(void **state UNUSED)
{
	save("d/a", "one");
	save("f", "one");
	OK(commit());
	forget();
	save("d", "a directory has the name");
	CODE(commit(), -EISDIR);
	assert_int_equal(bad_save, save_count);
	forget();
	save("f/x/y", "a file has the name");
	CODE(commit(), -ENOTDIR);
	forget();
	event_set_json(&event, EVENT_ID, SPAN("\"twice\""));
	save("f", "two");
	OK(commit());
	CODE(commit(), -EEXIST);
	assert_int_equal(bad_save, 0);
	assert_int_equal(latest(session, "f"), 2);
}

static void test_no_event(void **state UNUSED)
{
	save("a", "one");
	CODE(commit_events(0), -EINVAL);
	event_set_json(&event, EVENT_PARTIAL, SPAN("true"));
	CODE(commit(), -EINVAL);
	assert_int_equal(latest(session, "a"), 0);
}

static void test_names(void **state UNUSED)
{
	static const char *const bad[] = { "", "/a", "a/", "a//b", "user:/a", "\xff" };
	char long_name[400];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		save(bad[i], "x");
		CODE(commit(), -EINVAL);
		forget();
	}
	memset(long_name, 'x', sizeof long_name - 1);
	long_name[sizeof long_name - 1] = 0;
	save(long_name, "x");
	CODE(commit(), -ENAMETOOLONG);
	assert_int_equal(bad_save, save_count);
	forget();
	save("..", "dots are text here");
	save(".hidden/50%", "so are these");
	OK(commit());
	expect_bytes(session, "..", 1, "dots are text here");
	expect_bytes(session, ".hidden/50%", 1, "so are these");
}

static void test_session_is_gone(void **state UNUSED)
{
	save("a", "one");
	OK(scope_remove(st, session, &err));
	CODE(commit(), -ESTALE);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_saves),          TEST(test_end),
		TEST(test_same_name),      TEST(test_user_scope),
		TEST(test_directories),    TEST(test_directory_comes_back),
		TEST(test_delta_of_event), TEST(test_all_or_nothing),
		TEST(test_in_the_way),     TEST(test_no_event),
		TEST(test_names),          TEST(test_session_is_gone),
	};

	RUN_ON_ENGINES(tests);
}

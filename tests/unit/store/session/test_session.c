/*
 * Sessions: the log keeps every byte at its offset, whatever happens beside it.
 */
#include "store/session/session.h"

#include "base/clock.h"
#include "store/open.h"
#include "store/remove.h"
#include "store/session/log.h"
#include "store/session/state.h"
#include "store/tx/key.h"
#include "tests/unit/store/store_rig.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Append one line as a writer of events.jsonl does. */
static int append(const char *line)
{
	CLEANUP(event_release) struct event e = { 0 };
	int r = event_from_json(span_of(line), &e, &err);

	return r < 0 ? r : session_append(st, session, &e, 1, &err);
}

static uint64_t log_size(void)
{
	struct scope_info info;

	OK(scope_stat(st, session, &info, &err));
	return info.log_size;
}

static void read_log(struct buf *out)
{
	OK(session_read(st, session, 0, log_size(), out, &err));
	assert_int_equal(out->len, log_size());
	assert_non_null(buf_cstr(out));
}

static void append_text(const char *id, size_t size)
{
	CLEANUP(event_release) struct event e = { 0 };
	CLEANUP(buf_release) struct buf json = { 0 };

	buf_char(&json, '"');
	while (size--)
		buf_char(&json, (char)('a' + size % 23));
	buf_char(&json, '"');
	event_set_text(&e, EVENT_AUTHOR, SPAN("user"));
	event_set_text(&e, EVENT_ID, span_of(id));
	event_set_json(&e, EVENT_OUTPUT, buf_span(&json));
	OK(session_append(st, session, &e, 1, &err));
}

static void test_empty(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf out = { 0 };
	uint64_t start;
	uint64_t length;

	assert_int_equal(log_size(), 0);
	OK(session_read(st, session, 0, 100, &out, &err));
	assert_int_equal(out.len, 0);
	OK(session_append(st, session, NULL, 0, &err));
	assert_int_equal(log_size(), 0);
	CODE(session_find_event(st, session, SPAN("x"), &start, &length, &err), -ENOENT);
	OK(session_fold(st, session, &err));
}

/* The bytes of the log are the lines, and each offset gives what is there. */
static void test_every_offset(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf want = { 0 };
	uint64_t from;
	uint64_t size;
	int i;

	for (i = 0; i < 5; i++) {
		char line[300];

		(void)snprintf(
			line, sizeof line,
			"{\"invocationId\":\"\",\"author\":\"a\",\"actions\":{\"stateDelta\":{},"
			"\"artifactDelta\":{},\"requestedAuthConfigs\":{}},\"branch\":\"%.*s\","
			"\"id\":\"i%d\",\"timestamp\":%d.000000}",
			i * 3, "abcdefghijklmnop", i, i);
		OK(append(line));
		buf_printf(&want, "%s\n", line);
		assert_int_equal(log_size(), want.len);
	}
	for (from = 0; from <= want.len + 2; from++) {
		for (size = 0; size < want.len + 4; size += 1 + size / 40) {
			CLEANUP(buf_release) struct buf out = { 0 };
			uint64_t end = MIN(from + size, want.len);

			buf_char(&out, '<');
			OK(session_read(st, session, from, size, &out, &err));
			if (from >= end) {
				assert_int_equal(out.len, 1);
				continue;
			}
			assert_int_equal(out.len, 1 + end - from);
			assert_memory_equal(out.data + 1, want.data + from, end - from);
		}
	}
}

static void test_made_members(void **state UNUSED)
{
	CLEANUP(event_release) struct event e = { 0 };
	CLEANUP(buf_release) struct buf id = { 0 };
	CLEANUP(buf_release) struct buf line = { 0 };
	CLEANUP(buf_release) struct buf log = { 0 };
	int64_t before = clock_now();
	uint64_t start;
	uint64_t length;

	OK(event_from_json(SPAN("{\"author\":\"u\",\"id\":\"\"}"), &e, &err));
	OK(session_append(st, session, &e, 1, &err));
	OK(event_text(&e, EVENT_ID, &id));
	assert_int_equal(id.len, 36);
	assert_int_equal(id.data[14], '4'); /* UUID version 4 */
	assert_in_range(event_time(&e), before, clock_now() + 1);
	read_log(&log);
	event_to_json(&e, &line);
	buf_char(&line, '\n');
	assert_true(span_equal(buf_span(&log), buf_span(&line)));
	OK(session_find_event(st, session, buf_span(&id), &start, &length, &err));
	assert_int_equal(start, 0);
	assert_int_equal(length, log.len);
}

static void test_batch(void **state UNUSED)
{
	struct event e[3] = { 0 };
	CLEANUP(buf_release) struct buf before = { 0 };
	CLEANUP(buf_release) struct buf after = { 0 };
	struct scope_info info;
	uint64_t start;
	uint64_t length;
	int i;

	OK(append("{\"author\":\"u\",\"id\":\"zero\"}"));
	read_log(&before);
	for (i = 0; i < 3; i++)
		event_set_text(&e[i], EVENT_AUTHOR, SPAN("u"));
	event_set_text(&e[0], EVENT_ID, SPAN("one"));
	event_set_state(&e[0], "k", SPAN("1"));
	event_set_text(&e[2], EVENT_ID, SPAN("one"));
	CODE(session_append(st, session, e, 3, &err), -EEXIST);
	read_log(&after);
	assert_true(span_equal(buf_span(&before), buf_span(&after)));
	CODE(state_get(st, session, SPAN("k"), NULL, NULL, &err), -ENOENT);
	CODE(session_find_event(st, session, SPAN("one"), &start, &length, &err), -ENOENT);
	event_set_text(&e[2], EVENT_ID, SPAN("two"));
	OK(session_append(st, session, e, 3, &err));
	OK(scope_stat(st, session, &info, &err));
	assert_int_equal(info.events, 4);
	OK(session_find_event(st, session, SPAN("two"), &start, &length, &err));
	assert_int_equal(start + length, info.log_size);
	OK(state_get(st, session, SPAN("k"), NULL, NULL, &err));
	for (i = 0; i < 3; i++)
		event_release(&e[i]);
}

static void test_repeated_id(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf before = { 0 };
	CLEANUP(buf_release) struct buf after = { 0 };
	struct ref other;

	OK(append("{\"author\":\"u\",\"id\":\"x\"}"));
	read_log(&before);
	CODE(append("{\"author\":\"u\",\"id\":\"x\",\"actions\":{\"stateDelta\":{\"k\":1}}}"),
	     -EEXIST);
	CODE(append("{\"author\":\"u\",\"id\":\"\\u0078\"}"), -EEXIST);
	read_log(&after);
	assert_true(span_equal(buf_span(&before), buf_span(&after)));
	CODE(state_get(st, session, SPAN("k"), NULL, NULL, &err), -ENOENT);
	OK(append("{\"author\":\"u\",\"id\":\"X\"}"));
	OK(append("{\"author\":\"u\",\"id\":\"xx\"}"));
	/* An id belongs to its session. */
	OK(scope_create(st, user, "other", &other, NULL, &err));
	session = other;
	OK(append("{\"author\":\"u\",\"id\":\"x\"}"));
}

static void test_long_id(void **state UNUSED)
{
	char line[400];
	char id[256];
	int i;

	memset(id, 'i', sizeof id);
	id[255] = 0;
	for (i = 0; i < 2; i++) { /* two that differ in the last byte only */
		id[254] = (char)('a' + i);
		(void)snprintf(line, sizeof line, "{\"author\":\"u\",\"id\":\"%s\"}", id);
		OK(append(line));
		CODE(append(line), -EEXIST);
	}
}

static void test_partial(void **state UNUSED)
{
	struct scope_info before;
	struct scope_info after;

	OK(append("{\"author\":\"u\",\"id\":\"x\"}"));
	OK(scope_stat(st, session, &before, &err));
	OK(append("{\"author\":\"u\",\"id\":\"x\",\"partial\":true,\"actions\":{\"stateDelta\":{"
		  "\"k\":1}}}"));
	OK(append("{\"author\":\"u\",\"partial\":true}"));
	OK(scope_stat(st, session, &after, &err));
	assert_memory_equal(&before, &after, sizeof before);
	CODE(state_get(st, session, SPAN("k"), NULL, NULL, &err), -ENOENT);
}

static void test_removed_session(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf out = { 0 };
	struct scope_info info;

	OK(append("{\"author\":\"u\"}"));
	OK(scope_remove(st, session, &err));
	CODE(append("{\"author\":\"u\"}"), -ESTALE);
	CODE(append("{\"author\":\"u\",\"partial\":true}"), -ESTALE);
	CODE(scope_stat(st, session, &info, &err), -ENOENT);
	(void)!session_read(st, session, 0, 100, &out, &err);
	assert_int_equal(out.len, 0);
}

static int next_time(void *arg, struct span line)
{
	CLEANUP(event_release) struct event e = { 0 };
	int64_t *last = arg;

	OK(event_from_json(line, &e, &err));
	assert_true(event_time(&e) > *last);
	*last = event_time(&e);
	return 0;
}

/* Stamps that we make are later than the one before, however fast they come. */
static void test_times_grow(void **state UNUSED)
{
	char future[100];
	int64_t last = 0;
	int i;

	for (i = 0; i < 200; i++)
		OK(append("{\"author\":\"u\"}"));
	(void)snprintf(future, sizeof future, "{\"author\":\"u\",\"timestamp\":%lld.5}",
		       (long long)(clock_now() / 1000000 + 1000000));
	OK(append(future));
	for (i = 0; i < 20; i++)
		OK(append("{\"author\":\"u\"}"));
	OK(session_lines(st, (struct log_range){ session, 0, log_size() }, next_time, &last, &err));
}

/* A given time stays as it is, also when it is old; it is the session's time then. */
static void test_given_time(void **state UNUSED)
{
	struct scope_info info;

	OK(append("{\"author\":\"u\"}"));
	OK(append("{\"author\":\"u\",\"timestamp\":12.5}"));
	OK(scope_stat(st, session, &info, &err));
	assert_int_equal(info.updated, 12500000);
	OK(append("{\"author\":\"u\"}"));
	OK(scope_stat(st, session, &info, &err));
	assert_true(info.updated > 12500000);
}

static int join_line(void *arg, struct span line)
{
	buf_span_add(arg, line);
	buf_char(arg, '\n');
	return 0;
}

static int stop_third(void *arg, struct span line UNUSED)
{
	return ++*(int *)arg == 3 ? 9 : 0;
}

static void test_lines(void **state UNUSED)
{
	static const size_t sizes[] = { 0, 10, 3 << 20, 1, (1 << 20) - 230, 500000, 700000, 2 };
	CLEANUP(buf_release) struct buf log = { 0 };
	CLEANUP(buf_release) struct buf lines = { 0 };
	char id[8];
	uint64_t start;
	uint64_t length;
	int calls = 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		(void)snprintf(id, sizeof id, "n%zu", i);
		append_text(id, sizes[i]);
	}
	read_log(&log);
	OK(session_lines(st, (struct log_range){ session, 0, log.len }, join_line, &lines, &err));
	assert_true(span_equal(buf_span(&lines), buf_span(&log)));
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		(void)snprintf(id, sizeof id, "n%zu", i);
		OK(session_find_event(st, session, span_of(id), &start, &length, &err));
		assert_true(length > sizes[i]);
		buf_clear(&lines);
		OK(session_lines(st, (struct log_range){ session, start, start + length },
				 join_line, &lines, &err));
		assert_int_equal(lines.len, length);
		assert_memory_equal(lines.data, log.data + start, length);
	}
	CODE(session_lines(st, (struct log_range){ session, 0, log.len }, stop_third, &calls, &err),
	     9);
	assert_int_equal(calls, 3);
	OK(session_lines(st, (struct log_range){ session, log.len, log.len }, stop_third, &calls,
			 &err));
	assert_int_equal(calls, 3);
}

/* Lines on the way back, put in front of each other. */
struct back {
	struct buf text;
	uint64_t from; /* of the line before, which is behind */
	int calls;
	int most;
};

static int join_back(void *arg, uint64_t at, struct span line)
{
	struct back *back = arg;
	CLEANUP(buf_release) struct buf behind = { 0 };

	assert_int_equal(at + line.len + 1, back->from);
	back->from = at;
	buf_span_add(&behind, buf_span(&back->text));
	buf_clear(&back->text);
	buf_span_add(&back->text, line);
	buf_char(&back->text, '\n');
	buf_span_add(&back->text, buf_span(&behind));
	return ++back->calls == back->most ? 9 : 0;
}

/* The same lines with their places, the last one first, whatever their lengths. */
static void test_lines_back(void **state UNUSED)
{
	static const size_t sizes[] = { 0, 10, 3 << 20, 1, (16 << 10) - 230, 500000, 20, 7, 0 };
	CLEANUP(buf_release) struct buf log = { 0 };
	struct back back = { 0 };
	char id[16];
	size_t i;
	size_t k;
	int r;

	OK(session_lines_back(st, (struct log_range){ session, 0, 0 }, join_back, &back, &err));
	for (i = 0; i < 40; i++) {
		(void)snprintf(id, sizeof id, "short %zu", i);
		append_text(id, i);
	}
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		(void)snprintf(id, sizeof id, "n%zu", i);
		append_text(id, sizes[i]);
		if (i % 3 == 0)
			OK(session_fold(st, session, &err));
		buf_clear(&log);
		read_log(&log);
		back = (struct back){ .from = log.len };
		OK(session_lines_back(st, (struct log_range){ session, 0, log.len }, join_back,
				      &back, &err));
		assert_true(span_equal(buf_span(&back.text), buf_span(&log)));
		buf_release(&back.text);
	}
	for (i = 0; i < log.len; i++) { /* from the end of any line */
		if (i && log.data[i - 1] != '\n')
			continue;
		for (k = 1; k < 3; k++) {
			back = (struct back){ .from = log.len, .most = (int)k };
			r = session_lines_back(st, (struct log_range){ session, i, log.len },
					       join_back, &back, &err);
			must(r, back.calls == (int)k ? 9 : 0, "session_lines_back");
			assert_true(back.calls == (int)k || back.from == i);
			buf_release(&back.text);
		}
	}
}

static void compare_reads(const struct buf *want)
{
	uint64_t from;

	for (from = 0; from < want->len; from += 60013) {
		CLEANUP(buf_release) struct buf out = { 0 };
		size_t size = MIN(100003, want->len - from);

		OK(session_read(st, session, from, size, &out, &err));
		assert_int_equal(out.len, size);
		assert_memory_equal(out.data, want->data + from, size);
	}
}

static int count_row(void *arg, struct span key UNUSED, struct span value UNUSED)
{
	++*(int *)arg;
	return 0;
}

static int count_rows(struct store_tx *tx, void *arg)
{
	struct key prefix = key_1(KEY_LOG, session.session);

	return store_scan(tx, &prefix, &prefix, count_row, arg);
}

/* Folding moves bytes to other rows and changes none. */
static void test_fold(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf before = { 0 };
	CLEANUP(buf_release) struct buf after = { 0 };
	char id[16];
	int rows = 0;
	int i;

	for (i = 0; before.len <= LOG_FOLD_BYTES + LOG_FOLD_BYTES / 2; i++) {
		(void)snprintf(id, sizeof id, "e%d", i);
		append_text(id, (size_t)i * 37 % 9000);
		OK(session_read(st, session, before.len, 1 << 20, &before, &err));
	}
	OK(session_fold(st, session, &err));
	assert_true(seal_now() > 0);
	assert_true(log_size() - seal_now() <= LOG_FOLD_BYTES);
	assert_int_equal(before.data[seal_now() - 1], '\n');
	read_log(&after);
	assert_true(span_equal(buf_span(&before), buf_span(&after)));
	compare_reads(&before);
	OK(store_view(st, count_rows, &rows, &err));
	assert_true(rows < i); /* what was folded is not kept twice */
	/* More lines behind the fold, and another one. */
	for (i = 0; i < 40; i++) {
		(void)snprintf(id, sizeof id, "f%d", i);
		append_text(id, 30000);
		OK(session_read(st, session, before.len, 1 << 20, &before, &err));
	}
	OK(session_fold(st, session, &err));
	compare_reads(&before);
	CODE(append("{\"author\":\"u\",\"id\":\"e7\"}"), -EEXIST);
}

/* A line longer than a segment is cut into rows like all others. */
static void test_fold_long_lines(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf before = { 0 };
	CLEANUP(buf_release) struct buf after = { 0 };

	append_text("a", 10);
	append_text("b", 3 << 20);
	append_text("c", 10);
	append_text("d", LOG_FOLD_BYTES);
	append_text("e", 10);
	read_log(&before);
	OK(session_fold(st, session, &err));
	assert_true(log_size() - seal_now() <= LOG_FOLD_BYTES);
	read_log(&after);
	assert_true(span_equal(buf_span(&before), buf_span(&after)));
	compare_reads(&before);
}

#define APPENDS 300

static atomic_bool appending;

static void *append_many(void *arg)
{
	int *failed = arg;
	int i;

	for (i = 0; i < APPENDS; i++) {
		struct event e = { 0 };
		CLEANUP(buf_release) struct buf json = { 0 };
		char id[16];

		buf_char(&json, '"');
		while (json.len < 6000)
			buf_printf(&json, "%d,", i);
		buf_char(&json, '"');
		(void)snprintf(id, sizeof id, "t%d", i);
		event_set_text(&e, EVENT_AUTHOR, SPAN("u"));
		event_set_text(&e, EVENT_ID, span_of(id));
		event_set_json(&e, EVENT_OUTPUT, buf_span(&json));
		*failed += session_append(st, session, &e, 1, NULL) < 0;
		event_release(&e);
	}
	appending = false;
	return NULL;
}

/* While one thread appends, folds and reads see a log that only grows. */
static void test_fold_beside_appends(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf seen = { 0 };
	CLEANUP(buf_release) struct buf again = { 0 };
	pthread_t thread;
	int failed = 0;
	bool more;

	appending = true;
	assert_int_equal(pthread_create(&thread, NULL, append_many, &failed), 0);
	do {
		CLEANUP(buf_release) struct buf part = { 0 };
		size_t from = seen.len / 2;

		more = appending;
		OK(session_read(st, session, seen.len, 1u << 30, &seen, &err));
		OK(session_read(st, session, from, seen.len - from, &part, &err));
		assert_true(span_equal(buf_span(&part), span_sub(buf_span(&seen), from, seen.len)));
		OK(session_fold(st, session, &err));
	} while (more);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(failed, 0);
	read_log(&again);
	assert_true(span_equal(buf_span(&seen), buf_span(&again)));
	assert_true(seal_now() > 0);
}

static void *append_some(void *arg)
{
	int i;

	for (i = 0; i < 100; i++) {
		CLEANUP(event_release) struct event e = { 0 };

		event_set_text(&e, EVENT_AUTHOR, SPAN("u"));
		if (session_append(st, session, &e, 1, NULL) < 0)
			atomic_fetch_add((atomic_int *)arg, 1);
	}
	return NULL;
}

/* Every append of every thread is in the log, with times in its order. */
static void test_many_writers(void **state UNUSED)
{
	pthread_t threads[4];
	atomic_int failed = 0;
	struct scope_info info;
	int64_t last = 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(threads); i++)
		assert_int_equal(pthread_create(&threads[i], NULL, append_some, &failed), 0);
	for (i = 0; i < ARRAY_SIZE(threads); i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	assert_int_equal(failed, 0);
	OK(scope_stat(st, session, &info, &err));
	assert_int_equal(info.events, 400);
	OK(session_lines(st, (struct log_range){ session, 0, info.log_size }, next_time, &last,
			 &err));
	assert_int_equal(info.updated, last);
}

static void note_change(void *arg, const struct change *change)
{
	buf_printf(arg, "%d:%llu:%s;", (int)change->kind, (unsigned long long)change->ref.session,
		   change->name);
}

static void test_watch(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf seen = { 0 };
	CLEANUP(buf_release) struct buf want = { 0 };
	unsigned long long s = session.session;

	store_watch(st, note_change, &seen);
	OK(append("{\"author\":\"u\",\"id\":\"x\"}"));
	buf_printf(&want, "%d:%llu:;", CHANGE_LOG, s);
	CODE(append("{\"author\":\"u\",\"id\":\"x\"}"), -EEXIST);
	OK(append("{\"author\":\"u\",\"partial\":true}"));
	OK(append("{\"author\":\"u\",\"actions\":{\"stateDelta\":{\"k\":1,\"user:v\":2,\"app:a\":3}"
		  "}}"));
	buf_printf(&want, "%d:%llu:k;%d:0:v;%d:0:a;%d:%llu:;", CHANGE_STATE_ADDED, s,
		   CHANGE_STATE_ADDED, CHANGE_STATE_ADDED, CHANGE_LOG, s);
	OK(append("{\"author\":\"u\",\"actions\":{\"stateDelta\":{\"k\":null}}}"));
	buf_printf(&want, "%d:%llu:k;%d:%llu:;", CHANGE_STATE, s, CHANGE_LOG, s);
	OK(append("{\"author\":\"u\",\"customMetadata\":{\"adkfs.deleted\":[\"k\"]},\"actions\":{"
		  "\"stateDelta\":{\"k\":null}}}"));
	buf_printf(&want, "%d:%llu:k;%d:%llu:;", CHANGE_STATE_REMOVED, s, CHANGE_LOG, s);
	assert_string_equal(buf_cstr(&seen), buf_cstr(&want));
	store_watch(st, NULL, NULL);
}

static void test_stamps(void **state UNUSED)
{
	struct scope_info before;
	struct scope_info after;

	OK(scope_stat(st, session, &before, &err));
	OK(append("{\"author\":\"u\"}"));
	OK(scope_stat(st, session, &after, &err));
	assert_true(after.log_stamp > before.log_stamp);
	assert_true(after.stamp > before.stamp);
	assert_int_equal(after.state_stamp, before.state_stamp);
	before = after;
	OK(append("{\"author\":\"u\",\"actions\":{\"stateDelta\":{\"k\":1}}}"));
	OK(scope_stat(st, session, &after, &err));
	assert_true(after.state_stamp > before.state_stamp);
	assert_true(after.state_names_stamp > before.state_names_stamp);
	before = after;
	OK(append("{\"author\":\"u\",\"actions\":{\"stateDelta\":{\"k\":2}}}"));
	OK(scope_stat(st, session, &after, &err));
	assert_true(after.state_stamp > before.state_stamp);
	assert_int_equal(after.state_names_stamp, before.state_names_stamp);
}

static void test_reopen(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf before = { 0 };
	CLEANUP(buf_release) struct buf after = { 0 };

	if (!strcmp(engine, "memory"))
		skip();
	append_text("a", 900000);
	append_text("b", 20);
	read_log(&before);
	store_close(st);
	open_store();
	read_log(&after);
	assert_true(span_equal(buf_span(&before), buf_span(&after)));
	CODE(append("{\"author\":\"u\",\"id\":\"b\"}"), -EEXIST);
	OK(append("{\"author\":\"u\",\"id\":\"c\"}"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		STORE_TEST(test_empty),
		STORE_TEST(test_every_offset),
		STORE_TEST(test_made_members),
		STORE_TEST(test_batch),
		STORE_TEST(test_repeated_id),
		STORE_TEST(test_long_id),
		STORE_TEST(test_partial),
		STORE_TEST(test_removed_session),
		STORE_TEST(test_times_grow),
		STORE_TEST(test_given_time),
		STORE_TEST(test_lines),
		STORE_TEST(test_lines_back),
		STORE_TEST(test_watch),
		STORE_TEST(test_stamps),
		STORE_TEST(test_many_writers),
		STORE_TEST(test_reopen),
		STORE_TEST(test_fold),
		STORE_TEST(test_fold_long_lines),
		STORE_TEST(test_fold_beside_appends),
	};

	RUN_ON_ENGINES(tests);
}

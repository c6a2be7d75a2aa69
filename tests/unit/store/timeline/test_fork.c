/*
 * Forks: what of a session is in its copy.
 */
#include "store/timeline/fork.h"
#include "store/timeline/loose.h"
#include "tests/unit/store/turn/turn_append.h"

#include "store/open.h"
#include "store/remove.h"
#include "store/session/log.h"
#include "store/session/mark.h"
#include "store/session/state.h"
#include "store/timeline/rewind.h"
#include "store/turn/text.h"
#include "store/turn/turn.h"
#include "store/tx/key.h"
#include "tests/unit/store/store_rig.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void append(const char *id, const char *actions, size_t filling)
{
	CLEANUP(buf_release) struct buf line = { 0 };
	CLEANUP(event_release) struct event e = { 0 };

	buf_printf(&line, "{\"author\":\"user\",\"id\":\"%s\",\"actions\":{%s},\"content\":{", id,
		   actions);
	buf_printf(&line, "\"role\":\"user\",\"parts\":[{\"text\":\"");
	while (filling--)
		buf_char(&line, 'x');
	buf_text(&line, "\"}]}}");
	OK(event_from_json(buf_span(&line), &e, &err));
	OK(session_append(st, session, &e, 1, &err));
}

static void read_log(struct ref ref, struct buf *out)
{
	struct scope_info info;

	OK(scope_stat(st, ref, &info, &err));
	OK(session_read(st, ref, 0, info.log_size, out, &err));
	assert_int_equal(out->len, info.log_size);
}

/* The copy's log is the first bytes of the session's, and its ids are known. */
static void expect_prefix(struct ref copy, uint64_t length)
{
	CLEANUP(buf_release) struct buf whole = { 0 };
	CLEANUP(buf_release) struct buf part = { 0 };

	read_log(session, &whole);
	read_log(copy, &part);
	assert_int_equal(part.len, length);
	assert_true(part.len <= whole.len);
	assert_memory_equal(whole.data, part.data, part.len);
}

static struct ref fork_at(const char *id, const char *event)
{
	struct ref copy = { 0 };

	OK(session_fork(st, session, id, span_of(event), &copy, &err));
	return copy;
}

static void expect_state(struct ref ref, const char *want)
{
	CLEANUP(buf_release) struct buf map = { 0 };

	OK(state_map(st, ref, &map, &err));
	assert_string_equal(buf_cstr(&map), want);
}

static void test_copy(void **state UNUSED)
{
	struct scope_info from;
	struct scope_info to;
	struct ref copy;
	struct ref found;
	uint64_t start;
	uint64_t length;

	append("a", "\"stateDelta\":{\"k\":1,\"gone\":1,\"user:u\":1}", 10);
	append("b", "\"stateDelta\":{\"k\":{\"x\":[1.50]}}", 10);
	OK(state_delete(st, session, SPAN("gone"), &err));
	copy = fork_at("copy", "");
	OK(scope_find(st, user, "copy", &found, &to, &err));
	OK(scope_stat(st, session, &from, &err));
	assert_int_equal(found.session, copy.session);
	assert_int_equal(to.events, 3);
	assert_int_equal(to.updated, from.updated);
	expect_prefix(copy, from.log_size);
	expect_state(copy, "{\"k\":{\"x\":[1.50]},\"user:u\":1}");
	OK(session_find_event(st, copy, SPAN("b"), &start, &length, &err));
	copy = fork_at("first", "a");
	expect_prefix(copy, start);
	expect_state(copy, "{\"gone\":1,\"k\":1,\"user:u\":1}");
	CODE(session_find_event(st, copy, SPAN("b"), &start, &length, &err), -ENOENT);
	OK(scope_stat(st, user, &from, &err));
	assert_int_equal(from.members, 3);
}

static void test_refused(void **state UNUSED)
{
	struct scope_info info;

	append("a", "", 1);
	CODE(session_fork(st, session, "session", SPAN(""), NULL, &err), -EEXIST);
	CODE(session_fork(st, session, "", SPAN(""), NULL, &err), -EINVAL);
	CODE(session_fork(st, session, "x", SPAN("b"), NULL, &err), -ENOENT);
	OK(scope_remove(st, session, &err));
	CODE(session_fork(st, session, "x", SPAN(""), NULL, &err), -ESTALE);
	OK(scope_stat(st, user, &info, &err));
	assert_int_equal(info.members, 0);
}

/* Logs of many segments, with lines longer than one, folded or not. */
static void test_large(void **state UNUSED)
{
	struct scope_info info;
	char id[32];
	int i;

	for (i = 0; i < 40; i++) {
		(void)snprintf(id, sizeof id, "%d", i);
		append(id, "\"stateDelta\":{\"n\":1}", (size_t)(i * i) * 1999);
		if (i == 20)
			OK(session_fold(st, session, &err));
	}
	OK(scope_stat(st, session, &info, &err));
	expect_prefix(fork_at("whole", ""), info.log_size);
	for (i = 0; i < 40; i += 7) {
		uint64_t start;
		uint64_t length;
		char name[32];

		(void)snprintf(id, sizeof id, "%d", i);
		(void)snprintf(name, sizeof name, "at-%d", i);
		OK(session_find_event(st, session, span_of(id), &start, &length, &err));
		expect_prefix(fork_at(name, id), start + length);
	}
}

/* More events and keys than fit into one transaction. */
static void test_many(void **state UNUSED)
{
	struct event *events = calloc(10000, sizeof *events);
	struct scope_info info;
	struct ref copy;
	uint64_t start;
	uint64_t length;
	int i;

	assert_non_null(events);
	for (i = 0; i < 10000; i++) {
		CLEANUP(buf_release) struct buf line = { 0 };

		buf_printf(&line,
			   "{\"author\":\"a\",\"id\":\"%d\",\"actions\":{\"stateDelta\":"
			   "{\"key-%d\":\"%0300d\"}}}",
			   i, i, i);
		OK(event_from_json(buf_span(&line), &events[i], &err));
	}
	for (i = 0; i < 10000; i += 500)
		OK(session_append(st, session, &events[i], 500, &err));
	for (i = 0; i < 10000; i++)
		event_release(&events[i]);
	free(events);
	copy = fork_at("copy", "8999");
	OK(scope_stat(st, copy, &info, &err));
	assert_int_equal(info.events, 9000);
	for (i = 0; i < 10000; i += 99) {
		char id[32];
		char key[32];

		(void)snprintf(id, sizeof id, "%d", i);
		(void)snprintf(key, sizeof key, "key-%d", i);
		CODE(session_find_event(st, copy, span_of(id), &start, &length, &err),
		     i < 9000 ? 0 : -ENOENT);
		CODE(state_get(st, copy, span_of(key), NULL, NULL, &err), i < 9000 ? 0 : -ENOENT);
	}
}

static uint64_t submit(const char *invocation, struct turn_info *info)
{
	CLEANUP(buf_release) struct buf line = { 0 };
	CLEANUP(event_release) struct event e = { 0 };

	buf_printf(&line,
		   "{\"author\":\"user\",\"invocationId\":\"%s\",\"id\":\"u-%s\",\"content\":"
		   "{\"role\":\"user\",\"parts\":[{\"text\":\"hi\"}]}}",
		   invocation, invocation);
	OK(event_from_json(buf_span(&line), &e, &err));
	OK(turn_submit(st, session, 0, &e, info, &err));
	return info->n;
}

static void answer(const char *invocation, uint64_t n, const char *id, bool ends)
{
	CLEANUP(buf_release) struct buf line = { 0 };
	CLEANUP(event_release) struct event e = { 0 };

	buf_printf(&line,
		   "{\"author\":\"me\",\"invocationId\":\"%s\",\"id\":\"%s\",\"content\":"
		   "{\"role\":\"model\",\"parts\":[{\"text\":\"said\"}]}}",
		   invocation, id);
	OK(event_from_json(buf_span(&line), &e, &err));
	if (ends)
		OK(turn_commit(st, session, n,
			       &(struct turn_commit){ .events = &e, .count = 1, .end = TURN_DONE },
			       NULL, &err));
	else
		OK(turn_append(st, session, n, &e, 1, NULL, &err));
}

static void expect_turn(struct ref ref, uint64_t n, enum turn_state state, const char *output)
{
	CLEANUP(buf_release) struct buf text = { 0 };
	CLEANUP(buf_release) struct buf lines = { 0 };
	struct turn_info info;

	OK(turn_stat(st, ref, n, &info, &err));
	assert_int_equal(info.state, state);
	assert_true(info.ended != 0 || ref.session == session.session);
	OK(turn_output(st, ref, &info, &text, &err));
	assert_string_equal(text.len ? buf_cstr(&text) : "", output);
	assert_int_equal(text.len, info.output_size);
	OK(turn_events(st, ref, &info, &lines, &err));
	assert_int_equal(lines.len, info.bytes);
}

static void test_turns(void **state UNUSED)
{
	struct turn_info info;
	struct ref copy;
	uint64_t one = submit("e-1", &info);
	uint64_t two;

	answer("e-1", one, "a1", false);
	two = submit("e-2", &info); /* it waits, between the lines of the first */
	answer("e-1", one, "a2", true);
	answer("e-2", two, "b1", false);
	copy = fork_at("running", "");
	expect_turn(copy, 1, TURN_DONE, "said\nsaid\n");
	expect_turn(copy, 2, TURN_FAILED, "said\n");
	CODE(turn_current(st, copy, &info, &err), -ENOENT);
	copy = fork_at("before", "a1");
	expect_turn(copy, 1, TURN_FAILED, "said\n");
	CODE(turn_stat(st, copy, 2, &info, &err), -ENOENT);
	copy = fork_at("between", "u-e-2");
	expect_turn(copy, 1, TURN_FAILED, "said\n");
	expect_turn(copy, 2, TURN_FAILED, "");
	answer("e-2", two, "b2", true);
	/* What happens later changes no copy; numbers go on. */
	expect_turn(copy, 2, TURN_FAILED, "");
	copy = fork_at("done", "");
	expect_turn(copy, 2, TURN_DONE, "said\nsaid\n");
	OK(session_rewind(st, copy, SPAN("e-2"), &err));
	session = copy;
	assert_int_equal(submit("e-3", &info), 3);
}

/* A fork of a fork, of a session with rewinds. */
static void test_rewound(void **state UNUSED)
{
	struct turn_info info;
	struct ref copy;

	append("p", "\"stateDelta\":{\"k\":0}", 1);
	OK(turn_end(st, session, submit("e-1", &info), TURN_DONE, NULL, &err));
	append("a", "\"stateDelta\":{\"k\":1,\"n\":1}", 1);
	OK(session_rewind(st, session, SPAN("e-1"), &err));
	copy = fork_at("copy", "");
	expect_state(copy, "{\"k\":0}");
	CODE(session_rewind(st, copy, SPAN("e-1"), &err), -ENOENT);
	session = copy;
	copy = fork_at("copy of copy", "a");
	expect_state(copy, "{\"k\":1,\"n\":1}");
	OK(session_rewind(st, copy, SPAN("e-1"), &err));
	expect_state(copy, "{\"k\":0}");
}

static int count_mark(void *arg, uint64_t at, struct span line)
{
	CLEANUP(event_release) struct event e = { 0 };
	uint64_t *sum = arg;

	OK(event_from_json(line, &e, &err));
	assert_true(event_action(&e, ACTION_REWIND).len || event_action(&e, ACTION_COMPACTION).len);
	sum[0]++;
	sum[1] += at;
	return 0;
}

/* Where rewinds and compactions are is known, in a copy too. */
static void test_marks(void **state UNUSED)
{
	uint64_t seen[2] = { 0 };
	struct scope_info info;
	struct ref copy;

	append("a", "", 0);
	append("b",
	       "\"rewindBeforeInvocationId\":\"x\",\"compaction\":{\"startTimestamp\":1,"
	       "\"endTimestamp\":2,\"compactedContent\":{}}",
	       2);
	append("c", "\"rewindBeforeInvocationId\":\"x\"", 2);
	append("d", "", 0);
	copy = fork_at("copy", "b");
	OK(scope_stat(st, copy, &info, &err));
	assert_int_equal(info.rewinds, 1);
	OK(mark_lines(st, (struct log_range){ copy, 0, info.log_size }, ACTION_REWIND, count_mark,
		      seen, &err));
	assert_int_equal(seen[0], 1);
	OK(mark_lines(st, (struct log_range){ copy, 0, info.log_size }, ACTION_COMPACTION,
		      count_mark, seen, &err));
	assert_int_equal(seen[0], 2);
	OK(mark_lines(st, (struct log_range){ copy, 0, seen[1] / 2 }, ACTION_COMPACTION, count_mark,
		      seen, &err));
	assert_int_equal(seen[0], 2);
	OK(mark_lines(st, (struct log_range){ session, 0, UINT64_MAX }, ACTION_REWIND, count_mark,
		      seen, &err));
	assert_int_equal(seen[0], 4);
	OK(scope_remove(st, session, &err));
	OK(mark_lines(st, (struct log_range){ session, 0, UINT64_MAX }, ACTION_REWIND, count_mark,
		      seen, &err));
	assert_int_equal(seen[0], 4);
}

static int put_leftovers(struct store_tx *tx, void *arg)
{
	uint64_t number = *(uint64_t *)arg;
	struct key keys[] = {
		key_1(KEY_LOOSE, number),     key_2(KEY_SEGMENT, number, 10),
		key_event(number, SPAN("x")), key_2(KEY_TURN, number, 1),
		key_2(KEY_MARK, number, 1),   key_name(number, KEY_STATE, SPAN("k"))
	};
	size_t i;

	store_put(tx, &keys[0], SPAN("")); /* as format 1 has it */
	for (i = 1; i < ARRAY_SIZE(keys); i++)
		store_put(tx, &keys[i], SPAN("something."));
	return 0;
}

static int count_row(void *arg, struct span key UNUSED, struct span value UNUSED)
{
	++*(int *)arg;
	return 0;
}

static int count_leftovers(struct store_tx *tx, void *arg)
{
	static const enum key_space spaces[] = { KEY_LOOSE, KEY_SEGMENT, KEY_EVENT,
						 KEY_TURN,  KEY_MARK,    KEY_NAME };
	uint64_t number = *(uint64_t *)arg;
	int count = 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(spaces); i++) {
		struct key prefix = key_1(spaces[i], number);
		int r = store_scan(tx, &prefix, &prefix, count_row, &count);

		if (r < 0)
			return r;
	}
	return count;
}

static void test_recover(void **state UNUSED)
{
	uint64_t number = store_new_number(st, &err);
	struct ref copy;

	append("a", "\"stateDelta\":{\"k\":0}", 1);
	copy = fork_at("copy", "");
	OK(store_update(st, put_leftovers, &number, &err));
	CODE(store_view(st, count_leftovers, &number, &err), 6);
	OK(loose_recover(st, &err));
	OK(loose_drop_all(st, &err));
	OK(store_view(st, count_leftovers, &number, &err));
	expect_state(copy, "{\"k\":0}");
	/* A refused fork leaves nothing either. */
	CODE(session_fork(st, session, "copy", SPAN(""), NULL, &err), -EEXIST);
	OK(loose_recover(st, &err));
	wait_dropped();
	if (strcmp(engine, "memory") == 0)
		return;
	OK(store_update(st, put_leftovers, &number, &err));
	store_close(st);
	open_store();
	wait_dropped();
	OK(store_view(st, count_leftovers, &number, &err));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		STORE_TEST(test_copy),  STORE_TEST(test_refused), STORE_TEST(test_large),
		STORE_TEST(test_many),  STORE_TEST(test_turns),   STORE_TEST(test_rewound),
		STORE_TEST(test_marks), STORE_TEST(test_recover),
	};

	RUN_ON_ENGINES(tests);
}

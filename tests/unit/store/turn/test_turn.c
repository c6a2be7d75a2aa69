/*
 * Turns: a message, what answered it, how it ended; and messages on the way.
 */
#include "store/turn/turn.h"
#include "tests/unit/store/turn/turn_append.h"

#include "base/clock.h"
#include "store/open.h"
#include "store/remove.h"
#include "store/session/log.h"
#include "store/turn/staged.h"
#include "store/turn/text.h"
#include "tests/unit/store/store_rig.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* An event of a turn with one text; NULL: none. */
static void make(struct event *e, const char *invocation, const char *author, const char *text)
{
	CLEANUP(content_free_p) struct content *content = content_new("model");

	*e = (struct event){ 0 };
	event_set_text(e, EVENT_INVOCATION, span_of(invocation));
	event_set_text(e, EVENT_AUTHOR, span_of(author));
	if (!text)
		return;
	assert_int_equal(content_add_text(content, span_of(text), false), 0);
	event_set_content(e, content);
}

static int submit(struct ref where, const char *invocation, const char *text,
		  struct turn_info *info)
{
	struct event e;
	int r;

	make(&e, invocation, "user", text);
	r = turn_submit(st, where, 0, &e, info, &err);
	event_release(&e);
	return r;
}

static void answer(uint64_t n, const char *invocation, const char *author, const char *text,
		   struct turn_info *info)
{
	struct event e;

	make(&e, invocation, author, text);
	OK(turn_append(st, session, n, &e, 1, info, &err));
	event_release(&e);
}

static void expect_text(int (*show)(struct store *, struct ref, const struct turn_info *,
				    struct buf *, struct err *),
			uint64_t n, const char *want)
{
	CLEANUP(buf_release) struct buf out = { 0 };
	struct turn_info info;

	OK(turn_stat(st, session, n, &info, &err));
	OK(show(st, session, &info, &out, &err));
	assert_string_equal(out.len ? buf_cstr(&out) : "", want);
}

static void test_submit(void **state UNUSED)
{
	struct turn_info info;
	struct turn_info same;
	struct scope_info scope;
	int64_t before = clock_now();

	OK(submit(session, "e-1", "hello", &info));
	assert_int_equal(info.n, 1);
	assert_int_equal(info.state, TURN_QUEUED);
	assert_string_equal(info.invocation, "e-1");
	assert_int_equal(info.input_size, 5);
	assert_int_equal(info.output_size, 0);
	assert_int_equal(info.first, 0);
	assert_in_range(info.created, before, clock_now());
	assert_int_equal(info.started + info.ended, 0);
	OK(scope_stat(st, session, &scope, &err));
	assert_int_equal(scope.turns, 1);
	assert_int_equal(scope.log_size, info.last);
	assert_int_equal(info.bytes, info.last);
	OK(turn_stat(st, session, 1, &same, &err));
	assert_memory_equal(&same, &info, sizeof info);
	OK(submit(session, "e-2", "", &info));
	assert_int_equal(info.n, 2);
	assert_true(info.number > same.number);
	assert_int_equal(info.first, same.last);
	expect_text(turn_input, 1, "hello");
	expect_text(turn_input, 2, "");
	CODE(turn_stat(st, session, 3, &info, &err), -ENOENT);
	CODE(turn_stat(st, session, 0, &info, &err), -ENOENT);
}

static void test_refused_submits(void **state UNUSED)
{
	char long_id[80];
	struct turn_info info = { .n = 99 };
	struct scope_info scope;
	struct event e;

	memset(long_id, 'e', sizeof long_id);
	long_id[64] = 0;
	CODE(submit(session, long_id, "x", &info), -EINVAL);
	make(&e, "e-1", "user", "x");
	event_set_text(&e, EVENT_ID, SPAN("same"));
	OK(turn_submit(st, session, 0, &e, &info, &err));
	CODE(turn_submit(st, session, 0, &e, &info, &err), -EEXIST);
	event_release(&e);
	OK(scope_stat(st, session, &scope, &err));
	assert_int_equal(scope.turns, 1);
	assert_int_equal(scope.events, 1);
	long_id[63] = 0;
	OK(submit(session, long_id, "x", &info));
	assert_string_equal(info.invocation, long_id);
	OK(scope_remove(st, session, &err));
	CODE(submit(session, "e-3", "x", &info), -ESTALE);
}

static void test_life(void **state UNUSED)
{
	struct turn_info info;
	struct event last;
	uint64_t stamp;

	OK(submit(session, "e-1", "hi", &info));
	stamp = info.stamp;
	OK(turn_start(st, session, 1, "clerk", &info, &err));
	assert_int_equal(info.state, TURN_RUNNING);
	assert_string_equal(info.agent, "clerk");
	assert_true(info.started > 0 && info.stamp > stamp);
	answer(1, "e-1", "clerk", "one", &info);
	assert_int_equal(info.output_size, 4);
	answer(1, "e-1", "clerk", "two\n", &info);
	assert_int_equal(info.output_size, 8);
	answer(1, "e-1", "clerk", NULL, &info);
	make(&last, "e-1", "clerk", "end");
	OK(turn_commit(st, session, 1,
		       &(struct turn_commit){ .events = &last, .count = 1, .end = TURN_DONE },
		       &info, &err));
	event_release(&last);
	assert_int_equal(info.state, TURN_DONE);
	assert_string_equal(info.error, "");
	assert_true(info.ended >= info.started);
	assert_int_equal(info.output_size, 12);
	expect_text(turn_input, 1, "hi");
	expect_text(turn_output, 1, "one\ntwo\nend\n");
}

static void test_failed_turn(void **state UNUSED)
{
	struct turn_info info;

	OK(submit(session, "e-1", "hi", &info));
	OK(turn_end(st, session, 1, TURN_FAILED, "the model said no", &err));
	OK(turn_stat(st, session, 1, &info, &err));
	assert_int_equal(info.state, TURN_FAILED);
	assert_string_equal(info.error, "the model said no");
	CODE(turn_current(st, session, &info, &err), -ENOENT);
}

/* Lines of two turns lie mixed; each turn tells its own. */
static void test_mixed_turns(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf log = { 0 };
	CLEANUP(buf_release) struct buf first = { 0 };
	CLEANUP(buf_release) struct buf second = { 0 };
	struct turn_info info[2];

	OK(submit(session, "e-1", "one?", &info[0]));
	OK(submit(session, "e-10", "ten?", &info[1])); /* the id of one begins the other's */
	answer(1, "e-1", "a", "one e-10", &info[0]);
	answer(2, "e-10", "a", "ten e-1", &info[1]);
	answer(1, "e-1", "b", "more", &info[0]);
	expect_text(turn_input, 1, "one?");
	expect_text(turn_input, 2, "ten?");
	expect_text(turn_output, 1, "one e-10\nmore\n");
	expect_text(turn_output, 2, "ten e-1\n");
	OK(turn_events(st, session, &info[0], &first, &err));
	OK(turn_events(st, session, &info[1], &second, &err));
	assert_int_equal(first.len, info[0].bytes);
	assert_int_equal(second.len, info[1].bytes);
	OK(session_read(st, session, 0, 1 << 20, &log, &err));
	assert_int_equal(log.len, first.len + second.len);
}

/* What the log says to a reader: thoughts and the user are no answer. */
static void test_output(void **state UNUSED)
{
	static const struct {
		const char *line, *want;
	} rows[] = {
		{ "{\"author\":\"a\",\"content\":{\"role\":\"model\",\"parts\":[{\"text\":\"x\"},{"
		  "\"text\":\"y\"}]}}",
		  "xy\n" },
		{ "{\"author\":\"a\",\"content\":{\"parts\":[{\"text\":\"hm\",\"thought\":true}]}}",
		  "" },
		{ "{\"author\":\"a\",\"content\":{\"parts\":[{\"functionCall\":{\"name\":\"f\"}}]}"
		  "}",
		  "" },
		{ "{\"author\":\"user\",\"content\":{\"parts\":[{\"text\":\"mine\"}]}}", "" },
		{ "{\"author\":\"a\"}", "" },
		{ "{\"author\":\"a\",\"content\":{}}", "" },
		{ "{\"author\":\"a\",\"content\":{\"parts\":[{\"text\":\"\\n\"}]}}", "\n" },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		CLEANUP(event_release) struct event e = { 0 };
		CLEANUP(buf_release) struct buf out = { 0 };

		OK(event_from_json(span_of(rows[i].line), &e, &err));
		buf_char(&out, '<');
		OK(turn_event_output(&e, &out));
		assert_string_equal(buf_cstr(&out) + 1, rows[i].want);
	}
}

/* The size that is shown is the size of what is read. */
static void test_output_size(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf out = { 0 };
	struct turn_info info;
	struct event e;

	OK(submit(session, "e-1", "hi", &info));
	make(&e, "e-1", "a", "part");
	event_set_json(&e, EVENT_PARTIAL, SPAN("true"));
	OK(turn_append(st, session, 1, &e, 1, &info, &err));
	event_release(&e);
	answer(1, "e-1", "a", "whole", &info);
	OK(turn_output(st, session, &info, &out, &err));
	assert_string_equal(buf_cstr(&out), "whole\n");
	assert_int_equal(info.output_size, out.len);
}

static void test_current(void **state UNUSED)
{
	struct turn_info info;

	CODE(turn_current(st, session, &info, &err), -ENOENT);
	OK(submit(session, "e-1", "a", &info));
	OK(submit(session, "e-2", "b", &info));
	OK(submit(session, "e-3", "c", &info));
	OK(turn_current(st, session, &info, &err));
	assert_int_equal(info.n, 1);
	OK(turn_start(st, session, 1, "a", NULL, &err));
	OK(turn_current(st, session, &info, &err));
	assert_int_equal(info.n, 1);
	OK(turn_end(st, session, 2, TURN_FAILED, "cancelled", &err));
	OK(turn_end(st, session, 1, TURN_DONE, NULL, &err));
	OK(turn_current(st, session, &info, &err));
	assert_int_equal(info.n, 3);
	OK(turn_end(st, session, 3, TURN_DONE, NULL, &err));
	CODE(turn_current(st, session, &info, &err), -ENOENT);
}

static int note_turn(void *arg, const struct turn_info *info)
{
	buf_printf(arg, "%llu:%d ", (unsigned long long)info->n, (int)info->state);
	return info->n == 3 ? 8 : 0;
}

static void test_list(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf seen = { 0 };
	struct turn_info info;

	OK(turn_list(st, session, 0, note_turn, &seen, &err));
	OK(submit(session, "e-1", "a", &info));
	OK(submit(session, "e-2", "b", &info));
	OK(turn_end(st, session, 1, TURN_DONE, NULL, &err));
	OK(turn_list(st, session, 0, note_turn, &seen, &err));
	assert_string_equal(buf_cstr(&seen), "1:2 2:0 ");
	buf_clear(&seen);
	OK(turn_list(st, session, 1, note_turn, &seen, &err));
	assert_string_equal(buf_cstr(&seen), "2:0 ");
	OK(submit(session, "e-3", "c", &info));
	OK(submit(session, "e-4", "d", &info));
	buf_clear(&seen);
	CODE(turn_list(st, session, 0, note_turn, &seen, &err), 8);
	assert_string_equal(buf_cstr(&seen), "1:2 2:0 3:0 ");
}

static int note_unfinished(void *arg, struct ref ref, uint64_t n)
{
	buf_printf(arg, "%llu/%llu/%llu:%llu ", (unsigned long long)ref.app,
		   (unsigned long long)ref.user, (unsigned long long)ref.session,
		   (unsigned long long)n);
	return 0;
}

static void expect_unfinished(struct ref first, const uint64_t *firsts, struct ref second,
			      const uint64_t *seconds)
{
	CLEANUP(buf_release) struct buf seen = { 0 };
	CLEANUP(buf_release) struct buf want = { 0 };

	for (; *firsts; firsts++)
		(void)note_unfinished(&want, first, *firsts);
	for (; *seconds; seconds++)
		(void)note_unfinished(&want, second, *seconds);
	OK(turn_unfinished(st, note_unfinished, &seen, &err));
	assert_string_equal(seen.len ? buf_cstr(&seen) : "", want.len ? buf_cstr(&want) : "");
}

static void test_unfinished(void **state UNUSED)
{
	struct turn_info info;
	struct ref other;

	expect_unfinished(session, (uint64_t[]){ 0 }, session, (uint64_t[]){ 0 });
	OK(scope_create(st, user, "other", &other, NULL, &err));
	OK(submit(other, "f-1", "x", &info));
	OK(submit(session, "e-1", "x", &info));
	OK(submit(session, "e-2", "x", &info));
	OK(submit(session, "e-3", "x", &info));
	OK(turn_start(st, session, 1, "a", NULL, &err));
	OK(turn_end(st, session, 2, TURN_FAILED, "x", &err));
	expect_unfinished(session, (uint64_t[]){ 1, 3, 0 }, other, (uint64_t[]){ 1, 0 });
	if (strcmp(engine, "memory") != 0) {
		store_close(st);
		open_store();
		expect_unfinished(session, (uint64_t[]){ 1, 3, 0 }, other, (uint64_t[]){ 1, 0 });
	}
	OK(scope_remove(st, session, &err));
	expect_unfinished(session, (uint64_t[]){ 0 }, other, (uint64_t[]){ 1, 0 });
	OK(turn_end(st, other, 1, TURN_DONE, NULL, &err));
	expect_unfinished(session, (uint64_t[]){ 0 }, other, (uint64_t[]){ 0 });
}

/* A turn keeps what it needs when the log behind it is folded. */
static void test_folded(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf text = { 0 };
	CLEANUP(buf_release) struct buf want = { 0 };
	struct turn_info info;
	int i;

	while (text.len < 90000)
		buf_text(&text, "a long answer ");
	OK(submit(session, "e-1", "hi", &info));
	for (i = 0; i < 14; i++) {
		answer(1, "e-1", "a", buf_cstr(&text), &info);
		buf_printf(&want, "%s\n", text.data);
	}
	OK(session_fold(st, session, &err));
	assert_true(seal_now() > 0);
	expect_text(turn_input, 1, "hi");
	expect_text(turn_output, 1, buf_cstr(&want));
}

/* A log that only turns make grow is folded too, with nobody asking for it. */
static void test_turns_fold(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf text = { 0 };
	struct turn_info info;
	uint64_t deadline;
	int i;

	while (text.len < 90000)
		buf_text(&text, "a long answer ");
	OK(submit(session, "e-1", "hi", &info));
	for (i = 0; i < 30; i++)
		answer(1, "e-1", "a", buf_cstr(&text), &info);
	/* The store's own thread does it, while others read. */
	deadline = clock_monotonic() + 3ull * NSEC_PER_SEC;
	while (!seal_now() && clock_monotonic() < deadline)
		expect_text(turn_input, 1, "hi");
	assert_true(seal_now() > 0);
}

static void test_errors_of_turns(void **state UNUSED)
{
	struct turn_info info;
	struct event e;

	OK(submit(session, "e-1", "hi", &info));
	make(&e, "e-1", "a", "x");
	event_set_text(&e, EVENT_ID, SPAN("same"));
	OK(turn_append(st, session, 1, &e, 1, &info, &err));
	CODE(turn_append(st, session, 1, &e, 1, &info, &err), -EEXIST);
	CODE(turn_commit(st, session, 1,
			 &(struct turn_commit){ .events = &e, .count = 1, .end = TURN_DONE }, &info,
			 &err),
	     -EEXIST);
	OK(turn_stat(st, session, 1, &info, &err));
	assert_int_equal(info.state, TURN_QUEUED); /* nothing of it happened */
	if (turn_append(st, session, 2, &e, 1, &info, &err) >= 0)
		fail_msg("an event of a turn that is not there");
	OK(scope_remove(st, session, &err));
	event_release(&e);
	make(&e, "e-1", "a", "x");
	CODE(turn_append(st, session, 1, &e, 1, &info, &err), -ESTALE);
	CODE(turn_start(st, session, 1, "a", &info, &err), -ESTALE);
	CODE(turn_commit(st, session, 1, &(struct turn_commit){ .end = TURN_DONE }, &info, &err),
	     -ESTALE);
	event_release(&e);
}

static int note_message(void *arg, const struct staged_message *m, struct span text)
{
	buf_printf(arg, "%llu/%llu/%llu %llu %d ", (unsigned long long)m->session.app,
		   (unsigned long long)m->session.user, (unsigned long long)m->session.session,
		   (unsigned long long)m->number, (int)m->kind);
	buf_span_add(arg, text);
	buf_char(arg, '|');
	return 0;
}

static void expect_staged(const struct buf *want)
{
	CLEANUP(buf_release) struct buf seen = { 0 };

	OK(message_staged(st, note_message, &seen, &err));
	assert_int_equal(seen.len, want->len);
	if (want->len)
		assert_memory_equal(seen.data, want->data, want->len);
}

static void test_staged(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf big = { 0 };
	CLEANUP(buf_release) struct buf want = { 0 };
	uint64_t first = store_new_number(st, &err);
	uint64_t second = store_new_number(st, &err);
	uint64_t empty = store_new_number(st, &err);
	size_t i;

	expect_staged(&want);
	for (i = 0; i < (5u << 19); i++) /* two pieces and a half */
		buf_char(&big, (char)('a' + i % 19));
	OK(message_stage(st, &(struct staged_message){ session, first, MESSAGE_TEXT }, 0,
			 SPAN("hello"), &err));
	OK(message_stage(st, &(struct staged_message){ session, second, MESSAGE_JSON }, 0,
			 span_sub(buf_span(&big), 0, 2u << 20), &err));
	OK(message_stage(st, &(struct staged_message){ session, second, MESSAGE_JSON }, 2,
			 span_sub(buf_span(&big), 2u << 20, big.len), &err));
	OK(message_stage(st, &(struct staged_message){ session, empty, MESSAGE_TEXT }, 0, SPAN(""),
			 &err));
	(void)note_message(&want, &(struct staged_message){ session, first, MESSAGE_TEXT },
			   SPAN("hello"));
	(void)note_message(&want, &(struct staged_message){ session, second, MESSAGE_JSON },
			   buf_span(&big));
	(void)note_message(&want, &(struct staged_message){ session, empty, MESSAGE_TEXT },
			   SPAN(""));
	expect_staged(&want);
	if (strcmp(engine, "memory") != 0) {
		store_close(st);
		open_store();
		expect_staged(&want);
	}
	OK(message_drop(st, first, &err));
	OK(message_drop(st, empty, &err));
	OK(message_drop(st, empty, &err));
	buf_clear(&want);
	(void)note_message(&want, &(struct staged_message){ session, second, MESSAGE_JSON },
			   buf_span(&big));
	expect_staged(&want);
}

static int stop_at_message(void *arg, const struct staged_message *message UNUSED,
			   struct span text UNUSED)
{
	++*(int *)arg;
	return 6;
}

static void test_staged_stops(void **state UNUSED)
{
	int calls = 0;

	OK(message_stage(
		st, &(struct staged_message){ session, store_new_number(st, &err), MESSAGE_TEXT },
		0, SPAN("a"), &err));
	OK(message_stage(
		st, &(struct staged_message){ session, store_new_number(st, &err), MESSAGE_TEXT },
		0, SPAN("b"), &err));
	CODE(message_staged(st, stop_at_message, &calls, &err), 6);
	assert_int_equal(calls, 1);
}

/* The turn takes the pieces with it, or they stay. */
static void test_staged_and_submitted(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf want = { 0 };
	uint64_t message = store_new_number(st, &err);
	struct turn_info info;
	struct event e;

	OK(message_stage(st, &(struct staged_message){ session, message, MESSAGE_TEXT }, 0,
			 SPAN("hello"), &err));
	(void)note_message(&want, &(struct staged_message){ session, message, MESSAGE_TEXT },
			   SPAN("hello"));
	make(&e, "e-1", "user", "hello");
	event_set_text(&e, EVENT_ID, SPAN("x"));
	OK(turn_submit(st, session, 0, &e, &info, &err));
	CODE(turn_submit(st, session, message, &e, &info, &err), -EEXIST);
	expect_staged(&want);
	event_set_text(&e, EVENT_ID, SPAN("y"));
	OK(turn_submit(st, session, message, &e, &info, &err));
	event_release(&e);
	buf_clear(&want);
	expect_staged(&want);
}

static void note_change(void *arg, const struct change *change)
{
	buf_printf(arg, "%d %llu %d %llu;", (int)change->kind,
		   (unsigned long long)change->ref.session, change->item != 0,
		   (unsigned long long)change->turn);
}

static void test_watch(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf seen = { 0 };
	CLEANUP(buf_release) struct buf want = { 0 };
	unsigned long long s = session.session;
	struct turn_info info;

	store_watch(st, note_change, &seen);
	OK(submit(session, "e-1", "hi", &info));
	buf_printf(&want, "%d %llu 1 1;%d %llu 0 0;", CHANGE_TURN_ADDED, s, CHANGE_LOG, s);
	OK(turn_start(st, session, 1, "a", NULL, &err));
	buf_printf(&want, "%d %llu 1 1;", CHANGE_TURN, s);
	answer(1, "e-1", "a", "x", &info);
	buf_printf(&want, "%d %llu 1 1;%d %llu 0 0;", CHANGE_TURN, s, CHANGE_LOG, s);
	OK(turn_end(st, session, 1, TURN_DONE, NULL, &err));
	buf_printf(&want, "%d %llu 1 1;", CHANGE_TURN, s);
	assert_string_equal(buf_cstr(&seen), buf_cstr(&want));
	store_watch(st, NULL, NULL);
}

/* Text that does not fit its field is cut, not spilt. */
static void test_long_texts(void **state UNUSED)
{
	char text[600];
	struct turn_info info;

	memset(text, 't', sizeof text);
	text[599] = 0;
	OK(submit(session, "e-1", "x", &info));
	OK(turn_start(st, session, 1, text, NULL, &err));
	OK(turn_end(st, session, 1, TURN_FAILED, text, &err));
	OK(turn_stat(st, session, 1, &info, &err));
	assert_int_equal(strlen(info.agent), sizeof info.agent - 1);
	assert_int_equal(strlen(info.error), sizeof info.error - 1);
}

static void test_reopen(void **state UNUSED)
{
	struct turn_info before;
	struct turn_info after;

	if (!strcmp(engine, "memory"))
		skip();
	OK(submit(session, "e-1", "hi", &before));
	OK(turn_start(st, session, 1, "a", &before, &err));
	answer(1, "e-1", "a", "x", &before);
	store_close(st);
	open_store();
	OK(turn_stat(st, session, 1, &after, &err));
	assert_memory_equal(&after, &before, sizeof before);
	OK(submit(session, "e-2", "hi", &after));
	assert_int_equal(after.n, 2);
	assert_true(after.number > before.number);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		STORE_TEST(test_submit),
		STORE_TEST(test_refused_submits),
		STORE_TEST(test_life),
		STORE_TEST(test_failed_turn),
		STORE_TEST(test_mixed_turns),
		STORE_TEST(test_output),
		STORE_TEST(test_output_size),
		STORE_TEST(test_current),
		STORE_TEST(test_list),
		STORE_TEST(test_unfinished),
		STORE_TEST(test_folded),
		STORE_TEST(test_turns_fold),
		STORE_TEST(test_errors_of_turns),
		STORE_TEST(test_staged),
		STORE_TEST(test_staged_stops),
		STORE_TEST(test_staged_and_submitted),
		STORE_TEST(test_watch),
		STORE_TEST(test_long_texts),
		STORE_TEST(test_reopen),
	};

	RUN_ON_ENGINES(tests);
}

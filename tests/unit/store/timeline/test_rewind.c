/*
 * Rewinds: what of state and log is left.
 */
#include "store/timeline/rewind.h"

#include "store/remove.h"
#include "store/session/log.h"
#include "store/session/state.h"
#include "store/timeline/replay.h"
#include "store/turn/turn.h"
#include "tests/unit/store/store_rig.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void make(struct event *e, const char *invocation, const char *actions, const char *rest)
{
	CLEANUP(buf_release) struct buf line = { 0 };

	buf_printf(&line, "{\"author\":\"user\",\"invocationId\":\"%s\",\"actions\":{%s}%s}",
		   invocation, actions, rest);
	OK(event_from_json(buf_span(&line), e, &err));
}

/* A turn with this stateDelta, from its message to its end. */
static uint64_t turn(const char *invocation, const char *delta)
{
	CLEANUP(event_release) struct event e = { 0 };
	CLEANUP(buf_release) struct buf actions = { 0 };
	struct turn_info info;

	buf_printf(&actions, "\"stateDelta\":%s", delta);
	make(&e, invocation, buf_cstr(&actions), "");
	OK(turn_submit(st, session, 0, &e, &info, &err));
	OK(turn_end(st, session, info.n, TURN_DONE, NULL, &err));
	return info.n;
}

static void append(const char *invocation, const char *actions, const char *rest)
{
	CLEANUP(event_release) struct event e = { 0 };

	make(&e, invocation, actions, rest);
	OK(session_append(st, session, &e, 1, &err));
}

static int rewind_before(const char *invocation)
{
	return session_rewind(st, session, span_of(invocation), &err);
}

static void expect_state(const char *want)
{
	CLEANUP(buf_release) struct buf map = { 0 };

	OK(state_map(st, session, &map, &err));
	assert_string_equal(buf_cstr(&map), want);
}

static int keep_last(void *arg, struct span line)
{
	buf_clear(arg);
	buf_span_add(arg, line);
	return 0;
}

/* A member of the last line's actions, or of the line itself. */
static void expect_last(const char *member, bool of_actions, const char *want)
{
	CLEANUP(buf_release) struct buf line = { 0 };
	CLEANUP(buf_release) struct buf got = { 0 };
	struct scope_info info;
	struct span value;

	OK(scope_stat(st, session, &info, &err));
	OK(session_lines(st, (struct log_range){ session, 0, info.log_size }, keep_last, &line,
			 &err));
	value = buf_span(&line);
	if (of_actions)
		OK(json_member(value, "actions", &value));
	if (json_member(value, member, &value) < 0)
		value = SPAN("none");
	buf_span_add(&got, value);
	assert_string_equal(buf_cstr(&got), want);
}

static void test_state_comes_back(void **state UNUSED)
{
	append("p-0", "\"stateDelta\":{\"a\":0,\"start\":true}", "");
	turn("e-1", "{\"a\":1,\"b\":[1, 2]}");
	turn("e-2", "{\"a\":2,\"c\":3,\"user:u\":1,\"app:p\":2}");
	append("p-1", "\"stateDelta\":{\"b\":null}",
	       ",\"customMetadata\":{\"adkfs.deleted\":[\"b\"]}");
	append("p-2", "\"stateDelta\":{\"start\":null}", "");
	OK(rewind_before("e-2"));
	/* The other scopes stay as they are. */
	expect_state("{\"a\":1,\"b\":[1,2],\"start\":true,\"app:p\":2,\"user:u\":1}");
	expect_last("rewindBeforeInvocationId", true, "\"e-2\"");
	expect_last("customMetadata", false, "{\"adkfs.deleted\":[\"c\"]}");
	expect_last("author", false, "\"user\"");
	OK(rewind_before("e-1"));
	expect_state("{\"a\":0,\"start\":true,\"app:p\":2,\"user:u\":1}");
	expect_last("stateDelta", true, "{\"a\":0,\"b\":null}");
}

static void test_what_is_equal_is_not_touched(void **state UNUSED)
{
	turn("e-1", "{\"a\":{\"x\":[1.0]},\"n\":null}");
	OK(state_set(st, session, SPAN("a"), SPAN("{ \"x\" : [1.0] }"), 0, &err));
	turn("e-2", "{}");
	OK(rewind_before("e-2"));
	expect_last("stateDelta", true, "{}");
	expect_last("customMetadata", false, "none");
	expect_state("{\"a\":{\"x\":[1.0]},\"n\":null}");
}

static void test_only_what_is_visible_counts(void **state UNUSED)
{
	turn("e-1", "{\"a\":1}");
	turn("e-2", "{\"a\":2}");
	OK(rewind_before("e-2"));
	CODE(rewind_before("e-2"), -ENOENT);
	CODE(rewind_before("e-7"), -ENOENT);
	CODE(rewind_before(""), -ENOENT);
	turn("e-3", "{\"a\":3}");
	turn("e-4", "{\"a\":4,\"b\":4}");
	OK(rewind_before("e-4"));
	expect_state("{\"a\":3}");
	OK(rewind_before("e-3"));
	expect_state("{\"a\":1}"); /* and not 2 */
	OK(rewind_before("e-1"));
	expect_state("{}");
	CODE(rewind_before("e-1"), -ENOENT);
}

/* An invocation without a turn is none to go back to; lines of others may be undone so. */
static void test_invocation_without_a_turn(void **state UNUSED)
{
	append("g-1", "\"stateDelta\":{\"a\":1}", "");
	append("g-2", "\"stateDelta\":{\"a\":2}", "");
	CODE(rewind_before("g-2"), -ENOENT);
	append("g-3", "\"rewindBeforeInvocationId\":\"g-2\"", "");
	expect_state("{\"a\":2}"); /* an appended line is a record */
	turn("e-1", "{\"b\":1}");
	OK(rewind_before("e-1"));
	expect_state("{\"a\":1}");
}

static void test_not_while_a_turn_is_there(void **state UNUSED)
{
	CLEANUP(event_release) struct event e = { 0 };
	struct turn_info info;
	struct scope_info before;
	struct scope_info after;

	turn("e-1", "{\"a\":1}");
	make(&e, "e-2", "", "");
	OK(turn_submit(st, session, 0, &e, &info, &err));
	OK(scope_stat(st, session, &before, &err));
	CODE(rewind_before("e-1"), -EBUSY);
	OK(turn_start(st, session, info.n, "me", NULL, &err));
	CODE(rewind_before("e-1"), -EBUSY);
	OK(turn_end(st, session, info.n, TURN_FAILED, "no", &err));
	OK(scope_stat(st, session, &after, &err));
	assert_int_equal(before.log_size, after.log_size);
	OK(rewind_before("e-1"));
	OK(scope_remove(st, session, &err));
	CODE(rewind_before("e-1"), -ESTALE);
}

/* A turn's lines are undone also where they stand before the one that goes on. */
static void test_turns_side_by_side(void **state UNUSED)
{
	CLEANUP(event_release) struct event one = { 0 };
	CLEANUP(event_release) struct event two = { 0 };
	CLEANUP(event_release) struct event late = { 0 };
	struct turn_info first;
	struct turn_info second;

	make(&one, "e-1", "\"stateDelta\":{\"a\":1}", "");
	make(&two, "e-2", "\"stateDelta\":{\"a\":2,\"b\":2}", "");
	make(&late, "e-1", "\"stateDelta\":{\"a\":\"late\"}", "");
	OK(turn_submit(st, session, 0, &one, &first, &err));
	OK(turn_submit(st, session, 0, &two, &second, &err));
	OK(turn_commit(st, session, first.n,
		       &(struct turn_commit){ .events = &late, .count = 1, .end = TURN_DONE }, NULL,
		       &err));
	OK(turn_end(st, session, second.n, TURN_DONE, NULL, &err));
	OK(rewind_before("e-2"));
	expect_state("{\"a\":\"late\"}");
}

static void test_many_keys(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf delta = { 0 };
	int i;

	for (i = 0; i < 1000; i++)
		buf_printf(&delta, "%c\"k%d\":%d", i ? ',' : '{', i, i);
	buf_char(&delta, '}');
	turn("e-1", "{\"k7\":true}");
	turn("e-2", buf_cstr(&delta));
	OK(rewind_before("e-2"));
	expect_state("{\"k7\":true}");
}

static void take(struct replay *r, const char *line)
{
	OK(replay_line(r, span_of(line)));
}

static void test_replay(void **state UNUSED)
{
	struct replay r = { 0 };

	take(&r, "{\"content\":{\"parts\":[{\"text\":\"\\\"stateDelta\\\":{\\\"x\\\":1}\"}]}}");
	take(&r, "{\"content\":{\"parts\":[{\"functionCall\":{\"args\":{\"stateDelta\":{\"x\":1}}}}"
		 "]}}");
	assert_null(replay_find(&r.keys, SPAN("x")));
	take(&r, "{\"actions\":{\"stateDelta\":{\"x\":1,\"user:y\":2,\"app:z\":3},"
		 "\"artifactDelta\":{\"a\":1,\"user:a\":7,\"b/c\":12}}}");
	assert_string_equal(buf_cstr(&replay_find(&r.keys, SPAN("x"))->text), "1");
	assert_int_equal(r.keys.count, 1);
	assert_int_equal(replay_find(&r.artifacts, SPAN("b/c"))->version, 12);
	assert_int_equal(r.artifacts.count, 2);
	take(&r,
	     "{\"customMetadata\":{\"adkfs.deleted\":[\"x\"]},"
	     "\"actions\":{\"stateDelta\":{\"x\":null,\"n\":null},\"artifactDelta\":{\"a\":-3}}}");
	assert_int_equal(replay_find(&r.keys, SPAN("x"))->text.len, 0);
	assert_string_equal(buf_cstr(&replay_find(&r.keys, SPAN("n"))->text), "null");
	assert_int_equal(replay_find(&r.artifacts, SPAN("a"))->version, 1);
	CODE(replay_line(&r, SPAN("{\"actions\":{\"stateDelta\":{\"x\":")), -EIO);
	replay_release(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		STORE_TEST(test_state_comes_back),
		STORE_TEST(test_what_is_equal_is_not_touched),
		STORE_TEST(test_only_what_is_visible_counts),
		STORE_TEST(test_invocation_without_a_turn),
		STORE_TEST(test_not_while_a_turn_is_there),
		STORE_TEST(test_turns_side_by_side),
		STORE_TEST(test_many_keys),
		STORE_TEST(test_replay),
	};

	RUN_ON_ENGINES(tests);
}

/*
 * Calls: records of models and tools, made with the events of a turn.
 */
#include "store/turn/call.h"

#include "base/clock.h"
#include "store/remove.h"
#include "store/turn/turn.h"
#include "tests/unit/store/store_rig.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static void parse(struct event *e, const char *line)
{
	OK(event_from_json(span_of(line), e, &err));
}

/* A turn that has the user's message. */
static uint64_t begin(const char *line)
{
	struct turn_info info;
	struct event e;

	parse(&e, line);
	OK(turn_submit(st, session, 0, &e, &info, &err));
	event_release(&e);
	return info.n;
}

#define MESSAGE                                                                                    \
	"{\"author\":\"user\",\"invocationId\":\"e-1\",\"content\":{\"parts\":[{\"text\":\"x\"}]}" \
	"}"

static void report(uint64_t n, const char *line, const struct call_report *reports, size_t count)
{
	struct event e;
	struct turn_commit commit = {
		.events = &e, .count = 1, .reports = reports, .report_count = count
	};
	struct turn_info info;

	parse(&e, line);
	OK(turn_commit(st, session, n, &commit, &info, &err));
	event_release(&e);
}

#define CALL(id, args) "{\"functionCall\":{\"id\":\"" id "\",\"name\":\"t\",\"args\":" args "}}"
#define ANSWER(id, response)                                                                       \
	"{\"functionResponse\":{\"id\":\"" id "\",\"name\":\"t\",\"response\":" response "}}"
#define LINE(author, parts)                                                                        \
	"{\"author\":\"" author "\",\"invocationId\":\"e-1\",\"content\":{\"parts\":[" parts "]}}"

static void expect_part(const struct call_line *where, const char *want)
{
	struct part part = { 0 };

	OK(call_part(st, session, where, &part, &err));
	assert_string_equal(part.json, want);
	part_release(&part);
}

static void expect_stderr(const struct call_info *info, const char *want)
{
	CLEANUP(buf_release) struct buf text = { 0 };

	OK(call_stderr(st, session, info, &text, &err));
	assert_int_equal(text.len, info->stderr_size);
	assert_string_equal(buf_cstr(&text), want);
}

static void test_model_and_tool(void **state UNUSED)
{
	struct call_report model = { .kind = CALL_MODEL,
				     .model = "p/m",
				     .agent = "a",
				     .started = 1000000,
				     .nsec = 2000000,
				     .first_nsec = 1000000,
				     .usage = SPAN(
					     "{\"promptTokenCount\":3,\"totalTokenCount\":5}") };
	struct call_report tool = {
		.kind = CALL_TOOL, .id = "c", .nsec = 7000000, .stderr_text = SPAN("oops\n")
	};
	struct part none = { 0 };
	struct call_info c;
	uint64_t n = begin(MESSAGE);

	report(n, LINE("a", CALL("c", "{\"x\":1}")), &model, 1);
	OK(call_stat(st, session, n, 1, &c, &err));
	assert_int_equal(c.kind, CALL_MODEL);
	assert_string_equal(c.name, "p/m");
	assert_string_equal(c.agent, "a");
	assert_int_equal(c.ended - c.started, 2000);
	assert_int_equal(c.first - c.started, 1000);
	assert_int_equal(c.tokens.count[TOKENS_PROMPT], 3);
	assert_int_equal(c.tokens.count[TOKENS_TOTAL], 5);
	OK(call_find(st, session, n, "c", &c, &err));
	assert_int_equal(c.seq, 2);
	assert_true(c.number);
	assert_int_equal(c.ended, 0);
	expect_part(&c.said, "{\"x\":1}");
	CODE(call_part(st, session, &c.answer, &none, &err), -ENOENT);
	report(n, LINE("a", ANSWER("c", "{\"y\":2}")), &tool, 1);
	OK(call_find(st, session, n, "c", &c, &err));
	assert_int_equal(c.ended - c.started, 7000);
	expect_part(&c.said, "{\"x\":1}");
	expect_part(&c.answer, "{\"y\":2}");
	expect_stderr(&c, "oops\n");
	CODE(call_find(st, session, n, "d", &c, &err), -ENOENT);
	CODE(call_stat(st, session, n, 3, &c, &err), -ENOENT);
}

static void test_same_ids(void **state UNUSED)
{
	struct call_report tools[] = {
		{ .kind = CALL_TOOL, .id = "c", .nsec = 1000, .stderr_text = SPAN("one") },
		{ .kind = CALL_TOOL, .id = "c", .nsec = 1000, .stderr_text = SPAN("two") },
	};
	struct call_info c;
	uint64_t n = begin(MESSAGE);

	report(n, LINE("a", CALL("c", "{\"n\":1}") "," CALL("c", "{\"n\":2}")), NULL, 0);
	report(n, LINE("a", ANSWER("c", "{\"r\":1}") "," ANSWER("c", "{\"r\":2}")), tools, 2);
	report(n, LINE("a", CALL("c", "{\"n\":3}")), NULL, 0);
	OK(call_find(st, session, n, "c", &c, &err));
	expect_part(&c.said, "{\"n\":1}");
	expect_part(&c.answer, "{\"r\":1}");
	expect_stderr(&c, "one");
	OK(call_find(st, session, n, "call-2", &c, &err));
	expect_part(&c.said, "{\"n\":2}");
	expect_part(&c.answer, "{\"r\":2}");
	expect_stderr(&c, "two");
	OK(call_find(st, session, n, "call-3", &c, &err));
	expect_part(&c.said, "{\"n\":3}");
	assert_int_equal(c.answer.len, 0);
}

static void test_names(void **state UNUSED)
{
	struct call_info c;
	uint64_t n = begin(MESSAGE);

	report(n,
	       LINE("a", CALL("a/b", "{}") "," CALL("..", "{}") "," CALL(
				 "call-4", "{}") ","
						 "{\"functionCall\":{\"name\":\"t\",\"args\":{}}}"),
	       NULL, 0);
	OK(call_find(st, session, n, "a%2Fb", &c, &err));
	OK(call_find(st, session, n, "%2E%2E", &c, &err));
	OK(call_find(st, session, n, "call-4", &c, &err));
	assert_string_equal(c.id, "call-4");
	OK(call_find(st, session, n, "call-41", &c, &err)); /* one without an id; call-4 is taken */
	assert_string_equal(c.id, "");
}

static void test_late_answer(void **state UNUSED)
{
	struct call_info c;
	uint64_t first = begin(MESSAGE);
	uint64_t second;

	report(first, LINE("a", CALL("c", "{}")), NULL, 0);
	(void)begin(MESSAGE);
	second = begin(
		"{\"author\":\"user\",\"invocationId\":\"e-3\",\"content\":{\"parts\":[" ANSWER(
			"c", "{\"late\":true}") "," ANSWER("unknown", "{}") "]}}");
	assert_int_equal(second, 3);
	OK(call_find(st, session, first, "c", &c, &err));
	expect_part(&c.answer, "{\"late\":true}");
	CODE(call_find(st, session, second, "c", &c, &err), -ENOENT);
}

static void test_limits(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf big = { 0 };
	CLEANUP(buf_release) struct buf text = { 0 };
	struct call_report tool = { .kind = CALL_TOOL, .id = "c" };
	struct turn_commit commit = { .reports = &tool, .report_count = 1 };
	struct turn_info info;
	struct call_info c;
	uint64_t n = begin(MESSAGE);

	while (big.len < 2 * CALL_STDERR_MAX)
		buf_text(&big, "0123456789");
	buf_text(&big, "end");
	tool.stderr_text = buf_span(&big);
	report(n, LINE("a", CALL("c", "{}")), NULL, 0);
	OK(turn_commit(st, session, n, &commit, &info, &err));
	OK(call_find(st, session, n, "c", &c, &err));
	assert_int_equal(c.stderr_size, CALL_STDERR_MAX);
	assert_int_equal(c.answer.len, 0);
	OK(call_stderr(st, session, &c, &text, &err));
	assert_memory_equal(text.data + text.len - 4, "9end", 4);
	OK(scope_remove(st, session, &err));
	CODE(call_stat(st, session, n, 1, &c, &err), -ENOENT);
	buf_clear(&text);
	CODE(call_stderr(st, session, &c, &text, &err), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		STORE_TEST(test_model_and_tool), STORE_TEST(test_same_ids), STORE_TEST(test_names),
		STORE_TEST(test_late_answer),    STORE_TEST(test_limits),
	};

	RUN_ON_ENGINES(tests);
}

/*
 * Compaction: which turns, what a model is told of them, what is stored.
 */
#include "runner/history/compact.h"
#include "tests/unit/store/turn/turn_append.h"

#include "runner/history/history.h"
#include "store/remove.h"
#include "store/session/log.h"
#include "store/timeline/rewind.h"
#include "store/turn/turn.h"
#include "tests/unit/store/store_rig.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void take(struct event *e, const char *author, const char *invocation, const char *parts,
		 const char *others)
{
	CLEANUP(buf_release) struct buf line = { 0 };

	buf_printf(&line,
		   "{\"author\":\"%s\",\"invocationId\":\"%s\",\"content\":{\"role\":\"%s\","
		   "\"parts\":[%s]}%s}",
		   author, invocation, strcmp(author, "me") ? "user" : "model", parts, others);
	OK(event_from_json(buf_span(&line), e, &err));
}

static void append(const char *author, const char *invocation, const char *parts,
		   const char *others)
{
	CLEANUP(event_release) struct event e = { 0 };

	take(&e, author, invocation, parts, others);
	OK(session_append(st, session, &e, 1, &err));
}

static void submit(uint64_t n, const char *parts)
{
	CLEANUP(event_release) struct event e = { 0 };
	struct turn_info info;
	char invocation[16];

	(void)snprintf(invocation, sizeof invocation, "e-%u", (unsigned)n);
	take(&e, "user", invocation, parts, "");
	OK(turn_submit(st, session, 0, &e, &info, &err));
	assert_int_equal(info.n, n);
}

static void answer(uint64_t n, const char *parts)
{
	CLEANUP(event_release) struct event e = { 0 };
	struct turn_info info;
	char invocation[16];

	(void)snprintf(invocation, sizeof invocation, "e-%u", (unsigned)n);
	take(&e, "me", invocation, parts, "");
	OK(turn_append(st, session, n, &e, 1, &info, &err));
}

static void end(uint64_t n, enum turn_state state)
{
	OK(turn_end(st, session, n, state, NULL, &err));
}

static void turn(uint64_t n)
{
	char parts[64];

	(void)snprintf(parts, sizeof parts, "{\"text\":\"%u?\"}", (unsigned)n);
	submit(n, parts);
	(void)snprintf(parts, sizeof parts, "{\"text\":\"%u!\"}", (unsigned)n);
	answer(n, parts);
	end(n, TURN_DONE);
}

/* The lines of a prompt behind what is to be done with them. */
static const char *said(struct buf *prompt)
{
	const char *lines = strstr(buf_cstr(prompt), "\n\n");

	assert_non_null(lines);
	return lines + 2;
}

/* Note the prompt, and let nothing be appended. */
static int refuse_after_prompt(void *arg, struct span prompt,
			       struct compact_summary *summary UNUSED, struct err *why UNUSED)
{
	buf_span_add(arg, prompt);
	return -ECANCELED;
}

static void expect_plan(unsigned overlap, unsigned least, const char *lines)
{
	struct compact_options options = { overlap, least };
	CLEANUP(buf_release) struct buf prompt = { 0 };

	CODE(compact_session(st, session, &options, refuse_after_prompt, &prompt, &err),
	     lines ? -ECANCELED : 1);
	if (lines)
		assert_string_equal(said(&prompt), lines);
	else
		assert_int_equal(prompt.len, 0);
}

#define NOTHING NULL

static void test_plan(void **state UNUSED)
{
	struct compact_options options = { 0 };

	expect_plan(0, 0, NOTHING);
	turn(1);
	expect_plan(0, 0, "user: 1?\nme: 1!\n");
	turn(2);
	expect_plan(9, 2, "user: 1?\nme: 1!\nuser: 2?\nme: 2!\n");
	expect_plan(0, 3, NOTHING);
	OK(scope_remove(st, session, &err));
	CODE(compact_session(st, session, &options, refuse_after_prompt, NULL, &err), -ESTALE);
}

/* Texts only, turn by turn, of whoever spoke. */
static void test_lines(void **state UNUSED)
{
	append("cron", "p-0", "{\"text\":\"before\"}", "");
	submit(1,
	       "{\"text\":\"one\"},{\"text\":\" more\\n\"},{\"inlineData\":{\"data\":\"AAAA\"}}");
	submit(2, "{\"text\":\"two\\nlines\"}");
	answer(1, "{\"text\":\"hm\",\"thought\":true},{\"text\":\"I look\"},{\"functionCall\":{"
		  "\"name\":\"f\"}}");
	answer(1, "{\"functionResponse\":{\"name\":\"f\",\"response\":{\"a\":1}}}");
	answer(1, "{\"text\":\"only thought\",\"thought\":true}");
	append("cron", "p-1", "{\"text\":\"between\"}", ",\"actions\":{\"stateDelta\":{\"k\":1}}");
	end(1, TURN_FAILED);
	end(2, TURN_DONE);
	submit(3, "{\"text\":\"three\"}");
	expect_plan(0, 0,
		    "cron: before\nuser: one more\nme: I look\ncron: between\nuser: two\nlines\n");
}

/* Turns that run or wait are not summarised; nothing said is nothing to do. */
static void test_not_ended(void **state UNUSED)
{
	submit(1, "{\"text\":\"one\"}");
	expect_plan(0, 0, NOTHING);
	end(1, TURN_DONE);
	submit(2, "{\"text\":\"two\"}");
	submit(3, "{\"text\":\"three\"}");
	end(3, TURN_FAILED);
	expect_plan(0, 0, "user: one\n");
	expect_plan(0, 2, NOTHING);
}

static void test_nothing_said(void **state UNUSED)
{
	submit(1, "{\"functionCall\":{\"name\":\"f\"}}");
	end(1, TURN_DONE);
	expect_plan(0, 0, NOTHING);
}

/* A model that answers, and the prompt that it got. */
struct asked {
	const char *answer; /* NULL: it fails */
	struct buf prompt;
	const char *rewinds; /* meanwhile, before this invocation */
	unsigned times;
};

static int ask(void *arg, struct span prompt, struct compact_summary *summary, struct err *why)
{
	struct asked *m = arg;

	buf_clear(&m->prompt);
	buf_span_add(&m->prompt, prompt);
	m->times++;
	if (m->rewinds)
		OK(session_rewind(st, session, span_of(m->rewinds), &err));
	m->rewinds = NULL;
	if (!m->answer)
		return err_set(why, -EPIPE, "no answer");
	buf_text(&summary->text, m->answer);
	tokens_add_json(&summary->tokens, SPAN("{\"totalTokenCount\":7}"));
	(void)snprintf(summary->model, sizeof summary->model, "m-1");
	return 0;
}

static void compact(unsigned overlap, const char *summary, const char *lines)
{
	struct compact_options options = { .overlap = overlap };
	struct asked m = { .answer = summary };

	OK(compact_session(st, session, &options, ask, &m, &err));
	assert_string_equal(said(&m.prompt), lines);
	buf_release(&m.prompt);
}

static void last_event(struct event *e)
{
	CLEANUP(buf_release) struct buf log = { 0 };
	struct scope_info info;
	const char *line;

	OK(scope_stat(st, session, &info, &err));
	OK(session_read(st, session, 0, info.log_size, &log, &err));
	line = memrchr(log.data, '\n', log.len - 1);
	assert_non_null(line);
	OK(event_from_json((struct span){ line + 1, (size_t)(log.data + log.len - line) - 1 }, e,
			   &err));
}

static void expect_text(struct span got, const char *want)
{
	char *text = span_dup(got);

	assert_string_equal(text, want);
	free(text);
}

static void expect_history(uint64_t n, const char *want)
{
	struct history_query q = { .store = st, .session = session, .agent = "me", .n = n };
	CLEANUP(buf_release) struct buf seen = { 0 };
	struct history h = { 0 };
	size_t i;

	OK(history_build(&q, &h, &err));
	for (i = 0; i < h.count; i++) {
		buf_printf(&seen, "%s:", h.contents[i]->role);
		content_text(h.contents[i], &seen);
		buf_char(&seen, ' ');
	}
	history_release(&h);
	assert_string_equal(seen.len ? buf_cstr(&seen) : "", want);
}

static void test_event(void **state UNUSED)
{
	CLEANUP(event_release) struct event e = { 0 };
	CLEANUP(buf_release) struct buf invocation = { 0 };
	struct scope_info before;
	struct scope_info after;

	append("user", "p", "{\"text\":\"old\"}", ",\"timestamp\":12.5");
	turn(1);
	append("user", "p", "{\"text\":\"behind\"}", "");
	OK(scope_stat(st, session, &before, &err));
	turn(2);
	append("user", "p", "{\"text\":\"new\"}", ",\"timestamp\":9000000000");
	compact(0, " it was \"so\"\n",
		"user: old\nuser: 1?\nme: 1!\nuser: behind\nuser: 2?\nme: 2!\n"
		"user: new\n");
	last_event(&e);
	expect_text(event_json(&e, EVENT_AUTHOR), "\"user\"");
	expect_text(event_json(&e, EVENT_CONTENT), "");
	expect_text(event_json(&e, EVENT_USAGE), "{\"totalTokenCount\":7}");
	expect_text(event_json(&e, EVENT_MODEL_VERSION), "\"m-1\"");
	expect_text(event_json(&e, EVENT_CUSTOM_METADATA),
		    "{\"adkfs.compacted\":{\"from\":\"e-1\",\"to\":\"e-2\"}}");
	expect_text(event_action(&e, ACTION_COMPACTION),
		    "{\"startTimestamp\":12.500000,\"endTimestamp\":9000000000.000000,"
		    "\"compactedContent\":{\"parts\":[{\"text\":\" it was \\\"so\\\"\\n\"}],"
		    "\"role\":\"model\"}}");
	OK(event_text(&e, EVENT_INVOCATION, &invocation));
	assert_int_equal(invocation.len, 38);
	assert_memory_equal(invocation.data, "e-", 2);
	OK(scope_stat(st, session, &after, &err));
	assert_int_equal(after.turns, 2); /* it is no turn */
	turn(3);
	expect_history(3, "model: it was \"so\"\n user:3? model:3! ");
}

/* Each turn is summarised once, but for those that are to overlap. */
static void test_again(void **state UNUSED)
{
	turn(1);
	turn(2);
	compact(0, "A", "user: 1?\nme: 1!\nuser: 2?\nme: 2!\n");
	expect_plan(5, 0, NOTHING);
	turn(3);
	expect_plan(0, 2, NOTHING);
	expect_plan(0, 1, "user: 3?\nme: 3!\n");
	compact(1, "B", "user: 2?\nme: 2!\nuser: 3?\nme: 3!\n");
	turn(4);
	expect_history(4, "model:A model:B user:4? model:4! ");
	compact(9, "C", "user: 1?\nme: 1!\nuser: 2?\nme: 2!\nuser: 3?\nme: 3!\nuser: 4?\nme: 4!\n");
	turn(5);
	expect_history(5, "model:C user:5? model:5! ");
}

/* Events of others say by their times what they stand for. */
static void test_others(void **state UNUSED)
{
	struct turn_info info;
	char others[200];

	turn(1);
	OK(turn_stat(st, session, 1, &info, &err));
	turn(2);
	(void)snprintf(others, sizeof others,
		       ",\"actions\":{\"compaction\":{\"startTimestamp\":0,\"endTimestamp\":%.6f,"
		       "\"compactedContent\":{}}}",
		       (double)info.ended / 1e6);
	append("user", "k", "", others);
	expect_plan(0, 0, "user: 2?\nme: 2!\n");
	expect_plan(1, 0, "user: 1?\nme: 1!\nuser: 2?\nme: 2!\n");
}

/* Undone turns are in no summary, and undone summaries do not count. */
static void test_rewound(void **state UNUSED)
{
	turn(1);
	turn(2);
	turn(3);
	OK(session_rewind(st, session, SPAN("e-2"), &err));
	expect_plan(0, 2, NOTHING);
	turn(4);
	expect_plan(0, 2, "user: 1?\nme: 1!\nuser: 4?\nme: 4!\n");
	compact(0, "A", "user: 1?\nme: 1!\nuser: 4?\nme: 4!\n");
	turn(5);
	expect_plan(1, 0, "user: 4?\nme: 4!\nuser: 5?\nme: 5!\n");
	OK(session_rewind(st, session, SPAN("e-4"), &err));
	turn(6);
	expect_plan(0, 0, "user: 1?\nme: 1!\nuser: 6?\nme: 6!\n");
}

static void test_failures(void **state UNUSED)
{
	struct compact_options options = { 0 };
	struct asked m = { .answer = "sum" };
	struct scope_info before;
	struct scope_info after;
	char *long_one = calloc(1, COMPACT_SUMMARY_MAX + 2);

	assert_non_null(long_one);
	CODE(compact_session(st, session, &options, ask, &m, &err), 1);
	turn(1);
	OK(scope_stat(st, session, &before, &err));
	m.answer = NULL;
	CODE(compact_session(st, session, &options, ask, &m, &err), -EPIPE);
	m.answer = " \n\t";
	CODE(compact_session(st, session, &options, ask, &m, &err), -EIO);
	memset(long_one, 'x', COMPACT_SUMMARY_MAX + 1);
	m.answer = long_one;
	CODE(compact_session(st, session, &options, ask, &m, &err), -EFBIG);
	OK(scope_stat(st, session, &after, &err));
	assert_int_equal(after.log_size, before.log_size);
	OK(scope_remove(st, session, &err));
	CODE(compact_session(st, session, &options, ask, &m, &err), -ESTALE);
	assert_int_equal(m.times, 3);
	buf_release(&m.prompt);
	free(long_one);
}

/* A summary of what is undone while it is made is made anew. */
static void test_rewound_meanwhile(void **state UNUSED)
{
	struct compact_options options = { 0 };
	struct asked m = { .answer = "sum", .rewinds = "e-2" };

	turn(1);
	turn(2);
	OK(compact_session(st, session, &options, ask, &m, &err));
	assert_int_equal(m.times, 2);
	assert_string_equal(said(&m.prompt), "user: 1?\nme: 1!\n");
	turn(3);
	expect_history(3, "model:sum user:3? model:3! ");
	m.rewinds = "e-1";
	CODE(compact_session(st, session, &options, ask, &m, &err), 1);
	expect_history(3, "");
	buf_release(&m.prompt);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		STORE_TEST(test_plan),      STORE_TEST(test_lines),
		STORE_TEST(test_not_ended), STORE_TEST(test_nothing_said),
		STORE_TEST(test_event),     STORE_TEST(test_again),
		STORE_TEST(test_others),    STORE_TEST(test_rewound),
		STORE_TEST(test_failures),  STORE_TEST(test_rewound_meanwhile),
	};

	RUN_ON_ENGINES(tests);
}

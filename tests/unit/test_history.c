/*
 * History: what a model is told of a session.
 */
#include "runner/history.h"

#include <errno.h>
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

static const char *engine; /* the one that is tested */
static char folder[64];
static struct store *st;
static struct ref app, user, session;
static struct err err;

static void must(int got, int want, const char *what)
{
	if (got != want)
		fail_msg("%s: %s (%s), not %s", what, got < 0 ? err_name(got) : "no error",
			 err.text, want < 0 ? err_name(want) : "0");
	err = (struct err){ 0 };
}

/* A call that must return so. */
#define CODE(call, code) must((call), (code), #call)
#define OK(call)         CODE(call, 0)

static void open_store(void)
{
	struct store_options options = { .folder = folder, .engine = engine };

	OK(store_open(&options, &st, &err));
}

static int setup(void **state UNUSED)
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

static int teardown(void **state UNUSED)
{
	store_close(st);
	return nftw(folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

static char agent_name[] = "me";

/* A turn whose message is `text`. */
static void submit(const char *invocation, const char *text)
{
	CLEANUP(buf_release) struct buf line = { 0 };
	CLEANUP(event_release) struct event e = { 0 };
	struct turn_info info;

	buf_printf(&line,
		   "{\"author\":\"user\",\"invocationId\":\"%s\",\"content\":{\"role\":\"user\","
		   "\"parts\":[{\"text\":\"%s\"}]}}",
		   invocation, text);
	OK(event_from_json(buf_span(&line), &e, &err));
	OK(turn_submit(st, session, 0, &e, &info, &err));
}

/* An event with this content (JSON of its parts). */
static void say(const char *invocation, const char *author, const char *role, const char *parts)
{
	CLEANUP(buf_release) struct buf line = { 0 };
	CLEANUP(event_release) struct event e = { 0 };

	buf_printf(&line,
		   "{\"author\":\"%s\",\"invocationId\":\"%s\",\"content\":{\"parts\":[%s]%s%s%s}}",
		   author, invocation, parts, role ? ",\"role\":\"" : "", role ? role : "",
		   role ? "\"" : "");
	OK(event_from_json(buf_span(&line), &e, &err));
	OK(session_append(st, session, &e, 1, &err));
}

static void say_text(const char *invocation, const char *author, const char *text)
{
	CLEANUP(buf_release) struct buf part = { 0 };

	buf_printf(&part, "{\"text\":\"%s\"}", text);
	say(invocation, author, strcmp(author, "user") ? "model" : "user", buf_cstr(&part));
}

#define USER(parts)  "{\"parts\":[" parts "],\"role\":\"user\"}\n"
#define MODEL(parts) "{\"parts\":[" parts "],\"role\":\"model\"}\n"
#define TEXT(text)   "{\"text\":\"" text "\"}"
#define CALL(id, n)  "{\"functionCall\":{\"id\":\"" id "\",\"args\":{\"n\":" n "},\"name\":\"add\"}}"
#define BACK(id, n)                                                                                \
	"{\"functionResponse\":{\"id\":\"" id "\",\"name\":\"add\",\"response\":{\"r\":" n "}}}"
#define LOST(id)                                                                                   \
	"{\"functionResponse\":{\"id\":\"" id                                                      \
	"\",\"name\":\"add\",\"response\":{\"error\":\"no result was recorded\"}}}"

static void expect_of(const struct agent *agent, uint64_t n, const char *want)
{
	CLEANUP(buf_release) struct buf seen = { 0 };
	struct history h = { 0 };
	size_t i;

	OK(history_build(st, session, agent, n, &h, &err));
	for (i = 0; i < h.count; i++) {
		content_to_json(h.contents[i], &seen);
		buf_char(&seen, '\n');
	}
	history_release(&h);
	assert_string_equal(seen.len ? buf_cstr(&seen) : "", want);
	assert_null(h.contents);
	assert_int_equal(h.count, 0);
}

static void expect(uint64_t n, const char *want)
{
	struct agent agent = { .name = agent_name };

	expect_of(&agent, n, want);
}

static void test_empty(void **state UNUSED)
{
	struct agent agent = { .name = agent_name };
	struct history h = { 0 };

	expect(0, "");
	expect(1, "");
	submit("e-1", "hi");
	expect(1, USER(TEXT("hi")));
	OK(scope_remove(st, session, &err));
	CODE(history_build(st, session, &agent, 1, &h, &err), -ENOENT);
	history_release(&h);
}

static void test_conversation(void **state UNUSED)
{
	submit("e-1", "hi");
	say_text("e-1", "me", "hello");
	submit("e-2", "more");
	say_text("e-2", "me", "gladly");
	expect(2, USER(TEXT("hi")) MODEL(TEXT("hello")) USER(TEXT("more")) MODEL(TEXT("gladly")));
	expect(1, USER(TEXT("hi")) MODEL(TEXT("hello")));
}

/* Messages that wait come after the answer to the one before. */
static void test_queued(void **state UNUSED)
{
	submit("e-1", "one?");
	submit("e-2", "two?");
	submit("e-3", "three?");
	expect(1, USER(TEXT("one?")));
	say_text("e-1", "me", "one");
	expect(1, USER(TEXT("one?")) MODEL(TEXT("one")));
	expect(2, USER(TEXT("one?")) MODEL(TEXT("one")) USER(TEXT("two?")));
	say_text("e-2", "me", "two");
	expect(3, USER(TEXT("one?")) MODEL(TEXT("one")) USER(TEXT("two?")) MODEL(TEXT("two"))
			  USER(TEXT("three?")));
}

/* Events of no turn stay where they stand. */
static void test_no_turn(void **state UNUSED)
{
	say_text("p-0", "user", "before");
	submit("e-1", "one?");
	submit("e-2", "two?");
	say_text("p-1", "user", "note");
	say_text("e-1", "me", "one");
	say_text("", "user", "aside");
	expect(1, USER(TEXT("before")) USER(TEXT("one?")) USER(TEXT("note")) MODEL(TEXT("one"))
			  USER(TEXT("aside")));
	say_text("e-2", "me", "two");
	say_text("p-2", "user", "late");
	expect(2,
	       USER(TEXT("before")) USER(TEXT("one?")) MODEL(TEXT("one")) USER(TEXT("aside"))
		       USER(TEXT("two?")) USER(TEXT("note")) MODEL(TEXT("two")) USER(TEXT("late")));
}

static void test_left_out(void **state UNUSED)
{
	CLEANUP(event_release) struct event e = { 0 };

	submit("e-1", "hi");
	say("e-1", "me", "model", "");
	say("e-1", "me", "model", TEXT(""));
	say("e-1", "me", "model", TEXT("") "," TEXT(""));
	say("e-1", "me", NULL, TEXT("no role"));
	say("e-1", "me", "", TEXT("no role"));
	OK(event_from_json(SPAN("{\"author\":\"me\",\"invocationId\":\"e-1\"}"), &e, &err));
	OK(session_append(st, session, &e, 1, &err));
	say("e-1", "me", "model", TEXT("") "," TEXT("kept"));
	expect(1, USER(TEXT("hi")) MODEL(TEXT("") "," TEXT("kept")));
}

/* Thoughts and signatures of one's own are kept as they are. */
static void test_own_parts(void **state UNUSED)
{
	submit("e-1", "hi");
	say("e-1", "me", "model",
	    "{\"text\":\"hm\",\"thought\":true},{\"text\":\"\",\"thoughtSignature\":\"AA==\"},{"
	    "\"fileData\":{"
	    "\"fileUri\":\"u\"}},{\"executableCode\":{\"code\":\"1\"}}");
	expect(1,
	       USER(TEXT("hi")) MODEL(
		       "{\"text\":\"hm\",\"thought\":true},{\"text\":\"\",\"thoughtSignature\":"
		       "\"AA==\"},"
		       "{\"fileData\":{\"fileUri\":\"u\"}},{\"executableCode\":{\"code\":\"1\"}}"));
}

static void test_call_and_response(void **state UNUSED)
{
	submit("e-1", "add");
	say("e-1", "me", "model", TEXT("see") "," CALL("a", "1"));
	say("e-1", "me", "user", BACK("a", "2"));
	say_text("e-1", "me", "done");
	expect(1, USER(TEXT("add")) MODEL(TEXT("see") "," CALL("a", "1")) USER(BACK("a", "2"))
			  MODEL(TEXT("done")));
}

/* In the order of the calls, in one content, wherever they came. */
static void test_many_calls(void **state UNUSED)
{
	submit("e-1", "add");
	say("e-1", "me", "model", CALL("a", "1") "," CALL("b", "2") "," CALL("c", "3"));
	say("e-1", "me", "user", BACK("c", "30") "," BACK("a", "10"));
	say_text("e-1", "me", "between");
	say("e-1", "me", "user", BACK("b", "20"));
	expect(1, USER(TEXT("add")) MODEL(CALL("a", "1") "," CALL("b", "2") "," CALL("c", "3"))
			  USER(BACK("a", "10") "," BACK("b", "20") "," BACK("c", "30"))
				  MODEL(TEXT("between")));
}

/* The answer to a long call comes in a later turn, and stands at its call. */
static void test_late_response(void **state UNUSED)
{
	submit("e-1", "add");
	say("e-1", "me", "model", CALL("a", "1"));
	say("e-1", "me", "user", BACK("a", "0"));
	say_text("e-1", "me", "waiting");
	submit("e-2", "here");
	say("e-2", "user", "user", BACK("a", "9"));
	expect(1,
	       USER(TEXT("add")) MODEL(CALL("a", "1")) USER(BACK("a", "0")) MODEL(TEXT("waiting")));
	expect(2, USER(TEXT("add")) MODEL(CALL("a", "1")) USER(BACK("a", "9"))
			  MODEL(TEXT("waiting")) USER(TEXT("here")));
}

static void test_missing_responses(void **state UNUSED)
{
	submit("e-1", "add");
	say("e-1", "me", "model", CALL("a", "1") "," CALL("b", "2"));
	expect(1, USER(TEXT("add")) MODEL(CALL("a", "1") "," CALL("b", "2"))
			  USER(LOST("a") "," LOST("b")));
	say("e-1", "me", "user", BACK("b", "20"));
	submit("e-2", "well?");
	expect(2, USER(TEXT("add")) MODEL(CALL("a", "1") "," CALL("b", "2"))
			  USER(LOST("a") "," BACK("b", "20")) USER(TEXT("well?")));
}

/* A response before its call is not the response to it. */
static void test_repeated_call_id(void **state UNUSED)
{
	submit("e-1", "add");
	say("e-1", "me", "model", CALL("a", "1"));
	say("e-1", "me", "user", BACK("a", "10"));
	say("e-1", "me", "model", CALL("a", "2"));
	say("e-1", "me", "user", BACK("a", "20"));
	expect(1, USER(TEXT("add")) MODEL(CALL("a", "1")) USER(BACK("a", "10"))
			  MODEL(CALL("a", "2")) USER(BACK("a", "20")));
}

/* What other agents did is told as a story. */
static void test_other_agents(void **state UNUSED)
{
	submit("e-1", "hi");
	say("e-1", "other", "model",
	    "{\"text\":\"secret\",\"thought\":true}," TEXT("good day") "," CALL("x", "1"));
	say("e-1", "other", "user", BACK("x", "2"));
	say("e-1", "third", "model", "{\"fileData\":{\"fileUri\":\"u\"}}");
	say("e-1", "other", "model", "{\"text\":\"only thought\",\"thought\":true}");
	say_text("e-1", "me", "hello");
	expect(1, USER(TEXT("hi")) USER(
			  TEXT("For context:") "," TEXT("[other] said: good day") "," TEXT(
				  "[other] called tool `add` with parameters: {\\\"n\\\":1}"))
			  USER(TEXT("For context:") "," TEXT(
				  "[other] `add` tool returned result: {\\\"r\\\":2}"))
				  USER(TEXT("For context:") ",{\"fileData\":{\"fileUri\":\"u\"}}")
					  MODEL(TEXT("hello")));
}

/* Without history: from the newest message or other agent on. */
static void test_no_history(void **state UNUSED)
{
	struct agent agent = { .name = agent_name, .no_history = true };

	submit("e-1", "one?");
	say_text("e-1", "me", "one");
	submit("e-2", "two?");
	say("e-2", "me", "model", CALL("a", "1"));
	say("e-2", "me", "user", BACK("a", "2"));
	expect_of(&agent, 2, USER(TEXT("two?")) MODEL(CALL("a", "1")) USER(BACK("a", "2")));
	expect_of(&agent, 1, USER(TEXT("one?")) MODEL(TEXT("one")));
	say_text("e-2", "other", "over to you");
	expect_of(&agent, 2, USER(TEXT("For context:") "," TEXT("[other] said: over to you")));
}

/* A format of printf in a text stays text. */
static void test_percent(void **state UNUSED)
{
	submit("e-1", "hi");
	say("e-1", "100%s", "model", TEXT("50%n"));
	expect(1, USER(TEXT("hi")) USER(TEXT("For context:") "," TEXT("[100%s] said: 50%n")));
}

/* An event that undoes what is behind an invocation. */
static void rewind_before(const char *invocation)
{
	CLEANUP(buf_release) struct buf line = { 0 };
	CLEANUP(event_release) struct event e = { 0 };

	buf_printf(&line, "{\"author\":\"user\",\"actions\":{\"rewindBeforeInvocationId\":\"%s\"}}",
		   invocation);
	OK(event_from_json(buf_span(&line), &e, &err));
	OK(session_append(st, session, &e, 1, &err));
}

/* What was undone is not seen, wherever its lines stand; a rewind counts what is left. */
static void test_rewound(void **state UNUSED)
{
	submit("e-1", "one?");
	say_text("e-1", "me", "one");
	say_text("x", "cron", "between");
	submit("e-2", "two?");
	say_text("e-2", "me", "two");
	say_text("x", "user", "aside");
	rewind_before("e-2");
	say_text("e-2", "me", "late");
	say_text("x", "user", "after");
	submit("e-3", "three?");
	expect(3, USER(TEXT("one?")) MODEL(TEXT("one"))
			  USER(TEXT("For context:") "," TEXT("[cron] said: between"))
				  USER(TEXT("after")) USER(TEXT("three?")));
	/* Nothing that is left has these. */
	rewind_before("e-2");
	rewind_before("e-9");
	rewind_before("");
	expect(3, USER(TEXT("one?")) MODEL(TEXT("one"))
			  USER(TEXT("For context:") "," TEXT("[cron] said: between"))
				  USER(TEXT("after")) USER(TEXT("three?")));
	rewind_before("e-1");
	submit("e-4", "four?");
	expect(4, USER(TEXT("four?")));
}

/* Lines that were taken over from elsewhere belong to no turn. */
static void test_rewound_without_turns(void **state UNUSED)
{
	say_text("g-1", "user", "one?");
	say_text("g-1", "me", "one");
	say_text("g-2", "user", "two?");
	say_text("g-2", "me", "two");
	rewind_before("g-2");
	say_text("g-3", "user", "three?");
	submit("e-1", "hi");
	expect(1, USER(TEXT("one?")) MODEL(TEXT("one")) USER(TEXT("three?")) USER(TEXT("hi")));
	rewind_before("g-1");
	submit("e-2", "again");
	expect(2, USER(TEXT("again")));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_empty),
		TEST(test_conversation),
		TEST(test_queued),
		TEST(test_no_turn),
		TEST(test_left_out),
		TEST(test_own_parts),
		TEST(test_call_and_response),
		TEST(test_many_calls),
		TEST(test_late_response),
		TEST(test_missing_responses),
		TEST(test_repeated_call_id),
		TEST(test_other_agents),
		TEST(test_no_history),
		TEST(test_percent),
		TEST(test_rewound),
		TEST(test_rewound_without_turns),
	};
	const char *const *name;
	int failed = 0;

	for (name = engine_names(); *name; name++) {
		engine = *name;
		failed += cmocka_run_group_tests_name(engine, tests, NULL, NULL);
	}
	return failed;
}

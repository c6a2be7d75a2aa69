/*
 * History: what a model is told of a session.
 */
#include "runner/history/history.h"
#include "tests/unit/store/turn/turn_append.h"

#include "store/remove.h"
#include "store/turn/turn.h"
#include "tests/unit/store/store_rig.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* A turn whose message has these parts. */
static void submit_parts(const char *invocation, const char *parts)
{
	CLEANUP(buf_release) struct buf line = { 0 };
	CLEANUP(event_release) struct event e = { 0 };
	struct turn_info info;

	buf_printf(&line,
		   "{\"author\":\"user\",\"invocationId\":\"%s\",\"content\":{\"role\":\"user\","
		   "\"parts\":[%s]}}",
		   invocation, parts);
	OK(event_from_json(buf_span(&line), &e, &err));
	OK(turn_submit(st, session, 0, &e, &info, &err));
}

static void submit(const char *invocation, const char *text)
{
	CLEANUP(buf_release) struct buf part = { 0 };

	buf_printf(&part, "{\"text\":\"%s\"}", text);
	submit_parts(invocation, buf_cstr(&part));
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

#define PENDING(id)                                                                                \
	"{\"functionResponse\":{\"id\":\"" id                                                      \
	"\",\"name\":\"add\",\"response\":{\"status\":\"pending\"}}}"
#define STORY(text) USER(TEXT("For context:") "," TEXT(text))

static struct history_query query_of(uint64_t n)
{
	return (struct history_query){ .store = st, .session = session, .agent = "me", .n = n };
}

static void expect_of(const struct history_query *q, const char *want)
{
	CLEANUP(buf_release) struct buf seen = { 0 };
	struct history h = { 0 };
	size_t i;

	OK(history_build(q, &h, &err));
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
	struct history_query q = query_of(n);

	expect_of(&q, want);
}

static void test_empty(void **state UNUSED)
{
	struct history_query q = query_of(1);
	struct history h = { 0 };

	expect(0, "");
	expect(1, "");
	submit("e-1", "hi");
	expect(1, USER(TEXT("hi")));
	OK(scope_remove(st, session, &err));
	CODE(history_build(&q, &h, &err), -ENOENT);
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

/* Signatures are for the provider that made them; of whom it is not known, for all. */
static void test_signatures(void **state UNUSED)
{
	static const char signed_line[] =
		"{\"author\":\"me\",\"invocationId\":\"e-1\",\"customMetadata\":{\"adkfs.model\":"
		"{\"provider\":\"maker\"}},\"content\":{\"role\":\"model\",\"parts\":[{\"text\":"
		"\"a\",\"thoughtSignature\":\"AA==\"}]}}";
	CLEANUP(event_release) struct event e = { 0 };
	struct history_query q = query_of(1);

	submit("e-1", "hi");
	OK(event_from_json(span_of(signed_line), &e, &err));
	OK(session_append(st, session, &e, 1, &err));
	say("e-1", "me", "model", "{\"text\":\"b\",\"thoughtSignature\":\"AQ==\"}");
	q.provider = "maker";
	expect_of(&q, USER(TEXT("hi")) MODEL("{\"text\":\"a\",\"thoughtSignature\":\"AA==\"}")
			      MODEL("{\"text\":\"b\",\"thoughtSignature\":\"AQ==\"}"));
	q.provider = "other";
	expect_of(&q, USER(TEXT("hi")) MODEL("{\"text\":\"a\"}")
			      MODEL("{\"text\":\"b\",\"thoughtSignature\":\"AQ==\"}"));
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

/* The responses to many calls stand in one content, in the order of the calls. */
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

/* A content that has the answers in another order, or something else besides. */
static void test_answers_elsewhere(void **state UNUSED)
{
	submit("e-1", "add");
	say("e-1", "me", "model", CALL("a", "1") "," CALL("b", "2"));
	say("e-1", "me", "user", BACK("b", "20") "," BACK("a", "10"));
	say("e-1", "me", "model", CALL("c", "3"));
	say("e-1", "me", "user", BACK("c", "30") "," TEXT("so"));
	say("e-1", "me", "model", CALL("d", "4"));
	say("e-1", "me", "model", BACK("d", "40"));
	expect(1, USER(TEXT("add")) MODEL(CALL("a", "1") "," CALL("b", "2"))
			  USER(BACK("a", "10") "," BACK("b", "20")) MODEL(CALL("c", "3"))
				  USER(BACK("c", "30")) USER(TEXT("so")) MODEL(CALL("d", "4"))
					  USER(BACK("d", "40")));
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

/* While the turn runs whose message is the answer, call and answer stand last. */
static void test_answered_now(void **state UNUSED)
{
	submit("e-1", "add");
	say("e-1", "me", "model", CALL("a", "1") "," CALL("b", "2"));
	submit("e-2", "meanwhile");
	say_text("e-2", "me", "yes?");
	submit_parts("e-3", BACK("a", "9"));
	expect(3, USER(TEXT("add")) USER(TEXT("meanwhile")) MODEL(TEXT("yes?")) MODEL(
			  CALL("a", "1") "," CALL("b", "2")) USER(BACK("a", "9") "," LOST("b")));
	say_text("e-3", "me", "nine");
	submit_parts("e-4", BACK("b", "5"));
	expect(4, USER(TEXT("add")) USER(TEXT("meanwhile")) MODEL(TEXT("yes?")) MODEL(TEXT("nine"))
			  MODEL(CALL("a", "1") "," CALL("b", "2"))
				  USER(BACK("a", "9") "," BACK("b", "5")));
	submit("e-5", "so?");
	expect(5, USER(TEXT("add")) MODEL(CALL("a", "1") "," CALL("b", "2"))
			  USER(BACK("a", "9") "," BACK("b", "5")) USER(TEXT("meanwhile"))
				  MODEL(TEXT("yes?")) MODEL(TEXT("nine")) USER(TEXT("so?")));
}

/* A tool ran because the message confirmed its call: the call and its response come last. */
static void test_confirmed_now(void **state UNUSED)
{
	submit("e-1", "add");
	say("e-1", "me", "model", CALL("a", "1"));
	submit("e-2", "meanwhile");
	say_text("e-2", "me", "yes?");
	submit_parts("e-3", "{\"functionResponse\":{\"id\":\"r\",\"name\":"
			    "\"adk_request_confirmation\",\"response\":{\"confirmed\":true}}}");
	say("e-3", "me", "user", BACK("a", "9"));
	expect(3, USER(TEXT("add")) USER(TEXT("meanwhile")) MODEL(TEXT("yes?"))
			  MODEL(CALL("a", "1")) USER(BACK("a", "9")));
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

/* The user reports the work of other agents. */
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

/*
 * An agent without history sees the newest message, or the newest other agent, and all that
 * follows.
 */
static void test_no_history(void **state UNUSED)
{
	struct history_query one = query_of(1);
	struct history_query two = query_of(2);

	one.only_present = two.only_present = true;
	expect_of(&one, "");
	submit("e-1", "one?");
	say_text("e-1", "me", "one");
	submit("e-2", "two?");
	say("e-2", "me", "model", CALL("a", "1"));
	say("e-2", "me", "user", BACK("a", "2"));
	expect_of(&two, USER(TEXT("two?")) MODEL(CALL("a", "1")) USER(BACK("a", "2")));
	expect_of(&one, USER(TEXT("one?")) MODEL(TEXT("one")));
	say_text("e-2", "other", "over to you");
	expect_of(&two, STORY("[other] said: over to you"));
}

/* An answer to a call continues the work in which the call was made. */
static void test_present_goes_on(void **state UNUSED)
{
	struct history_query q = query_of(2);

	q.only_present = true;
	submit("e-0", "before");
	submit("e-1", "add");
	say("e-1", "me", "model", CALL("a", "1"));
	say("e-2", "user", "user", BACK("a", "9"));
	expect_of(&q, USER(TEXT("add")) MODEL(CALL("a", "1")) USER(BACK("a", "9")));
	say("e-2", "user", "user", TEXT("and") "," BACK("a", "10"));
	expect_of(&q, STORY("[user] `add` tool returned result: {\\\"r\\\":10}") USER(TEXT("and")));
}

/* A format of printf in a text stays text. */
static void test_percent(void **state UNUSED)
{
	submit("e-1", "hi");
	say("e-1", "100%s", "model", TEXT("50%n"));
	expect(1, USER(TEXT("hi")) USER(TEXT("For context:") "," TEXT("[100%s] said: 50%n")));
}

/* An event from its members. */
static void add(const char *members)
{
	CLEANUP(buf_release) struct buf line = { 0 };
	CLEANUP(event_release) struct event e = { 0 };

	buf_printf(&line, "{%s}", members);
	OK(event_from_json(buf_span(&line), &e, &err));
	OK(session_append(st, session, &e, 1, &err));
}

static void say_on(const char *branch, const char *author, const char *text)
{
	CLEANUP(buf_release) struct buf members = { 0 };

	buf_printf(&members,
		   "\"author\":\"%s\",\"invocationId\":\"e-1\",\"branch\":\"%s\",\"content\":{"
		   "\"role\":\"model\",\"parts\":[{\"text\":\"%s\"}]}",
		   author, branch, text);
	add(buf_cstr(&members));
}

/* A text on a branch is seen on that branch, below it, and by agents on no branch. */
static void test_branches(void **state UNUSED)
{
	struct history_query q = query_of(1);

	submit("e-1", "hi");
	say_on("a", "me", "1");
	say_on("a.b", "me", "2");
	say_on("a.bc", "me", "3");
	say_on("a.b.c", "me", "4");
	say_on("b", "me", "5");
	say_on("a", "other", "6");
	say_on("c", "other", "7");
	q.branch = "a.b";
	expect_of(&q, USER(TEXT("hi")) MODEL(TEXT("1")) MODEL(TEXT("2")) STORY("[other] said: 6"));
	q.branch = "a.b.c";
	expect_of(&q, USER(TEXT("hi")) MODEL(TEXT("1")) MODEL(TEXT("2")) MODEL(TEXT("4"))
			      STORY("[other] said: 6"));
	q.branch = "b";
	expect_of(&q, USER(TEXT("hi")) MODEL(TEXT("5")));
	q.branch = "";
	expect_of(&q, USER(TEXT("hi")) MODEL(TEXT("1")) MODEL(TEXT("2")) MODEL(TEXT("3"))
			      MODEL(TEXT("4")) MODEL(TEXT("5")) STORY("[other] said: 6")
				      STORY("[other] said: 7"));
}

static void call_late(const char *ids)
{
	CLEANUP(buf_release) struct buf members = { 0 };

	buf_printf(&members,
		   "\"author\":\"me\",\"invocationId\":\"e-1\",\"longRunningToolIds\":[%s],"
		   "\"content\":{\"role\":\"model\",\"parts\":[%s]}",
		   ids, CALL("a", "1") "," CALL("b", "2"));
	add(buf_cstr(&members));
}

/* A long-running call without an answer is pending, and has not failed. */
static void test_pending(void **state UNUSED)
{
	submit("e-1", "add");
	call_late("\"x\",\"b\"");
	expect(1, USER(TEXT("add")) MODEL(CALL("a", "1") "," CALL("b", "2"))
			  USER(LOST("a") "," PENDING("b")));
	say("e-1", "me", "user", BACK("b", "20"));
	expect(1, USER(TEXT("add")) MODEL(CALL("a", "1") "," CALL("b", "2"))
			  USER(LOST("a") "," BACK("b", "20")));
}

/* The last response counts, of what other parts there are nothing is lost. */
static void test_responses_among_texts(void **state UNUSED)
{
	submit("e-1", "add");
	say("e-1", "me", "model", CALL("a", "1"));
	say("e-1", "user", "user", BACK("a", "1") "," TEXT("here") "," BACK("a", "2"));
	say("e-1", "me", "model", TEXT("thanks"));
	say("e-1", "user", "user", BACK("a", "3") "," TEXT("no, here"));
	expect(1, USER(TEXT("add")) MODEL(CALL("a", "1")) USER(BACK("a", "3")) USER(TEXT("here"))
			  MODEL(TEXT("thanks")) USER(TEXT("no, here")));
}

/* A response whose call nobody sees is told. */
static void test_responses_to_nothing(void **state UNUSED)
{
	submit("e-1", "add");
	say("e-1", "me", "user", BACK("a", "1") "," BACK("b", "2"));
	say("e-1", "other", "model", CALL("c", "1"));
	say("e-1", "user", "user", TEXT("so") "," BACK("c", "3"));
	say("e-1", "me", "user", "{\"functionResponse\":{\"name\":\"add\",\"response\":{}}}");
	expect(1,
	       USER(TEXT("add")) USER(TEXT("For context:") "," TEXT(
		       "[me] `add` tool returned result: "
		       "{\\\"r\\\":1}") "," TEXT("[me] `add` tool returned result: {\\\"r\\\":2}"))
		       STORY("[other] called tool `add` with parameters: {\\\"n\\\":1}")
			       STORY("[user] `add` tool returned result: {\\\"r\\\":3}")
				       USER(TEXT("so"))
					       STORY("[me] `add` tool returned result: {}"));
}

#define ASK(id, name) "{\"functionCall\":{\"id\":\"" id "\",\"args\":{},\"name\":\"" name "\"}}"
#define REPLY(id, name)                                                                            \
	"{\"functionResponse\":{\"id\":\"" id "\",\"name\":\"" name "\",\"response\":{}}}"

/* Models do not see requests of the runner to people, and their answers. */
static void test_requests(void **state UNUSED)
{
	submit("e-1", "add");
	say("e-1", "me", "model", CALL("a", "1"));
	say("e-1", "me", "user", ASK("q", "adk_request_confirmation"));
	say("e-1", "other", "user", ASK("r", "adk_request_credential"));
	say("e-1", "user", "user", REPLY("q", "adk_request_confirmation"));
	say("e-1", "user", "user", TEXT("yes") "," REPLY("r", "other name"));
	say("e-1", "me", "user", BACK("a", "2"));
	expect(1, USER(TEXT("add")) MODEL(CALL("a", "1")) USER(BACK("a", "2")) USER(TEXT("yes")));
}

/* Lines of a run that is not in the store. */
static void test_own_lines(void **state UNUSED)
{
	struct history_query q = { .agent = "me", .n = 1 };

	q.own_lines = SPAN(
		"{\"content\":{\"parts\":[{\"text\":\"hi\"}],\"role\":\"user\"},\"author\":"
		"\"user\"}\n"
		"{\"author\":\"me\"}\n"
		"{\"content\":{\"parts\":[" CALL("a",
						 "1") "],\"role\":\"model\"},\"author\":"
						      "\"me\",\"longRunningToolIds\":[\"a\"]}"
						      "\n"
						      "{\"content\":{\"parts\":[{\"text\":\"no\"}],"
						      "\"role\":\"model\"},\"author\":"
						      "\"you\",\"branch\":\"b\"}\n");
	expect_of(&q, USER(TEXT("hi")) MODEL(CALL("a", "1")) USER(PENDING("a"))
			      STORY("[you] said: no"));
	q.branch = "a";
	expect_of(&q, USER(TEXT("hi")) MODEL(CALL("a", "1")) USER(PENDING("a")));
}

/* Answer in a turn, as the runner does, and end it. */
static void answer(uint64_t n, const char *invocation, const char *text)
{
	CLEANUP(buf_release) struct buf line = { 0 };
	CLEANUP(event_release) struct event e = { 0 };
	struct turn_info info;

	buf_printf(&line,
		   "{\"author\":\"me\",\"invocationId\":\"%s\",\"content\":{\"role\":\"model\","
		   "\"parts\":[{\"text\":\"%s\"}]}}",
		   invocation, text);
	OK(event_from_json(buf_span(&line), &e, &err));
	OK(turn_append(st, session, n, &e, 1, &info, &err));
	OK(turn_commit(st, session, n, &(struct turn_commit){ .end = TURN_DONE }, &info, &err));
}

static void ask(uint64_t n)
{
	char invocation[16];
	char text[16];

	(void)snprintf(invocation, sizeof invocation, "e-%u", (unsigned)n);
	(void)snprintf(text, sizeof text, "%u?", (unsigned)n);
	submit(invocation, text);
	(void)snprintf(text, sizeof text, "%u", (unsigned)n);
	answer(n, invocation, text);
}

static void compact(const char *from, const char *to, const char *times, const char *text)
{
	CLEANUP(buf_release) struct buf members = { 0 };

	buf_printf(&members,
		   "\"author\":\"user\",\"invocationId\":\"k\",\"actions\":{\"compaction\":{%s,"
		   "\"compactedContent\":{\"role\":\"user\",\"parts\":[{\"text\":\"%s\"}]}}}",
		   times, text);
	if (from)
		buf_printf(
			&members,
			",\"customMetadata\":{\"adkfs.compacted\":{\"from\":\"%s\",\"to\":\"%s\"}}",
			from, to);
	add(buf_cstr(&members));
}

#define NEVER   "\"startTimestamp\":1,\"endTimestamp\":2"
#define ALWAYS  "\"startTimestamp\":1,\"endTimestamp\":9000000000"
#define TURN(n) USER(TEXT(n "?")) MODEL(TEXT(n))

/* The turns that were compacted are their summary; a later one wins. */
static void test_compacted(void **state UNUSED)
{
	ask(1);
	ask(2);
	compact("e-1", "e-2", NEVER, "one and two");
	ask(3);
	expect(3, MODEL(TEXT("one and two")) TURN("3"));
	ask(4);
	compact("e-2", "e-4", NEVER, "two to four");
	ask(5);
	expect(5, MODEL(TEXT("one and two")) MODEL(TEXT("two to four")) TURN("5"));
	compact("e-1", "e-4", NEVER, "all");
	expect(5, MODEL(TEXT("all")) TURN("5"));
}

/* Lines that stand between, and those that came later. */
static void test_compacted_among_others(void **state UNUSED)
{
	say_text("p-0", "user", "before");
	submit("e-1", "1?");
	submit("e-2", "2?");
	say_text("p-1", "cron", "between");
	answer(1, "e-1", "1");
	answer(2, "e-2", "2");
	say_text("p-2", "cron", "behind");
	compact("e-1", "e-2", ALWAYS, "all");
	say_text("p-3", "cron", "late");
	say_text("e-1", "me", "very late");
	submit("e-3", "3?");
	expect(3, MODEL(TEXT("all")) MODEL(TEXT("very late")) STORY("[cron] said: late")
			  USER(TEXT("3?")));
}

/* A line of no turn is in the summary if it stood in its time. */
static void test_compacted_times(void **state UNUSED)
{
	add("\"author\":\"user\",\"timestamp\":10,\"content\":{\"role\":\"user\",\"parts\":[" TEXT(
		"old") "]}");
	ask(1);
	compact("e-1", "e-1", "\"startTimestamp\":11,\"endTimestamp\":9000000000", "one");
	expect(1, USER(TEXT("old")) MODEL(TEXT("one")));
}

/* Summaries of other writers name times, and no turns. */
static void test_compacted_by_others(void **state UNUSED)
{
	static const char *const texts[] = { "1", "2", "3", "4" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(texts); i++) {
		CLEANUP(buf_release) struct buf members = { 0 };

		buf_printf(&members,
			   "\"author\":\"me\",\"invocationId\":\"g\",\"timestamp\":%s,\"content\":{"
			   "\"role\":\"model\",\"parts\":[{\"text\":\"%s\"}]}",
			   texts[i], texts[i]);
		add(buf_cstr(&members));
	}
	compact(NULL, NULL, "\"startTimestamp\":2,\"endTimestamp\":3", "two and three");
	ask(1);
	expect(1, MODEL(TEXT("1")) MODEL(TEXT("two and three")) MODEL(TEXT("4")) TURN("1"));
	/* Names of turns that are not here say nothing. */
	compact("x", "y", "\"startTimestamp\":1,\"endTimestamp\":4", "one to four");
	expect(1, MODEL(TEXT("one to four")) TURN("1"));
	compact(NULL, NULL, ALWAYS, "all");
	ask(2);
	expect(2, MODEL(TEXT("all")) TURN("2"));
}

/* A log that begins with a summary of what is elsewhere. */
static void test_compacted_elsewhere(void **state UNUSED)
{
	compact("x", "y", NEVER, "long ago");
	ask(1);
	compact("x", "y", NEVER, "not so long");
	ask(2);
	expect(2, MODEL(TEXT("long ago")) TURN("1") MODEL(TEXT("not so long")) TURN("2"));
}

/* A summary may stand for calls whose responses come late. */
static void test_compacted_call(void **state UNUSED)
{
	submit("e-1", "add");
	call_late("\"b\"");
	answer(1, "e-1", "wait");
	compact("e-1", "e-1", NEVER, "they wait");
	submit("e-2", "now");
	say("e-2", "user", "user", BACK("b", "7"));
	expect(2, MODEL(TEXT("they wait")) USER(TEXT("now"))
			  STORY("[user] `add` tool returned result: {\\\"r\\\":7}"));
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

/*
 * Undone turns are not seen, wherever their lines stand; a rewind counts the turns that are left.
 */
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

/* A summary of what was undone goes with it; of turns that were undone nothing is seen. */
static void test_compacted_and_rewound(void **state UNUSED)
{
	ask(1);
	ask(2);
	compact("e-1", "e-2", NEVER, "one and two");
	ask(3);
	rewind_before("e-3");
	ask(4);
	expect(4, MODEL(TEXT("one and two")) TURN("4"));
	rewind_before("e-2");
	ask(5);
	expect(5, TURN("1") TURN("5"));
	compact("e-1", "e-5", NEVER, "one and five");
	expect(5, MODEL(TEXT("one and five")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		STORE_TEST(test_empty),
		STORE_TEST(test_conversation),
		STORE_TEST(test_queued),
		STORE_TEST(test_no_turn),
		STORE_TEST(test_left_out),
		STORE_TEST(test_own_parts),
		STORE_TEST(test_signatures),
		STORE_TEST(test_call_and_response),
		STORE_TEST(test_many_calls),
		STORE_TEST(test_answers_elsewhere),
		STORE_TEST(test_late_response),
		STORE_TEST(test_answered_now),
		STORE_TEST(test_confirmed_now),
		STORE_TEST(test_missing_responses),
		STORE_TEST(test_repeated_call_id),
		STORE_TEST(test_other_agents),
		STORE_TEST(test_no_history),
		STORE_TEST(test_present_goes_on),
		STORE_TEST(test_percent),
		STORE_TEST(test_branches),
		STORE_TEST(test_pending),
		STORE_TEST(test_responses_among_texts),
		STORE_TEST(test_responses_to_nothing),
		STORE_TEST(test_requests),
		STORE_TEST(test_own_lines),
		STORE_TEST(test_compacted),
		STORE_TEST(test_compacted_among_others),
		STORE_TEST(test_compacted_times),
		STORE_TEST(test_compacted_by_others),
		STORE_TEST(test_compacted_elsewhere),
		STORE_TEST(test_compacted_call),
		STORE_TEST(test_compacted_and_rewound),
		STORE_TEST(test_rewound),
		STORE_TEST(test_rewound_without_turns),
	};

	RUN_ON_ENGINES(tests);
}

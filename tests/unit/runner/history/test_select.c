/*
 * Select: who spoke last, who made a call.
 */
#include "runner/history/speaker.h"

#include "base/clock.h"
#include "store/remove.h"
#include "store/session/log.h"
#include "tests/unit/store/store_rig.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void take(struct event *e, const char *members)
{
	CLEANUP(buf_release) struct buf line = { 0 };

	buf_printf(&line, "{%s}", members);
	OK(event_from_json(buf_span(&line), e, &err));
}

static void add(const char *members)
{
	CLEANUP(event_release) struct event e = { 0 };

	take(&e, members);
	OK(session_append(st, session, &e, 1, &err));
}

static void say(const char *invocation, const char *author)
{
	CLEANUP(buf_release) struct buf members = { 0 };

	buf_printf(&members,
		   "\"author\":\"%s\",\"invocationId\":\"%s\",\"content\":{\"role\":\"model\","
		   "\"parts\":[{\"text\":\"said\"}]}",
		   author, invocation);
	add(buf_cstr(&members));
}

static void call(const char *invocation, const char *author, const char *branch, const char *id)
{
	CLEANUP(buf_release) struct buf members = { 0 };

	buf_printf(&members,
		   "\"author\":\"%s\",\"invocationId\":\"%s\",\"branch\":%s,\"content\":{\"role\":"
		   "\"model\",\"parts\":[{\"text\":\"so\"},{\"functionCall\":{\"id\":\"%s\","
		   "\"name\":\"f\",\"args\":{}}}]}",
		   author, invocation, branch, id);
	add(buf_cstr(&members));
}

static struct turn_info submit(const char *invocation)
{
	CLEANUP(buf_release) struct buf members = { 0 };
	CLEANUP(event_release) struct event e = { 0 };
	struct turn_info info;

	buf_printf(&members, "\"author\":\"user\",\"invocationId\":\"%s\"", invocation);
	take(&e, buf_cstr(&members));
	OK(turn_submit(st, session, 0, &e, &info, &err));
	return info;
}

static void rewind_before(const char *invocation)
{
	CLEANUP(buf_release) struct buf members = { 0 };

	buf_printf(&members,
		   "\"author\":\"user\",\"actions\":{\"rewindBeforeInvocationId\":\"%s\"}",
		   invocation);
	add(buf_cstr(&members));
}

/* Whom one asks for, and who was asked about. */
struct asked {
	const char *accept;
	int answer;
	struct buf authors;
};

static int accepts(void *arg, const char *author)
{
	struct asked *a = arg;

	buf_printf(&a->authors, "%s ", author);
	return a->accept && !strcmp(a->accept, author) ? a->answer : 0;
}

/* asked: the authors in the order in which they were asked about. */
static void expect_answer(const char *accept, int answer, const struct turn_info *turn,
			  const char *want, const char *asked)
{
	struct asked a = { accept, answer, { 0 } };
	struct speaker_filter filter = { accepts, &a, turn ? turn->invocation : NULL };
	CLEANUP(buf_release) struct buf author = { 0 };

	CODE(speaker_last(st, session, &filter, &author, &err), MIN(answer, 0));
	assert_string_equal(author.len ? buf_cstr(&author) : "", want);
	assert_string_equal(a.authors.len ? buf_cstr(&a.authors) : "", asked);
	buf_release(&a.authors);
}

static void expect_author(const char *accept, const char *want, const char *asked)
{
	expect_answer(accept, 1, NULL, want, asked);
}

static void test_last_author(void **state UNUSED)
{
	struct turn_info turn;

	expect_author("a", "", "");
	say("e-1", "user");
	expect_author("user", "", "");
	say("e-1", "a");
	say("e-1", "b");
	say("e-1", "a");
	say("e-1", "c");
	say("e-1", "user");
	expect_author("c", "c", "c ");
	expect_author("a", "a", "c a ");
	expect_author("b", "b", "c a b ");
	expect_author("x", "", "c a b ");
	expect_author(NULL, "", "c a b ");
	expect_answer("a", 2, NULL, "", "c a ");
	expect_answer("a", -EXDEV, NULL, "", "c a ");
	/* The turn's own events do not count. */
	turn = submit("e-2");
	say("e-2", "d");
	expect_answer("a", 1, &turn, "a", "c a ");
	expect_author("d", "d", "d ");
	OK(scope_remove(st, session, &err));
	CODE(speaker_last(st, session, &(struct speaker_filter){ accepts, NULL, NULL }, NULL, &err),
	     -ENOENT);
}

static void test_rewound_authors(void **state UNUSED)
{
	(void)submit("e-1");
	say("e-1", "a");
	(void)submit("e-2");
	say("e-2", "b");
	rewind_before("e-2");
	say("e-2", "late");
	expect_author("b", "", "a ");
	say("x", "c");
	expect_author("a", "a", "c a ");
	rewind_before("e-1");
	expect_author("a", "", "");
}

/* Caller, branch and id of the line; NULL: there is none. */
static void expect_caller(const char *id, const char *author, const char *branch)
{
	CLEANUP(caller_release) struct caller found = { 0 };
	CLEANUP(event_release) struct event e = { 0 };

	CODE(speaker_of_call(st, session, id, &found, &err), author ? 0 : -ENOENT);
	assert_string_equal(found.author.len ? buf_cstr(&found.author) : "", author ? author : "");
	assert_string_equal(found.branch.len ? buf_cstr(&found.branch) : "", branch);
	if (!author) {
		assert_int_equal(found.line.len, 0);
		return;
	}
	OK(event_from_json(buf_span(&found.line), &e, &err));
	buf_clear(&found.author);
	OK(event_text(&e, EVENT_AUTHOR, &found.author));
	assert_string_equal(buf_cstr(&found.author), author);
}

static void test_caller(void **state UNUSED)
{
	expect_caller("c-1", NULL, "");
	call("e-1", "a", "null", "c-1");
	call("e-1", "b", "\"p.b\"", "c-2");
	call("e-1", "c", "null", "it\\\"s");
	expect_caller("c-1", "a", "");
	expect_caller("c-2", "b", "p.b");
	expect_caller("it\"s", "c", "");
	expect_caller("c-", NULL, "");
	expect_caller("", NULL, "");
	/* An agent that names a call has not made the call. */
	add("\"author\":\"d\",\"content\":{\"role\":\"user\",\"parts\":[{\"text\":\"c-1\"},{"
	    "\"functionResponse\":{\"id\":\"c-1\",\"name\":\"f\",\"response\":{\"id\":\"c-1\"}}}]"
	    "},\"longRunningToolIds\":[\"c-1\"]");
	expect_caller("c-1", "a", "");
	/* The newest of several. */
	call("e-2", "e", "null", "c-1");
	expect_caller("c-1", "e", "");
}

static void test_rewound_caller(void **state UNUSED)
{
	(void)submit("e-1");
	call("e-1", "a", "null", "c");
	(void)submit("e-2");
	call("e-2", "b", "null", "c");
	expect_caller("c", "b", "");
	rewind_before("e-2");
	expect_caller("c", "a", "");
	rewind_before("e-1");
	expect_caller("c", NULL, "");
}

#define MANY 20000

/* The way back goes over many rows and segments of the log. */
static void test_long_way(void **state UNUSED)
{
	struct event *events = calloc(MANY, sizeof *events);
	size_t i;

	assert_non_null(events);
	call("e-0", "first", "null", "far");
	for (i = 0; i < MANY; i++)
		take(&events[i],
		     "\"author\":\"a\",\"content\":{\"role\":\"model\",\"parts\":[{\"text\":"
		     "\"some text of the length that a short answer has, about a hundred bytes "
		     "of it\"}]}");
	OK(session_append(st, session, events, MANY, &err));
	OK(session_fold(st, session, &err));
	for (i = 0; i < MANY; i++)
		event_release(&events[i]);
	free(events);
	call("e-1", "b", "null", "near");
	say("e-1", "user");
	expect_author("first", "first", "b a first ");
	expect_caller("far", "first", "");
	expect_author("b", "b", "b ");
	expect_caller("near", "b", "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		STORE_TEST(test_last_author), STORE_TEST(test_rewound_authors),
		STORE_TEST(test_caller),      STORE_TEST(test_rewound_caller),
		STORE_TEST(test_long_way),
	};

	RUN_ON_ENGINES(tests);
}

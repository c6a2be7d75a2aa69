/*
 * Attachments: rows of a session until a turn takes them.
 */
#include "store/turn/attachment.h"

#include "store/remove.h"
#include "store/timeline/fork.h"
#include "store/turn/text.h"
#include "store/turn/turn.h"
#include "tests/unit/store/store_rig.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void put(const char *name, const char *text)
{
	OK(attachment_put(st, session, name, span_of(text), 0, &err));
}

static int add_name(void *arg, const struct attachment_info *info)
{
	buf_printf(arg, "%s=%llu ", info->name, (unsigned long long)info->size);
	return 0;
}

/* What is there, in the order in which it came, and as the session counts it. */
static void expect(const char *want, uint64_t count, uint64_t bytes)
{
	CLEANUP(buf_release) struct buf all = { 0 };
	struct scope_info info;

	OK(attachment_list(st, session, 0, add_name, &all, &err));
	assert_string_equal(all.len ? buf_cstr(&all) : "", want);
	OK(scope_stat(st, session, &info, &err));
	assert_int_equal(info.attachments, count);
	assert_int_equal(info.attachment_bytes, bytes);
}

static void expect_bytes(const char *name, struct span want)
{
	CLEANUP(buf_release) struct buf bytes = { 0 };
	struct attachment_info info;

	OK(attachment_find(st, session, name, &info, &err));
	OK(attachment_read(st, session, info.number, &bytes, &err));
	assert_int_equal(info.size, want.len);
	assert_true(span_equal(buf_span(&bytes), want));
}

static void make(struct event *e, const char *text)
{
	CLEANUP(content_free_p) struct content *content = content_new("user");

	*e = (struct event){ 0 };
	event_set_text(e, EVENT_INVOCATION, SPAN("e-1"));
	event_set_text(e, EVENT_AUTHOR, SPAN("user"));
	if (!text)
		return;
	OK(content_add_text(content, span_of(text), false));
	event_set_content(e, content);
}

/* Submit a message; its event's content is to be this. */
static void submit(const char *text, const char *want)
{
	CLEANUP(event_release) struct event e = { 0 };
	CLEANUP(buf_release) struct buf line = { 0 };
	CLEANUP(buf_release) struct buf input = { 0 };
	struct turn_info turn;

	make(&e, text);
	OK(turn_submit(st, session, 0, &e, &turn, &err));
	OK(turn_events(st, session, &turn, &line, &err));
	if (!memmem(line.data, line.len, want, strlen(want)))
		fail_msg("%.*s", (int)line.len, line.data);
	OK(turn_input(st, session, &turn, &input, &err));
	assert_true(span_is(buf_span(&input), text ? text : ""));
}

static void test_put(void **state UNUSED)
{
	struct attachment_info a;
	struct attachment_info same;

	put("b", "two");
	put("a.json", "{}");
	expect("b=3 a.json=2 ", 2, 5);
	OK(attachment_find(st, session, "a.json", &a, &err));
	assert_string_equal(a.mime, "application/json");
	put("a.json", "{\"a\": 1}");
	OK(attachment_find(st, session, "a.json", &same, &err));
	assert_int_equal(same.number, a.number);
	assert_true(same.stamp > a.stamp);
	expect("b=3 a.json=8 ", 2, 11);
	put("b", "");
	expect("b=0 a.json=8 ", 2, 8);
	expect_bytes("b", SPAN(""));
	expect_bytes("a.json", SPAN("{\"a\": 1}"));
	OK(attachment_remove(st, session, "b", &err));
	CODE(attachment_remove(st, session, "b", &err), -ENOENT);
	CODE(attachment_find(st, session, "b", &a, &err), -ENOENT);
	expect("a.json=8 ", 1, 8);
}

static void test_number(void **state UNUSED)
{
	uint64_t number = store_new_number(st, &err);
	struct attachment_info a;
	struct attachment_info b;

	OK(attachment_put(st, session, "a", SPAN("1"), number, &err));
	OK(attachment_find(st, session, "a", &a, &err));
	assert_int_equal(a.number, number);
	/* Another name cannot have it too. */
	OK(attachment_put(st, session, "b", SPAN("2"), number, &err));
	OK(attachment_find(st, session, "b", &b, &err));
	assert_true(b.number != number);
	expect("a=1 b=1 ", 2, 2);
}

static void test_rename(void **state UNUSED)
{
	struct attachment_info a;
	struct attachment_info moved;

	put("a", "12345");
	put("b", "12");
	OK(attachment_find(st, session, "a", &a, &err));
	CODE(attachment_rename(st, session, &(struct attachment_rename){ "x", "y", false }, &moved,
			       &err),
	     -ENOENT);
	CODE(attachment_rename(st, session, &(struct attachment_rename){ "a", "b", true }, &moved,
			       &err),
	     -EEXIST);
	expect("a=5 b=2 ", 2, 7);
	OK(attachment_rename(st, session, &(struct attachment_rename){ "a", "b", false }, &moved,
			     &err));
	assert_int_equal(moved.number, a.number);
	expect("b=5 ", 1, 5);
	expect_bytes("b", SPAN("12345"));
	OK(attachment_rename(st, session, &(struct attachment_rename){ "b", "c.md", true }, &moved,
			     &err));
	assert_string_equal(moved.mime, "text/markdown");
	OK(attachment_rename(st, session, &(struct attachment_rename){ "c.md", "c.md", false },
			     &moved, &err));
	expect("c.md=5 ", 1, 5);
}

static void test_limits(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf big = { 0 };
	struct span some;
	char name[16];
	int i;

	assert_true(buf_reserve(&big, ATTACHMENTS_MAX + 1));
	memset(big.data, 'x', ATTACHMENTS_MAX + 1);
	big.len = ATTACHMENTS_MAX + 1;
	some = span_sub(buf_span(&big), 0, ATTACHMENTS_MAX - 1);
	CODE(attachment_put(st, session, "a", buf_span(&big), 0, &err), -EFBIG);
	expect("", 0, 0);
	OK(attachment_put(st, session, "a", some, 0, &err));
	expect_bytes("a", some);
	put("b", "1");
	CODE(attachment_put(st, session, "b", SPAN("12"), 0, &err), -EFBIG);
	CODE(attachment_check(st, session, "c", 1, &err), -EFBIG);
	OK(attachment_check(st, session, "a", ATTACHMENTS_MAX - 1, &err));
	/* Fewer pieces, and nothing left of the others. */
	some = span_sub(buf_span(&big), 0, ENGINE_VALUE_MAX);
	OK(attachment_put(st, session, "a", some, 0, &err));
	expect_bytes("a", some);
	OK(attachment_remove(st, session, "a", &err));
	for (i = 1; i < ATTACHMENTS_COUNT_MAX; i++) {
		(void)snprintf(name, sizeof name, "f%d", i);
		put(name, "");
	}
	CODE(attachment_put(st, session, "one more", SPAN(""), 0, &err), -ENOSPC);
	put("f1", "another text");
}

static void test_take(void **state UNUSED)
{
	put("b.txt", "hi \xff\xfe");
	put("a.txt", "text");
	submit("look", "\"content\":{\"parts\":[{\"text\":\"look\"},"
		       "{\"inlineData\":{\"data\":\"dGV4dA==\",\"displayName\":\"a.txt\","
		       "\"mimeType\":\"text/plain\"}},"
		       "{\"inlineData\":{\"data\":\"aGkg__4=\",\"displayName\":\"b.txt\",");
	expect("", 0, 0);
	submit("next", "\"content\":{\"parts\":[{\"text\":\"next\"}],\"role\":\"user\"}");
	put("a.txt", "again");
	submit(NULL, "\"content\":{\"parts\":[{\"inlineData\":{\"data\":\"YWdhaW4=\"");
	expect("", 0, 0);
}

static int take_stale(struct store_tx *tx, void *arg)
{
	CLEANUP(session_release) struct session_tx s;

	OK(session_begin(&s, tx, session));
	return attachments_take(&s, arg);
}

static void test_stale(void **state UNUSED)
{
	CLEANUP(attachments_release) struct attachments all = { 0 };

	put("a", "1");
	OK(attachments_collect(st, session, &all, &err));
	assert_int_equal(all.parts->count, 1);
	put("a", "2");
	CODE(store_update(st, take_stale, &all, &err), -ECANCELED);
	expect("a=1 ", 1, 1);
	expect_bytes("a", SPAN("2"));
}

static void test_gone(void **state UNUSED)
{
	CLEANUP(attachments_release) struct attachments all = { 0 };
	struct attachment_info a;
	struct ref fork;

	put("a", "1");
	OK(session_fork(st, session, "fork", SPAN(""), &fork, &err));
	CODE(attachment_find(st, fork, "a", &a, &err), -ENOENT);
	OK(attachments_collect(st, fork, &all, &err));
	assert_null(all.parts);
	OK(attachment_find(st, session, "a", &a, &err));
	OK(scope_remove(st, session, &err));
	CODE(attachment_stat(st, session, a.number, &a, &err), -ENOENT);
	CODE(attachment_put(st, session, "a", SPAN(""), 0, &err), -ESTALE);
	CODE(attachment_check(st, session, "a", 0, &err), -ESTALE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		STORE_TEST(test_put),    STORE_TEST(test_number), STORE_TEST(test_rename),
		STORE_TEST(test_limits), STORE_TEST(test_take),   STORE_TEST(test_stale),
		STORE_TEST(test_gone),
	};

	RUN_ON_ENGINES(tests);
}

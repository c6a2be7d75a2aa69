/*
 * Memory: what is found, and what is not any more.
 */
#include "store/memory/memory.h"

#include "store/open.h"
#include "store/remove.h"
#include "store/timeline/fork.h"
#include "store/timeline/rewind.h"
#include "store/turn/turn.h"
#include "store/tx/key.h"
#include "store/tx/record.h"
#include "tests/unit/store/store_rig.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static struct ref one, two;

static int setup(void **state)
{
	int r = store_setup(state);

	OK(scope_remove(st, session, &err));
	OK(scope_create(st, user, "one", &one, NULL, &err));
	OK(scope_create(st, user, "two", &two, NULL, &err));
	return r;
}

/* An event with these parts, or others of its members, at a second of its own. */
static void append_json(struct ref to, const char *invocation, const char *rest)
{
	static unsigned seconds = 1000;
	CLEANUP(event_release) struct event e = { 0 };
	CLEANUP(buf_release) struct buf line = { 0 };

	buf_printf(&line, "{\"author\":\"user\",\"invocationId\":\"%s\",\"timestamp\":%u,%s}",
		   invocation, seconds++, rest);
	OK(event_from_json(buf_span(&line), &e, &err));
	OK(session_append(st, to, &e, 1, &err));
}

static void append(struct ref to, const char *text)
{
	CLEANUP(buf_release) struct buf rest = { 0 };

	buf_printf(&rest, "\"content\":{\"role\":\"user\",\"parts\":[{\"text\":\"%s\"}]}", text);
	append_json(to, "e-0", buf_cstr(&rest));
}

/* "session:text:shared" of each match. */
static int note_match(void *arg, const struct memory_match *match)
{
	CLEANUP(buf_release) struct buf shown = { 0 };
	struct span content;
	struct span text;

	assert_int_equal(memory_show(match, &shown), 0);
	OK(json_member(buf_span(&shown), "content", &content));
	OK(json_member(content, "parts", &text));
	buf_printf(arg, "%s:%.*s:%u ", match->session, (int)text.len - 13, text.data + 10,
		   match->shared);
	return 0;
}

static void expect_of(struct ref who, const char *query, unsigned max, const char *want)
{
	CLEANUP(buf_release) struct buf got = { 0 };

	OK(memory_search(st, &(struct memory_query){ who, span_of(query), max }, note_match, &got,
			 &err));
	assert_string_equal(buf_cstr(&got), want);
}

static void expect(const char *query, const char *want)
{
	expect_of(user, query, 10, want);
}

static int count_row(void *arg, struct span key UNUSED, struct span value UNUSED)
{
	++*(size_t *)arg;
	return 0;
}

static int count_rows(struct store_tx *tx, void *arg)
{
	static const enum key_space spaces[] = { KEY_WORD, KEY_WORDS, KEY_INDEXING };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(spaces); i++) {
		struct key prefix = key_space(spaces[i]);

		OK(store_scan(tx, &prefix, &prefix, count_row, arg));
	}
	return 0;
}

#define STAMP 1 /* the row of the user's stamp */

/* Until the store's thread is through. */
static void expect_rows(size_t want)
{
	const struct timespec pause = { 0, 1000000 };
	size_t got = want + 1;
	int tries;

	for (tries = 0; got != want && tries < 10000; tries++) {
		got = 0;
		OK(store_view(st, count_rows, &got, &err));
		if (got != want)
			(void)nanosleep(&pause, NULL);
	}
	assert_int_equal(got, want);
}

static void test_order(void **state UNUSED)
{
	append(one, "a red apple");
	append(two, "red wine");
	OK(memory_remember(st, one, NULL, &err));
	OK(memory_remember(st, two, NULL, &err));
	append(one, "apple pie, Apple juice");
	append(one, "nothing");
	append(two, "a RED apple and a pie");
	expect("apple red", "two:a RED apple and a pie:2 one:a red apple:2 "
			    "one:apple pie, Apple juice:1 two:red wine:1 ");
	expect("Apple APPLE", "two:a RED apple and a pie:1 one:apple pie, Apple juice:1 "
			      "one:a red apple:1 ");
	expect_of(user, "apple red", 1, "two:a RED apple and a pie:2 ");
	expect_of(user, "apple", 0, "");
	expect("", "");
	expect(" ,.", "");
	expect("banana", "");
	expect("appl", "");
	expect_rows(14 + 5 + STAMP);
}

static void test_at_most(void **state UNUSED)
{
	char text[32];
	int i;

	OK(memory_remember(st, one, NULL, &err));
	for (i = 0; i < 1000; i++) {
		(void)snprintf(text, sizeof text, "many w%d", i);
		append(one, text);
	}
	expect_of(user, "many", 2, "one:many w999:1 one:many w998:1 ");
	expect_of(user, "many w3", 3, "one:many w3:2 one:many w999:1 one:many w998:1 ");
	expect("w500", "one:many w500:1 ");
}

static void test_what_is_searched(void **state UNUSED)
{
	OK(memory_remember(st, one, NULL, &err));
	append_json(one, "e-1",
		    "\"content\":{\"role\":\"model\",\"parts\":["
		    "{\"text\":\"hidden\",\"thought\":true},{\"text\":\"told\"},"
		    "{\"functionCall\":{\"name\":\"tool\",\"args\":{\"text\":\"args\"}}},"
		    "{\"inlineData\":{\"mimeType\":\"text/plain\",\"data\":\"AAAA\"}}]}");
	append_json(one, "e-1",
		    "\"content\":{\"role\":\"user\",\"parts\":[{\"functionResponse\":"
		    "{\"name\":\"tool\",\"response\":{\"text\":\"result\"}}}]}");
	append_json(one, "e-1", "\"errorMessage\":\"failed\"");
	append_json(one, "e-1", "\"actions\":{\"stateDelta\":{\"key\":\"value\"}}");
	append(one, "quo\\\"te line\\nbreak \\u00fcber");
	expect("hidden tool args result failed key value text AAAA user model parts", "");
	expect("told", "one:told:1 ");
	expect("TE break ÜBER", "one:quo\\\"te line\\nbreak über:3 ");
	expect("nbreak", "");
}

static void test_show(void **state UNUSED)
{
	const struct memory_match match = {
		.line = SPAN("{\"content\":{\"parts\":[{\"text\":\"why\",\"thought\":true},"
			     "{\"text\":\"a\",\"thoughtSignature\":\"AA==\"},{\"inlineData\":"
			     "{\"data\":\"AAAA\",\"mimeType\":\"image/png\"}},{\"text\":\"b\"}],"
			     "\"role\":\"model\"},\"author\":\"me\",\"actions\":{},\"id\":\"i\","
			     "\"timestamp\":1795217882.900000}"),
		.session = "s \"1\"",
	};
	CLEANUP(buf_release) struct buf out = { 0 };

	OK(memory_show(&match, &out));
	assert_string_equal(buf_cstr(&out),
			    "{\"content\":{\"parts\":[{\"text\":\"a\"},{\"text\":\"b\"}],"
			    "\"role\":\"model\"},\"author\":\"me\","
			    "\"timestamp\":\"2026-11-20T23:38:02.900000Z\",\"id\":\"i\","
			    "\"customMetadata\":{\"adkfs.session\":\"s \\\"1\\\"\"}}");
}

static void test_links(void **state UNUSED)
{
	struct memory_link link;
	struct memory_link again;

	append(one, "first");
	CODE(memory_forget(st, one, &err), -ENOENT);
	OK(memory_remember(st, one, &link, &err));
	CODE(memory_remember(st, one, NULL, &err), -EEXIST);
	OK(memory_stat(st, user, link.number, &again, &err));
	assert_int_equal(again.number, link.number);
	assert_string_equal(again.id, "one");
	expect("first", "one:first:1 ");
	OK(memory_forget(st, one, &err));
	expect("first", "");
	CODE(memory_stat(st, user, link.number, &again, &err), -ENOENT);
	append(one, "second first");
	expect("first", "");
	OK(memory_remember(st, one, &again, &err));
	assert_int_not_equal(again.number, link.number);
	expect("first", "one:second first:1 one:first:1 ");
	OK(memory_forget(st, one, &err));
	expect_rows(STAMP);
}

static uint64_t stamp(struct ref who)
{
	uint64_t stamp;

	OK(memory_stamp(st, who, &stamp, &err));
	return stamp;
}

static void test_stamp(void **state UNUSED)
{
	uint64_t last = stamp(user);

	assert_int_equal(last, 0);
	append(one, "word");
	assert_int_equal(stamp(user), 0);
	OK(memory_remember(st, one, NULL, &err));
	assert_true(stamp(user) > last);
	last = stamp(user);
	append(one, "word");
	assert_true(stamp(user) > last);
	last = stamp(user);
	append(two, "word");
	assert_true(stamp(user) == last);
	OK(memory_forget(st, one, &err));
	assert_true(stamp(user) > last);
}

static void test_scopes(void **state UNUSED)
{
	struct ref other;
	struct ref theirs;

	OK(scope_create(st, app, "other", &other, NULL, &err));
	OK(scope_create(st, other, "one", &theirs, NULL, &err));
	append(one, "mine");
	append(theirs, "mine too");
	OK(memory_remember(st, one, NULL, &err));
	OK(memory_remember(st, theirs, NULL, &err));
	expect("mine", "one:mine:1 ");
	expect_of(other, "mine", 10, "one:mine too:1 ");
	expect("too", "");
}

static void test_session_goes(void **state UNUSED)
{
	struct memory_link link;
	struct scope_info before;
	struct scope_info info;
	struct ref fork;

	append(one, "word");
	OK(memory_remember(st, one, &link, &err));
	OK(session_fork(st, one, "fork", SPAN(""), &fork, &err));
	append(fork, "word of the fork");
	expect("word", "one:word:1 ");
	CODE(memory_forget(st, fork, &err), -ENOENT);
	OK(scope_stat(st, user, &before, &err));
	OK(scope_remove(st, one, &err));
	expect("word", "");
	CODE(memory_stat(st, user, link.number, &link, &err), -ENOENT);
	CODE(memory_forget(st, one, &err), -ENOENT);
	CODE(memory_remember(st, one, NULL, &err), -ENOENT);
	expect_rows(STAMP);
	OK(scope_stat(st, user, &info, &err));
	assert_true(info.memory_stamp > before.memory_stamp);
	OK(scope_remove(st, two, &err));
	OK(scope_remove(st, fork, &err));
	OK(scope_remove(st, user, &err));
	expect_rows(0);
}

static void turn(const char *invocation, const char *text)
{
	CLEANUP(event_release) struct event e = { 0 };
	CLEANUP(buf_release) struct buf line = { 0 };
	struct turn_info info;

	buf_printf(&line,
		   "{\"author\":\"user\",\"invocationId\":\"%s\",\"content\":"
		   "{\"role\":\"user\",\"parts\":[{\"text\":\"%s\"}]}}",
		   invocation, text);
	OK(event_from_json(buf_span(&line), &e, &err));
	OK(turn_submit(st, one, 0, &e, &info, &err));
	OK(turn_end(st, one, info.n, TURN_DONE, NULL, &err));
}

static void test_rewind(void **state UNUSED)
{
	char invocation[16];
	int i;

	OK(memory_remember(st, one, NULL, &err));
	append(two, "thing two");
	OK(memory_remember(st, two, NULL, &err));
	turn("e-1", "thing kept");
	for (i = 2; i < 50; i++) {
		(void)snprintf(invocation, sizeof invocation, "e-%d", i);
		turn(invocation, "thing lost");
	}
	expect_of(user, "thing", 2, "one:thing lost:1 one:thing lost:1 ");
	OK(session_rewind(st, one, SPAN("e-2"), &err));
	expect_of(user, "thing", 2, "one:thing kept:1 two:thing two:1 ");
	expect("lost", "");
	turn("e-60", "thing new");
	expect("thing", "one:thing new:1 one:thing kept:1 two:thing two:1 ");
	/* A line that comes late to a turn that is undone. */
	append_json(one, "e-5",
		    "\"content\":{\"role\":\"user\",\"parts\":[{\"text\":\"thing late\"}]}");
	expect("late", "");
	/* All the same for one that is linked only now. */
	OK(memory_forget(st, one, &err));
	OK(memory_remember(st, one, NULL, &err));
	expect("thing", "one:thing new:1 one:thing kept:1 two:thing two:1 ");
}

/* Many events at once: `count` of "w<i> all". */
static void append_many(struct ref to, unsigned from, unsigned count)
{
	struct event *events = calloc(count, sizeof *events);
	CLEANUP(buf_release) struct buf line = { 0 };
	unsigned i;

	for (i = 0; i < count; i++) {
		buf_clear(&line);
		buf_printf(&line,
			   "{\"author\":\"user\",\"invocationId\":\"e-0\",\"timestamp\":%u,"
			   "\"content\":{\"role\":\"user\",\"parts\":[{\"text\":\"w%u all\"}]}}",
			   10000 + from + i, from + i);
		OK(event_from_json(buf_span(&line), &events[i], &err));
	}
	OK(session_append(st, to, events, count, &err));
	for (i = 0; i < count; i++)
		event_release(&events[i]);
	free(events);
}

/* What is there is indexed in several transactions, and so it goes. */
static void test_long(void **state UNUSED)
{
	unsigned i;

	for (i = 0; i < 10; i++)
		append_many(one, i * 1000, 1000);
	OK(memory_remember(st, one, NULL, &err));
	expect("w0", "one:w0 all:1 ");
	expect("w9999", "one:w9999 all:1 ");
	expect_of(user, "all w7", 2, "one:w7 all:2 one:w9999 all:1 ");
	expect_rows(30000 + STAMP);
	OK(memory_forget(st, one, &err));
	expect("all", "");
	expect_rows(STAMP);
}

static int pretend_half(struct store_tx *tx, void *arg)
{
	const struct memory_link *link = arg;
	CLEANUP(buf_release) struct buf record = { 0 };
	CLEANUP(buf_release) struct buf job = { 0 };
	struct key key = key_item(user.user, KEY_MEMORY, link->number);
	struct scope_info info;

	OK(scope_load(tx, one, &info));
	record_number(&record, one.session);
	record_number(&record, link->stamp);
	record_number(&record, 0);
	record_number(&record, info.log_size);
	store_put(tx, &key, buf_span(&record));
	record_number(&job, app.app);
	record_number(&job, user.user);
	key = key_1(KEY_INDEXING, link->number);
	store_put(tx, &key, buf_span(&job));
	key = key_1(KEY_WORDS, link->number);
	store_delete_all(tx, &key);
	key = key_1(KEY_WORD, user.user);
	store_delete_all(tx, &key);
	return 0;
}

/* A crash while the index is made, or taken away. */
static void test_goes_on(void **state UNUSED)
{
	struct memory_link link;

	append(one, "one two three");
	OK(memory_remember(st, one, &link, &err));
	OK(store_update(st, pretend_half, &link, &err));
	expect("two", "");
	if (strcmp(engine, "rocksdb") == 0) {
		store_close(st);
		open_store();
	}
	memory_work(st);
	expect_rows(4 + STAMP);
	expect("two", "one:one two three:1 ");
	memory_stop(st);
	OK(memory_forget(st, one, &err));
	expect_rows(5 + STAMP);
	expect("two", "");
	if (strcmp(engine, "rocksdb") != 0)
		return;
	store_close(st);
	open_store();
	memory_work(st);
	expect_rows(STAMP);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, store_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_order),  TEST(test_at_most),      TEST(test_what_is_searched),
		TEST(test_show),   TEST(test_links),        TEST(test_stamp),
		TEST(test_scopes), TEST(test_session_goes), TEST(test_rewind),
		TEST(test_long),   TEST(test_goes_on),
	};

	RUN_ON_ENGINES(tests);
}

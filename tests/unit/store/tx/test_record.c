/*
 * Records, byte by byte: those that are in stores already are read, and written as they were.
 */
#include "store/artifact/item.h"
#include "store/artifact/version.h"
#include "store/memory/memory.h"
#include "store/turn/attachment.h"
#include "store/turn/call.h"
#include "store/turn/info.h"
#include "store/tx/key.h"
#include "tests/unit/store/store_rig.h"

#include <errno.h>

struct row {
	struct key key;
	struct span bytes;
};

static int put_row(struct store_tx *tx, void *arg)
{
	const struct row *row = arg;

	store_put(tx, &row->key, row->bytes);
	return 0;
}

static void put(struct key key, struct span bytes)
{
	struct row row = { key, bytes };

	OK(store_update(st, put_row, &row, &err));
}

static int compare_row(struct store_tx *tx, void *arg)
{
	const struct row *row = arg;
	CLEANUP(buf_release) struct buf value = { 0 };

	assert_int_equal(store_get(tx, &row->key, &value), 0);
	assert_int_equal(value.len, row->bytes.len);
	assert_memory_equal(value.data, row->bytes.data, value.len);
	return 0;
}

static void expect(struct key key, struct span bytes)
{
	struct row row = { key, bytes };

	OK(store_view(st, compare_row, &row, &err));
}

#define SCOPE_BYTES                                                                                \
	"\x02s1"                                                                                   \
	"\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\xac\x02\x0c\x0d\x0e\x0f\x10\x11\x12\x13\x14\x15"

/* The number of format 1 that is not used any more becomes 0. */
#define RESAVED_BYTES                                                                              \
	"\x02s1"                                                                                   \
	"\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\xac\x02\x00\x0d\x0e\x0f\x10\x11\x12\x13\x14\x15"

static int resave_scope(struct store_tx *tx, void *arg)
{
	struct scope_info info;

	assert_int_equal(scope_load(tx, session, &info), 0);
	assert_string_equal(info.id, "s1");
	assert_int_equal(info.created, 1);
	assert_int_equal(info.members_stamp, 4);
	assert_int_equal(info.log_stamp, 10);
	assert_int_equal(info.log_size, 300);
	assert_int_equal(info.memory_stamp, 21);
	scope_save(tx, session, &info);
	*(uint64_t *)arg = info.number;
	return 0;
}

static void test_scope(void **state UNUSED)
{
	struct key key = key_item(session.user, KEY_SESSION, session.session);
	uint64_t number;

	put(key, SPAN(SCOPE_BYTES));
	OK(store_update(st, resave_scope, &number, &err));
	assert_int_equal(number, session.session);
	expect(key, SPAN(RESAVED_BYTES));
}

/* A record of an older version lacks members at its end: they are 0. */
static void test_old_scope(void **state UNUSED)
{
	struct scope_info info;

	put(key_item(session.user, KEY_SESSION, session.session), SPAN("\x02s1\x01\x02"));
	OK(scope_stat(st, session, &info, &err));
	assert_int_equal(info.updated, 2);
	assert_int_equal(info.stamp, 0);
	assert_int_equal(info.memory_stamp, 0);
	put(key_item(session.user, KEY_SESSION, session.session), SPAN("\x09s1"));
	CODE(scope_stat(st, session, &info, &err), -EIO);
}

#define TURN_BYTES                                                                                 \
	"\x01\x03\xac\x02\x04\x05\x06\x07\x08\x09\x0a\x0b"                                         \
	"\x03"                                                                                     \
	"e-1"                                                                                      \
	"\x02"                                                                                     \
	"ag"                                                                                       \
	"\x03"                                                                                     \
	"why"                                                                                      \
	"\x0c"

static void test_turn(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf bytes = { 0 };
	struct turn_info t;

	assert_int_equal(turn_decode(SPAN(TURN_BYTES), 5, &t), 0);
	assert_int_equal(t.n, 5);
	assert_int_equal(t.number, 1);
	assert_int_equal(t.state, TURN_FAILED);
	assert_int_equal(t.created, 300);
	assert_int_equal(t.stamp, 6);
	assert_int_equal(t.output_size, 11);
	assert_string_equal(t.invocation, "e-1");
	assert_string_equal(t.agent, "ag");
	assert_string_equal(t.error, "why");
	assert_int_equal(t.calls, 12);
	turn_encode(&t, &bytes);
	assert_true(span_equal(buf_span(&bytes), SPAN(TURN_BYTES)));
}

#define ITEM_BYTES                                                                                 \
	"\x00\x01"                                                                                 \
	"x\x03"                                                                                    \
	"d/x"                                                                                      \
	"\x01\x02\x03\x04\x05\x06\x00\x07\x08\x00\x1f\xa4\x03\x09\x0a\x0b\x0c"

static int resave_item(struct store_tx *tx, void *arg)
{
	struct artifact_info a;

	assert_int_equal(item_load(tx, session.session, *(uint64_t *)arg, &a), 0);
	assert_false(a.is_directory);
	assert_string_equal(a.name, "x");
	assert_string_equal(a.full_name, "d/x");
	assert_int_equal(a.stamp, 1);
	assert_int_equal(a.latest, 3);
	assert_int_equal(a.history, 7);
	assert_int_equal(a.changed, 8);
	assert_int_equal(a.attr.has, 31);
	assert_int_equal(a.attr.mode, 0644);
	assert_int_equal(a.attr.uid, 9);
	assert_int_equal(a.attr.atime, 12);
	item_save(tx, session.session, &a);
	return 0;
}

static void test_item(void **state UNUSED)
{
	uint64_t number = 77;
	struct key key = key_item(session.session, KEY_FILE, number);

	put(key, SPAN(ITEM_BYTES));
	OK(store_update(st, resave_item, &number, &err));
	expect(key, SPAN(ITEM_BYTES));
}

#define VERSION_BYTES "\x01\x02\x03\xac\x02\x05\x0atext/plain\x04\x07{\"a\":1}"

static int resave_version(struct store_tx *tx, void *arg)
{
	CLEANUP(buf_release) struct buf meta = { 0 };
	struct version_info v;

	assert_int_equal(version_load(tx, *(uint64_t *)arg, 4, &v, &meta), 0);
	assert_int_equal(v.n, 4);
	assert_int_equal(v.number, 1);
	assert_int_equal(v.stamp, 300);
	assert_int_equal(v.created, 5);
	assert_string_equal(v.mime, "text/plain");
	assert_true(v.is_typed && !v.pages && !v.is_tombstone);
	assert_true(span_is(buf_span(&meta), "{\"a\":1}"));
	version_save_record(tx, *(uint64_t *)arg, &v, buf_span(&meta));
	return 0;
}

static void test_version(void **state UNUSED)
{
	uint64_t history = 77;
	struct key key = key_2(KEY_VERSION, history, 4);

	put(key, SPAN(VERSION_BYTES));
	OK(store_update(st, resave_version, &history, &err));
	expect(key, SPAN(VERSION_BYTES "\x00")); /* no pages */
}

static void test_call(void **state UNUSED)
{
	struct call_info c;

	/* Two counts of tokens: an older version had fewer. */
	put(key_3(KEY_CALL, session.session, 2, 3),
	    SPAN("\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\xac\x02\x02\x0e\x0f"
		 "\x02id\x04tool\x04"
		 "file\x05"
		 "agent"));
	OK(call_stat(st, session, 2, 3, &c, &err));
	assert_int_equal(c.kind, CALL_TOOL);
	assert_int_equal(c.number, 2);
	assert_int_equal(c.started, 4);
	assert_int_equal(c.said.at, 7);
	assert_int_equal(c.said.part, 9);
	assert_int_equal(c.answer.len, 11);
	assert_int_equal(c.stderr_size, 300);
	assert_int_equal(c.tokens.count[1], 15);
	assert_int_equal(c.tokens.count[2], 0);
	assert_string_equal(c.id, "id");
	assert_string_equal(c.name, "tool");
	assert_string_equal(c.file_name, "file");
	assert_string_equal(c.agent, "agent");
}

static void test_attachment(void **state UNUSED)
{
	struct attachment_info a;

	put(key_item(session.session, KEY_ATTACHED, 77), SPAN("\x01x\x03"
							      "a/b\xac\x02\x05"));
	OK(attachment_stat(st, session, 77, &a, &err));
	assert_string_equal(a.name, "x");
	assert_string_equal(a.mime, "a/b");
	assert_int_equal(a.size, 300);
	assert_int_equal(a.stamp, 5);
}

static void test_memory(void **state UNUSED)
{
	struct memory_link link;
	char bytes[] = { 0, 0x22, 0, 0 };

	assert_true(session.session < 0x80);
	bytes[0] = (char)session.session;
	put(key_item(session.user, KEY_MEMORY, 77), (struct span){ bytes, sizeof bytes });
	OK(memory_stat(st, user, 77, &link, &err));
	assert_int_equal(link.session, session.session);
	assert_int_equal(link.stamp, 0x22);
	assert_string_equal(link.id, "session");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		STORE_TEST(test_scope),  STORE_TEST(test_old_scope),  STORE_TEST(test_turn),
		STORE_TEST(test_item),   STORE_TEST(test_version),    STORE_TEST(test_call),
		STORE_TEST(test_memory), STORE_TEST(test_attachment),
	};

	RUN_ON_ENGINES(tests);
}

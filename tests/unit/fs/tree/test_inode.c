/*
 * Inodes: what the kernel holds, and for how long.
 */
#include "fs/tree/inode.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static struct inodes inodes;
static struct err err;

static const struct node_type plain = { .name = "plain", .id = 3, .mode = S_IFREG | 0600 };
static const struct node_type shows_above = { .name = "state",
					      .id = 4,
					      .mode = S_IFREG | 0600,
					      .flags = NODE_SHOWS_ABOVE,
					      .news = NEWS_STATE };
static const struct node_type shows_files = { .name = "files",
					      .id = 5,
					      .mode = S_IFDIR | 0700,
					      .flags = NODE_SHOWS_ABOVE,
					      .news = NEWS_ARTIFACTS };

static int setup(void **state UNUSED)
{
	return inodes_init(&inodes, &err);
}

static int teardown(void **state UNUSED)
{
	inodes_release(&inodes);
	return 0;
}

static struct inode *enter(const struct node_type *type, struct ref ref, uint64_t item)
{
	struct place at = { .type = type, .ref = ref, .item = item };
	struct inode *inode = inode_enter(&inodes, &at, 1, "name");

	assert_non_null(inode);
	return inode;
}

/* The number is the object's, and the row's; the root's is 1. */
static void test_numbers(void **state UNUSED)
{
	static const struct node_type root = { .name = "/", .mode = S_IFDIR | 0755 };
	struct place at = { .type = &plain, .ref = { 1, 2, 3 } };

	assert_int_equal(inode_number(&at), 3 << 8 | 3);
	at.item = 9;
	assert_int_equal(inode_number(&at), 9 << 8 | 3);
	at = (struct place){ .type = &root };
	assert_int_equal(inode_number(&at), 1);
}

/* An inode lives until the kernel has given back each of its lookups. */
static void test_lookups(void **state UNUSED)
{
	struct inode *inode = enter(&plain, (struct ref){ 0 }, 7);

	assert_ptr_equal(enter(&plain, (struct ref){ 0 }, 7), inode);
	assert_int_equal(inodes_count(&inodes), 1);
	inode_forget(&inodes, inode->ino, 1);
	assert_ptr_equal(inode_find(&inodes, inode->ino), inode);
	inode_forget(&inodes, inode->ino, 1);
	assert_null(inode_find(&inodes, node_ino(7, plain.id)));
	assert_int_equal(inodes_count(&inodes), 0);
	inode_forget(&inodes, 12345, 1); /* unknown numbers do no harm */
}

static void test_many(void **state UNUSED)
{
	enum { MANY = 5000 };
	uint64_t i;

	for (i = 1; i <= MANY; i++)
		(void)enter(&plain, (struct ref){ 0 }, i);
	for (i = 1; i <= MANY; i++)
		assert_non_null(inode_find(&inodes, node_ino(i, plain.id)));
	for (i = 1; i <= MANY; i++)
		inode_forget(&inodes, node_ino(i, plain.id), 1);
	assert_int_equal(inodes_count(&inodes), 0);
}

/* A change counts, also for who listed before it; attributes are dropped only if asked for. */
static void test_changes(void **state UNUSED)
{
	struct inode *inode = enter(&plain, (struct ref){ 0 }, 7);
	uint64_t before = atomic_load(&inodes.changes);

	atomic_store(&inode->asked, false);
	assert_false(inode_changed(&inodes, inode->ino));
	assert_true(atomic_load(&inode->changed_at) > before);
	assert_int_equal(atomic_load(&inode->change), 1);
	assert_true(inode_asked(&inodes, inode->ino));
	assert_true(inode_changed(&inodes, inode->ino));
	assert_false(inode_changed(&inodes, inode->ino));
	assert_false(inode_asked(&inodes, 999));
}

/* A rename changes the place; who looks at the old one may go on. */
static void test_move(void **state UNUSED)
{
	struct inode *inode = enter(&plain, (struct ref){ 0 }, 7);
	const struct spot *old = inode_spot(inode);
	struct place at = { .type = &plain, .item = 7, .name = "key" };

	assert_int_equal(inode_move(&inodes, &at, 42, "other"), 0);
	assert_string_equal(inode_spot(inode)->file_name, "other");
	assert_string_equal(inode_place(inode)->name, "key");
	assert_int_equal(inode_spot(inode)->parent, 42);
	assert_string_equal(old->file_name, "name");
	at.item = 8;
	assert_int_equal(inode_move(&inodes, &at, 42, "nobody"), 0);
	assert_null(inode_find(&inodes, node_ino(8, plain.id)));
}

static void test_removed(void **state UNUSED)
{
	struct inode *inode = enter(&plain, (struct ref){ 0 }, 7);

	inode_removed(&inodes, inode->ino);
	assert_true(atomic_load(&inode->gone));
	inode_restored(&inodes, inode->ino);
	assert_false(atomic_load(&inode->gone));
	inode_removed(&inodes, inode->ino);
	inode_remade(&inodes, inode->ino);
	assert_false(atomic_load(&inode->gone));
	assert_int_equal(atomic_load(&inode->generation), 1);
	inode_remade(&inodes, inode->ino); /* it was there */
	assert_int_equal(atomic_load(&inode->generation), 1);
	inode_removed(&inodes, 999);
}

static void expect_showing(unsigned news, struct ref scope, size_t want)
{
	CLEANUP(buf_release) struct buf held = { 0 };
	size_t n;

	inodes_showing(&inodes, NODE_SHOWS_ABOVE, news, scope, &held);
	(void)BUF_LIST(uint64_t, &held, &n);
	assert_int_equal(n, want);
}

/* Sessions that show state or files of their app and user: of that app, of that user. */
static void test_showing(void **state UNUSED)
{
	struct inode *one = enter(&shows_above, (struct ref){ 1, 2, 3 }, 0);

	(void)enter(&shows_above, (struct ref){ 1, 2, 4 }, 0);
	(void)enter(&shows_above, (struct ref){ 1, 5, 6 }, 0);
	(void)enter(&shows_files, (struct ref){ 1, 2, 3 }, 0);
	(void)enter(&plain, (struct ref){ 1, 2, 3 }, 0);
	expect_showing(NEWS_STATE, (struct ref){ .app = 1 }, 3);
	expect_showing(NEWS_STATE, (struct ref){ 1, 2, 0 }, 2);
	expect_showing(NEWS_ARTIFACTS, (struct ref){ 1, 2, 0 }, 1);
	expect_showing(NEWS_STATE, (struct ref){ .app = 9 }, 0);
	inode_forget(&inodes, one->ino, 1);
	expect_showing(NEWS_STATE, (struct ref){ 1, 2, 0 }, 1);
}

/* What has no time of its own gets another one with another text. */
static void test_text_stamp(void **state UNUSED)
{
	struct inode *inode = enter(&plain, (struct ref){ 0 }, 7);
	uint64_t first = inode_text_stamp(inode, SPAN("a"));

	assert_int_equal(inode_text_stamp(inode, SPAN("a")), first);
	assert_true(inode_text_stamp(inode, SPAN("b")) > first);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_numbers, setup, teardown),
		cmocka_unit_test_setup_teardown(test_lookups, setup, teardown),
		cmocka_unit_test_setup_teardown(test_many, setup, teardown),
		cmocka_unit_test_setup_teardown(test_changes, setup, teardown),
		cmocka_unit_test_setup_teardown(test_move, setup, teardown),
		cmocka_unit_test_setup_teardown(test_removed, setup, teardown),
		cmocka_unit_test_setup_teardown(test_showing, setup, teardown),
		cmocka_unit_test_setup_teardown(test_text_stamp, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

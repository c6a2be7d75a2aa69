/*
 * The tree: finding, listing and describing over tables of the test's own.
 */
#include "fs/tree/tree.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static struct fs fs = { .mounted = 1000 };
static struct err err;

/* A file is there as long as the test says so. */
static bool is_there;

static int maybe_present(const struct place *at UNUSED)
{
	return is_there ? 0 : -ENOENT;
}

static int text_show(const struct place *at UNUSED, struct buf *out, struct err *e)
{
	buf_text(out, "hello\n");
	return buf_check(out, e);
}

static int gone_stat(const struct place *at UNUSED, struct node_stat *st UNUSED, struct err *e)
{
	return err_set(e, -ENOENT, "gone");
}

/* Members are numbers up to 5. */
static const struct node_type member = {
	.name = "<n>", .id = 1, .mode = S_IFREG | 0400, .show = text_show
};

static int members_find(const struct place *dir, const char *name, struct place *child,
			struct buf *text UNUSED, struct err *e)
{
	uint64_t n = strtoull(name, NULL, 10);

	if (!n || n > 5)
		return err_set(e, -ENOENT, "there is no %s", name);
	child->type = dir->type->members;
	child->item = n;
	return 0;
}

static int members_list(const struct place *dir, uint64_t after, struct lister *l,
			struct err *e UNUSED)
{
	int r = 0;
	uint64_t n;

	for (n = after + 1; n <= 5 && r == 0; n++) {
		struct place child = *dir;
		char name[8];

		(void)snprintf(name, sizeof name, "%llu", (unsigned long long)n);
		child.type = dir->type->members;
		child.item = n;
		r = lister_emit(l, name, &child, n, NULL);
	}
	return r;
}

static const struct node_type rows[] = {
	{ .name = "first", .id = 2, .mode = S_IFREG | 0400, .show = text_show },
	{ .name = "maybe",
	  .id = 3,
	  .mode = S_IFREG | 0400,
	  .present = maybe_present,
	  .show = text_show },
	{ .name = "unlisted",
	  .id = 4,
	  .mode = S_IFREG | 0400,
	  .flags = NODE_UNLISTED,
	  .show = text_show },
	{ .name = "gone", .id = 5, .mode = S_IFREG | 0400, .stat = gone_stat },
	{ 0 },
};

static const struct dir_ops ops = { .list = members_list, .find = members_find };

static const struct node_type dir = {
	.name = "dir",
	.mode = S_IFDIR | 0700,
	.entries = rows,
	.members = &member,
	.dir = &ops,
};

static const struct place at = { .fs = &fs, .type = &dir, .item = 77 };

static void test_find(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf text = { 0 };
	char longest[300];
	struct place child;

	assert_int_equal(tree_find(&at, "first", &child, &text, &err), 0);
	assert_ptr_equal(child.type, &rows[0]);
	assert_int_equal(tree_find(&at, "3", &child, &text, &err), 0);
	assert_ptr_equal(child.type, &member);
	assert_int_equal(child.item, 3);
	assert_int_equal(tree_find(&at, "6", &child, &text, &err), -ENOENT);
	is_there = false;
	assert_int_equal(tree_find(&at, "maybe", &child, &text, &err), -ENOENT);
	assert_true(tree_is_fleeting(&child)); /* so that nobody remembers that it is missing */
	is_there = true;
	assert_int_equal(tree_find(&at, "maybe", &child, &text, &err), 0);
	memset(longest, 'a', sizeof longest - 1);
	longest[sizeof longest - 1] = 0;
	assert_int_equal(tree_find(&at, longest, &child, &text, &err), -ENAMETOOLONG);
}

/* Names of a listing, each with a space; `room` of them fit. */
struct listing {
	struct lister lister;
	struct buf names;
	unsigned room;
	uint64_t last; /* cookie */
};

static int emit(struct lister *lister, const char *name, const struct place *child UNUSED,
		uint64_t cookie, const struct node_stat *st UNUSED)
{
	struct listing *l = CONTAINER_OF(lister, struct listing, lister);

	if (!l->room)
		return 1;
	l->room--;
	l->last = cookie;
	buf_printf(&l->names, "%s ", name);
	return 0;
}

static void expect_list(uint64_t cookie, unsigned room, const char *want, uint64_t *last)
{
	struct listing l = { .lister.emit = emit, .room = room };

	assert_int_equal(tree_list(&at, cookie, &l.lister, &err), 0);
	assert_string_equal(buf_cstr(&l.names), want);
	*last = l.last;
	buf_release(&l.names);
}

/* A listing goes on behind the cookie of the last name that fitted. */
static void test_list(void **state UNUSED)
{
	uint64_t last;

	is_there = true;
	expect_list(0, 100, "first maybe gone 1 2 3 4 5 ", &last);
	expect_list(last, 100, "", &last);
	expect_list(0, 1, "first ", &last);
	expect_list(last, 3, "maybe gone 1 ", &last);
	expect_list(last, 2, "2 3 ", &last);
	expect_list(last, 100, "4 5 ", &last);
	is_there = false;
	expect_list(0, 2, "first gone ", &last);
}

static void test_hide(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf text = { 0 };
	const struct place other = { .fs = &fs, .type = &dir, .item = 78 };
	struct place child;
	uint64_t last;

	is_there = true;
	assert_false(tree_hides_names(inode_number(&at)));
	tree_hide(&at, "first");
	assert_true(tree_is_hidden(&at, "first"));
	assert_true(tree_hides_names(inode_number(&at)));
	assert_int_equal(tree_find(&at, "first", &child, &text, &err), -ENOENT);
	expect_list(0, 2, "maybe gone ", &last);
	assert_false(tree_is_hidden(&other, "first"));
	assert_int_equal(tree_find(&other, "first", &child, &text, &err), 0);
}

/* A file without a stat is as long as its text, and as old as the mount. */
static void test_stat(void **state UNUSED)
{
	struct place child = at;
	struct stat st;

	child.type = &rows[0];
	assert_int_equal(tree_stat(&child, NULL, &st, &err), 0);
	assert_int_equal(st.st_size, 6);
	assert_int_equal(st.st_ino, node_ino(77, 2));
	assert_int_equal(st.st_mode, S_IFREG | 0400);
	assert_int_equal(st.st_nlink, 1);
	assert_int_equal(st.st_mtim.tv_nsec, 1000);
	child.type = &rows[3];
	assert_int_equal(tree_stat(&child, NULL, &st, &err), -ESTALE);
	assert_int_equal(tree_stat(&at, NULL, &st, &err), 0);
	assert_int_equal(st.st_nlink, 2);
}

static void test_row_name(void **state UNUSED)
{
	assert_string_equal(tree_row_name(&dir, 4), "unlisted");
}

static int setup(void **state UNUSED)
{
	return owners_new(&fs.owners, &err);
}

static int teardown(void **state UNUSED)
{
	owners_free(fs.owners);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_find), cmocka_unit_test(test_list),
		cmocka_unit_test(test_stat), cmocka_unit_test(test_row_name),
		cmocka_unit_test(test_hide),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}

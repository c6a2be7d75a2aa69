/*
 * Notifying the kernel: what is dropped, when, and on which thread. The kernel
 * is a list of what it was told.
 */
#include "fs/tree/notify.h"

#include "fs/tree/inode.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#define DIR_INO  10
#define FILE_INO 11

static struct inodes inodes;
static struct notify notify;
static struct err err;

/* What the kernel was told, a word a call. */
static struct {
	struct mutex lock;
	struct cond moved;
	struct buf told;
	int answer;      /* of drop_attributes */
	bool is_held;    /* drop_name waits */
	pthread_t names; /* the thread that dropped a name */
} kernel = { .lock = MUTEX_INIT };

static void tell(const char *what, uint64_t ino, const char *name)
{
	mutex_lock(&kernel.lock);
	buf_printf(&kernel.told, "%s %llu%s%s;", what, (unsigned long long)ino, *name ? " " : "",
		   name);
	cond_wake_all(&kernel.moved);
	mutex_unlock(&kernel.lock);
}

static int drop_attributes(void *arg UNUSED, uint64_t ino)
{
	tell("attr", ino, "");
	return kernel.answer;
}

static void drop_name(void *arg UNUSED, uint64_t parent, const char *name)
{
	mutex_lock(&kernel.lock);
	while (kernel.is_held)
		cond_wait(&kernel.moved, &kernel.lock);
	kernel.names = pthread_self();
	mutex_unlock(&kernel.lock);
	tell("name", parent, name);
}

static void drop_pages(void *arg UNUSED, uint64_t ino)
{
	tell("pages", ino, "");
}

static const struct notify_kernel recorder = { drop_attributes, drop_name, drop_pages };

static void hold_names(bool hold)
{
	mutex_lock(&kernel.lock);
	kernel.is_held = hold;
	cond_wake_all(&kernel.moved);
	mutex_unlock(&kernel.lock);
}

/* Wait until the kernel was told all of this, then forget it. */
static void expect(const char *want)
{
	CLEANUP(buf_release) struct buf got = { 0 };

	mutex_lock(&kernel.lock);
	while (kernel.told.len < strlen(want))
		cond_wait(&kernel.moved, &kernel.lock);
	buf_span_add(&got, buf_span(&kernel.told));
	buf_clear(&kernel.told);
	mutex_unlock(&kernel.lock);
	assert_string_equal(buf_cstr(&got), want);
}

/* The kernel looks an inode up, and has its attributes. */
static void look_up(uint64_t ino)
{
	static const struct node_type row = { .name = "row", .mode = S_IFREG | 0600 };
	struct place at = { .type = &row, .item = ino };
	struct inode *inode = inode_enter(&inodes, &at, 1, "name");

	assert_non_null(inode);
	atomic_store(&inode->asked, true);
}

static uint64_t number(uint64_t object)
{
	return node_ino(object, 0);
}

static int setup(void **state UNUSED)
{
	cond_init(&kernel.moved);
	kernel.answer = 0;
	kernel.is_held = false;
	buf_clear(&kernel.told);
	if (inodes_init(&inodes, &err) < 0)
		return -1;
	notify = (struct notify){ 0 };
	return notify_start(&notify, &inodes, &recorder, NULL, &err);
}

static int teardown(void **state UNUSED)
{
	notify_stop(&notify);
	inodes_release(&inodes);
	buf_release(&kernel.told);
	cond_release(&kernel.moved);
	return 0;
}

/* Attributes that the kernel does not have are not dropped; those it has, once. */
static void test_attributes(void **state UNUSED)
{
	notify_attributes(&notify, number(FILE_INO));
	expect("");
	look_up(FILE_INO);
	notify_attributes(&notify, number(FILE_INO));
	notify_attributes(&notify, number(FILE_INO));
	expect("attr 2816;");
	look_up(FILE_INO);
	notify_attributes(&notify, number(FILE_INO));
	expect("attr 2816;");
}

/* The kernel may be about to take in old attributes: they are dropped once more. */
static void test_attributes_in_flight(void **state UNUSED)
{
	look_up(FILE_INO);
	kernel.answer = -ENOENT;
	notify_attributes(&notify, number(FILE_INO));
	expect("attr 2816;attr 2816;");
}

/* The first of many changes is told at once, the others together a moment later. */
static void test_soon(void **state UNUSED)
{
	int i;

	look_up(FILE_INO);
	notify_soon(&notify, number(FILE_INO));
	expect("attr 2816;");
	for (i = 0; i < 100; i++) {
		look_up(FILE_INO);
		notify_soon(&notify, number(FILE_INO));
	}
	expect("attr 2816;");
}

/* Names are dropped in order, by another thread, in directories that the kernel holds. */
static void test_names(void **state UNUSED)
{
	notify_name(&notify, number(DIR_INO), "nobody");
	look_up(DIR_INO);
	notify_name(&notify, number(DIR_INO), "a");
	notify_pages(&notify, number(DIR_INO));
	notify_name(&notify, number(DIR_INO), "b");
	expect("name 2560 a;pages 2560;name 2560 b;");
	assert_false(pthread_equal(kernel.names, pthread_self()));
}

static void note_fence(void *arg)
{
	tell("fence", 0, arg);
}

/* A fence comes after the names before it; with none, at once and on the same thread. */
static void test_fence(void **state UNUSED)
{
	notify_fence(&notify, note_fence, "first");
	assert_int_equal(kernel.told.len, strlen("fence 0 first;"));
	expect("fence 0 first;");
	look_up(DIR_INO);
	hold_names(true);
	notify_name(&notify, number(DIR_INO), "a");
	notify_fence(&notify, note_fence, "second");
	assert_int_equal(kernel.told.len, 0);
	hold_names(false);
	expect("name 2560 a;fence 0 second;");
}

/* A stop works off the queue: whoever waits at a fence is told. */
static void test_stop(void **state UNUSED)
{
	look_up(DIR_INO);
	hold_names(true);
	notify_name(&notify, number(DIR_INO), "a");
	notify_fence(&notify, note_fence, "end");
	hold_names(false);
	notify_stop(&notify);
	assert_string_equal(buf_cstr(&kernel.told), "name 2560 a;fence 0 end;");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_attributes, setup, teardown),
		cmocka_unit_test_setup_teardown(test_attributes_in_flight, setup, teardown),
		cmocka_unit_test_setup_teardown(test_soon, setup, teardown),
		cmocka_unit_test_setup_teardown(test_names, setup, teardown),
		cmocka_unit_test_setup_teardown(test_fence, setup, teardown),
		cmocka_unit_test_setup_teardown(test_stop, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

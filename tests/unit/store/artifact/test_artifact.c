/*
 * Artifacts: versions that are counted once, and bytes that go when they go.
 */
#include "store/artifact/artifact.h"

#include "store/artifact/bulk.h"
#include "store/open.h"
#include "store/remove.h"
#include "store/session/log.h"
#include "store/tx/key.h"
#include "tests/unit/store/store_rig.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int save_blob(struct artifact_save *save, const char *text, struct artifact_info *out)
{
	CLEANUP(blob_close) struct blob blob;
	int r;

	blob_init(&blob, st);
	if (*text)
		OK(blob_write(&blob, 0, span_of(text), &err));
	OK(blob_settle(&blob, false, &err));
	save->blob = &blob;
	save->mime = "text/plain";
	r = artifact_publish(st, save, out, &err);
	if (r == 0)
		blob_seal(&blob);
	return r;
}

static int save_into(uint64_t parent, const char *name, const char *full_name, const char *text,
		     struct artifact_info *out)
{
	struct artifact_save save = {
		.scope = session, .parent = parent, .name = name, .full_name = full_name
	};

	return save_blob(&save, text, out);
}

/* In the user's directory, with an event in a session. */
static int save_as(struct ref scope, uint64_t parent, struct ref via, const char *name,
		   const char *text, struct artifact_info *out)
{
	struct artifact_save save = { .scope = scope,
				      .parent = parent,
				      .name = name,
				      .full_name = name,
				      .event_session = via,
				      .event_name = "user:u" };

	return save_blob(&save, text, out);
}

static int save_text(const char *name, const char *text, struct artifact_info *out)
{
	return save_into(session.session, name, name, text, out);
}

static void expect_bytes(const struct artifact_info *a, uint64_t n, const char *want)
{
	CLEANUP(blob_close) struct blob blob;
	CLEANUP(buf_release) struct buf text = { 0 };
	struct version_info v;

	blob_init(&blob, st);
	OK(artifact_blob(st, a->history, n, &blob, &v, &err));
	assert_int_equal(v.n, n);
	assert_int_equal(v.size, strlen(want));
	OK(blob_read(&blob, 0, 64, &text, &err));
	assert_string_equal(buf_cstr(&text), want);
}

static int note_version(void *arg, const struct version_info *v)
{
	buf_printf(arg, "%llu ", (unsigned long long)v->n);
	return 0;
}

static void expect_versions(const struct artifact_info *a, const char *want)
{
	CLEANUP(buf_release) struct buf seen = { 0 };

	OK(artifact_versions(st, a->history, 0, note_version, &seen, &err));
	assert_string_equal(seen.len ? buf_cstr(&seen) : "", want);
}

static int note_artifact(void *arg, const struct artifact_info *a)
{
	buf_printf(arg, "%s%s|", a->name, a->is_directory ? "/" : "");
	return 0;
}

static void expect_list(uint64_t parent, const char *want)
{
	CLEANUP(buf_release) struct buf seen = { 0 };

	OK(artifact_list(st, parent, 0, note_artifact, &seen, &err));
	assert_string_equal(seen.len ? buf_cstr(&seen) : "", want);
}

static void test_publish(void **state UNUSED)
{
	struct artifact_info a;
	struct artifact_info b;
	struct artifact_info found;
	struct version_info v;

	OK(save_text("a.txt", "one", &a));
	assert_int_equal(a.latest, 1);
	assert_int_equal(a.highest, 1);
	assert_int_equal(a.size, 3);
	assert_false(a.is_directory);
	assert_string_equal(a.name, "a.txt");
	OK(save_text("a.txt", "second", &b));
	assert_int_equal(b.number, a.number);
	assert_int_equal(b.latest, 2);
	assert_int_equal(b.size, 6);
	assert_true(b.stamp > a.stamp);
	assert_int_equal(b.created, a.created);
	OK(save_text("empty", "", NULL));
	OK(artifact_find(st, session.session, "a.txt", &found, &err));
	b.saved = b.saved_number = 0; /* which only the save tells */
	assert_memory_equal(&found, &b, sizeof b);
	OK(artifact_stat(st, session.session, a.number, &found, &err));
	assert_memory_equal(&found, &b, sizeof b);
	OK(artifact_version(st, a.number, 1, &v, &err));
	assert_string_equal(v.mime, "text/plain");
	assert_true(v.number && v.number != a.number && v.stamp && v.created > 0);
	expect_bytes(&a, 1, "one");
	expect_bytes(&a, 2, "second");
	CODE(artifact_version(st, a.number, 3, &v, &err), -ENOENT);
	CODE(artifact_version(st, a.number, 0, &v, &err), -ENOENT);
	CODE(artifact_find(st, session.session, "b.txt", &found, &err), -ENOENT);
	CODE(artifact_find(st, user.user, "a.txt", &found, &err), -ENOENT);
	OK(artifact_find(st, session.session, "empty", &found, &err));
	expect_bytes(&found, 1, "");
	expect_versions(&a, "1 2 ");
	expect_list(session.session, "a.txt|empty|");
	expect_list(user.user, "");
}

static void last_event(struct event *e)
{
	CLEANUP(buf_release) struct buf log = { 0 };
	struct span line;
	const char *before;

	OK(session_read(st, session, 0, 1u << 30, &log, &err));
	assert_true(log.len > 0);
	line = (struct span){ log.data, log.len - 1 };
	before = memrchr(line.data, '\n', line.len);
	if (before)
		line = span_sub(line, (size_t)(before + 1 - line.data), line.len);
	OK(event_from_json(line, e, &err));
}

static void expect_event(const char *delta)
{
	CLEANUP(event_release) struct event e = { 0 };

	last_event(&e);
	assert_true(span_is(event_json(&e, EVENT_AUTHOR), "\"user\""));
	assert_memory_equal(event_json(&e, EVENT_INVOCATION).data, "\"p-", 3);
	if (!span_is(event_action(&e, ACTION_ARTIFACT_DELTA), delta))
		fail_msg("%.*s", (int)event_action(&e, ACTION_ARTIFACT_DELTA).len,
			 event_action(&e, ACTION_ARTIFACT_DELTA).data);
}

static uint64_t events(void)
{
	struct scope_info info;

	OK(scope_stat(st, session, &info, &err));
	return info.events;
}

/* A save in a session is an event; a deletion is none. */
static void test_events(void **state UNUSED)
{
	struct artifact_info dir;

	OK(save_text("a \"b\".txt", "one", NULL));
	expect_event("{\"a \\\"b\\\".txt\":1}");
	OK(save_text("a \"b\".txt", "two", NULL));
	expect_event("{\"a \\\"b\\\".txt\":2}");
	OK(artifact_mkdir(st, (struct artifact_name){ session, session.session, "d" }, "d", NULL,
			  &dir, &err));
	assert_int_equal(events(), 2);
	OK(save_into(dir.number, "x", "d/x", "three", NULL));
	expect_event("{\"d/x\":1}");
	OK(artifact_remove(st, (struct artifact_name){ session, dir.number, "x" }, &err));
	OK(artifact_rmdir(st, (struct artifact_name){ session, session.session, "d" }, &err));
	assert_int_equal(events(), 3);
}

/* A user's file: without an event of its own, or through a session with one. */
static void test_user_files(void **state UNUSED)
{
	struct ref none = { 0 };
	struct artifact_info a;

	OK(save_as(user, user.user, none, "u", "x", &a));
	assert_int_equal(events(), 0);
	OK(save_as(user, user.user, session, "u", "yy", &a));
	expect_event("{\"user:u\":2}");
	expect_list(user.user, "u|");
	expect_list(session.session, "");
	OK(scope_remove(st, session, &err));
	expect_bytes(&a, 1, "x");
	expect_bytes(&a, 2, "yy");
	CODE(save_as(user, user.user, session, "u", "zzz", &a), -ESTALE);
	expect_versions(&a, "1 2 ");
}

/* A number is given once, whatever is deleted. */
static void test_numbers_are_not_reused(void **state UNUSED)
{
	struct artifact_info a;

	OK(save_text("f", "1", &a));
	OK(save_text("f", "2", &a));
	OK(artifact_remove_version(st, (struct artifact_name){ session, session.session, "f" }, 2,
				   &err));
	OK(artifact_stat(st, session.session, a.number, &a, &err));
	assert_int_equal(a.latest, 1);
	assert_int_equal(a.highest, 2);
	OK(save_text("f", "3", &a));
	assert_int_equal(a.latest, 3);
	expect_versions(&a, "1 3 ");
	OK(artifact_remove(st, (struct artifact_name){ session, session.session, "f" }, &err));
	OK(save_text("f", "4", &a));
	assert_int_equal(a.latest, 4);
	expect_versions(&a, "4 ");
	OK(artifact_remove_version(st, (struct artifact_name){ session, session.session, "f" }, 4,
				   &err));
	CODE(artifact_find(st, session.session, "f", &a, &err), -ENOENT);
	expect_list(session.session, "");
	OK(save_text("f", "5", &a));
	assert_int_equal(a.latest, 5);
	expect_bytes(&a, 5, "5");
}

/* ...nor when the name was a directory in between. */
static void test_numbers_outlive_a_directory(void **state UNUSED)
{
	struct artifact_info a;

	OK(save_text("f", "1", &a));
	OK(artifact_remove(st, (struct artifact_name){ session, session.session, "f" }, &err));
	OK(artifact_mkdir(st, (struct artifact_name){ session, session.session, "f" }, "f", NULL,
			  NULL, &err));
	OK(artifact_rmdir(st, (struct artifact_name){ session, session.session, "f" }, &err));
	OK(save_text("f", "2", &a));
	assert_int_equal(a.latest, 2);
}

/* ...nor when the directory of the file went and came back. */
static void test_numbers_outlive_their_directory(void **state UNUSED)
{
	struct artifact_info dir;
	struct artifact_info a;

	OK(artifact_mkdir(st, (struct artifact_name){ session, session.session, "d" }, "d", NULL,
			  &dir, &err));
	OK(save_into(dir.number, "x", "d/x", "1", &a));
	OK(artifact_remove(st, (struct artifact_name){ session, dir.number, "x" }, &err));
	OK(artifact_rmdir(st, (struct artifact_name){ session, session.session, "d" }, &err));
	OK(artifact_mkdir(st, (struct artifact_name){ session, session.session, "d" }, "d", NULL,
			  &dir, &err));
	OK(save_into(dir.number, "x", "d/x", "2", &a));
	assert_int_equal(a.latest, 2);
}

static void test_remove_version(void **state UNUSED)
{
	struct artifact_info a;
	struct artifact_info found;

	OK(save_text("f", "1", &a));
	OK(save_text("f", "22", &a));
	OK(save_text("f", "333", &a));
	OK(artifact_remove_version(st, (struct artifact_name){ session, session.session, "f" }, 1,
				   &err));
	CODE(artifact_remove_version(st, (struct artifact_name){ session, session.session, "f" }, 1,
				     &err),
	     -ENOENT);
	OK(artifact_stat(st, session.session, a.number, &found, &err));
	assert_int_equal(found.latest, 3);
	assert_int_equal(found.size, 3);
	OK(artifact_remove_version(st, (struct artifact_name){ session, session.session, "f" }, 3,
				   &err));
	OK(artifact_stat(st, session.session, a.number, &found, &err));
	assert_int_equal(found.latest, 2);
	assert_int_equal(found.size, 2);
	assert_true(found.versions_stamp > a.versions_stamp);
	expect_versions(&a, "2 ");
	CODE(artifact_remove_version(st, (struct artifact_name){ session, session.session, "g" }, 1,
				     &err),
	     -ENOENT);
}

static uint64_t bulk_of(const struct artifact_info *a, uint64_t n)
{
	struct version_info v;

	OK(artifact_version(st, a->number, n, &v, &err));
	return v.bulk;
}

static bool bulk_is_there(uint64_t number)
{
	int fd = bulk_open(st, number, NULL);

	if (fd < 0)
		return false;
	(void)close(fd);
	return true;
}

static int count_pending(void *arg, struct span key UNUSED, struct span value UNUSED)
{
	++*(int *)arg;
	return 0;
}

static int scan_pending(struct store_tx *tx, void *arg)
{
	struct key prefix = key_space(KEY_PENDING);

	return store_scan(tx, &prefix, &prefix, count_pending, arg);
}

static int pending(void)
{
	int n = 0;

	OK(store_view(st, scan_pending, &n, &err));
	return n;
}

/* The bytes go with their version, and nothing stays pending. */
static void test_bulk_goes(void **state UNUSED)
{
	struct artifact_info a;
	uint64_t bulk[3];
	int i;

	for (i = 0; i < 3; i++) {
		OK(save_text("f", "x", &a));
		bulk[i] = bulk_of(&a, (uint64_t)i + 1);
		assert_true(bulk_is_there(bulk[i]));
	}
	assert_int_equal(pending(), 0);
	OK(artifact_remove_version(st, (struct artifact_name){ session, session.session, "f" }, 2,
				   &err));
	assert_true(bulk_is_there(bulk[0]) && !bulk_is_there(bulk[1]) && bulk_is_there(bulk[2]));
	OK(artifact_remove(st, (struct artifact_name){ session, session.session, "f" }, &err));
	assert_false(bulk_is_there(bulk[0]) || bulk_is_there(bulk[2]));
	assert_int_equal(pending(), 0);
	OK(save_text("g", "x", &a));
	bulk[0] = bulk_of(&a, 1);
	OK(scope_remove(st, session, &err));
	assert_false(bulk_is_there(bulk[0]));
	assert_int_equal(pending(), 0);
}

static void test_directories(void **state UNUSED)
{
	struct artifact_info d;
	struct artifact_info e;
	struct artifact_info a;

	OK(artifact_mkdir(st, (struct artifact_name){ session, session.session, "d" }, "d", NULL,
			  &d, &err));
	assert_true(d.is_directory);
	assert_int_equal(d.latest, 0);
	CODE(artifact_mkdir(st, (struct artifact_name){ session, session.session, "d" }, "d", NULL,
			    NULL, &err),
	     -EEXIST);
	OK(artifact_mkdir(st, (struct artifact_name){ session, d.number, "d" }, "d/d", NULL, &e,
			  &err));
	OK(save_into(e.number, "f", "d/d/f", "x", &a));
	assert_string_equal(a.full_name, "d/d/f");
	CODE(artifact_mkdir(st, (struct artifact_name){ session, e.number, "f" }, "d/d/f", NULL,
			    NULL, &err),
	     -EEXIST);
	CODE(save_text("d", "x", NULL), -EISDIR);
	CODE(artifact_remove(st, (struct artifact_name){ session, session.session, "d" }, &err),
	     -EISDIR);
	CODE(artifact_rmdir(st, (struct artifact_name){ session, session.session, "d" }, &err),
	     -ENOTEMPTY);
	CODE(artifact_rmdir(st, (struct artifact_name){ session, d.number, "d" }, &err),
	     -ENOTEMPTY);
	CODE(artifact_rmdir(st, (struct artifact_name){ session, e.number, "f" }, &err), -ENOTDIR);
	CODE(artifact_rmdir(st, (struct artifact_name){ session, session.session, "none" }, &err),
	     -ENOENT);
	CODE(artifact_remove(st, (struct artifact_name){ session, session.session, "none" }, &err),
	     -ENOENT);
	expect_list(session.session, "d/|");
	expect_list(d.number, "d/|");
	expect_list(e.number, "f|");
	OK(artifact_remove(st, (struct artifact_name){ session, e.number, "f" }, &err));
	OK(artifact_rmdir(st, (struct artifact_name){ session, d.number, "d" }, &err));
	OK(artifact_rmdir(st, (struct artifact_name){ session, session.session, "d" }, &err));
	expect_list(session.session, "");
	/* The name is free for a file. */
	OK(save_text("d", "x", &a));
	assert_false(a.is_directory);
}

/* Nothing is saved where nobody could find it. */
static void test_removed_directory(void **state UNUSED)
{
	struct artifact_info d;

	OK(artifact_mkdir(st, (struct artifact_name){ session, session.session, "d" }, "d", NULL,
			  &d, &err));
	OK(artifact_rmdir(st, (struct artifact_name){ session, session.session, "d" }, &err));
	if (save_into(d.number, "f", "d/f", "x", NULL) >= 0)
		fail_msg("a version was saved in a directory that was removed");
	if (artifact_mkdir(st, (struct artifact_name){ session, d.number, "e" }, "d/e", NULL, NULL,
			   &err) >= 0)
		fail_msg("a directory was made in a directory that was removed");
}

static void test_gone(void **state UNUSED)
{
	struct artifact_info a;

	OK(save_text("f", "x", &a));
	OK(scope_remove(st, session, &err));
	CODE(save_text("f", "x", NULL), -ESTALE);
	CODE(save_text("g", "x", NULL), -ESTALE);
	CODE(artifact_mkdir(st, (struct artifact_name){ session, session.session, "d" }, "d", NULL,
			    NULL, &err),
	     -ESTALE);
	CODE(artifact_stat(st, session.session, a.number, &a, &err), -ENOENT);
}

static void test_long_names(void **state UNUSED)
{
	char full[1100];
	char name[256];

	memset(full, 'n', sizeof full);
	memset(name, 'n', sizeof name);
	name[255] = 0;
	full[1023] = 0;
	OK(save_into(session.session, name, full, "x", NULL));
	name[254] = 'm';
	OK(save_into(session.session, name, full, "x", NULL));
	full[1023] = 'n';
	full[1024] = 0;
	CODE(save_into(session.session, "short", full, "x", NULL), -ENAMETOOLONG);
	CODE(artifact_mkdir(st, (struct artifact_name){ session, session.session, "d" }, full, NULL,
			    NULL, &err),
	     -ENAMETOOLONG);
}

/* The open that saved a version may write more to it. */
static void test_extend(void **state UNUSED)
{
	CLEANUP(blob_close) struct blob blob;
	struct artifact_save save = { .scope = session,
				      .parent = session.session,
				      .name = "f",
				      .full_name = "f",
				      .mime = "a/b",
				      .blob = &blob };
	struct artifact_info a;
	struct version_info v;

	blob_init(&blob, st);
	OK(blob_write(&blob, 0, SPAN("one"), &err));
	OK(blob_settle(&blob, false, &err));
	OK(artifact_publish(st, &save, &a, &err));
	blob_seal(&blob);
	save.version = a.saved;
	save.version_number = a.saved_number;
	save.mime = "c/d";
	OK(blob_write(&blob, 1, SPAN("NEXT"), &err));
	expect_bytes(&a, 1, "one"); /* until it is published */
	OK(blob_settle(&blob, false, &err));
	OK(artifact_publish(st, &save, &a, &err));
	blob_seal(&blob);
	assert_int_equal(a.latest, 1);
	assert_int_equal(a.size, 5);
	assert_int_equal(events(), 1);
	expect_bytes(&a, 1, "oNEXT");
	OK(artifact_version(st, a.history, 1, &v, &err));
	assert_string_equal(v.mime, "c/d");
	/* An older version grows without becoming the latest. */
	OK(save_text("f", "second", &a));
	OK(blob_write(&blob, 5, SPAN("..."), &err));
	OK(blob_settle(&blob, false, &err));
	OK(artifact_publish(st, &save, &a, &err));
	blob_seal(&blob);
	assert_int_equal(a.latest, 2);
	assert_int_equal(a.size, 6);
	expect_bytes(&a, 1, "oNEXT...");
	OK(artifact_remove_version(st, (struct artifact_name){ session, session.session, "f" }, 1,
				   &err));
	CODE(artifact_publish(st, &save, &a, &err), -ESTALE);
	OK(artifact_remove(st, (struct artifact_name){ session, session.session, "f" }, &err));
	CODE(artifact_publish(st, &save, &a, &err), -ESTALE);
}

#define SAVES 50

static void *save_many(void *arg)
{
	struct blob empty;
	int i;

	blob_init(&empty, st);
	for (i = 0; i < SAVES; i++) {
		struct artifact_save save = { .scope = session,
					      .parent = session.session,
					      .name = "shared",
					      .full_name = "shared",
					      .blob = &empty,
					      .mime = "a/b" };

		if (artifact_publish(st, &save, NULL, NULL) < 0)
			atomic_fetch_add((atomic_int *)arg, 1);
	}
	return NULL;
}

static void test_concurrent_saves(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf want = { 0 };
	struct artifact_info a;
	pthread_t threads[3];
	atomic_int failed = 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(threads); i++)
		assert_int_equal(pthread_create(&threads[i], NULL, save_many, &failed), 0);
	for (i = 0; i < ARRAY_SIZE(threads); i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	assert_int_equal(failed, 0);
	OK(artifact_find(st, session.session, "shared", &a, &err));
	assert_int_equal(a.latest, ARRAY_SIZE(threads) * SAVES);
	for (i = 1; i <= a.latest; i++)
		buf_printf(&want, "%zu ", i);
	expect_versions(&a, buf_cstr(&want));
	assert_int_equal(events(), a.latest);
}

static void test_lists_from(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf seen = { 0 };
	struct artifact_info a;
	struct artifact_info b;

	OK(save_text("b", "x", &a));
	OK(save_text("a", "x", &b));
	OK(save_text("b", "x", NULL));
	OK(save_text("b", "x", NULL));
	OK(artifact_list(st, session.session, a.number, note_artifact, &seen, &err));
	assert_string_equal(buf_cstr(&seen), "a|");
	buf_clear(&seen);
	OK(artifact_versions(st, a.number, 1, note_version, &seen, &err));
	assert_string_equal(buf_cstr(&seen), "2 3 ");
}

static void note_change(void *arg, const struct change *change)
{
	buf_printf(arg, "%d %llu %llu %s %llu;", (int)change->kind,
		   (unsigned long long)ref_number(change->ref), (unsigned long long)change->parent,
		   change->name, (unsigned long long)change->version);
}

static void expect_news(struct buf *seen, struct ref where, const char *format, ...)
{
	CLEANUP(buf_release) struct buf want = { 0 };
	unsigned long long n = ref_number(where);
	va_list kinds;

	va_start(kinds, format);
	for (; *format; format++) {
		int kind = va_arg(kinds, int);
		int version = va_arg(kinds, int);

		if (*format == 'l')
			buf_printf(&want, "%d %llu 0  0;", kind, n);
		else
			buf_printf(&want, "%d %llu %llu f %d;", kind, n, n, version);
	}
	va_end(kinds);
	assert_string_equal(buf_cstr(seen), buf_cstr(&want));
	buf_clear(seen);
}

static void test_watch(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf seen = { 0 };
	struct artifact_info a;

	store_watch(st, note_change, &seen);
	OK(save_text("f", "x", &a));
	expect_news(&seen, session, "aal", CHANGE_ARTIFACT_ADDED, 0, CHANGE_VERSION_ADDED, 1,
		    CHANGE_LOG, 0);
	OK(save_text("f", "x", &a));
	expect_news(&seen, session, "aal", CHANGE_ARTIFACT, 0, CHANGE_VERSION_ADDED, 2, CHANGE_LOG,
		    0);
	OK(artifact_remove_version(st, (struct artifact_name){ session, session.session, "f" }, 1,
				   &err));
	expect_news(&seen, session, "aa", CHANGE_ARTIFACT, 0, CHANGE_VERSION_REMOVED, 1);
	OK(artifact_remove_version(st, (struct artifact_name){ session, session.session, "f" }, 2,
				   &err));
	expect_news(&seen, session, "aa", CHANGE_ARTIFACT_REMOVED, 0, CHANGE_VERSION_REMOVED, 2);
	OK(artifact_mkdir(st, (struct artifact_name){ session, session.session, "f" }, "f", NULL,
			  NULL, &err));
	expect_news(&seen, session, "a", CHANGE_ARTIFACT_ADDED, 0);
	OK(artifact_rmdir(st, (struct artifact_name){ session, session.session, "f" }, &err));
	expect_news(&seen, session, "a", CHANGE_ARTIFACT_REMOVED, 0);
	CODE(artifact_rmdir(st, (struct artifact_name){ session, session.session, "f" }, &err),
	     -ENOENT);
	assert_int_equal(seen.len, 0);
	store_watch(st, NULL, NULL);
}

static void test_describe(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf out = { 0 };
	struct version_info v = {
		.n = 3, .size = 12, .created = 1700000001500000, .mime = "image/png"
	};

	artifact_describe(&out, &(struct artifact_uri){ "my app", "u1", "s", "d/a b.png" }, &v,
			  SPAN(""));
	assert_string_equal(
		buf_cstr(&out),
		"{\"version\":3,\"canonicalUri\":\"artifact://apps/my%20app/users/u1/sessions/s/"
		"artifacts/d/a%20b.png/versions/"
		"3\",\"customMetadata\":{},\"createTime\":1700000001."
		"500000,\"mimeType\":\"image/png\",\"size\":12}\n");
	buf_clear(&out);
	artifact_describe(&out, &(struct artifact_uri){ "a", "u", NULL, "f" }, &v,
			  SPAN("{\"k\":1}"));
	assert_null(strstr(buf_cstr(&out), "/sessions/"));
	assert_non_null(strstr(buf_cstr(&out), "\"customMetadata\":{\"k\":1},"));
}

/* Two places never have one URI, whatever their ids look like. */
static void test_uri_is_one_to_one(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf of_session = { 0 };
	CLEANUP(buf_release) struct buf of_user = { 0 };
	struct version_info v = { .n = 1 };

	artifact_describe(&of_session, &(struct artifact_uri){ "a", "u", "s", "f" }, &v, SPAN(""));
	artifact_describe(&of_user, &(struct artifact_uri){ "a", "u/sessions/s", NULL, "f" }, &v,
			  SPAN(""));
	assert_string_not_equal(buf_cstr(&of_session), buf_cstr(&of_user));
}

static void test_reopen(void **state UNUSED)
{
	struct artifact_info a;

	if (!strcmp(engine, "memory"))
		skip();
	OK(save_text("f", "one", &a));
	OK(save_text("f", "two", &a));
	OK(artifact_remove_version(st, (struct artifact_name){ session, session.session, "f" }, 2,
				   &err));
	store_close(st);
	open_store();
	OK(artifact_find(st, session.session, "f", &a, &err));
	expect_bytes(&a, 1, "one");
	OK(save_text("f", "three", &a));
	assert_int_equal(a.latest, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		STORE_TEST(test_publish),
		STORE_TEST(test_events),
		STORE_TEST(test_user_files),
		STORE_TEST(test_numbers_are_not_reused),
		STORE_TEST(test_numbers_outlive_a_directory),
		STORE_TEST(test_numbers_outlive_their_directory),
		STORE_TEST(test_remove_version),
		STORE_TEST(test_bulk_goes),
		STORE_TEST(test_directories),
		STORE_TEST(test_removed_directory),
		STORE_TEST(test_gone),
		STORE_TEST(test_long_names),
		STORE_TEST(test_extend),
		STORE_TEST(test_concurrent_saves),
		STORE_TEST(test_lists_from),
		STORE_TEST(test_watch),
		STORE_TEST(test_describe),
		STORE_TEST(test_uri_is_one_to_one),
		STORE_TEST(test_reopen),

	};

	RUN_ON_ENGINES(tests);
}

/*
 * State: values in three scopes, as written, and the events that tell of them.
 */
#include "store/session/state.h"

#include "store/open.h"
#include "store/remove.h"
#include "store/session/log.h"
#include "store/session/session.h"
#include "tests/unit/store/store_rig.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int set(struct ref scope, const char *key, const char *text)
{
	return state_set(st, scope, span_of(key), span_of(text), 0, &err);
}

static int set_all(struct ref scope, struct span object)
{
	CLEANUP(buf_release) struct buf temp = { 0 };

	return state_set_all(st, scope, object, &temp, &err);
}

/* NULL: the key is not there. */
static void expect(struct ref scope, const char *key, const char *want)
{
	CLEANUP(buf_release) struct buf text = { 0 };
	struct state_info info = { 0 };
	int r = state_get(st, scope, span_of(key), &text, &info, &err);

	if (!want) {
		must(r, -ENOENT, key);
		return;
	}
	must(r, 0, key);
	assert_string_equal(buf_cstr(&text), want);
	assert_int_equal(info.size, strlen(want));
	assert_true(info.item && info.stamp);
}

static void expect_map(struct ref scope, const char *want)
{
	CLEANUP(buf_release) struct buf map = { 0 };

	OK(state_map(st, scope, &map, &err));
	assert_string_equal(buf_cstr(&map), want);
}

static void read_log(struct ref which, struct buf *out)
{
	OK(session_read(st, which, 0, 1u << 30, out, &err));
	assert_non_null(buf_cstr(out));
}

static int append(const char *line)
{
	CLEANUP(event_release) struct event e = { 0 };
	int r = event_from_json(span_of(line), &e, &err);

	return r < 0 ? r : session_append(st, session, &e, 1, &err);
}

static int append_delta(const char *delta)
{
	CLEANUP(buf_release) struct buf line = { 0 };

	buf_printf(&line, "{\"author\":\"a\",\"actions\":{\"stateDelta\":%s}}", delta);
	return append(buf_cstr(&line));
}

static void test_set_and_get(void **state UNUSED)
{
	expect(session, "k", NULL);
	OK(set(session, "k", "1"));
	expect(session, "k", "1");
	OK(set(session, "k", "\"two\""));
	expect(session, "k", "\"two\"");
	OK(set(session, "k", "null"));
	expect(session, "k", "null");
	expect(app, "k", NULL);
	expect(user, "k", NULL);
	OK(state_delete(st, session, SPAN("k"), &err));
	expect(session, "k", NULL);
	CODE(state_delete(st, session, SPAN("k"), &err), -ENOENT);
}

/* The text stays as it came, but for one newline at its end. */
static void test_raw_text(void **state UNUSED)
{
	static const struct {
		const char *given, *kept, *canonical;
	} rows[] = {
		{ "{ \"b\" : 1.0 ,\n\t\"a\" : [ 1E+2 ] }\n",
		  "{ \"b\" : 1.0 ,\n\t\"a\" : [ 1E+2 ] }", "{\"b\":1.0,\"a\":[1E+2]}" },
		{ "1", "1", "1" },
		{ "1\n", "1", "1" },
		{ "1\n\n", "1\n", "1" },
		{ " \"\\u0061\" ", " \"\\u0061\" ", "\"a\"" },
		{ "{\"a\":1,\"a\":2}", "{\"a\":1,\"a\":2}", "{\"a\":2}" },
		{ "123456789012345678901234567890", "123456789012345678901234567890",
		  "123456789012345678901234567890" },
		{ "-0\r\n", "-0\r", "-0" },
	};
	struct ref scopes[] = { session, app, user };
	char want[200];
	size_t i;
	size_t k;

	for (k = 0; k < ARRAY_SIZE(scopes); k++) {
		for (i = 0; i < ARRAY_SIZE(rows); i++) {
			OK(set(scopes[k], "raw", rows[i].given));
			expect(scopes[k], "raw", rows[i].kept);
			(void)snprintf(want, sizeof want, "{\"raw\":%s}", rows[i].canonical);
			expect_map(scopes[k], want);
			OK(set(scopes[k], "raw", rows[i].canonical));
		}
		OK(state_delete(st, scopes[k], SPAN("raw"), &err));
	}
}

/* What a delta brings is canonical. */
static void test_delta_is_canonical(void **state UNUSED)
{
	OK(set(session, "k", "[ 1 ]"));
	OK(append_delta("{\"k\" : [ 2 ] }"));
	expect(session, "k", "[2]");
}

/* Through a session, a key with a prefix is kept as it was written too. */
static void test_raw_text_of_prefixed_keys(void **state UNUSED)
{
	OK(set(session, "app:k", "{ \"a\": 1 }"));
	expect(app, "k", "{ \"a\": 1 }");
	OK(set(session, "user:k", "[ 1 ]"));
	expect(user, "k", "[ 1 ]");
}

static void test_scopes(void **state UNUSED)
{
	struct ref other;
	struct ref stranger;
	struct ref theirs;

	OK(scope_create(st, user, "other", &other, NULL, &err));
	OK(scope_create(st, app, "stranger", &stranger, NULL, &err));
	OK(scope_create(st, stranger, "s", &theirs, NULL, &err));
	OK(append_delta("{\"b\":1,\"a\":2,\"user:u\":3,\"app:x\":4,\"app:user:y\":5,\"foo:z\":6,"
			"\"App:w\":7}"));
	expect(session, "a", "2");
	expect(session, "foo:z", "6");
	expect(user, "u", "3");
	expect(app, "x", "4");
	expect(app, "user:y", "5");
	expect_map(session, "{\"App:w\":7,\"a\":2,\"b\":1,\"foo:z\":6,\"app:user:y\":5,\"app:x\":4,"
			    "\"user:u\":3}");
	expect_map(other, "{\"app:user:y\":5,\"app:x\":4,\"user:u\":3}");
	expect_map(theirs, "{\"app:user:y\":5,\"app:x\":4}");
	expect_map(user, "{\"u\":3}");
	expect_map(app, "{\"user:y\":5,\"x\":4}");
	/* A session's own key may look like one of another scope. */
	OK(set(other, "a", "9"));
	expect(session, "a", "2");
	OK(append_delta("{\"user:u\":30}"));
	expect_map(other, "{\"a\":9,\"app:user:y\":5,\"app:x\":4,\"user:u\":30}");
	/* Sessions go, what they share stays. */
	OK(scope_remove(st, session, &err));
	expect_map(other, "{\"a\":9,\"app:user:y\":5,\"app:x\":4,\"user:u\":30}");
}

/* In the order of their bytes. */
static void test_map_order(void **state UNUSED)
{
	OK(append_delta(
		"{\"b\":0,\"\xc3\xa9\":0,\"a\":0,\"B\":0,\"aa\":0,\"a\\u0001\":0,\"~\":0}"));
	expect_map(session,
		   "{\"B\":0,\"a\":0,\"a\\u0001\":0,\"aa\":0,\"b\":0,\"~\":0,\"\xc3\xa9\":0}");
}

static void test_refused_values(void **state UNUSED)
{
	static const char *const wrong[] = { "",    " ",        "\n",          "{",    "[1",
					     "\"x", "x",        "1 2",         "{}{}", "NaN",
					     "'a'", "\"\xff\"", "\"\\ud800\"", "01",   "nul" };
	struct ref scopes[] = { session, app, user };
	size_t i;
	size_t k;

	for (k = 0; k < ARRAY_SIZE(scopes); k++) {
		OK(set(scopes[k], "k", "\"old\""));
		for (i = 0; i < ARRAY_SIZE(wrong); i++)
			CODE(set(scopes[k], "k", wrong[i]), -EINVAL);
		expect(scopes[k], "k", "\"old\"");
	}
}

static void fill(struct buf *out, const char *before, char c, size_t n, const char *after)
{
	buf_text(out, before);
	while (n--)
		buf_char(out, c);
	buf_text(out, after);
	assert_non_null(buf_cstr(out));
}

static void test_value_limit(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf fits = { 0 };
	CLEANUP(buf_release) struct buf over = { 0 };

	fill(&fits, "\"", 'x', STATE_VALUE_MAX - 2, "\"");
	fill(&over, "\"", 'x', STATE_VALUE_MAX - 1, "\"");
	OK(set(session, "k", fits.data));
	expect(session, "k", fits.data);
	OK(set(app, "k", fits.data));
	expect(app, "k", fits.data);
	CODE(set(session, "k", over.data), -EFBIG);
	CODE(set(app, "k", over.data), -EFBIG);
	expect(app, "k", fits.data);
}

static void test_depth_limit(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf fits = { 0 };
	CLEANUP(buf_release) struct buf over = { 0 };

	fill(&fits, "", '[', JSON_DEPTH_FREE, "");
	fill(&fits, "", ']', JSON_DEPTH_FREE, "");
	fill(&over, "", '[', JSON_DEPTH_FREE + 1, "");
	fill(&over, "", ']', JSON_DEPTH_FREE + 1, "");
	OK(set(session, "k", fits.data));
	expect(session, "k", fits.data);
	CODE(set(session, "k", over.data), -EINVAL);
	CODE(set(app, "k", over.data), -EINVAL);
}

/* Whatever a line may hold, the map can be read afterwards. */
static void test_deep_delta(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf delta = { 0 };
	CLEANUP(buf_release) struct buf map = { 0 };
	int depth;

	for (depth = JSON_DEPTH_FREE - 1; depth < JSON_DEPTH_MAX; depth++) {
		buf_clear(&delta);
		fill(&delta, "{\"k\":", '[', (size_t)depth, "");
		fill(&delta, "", ']', (size_t)depth, "}");
		if (append_delta(delta.data) < 0)
			assert_true(depth > JSON_DEPTH_FREE);
		err = (struct err){ 0 };
		OK(state_map(st, session, &map, &err));
	}
}

static void test_check_text(void **state UNUSED)
{
	OK(state_check_text(SPAN("{}"), &err));
	OK(state_check_text(SPAN(" [1] \n"), &err));
	CODE(state_check_text(SPAN(""), &err), -ENODATA);
	CODE(state_check_text(SPAN("{\"a\":"), &err), -ENODATA);
	CODE(state_check_text(SPAN("{\"a\":]"), &err), -EINVAL);
	CODE(state_check_text(SPAN("1 1"), &err), -EINVAL);
}

static void test_refused_keys(void **state UNUSED)
{
	static const struct span keys[] = { SPAN(""),        SPAN("app:"), SPAN("user:"),
					    SPAN("temp:"),   SPAN("a\0b"), SPAN("\xff"),
					    SPAN("app:\xff") };
	CLEANUP(buf_release) struct buf key = { 0 };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(keys); i++)
		CODE(state_set(st, session, keys[i], SPAN("1"), 0, &err), -EINVAL);
	fill(&key, "", 'k', 251, "");
	CODE(set(session, key.data, "1"), -EINVAL);
	expect_map(session, "{}");
	key.len--;
	OK(set(session, buf_cstr(&key), "1"));
	expect(session, key.data, "1");
}

/* At an app's own directory a prefix is part of the key; the rest is as everywhere. */
static void test_keys_of_scopes(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf key = { 0 };

	OK(set(app, "app:", "1"));
	OK(set(app, "user:k", "2"));
	expect_map(app, "{\"app:\":1,\"user:k\":2}");
	CODE(set(app, "", "1"), -EINVAL);
	CODE(state_set(st, app, SPAN("a\0b"), SPAN("1"), 0, &err), -EINVAL);
	CODE(state_set(st, app, SPAN("\xff"), SPAN("1"), 0, &err), -EINVAL);
	fill(&key, "", 'k', 400, "");
	CODE(set(app, key.data, "1"), -EINVAL);
	expect_map(app, "{\"app:\":1,\"user:k\":2}");
}

static void test_event_of_a_change(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf log = { 0 };
	CLEANUP(event_release) struct event e = { 0 };

	OK(set(session, "user:k", " { \"a\" : 1 } "));
	read_log(session, &log);
	log.len--;
	OK(event_from_json(buf_span(&log), &e, &err));
	assert_true(span_is(event_json(&e, EVENT_AUTHOR), "\"user\""));
	assert_memory_equal(event_json(&e, EVENT_INVOCATION).data, "\"p-", 3);
	assert_int_equal(event_json(&e, EVENT_INVOCATION).len, 40);
	assert_true(span_is(event_action(&e, ACTION_STATE_DELTA), "{\"user:k\":{\"a\":1}}"));
	assert_int_equal(event_json(&e, EVENT_CONTENT).len, 0);
}

static void test_event_of_a_delete(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf log = { 0 };
	CLEANUP(event_release) struct event e = { 0 };

	OK(set(session, "k", "1"));
	read_log(session, &log);
	log.len = 0;
	OK(state_delete(st, session, SPAN("k"), &err));
	read_log(session, &log);
	buf_consume(&log, (size_t)((char *)memchr(log.data, '\n', log.len) - log.data) + 1);
	log.len--;
	OK(event_from_json(buf_span(&log), &e, &err));
	assert_true(span_is(event_action(&e, ACTION_STATE_DELTA), "{\"k\":null}"));
	assert_true(span_is(event_json(&e, EVENT_CUSTOM_METADATA), "{\"adkfs.deleted\":[\"k\"]}"));
}

/* null is a value; only the marker makes it a deletion. */
static void test_delete_markers(void **state UNUSED)
{
	OK(append_delta("{\"k\":1,\"l\":1,\"app:k\":1,\"user:k\":1}"));
	OK(append_delta("{\"k\":null,\"app:k\":null}"));
	expect(session, "k", "null");
	expect(app, "k", "null");
	OK(append("{\"author\":\"a\",\"customMetadata\":{\"adkfs.deleted\":[\"k\",\"app:k\"]},"
		  "\"actions\":{"
		  "\"stateDelta\":{\"k\":null,\"l\":null,\"app:k\":null,\"user:k\":2}}}"));
	expect(session, "k", NULL);
	expect(app, "k", NULL);
	expect(session, "l", "null");
	expect(user, "k", "2");
	/* To delete what is not there is no error, and nothing. */
	OK(append(
		"{\"author\":\"a\",\"customMetadata\":{\"adkfs.deleted\":[\"none\"]},\"actions\":{"
		"\"stateDelta\":{\"none\":null}}}"));
	expect_map(session, "{\"l\":null,\"user:k\":2}");
}

static void test_scope_changes_leave_no_event(void **state UNUSED)
{
	struct scope_info info;

	OK(set(app, "k", "1"));
	OK(set(user, "k", "1"));
	OK(set_all(app, SPAN("{\"a\":1,\"b\":[ 2 ]}")));
	OK(state_delete(st, user, SPAN("k"), &err));
	OK(scope_stat(st, session, &info, &err));
	assert_int_equal(info.log_size, 0);
	expect_map(session, "{\"app:a\":1,\"app:b\":[2],\"app:k\":1}");
}

static void test_set_all(void **state UNUSED)
{
	struct scope_info info;

	OK(set(session, "old", "1"));
	OK(set_all(session, SPAN(" { \"a\" : 1, \"user:b\": null, \"old\":2 } \n")));
	expect_map(session, "{\"a\":1,\"old\":2,\"user:b\":null}");
	OK(scope_stat(st, session, &info, &err));
	assert_int_equal(info.events, 2); /* one event for all of it */
	OK(set_all(session, SPAN("{}")));
	OK(scope_stat(st, session, &info, &err));
	assert_int_equal(info.events, 2);
}

static void test_set_all_or_nothing(void **state UNUSED)
{
	static const struct {
		struct span text;
		int code;
	} wrong[] = {
		{ SPAN("[]"), -EINVAL },
		{ SPAN("1"), -EINVAL },
		{ SPAN(""), -EINVAL },
		{ SPAN("{\"a\":1"), -EINVAL },
		{ SPAN("{\"a\":1}x"), -EINVAL },
		{ SPAN("null"), -EINVAL },
		{ SPAN("{\"a\":1,\"\":2}"), -EINVAL },
	};
	CLEANUP(buf_release) struct buf big = { 0 };
	struct ref scopes[] = { session, app };
	size_t i;
	size_t k;

	fill(&big, "{\"a\":1,\"b\":\"", 'x', STATE_VALUE_MAX, "\"}");
	for (k = 0; k < ARRAY_SIZE(scopes); k++) {
		for (i = 0; i < ARRAY_SIZE(wrong); i++)
			CODE(set_all(scopes[k], wrong[i].text), wrong[i].code);
		CODE(set_all(scopes[k], buf_span(&big)), -EFBIG);
		CODE(set_all(session, SPAN("{\"a\":1,\"app:\":2}")), -EINVAL);
		expect_map(scopes[k], "{}");
	}
}

/* At a scope too, keys of an object are keys: none that no file could have. */
static void test_set_all_keys_of_scopes(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf text = { 0 };

	CODE(set_all(app, SPAN("{\"a\\u0000b\":1}")), -EINVAL);
	fill(&text, "{\"", 'k', 400, "1\":1,\"");
	fill(&text, "", 'k', 400, "2\":2}");
	CODE(set_all(app, buf_span(&text)), -EINVAL);
	expect_map(app, "{}");
}

/* temp: keys are not stored: in no scope, and in no line of the log. */
static void test_temp(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf log = { 0 };

	OK(append_delta("{\"temp:a\":1,\"k\":2}"));
	CODE(set(session, "temp:b", "1"), -EINVAL);
	(void)!set_all(session, SPAN("{\"temp:c\":1,\"l\":2}"));
	err = (struct err){ 0 };
	expect_map(app, "{}");
	expect_map(user, "{}");
	expect(session, "temp:a", NULL);
	expect(session, "temp:b", NULL);
	expect(session, "temp:c", NULL);
	read_log(session, &log);
	assert_null(strstr(log.data, "temp:"));
}

/* temp: keys of an object are handed to the caller, all others are stored. */
static void test_temp_of_an_object(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf temp = { 0 };
	struct scope_info info;

	OK(state_set_all(st, session, SPAN("{\"k\":1}"), &temp, &err));
	assert_int_equal(temp.len, 0);
	OK(state_set_all(st, session, SPAN("{\"l\":1,\"temp:a\":[ 2 ],\"temp:b\":null}"), &temp,
			 &err));
	assert_string_equal(buf_cstr(&temp), "{\"temp:a\":[2],\"temp:b\":null}");
	buf_clear(&temp);
	/* Nothing else: then there is no event either. */
	OK(state_set_all(st, session, SPAN("{\"temp:a\":3}"), &temp, &err));
	assert_string_equal(buf_cstr(&temp), "{\"temp:a\":3}");
	OK(scope_stat(st, session, &info, &err));
	assert_int_equal(info.events, 2);
	expect_map(session, "{\"k\":1,\"l\":1}");
}

static void test_check_object(void **state UNUSED)
{
	OK(state_check_object(session, SPAN("{\"a\" : 1}"), &err));
	CODE(state_check_object(session, SPAN("{\"a\":"), &err), -ENODATA);
	CODE(state_check_object(session, SPAN(""), &err), -ENODATA);
	CODE(state_check_object(session, SPAN("[1"), &err), -EINVAL);
	CODE(state_check_object(session, SPAN("{\"app:\":1}"), &err), -EINVAL);
	OK(state_check_object(app, SPAN("{\"app:\":1}"), &err));
}

static int note_key(void *arg, struct span key, const struct state_info *info)
{
	buf_span_add(arg, key);
	buf_printf(arg, "#%llu ", (unsigned long long)info->item);
	return 0;
}

static int stop_at_once(void *arg UNUSED, struct span key UNUSED,
			const struct state_info *info UNUSED)
{
	return 5;
}

static uint64_t item_of(const char *key)
{
	struct state_info info;

	OK(state_get(st, session, span_of(key), NULL, &info, &err));
	return info.item;
}

static void test_list(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf seen = { 0 };
	CLEANUP(buf_release) struct buf want = { 0 };
	uint64_t b;
	uint64_t a;

	OK(set(session, "b", "1"));
	OK(set(session, "a", "1"));
	OK(set(session, "user:u", "1"));
	b = item_of("b");
	a = item_of("a");
	assert_true(a > b);
	OK(state_list(st, session, 0, note_key, &seen, &err));
	buf_printf(&want, "b#%llu a#%llu ", (unsigned long long)b, (unsigned long long)a);
	assert_string_equal(buf_cstr(&seen), buf_cstr(&want));
	buf_clear(&seen);
	buf_clear(&want);
	OK(state_list(st, session, b, note_key, &seen, &err));
	buf_printf(&want, "a#%llu ", (unsigned long long)a);
	assert_string_equal(buf_cstr(&seen), buf_cstr(&want));
	CODE(state_list(st, session, 0, stop_at_once, NULL, &err), 5);
	OK(state_list(st, session, a, stop_at_once, NULL, &err));
	/* A number stays with its key, and is not given again. */
	OK(set(session, "b", "2"));
	assert_int_equal(item_of("b"), b);
	OK(state_delete(st, session, SPAN("b"), &err));
	OK(set(session, "b", "3"));
	assert_true(item_of("b") > a);
}

static void test_chosen_number(void **state UNUSED)
{
	uint64_t number = store_new_number(st, &err);

	OK(state_set(st, session, SPAN("k"), SPAN("[ 1 ]"), number, &err));
	assert_int_equal(item_of("k"), number);
	OK(state_set(st, session, SPAN("k"), SPAN("2"), store_new_number(st, &err), &err));
	assert_int_equal(item_of("k"), number);
}

static void test_gone(void **state UNUSED)
{
	OK(scope_remove(st, session, &err));
	CODE(set(session, "k", "1"), -ESTALE);
	CODE(set_all(session, SPAN("{\"k\":1}")), -ESTALE);
	CODE(state_delete(st, session, SPAN("k"), &err), -ENOENT);
	OK(scope_remove(st, user, &err));
	CODE(set(user, "k", "1"), -ESTALE);
	CODE(set_all(user, SPAN("{\"k\":1}")), -ESTALE);
}

static void note_change(void *arg, const struct change *change)
{
	buf_printf(arg, "%d %llu/%llu/%llu %s %d;", (int)change->kind,
		   (unsigned long long)change->ref.app, (unsigned long long)change->ref.user,
		   (unsigned long long)change->ref.session, change->name, change->item != 0);
}

static void expect_news(struct buf *seen, const char *format, enum change_kind kind, struct ref ref)
{
	CLEANUP(buf_release) struct buf want = { 0 };

	buf_printf(&want, "%d %llu/%llu/%llu %s 1;", (int)kind, (unsigned long long)ref.app,
		   (unsigned long long)ref.user, (unsigned long long)ref.session, format);
	assert_string_equal(buf_cstr(seen), buf_cstr(&want));
	buf_clear(seen);
}

static void test_watch(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf seen = { 0 };

	store_watch(st, note_change, &seen);
	OK(set(app, "k", "1"));
	expect_news(&seen, "k", CHANGE_STATE_ADDED, app);
	OK(set(app, "k", "2"));
	expect_news(&seen, "k", CHANGE_STATE, app);
	CODE(set(app, "k", "x"), -EINVAL);
	assert_int_equal(seen.len, 0);
	OK(state_delete(st, app, SPAN("k"), &err));
	expect_news(&seen, "k", CHANGE_STATE_REMOVED, app);
	OK(set_all(user, SPAN("{\"u\":1}")));
	expect_news(&seen, "u", CHANGE_STATE_ADDED, user);
	store_watch(st, NULL, NULL);
}

static void test_reopen(void **state UNUSED)
{
	if (!strcmp(engine, "memory"))
		skip();
	OK(set(session, "k", "[ 1 ]"));
	OK(set(session, "user:k", "2"));
	OK(set(app, "k", " 3"));
	store_close(st);
	open_store();
	expect(session, "k", "[ 1 ]");
	expect(app, "k", " 3");
	expect_map(session, "{\"k\":[1],\"app:k\":3,\"user:k\":2}");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		STORE_TEST(test_set_and_get),
		STORE_TEST(test_raw_text),
		STORE_TEST(test_delta_is_canonical),
		STORE_TEST(test_raw_text_of_prefixed_keys),
		STORE_TEST(test_scopes),
		STORE_TEST(test_map_order),
		STORE_TEST(test_refused_values),
		STORE_TEST(test_value_limit),
		STORE_TEST(test_depth_limit),
		STORE_TEST(test_deep_delta),
		STORE_TEST(test_check_text),
		STORE_TEST(test_refused_keys),
		STORE_TEST(test_keys_of_scopes),
		STORE_TEST(test_event_of_a_change),
		STORE_TEST(test_event_of_a_delete),
		STORE_TEST(test_delete_markers),
		STORE_TEST(test_scope_changes_leave_no_event),
		STORE_TEST(test_set_all),
		STORE_TEST(test_set_all_or_nothing),
		STORE_TEST(test_set_all_keys_of_scopes),
		STORE_TEST(test_temp),
		STORE_TEST(test_temp_of_an_object),
		STORE_TEST(test_check_object),
		STORE_TEST(test_list),
		STORE_TEST(test_chosen_number),
		STORE_TEST(test_gone),
		STORE_TEST(test_watch),
		STORE_TEST(test_reopen),
	};

	RUN_ON_ENGINES(tests);
}

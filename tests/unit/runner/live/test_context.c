/*
 * Contexts, and the views of state that they are made of.
 */
#include "runner/live/context.h"

#include "store/json/deleted.h"
#include "store/session/state.h"
#include "tests/unit/store/store_rig.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char *temp_keys; /* of the session; an object */
static struct stateview_source source;
static struct stateview *agent; /* the lowest view */
static struct contexts all;

static int show_temp(void *arg UNUSED, struct ref of, struct buf *object)
{
	assert_int_equal(of.session, session.session);
	buf_text(object, temp_keys);
	return 0;
}

static int setup(void **state)
{
	int r = store_setup(state);

	temp_keys = "";
	source = (struct stateview_source){ .store = st, .session = session, .temp = show_temp };
	agent = stateview_new(NULL, &source);
	contexts_init(&all, st);
	return agent ? r : -1;
}

static int teardown(void **state)
{
	contexts_release(&all);
	stateview_free(agent);
	return store_teardown(state);
}

static void set(struct stateview *v, const char *key, const char *json)
{
	OK(stateview_set(v, span_of(key), span_of(json), &err));
}

static void store(const char *key, const char *json)
{
	OK(state_set(st, session, span_of(key), span_of(json), 0, &err));
}

/* want NULL: there is no such key. */
static void expect(struct stateview *v, const char *key, const char *want)
{
	CLEANUP(buf_release) struct buf json = { 0 };
	int r = stateview_get(v, span_of(key), &json, &err);

	assert_int_equal(r, want ? 0 : -ENOENT);
	if (want)
		assert_string_equal(buf_cstr(&json), want);
}

struct seen {
	const char *key;
	struct buf *out;
};

static int note_key(void *arg, struct span key, struct span json)
{
	struct seen *seen = arg;

	if (span_is(key, seen->key))
		buf_span_add(seen->out, json);
	return 0;
}

static int count_key(void *arg, struct span key UNUSED, struct span json UNUSED)
{
	++*(size_t *)arg;
	return 0;
}

/* Expect a value in the list of all keys. */
static void expect_listed(struct stateview *v, const char *key, const char *want)
{
	CLEANUP(buf_release) struct buf json = { 0 };
	struct seen seen = { key, &json };

	OK(stateview_each(v, note_key, &seen, &err));
	assert_string_equal(json.len ? buf_cstr(&json) : "", want);
}

static size_t count(struct stateview *v)
{
	size_t n = 0;

	OK(stateview_each(v, count_key, &n, &err));
	return n;
}

static void test_layers(void **state UNUSED)
{
	CLEANUP(stateview_free_p) struct stateview *call = stateview_new(agent, NULL);

	store("a", "1");
	store("user:u", " [ 1.50 ] ");
	store("app:p", "null");
	temp_keys = "{\"temp:t\":true}";
	expect(call, "a", "1");
	expect(call, "user:u", "[1.50]");
	expect(call, "app:p", "null");
	expect(call, "temp:t", "true");
	expect(call, "u", NULL);
	expect(call, "temp:a", NULL);
	set(agent, "a", "2");
	expect(call, "a", "2");
	set(call, "a", "3");
	expect(call, "a", "3");
	expect(agent, "a", "2");
	set(call, "temp:t", "false");
	expect(call, "temp:t", "false");
	expect(agent, "temp:t", "true");
	expect_listed(call, "a", "3");
	expect_listed(agent, "a", "2");
	expect_listed(call, "temp:t", "false");
	expect_listed(call, "user:u", "[1.50]");
	assert_int_equal(count(call), 4);
	store("a", "9"); /* below what was changed */
	store("new", "1");
	expect(call, "a", "3");
	expect(call, "new", "1");
}

static void test_deletions(void **state UNUSED)
{
	CLEANUP(stateview_free_p) struct stateview *call = stateview_new(agent, NULL);

	store("a", "1");
	CODE(stateview_delete(call, SPAN("missing"), &err), -ENOENT);
	OK(stateview_delete(call, SPAN("a"), &err));
	expect(call, "a", NULL);
	expect(agent, "a", "1");
	expect_listed(call, "a", "");
	CODE(stateview_delete(call, SPAN("a"), &err), -ENOENT);
	set(call, "a", "2");
	expect(call, "a", "2");
	OK(stateview_delete(agent, SPAN("a"), &err));
	expect(call, "a", "2");
	expect(agent, "a", NULL);
}

static void test_bad_keys(void **state UNUSED)
{
	CODE(stateview_set(agent, SPAN(""), SPAN("1"), &err), -EINVAL);
	CODE(stateview_set(agent, SPAN("user:"), SPAN("1"), &err), -EINVAL);
	CODE(stateview_set(agent, SPAN("a\0b"), SPAN("1"), &err), -EINVAL);
	assert_int_equal(stateview_count(agent), 0);
}

static bool deletes(const struct event *e, struct span key)
{
	CLEANUP(deleted_release) struct deleted d = { 0 };

	assert_int_equal(deleted_read(event_json(e, EVENT_CUSTOM_METADATA), &d, NULL), 0);
	return deleted_find(&d, key);
}

/* Into an event, and from one into another view. */
static void test_events(void **state UNUSED)
{
	CLEANUP(stateview_free_p) struct stateview *call = stateview_new(agent, NULL);
	CLEANUP(stateview_free_p) struct stateview *other = stateview_new(NULL, &source);
	CLEANUP(event_release) struct event e = { 0 };

	store("a", "1");
	store("b", "1");
	set(call, "user:u", "{\"x\":1.50}");
	set(call, "temp:t", "7");
	OK(stateview_delete(call, SPAN("a"), &err));
	OK(stateview_delete(call, SPAN("b"), &err));
	OK(stateview_write(call, &e));
	assert_true(span_is(event_action(&e, ACTION_STATE_DELTA),
			    "{\"user:u\":{\"x\":1.50},\"a\":null,\"b\":null}"));
	assert_true(deletes(&e, SPAN("a")));
	assert_true(deletes(&e, SPAN("b")));
	assert_true(span_is(e.temp_delta, "{\"temp:t\":7}"));
	OK(stateview_take(other, &e, &err));
	expect(other, "user:u", "{\"x\":1.50}");
	expect(other, "temp:t", "7");
	expect(other, "a", NULL);
	expect(other, "b", NULL);
}

/* A null that is no deletion stays one. */
static void test_null(void **state UNUSED)
{
	CLEANUP(stateview_free_p) struct stateview *other = stateview_new(NULL, &source);
	CLEANUP(event_release) struct event e = { 0 };

	set(agent, "n", "null");
	OK(stateview_write(agent, &e));
	assert_false(deletes(&e, SPAN("n")));
	OK(stateview_take(other, &e, &err));
	expect(other, "n", "null");
}

static struct context *open_context(uint64_t turn, const char *name)
{
	struct context_spec spec = {
		.kind = CONTEXT_TOOL,
		.session = session,
		.turn = turn,
		.name = name,
		.invocation = "e-1",
		.agent = "agent",
		.call_id = "call-1",
		.user_content = SPAN("{\"parts\":[]}"),
		.args = SPAN("{\"x\":1}"),
		.below = agent,
	};
	struct context *c = NULL;

	OK(context_open(&all, &spec, &c, &err));
	return c;
}

static int note_name(void *arg, struct context *c)
{
	buf_printf(arg, "%s ", c->name);
	return 0;
}

static void expect_contexts(uint64_t turn, const char *want)
{
	CLEANUP(buf_release) struct buf names = { 0 };

	OK(context_list(&all, session, turn, 0, note_name, &names));
	assert_string_equal(names.len ? buf_cstr(&names) : "", want);
}

static void test_contexts(void **state UNUSED)
{
	struct context *one = open_context(1, "a");
	struct context *two = open_context(1, "b/%");
	struct context *same = open_context(1, "a");
	struct context *other = open_context(2, "a");
	struct context *found;

	assert_string_equal(one->app_id, "app");
	assert_string_equal(one->user_id, "user");
	assert_string_equal(one->session_id, "session");
	assert_string_equal(same->name, "a.2");
	expect_contexts(1, "a b/% a.2 ");
	expect_contexts(2, "a ");
	expect_contexts(3, "");
	found = context_find(&all, session, 1, "a.2");
	assert_ptr_equal(found, same);
	context_unref(found);
	context_end(&all, one);
	assert_null(context_find(&all, session, 1, "a"));
	expect_contexts(1, "b/% a.2 ");
	context_end(&all, two);
	context_end(&all, same);
	context_end(&all, other);
	expect_contexts(1, "");
	expect_contexts(2, "");
}

struct ending {
	struct context *context;
	atomic_bool has_ended;
};

static void *end_it(void *arg)
{
	struct ending *e = arg;

	context_end(&all, e->context);
	atomic_store(&e->has_ended, true);
	return NULL;
}

/* A request that uses it holds up its end, and is the last one. */
static void test_users(void **state UNUSED)
{
	struct ending e = { .context = open_context(1, "a") };
	uint64_t number = e.context->number;
	struct context *used = context_use(&all, number);
	pthread_t thread;

	assert_ptr_equal(used, e.context);
	assert_int_equal(pthread_create(&thread, NULL, end_it, &e), 0);
	while (!atomic_load(&used->has_ended))
		(void)usleep(1000);
	while (context_use(&all, number)) /* until it is taken out, nobody waits for these */
		context_leave(used);
	assert_false(atomic_load(&e.has_ended));
	set(used->state, "k", "1");
	context_leave(used);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_true(atomic_load(&e.has_ended));
	assert_null(context_use(&all, number));
	context_leave(NULL);
}

static void expect_actions(struct context *c, const char *want)
{
	CLEANUP(buf_release) struct buf text = { 0 };

	OK(context_actions(c, &text));
	assert_string_equal(buf_cstr(&text), want);
}

static void test_actions(void **state UNUSED)
{
	static const struct {
		const char *text;
		int code;
	} refused[] = {
		{ "", -ENODATA },
		{ "{\"escalate\":", -ENODATA },
		{ "{\"escalate\":tru", -ENODATA },
		{ "[", -EINVAL },
		{ "1", -EINVAL },
		{ "null", -EINVAL },
		{ "{} {}", -EINVAL },
		{ "{\"escalate\":1}", -EINVAL },
		{ "{\"escalate\":\"true\"}", -EINVAL },
		{ "{\"skipSummarization\":[]}", -EINVAL },
		{ "{\"transferToAgent\":true}", -EINVAL },
		{ "{\"stateDelta\":{}}", -EINVAL },
		{ "{\"escalate\":true,\"x\":1}", -EINVAL },
	};
	struct context *c = open_context(1, "a");
	size_t i;

	expect_actions(c, "{}");
	OK(context_set_actions(c, SPAN(" {\"transfer_to_agent\" : \"b\\u0041\"} \n"), &err));
	expect_actions(c, "{\"transferToAgent\":\"bA\"}");
	OK(context_set_actions(c, SPAN("{\"escalate\":true,\"skip_summarization\":false}"), &err));
	expect_actions(c, "{\"escalate\":true,\"skipSummarization\":false}");
	for (i = 0; i < ARRAY_SIZE(refused); i++) {
		struct span text = span_of(refused[i].text);

		CODE(context_check_actions(text, NULL, &err), refused[i].code);
		CODE(context_set_actions(c, text, &err), -EINVAL);
	}
	expect_actions(c, "{\"escalate\":true,\"skipSummarization\":false}");
	OK(context_set_actions(c, SPAN("{\"escalate\":null}"), &err));
	expect_actions(c, "{}");
	context_end(&all, c);
}

static void test_items(void **state UNUSED)
{
	struct context *c = open_context(1, "a");
	struct context *other = open_context(1, "b");
	uint64_t x = context_item(c, SPAN("x"));
	uint64_t file = context_item(c, SPAN("\0x"));

	assert_true(x && file && x != file);
	assert_int_equal(context_item(c, SPAN("x")), x);
	assert_int_not_equal(context_item(other, SPAN("x")), x);
	context_end(&all, c);
	context_end(&all, other);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_layers), TEST(test_deletions), TEST(test_bad_keys),
		TEST(test_events), TEST(test_null),      TEST(test_contexts),
		TEST(test_users),  TEST(test_actions),   TEST(test_items),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

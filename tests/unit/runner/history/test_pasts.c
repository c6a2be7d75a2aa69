/*
 * Pasts that are kept: histories are the same as those of who reads everything again.
 */
#include "runner/history/past_cache.h"
#include "tests/unit/store/turn/turn_append.h"

#include "runner/history/history.h"
#include "store/open.h"
#include "store/remove.h"

#include <errno.h>
#include <ftw.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#define LOGS  40  /* that are made up */
#define STEPS 120 /* of each */

static char folder[64];
static struct store *st;
static struct ref app, user;
static struct err err;

/* A log in the making. */
struct tale {
	struct ref session;
	uint64_t random;
	unsigned turns;
	unsigned running; /* a turn; 0: none */
	unsigned calls;
	unsigned events;
};

static void must(int got, const char *what)
{
	if (got < 0)
		fail_msg("%s: %s (%s)", what, err_name(got), err.text);
	err = (struct err){ 0 };
}

#define OK(call) must((call), #call)

static void open_store(const char *engine)
{
	struct store_options options = { .folder = folder, .engine = engine };

	(void)snprintf(folder, sizeof folder, "/tmp/adkfs-test-XXXXXX");
	assert_non_null(mkdtemp(folder));
	OK(store_open(&options, &st, &err));
	OK(scope_create(st, (struct ref){ 0 }, "app", &app, NULL, &err));
	OK(scope_create(st, app, "user", &user, NULL, &err));
}

static int remove_entry(const char *path, const struct stat *sb UNUSED, int kind UNUSED,
			struct FTW *ftw UNUSED)
{
	return remove(path);
}

static void close_store(void)
{
	store_close(st);
	assert_int_equal(nftw(folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS), 0);
}

static struct tale tale_new(const char *name, uint64_t seed)
{
	struct tale t = { .random = seed * 2862933555777941757u + 3037000493u };

	OK(scope_create(st, user, name, &t.session, NULL, &err));
	return t;
}

/* 0 to n - 1. */
static unsigned any(struct tale *t, unsigned n)
{
	t->random = t->random * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(t->random >> 33) % n;
}

static const char *one_of(struct tale *t, const char *const *list, unsigned n)
{
	return list[any(t, n)];
}

#define ONE_OF(t, ...)                                                                             \
	one_of(t, (const char *const[]){ __VA_ARGS__ },                                            \
	       ARRAY_SIZE(((const char *const[]){ __VA_ARGS__ })))

/* Parts */

static void add_call(struct tale *t, struct buf *out)
{
	unsigned id = any(t, 8) ? ++t->calls : any(t, t->calls + 1);
	const char *name = any(t, 12) ? "add" : "adk_request_confirmation";

	buf_printf(out, "{\"functionCall\":{\"id\":\"c-%u\",\"name\":\"%s\",\"args\":{}}}", id,
		   name);
}

/* To one of the last calls, mostly. */
static void add_response(struct tale *t, struct buf *out)
{
	unsigned back = any(t, any(t, 6) ? 3 : 50);

	buf_printf(
		out,
		"{\"functionResponse\":{\"id\":\"c-%u\",\"name\":\"add\",\"response\":{\"n\":%u}}}",
		t->calls > back ? t->calls - back : 0, t->events);
}

static void add_part(struct tale *t, struct buf *out)
{
	switch (any(t, 10)) {
	case 0:
	case 1:
	case 2:
		add_call(t, out);
		break;
	case 3:
	case 4:
	case 5:
		add_response(t, out);
		break;
	case 6:
		buf_printf(out, "{\"text\":\"thought %u\",\"thought\":true}", t->events);
		break;
	case 7:
		buf_text(out, ONE_OF(t, "{\"text\":\"\"}", "{\"fileData\":{\"fileUri\":\"u\"}}",
				     "{\"inlineData\":{\"data\":\"AAAA\",\"mimeType\":\"a/b\"}}",
				     "{\"executableCode\":{\"code\":\"1\"}}"));
		break;
	default:
		buf_printf(out, "{\"text\":\"said %u\"}", t->events);
	}
}

static void add_parts(struct tale *t, struct buf *out)
{
	unsigned n = any(t, 4) ? 1 : 1 + any(t, 4);

	while (n--) {
		add_part(t, out);
		if (n)
			buf_char(out, ',');
	}
}

/* Lines */

/* Add the invocation of a turn that is, was or will be, or of none. */
static void add_invocation(struct tale *t, struct buf *out)
{
	unsigned n = 1 + any(t, t->turns + 1);

	if (t->running && any(t, 5))
		n = t->running;
	buf_printf(out, ",\"invocationId\":\"%s-%u\"", any(t, 8) ? "e" : "x", n);
}

/* Add the members that every line has. */
static void begin_line(struct tale *t, struct buf *out, const char *author)
{
	t->events++;
	buf_printf(out, "{\"id\":\"l-%u\",\"timestamp\":%u,\"author\":\"%s\"", t->events,
		   1000 + t->events, author);
}

static void append(struct tale *t, struct buf *line, unsigned turn)
{
	CLEANUP(event_release) struct event e = { 0 };
	struct turn_info info;

	OK(event_from_json(buf_span(line), &e, &err));
	if (turn)
		OK(turn_append(st, t->session, turn, &e, 1, &info, &err));
	else
		OK(session_append(st, t->session, &e, 1, &err));
}

static void submit(struct tale *t)
{
	CLEANUP(buf_release) struct buf line = { 0 };
	CLEANUP(event_release) struct event e = { 0 };
	struct turn_info info;

	begin_line(t, &line, "user");
	buf_printf(&line, ",\"invocationId\":\"e-%u\",\"content\":{\"role\":\"user\",\"parts\":[",
		   ++t->turns);
	add_parts(t, &line);
	buf_text(&line, "]}}");
	OK(event_from_json(buf_span(&line), &e, &err));
	OK(turn_submit(st, t->session, 0, &e, &info, &err));
	if (!t->running)
		t->running = t->turns;
}

static void say(struct tale *t)
{
	CLEANUP(buf_release) struct buf line = { 0 };
	const char *branch = ONE_OF(t, "", "", "", "a", "a.b", "b");
	unsigned turn = t->running && any(t, 6) ? t->running : 0;

	begin_line(t, &line, ONE_OF(t, "me", "me", "me", "other", "user"));
	if (turn)
		buf_printf(&line, ",\"invocationId\":\"e-%u\"", turn);
	else
		add_invocation(t, &line);
	if (*branch)
		buf_printf(&line, ",\"branch\":\"%s\"", branch);
	if (!any(t, 6))
		buf_printf(&line, ",\"longRunningToolIds\":[\"c-%u\"]", t->calls + 1);
	if (any(t, 10)) {
		buf_printf(&line, ",\"content\":{%s\"parts\":[",
			   ONE_OF(t, "", "\"role\":\"user\",", "\"role\":\"model\",",
				  "\"role\":\"model\","));
		add_parts(t, &line);
		buf_text(&line, "]}");
	}
	buf_char(&line, '}');
	append(t, &line, turn);
}

static void rewind_some(struct tale *t)
{
	CLEANUP(buf_release) struct buf line = { 0 };
	unsigned back = any(t, 3);

	begin_line(t, &line, "user");
	buf_printf(&line, ",\"actions\":{\"rewindBeforeInvocationId\":\"%s-%u\"}}",
		   any(t, 6) ? "e" : "x", t->turns > back ? t->turns - back : 1);
	append(t, &line, 0);
}

/* Add a summary: of turns, which may not be there, or of times. */
static void compact_some(struct tale *t)
{
	CLEANUP(buf_release) struct buf line = { 0 };
	unsigned from = any(t, t->turns + 1);
	unsigned to = from + any(t, t->turns + 2 - from);

	begin_line(t, &line, "user");
	add_invocation(t, &line);
	buf_printf(&line,
		   ",\"actions\":{\"compaction\":{\"startTimestamp\":%u,\"endTimestamp\":%u,"
		   "\"compactedContent\":{\"role\":\"user\",\"parts\":[{\"text\":\"sum %u\"}]}}}",
		   1000 + any(t, t->events), 1000 + any(t, t->events), t->events);
	if (any(t, 4))
		buf_printf(&line,
			   ",\"customMetadata\":{\"adkfs.compacted\":{\"from\":\"e-%u\","
			   "\"to\":\"e-%u\"}}",
			   from, to);
	buf_char(&line, '}');
	append(t, &line, 0);
}

static void end(struct tale *t)
{
	struct turn_info info;

	if (!t->running)
		return;
	OK(turn_commit(st, t->session, t->running, &(struct turn_commit){ .end = TURN_DONE }, &info,
		       &err));
	t->running = t->running < t->turns ? t->running + 1 : 0;
}

static void step(struct tale *t)
{
	unsigned what = any(t, 40);

	if (what < 6)
		submit(t);
	else if (what < 11)
		end(t);
	else if (what == 11)
		rewind_some(t);
	else if (what == 12)
		compact_some(t);
	else
		say(t);
}

/* Histories */

static void write_history(const struct history_query *q, struct buf *out)
{
	struct history h = { 0 };
	size_t i;

	OK(history_build(q, &h, &err));
	for (i = 0; i < h.count; i++) {
		content_to_json(h.contents[i], out);
		buf_char(out, '\n');
	}
	history_release(&h);
	assert_non_null(buf_cstr(out));
}

static struct history_query any_query(struct tale *t)
{
	unsigned back = any(t, 6) ? 0 : any(t, t->turns + 1);
	uint64_t now = t->running ? t->running : t->turns;

	return (struct history_query){ .store = st,
				       .session = t->session,
				       .agent = ONE_OF(t, "me", "me", "other"),
				       .branch = ONE_OF(t, NULL, NULL, "a", "a.b"),
				       .only_present = !any(t, 5),
				       .n = now - MIN(back, now) };
}

static void compare(struct tale *t, struct past_cache *pasts)
{
	CLEANUP(buf_release) struct buf want = { 0 };
	CLEANUP(buf_release) struct buf got = { 0 };
	struct history_query q = any_query(t);

	write_history(&q, &want);
	q.cache = pasts;
	write_history(&q, &got);
	assert_string_equal(got.data, want.data);
}

/* Two sessions in turns, so that the small one has room for neither or for one. */
static void tell_tales(uint64_t seed, struct past_cache *large, struct past_cache *small)
{
	struct tale tales[] = { tale_new("one", seed), tale_new("two", seed + 1000) };
	unsigned i;

	for (i = 0; i < STEPS; i++) {
		struct tale *t = &tales[any(&tales[0], 2)];

		step(t);
		if (any(t, 3))
			compare(t, large);
		if (!any(t, 3))
			compare(t, small);
	}
	for (i = 0; i < ARRAY_SIZE(tales); i++)
		OK(scope_remove(st, tales[i].session, &err));
}

static void test_any_log(void **state)
{
	struct past_cache large, small;
	uint64_t seed;

	open_store(*state);
	past_cache_init(&large);
	past_cache_init(&small);
	small.limit = 20000;
	for (seed = 1; seed <= LOGS; seed++)
		tell_tales(seed, &large, &small);
	past_cache_release(&large);
	past_cache_release(&small);
	close_store();
}

/* Agents of one turn that ask side by side, while the log grows. */
struct asker {
	struct history_query query;
	atomic_uint *left; /* lines that are to come */
	unsigned wrong;
	size_t seen; /* contents of the last history */
};

static void *ask_again(void *arg)
{
	struct asker *a = arg;
	bool is_last = false;

	while (!is_last) {
		struct history h = { 0 };

		is_last = !atomic_load(a->left);
		if (history_build(&a->query, &h, NULL) < 0 || h.count < a->seen)
			a->wrong++;
		a->seen = h.count;
		history_release(&h);
	}
	return NULL;
}

static void say_hello(struct tale *t)
{
	CLEANUP(buf_release) struct buf line = { 0 };

	begin_line(t, &line, t->events % 2 ? "me" : "other");
	buf_text(&line, ",\"content\":{\"role\":\"model\",\"parts\":[{\"text\":\"hello\"}]}}");
	append(t, &line, 0);
}

static void test_side_by_side(void **state)
{
	struct asker askers[4] = { 0 };
	pthread_t threads[ARRAY_SIZE(askers)];
	struct past_cache pasts;
	atomic_uint left = 500;
	struct tale t;
	size_t i;

	open_store(*state);
	t = tale_new("one", 1);
	past_cache_init(&pasts);
	for (i = 0; i < ARRAY_SIZE(askers); i++) {
		askers[i].left = &left;
		askers[i].query = (struct history_query){
			.store = st, .session = t.session, .agent = "me", .cache = &pasts
		};
		assert_int_equal(pthread_create(&threads[i], NULL, ask_again, &askers[i]), 0);
	}
	for (; atomic_load(&left); atomic_fetch_sub(&left, 1))
		say_hello(&t);
	for (i = 0; i < ARRAY_SIZE(askers); i++) {
		(void)pthread_join(threads[i], NULL);
		assert_int_equal(askers[i].wrong, 0);
		assert_int_equal(askers[i].seen, t.events);
	}
	past_cache_release(&pasts);
	close_store();
}

struct taker {
	struct past_cache *pasts;
	struct ref session;
	atomic_bool is_here;
	atomic_bool is_given;
	bool took_early;
};

static void *take_after(void *arg)
{
	struct taker *t = arg;
	struct past *past;

	atomic_store(&t->is_here, true);
	if (past_cache_get(t->pasts, st, t->session, &past, NULL) < 0)
		return NULL;
	t->took_early = !atomic_load(&t->is_given);
	past_cache_put(t->pasts, past, true);
	return NULL;
}

/* A past is with one thread at a time; the sessions of others do not wait. */
static void test_one_at_a_time(void **state UNUSED)
{
	struct past_cache pasts;
	struct taker taker = { .pasts = &pasts, .session = { 1, 2, 3 } };
	struct past *past, *other;
	pthread_t thread;

	past_cache_init(&pasts);
	OK(past_cache_get(&pasts, st, taker.session, &past, &err));
	OK(past_cache_get(&pasts, st, (struct ref){ 1, 2, 3 + PAST_CACHE_BUCKETS }, &other, &err));
	past_cache_put(&pasts, other, true);
	assert_int_equal(pthread_create(&thread, NULL, take_after, &taker), 0);
	while (!atomic_load(&taker.is_here))
		(void)usleep(100);
	(void)usleep(20000); /* time to go wrong in */
	atomic_store(&taker.is_given, true);
	past_cache_put(&pasts, past, true);
	(void)pthread_join(thread, NULL);
	assert_false(taker.took_early);
	past_cache_release(&pasts);
}

/* The memory of the cache is bounded, and sessions that are gone are refused. */
static void test_limits(void **state)
{
	struct past_cache pasts;
	struct tale tales[8];
	struct history_query q = { .agent = "me", .cache = &pasts };
	CLEANUP(buf_release) struct buf text = { 0 };
	struct history h = { 0 };
	size_t i;
	size_t k;

	open_store(*state);
	q.store = st;
	past_cache_init(&pasts);
	pasts.limit = 8000;
	for (i = 0; i < ARRAY_SIZE(tales); i++) {
		char name[] = { (char)('a' + i), '\0' };

		tales[i] = tale_new(name, i);
		for (k = 0; k < 5 * (i + 1); k++)
			say_hello(&tales[i]);
		q.session = tales[i].session;
		write_history(&q, &text);
		assert_in_range(pasts.bytes, i ? 0 : 1, 8000);
	}
	OK(scope_remove(st, tales[0].session, &err));
	q.session = tales[0].session;
	for (i = 0; i < 2; i++)
		assert_int_equal(history_build(&q, &h, &err), -ENOENT);
	past_cache_release(&pasts);
	close_store();
}

#define TEST(name, engine)                                                                         \
	{                                                                                          \
#name, name, NULL, NULL, engine                                                    \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_any_log, "memory"),      TEST(test_any_log, "rocksdb"),
		TEST(test_side_by_side, "memory"), TEST(test_one_at_a_time, NULL),
		TEST(test_limits, "memory"),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * Memory that runs out in a provider, at each place where it can: see model_rig.h.
 *
 * The linker gives us the allocations of our own code. Those of jansson are left alone, which
 * does not look whether a key was written.
 */
#include "tests/unit/runner/provider/model_rig.h"

static unsigned long left; /* allocations up to the one that fails; 0: none does */
static unsigned long made;

static bool fails(void)
{
	made++;
	return left && !--left;
}

/* The names are the linker's. */
void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__real_reallocarray(void *old, size_t count, size_t size);
void *__wrap_reallocarray(void *old, size_t count, size_t size);
char *__real_strdup(const char *text);
char *__wrap_strdup(const char *text);
int __real_vasprintf(char **out, const char *fmt, va_list args);
int __wrap_vasprintf(char **out, const char *fmt, va_list args);

void *__wrap_malloc(size_t size)
{
	return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
	return fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size)
{
	return fails() ? NULL : __real_realloc(old, size);
}

void *__wrap_reallocarray(void *old, size_t count, size_t size)
{
	return fails() ? NULL : __real_reallocarray(old, count, size);
}

char *__wrap_strdup(const char *text)
{
	return fails() ? NULL : __real_strdup(text);
}

int __wrap_vasprintf(char **out, const char *fmt, va_list args)
{
	return fails() ? -1 : __real_vasprintf(out, fmt, args);
}

/* What a provider makes of a fixture. */
struct work {
	int (*run)(void *arg, struct buf *told); /* 0; -errno */
	void *arg;
	const char *name;
};

static int run(const struct work *w, unsigned long fail_at, struct buf *told)
{
	int r;

	buf_clear(told);
	made = 0;
	left = fail_at;
	r = w->run(w->arg, told);
	left = 0;
	return r;
}

/* A failure is right; what succeeds has to be the same as with all the memory of the world. */
static void run_out(const struct work *w)
{
	struct buf wanted = { 0 };
	struct buf told = { 0 };
	int r = run(w, 0, &wanted);
	unsigned long count = made;
	unsigned long n;

	for (n = 1; n <= count; n++) {
		if (run(w, n, &told) < 0)
			continue;
		if (r < 0 || !span_equal(buf_span(&told), buf_span(&wanted)))
			fail_msg("%s, allocation %lu: got %s", w->name, n, buf_cstr(&told));
	}
	buf_release(&wanted);
	buf_release(&told);
}

static int answer(void *arg, struct buf *told)
{
	const struct buf *body = arg;
	struct outcome o;
	int r;

	outcome_make(&o, buf_span(body), SIZE_MAX);
	left = 0;
	r = o.r;
	if (o.reply.content)
		content_to_json(o.reply.content, told);
	buf_printf(told, " %s %s %s", o.reply.finish_reason ? o.reply.finish_reason : "",
		   o.reply.error_code ? o.reply.error_code : "",
		   o.reply.model_version ? o.reply.model_version : "");
	buf_span_add(told, buf_span(&o.reply.usage));
	outcome_release(&o);
	return r;
}

static void answer_runs_out(const char *folder, const char *name)
{
	struct buf body = { 0 };
	const struct work w = { answer, &body, name };

	read_text(&body, folder, name, ".body");
	run_out(&w);
	buf_release(&body);
}

static int encode(void *arg, struct buf *told)
{
	const struct question *rq = arg;
	struct http_request http = { 0 };
	size_t i;
	int r = rq->provider->encode(rq, &http, NULL);

	left = 0;
	buf_span_add(told, buf_span(&http.url));
	for (i = 0; i < http.header_count; i++)
		buf_printf(told, " %s", http.headers[i]);
	buf_span_add(told, buf_span(&http.body));
	http_request_release(&http);
	return r;
}

static void request_runs_out(const char *folder, const char *name)
{
	json_t *fixture = read_json(folder, name, ".json");
	struct fixture_question q;
	const struct work w = { encode, &q.rq, name };

	set_environment(json_object_get(fixture, "env"));
	fixture_question_make(&q, json_object_get(fixture, "request"));
	fixture_question_settle(&q, fixture);
	run_out(&w);
	fixture_question_release(&q);
	json_decref(fixture);
}

void test_memory(void **state)
{
	(void)state;
	assert_true(each_file(rig.bodies.path, "", ".body", answer_runs_out) > rig.bodies.above);
	assert_true(each_file(rig.requests.path, "", ".json", request_runs_out) >
		    rig.requests.above);
}

/*
 * Recordings of real providers: see model_rig.h.
 */
#include "store/json/base64.h"
#include "tests/unit/runner/provider/model_rig.h"

bool has_recordings(void)
{
	return getenv("ADKFS_RECORDED") != NULL;
}

static void recorded_path(char *path, size_t size, const char *folder)
{
	if (!has_recordings()) {
		print_message("ADKFS_RECORDED is not set: recordings are skipped\n");
		skip();
	}
	(void)snprintf(path, size, "%s/%s", getenv("ADKFS_RECORDED"), folder);
}

size_t each_recorded(const char *folder, const char *prefix, const char *suffix, file_fn *fn)
{
	char path[512];

	recorded_path(path, sizeof path, folder);
	return each_file(path, prefix, suffix, fn);
}

json_t *read_recorded(const char *folder, const char *name)
{
	char path[512];

	recorded_path(path, sizeof path, folder);
	return read_json(path, name, ".json");
}

static void assert_calls(const char *name, json_t *wanted, const struct content *content)
{
	size_t at = 0;
	size_t i;

	for (i = 0; content && i < content->count; i++) {
		const struct part *p = &content->parts[i];
		json_t *call;
		json_t *args;
		const char *id;

		if (p->kind != PART_CALL)
			continue;
		call = json_array_get(wanted, at++);
		id = json_string_value(json_object_get(call, "id"));
		args = parsed(span_of(p->json));
		if (!call || !json_equal(args, json_object_get(call, "args")) ||
		    strcmp(p->name, json_string_value(json_object_get(call, "name"))) != 0 ||
		    strcmp(id ? id : "", p->id ? p->id : "") != 0)
			fail_msg("%s: call %zu is %s %s", name, at, p->name, p->json);
		json_decref(args);
	}
	assert_int_equal(at, json_array_size(wanted));
}

static void assert_text(const char *name, const struct buf *got, json_t *expect, const char *what)
{
	const char *wanted = json_string_value(json_object_get(expect, what));

	if (strcmp(what, "text") == 0 && json_object_get(expect, "refusal"))
		wanted = json_string_value(json_object_get(expect, "refusal"));
	if (!span_is(buf_span(got), wanted ? wanted : ""))
		fail_msg("%s: the %s is '%.*s'", name, what, (int)got->len, got->data);
}

/* Of each signature the length of the text as it came, in the order of the parts; if it is said. */
static void assert_signatures(const char *name, json_t *wanted, const struct content *content)
{
	size_t at = 0;
	size_t i;

	for (i = 0; wanted && content && i < content->count; i++) {
		const struct part *p = &content->parts[i];
		json_int_t length = json_integer_value(
			json_object_get(json_array_get(wanted, at), "length"));
		struct buf bytes = { 0 };

		if (!p->signature)
			continue;
		assert_int_equal(base64_decode(span_of(p->signature), &bytes), 0);
		if (length != (json_int_t)strlen(p->signature) && length != (json_int_t)bytes.len)
			fail_msg("%s: signature %zu has %zu characters of %zu bytes", name, at,
				 strlen(p->signature), bytes.len);
		buf_release(&bytes);
		at++;
	}
	assert_int_equal(at, json_array_size(wanted));
}

static bool is_among(const char *word, const char *const *words)
{
	while (*words && strcmp(*words, word) != 0)
		words++;
	return *words != NULL;
}

static void assert_outcome(const char *name, size_t size, json_t *expect, const struct outcome *o)
{
	static const char *const failures[] = { "error", "truncated", "unsupported", NULL };
	static const char *const reasons[] = { "blocked", "empty", NULL };
	const char *finish = json_string_value(json_object_get(expect, "finish_adk"));
	const char *outcome = json_string_value(json_object_get(expect, "outcome"));
	const json_t *error = json_object_get(expect, "error");
	const char *code = json_string_value(json_object_get(error, "errorCode"));

	if (!code && is_among(outcome, reasons))
		code = json_string_value(json_object_get(error, "code"));
	if (is_among(outcome, failures) != (o->r < 0))
		fail_msg("%s, split %zu: ended with %d %s", name, size, o->r, o->err.text);
	assert_text(name, &o->heard, expect, "text");
	assert_text(name, &o->thought, expect, "thought");
	assert_calls(name, json_object_get(expect, "tool_calls"), o->reply.content);
	if (o->r < 0)
		return;
	assert_signatures(name, json_object_get(expect, "signatures"), o->reply.content);
	if (finish)
		assert_string_equal(o->reply.finish_reason, finish);
	if (is_among(outcome, reasons) && !o->reply.error_code)
		fail_msg("%s: nothing says why there is no content", name);
	if (code)
		assert_string_equal(o->reply.error_code, code);
	if (json_is_object(json_object_get(expect, "usage")))
		assert_true(o->reply.usage.len > 0);
}

/* Wherever an answer is cut before its end marker, no call comes out of it. */
static void check_cuts(const char *name, struct span bytes)
{
	const char *finish = memmem(bytes.data, bytes.len, rig.end_marker, strlen(rig.end_marker));
	size_t end = finish ? (size_t)(finish - bytes.data) : 0;
	size_t cut;

	for (cut = 0; cut < end; cut += 1 + end / 200) {
		struct outcome o;

		outcome_make(&o, span_sub(bytes, 0, cut), 512);
		if (o.r == 0 || (o.reply.content && content_has(o.reply.content, PART_CALL)))
			fail_msg("%s: cut at %zu passes", name, cut);
		outcome_release(&o);
	}
}

static void check_recorded_answer(const char *name, const char *suffix, const char *folder,
				  json_t *expect)
{
	struct buf body = { 0 };

	read_text(&body, folder, name, suffix);
	check_answer(buf_span(&body), name, expect, assert_outcome);
	if (strcmp(suffix, ".stream") == 0)
		check_cuts(name, buf_span(&body));
	buf_release(&body);
}

static void check_recorded_error(const char *name, const char *folder, json_t *expect)
{
	const char *start = json_string_value(
		json_object_get(json_object_get(expect, "error"), "message_starts"));
	struct buf body = { 0 };
	struct buf message = { 0 };

	read_text(&body, folder, name, ".json");
	assert_true(provider()->error_message(buf_span(&body), &message));
	if (start && strncmp(buf_cstr(&message), start, strlen(start)) != 0)
		fail_msg("%s: the message is '%s'", name, message.data);
	buf_release(&body);
	buf_release(&message);
}

static void check_recorded(const char *folder, const char *name)
{
	json_t *meta = read_json(folder, name, ".meta.json");
	json_t *expect = json_object_get(meta, "expect");

	if (json_integer_value(json_object_get(meta, "status")) != 200)
		check_recorded_error(name, folder, expect);
	else
		check_recorded_answer(name,
				      json_is_true(json_object_get(meta, "streaming")) ? ".stream"
										       : ".json",
				      folder, expect);
	json_decref(meta);
}

/* What the service took is what we would have written. */
static void check_again(const char *folder, const char *name)
{
	struct http_request http = { 0 };
	struct err err = { 0 };
	json_t *recorded = read_json(folder, name, ".json");
	json_t *fixture = rig.again.fixture(recorded);
	json_t *got;

	if (ask_fixture(fixture, &http, &err) < 0)
		fail_msg("%s: %s", name, err.text);
	got = parsed(buf_span(&http.body));
	rig.again.level(recorded, got);
	if (!json_equal(recorded, got))
		fail_msg("%s: got %s", name, json_dumps(got, 0));
	http_request_release(&http);
	json_decref(got);
	json_decref(fixture);
	json_decref(recorded);
}

void test_recorded(void **state)
{
	const char *const *folder;

	(void)state;
	for (folder = rig.recorded; *folder; folder++)
		assert_true(each_recorded(*folder, "", ".meta.json", check_recorded) > 0);
}

void test_recorded_requests(void **state)
{
	(void)state;
	assert_true(each_recorded("requests", rig.again.prefix, ".json", check_again) >
		    rig.again.above);
}

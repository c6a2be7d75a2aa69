/*
 * What the tests of model providers share: questions and answers as files.
 *
 * NAME.body is an answer, NAME.expect.json what has to become of it, however its
 * bytes are cut. A request NAME.json is a question with the request, or the
 * error, that it makes. Recordings of real providers are used too when
 * ADKFS_RECORDED names their folder.
 *
 * Before it is included: RIG_MODEL is a model of the provider, RIG_BODIES and
 * RIG_REQUESTS are folders of fixtures, RIG_END is how the end marker begins,
 * and variables[] are the settings that the requests may not find set.
 */
#ifndef UNIT_MODEL_RIG_H
#define UNIT_MODEL_RIG_H

#include "runner/http.h"
#include "runner/model.h"
#include "runner/stream.h"

#include <dirent.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

static const size_t sizes[] = { 1, 2, 3, 7, 64, SIZE_MAX };

typedef void file_fn(const char *folder, const char *name);

/* Call fn with the names in a folder that end so, without that end. */
static size_t each_file(const char *folder, const char *suffix, file_fn *fn)
{
	struct dirent **list;
	int n = scandir(folder, &list, NULL, alphasort);
	size_t done = 0;
	int i;

	if (n < 0)
		fail_msg("%s: cannot be listed (run this in tests/)", folder);
	for (i = 0; i < n; i++) {
		char *name = list[i]->d_name;
		size_t len = strlen(name);
		size_t end = strlen(suffix);

		if (len > end && strcmp(name + len - end, suffix) == 0) {
			name[len - end] = 0;
			fn(folder, name);
			done++;
		}
		free(list[i]);
	}
	free(list);
	return done;
}

static void read_text(struct buf *out, const char *folder, const char *name, const char *suffix)
{
	char path[512];
	char block[4096];
	size_t n;
	FILE *f;

	(void)snprintf(path, sizeof path, "%s/%s%s", folder, name, suffix);
	f = fopen(path, "re");
	if (!f)
		fail_msg("%s: cannot be opened", path);
	while ((n = fread(block, 1, sizeof block, f)) > 0)
		buf_add(out, block, n);
	(void)fclose(f);
}

static json_t *read_json(const char *folder, const char *name, const char *suffix)
{
	struct buf text = { 0 };
	json_error_t why;
	json_t *json;

	read_text(&text, folder, name, suffix);
	json = json_loadb(text.data, text.len, JSON_ALLOW_NUL, &why);
	if (!json)
		fail_msg("%s/%s%s: %s", folder, name, suffix, why.text);
	buf_release(&text);
	return json;
}

/* The provider that is tested. */
static const struct model_provider *provider(void)
{
	const struct model_provider *p;
	const char *name;

	assert_int_equal(model_find(RIG_MODEL, &p, &name, NULL), 0);
	return p;
}

/* One answer, decoded. */
struct outcome {
	const struct model_provider *provider;
	void *decoder;
	struct model_reply reply;
	struct err err;
	struct buf heard;   /* what on_text got, without thoughts */
	struct buf thought; /* and with */
	int r;
};

static void hear(void *arg, struct span text, bool thought)
{
	struct outcome *o = arg;

	buf_span_add(thought ? &o->thought : &o->heard, text);
}

static int decode(void *arg, struct span event)
{
	struct outcome *o = arg;

	return o->provider->decode(o->decoder, event, &o->reply, &o->err);
}

static void run(struct outcome *o, struct span bytes, size_t size)
{
	enum stream_kind kind = STREAM_NDJSON;
	struct stream s;

	*o = (struct outcome){ .provider = provider() };
	if (o->provider->framing == MODEL_SSE)
		kind = bytes.len && strchr("{[", *bytes.data) ? STREAM_WHOLE : STREAM_SSE;
	o->reply.on_text = hear;
	o->reply.arg = o;
	o->decoder = o->provider->decoder_new();
	stream_init(&s, kind);
	while (o->r == 0 && bytes.len) {
		size_t n = MIN(size, bytes.len);

		o->r = stream_feed(&s, span_sub(bytes, 0, n), decode, o);
		bytes = span_sub(bytes, n, bytes.len);
	}
	if (o->r == 0)
		o->r = stream_end(&s, decode, o);
	if (o->r == 0)
		o->r = o->provider->end(o->decoder, &o->reply, &o->err);
	stream_release(&s);
	o->provider->decoder_free(o->decoder);
}

static void outcome_release(struct outcome *o)
{
	model_reply_release(&o->reply);
	buf_release(&o->heard);
	buf_release(&o->thought);
}

static json_t *parsed(struct span text)
{
	json_t *json = json_loadb(text.data, text.len, JSON_ALLOW_NUL, NULL);

	assert_non_null(json);
	return json;
}

/* A reply in the form of *.expect.json. */
static json_t *describe(const struct outcome *o)
{
	json_t *j = json_object();
	struct buf content = { 0 };

	if (o->reply.content) {
		content_to_json(o->reply.content, &content);
		json_object_set_new(j, "content", parsed(buf_span(&content)));
	}
	if (o->reply.finish_reason)
		json_object_set_new(j, "finish", json_string(o->reply.finish_reason));
	if (o->reply.model_version)
		json_object_set_new(j, "version", json_string(o->reply.model_version));
	if (o->reply.usage.len)
		json_object_set_new(j, "usage", parsed(buf_span(&o->reply.usage)));
	if (o->reply.error_code)
		json_object_set_new(j, "errorCode", json_string(o->reply.error_code));
	if (o->r < 0)
		json_object_set_new(j, "error", json_string(o->err.text));
	buf_release(&content);
	return j;
}

/* Errors are compared by their start; in a failed answer the version does not matter. */
static void soften(json_t *wanted, json_t *got)
{
	const char *start = json_string_value(json_object_get(wanted, "error"));
	const char *text = json_string_value(json_object_get(got, "error"));

	if (!start || !text)
		return;
	json_object_del(wanted, "version");
	json_object_del(got, "version");
	if (strncmp(start, text, strlen(start)) == 0)
		json_object_set(got, "error", json_object_get(wanted, "error"));
}

static void assert_same(const char *name, size_t size, json_t *wanted, json_t *got)
{
	soften(wanted, got);
	if (!json_equal(wanted, got)) {
		char *text = json_dumps(got, 0);

		fail_msg("%s, split %zu: got %s", name, size, text);
	}
}

static void check_body(const char *folder, const char *name)
{
	json_t *wanted = read_json(folder, name, ".expect.json");
	struct buf body = { 0 };
	size_t i;

	read_text(&body, folder, name, ".body");
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct outcome o;
		json_t *got;

		run(&o, buf_span(&body), sizes[i]);
		got = describe(&o);
		assert_same(name, sizes[i], wanted, got);
		json_decref(got);
		outcome_release(&o);
	}
	buf_release(&body);
	json_decref(wanted);
}

static void set_environment(json_t *env)
{
	const char *name;
	json_t *value;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(variables); i++)
		unsetenv(variables[i]);
	json_object_foreach(env, name, value) setenv(name, json_string_value(value), 1);
}

/* The contents and tools of a request fixture, as C objects. */
struct question {
	struct model_request rq;
	struct content *contents[16];
	struct model_tool tools[8];
};

static void question_make(struct question *q, json_t *from)
{
	json_t *item;
	size_t i;

	*q = (struct question){ 0 };
	json_array_foreach(json_object_get(from, "contents"), i, item)
	{
		char *text = json_dumps(item, 0);
		struct err err = { 0 };

		if (content_from_json(span_of(text), &q->contents[i], &err) < 0)
			fail_msg("%s", err.text);
		free(text);
		q->rq.count++;
	}
	json_array_foreach(json_object_get(from, "tools"), i, item)
	{
		q->tools[i].name = json_string_value(json_object_get(item, "name"));
		q->tools[i].description = json_string_value(json_object_get(item, "description"));
		q->tools[i].parameters = json_object_get(item, "parameters");
		q->rq.tool_count++;
	}
	q->rq.name = json_string_value(json_object_get(from, "name"));
	if (!q->rq.name)
		q->rq.name = "m";
	q->rq.system = json_string_value(json_object_get(from, "system"));
	q->rq.contents = q->contents;
	q->rq.tools = q->tools;
	q->rq.config = json_object_get(from, "config");
}

static void question_release(struct question *q)
{
	size_t i;

	for (i = 0; i < q->rq.count; i++)
		content_free(q->contents[i]);
}

/* Who is asked: the model of the fixture, or that of the rig; and what the settings make of it. */
static void question_settle(struct question *q, json_t *fixture)
{
	const char *model = json_string_value(json_object_get(fixture, "model"));
	const char *name;

	assert_int_equal(model_find(model ? model : RIG_MODEL, &q->rq.provider, &name, NULL), 0);
	if (model)
		q->rq.name = name;
	q->rq.provider = model_settle(&q->rq);
}

static void check_where(const char *name, json_t *fixture, const struct http_request *http)
{
	const char *url = json_string_value(json_object_get(fixture, "url"));
	json_t *headers = json_object_get(fixture, "headers");
	json_t *header;
	size_t i;

	if (url && !span_is(buf_span(&http->url), url))
		fail_msg("%s: asks at %.*s", name, (int)http->url.len, http->url.data);
	if (headers)
		assert_int_equal(http->header_count, json_array_size(headers));
	json_array_foreach(headers, i, header)
		assert_string_equal(http->headers[i], json_string_value(header));
}

static void check_request(const char *folder, const char *name)
{
	json_t *fixture = read_json(folder, name, ".json");
	const char *error = json_string_value(json_object_get(fixture, "error"));
	struct http_request http = { 0 };
	struct err err = { 0 };
	struct question q;
	int r;

	set_environment(json_object_get(fixture, "env"));
	question_make(&q, json_object_get(fixture, "request"));
	question_settle(&q, fixture);
	r = q.rq.provider->encode(&q.rq, &http, &err);
	if (error) {
		if (r == 0 || strncmp(err.text, error, strlen(error)) != 0)
			fail_msg("%s: got '%s'", name, err.text);
	} else {
		json_t *body;

		if (r < 0)
			fail_msg("%s: %s", name, err.text);
		body = parsed(buf_span(&http.body));
		if (!json_equal(body, json_object_get(fixture, "body")))
			fail_msg("%s: got %.*s", name, (int)http.body.len, http.body.data);
		check_where(name, fixture, &http);
		json_decref(body);
	}
	http_request_release(&http);
	question_release(&q);
	json_decref(fixture);
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
		assert_int_equal(model_base64_decode(span_of(p->signature), &bytes), 0);
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

static void assert_outcome(const char *name, json_t *expect, const struct outcome *o)
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
		fail_msg("%s: ended with %d %s", name, o->r, o->err.text);
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
	const char *finish = memmem(bytes.data, bytes.len, RIG_END, strlen(RIG_END));
	size_t end = finish ? (size_t)(finish - bytes.data) : 0;
	size_t cut;

	for (cut = 0; cut < end; cut += 1 + end / 200) {
		struct outcome o;

		run(&o, span_sub(bytes, 0, cut), 512);
		if (o.r == 0 || (o.reply.content && content_has(o.reply.content, PART_CALL)))
			fail_msg("%s: cut at %zu passes", name, cut);
		outcome_release(&o);
	}
}

static void check_recorded_answer(const char *name, const char *suffix, const char *folder,
				  json_t *expect)
{
	struct buf body = { 0 };
	size_t i;

	read_text(&body, folder, name, suffix);
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct outcome o;

		run(&o, buf_span(&body), sizes[i]);
		assert_outcome(name, expect, &o);
		outcome_release(&o);
	}
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

/* The fixtures; returns how many there are. */
static size_t check_bodies(void)
{
	return each_file(RIG_BODIES, ".body", check_body);
}

static size_t check_requests(void)
{
	return each_file(RIG_REQUESTS, ".json", check_request);
}

/* The recordings in these folders, if there are any. */
static void check_recordings(const char *const *folders)
{
	const char *root = getenv("ADKFS_RECORDED");

	if (!root) {
		print_message("ADKFS_RECORDED is not set: recordings are skipped\n");
		skip();
	}
	for (; *folders; folders++) {
		char path[512];

		(void)snprintf(path, sizeof path, "%s/%s", root, *folders);
		assert_true(each_file(path, ".meta.json", check_recorded) > 0);
	}
}

#endif

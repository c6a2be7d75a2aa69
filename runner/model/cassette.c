/*
 * Cassettes: see cassette.h.
 */
#include "runner/model/cassette.h"

#include "base/json_text.h"
#include "base/mutex.h"
#include "runner/syntax/file_cache.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>

#define CACHE_MAX   16
#define OWN_ID      "adk-" /* then a UUID */
#define UUID_LENGTH 36

/* An attempt: a line. */
struct attempt {
	struct span line; /* canonical, borrowed from the cassette */
};

struct cassette_call {
	struct span id;
	size_t source; /* index */
	struct buf body;
	int line; /* of its first attempt */
	struct attempt *attempts;
	size_t count;
	bool is_taken; /* guarded by the cassette's lock */
};

struct cassette {
	struct cached_file file;
	struct buf text;
	struct cassette_call *calls;
	size_t count;
	struct cassette_source *sources;
	struct span *source_texts; /* their settings, as they are written */
	size_t source_count;
	struct mutex lock; /* for is_taken; no lock is taken under it */
};

static void cassette_release(struct cached_file *file)
{
	struct cassette *c = (struct cassette *)file;
	size_t i;

	for (i = 0; i < c->count; i++) {
		buf_release(&c->calls[i].body);
		free(c->calls[i].attempts);
	}
	for (i = 0; i < c->source_count; i++) {
		free((char *)c->sources[i].provider);
		free((char *)c->sources[i].model);
		settings_free(c->sources[i].settings);
	}
	free(c->calls);
	free(c->sources);
	free(c->source_texts);
	buf_release(&c->text);
	mutex_release(&c->lock);
}

/* Bodies */

/* The length of an id that adkfs made up, at this place; 0: no such id. */
static size_t own_id(struct span text, size_t at)
{
	size_t n = sizeof OWN_ID - 1;
	size_t i;

	if (text.len - at < n + UUID_LENGTH || memcmp(text.data + at, OWN_ID, n) != 0)
		return 0;
	for (i = 0; i < UUID_LENGTH; i++) {
		if (!strchr("0123456789abcdef-", text.data[at + n + i]))
			return 0;
	}
	return n + UUID_LENGTH;
}

/* The number of an id, from 1 on; a new id is added. */
static size_t id_number(struct buf *ids, struct span id)
{
	size_t i;

	for (i = 0; i + id.len <= ids->len; i += id.len) {
		if (!memcmp(ids->data + i, id.data, id.len))
			return i / id.len + 1;
	}
	buf_span_add(ids, id);
	return i / id.len + 1;
}

int cassette_body(struct span body, struct buf *out)
{
	CLEANUP(buf_release) struct buf text = { 0 };
	CLEANUP(buf_release) struct buf ids = { 0 };
	struct span rest;
	int r = json_canonical_text(body, CASSETTE_DEPTH, &text, NULL);

	if (r == -ENOMEM)
		return r;
	if (r < 0) {
		buf_clear(&text);
		json_quote_lossy(&text, body);
	}
	rest = buf_span(&text);
	while (rest.len) {
		const char *hit = memmem(rest.data, rest.len, OWN_ID, sizeof OWN_ID - 1);
		size_t before = hit ? (size_t)(hit - rest.data) : rest.len;
		size_t n = hit ? own_id(rest, before) : 0;

		buf_add(out, rest.data, before + (hit && !n));
		if (n)
			buf_printf(out, OWN_ID "%zu",
				   id_number(&ids, span_sub(rest, before, before + n)));
		rest = span_sub(rest, before + (n ? n : hit != NULL), rest.len);
	}
	out->failed |= text.failed || ids.failed;
	return buf_check(out, NULL);
}

/* Reading */

/* The line that is read. */
struct reader {
	struct cassette *c;
	struct span line;
	int number;
	struct err *err;
};

static int fail(const struct reader *rd, const char *what)
{
	return err_set(rd->err, -EINVAL, "%s:%d: %s", rd->c->file.name, rd->number, what);
}

/* Take a text of the line; the caller frees it. */
static int take_text(const struct reader *rd, const char *name, char **out)
{
	CLEANUP(buf_release) struct buf text = { 0 };
	struct span token;

	if (json_member(rd->line, name, &token) < 0 || json_unquote(token, &text) < 0)
		return fail(rd, "the line has no provider, model or call");
	*out = span_dup(buf_span(&text));
	return *out ? 0 : -ENOMEM;
}

static int add_source(struct reader *rd, char **provider, char **model, struct span settings)
{
	struct cassette *c = rd->c;
	struct cassette_source *list = reallocarray(c->sources, c->source_count + 1, sizeof *list);
	struct span *texts;
	struct settings *made = NULL;
	int r;

	if (!list)
		return -ENOMEM;
	c->sources = list;
	texts = reallocarray(c->source_texts, c->source_count + 1, sizeof *texts);
	if (!texts)
		return -ENOMEM;
	c->source_texts = texts;
	r = settings_of(settings, &made);
	if (r < 0)
		return r == -ENOMEM ? r : fail(rd, "the settings are not an object of strings");
	texts[c->source_count] = settings;
	list[c->source_count++] = (struct cassette_source){ STEAL(provider), STEAL(model), made };
	return 0;
}

static int find_source(struct reader *rd, size_t *out)
{
	struct cassette *c = rd->c;
	CLEANUP(free_p) char *provider = NULL;
	CLEANUP(free_p) char *model = NULL;
	struct span settings = SPAN("{}");
	size_t i;
	int r = take_text(rd, "provider", &provider);

	if (r == 0)
		r = take_text(rd, "model", &model);
	if (r < 0)
		return r;
	(void)!json_member(rd->line, "settings", &settings); /* none are as good as {} */
	for (i = 0; i < c->source_count; i++) {
		if (!strcmp(c->sources[i].provider, provider) &&
		    !strcmp(c->sources[i].model, model) && span_equal(c->source_texts[i], settings))
			break;
	}
	*out = i;
	return i < c->source_count ? 0 : add_source(rd, &provider, &model, settings);
}

static int add_call(struct reader *rd, struct span id, struct cassette_call **out)
{
	struct cassette *c = rd->c;
	struct cassette_call *list = reallocarray(c->calls, c->count + 1, sizeof *list);
	struct cassette_call *call;
	struct span body;
	int r;

	if (!list)
		return -ENOMEM;
	c->calls = list;
	call = &list[c->count];
	*call = (struct cassette_call){ .id = id, .line = rd->number };
	r = find_source(rd, &call->source);
	if (r < 0)
		return r;
	c->count++;
	*out = call;
	return json_member(rd->line, "body", &body) < 0 ? fail(rd, "the line has no body")
							: cassette_body(body, &call->body);
}

static int take_line(struct reader *rd)
{
	struct cassette *c = rd->c;
	struct cassette_call *call = NULL;
	struct attempt *list;
	struct span id;
	size_t i;
	int r = 0;

	if (rd->line.data[0] != '{' || json_member(rd->line, "call", &id) < 0)
		return fail(rd, "the line is not an exchange");
	for (i = c->count; i-- > 0 && !call;) {
		if (span_equal(c->calls[i].id, id))
			call = &c->calls[i];
	}
	if (!call)
		r = add_call(rd, id, &call);
	if (r < 0)
		return r;
	list = reallocarray(call->attempts, call->count + 1, sizeof *list);
	if (!list)
		return -ENOMEM;
	call->attempts = list;
	list[call->count++].line = rd->line;
	return 0;
}

/* Append the lines in canonical form to the cassette's text, where all spans point. */
static int canonical_lines(struct cassette *c, struct span text, struct err *err)
{
	int number = 1;
	int r = 0;

	for (; r == 0 && text.len; number++) {
		const char *end = memchr(text.data, '\n', text.len);
		size_t n = end ? (size_t)(end - text.data) : text.len;

		if (n)
			r = json_canonical_text(span_sub(text, 0, n), CASSETTE_DEPTH, &c->text,
						err);
		if (r == -EINVAL || r == -ENODATA)
			return err_set(err, -EINVAL, "%s:%d: the line is not JSON", c->file.name,
				       number);
		buf_char(&c->text, '\n');
		text = span_sub(text, n + (end != NULL), text.len);
	}
	return r < 0 ? r : buf_check(&c->text, NULL);
}

static int take_lines(struct cassette *c, struct err *err)
{
	struct reader rd = { .c = c, .err = err };
	struct span text = buf_span(&c->text);
	int r = 0;

	for (rd.number = 1; r == 0 && text.len; rd.number++) {
		size_t n = (size_t)((const char *)memchr(text.data, '\n', text.len) - text.data);

		rd.line = span_sub(text, 0, n);
		if (n)
			r = take_line(&rd);
		text = span_sub(text, n + 1, text.len);
	}
	return r;
}

static int cassette_parse(struct cached_file *file, struct span text, struct err *err)
{
	struct cassette *c = (struct cassette *)file;
	int r;

	mutex_init(&c->lock);
	r = canonical_lines(c, text, err);
	return r < 0 ? r : take_lines(c, err);
}

static struct file_cache cache = { .size = sizeof(struct cassette),
				   .max = CASSETTE_FILE_MAX,
				   .places = CACHE_MAX,
				   .parse = cassette_parse,
				   .release = cassette_release,
				   .lock = MUTEX_INIT };

int cassette_open(const char *folder, const char *name, struct cassette **out, struct err *err)
{
	struct cached_file *file;
	int r = file_cache_open(&cache, folder, name, &file, err);

	if (r == 0)
		*out = (struct cassette *)file;
	return r;
}

void cassette_unref(struct cassette *cassette)
{
	file_cache_unref(&cache, (struct cached_file *)cassette);
}

const struct cassette_source *cassette_sources(const struct cassette *cassette, size_t *count)
{
	*count = cassette->source_count;
	return cassette->sources;
}

/* Finding */

static struct cassette_call *take_locked(struct cassette *c, size_t source, struct span body)
	REQUIRES(c->lock);

static struct cassette_call *take_locked(struct cassette *c, size_t source, struct span body)
{
	struct cassette_call *first = NULL;
	size_t i;

	for (i = 0; i < c->count; i++) {
		struct cassette_call *call = &c->calls[i];

		if (call->source != source || !span_equal(buf_span(&call->body), body))
			continue;
		if (!call->is_taken)
			return call;
		if (!first)
			first = call;
	}
	for (i = 0; first && i < c->count; i++) {
		if (c->calls[i].source == source && span_equal(buf_span(&c->calls[i].body), body))
			c->calls[i].is_taken = false;
	}
	return first;
}

int cassette_take(struct cassette *cassette, const struct cassette_source *source, struct span body,
		  const struct cassette_call **out)
{
	struct cassette_call *call;

	mutex_lock(&cassette->lock);
	call = take_locked(cassette, (size_t)(source - cassette->sources), body);
	if (call)
		call->is_taken = true;
	mutex_unlock(&cassette->lock);
	*out = call;
	return call ? 0 : -ENOENT;
}

static size_t common_length(struct span a, struct span b)
{
	size_t n = 0;

	while (n < a.len && n < b.len && a.data[n] == b.data[n])
		n++;
	return n;
}

static const struct cassette_call *nearest(const struct cassette *c, struct span body)
{
	const struct cassette_call *found = NULL;
	size_t best = 0;
	size_t i;

	for (i = 0; i < c->count; i++) {
		size_t n = common_length(buf_span(&c->calls[i].body), body);

		if (!found || n > best) {
			found = &c->calls[i];
			best = n;
		}
	}
	return found;
}

/* Append the path of the first member that differs. False: none does. */
static bool add_difference(const json_t *a, const json_t *b, struct buf *path)
{
	size_t before = path->len;
	const char *key;
	json_t *value;
	size_t i;

	if (json_is_object(a) && json_is_object(b)) {
		/* jansson's loop wants a mutable object, but does not change it */
		json_object_foreach((json_t *)a, key, value)
		{
			buf_printf(path, "%s%s", before ? "." : "", key);
			if (add_difference(value, json_object_get(b, key), path))
				return true;
			path->len = before;
		}
		json_object_foreach((json_t *)b, key, value)
		{
			if (json_object_get(a, key))
				continue;
			buf_printf(path, "%s%s", before ? "." : "", key);
			return true;
		}
		return false;
	}
	if (json_is_array(a) && json_is_array(b)) {
		for (i = 0; i < MAX(json_array_size(a), json_array_size(b)); i++) {
			buf_printf(path, "[%zu]", i);
			if (add_difference(json_array_get(a, i), json_array_get(b, i), path))
				return true;
			path->len = before;
		}
		return false;
	}
	return !a || !b || !json_equal(a, b);
}

int cassette_differs(const struct cassette *cassette, struct span body, struct err *err)
{
	const struct cassette_call *call = nearest(cassette, body);
	CLEANUP(buf_release) struct buf path = { 0 };
	json_auto_t *asked = json_loadb(body.data, body.len, JSON_DECODE_ANY, NULL);
	json_auto_t *recorded = NULL;

	if (!call)
		return err_set(err, -ENOENT, "%.100s is empty", cassette->file.name);
	recorded = json_loadb(call->body.data, call->body.len, JSON_DECODE_ANY, NULL);
	if (!asked || !recorded || !add_difference(recorded, asked, &path) || !buf_cstr(&path))
		return err_set(err, -ENOENT, "%.100s has no such request", cassette->file.name);
	return err_set(err, -ENOENT,
		       "%.60s has no such request: %.100s differs from line %d, the nearest",
		       cassette->file.name, path.data, call->line);
}

int cassette_attempt(const struct cassette_player *player, unsigned number, struct span *line,
		     struct err *err)
{
	const struct cassette_call *call = player->call;

	if (number >= call->count)
		return err_set(err, -EINVAL, "%.100s:%d: only %zu attempts were recorded",
			       player->cassette->file.name, call->line, call->count);
	*line = call->attempts[number].line;
	return 0;
}

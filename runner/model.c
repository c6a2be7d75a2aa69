/*
 * Models: see model.h. The table of providers and the rules for asking again.
 */
#include "runner/model.h"

#include "base/clock.h"
#include "base/jsontext.h"
#include "base/name.h"
#include "runner/cassette.h"
#include "runner/http.h"
#include "runner/record.h"
#include "runner/stream.h"

#include <ctype.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>

#define RETRY_WAIT_MAX_MS 60000u       /* of what a server may ask us to wait */
#define BODY_QUOTE_MAX    200          /* bytes of a body that is not of the provider's form */
#define ANSWER_MAX        (256u << 20) /* bytes of a streamed answer, framing included */
#define KEY_MASK_MIN      8            /* shorter ones ("ollama") are no secrets */

static const struct model_provider *const providers[] = {
	&model_openai,
	&model_replay,
	&model_script,
};

/* How a model is asked: defaults, and the settings that change them. */
struct ask_options {
	unsigned retries;
	struct http_limits limits;
};

static const struct ask_option {
	const char *setting;
	size_t at;
	unsigned value; /* unless set */
	unsigned max;
} ask_options[] = {
	{ "ADKFS_MODEL_RETRIES", offsetof(struct ask_options, retries), 2, 10 },
	{ "ADKFS_MODEL_CONNECT_MS", offsetof(struct ask_options, limits.connect_ms), 10000,
	  600000 },
	{ "ADKFS_MODEL_FIRST_BYTE_MS", offsetof(struct ask_options, limits.first_byte_ms), 600000,
	  86400000 },
	{ "ADKFS_MODEL_IDLE_MS", offsetof(struct ask_options, limits.idle_ms), 120000, 86400000 },
};

void model_reply_release(struct model_reply *reply)
{
	content_free(reply->content);
	free(reply->finish_reason);
	free(reply->model_version);
	buf_release(&reply->usage);
	free(reply->error_code);
	free(reply->error_message);
	*reply = (struct model_reply){ 0 };
}

static int need_content(struct model_reply *reply)
{
	if (!reply->content)
		reply->content = content_new("model");
	return reply->content ? 0 : -ENOMEM;
}

int model_reply_text(struct model_reply *reply, struct span text, bool thought)
{
	int r;

	if (!text.len)
		return 0;
	r = need_content(reply);
	if (r == 0)
		r = content_add_text(reply->content, text, thought);
	if (r == 0 && reply->on_text)
		reply->on_text(reply->arg, text, thought);
	return r;
}

int model_reply_call(struct model_reply *reply, const char *id, const char *name, struct span args)
{
	int r = need_content(reply);

	if (id && !*id)
		id = NULL;
	return r < 0 ? r : content_add_function(reply->content, PART_CALL, id, name, args);
}

static int replace_text(char **where, const char *text)
{
	char *copy = strdup(text);

	if (!copy)
		return -ENOMEM;
	free(*where);
	*where = copy;
	return 0;
}

int model_reply_finish(struct model_reply *reply, const char *reason)
{
	return replace_text(&reply->finish_reason, reason);
}

int model_reply_error(struct model_reply *reply, const char *code, const char *message)
{
	int r = replace_text(&reply->error_code, code);

	return r < 0 || !message ? r : replace_text(&reply->error_message, message);
}

int model_reply_usage(struct model_reply *reply, const long long counts[MODEL_COUNTS])
{
	static const char *const names[MODEL_COUNTS] = {
		[MODEL_COUNT_CACHED] = "cachedContentTokenCount",
		[MODEL_COUNT_CANDIDATES] = "candidatesTokenCount",
		[MODEL_COUNT_PROMPT] = "promptTokenCount",
		[MODEL_COUNT_THOUGHTS] = "thoughtsTokenCount",
		[MODEL_COUNT_TOTAL] = "totalTokenCount",
	};
	struct buf *out = &reply->usage;
	const char *before = "{";
	size_t i;

	buf_clear(out);
	for (i = 0; i < MODEL_COUNTS; i++) {
		if (counts[i] < 0)
			continue;
		buf_printf(out, "%s\"%s\":%lld", before, names[i], counts[i]);
		before = ",";
	}
	if (out->len)
		buf_char(out, '}');
	return buf_check(out, NULL);
}

int model_wait(struct cancel *cancel, unsigned ms, struct err *err)
{
	uint64_t until = clock_monotonic() + (uint64_t)ms * NSEC_PER_MSEC;
	struct pollfd p = { .fd = cancel->fd, .events = POLLIN };
	uint64_t now;

	while (!cancel_fired(cancel) && ms && (now = clock_monotonic()) < until)
		(void)poll(&p, 1, (int)((until - now) / NSEC_PER_MSEC) + 1);
	return cancel_fired(cancel) ? err_set(err, -ECANCELED, "cancelled") : 0;
}

static int unknown_provider(const char *model, struct err *err)
{
	CLEANUP(buf_release) struct buf list = { 0 };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(providers); i++)
		buf_printf(&list, "%s%s/NAME", i ? ", " : "", providers[i]->name);
	if (!buf_cstr(&list))
		return err_nomem(err);
	return err_set(err, -EINVAL, "the model '%.80s' is not of the form %s", model, list.data);
}

static int find_provider(const char *name, const struct model_provider **out)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(providers); i++) {
		if (!strcmp(providers[i]->name, name)) {
			*out = providers[i];
			return 0;
		}
	}
	return -ENOENT;
}

int model_find(const char *model, const struct model_provider **provider, const char **name,
	       struct err *err)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(providers); i++) {
		size_t n = strlen(providers[i]->name);

		if (strncmp(model, providers[i]->name, n) == 0 && model[n] == '/' && model[n + 1]) {
			*provider = providers[i];
			*name = model + n + 1;
			return 0;
		}
	}
	return unknown_provider(model, err);
}

static int read_option(const struct settings *settings, const struct ask_option *o, unsigned *out,
		       struct err *err)
{
	const char *text = settings_get(settings, o->setting);
	char *end;
	unsigned long value;

	*out = o->value;
	if (!text)
		return 0;
	errno = 0;
	value = strtoul(text, &end, 10);
	if (!isdigit((unsigned char)*text) || *end || errno || value > o->max)
		return err_set(err, -EINVAL, "%s is not a number from 0 to %u", o->setting, o->max);
	*out = (unsigned)value;
	return 0;
}

static int read_options(const struct settings *settings, struct ask_options *out, struct err *err)
{
	int r = 0;
	size_t i;

	for (i = 0; r == 0 && i < ARRAY_SIZE(ask_options); i++) {
		unsigned *value = (unsigned *)(void *)((char *)out + ask_options[i].at);

		r = read_option(settings, &ask_options[i], value, err);
	}
	return r;
}

/* The key of the provider, or NULL when there is none that needs hiding. */
static const char *secret_of(const struct model_provider *provider, const struct settings *settings)
{
	const char *key = provider->key ? settings_get(settings, provider->key) : NULL;

	return key && strlen(key) >= KEY_MASK_MIN ? key : NULL;
}

/* A setting as people may see it. An address may hold a password in front of an '@'. */
static json_t *show_setting(const struct model_provider *provider, const char *name)
{
	const char *value = settings_get(NULL, name);
	const char *key = secret_of(provider, NULL);

	if (!value)
		return json_null();
	if ((provider->key && !strcmp(name, provider->key)) || strchr(value, '@') ||
	    (key && strstr(value, key)) || !name_is_utf8(span_of(value)))
		value = MODEL_KEY_MASK;
	return json_string(value);
}

static json_t *show_option(const struct ask_option *o)
{
	unsigned value;

	return read_option(NULL, o, &value, NULL) < 0 ? json_string("not a number")
						      : json_integer(value);
}

json_t *model_show_settings(void)
{
	json_t *all = json_object();
	const char *const *name;
	size_t i;
	int r = all ? 0 : -1;

	for (i = 0; r == 0 && i < ARRAY_SIZE(ask_options); i++)
		r = json_object_set_new(all, ask_options[i].setting, show_option(&ask_options[i]));
	for (i = 0; i < ARRAY_SIZE(providers); i++) {
		for (name = providers[i]->settings; r == 0 && name && *name; name++)
			r = json_object_set_new(all, *name, show_setting(providers[i], *name));
	}
	if (r == 0)
		return all;
	json_decref(all);
	return NULL;
}

/* Replace the key in a text from outside. */
static void mask(struct buf *text, const char *key)
{
	CLEANUP(buf_release) struct buf clean = { 0 };
	struct span rest = buf_span(text);
	size_t n = key ? strlen(key) : 0;
	const char *hit;

	if (!key || !memmem(rest.data, rest.len, key, n))
		return;
	while ((hit = memmem(rest.data, rest.len, key, n))) {
		buf_add(&clean, rest.data, (size_t)(hit - rest.data));
		buf_text(&clean, MODEL_KEY_MASK);
		rest = span_sub(rest, (size_t)(hit - rest.data) + n, rest.len);
	}
	buf_span_add(&clean, rest);
	buf_clear(text);
	text->failed = clean.failed;
	buf_span_add(text, buf_span(&clean));
}

/* An error is cut at its maximal length: the start of a key may be left at its end. */
static size_t cut_key(const char *text, const char *key)
{
	size_t len = strlen(text);
	size_t n = MIN(strlen(key), len);

	for (; n >= KEY_MASK_MIN / 2; n--) {
		if (memcmp(text + len - n, key, n) == 0)
			return len - n;
	}
	return len;
}

/* What leaves this file holds no key and ends with a whole character. */
static void tidy(struct err *err, const char *key)
{
	CLEANUP(buf_release) struct buf text = { 0 };
	bool cut;

	if (!err)
		return;
	buf_text(&text, err->text);
	mask(&text, key);
	if (!buf_cstr(&text))
		return;
	if (key)
		text.data[cut_key(text.data, key)] = 0;
	text.data[name_utf8_prefix(span_of(text.data), &cut)] = 0;
	(void)err_set(err, err->code, "%s", text.data);
}

static int tidy_reply(struct model_reply *reply, const char *key)
{
	CLEANUP(buf_release) struct buf text = { 0 };

	if (!key || !reply->error_message)
		return 0;
	buf_text(&text, reply->error_message);
	mask(&text, key);
	return buf_cstr(&text) ? replace_text(&reply->error_message, text.data) : -ENOMEM;
}

/* One attempt: its answer on the way through framing and decoder into the reply. */
struct exchange {
	const struct model_provider *provider;
	struct model_reply *reply;
	void *decoder;
	struct stream stream;
	bool started; /* the first byte that is not blank has come */
	size_t taken;
	struct err *err;
};

static int exchange_event(void *arg, struct span event)
{
	struct exchange *x = arg;

	return x->provider->decode(x->decoder, event, x->reply, x->err);
}

static int stream_failed(int r, struct err *err)
{
	if (r == -EMSGSIZE)
		return err_set(err, r, "the model service sent an event of more than %u bytes",
			       STREAM_EVENT_MAX);
	return r == -ENOMEM ? err_nomem(err) : r;
}

/* Servers ignore what was asked for: the first character tells a document from a stream. */
static void exchange_start(struct exchange *x, struct span *piece)
{
	enum stream_kind kind = STREAM_NDJSON;

	while (piece->len && strchr(" \t\r\n", piece->data[0]))
		*piece = span_sub(*piece, 1, piece->len);
	if (!piece->len)
		return;
	if (x->provider->framing == MODEL_SSE)
		kind = strchr("{[", piece->data[0]) ? STREAM_WHOLE : STREAM_SSE;
	stream_init(&x->stream, kind);
	x->started = true;
}

static int exchange_piece(void *arg, struct span piece)
{
	struct exchange *x = arg;

	x->taken += piece.len;
	if (x->taken > ANSWER_MAX)
		return err_set(x->err, -EMSGSIZE, "the answer is larger than %u bytes", ANSWER_MAX);
	if (!x->started)
		exchange_start(x, &piece);
	if (!piece.len)
		return 0;
	return stream_failed(stream_feed(&x->stream, piece, exchange_event, x), x->err);
}

static int exchange_end(struct exchange *x)
{
	int r = stream_failed(stream_end(&x->stream, exchange_event, x), x->err);

	return r ? r : x->provider->end(x->decoder, x->reply, x->err);
}

/*
 * The body of a 2xx answer is over, well or not. A connection that broke after
 * the end marker does no harm; before it, the break is what people should read.
 */
static int exchange_close(struct exchange *x, int r)
{
	struct err broken = x->err ? *x->err : (struct err){ 0 };
	int end;

	if (r != 0 && r != -ECONNRESET && r != -ETIMEDOUT)
		return r;
	end = exchange_end(x);
	if (end == 0 || r == 0)
		return end;
	if (x->err)
		*x->err = broken;
	return r;
}

static const struct status_text {
	int status;
	int r;
	const char *text; /* before the status in brackets */
} status_texts[] = {
	{ 400, -EINVAL, "the model service did not accept the request" },
	{ 402, -EACCES, "the model service wants to be paid" },
	{ 403, -EACCES, "the model service does not allow this" },
	{ 404, -ENOENT, "the model service does not know this model or address" },
	{ 413, -EFBIG, "the request is too large for the model service" },
	{ 422, -EINVAL, "the model service did not accept the request" },
	{ 429, -EBUSY, "the model service limits how much may be asked" },
};

static int say_status(int status, const struct model_provider *provider, bool has_key,
		      struct err *err)
{
	size_t i;

	if (status == 401 && provider->key && has_key)
		return err_set(err, -EACCES, "the key in %s was refused (401)", provider->key);
	if (status == 401 && provider->key)
		return err_set(err, -EACCES,
			       "the model service wants a key (401) and %s is not set",
			       provider->key);
	for (i = 0; i < ARRAY_SIZE(status_texts); i++) {
		if (status_texts[i].status == status)
			return err_set(err, status_texts[i].r, "%s (%d)", status_texts[i].text,
				       status);
	}
	return err_set(err, -EIO, "the model service answered %d", status);
}

/* The start of a body that is not JSON of the provider: an error page of a proxy. */
static void quote_body(struct span body, struct buf *message)
{
	CLEANUP(buf_release) struct buf quoted = { 0 };

	json_quote_lossy(&quoted, span_sub(body, 0, MIN(body.len, BODY_QUOTE_MAX)));
	if (buf_check(&quoted, NULL) < 0 || json_unquote(buf_span(&quoted), message) < 0)
		buf_clear(message);
}

static int refused(const struct model_provider *provider, const struct settings *settings,
		   const struct http_answer *answer, struct err *err)
{
	CLEANUP(buf_release) struct buf message = { 0 };
	struct span body = buf_span(&answer->error_body);
	bool has_key = provider->key && settings_get(settings, provider->key);
	struct err status = { 0 };

	(void)say_status(answer->status, provider, has_key, &status);
	if (!provider->error_message(body, &message))
		quote_body(body, &message);
	mask(&message, secret_of(provider, settings));
	if (!message.len || !buf_cstr(&message))
		return err_set(err, status.code, "%s", status.text);
	return err_set(err, status.code, "%s: %s", status.text, message.data);
}

/* Words in the body of an error that asking again does not change. */
static bool is_final(const struct http_answer *answer)
{
	static const char *const words[] = { "\"insufficient_quota\"", "\"billing_error\"" };
	struct span body = buf_span(&answer->error_body);
	size_t i;

	for (i = 0; i < ARRAY_SIZE(words); i++) {
		if (memmem(body.data, body.len, words[i], strlen(words[i])))
			return true;
	}
	return false;
}

static bool is_passing(int status)
{
	static const int passing[] = { 408, 409, 429, 500, 502, 503, 504, 529 };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(passing); i++) {
		if (passing[i] == status)
			return true;
	}
	return false;
}

/* r is how the attempt ended. */
static bool may_retry(const struct http_answer *answer, int r)
{
	if (answer->got_body || r == -ECANCELED)
		return false;
	if (answer->status >= 400) {
		if (strcasecmp(answer->should_retry, "true") == 0)
			return true;
		if (strcasecmp(answer->should_retry, "false") == 0)
			return false;
		return is_passing(answer->status) && !is_final(answer);
	}
	return r == -ECONNREFUSED || r == -ECONNRESET || r == -EPROTO;
}

/* "2", "0.5" or an HTTP date, in milliseconds; below 0: neither. */
static double parse_wait(const char *text, double unit)
{
	struct tm tm = { 0 };
	char *end;
	double value;

	if (isdigit((unsigned char)*text)) {
		value = strtod(text, &end) * unit;
		return *end || !(value >= 0) ? -1 : value;
	}
	end = *text ? strptime(text, "%a, %d %b %Y %H:%M:%S GMT", &tm) : NULL;
	if (!end || *end)
		return -1;
	value = (double)(timegm(&tm) - clock_now() / USEC_PER_SEC) * 1000;
	return MAX(value, 0);
}

static double random_fraction(void)
{
	uint32_t bits = 0;

	/* Without randomness the wait is the longest one: nothing breaks. */
	if (getrandom(&bits, sizeof bits, GRND_NONBLOCK) != sizeof bits)
		return 0;
	return (double)bits / UINT32_MAX;
}

/* How long to wait after the failed attempt number n, counted from 0. */
static unsigned retry_wait(const struct http_answer *answer, unsigned n)
{
	double ms = parse_wait(answer->retry_after_ms, 1);

	if (ms < 0)
		ms = parse_wait(answer->retry_after, 1000);
	if (ms < 0)
		ms = MIN(500.0 * (1u << MIN(n, 10)), 8000.0) * (1 - random_fraction() / 4);
	return (unsigned)MIN(ms, RETRY_WAIT_MAX_MS);
}

/* One question, the same for all its attempts. */
struct question {
	const struct model_provider *provider;
	const struct model_request *rq;
	struct cancel *cancel;
	struct ask_options options;
	struct http_request http;
	struct cassette_player player; /* in place of the network; call NULL: none */
	char call[48];                 /* its id, for recordings */
	struct buf settings;           /* as a recording has them; empty: it is not recorded */
};

static void question_release(struct question *q)
{
	http_request_release(&q->http);
	buf_release(&q->settings);
}

/* Over the network, or from a cassette. */
static int send_request(struct question *q, unsigned n, struct exchange *x,
			struct http_answer *answer)
{
	struct record record = { .call = q->call,
				 .attempt = n,
				 .provider = q->provider->name,
				 .model = q->rq->name,
				 .agent = q->rq->folder,
				 .settings = buf_span(&q->settings),
				 .key = secret_of(q->provider, q->rq->settings) };

	if (q->player.call)
		return cassette_play(&q->player, n, q->cancel, exchange_piece, x, answer, x->err);
	return record_send(&record, &q->http, &q->options.limits, q->cancel, exchange_piece, x,
			   answer, x->err);
}

static int attempt(struct question *q, unsigned n, struct model_reply *reply,
		   struct http_answer *answer, struct err *err)
{
	struct exchange x = { .provider = q->provider, .reply = reply, .err = err };
	int r;

	x.decoder = q->provider->decoder_new();
	if (!x.decoder)
		return err_nomem(err);
	r = send_request(q, n, &x, answer);
	if (answer->status >= 200 && answer->status <= 299)
		r = exchange_close(&x, r);
	else if (r == 0)
		r = refused(q->provider, q->rq->settings, answer, err);
	q->provider->decoder_free(x.decoder);
	stream_release(&x.stream);
	return r;
}

/* Attempts until one is right, or wrong for good. *n counts those that failed before. */
static int attempts(struct question *q, struct model_reply *reply, unsigned *n, struct err *err)
{
	int r;

	for (*n = 0;; ++*n) {
		CLEANUP(http_answer_release) struct http_answer answer = { 0 };

		r = attempt(q, *n, reply, &answer, err);
		if (r == 0 || *n == q->options.retries || !may_retry(&answer, r))
			return r;
		r = model_wait(q->cancel, q->player.call ? 0 : retry_wait(&answer, *n), err);
		if (r < 0)
			return r;
	}
}

static int ask_http(struct question *q, struct model_reply *reply, struct err *err)
{
	const char *key = secret_of(q->provider, q->rq->settings);
	unsigned n = 0;
	int r = read_options(q->rq->settings, &q->options, err);

	if (r == 0)
		r = q->provider->encode(q->rq, &q->http, err);
	if (r == 0 && record_where()) {
		clock_new_id(q->call, "");
		r = record_settings(q->provider, q->rq->settings, &q->http, &q->settings);
		r = r < 0 ? err_nomem(err) : 0;
	}
	if (r == 0)
		r = attempts(q, reply, &n, err);
	if (r < 0 && r != -ECANCELED && n)
		(void)err_wrap(err, "after %u attempts", n + 1);
	return tidy_reply(reply, key) < 0 ? err_nomem(err) : r;
}

/* Ask as one of a cassette was asked. -ENOENT: that gives another request. */
static int try_source(struct question *q, struct cassette *cassette,
		      const struct cassette_source *source, struct buf *body, struct err *err)
{
	int r;

	http_request_release(&q->http);
	buf_clear(body);
	r = find_provider(source->provider, &q->provider);
	if (r < 0 || !q->provider->encode)
		return err_set(
			err, -EINVAL,
			"the cassette has answers of the provider '%.40s', which is not known",
			source->provider);
	r = q->provider->encode(q->rq, &q->http, err);
	if (r == 0)
		r = cassette_body(buf_span(&q->http.body), body);
	if (r == 0)
		r = cassette_take(cassette, source, buf_span(body), &q->player.call);
	return r == -ENOMEM ? err_nomem(err) : r;
}

static int replay(struct question *q, struct cassette *cassette, struct model_reply *reply,
		  struct err *err)
{
	struct model_request rq = *q->rq;
	CLEANUP(buf_release) struct buf body = { 0 };
	const struct cassette_source *sources;
	size_t count;
	size_t i;
	unsigned n = 0;
	int r = read_options(rq.settings, &q->options, err);

	if (r < 0)
		return r;
	q->rq = &rq;
	q->player.cassette = cassette;
	sources = cassette_sources(cassette, &count);
	r = -ENOENT;
	for (i = 0; r == -ENOENT && i < count; i++) {
		rq.name = sources[i].model;
		rq.settings = sources[i].settings;
		r = try_source(q, cassette, &sources[i], &body, err);
	}
	if (r == -ENOENT)
		return cassette_differs(cassette, buf_span(&body), err);
	if (r == 0)
		r = attempts(q, reply, &n, err);
	if (r < 0 && r != -ECANCELED && n)
		(void)err_wrap(err, "after %u attempts", n + 1);
	return r;
}

/* "FILE" or "FILE?paced". */
static int ask_cassette(struct question *q, struct model_reply *reply, struct err *err)
{
	CLEANUP(cassette_unref_p) struct cassette *cassette = NULL;
	CLEANUP(buf_release) struct buf file = { 0 };
	struct span name = span_of(q->rq->name);
	struct span mark = SPAN("?paced");
	int r;

	q->player.paced = name.len > mark.len &&
			  span_equal(span_sub(name, name.len - mark.len, name.len), mark);
	buf_span_add(&file, span_sub(name, 0, name.len - (q->player.paced ? mark.len : 0)));
	if (!buf_cstr(&file))
		return err_nomem(err);
	r = cassette_open(q->rq->folder, file.data, &cassette, err);
	return r < 0 ? r : replay(q, cassette, reply, err);
}

int model_ask(const char *model, struct model_request *rq, struct cancel *cancel,
	      struct model_reply *reply, struct err *err)
{
	CLEANUP(question_release) struct question q = { .rq = rq, .cancel = cancel };
	int r = model_find(model, &q.provider, &rq->name, err);

	if (r < 0)
		return r;
	if (q.provider->generate)
		r = q.provider->generate(rq, cancel, reply, err);
	else if (q.provider->replays)
		r = ask_cassette(&q, reply, err);
	else
		r = ask_http(&q, reply, err);
	if (r < 0)
		tidy(err, secret_of(q.provider, rq->settings));
	return r;
}

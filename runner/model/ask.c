/*
 * Models: see ask.h. The table of providers and the rules for asking again.
 */
#include "runner/model/ask.h"

#include "base/clock.h"
#include "base/json_text.h"
#include "base/net/http.h"
#include "base/utf8.h"
#include "runner/model/exchange.h"
#include "runner/model/record.h"
#include "runner/model/replay.h"
#include "runner/model/retry.h"
#include "runner/model/settings.h"
#include "runner/settings/command.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

/* The first that a name fits; responses before openai, whose name it begins with. */
static const struct model_provider *const providers[] = {
	&model_anthropic,   &model_azure,      &model_deepseek,    &model_fireworks_ai,
	&model_gemini,      &model_groq,       &model_hosted_vllm, &model_litellm_proxy,
	&model_lm_studio,   &model_mistral,    &model_ollama,      &model_responses,
	&model_openai,      &model_openrouter, &model_replay,      &model_script,
	&model_together_ai, &model_vertex_ai,  &model_xai,
};

const struct model_provider *const *model_providers(size_t *count)
{
	*count = ARRAY_SIZE(providers);
	return providers;
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

/* What is behind a prefix and a slash; NULL: the model does not begin so. */
static const char *behind(const char *model, const char *prefix)
{
	size_t n = strlen(prefix);

	return strncmp(model, prefix, n) == 0 && model[n] == '/' && model[n + 1] ? model + n + 1
										 : NULL;
}

/* The name of the model that a provider is asked for; NULL: it is another one's. */
static const char *name_for(const struct model_provider *provider, const char *model)
{
	const char *name = behind(model, provider->name);
	const char *const *word;

	for (word = provider->spellings; !name && word && *word; word++)
		name = behind(model, *word);
	for (word = provider->bare; !name && word && *word; word++)
		name = strncmp(model, *word, strlen(*word)) == 0 ? model : NULL;
	return name;
}

int model_find(const char *model, const struct model_provider **provider, const char **name,
	       struct err *err)
{
	const char *slash;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(providers); i++) {
		const char *found = name_for(providers[i], model);

		if (!found)
			continue;
		*provider = providers[i];
		*name = found;
		return 0;
	}
	slash = strchr(model, '/');
	if (slash && slash > model && slash[1])
		return err_set(err, -EINVAL,
			       "the model '%.80s' has the provider '%.*s', which is not known; "
			       "docs/models.md lists the providers",
			       model, (int)MIN(slash - model, 40), model);
	return err_set(err, -EINVAL,
		       "the model '%.80s' is not of the form PROVIDER/NAME, such as openai/NAME; "
		       "docs/models.md lists the providers",
		       model);
}

const struct model_provider *model_settle(const struct model_request *rq)
{
	return rq->provider->instead ? rq->provider->instead(rq) : rq->provider;
}

/* Of one that cannot be played nothing is asked: model_ask() says why. */
static bool recorded_takes_schema(const struct model_request *rq)
{
	CLEANUP(cassette_unref_p) struct cassette *cassette = NULL;
	const struct model_provider *provider;
	const struct cassette_source *sources;
	size_t count = 0;
	bool paced;

	if (model_replay_open(rq->folder, rq->name, &cassette, &paced, NULL) < 0)
		return true;
	sources = cassette_sources(cassette, &count);
	return !count || find_provider(sources[0].provider, &provider) < 0 ||
	       provider->schema_with_tools;
}

bool model_takes_schema(const struct model_request *rq)
{
	return rq->provider->replays ? recorded_takes_schema(rq)
				     : model_settle(rq)->schema_with_tools;
}

/* A name that was cut in the middle of a text leaves a part of a character: it goes. */
static void drop_broken(char *text)
{
	struct span rest = span_of(text);

	while (rest.len) {
		size_t n = utf8_prefix(rest, NULL);

		memmove(text, rest.data, n);
		text += n;
		rest = span_sub(rest, MIN(n + 1, rest.len), rest.len);
	}
	*text = 0;
}

/* What leaves this file holds no secret and whole characters only. */
static void tidy(struct err *err, const struct secrets *secrets)
{
	CLEANUP(buf_release) struct buf text = { 0 };

	if (!err)
		return;
	buf_text(&text, err->text);
	secrets_mask(secrets, &text);
	if (!buf_cstr(&text)) {
		(void)err_nomem(err);
		return;
	}
	text.data[secrets_cut(secrets, text.data)] = 0;
	drop_broken(text.data);
	(void)err_set(err, err->code, "%s", text.data);
}

static int tidy_reply(struct model_reply *reply, const struct secrets *secrets)
{
	CLEANUP(buf_release) struct buf text = { 0 };

	if (!secrets->count || !reply->error_message)
		return 0;
	buf_text(&text, reply->error_message);
	secrets_mask(secrets, &text);
	return buf_cstr(&text) ? model_reply_error(reply, reply->error_code, text.data) : -ENOMEM;
}

/* One question, the same for all its attempts. */
struct question {
	struct model_request *rq;
	struct cancel *cancel;
	struct secrets secrets; /* that the answer may bring back */
	struct model_ask_options options;
	struct http_request http;
	struct cassette_player player; /* in place of the network; call NULL: none */
	char call[48];                 /* its id, for recordings */
	struct buf settings;           /* as a recording has them; empty: it is not recorded */
	const struct settings *base;   /* without a key that a command gave */
	struct settings *own;          /* on top of others: the key that a command gave, or NULL */
	bool refreshed;                /* that key was asked for again */
};

static void question_release(struct question *q)
{
	http_request_release(&q->http);
	buf_release(&q->settings);
	settings_free(q->own);
}

/* Over the network, or from a cassette. */
static int send_request(struct question *q, unsigned n, struct model_exchange *x,
			struct http_answer *answer)
{
	struct record record = { .call = q->call,
				 .attempt = n,
				 .provider = q->rq->provider->name,
				 .model = q->rq->name,
				 .agent = q->rq->folder,
				 .settings = buf_span(&q->settings),
				 .secrets = &q->secrets };

	if (q->player.call)
		return cassette_play(&q->player, n, q->cancel, model_exchange_piece, x, answer,
				     x->err);
	return record_send(&record, &q->http, &q->options.limits, q->cancel, model_exchange_piece,
			   x, answer, x->err);
}

static int attempt(struct question *q, unsigned n, struct model_reply *reply,
		   struct http_answer *answer, struct err *err)
{
	CLEANUP(model_exchange_release) struct model_exchange x = { 0 };
	int r = model_exchange_init(&x, q->rq->provider, reply, err);

	if (r < 0)
		return r;
	r = send_request(q, n, &x, answer);
	if (answer->status >= 200 && answer->status <= 299)
		return model_exchange_close(&x, r);
	if (r == 0 || (answer->status >= 300 && model_exchange_broke(r))) /* the status counts */
		return model_refused(q->rq, &q->http, answer, err);
	return r;
}

/* Ask with a key on top of the settings. */
static int use_key(struct question *q, const char *name, const char *key)
{
	CLEANUP(settings_free_p) struct settings *own = NULL;
	int r = settings_over(q->base, &own);

	if (r == 0)
		r = settings_put(own, span_of(name), span_of(key));
	if (r < 0)
		return r;
	q->rq->settings = own;
	q->secrets = (struct secrets){ 0 };
	settings_free(q->own);
	q->own = STEAL(&own);
	return 0;
}

/* Use the key that a command gives, and not the refused one. */
static int run_command(struct question *q, const char *refused, struct err *err)
{
	const char *name;
	const char *command = model_key_command(q->rq->provider, q->base, &name);
	char *key = NULL;
	int r = key_command_run(command, refused, q->cancel, &key, err);

	if (r == -ECANCELED)
		return r;
	if (r < 0)
		return err_wrap(err, "the command for %s", name);
	r = use_key(q, name, key);
	explicit_bzero(key, strlen(key));
	free(key);
	return r < 0 ? err_nomem(err) : 0;
}

/* The request as it goes out, with all that the settings say. */
static int prepare(struct question *q, struct err *err)
{
	int r;

	http_request_release(&q->http);
	q->secrets = (struct secrets){ 0 };
	model_secrets(q->rq->provider, q->rq->settings, &q->secrets);
	r = q->rq->provider->encode(q->rq, &q->http, err);
	if (r == 0)
		r = model_settings_apply(q->rq->provider, q->rq->settings, &q->http, err);
	return r == -ENOMEM ? err_nomem(err) : r;
}

/* The request anew with another key than the one that was not accepted. */
static bool take_fresh_key(struct question *q)
{
	CLEANUP(settings_wipe) struct buf refused = { 0 };
	struct err err;

	buf_text(&refused, model_key(q->rq->provider, q->own));
	return buf_cstr(&refused) && run_command(q, refused.data, &err) == 0 &&
	       prepare(q, &err) == 0;
}

/* Whether to ask with another key, once: a command has it, or had it when this was recorded. */
static bool refresh_key(struct question *q, unsigned n, const struct http_answer *answer)
{
	struct span line;

	if (!model_key_refused(answer) || q->refreshed)
		return false;
	if (q->player.call)
		q->refreshed = cassette_attempt(&q->player, n + 1, &line, NULL) == 0;
	else
		q->refreshed = q->own && take_fresh_key(q);
	return q->refreshed;
}

/* Attempts until one is right, or wrong for good. *n counts those that failed before. */
static int attempts(struct question *q, struct model_reply *reply, unsigned *n, struct err *err)
{
	int r;

	for (*n = 0;; ++*n) {
		CLEANUP(http_answer_release) struct http_answer answer = { 0 };

		r = attempt(q, *n, reply, &answer, err);
		if (r == 0 || r == -ECANCELED)
			return r;
		if (refresh_key(q, *n, &answer))
			continue;
		if (*n >= q->options.retries + q->refreshed || !model_may_retry(&answer, r))
			return r;
		r = model_wait(q->cancel,
			       q->player.call ? 0 : model_retry_wait(q->rq->provider, &answer, *n),
			       err);
		if (r < 0)
			return r;
	}
}

static int start_recording(struct question *q, struct err *err)
{
	clock_new_id(q->call, "");
	return record_settings(q->rq->provider, q->rq->settings, &q->http, &q->settings) < 0
		       ? err_nomem(err)
		       : 0;
}

static int ask_http(struct question *q, struct model_reply *reply, struct err *err)
{
	struct model_request rq = *q->rq;
	const char *name;
	unsigned n = 0;
	int r = model_ask_options_read(rq.settings, &q->options, err);

	q->rq = &rq;
	q->base = rq.settings;
	if (r == 0 && model_key_command(rq.provider, rq.settings, &name))
		r = run_command(q, NULL, err);
	if (r == 0)
		r = prepare(q, err);
	if (r == 0 && record_where())
		r = start_recording(q, err);
	if (r == 0)
		r = attempts(q, reply, &n, err);
	if (r < 0 && r != -ECANCELED && n)
		(void)err_wrap(err, "after %u attempts", n + 1);
	return tidy_reply(reply, &q->secrets) < 0 ? err_nomem(err) : r;
}

/* Ask as one of a cassette was asked. -ENOENT: that gives another request. */
static int try_source(struct question *q, struct cassette *cassette,
		      const struct cassette_source *source, struct buf *body, struct err *err)
{
	int r;

	http_request_release(&q->http);
	buf_clear(body);
	r = find_provider(source->provider, &q->rq->provider);
	if (r < 0 || !q->rq->provider->encode)
		return err_set(
			err, -EINVAL,
			"the cassette has answers of the provider '%.40s', which is not known",
			source->provider);
	r = q->rq->provider->encode(q->rq, &q->http, err);
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
	int r = model_ask_options_read(rq.settings, &q->options, err);

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

static int ask_cassette(struct question *q, struct model_reply *reply, struct err *err)
{
	CLEANUP(cassette_unref_p) struct cassette *cassette = NULL;
	int r = model_replay_open(q->rq->folder, q->rq->name, &cassette, &q->player.paced, err);

	return r < 0 ? r : replay(q, cassette, reply, err);
}

int model_ask(const char *model, struct model_request *rq, struct cancel *cancel,
	      struct model_reply *reply, struct err *err)
{
	CLEANUP(question_release) struct question q = { .rq = rq, .cancel = cancel };
	int r = model_find(model, &rq->provider, &rq->name, err);

	if (r < 0)
		return r;
	rq->provider = model_settle(rq);
	model_secrets(rq->provider, rq->settings, &q.secrets);
	if (rq->provider->generate)
		r = rq->provider->generate(rq, cancel, reply, err);
	else if (rq->provider->replays)
		r = ask_cassette(&q, reply, err);
	else
		r = ask_http(&q, reply, err);
	if (r < 0)
		tidy(err, &q.secrets);
	return r;
}

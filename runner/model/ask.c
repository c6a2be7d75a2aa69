/*
 * Asking a model: see ask.h.
 */
#include "runner/model/ask.h"

#include "base/clock.h"
#include "base/json_text.h"
#include "base/name.h"
#include "base/net/http.h"
#include "base/utf8.h"
#include "runner/model/exchange.h"
#include "runner/model/options.h"
#include "runner/model/record.h"
#include "runner/model/replay.h"
#include "runner/model/retry.h"
#include "runner/model/settings.h"
#include "runner/settings/command.h"
#include "runner/wire/key.h"

#include <errno.h>
#include <stdlib.h>

/* Drop the bytes of characters that a format with a maximal length cut apart. */
static void broken_drop(char *text)
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

/* An error that leaves this file holds no secret, and whole characters only. */
static void err_tidy(struct err *err, const struct secrets *secrets)
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
	broken_drop(text.data);
	(void)err_set(err, err->code, "%s", text.data);
}

static int reply_tidy(struct model_reply *reply, const struct secrets *secrets)
{
	CLEANUP(buf_release) struct buf text = { 0 };

	if (!secrets->count || !reply->error_message)
		return 0;
	buf_text(&text, reply->error_message);
	secrets_mask(secrets, &text);
	return buf_cstr(&text) ? model_reply_error(reply, reply->error_code, text.data) : -ENOMEM;
}

/* A question and all its attempts. */
struct ask {
	struct question q;
	struct cancel *cancel;
	struct secrets secrets; /* hidden in errors and recordings */
	struct model_ask_options options;
	struct http_request http;
	struct cassette *cassette;     /* played in place of the network; NULL: none */
	struct cassette_player player; /* of that cassette */
	char call[48];                 /* the id of the question, for recordings */
	struct buf settings;           /* for the recording; empty: nothing is recorded */
	const struct settings *base;   /* the settings without a key that a command gave */
	struct settings *own;          /* the key that a command gave, on top; NULL: none */
	bool refreshed;                /* the command was run a second time */
};

static void ask_release(struct ask *a)
{
	http_request_release(&a->http);
	buf_release(&a->settings);
	settings_free(a->own);
	cassette_unref(a->cassette);
}

/* Keys that a command gives */

/* Put a key on top of the settings. */
static int key_put(struct ask *a, const char *name, const char *key)
{
	CLEANUP(settings_free_p) struct settings *own = NULL;
	int r = settings_over(a->base, &own);

	if (r == 0)
		r = settings_put(own, span_of(name), span_of(key));
	if (r < 0)
		return r;
	a->q.settings = own;
	a->secrets = (struct secrets){ 0 };
	settings_free(a->own);
	a->own = STEAL(&own);
	return 0;
}

/* Use the key that a command gives, if that is not the refused one. */
static int key_run(struct ask *a, const char *refused, struct err *err)
{
	const char *name;
	const char *command = model_key_command(a->q.provider, a->base, &name);
	char *key = NULL;
	int r = key_command_run(command, refused, a->cancel, &key, err);

	if (r == -ECANCELED)
		return r;
	if (r < 0)
		return err_wrap(err, "the command for %s", name);
	r = key_put(a, name, key);
	secret_free(key);
	return r < 0 ? err_nomem(err) : 0;
}

/* Make the request, with everything that the settings add. */
static int request_make(struct ask *a, struct err *err)
{
	int r;

	http_request_release(&a->http);
	a->secrets = (struct secrets){ 0 };
	model_secrets(a->q.provider, a->q.settings, &a->secrets);
	r = a->q.provider->encode(&a->q, &a->http, err);
	if (r == 0)
		r = model_settings_apply(a->q.provider, a->q.settings, &a->http, err);
	return r == -ENOMEM ? err_nomem(err) : r;
}

/*
 * Whether to ask with another key, which happens once: a command gives one, or
 * gave one when the cassette was recorded.
 */
static bool key_refresh(struct ask *a, unsigned n, const struct http_answer *answer)
{
	CLEANUP(secret_wipe) struct buf refused = { 0 };
	struct err err;
	struct span line;

	if (!model_key_refused(answer) || a->refreshed)
		return false;
	if (a->player.call) {
		a->refreshed = cassette_attempt(&a->player, n + 1, &line, NULL) == 0;
	} else if (a->own) {
		buf_text(&refused, model_key(a->q.provider, a->own));
		a->refreshed = buf_cstr(&refused) && key_run(a, refused.data, &err) == 0 &&
			       request_make(a, &err) == 0;
	}
	return a->refreshed;
}

/* Attempts */

static int attempt(struct ask *a, unsigned n, struct model_reply *reply, struct http_answer *answer,
		   struct err *err)
{
	CLEANUP(model_exchange_release) struct model_exchange x = { 0 };
	struct record record = { .call = a->call,
				 .attempt = n,
				 .provider = a->q.provider->name,
				 .model = a->q.name,
				 .agent = a->q.folder,
				 .settings = buf_span(&a->settings),
				 .secrets = &a->secrets };
	int r = model_exchange_init(&x, a->q.provider, reply, err);

	if (r < 0)
		return r;
	answer->on_body = model_exchange_piece;
	answer->arg = &x;
	if (a->player.call)
		r = cassette_play(&a->player, n, a->cancel, answer, err);
	else
		r = record_send(&record, &a->http, &a->options.limits, a->cancel, answer, err);
	if (answer->status >= 200 && answer->status <= 299)
		return model_exchange_close(&x, r);
	if (r == 0 || (answer->status >= 300 && model_exchange_broke(r))) /* the status says more */
		return model_refused(&a->q, &a->http, answer, err);
	return r;
}

/* Make attempts until one succeeds, or fails for good. */
static int attempts(struct ask *a, struct model_reply *reply, struct err *err)
{
	unsigned n = 0;
	int r;

	for (;; n++) {
		CLEANUP(http_answer_release) struct http_answer answer = { 0 };
		unsigned ms;

		r = attempt(a, n, reply, &answer, err);
		if (r == 0 || r == -ECANCELED)
			break;
		if (key_refresh(a, n, &answer))
			continue;
		if (n >= a->options.retries + a->refreshed || !model_may_retry(&answer, r))
			break;
		ms = a->player.call ? 0 : model_retry_wait(a->q.provider, &answer, n);
		r = cancel_wait(a->cancel, ms, err);
		if (r < 0)
			break;
	}
	if (r < 0 && r != -ECANCELED && n)
		(void)err_wrap(err, "after %u attempts", n + 1);
	return reply_tidy(reply, &a->secrets) < 0 ? err_nomem(err) : r;
}

/* Make all that attempts over the network need. */
static int service_prepare(struct ask *a, struct err *err)
{
	const char *name;
	int r = model_ask_options_read(a->q.settings, &a->options, err);

	a->base = a->q.settings;
	if (r == 0 && model_key_command(a->q.provider, a->q.settings, &name))
		r = key_run(a, NULL, err);
	if (r == 0)
		r = request_make(a, err);
	if (r < 0 || !record_where())
		return r;
	clock_new_id(a->call, "");
	r = record_settings(a->q.provider, a->q.settings, &a->http, &a->settings);
	return r < 0 ? err_nomem(err) : 0;
}

/* Ask as one source of a cassette was asked. -ENOENT: that makes another request. */
static int source_try(struct ask *a, const struct cassette_source *source, struct buf *body,
		      struct err *err)
{
	int r = model_provider_find(source->provider, &a->q.provider);

	if (r < 0 || !a->q.provider->encode)
		return err_set(
			err, -EINVAL,
			"the cassette has answers of the provider '%.40s', which is not known",
			source->provider);
	a->q.name = source->model;
	a->q.settings = source->settings;
	http_request_release(&a->http);
	buf_clear(body);
	r = a->q.provider->encode(&a->q, &a->http, err);
	if (r == 0)
		r = cassette_body(buf_span(&a->http.body), body);
	if (r == 0)
		r = cassette_take(a->cassette, source, buf_span(body), &a->player.call);
	return r == -ENOMEM ? err_nomem(err) : r;
}

/* Find the call of a cassette that the question makes again. */
static int cassette_prepare(struct ask *a, struct err *err)
{
	CLEANUP(buf_release) struct buf body = { 0 };
	const struct cassette_source *sources;
	size_t count;
	size_t i;
	int r = model_replay_open(a->q.folder, a->q.name, &a->cassette, &a->player.paced, err);

	if (r == 0)
		r = model_ask_options_read(a->q.settings, &a->options, err);
	if (r < 0)
		return r;
	a->player.cassette = a->cassette;
	sources = cassette_sources(a->cassette, &count);
	r = -ENOENT;
	for (i = 0; r == -ENOENT && i < count; i++)
		r = source_try(a, &sources[i], &body, err);
	return r == -ENOENT ? cassette_differs(a->cassette, buf_span(&body), err) : r;
}

int model_ask(const char *model, struct question *q, struct cancel *cancel,
	      struct model_reply *reply, struct err *err)
{
	CLEANUP(ask_release) struct ask a = { .cancel = cancel };
	int r = model_find(model, &q->provider, &q->name, err);

	if (r < 0)
		return r;
	q->provider = model_settle(q);
	a.q = *q;
	model_secrets(q->provider, q->settings, &a.secrets);
	if (q->provider->generate) {
		r = q->provider->generate(q, cancel, reply, err);
	} else {
		r = q->provider->replays ? cassette_prepare(&a, err) : service_prepare(&a, err);
		if (r == 0)
			r = attempts(&a, reply, err);
	}
	if (r < 0)
		err_tidy(err, &a.secrets);
	return r;
}

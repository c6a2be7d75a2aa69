/*
 * The provider "openai": chat completions of OpenAI and of servers that speak
 * the same protocol (Ollama, llama.cpp, vLLM, gateways).
 *
 * This file makes the request and says where it goes. Its JSON is written as
 * text, because arguments and results of calls are JSON text already and have
 * to stay as they are.
 */
#include "runner/model_openai.h"

#include "runner/http.h"
#include "runner/jsonput.h"
#include "runner/model_schema.h"
#include "runner/model_settings.h"

#include <ctype.h>
#include <errno.h>
#include <strings.h>

#define BASE_URL          "https://api.openai.com/v1"
#define BASE_HOST         "https://api.openai.com"
#define SETTING_KEY       "OPENAI_API_KEY"
#define SETTING_BASE_URL  "OPENAI_BASE_URL"
#define SETTING_MAX_FIELD "OPENAI_MAX_TOKENS_FIELD"
#define SETTING_ORG       "OPENAI_ORG_ID"
#define SETTING_PROJECT   "OPENAI_PROJECT"

/* Where to ask. */
struct endpoint {
	struct span base; /* without a slash at the end */
	bool official;    /* OpenAI itself */
	const char *max_tokens;
};

/* A request while it is written. */
struct encoder {
	const struct model_request *rq;
	struct endpoint at;
	struct buf *out;
	struct err *err;
};

const struct model_name_rule openai_names = { "openai", "", 64 };

/* Models named o1, o3, ... take their instructions from the "developer". */
static const char *system_role(const struct encoder *e)
{
	const char *name = e->rq->name;

	return e->at.official && name[0] == 'o' && isdigit((unsigned char)name[1]) ? "developer"
										   : "system";
}

/* Some servers want `parameters` also where there are none. */
static int put_tool(struct encoder *e, const struct model_tool *tool)
{
	CLEANUP(buf_release) struct buf name = { 0 };
	int r = model_name_encode(&openai_names, tool->name, &name, e->err);

	if (r < 0)
		return r;
	jsonput_item(e->out);
	buf_text(e->out, "{\"type\":\"function\",\"function\":{");
	jsonput_text(e->out, "name", buf_span(&name));
	if (tool->description && *tool->description)
		jsonput_text(e->out, "description", span_of(tool->description));
	jsonput_key(e->out, "parameters");
	if (tool->parameters)
		r = model_schema_put(tool->parameters, e->out);
	else
		buf_text(e->out, "{\"type\":\"object\",\"properties\":{}}");
	buf_text(e->out, "}}");
	if (r == -E2BIG)
		return err_set(e->err, -EINVAL, "the parameters of '%.64s' are nested too deeply",
			       tool->name);
	return r;
}

static int put_tools(struct encoder *e)
{
	size_t i;
	int r = 0;

	if (!e->rq->tool_count)
		return 0;
	jsonput_key(e->out, "tools");
	buf_char(e->out, '[');
	for (i = 0; r == 0 && i < e->rq->tool_count; i++)
		r = put_tool(e, &e->rq->tools[i]);
	buf_char(e->out, ']');
	return r;
}

static int put_body(struct encoder *e)
{
	int r;

	buf_char(e->out, '{');
	jsonput_text(e->out, "model", span_of(e->rq->name));
	buf_text(e->out, ",\"stream\":true,\"stream_options\":{\"include_usage\":true}");
	r = openai_messages(e->rq, system_role(e), e->out, e->err);
	if (r == 0)
		r = put_tools(e);
	if (r == 0)
		r = openai_config(e->rq, e->at.max_tokens, e->out, e->err);
	buf_char(e->out, '}');
	return r < 0 ? r : buf_check(e->out, NULL);
}

static bool is_official(struct span base)
{
	size_t n = sizeof BASE_HOST - 1;

	return base.len >= n && strncasecmp(base.data, BASE_HOST, n) == 0 &&
	       (base.len == n || base.data[n] == '/' || base.data[n] == ':');
}

static int find_max_field(const struct settings *settings, struct endpoint *at, struct err *err)
{
	static const char *const fields[] = { "max_tokens", "max_completion_tokens" };
	const char *wanted = settings_get(settings, SETTING_MAX_FIELD);
	size_t i;

	at->max_tokens = fields[at->official];
	if (!wanted)
		return 0;
	for (i = 0; i < ARRAY_SIZE(fields); i++) {
		if (strcmp(wanted, fields[i]) == 0) {
			at->max_tokens = fields[i];
			return 0;
		}
	}
	return err_set(err, -EINVAL, "%s is neither %s nor %s", SETTING_MAX_FIELD, fields[0],
		       fields[1]);
}

static int find_endpoint(const struct settings *settings, struct endpoint *at, struct err *err)
{
	const char *url = settings_get(settings, SETTING_BASE_URL);

	at->base = span_of(url ? url : BASE_URL);
	while (at->base.len && at->base.data[at->base.len - 1] == '/')
		at->base.len--;
	if (strncasecmp(at->base.data, "http://", 7) != 0 &&
	    strncasecmp(at->base.data, "https://", 8) != 0)
		return err_set(err, -EINVAL, "%s does not begin with http:// or https://",
			       SETTING_BASE_URL);
	if (memchr(at->base.data, '?', at->base.len) || memchr(at->base.data, '#', at->base.len))
		return err_set(err, -EINVAL, "%s ends before any '?' or '#'", SETTING_BASE_URL);
	at->official = is_official(at->base);
	return find_max_field(settings, at, err);
}

/* Headers that are sent when their setting has a value. */
static const struct header {
	const char *setting;
	const char *name;
	const char *prefix;
} headers[] = {
	{ SETTING_KEY, "Authorization", "Bearer " },
	{ SETTING_ORG, "OpenAI-Organization", "" },
	{ SETTING_PROJECT, "OpenAI-Project", "" },
};

static int put_headers(const struct settings *settings, struct http_request *out, struct err *err)
{
	int r = http_request_header(out, "Content-Type: application/json");
	size_t i;

	if (r == 0)
		r = http_request_header(out, "Accept: text/event-stream");
	for (i = 0; r == 0 && i < ARRAY_SIZE(headers); i++) {
		const char *value = settings_get(settings, headers[i].setting);

		if (!value)
			continue;
		r = http_request_header(out, "%s: %s%s", headers[i].name, headers[i].prefix, value);
		if (r == -EINVAL)
			return err_set(err, r, "%s holds a control character", headers[i].setting);
	}
	return r;
}

/* A local server needs no key. */
static int check_key(const struct encoder *e)
{
	if (!e->at.official || settings_get(e->rq->settings, SETTING_KEY))
		return 0;
	return model_key_missing(e->rq->provider, e->err);
}

static int openai_encode(const struct model_request *rq, struct http_request *out, struct err *err)
{
	struct encoder e = { .rq = rq, .out = &out->body, .err = err };
	int r = find_endpoint(rq->settings, &e.at, err);

	if (r < 0)
		return r;
	buf_span_add(&out->url, e.at.base);
	buf_text(&out->url, "/chat/completions");
	r = put_headers(rq->settings, out, err);
	if (r == 0)
		r = put_body(&e);
	if (r == 0)
		r = check_key(&e); /* last: what cannot be sent is told without one too */
	if (r == 0)
		r = buf_check(&out->url, NULL);
	return r == -ENOMEM ? err_nomem(err) : r;
}

static const struct model_setting all_settings[] = {
	{ SETTING_KEY, MODEL_KEY },         { SETTING_BASE_URL, MODEL_PLAIN },
	{ SETTING_ORG, MODEL_PLAIN },       { SETTING_PROJECT, MODEL_PLAIN },
	{ SETTING_MAX_FIELD, MODEL_PLAIN }, { 0 },
};

const struct model_provider model_openai = {
	.name = "openai",
	.settings = all_settings,
	.framing = MODEL_SSE,
	.schema_with_tools = true,
	.encode = openai_encode,
	.decoder_new = openai_decoder_new,
	.decode = openai_decode,
	.end = openai_end,
	.decoder_free = openai_decoder_free,
	.error_message = openai_error_message,
};

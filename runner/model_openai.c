/*
 * The provider "openai": chat completions of OpenAI and of servers that speak
 * the same protocol (Ollama, llama.cpp, vLLM, gateways).
 *
 * This file makes the request and says where it goes. Its JSON is written as
 * text, because arguments and results of calls are JSON text already and have
 * to stay as they are.
 */
#include "runner/model_openai.h"

#include "base/jsontext.h"
#include "runner/http.h"

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

void openai_key(struct buf *out, const char *name)
{
	if (out->len && !strchr("{[", out->data[out->len - 1]))
		buf_char(out, ',');
	buf_printf(out, "\"%s\":", name);
}

void openai_text(struct buf *out, const char *name, struct span text)
{
	openai_key(out, name);
	json_quote_lossy(out, text);
}

/* What follows this is the next element of a list. */
void openai_item(struct buf *out)
{
	if (out->len && out->data[out->len - 1] != '[')
		buf_char(out, ',');
}

static bool is_name_char(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '-';
}

static int hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* The byte that "-xHH-" at p stands for, or -1. */
static int escaped_at(struct span text, size_t at)
{
	const char *p = text.data + at;

	if (text.len - at < 5 || p[0] != '-' || p[1] != 'x' || p[4] != '-')
		return -1;
	return hex_value(p[2]) < 0 || hex_value(p[3]) < 0 ? -1
							  : hex_value(p[2]) * 16 + hex_value(p[3]);
}

int openai_name_encode(const char *name, struct buf *out, struct err *err)
{
	struct span text = span_of(name);
	size_t before = out->len;
	size_t i;

	for (i = 0; i < text.len; i++) {
		if (is_name_char(name[i]) && escaped_at(text, i) < 0)
			buf_char(out, name[i]);
		else
			buf_printf(out, "-x%02X-", (unsigned char)name[i]);
	}
	if (out->len == before || out->len - before > OPENAI_NAME_MAX)
		return err_set(err, -EINVAL,
			       "the function name '%.80s' cannot be sent to openai: it has to be "
			       "1 to %d of a-z A-Z 0-9 _ -, and other characters count five",
			       name, OPENAI_NAME_MAX);
	return buf_check(out, err);
}

void openai_name_decode(struct span wire, struct buf *name)
{
	size_t i = 0;

	while (i < wire.len) {
		int byte = escaped_at(wire, i);

		buf_char(name, byte > 0 ? (char)byte : wire.data[i]);
		i += byte > 0 ? 5 : 1;
	}
}

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
	int r = openai_name_encode(tool->name, &name, e->err);

	if (r < 0)
		return r;
	openai_item(e->out);
	buf_text(e->out, "{\"type\":\"function\",\"function\":{");
	openai_text(e->out, "name", buf_span(&name));
	if (tool->description && *tool->description)
		openai_text(e->out, "description", span_of(tool->description));
	openai_key(e->out, "parameters");
	if (tool->parameters)
		r = openai_schema(tool->parameters, e->out);
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
	openai_key(e->out, "tools");
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
	openai_text(e->out, "model", span_of(e->rq->name));
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
	return err_set(e->err, -EACCES,
		       "%s is not set: put it into .env of the agent's folder or into the "
		       "daemon's environment",
		       SETTING_KEY);
}

static int openai_encode(const struct model_request *rq, struct http_request *out, struct err *err)
{
	struct encoder e = { .rq = rq, .out = &out->body, .err = err };
	int r = find_endpoint(rq->settings, &e.at, err);

	if (r == 0)
		r = check_key(&e);
	if (r < 0)
		return r;
	buf_span_add(&out->url, e.at.base);
	buf_text(&out->url, "/chat/completions");
	r = put_headers(rq->settings, out, err);
	if (r == 0)
		r = put_body(&e);
	if (r == 0)
		r = buf_check(&out->url, NULL);
	return r == -ENOMEM ? err_nomem(err) : r;
}

static const char *const all_settings[] = { SETTING_KEY,     SETTING_BASE_URL,  SETTING_ORG,
					    SETTING_PROJECT, SETTING_MAX_FIELD, NULL };

const struct model_provider model_openai = {
	.name = "openai",
	.key = SETTING_KEY,
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

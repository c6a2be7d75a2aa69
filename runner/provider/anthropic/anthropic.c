/*
 * The provider "anthropic": messages of Anthropic and of servers that speak the
 * same protocol.
 *
 * The request as a whole and its address are made here.
 */
#include "runner/provider/anthropic/anthropic.h"

#include "runner/syntax/json_put.h"
#include "runner/syntax/schema_copy.h"
#include "runner/wire/endpoint.h"
#include "runner/wire/key.h"
#include "runner/wire/tool.h"

#include <errno.h>

#define BASE_URL         "https://api.anthropic.com"
#define SETTING_KEY      "ANTHROPIC_API_KEY"
#define SETTING_TOKEN    "ANTHROPIC_AUTH_TOKEN"
#define SETTING_BASE_URL "ANTHROPIC_BASE_URL"
#define SETTING_VERSION  "ANTHROPIC_VERSION"
#define VERSION          "2023-06-01"
#define VERSION_PATH     "/v1"

static int put_parameters(const struct model_tool *tool, struct buf *out)
{
	jsonput_key(out, "input_schema");
	return schema_copy_put_object(tool->parameters, out);
}

static const struct model_tool_form tool_form = { MODEL_TOOL_LIST, .item = "{", .item_end = "}",
						  .put_parameters = put_parameters };

static int put_body(const struct question *q, struct buf *out, struct err *err)
{
	int r;

	buf_char(out, '{');
	jsonput_text(out, "model", span_of(q->name));
	buf_text(out, ",\"stream\":true");
	if (q->system && !span_is_blank(span_of(q->system)))
		jsonput_text(out, "system", span_of(q->system));
	r = anthropic_messages(q, out, err);
	if (r == 0)
		r = model_tools_put(&tool_form, &anthropic_names, q, out, err);
	if (r == 0)
		r = anthropic_config(q, out, err);
	buf_char(out, '}');
	return r < 0 ? r : buf_check(out, NULL);
}

static const struct model_header headers[] = {
	{ SETTING_KEY, "x-api-key", "", NULL },
	{ SETTING_TOKEN, "Authorization", "Bearer ", NULL },
	{ SETTING_VERSION, "anthropic-version", "", VERSION },
	{ ANTHROPIC_SETTING_BETAS, "anthropic-beta", "", NULL },
};

static bool is_key(const char *setting)
{
	return strcmp(setting, SETTING_KEY) == 0 || strcmp(setting, SETTING_TOKEN) == 0;
}

/*
 * Only the key or the token is sent, from the first place that has one of them: a server for
 * which the agent has a token must not get the daemon's key. If one place has both, the key is
 * sent, as Anthropic's own clients do.
 */
static int put_headers(const struct settings *settings, struct http_request *out, struct err *err)
{
	const char *key = model_key_name(&model_anthropic, settings);
	int r = model_headers_begin(&model_anthropic, out);
	size_t i;

	for (i = 0; r == 0 && i < ARRAY_SIZE(headers); i++) {
		if (!is_key(headers[i].setting) || strcmp(headers[i].setting, key) == 0)
			r = model_header_add(settings, &headers[i], out, err);
	}
	return r;
}

/* The address may end with the path of the version or not. */
static void put_url(struct span base, struct buf *url)
{
	struct span path = SPAN(VERSION_PATH);

	buf_span_add(url, base);
	if (base.len < path.len || !span_equal(span_sub(base, base.len - path.len, base.len), path))
		buf_span_add(url, path);
	buf_text(url, "/messages");
}

static int anthropic_encode(const struct question *q, struct http_request *out, struct err *err)
{
	struct model_endpoint at;
	int r = model_endpoint_find(q->settings, SETTING_BASE_URL, BASE_URL, &at, err);

	if (r < 0)
		return r;
	put_url(at.base, &out->url);
	r = put_headers(q->settings, out, err);
	if (r == 0)
		r = put_body(q, &out->body, err);
	if (r == 0)
		r = model_endpoint_key(&model_anthropic, &at, q->settings, err);
	if (r == 0)
		r = buf_check(&out->url, NULL);
	return r;
}

static const struct model_setting all_settings[] = {
	{ SETTING_KEY, MODEL_KEY },
	{ SETTING_TOKEN, MODEL_KEY },
	{ SETTING_BASE_URL, MODEL_PLAIN },
	{ SETTING_VERSION, MODEL_PLAIN },
	{ ANTHROPIC_SETTING_BETAS, MODEL_PLAIN },
	{ ANTHROPIC_SETTING_MAX_TOKENS, MODEL_PLAIN },
	{ 0 },
};

static const char *const bare[] = { "claude-", NULL };

/*
 * Only newer models take an output schema together with tools. So the answer is the call of a
 * tool then, which all models can make.
 */
const struct model_provider model_anthropic = {
	.name = "anthropic",
	.bare = bare,
	.settings = all_settings,
	.framing = MODEL_SSE,
	.encode = anthropic_encode,
	.decoder = &anthropic_decoder,
	.error_message = anthropic_error_message,
	.review = anthropic_review,
};

/*
 * The provider "openai_responses": the Responses protocol of OpenAI. The service is told to
 * store nothing. This file makes the request as a whole.
 */
#include "runner/provider/openai/responses.h"

#include "base/net/http.h"
#include "runner/provider/openai/openai.h"
#include "runner/syntax/json_put.h"
#include "runner/wire/endpoint.h"
#include "runner/wire/tool.h"

#include <errno.h>

#define OWN_BASE     "https://api.openai.com/v1"
#define SETTING_BASE "OPENAI_BASE_URL"

/* Strict schemas have a narrower form, so we switch that off. */
static const struct model_tool_form tool_form = { MODEL_TOOL_LIST, .item = "{\"type\":\"function\"",
						  .item_end = ",\"strict\":false}",
						  .put_parameters = model_tool_parameters };

static int put_body(const struct question *q, struct buf *out, struct err *err)
{
	int r;

	buf_char(out, '{');
	jsonput_text(out, "model", span_of(q->name));
	buf_text(out, ",\"stream\":true,\"store\":false");
	if (responses_may_think(q->name))
		buf_text(out, ",\"include\":[\"reasoning.encrypted_content\"]");
	if (q->system && *q->system)
		jsonput_text(out, "instructions", span_of(q->system));
	r = responses_input(q, out, err);
	if (r == 0)
		r = model_tools_put(&tool_form, &responses_names, q, out, err);
	if (r == 0)
		r = responses_config(q, out, err);
	buf_char(out, '}');
	return r < 0 ? r : buf_check(out, NULL);
}

static const struct model_header headers[] = {
	{ "OPENAI_API_KEY", "Authorization", "Bearer ", NULL },
	{ "OPENAI_ORG_ID", "OpenAI-Organization", "", NULL },
	{ "OPENAI_PROJECT", "OpenAI-Project", "", NULL },
};

static int put_headers(const struct settings *settings, struct http_request *out, struct err *err)
{
	int r = model_headers_begin(&model_responses, out);
	size_t i;

	for (i = 0; r == 0 && i < ARRAY_SIZE(headers); i++)
		r = model_header_add(settings, &headers[i], out, err);
	return r;
}

static int responses_encode(const struct question *q, struct http_request *out, struct err *err)
{
	struct model_endpoint at;
	int r = model_endpoint_find(q->settings, SETTING_BASE, OWN_BASE, &at, err);

	if (r < 0)
		return r;
	buf_span_add(&out->url, at.base);
	buf_text(&out->url, "/responses");
	r = put_headers(q->settings, out, err);
	if (r == 0)
		r = put_body(q, &out->body, err);
	if (r == 0) /* last: what cannot be sent is reported even without a key */
		r = model_endpoint_key(q->provider, &at, q->settings, err);
	if (r == 0)
		r = buf_check(&out->url, NULL);
	return r;
}

static const char *const spellings[] = { RESPONSES_SAID, NULL };

static const struct model_setting settings[] = {
	{ "OPENAI_API_KEY", MODEL_KEY },
	{ SETTING_BASE, MODEL_PLAIN },
	{ "OPENAI_ORG_ID", MODEL_PLAIN },
	{ "OPENAI_PROJECT", MODEL_PLAIN },
	{ 0 },
};

const struct model_provider model_responses = {
	.name = "openai_responses",
	.spellings = spellings,
	.section = "openai",
	.settings = settings,
	.framing = MODEL_SSE,
	.schema_with_tools = true,
	.encode = responses_encode,
	.decoder = &responses_decoder,
	.error_message = openai_error_message,
};

/*
 * The providers "gemini" and "vertex_ai": Google's models, with a key of the
 * Gemini API or in a project of Google Cloud.
 *
 * ADK's content has Gemini's own form, so that most of it is sent unchanged. This file
 * makes the request as a whole; gemini.h lists the other files.
 */
#include "runner/provider/gemini/gemini.h"

#include "base/net/http.h"
#include "runner/syntax/json_put.h"
#include "runner/syntax/schema_copy.h"
#include "runner/wire/tool.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

/*
 * Whether a model refuses calls without a signature, as Gemini 3 and later do. The version of
 * "gemini-flash-latest" is unknown; older models ignore a signature.
 */
static bool model_signs(const char *name)
{
	static const char family[] = "gemini-";
	const char *slash = strrchr(name, '/');
	size_t n;

	if (slash)
		name = slash + 1;
	if (strncmp(name, family, sizeof family - 1) != 0)
		return false;
	name += sizeof family - 1;
	n = strlen(name);
	if (isdigit((unsigned char)*name))
		return strtol(name, NULL, 10) >= 3;
	return n >= 6 && strcmp(name + n - 6, "latest") == 0;
}

/* Without parameters the member is absent. */
static int put_parameters(const struct model_tool *tool, struct buf *out)
{
	if (!tool->parameters)
		return 0;
	jsonput_key(out, "parametersJsonSchema");
	return schema_copy_put_object(tool->parameters, out);
}

static const struct model_tool_form tool_form = { .list = "[{\"functionDeclarations\":[",
						  .list_end = "]}]",
						  .item = "{",
						  .item_end = "}",
						  .put_parameters = put_parameters };

static void put_system(const struct gemini_encoder *e)
{
	if (!e->q->system || !*e->q->system)
		return;
	jsonput_key(e->out, "systemInstruction");
	buf_text(e->out, "{\"role\":\"user\",\"parts\":[{");
	jsonput_text(e->out, "text", span_of(e->q->system));
	buf_text(e->out, "}]}");
}

static int put_body(struct gemini_encoder *e)
{
	int r;

	buf_char(e->out, '{');
	r = gemini_contents(e);
	put_system(e);
	if (r == 0)
		r = model_tools_put(&tool_form, &gemini_names, e->q, e->out, e->err);
	if (r == 0)
		r = gemini_config(e);
	buf_char(e->out, '}');
	return r < 0 ? r : buf_check(e->out, NULL);
}

static int gemini_encode(const struct question *q, struct http_request *out, struct err *err)
{
	struct gemini_encoder e = { .q = q,
				    .service = q->provider->dialect,
				    .out = &out->body,
				    .err = err,
				    .signs = model_signs(q->name) };
	int r = gemini_where(&e, out);

	if (r == 0)
		r = put_body(&e);
	if (r == 0) /* last: what cannot be sent is reported even without a key */
		r = gemini_check_key(&e);
	return r;
}

static const struct gemini_service gemini_api = { false, "GOOGLE_GEMINI_BASE_URL", "v1beta" };
static const struct gemini_service vertex_api = { true, "GOOGLE_VERTEX_BASE_URL", "v1beta1" };

static const struct model_provider *gemini_instead(const struct question *q)
{
	return gemini_wants_vertex(q) ? &model_vertex_ai : &model_gemini;
}

static const char *const gemini_bare[] = { "gemini-", "gemma-", NULL };
static const char *const vertex_bare[] = { "projects/", NULL };

/* Not all models take an output schema together with tools; ADK uses set_model_response too. */
#define SCHEMA_WITH_TOOLS false

const struct model_provider model_gemini = {
	.name = "gemini",
	.bare = gemini_bare,
	.dialect = &gemini_api,
	.settings = gemini_settings,
	.aliases = gemini_aliases,
	.framing = MODEL_SSE,
	.schema_with_tools = SCHEMA_WITH_TOOLS,
	.instead = gemini_instead,
	.encode = gemini_encode,
	.decoder = &gemini_decoder,
	.error_message = gemini_error_message,
	.wait_hint = gemini_wait_hint,
};

const struct model_provider model_vertex_ai = {
	.name = "vertex_ai",
	.bare = vertex_bare,
	.dialect = &vertex_api,
	.settings = vertex_settings,
	.aliases = vertex_aliases,
	.framing = MODEL_SSE,
	.schema_with_tools = SCHEMA_WITH_TOOLS,
	.encode = gemini_encode,
	.decoder = &gemini_decoder,
	.error_message = gemini_error_message,
	.wait_hint = gemini_wait_hint,
};

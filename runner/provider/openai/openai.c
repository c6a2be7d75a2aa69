/*
 * Requests of OpenAI's chat completions, for all services that speak them
 * (dialects.c).
 *
 * The JSON is written as text, because arguments and results of calls are JSON
 * text already and must stay as they are.
 */
#include "runner/provider/openai/openai.h"

#include "base/net/http.h"
#include "runner/syntax/json_put.h"
#include "runner/wire/tool.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>

/* A request while it is written. */
struct encoder {
	const struct question *q;
	struct openai_way way;
	struct buf *out;
	struct err *err;
};

/* Models named o1, o3, ... take their instructions from the "developer". */
static const char *system_role(const struct encoder *e)
{
	const char *name = e->q->name;

	return (e->way.quirks & OPENAI_DEVELOPER) && name[0] == 'o' &&
			       isdigit((unsigned char)name[1])
		       ? "developer"
		       : "system";
}

static const struct model_tool_form tool_form = { MODEL_TOOL_LIST, MODEL_TOOL_FUNCTION,
						  .put_parameters = model_tool_parameters };

static int put_body(struct encoder *e)
{
	const struct model_name_rule names = openai_name_rule(e->q->provider);
	int r;

	buf_char(e->out, '{');
	jsonput_text(e->out, "model", span_of(e->q->name));
	buf_text(e->out, ",\"stream\":true");
	if (!(e->way.quirks & OPENAI_NO_STREAM_OPTIONS))
		buf_text(e->out, ",\"stream_options\":{\"include_usage\":true}");
	r = openai_put_messages(e->q, &e->way, system_role(e), e->out, e->err);
	if (r == 0)
		r = model_tools_put(&tool_form, &names, e->q, e->out, e->err);
	if (r == 0)
		r = openai_config(e->q, &e->way, e->out, e->err);
	buf_char(e->out, '}');
	return r < 0 ? r : buf_check(e->out, NULL);
}

int openai_encode(const struct question *q, struct http_request *out, struct err *err)
{
	struct encoder e = { .q = q, .out = &out->body, .err = err };
	int r = openai_way_find(q, &e.way, err);

	if (r == 0)
		r = openai_url(q, &e.way, &out->url, err);
	if (r == 0)
		r = openai_headers(q, out, err);
	if (r == 0)
		r = put_body(&e);
	if (r == 0) /* last: what cannot be sent is reported even without a key */
		r = openai_check_key(q, &e.way, err);
	return r;
}

/* Report names that are written in another form, and members of the config without effect. */
int openai_review(const struct question *q, model_review_fn *fn, void *arg)
{
	const struct model_name_rule rule = openai_name_rule(q->provider);
	const json_t *thinking = json_object_get(q->config, "thinkingConfig");
	char text[256];
	size_t i;
	int r = 0;

	for (i = 0; r == 0 && i < q->tool_count; i++) {
		CLEANUP(buf_release) struct buf name = { 0 };

		r = model_name_encode(&rule, q->tools[i].name, &name, NULL);
		if (r == -ENOMEM || !buf_cstr(&name))
			return -ENOMEM;
		if (r < 0 || strcmp(name.data, q->tools[i].name) == 0) {
			r = 0; /* a name that is too long is an error of the request */
			continue;
		}
		(void)snprintf(text, sizeof text, "tool %.64s: its name is sent to %s as %.80s",
			       q->tools[i].name, q->provider->name, name.data);
		r = fn(arg, text);
	}
	if (r == 0 && json_object_get(thinking, "includeThoughts"))
		r = fn(arg,
		       "generate_content_config: thinkingConfig.includeThoughts: has no effect, "
		       "thoughts are shown whenever they come");
	return r;
}

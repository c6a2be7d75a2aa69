/*
 * Results of calls: see model_result.h.
 */
#include "runner/model_result.h"

#include "base/jsontext.h"
#include "runner/jsonpick.h"

#include <errno.h>
#include <stdlib.h>

void model_result_release(struct model_result *result)
{
	part_release(&result->call);
	content_free(result->media);
	*result = (struct model_result){ 0 };
}

/* What has members without a field is there as a whole, too. */
static bool inside(const struct part *p, struct span *object)
{
	return p->more && json_member(span_of(p->more), "functionResponse", object) == 0;
}

bool model_is_result(const struct part *p)
{
	return p->kind == PART_RESPONSE;
}

static int copy_text(const char *from, char **out)
{
	*out = from ? strdup(from) : NULL;
	return *out || !from ? 0 : -ENOMEM;
}

static int take_text(struct span token, char **out)
{
	CLEANUP(buf_release) struct buf text = { 0 };

	if (!token.len)
		return 0;
	if (json_unquote(token, &text) < 0)
		return -ENOMEM;
	*out = span_dup(buf_span(&text));
	return *out ? 0 : -ENOMEM;
}

static int read_media(struct span parts, struct content **out)
{
	CLEANUP(buf_release) struct buf text = { 0 };
	int r;

	if (!parts.len)
		return 0;
	buf_text(&text, "{\"parts\":");
	buf_span_add(&text, parts);
	buf_char(&text, '}');
	r = buf_check(&text, NULL);
	return r < 0 ? r : content_from_stored(buf_span(&text), out);
}

struct members {
	struct span id;
	struct span name;
	struct span response;
	struct span parts;
};

static const struct jsonpick picks[] = {
	{ "id", offsetof(struct members, id) },
	{ "name", offsetof(struct members, name) },
	{ "response", offsetof(struct members, response) },
	{ "parts", offsetof(struct members, parts) },
	{ 0 },
};

static int read_whole(struct span object, struct model_result *out)
{
	struct members m = { .response = SPAN("{}") };
	int r = jsonpick_object(object, picks, &m);

	if (r == 0)
		r = take_text(m.id, &out->call.id);
	if (r == 0)
		r = take_text(m.name, &out->call.name);
	if (r == 0 && !out->call.name)
		r = copy_text("", &out->call.name);
	out->response = m.response;
	return r < 0 ? r : read_media(m.parts, &out->media);
}

int model_result_read(const struct part *p, struct model_result *out)
{
	struct span object;
	int r;

	*out = (struct model_result){ .call.kind = PART_RESPONSE };
	if (inside(p, &object))
		return read_whole(object, out);
	r = copy_text(p->id, &out->call.id);
	if (r == 0)
		r = copy_text(p->name, &out->call.name);
	out->response = span_of(p->json);
	return r;
}

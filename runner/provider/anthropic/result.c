/*
 * The content of a tool_result for Anthropic, made of a response as ADK does: the texts
 * in its `content`, in the form of MCP; else its `result`; else the whole response.
 * Images in `content` and the media beside the response become blocks.
 */
#include "runner/provider/anthropic/anthropic.h"

#include "base/json_text.h"
#include "runner/syntax/json_pick.h"
#include "runner/syntax/json_put.h"
#include "runner/wire/media.h"
#include "store/json/base64.h"

#include <errno.h>

/* A response while its content is written. */
struct telling {
	struct anthropic_writer *w;
	struct buf text;
	bool begun; /* the text has its first item */
	size_t images;
	bool blocks; /* write the images; first they are only counted */
};

struct item {
	struct span type;
	struct span text;
	struct span data;
	struct span mime;
};

static const struct jsonpick item_members[] = {
	{ "type", offsetof(struct item, type) },
	{ "text", offsetof(struct item, text) },
	{ "data", offsetof(struct item, data) },
	{ "mimeType", offsetof(struct item, mime) },
	{ 0 },
};

/* Append the base64 of an item that is an image which can be sent; nothing for other items. */
static int image_of(const struct item *i, const char **type, struct buf *base64)
{
	CLEANUP(buf_release) struct buf mime = { 0 };
	CLEANUP(buf_release) struct buf bytes = { 0 };
	int r;

	if (!span_is(i->type, "\"image\"") || !jsonpick_is(i->data, '"') ||
	    !jsonpick_is(i->mime, '"'))
		return 0;
	r = json_unquote(i->mime, &mime);
	if (r < 0 || !buf_cstr(&mime))
		return -ENOMEM;
	if (!anthropic_image_type(mime.data, type))
		return 0;
	r = json_unquote(i->data, base64);
	if (r == 0)
		r = base64_decode(buf_span(base64), &bytes);
	if (r < 0 || !bytes.len)
		buf_clear(base64);
	return r == -EINVAL ? 0 : r;
}

static int tell_item_text(struct telling *t, const struct item *i, struct span item)
{
	if (t->begun)
		buf_char(&t->text, '\n');
	t->begun = true;
	if (span_is(i->type, "\"text\"") && jsonpick_is(i->text, '"'))
		return json_unquote(i->text, &t->text);
	if (jsonpick_is(item, '"'))
		return json_unquote(item, &t->text);
	buf_span_add(&t->text, item);
	return 0;
}

static int tell_item(void *arg, struct span item)
{
	struct telling *t = arg;
	CLEANUP(buf_release) struct buf base64 = { 0 };
	struct item i = { 0 };
	const char *type = NULL;
	int r = jsonpick_object(item, item_members, &i);

	if (r == 0)
		r = image_of(&i, &type, &base64);
	if (r < 0)
		return r;
	if (!base64.len)
		return t->blocks ? 0 : tell_item_text(t, &i, item);
	t->images++;
	if (t->blocks)
		anthropic_image(t->w, type, buf_span(&base64));
	return 0;
}

static bool has_items(struct span list)
{
	return jsonpick_is(list, '[') && !span_is(list, "[]");
}

static int tell(struct telling *t, struct span response, struct span *content)
{
	struct span result = { 0 };
	int r = json_member(response, "content", content);

	if (r == 0 && has_items(*content))
		return jsonpick_list(*content, tell_item, t);
	if (r < 0 && r != -ENOENT)
		return r;
	*content = (struct span){ 0 };
	r = json_member(response, "result", &result);
	if (r == -ENOENT)
		buf_span_add(&t->text, response);
	else if (r == 0 && jsonpick_is(result, '"'))
		r = json_unquote(result, &t->text);
	else if (r == 0)
		buf_span_add(&t->text, result);
	return r == -ENOENT ? 0 : r;
}

static int put_media(struct anthropic_writer *w, const struct content *media)
{
	size_t i;
	int r = 0;

	for (i = 0; media && r == 0 && i < media->count; i++)
		r = anthropic_user_part(w, &media->parts[i]);
	return r;
}

static int put_blocks(struct telling *t, const struct part *response, const struct content *media,
		      struct span content)
{
	int r;

	jsonput_key(t->w->out, "content");
	buf_char(t->w->out, '[');
	if (!media || strcmp(response->json, "{}") != 0)
		anthropic_text(t->w, buf_span(&t->text));
	t->blocks = true;
	r = jsonpick_list(content, tell_item, t);
	if (r == 0)
		r = put_media(t->w, media);
	buf_char(t->w->out, ']');
	return r;
}

int anthropic_result(struct anthropic_writer *w, const struct part *response)
{
	CLEANUP(content_free_p) struct content *media = NULL;
	struct telling t = { .w = w };
	struct span content = { 0 };
	int r = model_result_media(response, &media);

	if (r == 0)
		r = tell(&t, span_of(response->json), &content);
	if (r == 0)
		r = buf_check(&t.text, NULL);
	if (r == 0 && (t.images || (media && media->count)))
		r = put_blocks(&t, response, media, content);
	else if (r == 0 && t.text.len)
		jsonput_text(w->out, "content", buf_span(&t.text));
	buf_release(&t.text);
	return r;
}

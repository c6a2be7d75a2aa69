/*
 * Items of messages for OpenAI chat completions: a row of a table for each type
 * of inlineData and each kind of part.
 */
#include "runner/provider/openai/openai.h"

#include "runner/syntax/json_put.h"
#include "runner/wire/media.h"
#include "store/json/base64.h"

#include <errno.h>
#include <strings.h>

#define SHORT_ID 9
#define LETTERS  "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

void openai_open_message(struct openai_messages *m, const char *role)
{
	jsonput_item(m->out);
	buf_char(m->out, '{');
	jsonput_text(m->out, "role", span_of(role));
}

static int inline_image(struct openai_messages *m, const struct part *p)
{
	buf_text(m->out, "{\"type\":\"image_url\",\"image_url\":{");
	model_data_uri_put(m->out, "url", p);
	buf_text(m->out, "}}");
	return 0;
}

static int inline_file(struct openai_messages *m, const struct part *p)
{
	buf_text(m->out, "{\"type\":\"file\",\"file\":{");
	jsonput_text(m->out, "filename", span_of(p->name && *p->name ? p->name : "document.pdf"));
	model_data_uri_put(m->out, "file_data", p);
	buf_text(m->out, "}}");
	return 0;
}

static int put_audio(struct openai_messages *m, const struct part *p, const char *format)
{
	buf_text(m->out, "{\"type\":\"input_audio\",\"input_audio\":{\"data\":\"");
	base64_put_standard(m->out, buf_span(&p->text));
	buf_printf(m->out, "\",\"format\":\"%s\"}}", format);
	return 0;
}

static int inline_wav(struct openai_messages *m, const struct part *p)
{
	return put_audio(m, p, "wav");
}

static int inline_mp3(struct openai_messages *m, const struct part *p)
{
	return put_audio(m, p, "mp3");
}

void openai_put_text_item(struct openai_messages *m, struct span text)
{
	buf_text(m->out, "{\"type\":\"text\"");
	jsonput_text(m->out, "text", text);
	buf_char(m->out, '}');
}

static int said_text(struct openai_messages *m, const struct part *p)
{
	CLEANUP(buf_release) struct buf text = { 0 };
	int r = model_said_text(&m->at, p, &text);

	if (r == 0)
		openai_put_text_item(m, buf_span(&text));
	return r < 0 ? r : buf_check(&text, NULL);
}

/* Types of inlineData that is not text; a name that ends with '/' means all such types. */
static const struct inline_type {
	const char *mime;
	int (*put)(struct openai_messages *m, const struct part *p);
} inline_types[] = {
	{ "image/", inline_image },   { "application/pdf", inline_file },
	{ "audio/wav", inline_wav },  { "audio/x-wav", inline_wav },
	{ "audio/wave", inline_wav }, { "audio/mpeg", inline_mp3 },
	{ "audio/mp3", inline_mp3 },
};

static int put_inline(struct openai_messages *m, const struct part *p)
{
	size_t i;

	for (i = 0; model_mime_is_plain(p->mime) && i < ARRAY_SIZE(inline_types); i++) {
		if (model_mime_is(p->mime, inline_types[i].mime))
			return inline_types[i].put(m, p);
	}
	return said_text(m, p);
}

/* Only images can be sent as an address. */
static int put_file(struct openai_messages *m, const struct part *p)
{
	if (!p->uri || strncasecmp(p->uri, "https://", 8) != 0)
		return model_refuse(&m->at, "fileData that is not an https address:", p->uri);
	if (p->mime && !model_mime_is(p->mime, "image/"))
		return model_refuse(&m->at, "fileData", p->mime);
	buf_text(m->out, "{\"type\":\"image_url\",\"image_url\":{");
	jsonput_text(m->out, "url", span_of(p->uri));
	buf_text(m->out, "}}");
	return 0;
}

/* Items for each kind of part in a user's message; results were sent before it. */
static int (*const user_items[])(struct openai_messages *m, const struct part *p) = {
	[PART_TEXT] = said_text,    [PART_CALL] = said_text, [PART_RESPONSE] = said_text,
	[PART_INLINE] = put_inline, [PART_FILE] = put_file,  [PART_OTHER] = said_text,
};

int openai_put_item(struct openai_messages *m, const struct part *p)
{
	jsonput_item(m->out);
	return user_items[p->kind](m, p);
}

void openai_put_id(const struct openai_messages *m, const struct model_pair *pair)
{
	const char *id = pair->id;

	if (!(m->way->quirks & OPENAI_SHORT_IDS))
		model_pair_put_id(pair, m->out);
	else if (id && strlen(id) == SHORT_ID && strspn(id, LETTERS) == SHORT_ID)
		model_pair_put_id(pair, m->out);
	else
		buf_printf(m->out, "\"call%05zu\"", pair->number % 100000);
}

/*
 * The blocks of messages for Anthropic: a row of a table for each type of
 * inlineData and each kind of part.
 *
 * A part that the protocol has no place for is an error before anything is sent.
 * Thoughts go back with their signature. A thought without a signature, or with
 * the signature of another provider, is left out.
 */
#include "runner/provider/anthropic/anthropic.h"

#include "runner/syntax/json_put.h"
#include "runner/wire/media.h"
#include "store/json/base64.h"

#include <ctype.h>
#include <errno.h>
#include <strings.h>

const struct model_name_rule anthropic_names = { "anthropic", "", 128 };

void anthropic_open_block(struct anthropic_writer *w, const char *type)
{
	static const char *const roles[] = {
		[ANTHROPIC_USER] = "user", [ANTHROPIC_ASSISTANT] = "assistant"
	};

	if (w->open != w->role) {
		if (w->open)
			buf_text(w->out, "]}");
		jsonput_item(w->out);
		buf_printf(w->out, "{\"role\":\"%s\",\"content\":[", roles[w->role]);
		w->open = w->role;
	}
	jsonput_item(w->out);
	buf_printf(w->out, "{\"type\":\"%s\"", type);
}

/* The service refuses a text block that has white space only. */
static bool has_words(struct span text)
{
	size_t i;

	for (i = 0; i < text.len; i++) {
		if (!isspace((unsigned char)text.data[i]))
			return true;
	}
	return false;
}

void anthropic_text(struct anthropic_writer *w, struct span text)
{
	if (!has_words(text))
		return;
	anthropic_open_block(w, "text");
	jsonput_text(w->out, "text", text);
	buf_char(w->out, '}');
}

/* Media */

static const struct {
	const char *mime;
	const char *type;
} images[] = {
	{ "image/jpeg", "image/jpeg" }, { "image/jpg", "image/jpeg" },
	{ "image/png", "image/png" },   { "image/gif", "image/gif" },
	{ "image/webp", "image/webp" },
};

bool anthropic_image_type(const char *mime, const char **type)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(images); i++) {
		if (model_mime_is(mime, images[i].mime)) {
			*type = images[i].type;
			return true;
		}
	}
	return false;
}

static void put_base64(struct anthropic_writer *w, const char *block, const char *type,
		       struct span base64)
{
	anthropic_open_block(w, block);
	buf_printf(w->out, ",\"source\":{\"type\":\"base64\",\"media_type\":\"%s\",\"data\":\"",
		   type);
	base64_put_standard(w->out, base64);
	buf_text(w->out, "\"}}");
}

void anthropic_image(struct anthropic_writer *w, const char *type, struct span base64)
{
	put_base64(w, "image", type, base64);
}

static int inline_image(struct anthropic_writer *w, const struct part *p)
{
	const char *type;

	if (!anthropic_image_type(p->mime, &type))
		return model_refuse_part(&w->at, p);
	anthropic_image(w, type, buf_span(&p->text));
	return 0;
}

static int inline_pdf(struct anthropic_writer *w, const struct part *p)
{
	put_base64(w, "document", "application/pdf", buf_span(&p->text));
	return 0;
}

static int inline_text(struct anthropic_writer *w, const struct part *p)
{
	CLEANUP(buf_release) struct buf text = { 0 };
	int r = model_said_text(&w->at, p, &text);

	if (r < 0 || !has_words(buf_span(&text)))
		return r;
	anthropic_open_block(w, "document");
	buf_text(w->out, ",\"source\":{\"type\":\"text\",\"media_type\":\"text/plain\"");
	jsonput_text(w->out, "data", buf_span(&text));
	buf_text(w->out, "}}");
	return 0;
}

/* Types of inlineData; a name that ends with '/' means all types that begin with it. */
static const struct inline_type {
	const char *mime;
	int (*put)(struct anthropic_writer *w, const struct part *p);
} inline_types[] = {
	{ "image/", inline_image },
	{ "application/pdf", inline_pdf },
	{ "text/", inline_text },
	{ "application/json", inline_text },
};

static int put_inline(struct anthropic_writer *w, const struct part *p)
{
	size_t i;

	for (i = 0; model_mime_is_plain(p->mime) && i < ARRAY_SIZE(inline_types); i++) {
		if (model_mime_is(p->mime, inline_types[i].mime))
			return inline_types[i].put(w, p);
	}
	return model_refuse_part(&w->at, p);
}

static bool ends_as_pdf(const char *uri)
{
	size_t n = strcspn(uri, "?#");

	return n > 4 && strncasecmp(uri + n - 4, ".pdf", 4) == 0;
}

/* The block for a file at an address, by its type or else its name; NULL: it cannot be sent. */
static const char *file_block(const struct part *p)
{
	const char *type;

	if (!p->mime || !*p->mime)
		return ends_as_pdf(p->uri) ? "document" : "image";
	if (model_mime_is(p->mime, "application/pdf"))
		return "document";
	return anthropic_image_type(p->mime, &type) ? "image" : NULL;
}

static int put_file(struct anthropic_writer *w, const struct part *p)
{
	const char *block;

	if (!p->uri || strncasecmp(p->uri, "https://", 8) != 0)
		return model_refuse(&w->at, "fileData that is not an https address:", p->uri);
	block = file_block(p);
	if (!block)
		return model_refuse(&w->at, "fileData", p->mime);
	anthropic_open_block(w, block);
	buf_text(w->out, ",\"source\":{\"type\":\"url\"");
	jsonput_text(w->out, "url", span_of(p->uri));
	buf_text(w->out, "}}");
	return 0;
}

/* Parts from the user */

static int put_text(struct anthropic_writer *w, const struct part *p)
{
	CLEANUP(buf_release) struct buf text = { 0 };
	int r = model_said_text(&w->at, p, &text);

	if (r == 0)
		anthropic_text(w, buf_span(&text));
	return r < 0 ? r : buf_check(&text, NULL);
}

static int refuse_part(struct anthropic_writer *w, const struct part *p)
{
	return model_refuse_part(&w->at, p);
}

int anthropic_user_part(struct anthropic_writer *w, const struct part *p)
{
	static int (*const puts[])(struct anthropic_writer * w, const struct part *p) = {
		[PART_TEXT] = put_text,     [PART_CALL] = refuse_part, [PART_RESPONSE] = NULL,
		[PART_INLINE] = put_inline, [PART_FILE] = put_file,    [PART_OTHER] = put_text,
	};

	return p->thought || !puts[p->kind] ? 0 : puts[p->kind](w, p);
}

/* Parts from the model */

/* Whether a signature is from this service: other services use bytes, JSON, or nothing. */
static bool is_readable(struct span signature)
{
	size_t i;

	for (i = 0; i < signature.len; i++) {
		if (signature.data[i] < 0x21 || signature.data[i] > 0x7e)
			return false;
	}
	return signature.len && signature.data[0] != '{';
}

static void put_redacted(struct anthropic_writer *w, struct span data)
{
	anthropic_open_block(w, "redacted_thinking");
	jsonput_text(w->out, "data", data);
	buf_char(w->out, '}');
}

static int put_thought(struct anthropic_writer *w, const struct part *p)
{
	CLEANUP(buf_release) struct buf bytes = { 0 };
	struct span mark = SPAN(ANTHROPIC_REDACTED);
	struct span signature;
	int r = p->signature ? base64_decode(span_of(p->signature), &bytes) : 0;

	if (r == -ENOMEM)
		return r;
	signature = buf_span(&bytes);
	if (r < 0 || !is_readable(signature))
		return 0;
	if (!p->text.len && signature.len > mark.len &&
	    span_equal(span_sub(signature, 0, mark.len), mark)) {
		put_redacted(w, span_sub(signature, mark.len, signature.len));
		return 0;
	}
	anthropic_open_block(w, "thinking");
	jsonput_text(w->out, "thinking", buf_span(&p->text));
	jsonput_text(w->out, "signature", signature);
	buf_char(w->out, '}');
	return 0;
}

static int refuse_media(struct anthropic_writer *w, const struct part *p)
{
	return model_refuse(&w->at, "a part from the model that is not text:", p->mime);
}

int anthropic_model_part(struct anthropic_writer *w, const struct part *p)
{
	static int (*const puts[])(struct anthropic_writer * w, const struct part *p) = {
		[PART_TEXT] = put_text,        [PART_CALL] = NULL,
		[PART_RESPONSE] = refuse_part, [PART_INLINE] = refuse_media,
		[PART_FILE] = refuse_media,    [PART_OTHER] = put_text,
	};

	if (p->thought)
		return p->kind == PART_TEXT ? put_thought(w, p) : 0;
	return puts[p->kind] ? puts[p->kind](w, p) : 0;
}

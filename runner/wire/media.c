/*
 * Media in messages: see media.h.
 */
#include "runner/wire/media.h"

#include "base/json_text.h"
#include "base/utf8.h"
#include "runner/syntax/json_put.h"
#include "store/json/base64.h"

#include <errno.h>
#include <strings.h>

bool model_mime_is(const char *mime, const char *wanted)
{
	size_t n = strlen(wanted);

	if (!mime || strncasecmp(mime, wanted, n) != 0)
		return false;
	return wanted[n - 1] == '/' || mime[n] == 0 || mime[n] == ';' || mime[n] == ' ';
}

bool model_mime_is_plain(const char *mime)
{
	if (!mime || !*mime)
		return false;
	for (; *mime; mime++) {
		if (*mime < 0x20 || *mime > 0x7e || strchr("\"\\,<>", *mime))
			return false;
	}
	return true;
}

void model_mime_put(struct buf *out, const char *mime)
{
	buf_add(out, mime, strcspn(mime, "; "));
}

void model_data_uri_put(struct buf *out, const char *name, const struct part *p)
{
	jsonput_key(out, name);
	buf_text(out, "\"data:");
	model_mime_put(out, p->mime);
	buf_text(out, ";base64,");
	base64_put_standard(out, buf_span(&p->text));
	buf_char(out, '"');
}

int model_inline_text(const struct part *p, struct buf *text)
{
	size_t before = text->len;
	int r = base64_decode(buf_span(&p->text), text);

	if (r < 0)
		return r;
	return utf8_is_valid(span_sub(buf_span(text), before, text->len)) ? 0 : -EILSEQ;
}

static int note_kind(void *arg, struct span key, struct span value UNUSED)
{
	struct buf *kind = arg;

	if (!kind->len)
		buf_span_add(kind, key);
	return 0;
}

int model_part_kind(const struct part *p, struct buf *kind)
{
	int r = json_each(span_of(p->json), note_kind, kind);

	return r < 0 ? r : buf_check(kind, NULL);
}

/* Stop at a member that is data; a part has one of these. */
static int find_data(void *arg UNUSED, struct span key, struct span value UNUSED)
{
	static const char *const names[] = {
		"audioTranscription", "codeExecutionResult", "executableCode", "fileData",
		"functionCall",       "functionResponse",    "inlineData",     "toolCall",
		"toolResponse",
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		if (span_is(key, names[i]))
			return -ENOENT;
	}
	return 0;
}

int model_part_text(const struct part *p, struct span *token)
{
	struct span json = span_of(p->json);
	int r = json_each(json, find_data, NULL);

	return r < 0 ? r : json_member(json, "text", token);
}

int model_result_media(const struct part *response, struct content **media)
{
	CLEANUP(buf_release) struct buf text = { 0 };
	struct span parts = span_of(response->more);
	int r = parts.len ? json_member(parts, "functionResponse", &parts) : -ENOENT;

	*media = NULL;
	if (r == 0)
		r = json_member(parts, "parts", &parts);
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	buf_text(&text, "{\"parts\":");
	buf_span_add(&text, parts);
	buf_char(&text, '}');
	r = buf_check(&text, NULL);
	return r < 0 ? r : content_from_stored(buf_span(&text), media);
}

/*
 * Refusing parts: see refuse.h.
 */
#include "runner/wire/refuse.h"

#include "base/json_text.h"
#include "runner/wire/media.h"

#include <errno.h>

int model_refuse(const struct model_place *at, const char *what, const char *detail)
{
	return err_set(at->err, -EINVAL, "message %zu: %s%s%.100s cannot be sent to %s",
		       at->message + 1, what, detail ? " " : "", detail ? detail : "",
		       at->provider);
}

static int refuse_other(const struct model_place *at, const struct part *p)
{
	CLEANUP(buf_release) struct buf kind = { 0 };
	int r = model_part_kind(p, &kind);

	if (r < 0 || !buf_cstr(&kind))
		return r < 0 ? r : -ENOMEM;
	return model_refuse(at, "a part", kind.data);
}

static int refuse_inline(const struct model_place *at, const struct part *p)
{
	if (!model_mime_is_plain(p->mime))
		return model_refuse(at, "inlineData without a valid mimeType", NULL);
	return model_refuse(at, "inlineData", p->mime);
}

int model_refuse_part(const struct model_place *at, const struct part *p)
{
	switch (p->kind) {
	case PART_INLINE:
		return refuse_inline(at, p);
	case PART_FILE:
		return model_refuse(at, "fileData", p->uri);
	case PART_CALL:
		return model_refuse(at, "a functionCall from the user", p->name);
	case PART_RESPONSE:
		return model_refuse(at, "a functionResponse from the model", p->name);
	default:
		return refuse_other(at, p);
	}
}

bool model_is_said(const struct part *p)
{
	if (p->thought || p->kind == PART_RESPONSE)
		return false;
	return p->kind != PART_TEXT || p->text.len;
}

static int other_text(const struct model_place *at, const struct part *p, struct buf *text)
{
	struct span token;
	int r = model_part_text(p, &token);

	return r == -ENOENT ? refuse_other(at, p) : r < 0 ? r : json_unquote(token, text);
}

static int inline_text(const struct model_place *at, const struct part *p, struct buf *text)
{
	int r;

	if (!model_mime_is(p->mime, "text/") && !model_mime_is(p->mime, "application/json"))
		return refuse_inline(at, p);
	r = model_inline_text(p, text);
	if (r == -EINVAL)
		return model_refuse(at, "inlineData that is not base64", p->mime);
	if (r == -EILSEQ)
		return model_refuse(at, "inlineData that is not UTF-8", p->mime);
	return r;
}

int model_said_text(const struct model_place *at, const struct part *p, struct buf *text)
{
	if (p->kind == PART_INLINE)
		return inline_text(at, p, text);
	if (p->kind == PART_OTHER)
		return other_text(at, p, text);
	if (p->kind != PART_TEXT)
		return model_refuse_part(at, p);
	buf_span_add(text, buf_span(&p->text));
	return 0;
}

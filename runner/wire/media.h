/*
 * Media in messages for models.
 */
#ifndef RUNNER_WIRE_MEDIA_H
#define RUNNER_WIRE_MEDIA_H

#include "store/json/content.h"

/* Whether a type is the wanted one, parameters aside; "image/" stands for all that begin so. */
bool model_mime_is(const char *mime, const char *wanted);

/* Whether a type can be written into JSON and URIs as it is. NULL can not. */
bool model_mime_is_plain(const char *mime);

/* Append a type without its parameters. */
void model_mime_put(struct buf *out, const char *mime);

/* Append a member whose value is the data: URI of inlineData. */
void model_data_uri_put(struct buf *out, const char *name, const struct part *p);

/* Append the bytes of inlineData that is text. -EINVAL: no base64; -EILSEQ: not UTF-8; -ENOMEM. */
MUST_CHECK int model_inline_text(const struct part *p, struct buf *text);

/* Append the name of the member that makes a part of other kinds what it is. -ENOMEM. */
MUST_CHECK int model_part_kind(const struct part *p, struct buf *kind);

/*
 * A part of other kinds that is text with more members: its string token. -ENOENT: it has
 * none, or data of another kind beside it.
 */
MUST_CHECK int model_part_text(const struct part *p, struct span *token);

/*
 * Make a content of the media that stand beside the response of a call, which are
 * functionResponse.parts; *media NULL: there are none. -ENOMEM.
 */
MUST_CHECK int model_result_media(const struct part *response, struct content **media);

#endif

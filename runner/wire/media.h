/*
 * Media in messages for models.
 */
#ifndef RUNNER_WIRE_MEDIA_H
#define RUNNER_WIRE_MEDIA_H

#include "store/json/content.h"

/* Whether a type, without its parameters, is the wanted one; "image/" means all types of images. */
bool model_mime_is(const char *mime, const char *wanted);

/* Whether a type can be written unchanged into JSON and URIs. NULL cannot. */
bool model_mime_is_plain(const char *mime);

/* Append a type without its parameters. */
void model_mime_put(struct buf *out, const char *mime);

/* Append a JSON member whose value is the data: URI of inlineData. */
void model_data_uri_put(struct buf *out, const char *name, const struct part *p);

/* Append inlineData as text. -EINVAL: not base64; -EILSEQ: not UTF-8; -ENOMEM. */
MUST_CHECK int model_inline_text(const struct part *p, struct buf *text);

/* Append the name of the first member of a PART_OTHER, which tells its kind. -ENOMEM. */
MUST_CHECK int model_part_kind(const struct part *p, struct buf *kind);

/*
 * Find the text of a PART_OTHER, a string token. -ENOENT: the part has no text, or it has
 * data of another kind too.
 */
MUST_CHECK int model_part_text(const struct part *p, struct span *token);

/*
 * Make a content of the media that stand beside the response of a call, which are
 * functionResponse.parts; *media NULL: there are none. -ENOMEM.
 */
MUST_CHECK int model_result_media(const struct part *response, struct content **media);

#endif

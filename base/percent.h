/*
 * Percent encoding, as in URIs: %XX stands for the byte with that hex value.
 */
#ifndef BASE_PERCENT_H
#define BASE_PERCENT_H

#include "base/buf.h"

/* Append one byte as %XX, in upper-case hex. */
void percent_byte(struct buf *out, char c);

/*
 * Append a text with every byte as %XX except the characters that a URI may
 * hold anywhere (A-Z a-z 0-9 - . _ ~) and the characters of `also`.
 */
void percent_encode(struct buf *out, struct span text, const char *also);

/*
 * Append a text with each %XX replaced by its byte. -EINVAL: a percent sign
 * without two hex digits after it, or a NUL byte; out may then hold a part of
 * the text. -ENOMEM.
 */
MUST_CHECK int percent_decode(struct span text, struct buf *out);

#endif

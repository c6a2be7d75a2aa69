/*
 * Base64, in both alphabets.
 */
#ifndef STORE_JSON_BASE64_H
#define STORE_JSON_BASE64_H

#include "base/buf.h"

enum base64_alphabet { BASE64_STANDARD, BASE64_URL_SAFE };

/* Decode a text in either alphabet, padded or not, and append the bytes. -EINVAL; -ENOMEM. */
MUST_CHECK int base64_decode(struct span text, struct buf *out);

/* Append text in the URL-safe alphabet, as the store has it, in the standard alphabet. */
void base64_put_standard(struct buf *out, struct span text);

/* Append bytes as padded base64. */
void base64_encode(struct buf *out, struct span bytes, enum base64_alphabet alphabet);

#endif

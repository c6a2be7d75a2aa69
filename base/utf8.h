/*
 * UTF-8: texts checked, characters decoded and encoded.
 *
 * Valid is what RFC 3629 says: no overlong form, no surrogate, nothing after
 * U+10FFFF.
 */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include "base/buf.h"

#define UTF8_LEN_MAX     4              /* bytes of a character */
#define UTF8_INVALID     UINT32_MAX     /* no character */
#define UTF8_REPLACEMENT "\xef\xbf\xbd" /* U+FFFD, which stands for invalid bytes */

bool utf8_is_valid(struct span text);

/*
 * How many bytes of text are whole and valid characters: text.len when all
 * are. *cut is set to whether more bytes could complete what follows them; cut
 * may be NULL.
 */
size_t utf8_prefix(struct span text, bool *cut);

/*
 * Remove the first character of a text that is not empty, and return it.
 * UTF8_INVALID: the first byte does not begin a character, and is removed.
 */
uint32_t utf8_take(struct span *text);

/* Write a character; returns how many bytes it has. */
size_t utf8_encode(uint32_t c, char bytes[UTF8_LEN_MAX]);

/* Append a character. */
void utf8_put(struct buf *out, uint32_t c);

#endif

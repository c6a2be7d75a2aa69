/*
 * Percent encoding, as URIs have it: %XX is a byte.
 */
#ifndef BASE_PERCENT_H
#define BASE_PERCENT_H

#include "base/buf.h"

/*
 * Append a text with its %XX as the bytes they are. -EINVAL: a percent sign
 * without two digits behind it, or a NUL; out may have some of the text then.
 * -ENOMEM.
 */
MUST_CHECK int percent_decode(struct span text, struct buf *out);

#endif

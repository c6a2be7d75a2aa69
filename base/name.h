/*
 * Names: how an id, a state key or a file name of ADK is spelled as one
 * component of a path, and back.
 *
 * A byte that a file name cannot hold ('/', NUL), '%' itself, and the dots of
 * the whole names "." and ".." are written %XX in upper-case hex. Everything
 * else stays. The mapping is one to one: a name that does not decode and
 * encode back to itself is refused.
 */
#ifndef BASE_NAME_H
#define BASE_NAME_H

#include "base/buf.h"

#define NAME_LEN_MAX 255 /* bytes of an id, and of a component of a path */

enum name_style {
	NAME_PLAIN,
	NAME_HIDE_DOT, /* a leading dot is written %2E: such names are scratch files here */
};

/* Append the file name of an id. -EINVAL: empty or not UTF-8; -ENAMETOOLONG. */
MUST_CHECK int name_encode(struct span id, enum name_style style, struct buf *name,
			   struct err *err);

/* Append the id of a file name. -EINVAL: not a name that name_encode makes; -ENAMETOOLONG. */
MUST_CHECK int name_decode(struct span name, enum name_style style, struct buf *id,
			   struct err *err);

#endif

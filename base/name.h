/*
 * Names: any text in UTF-8 as one component of a path, and back.
 *
 * A text of the user, such as an id, may hold what a file name cannot. Its
 * bytes '/', NUL and '%', and the dots of the texts "." and "..", are written
 * as %XX in upper-case hex. All other bytes stay. The mapping is one to one:
 * only a name that name_encode() makes is decoded.
 */
#ifndef BASE_NAME_H
#define BASE_NAME_H

#include "base/buf.h"

#define NAME_LEN_MAX 255 /* bytes of a component of a path */

enum name_style {
	NAME_PLAIN,
	NAME_HIDE_DOT, /* a dot at the start is written %2E: names with a dot mean scratch files */
};

/* Append the name of an id. -EINVAL: the id is empty or not UTF-8; -ENAMETOOLONG. */
MUST_CHECK int name_encode(struct span id, enum name_style style, struct buf *name,
			   struct err *err);

/* Append the id of a name. -EINVAL: name_encode() makes no such name; -ENAMETOOLONG. */
MUST_CHECK int name_decode(struct span name, enum name_style style, struct buf *id,
			   struct err *err);

#endif

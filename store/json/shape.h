/*
 * Shapes of ADK's JSON objects, as tables.
 *
 * Each kind of object (event, actions, content, part, ...) has a table: the members that the
 * object may have, the kinds of their values, and the order in which they are written. The codec
 * walks text and table together. It takes a member in camelCase or snake_case, refuses members
 * that the table lacks, and writes the canonical form. Values that belong to the user ("free")
 * keep their keys, order, numbers and nulls.
 */
#ifndef STORE_JSON_SHAPE_H
#define STORE_JSON_SHAPE_H

#include "base/buf.h"
#include "base/json_text.h"

enum field_kind {
	FIELD_STRING,      /* any string */
	FIELD_ID,          /* 0 to 255 bytes without NUL */
	FIELD_BOOL,        /* true or false */
	FIELD_NUMBER,      /* kept as written */
	FIELD_INT,         /* int64; "3" and 3.0 mean 3 */
	FIELD_TIME,        /* seconds since 1970, written with six decimals */
	FIELD_BYTES,       /* base64, written URL-safe and padded */
	FIELD_UPPER,       /* a word, written in upper case if it is known */
	FIELD_FREE,        /* any value of the user */
	FIELD_FREE_OBJECT, /* an object of the user */
	FIELD_OPAQUE,      /* any object of ADK: written with camelCase keys and no nulls */
	FIELD_OPAQUE_LIST, /* a list of such objects */
	FIELD_SHAPE,       /* an object with a table */
	FIELD_SHAPE_LIST,  /* a list of objects with a table */
	FIELD_SHAPE_MAP,   /* names of the user to objects with a table */
	FIELD_OPAQUE_MAP,  /* names of the user to opaque objects */
	FIELD_INT_MAP,     /* names of the user to integers */
	FIELD_ID_SET,      /* a list of ids, each once */
	FIELD_ROUTE,       /* a bool, an int or a string, or a list of them */
};

enum field_flag {
	FIELD_NOT_NULL = 1,   /* null is refused; without the flag it means absent */
	FIELD_DROP_EMPTY = 2, /* {} and [] are not written */
	FIELD_REQUIRED = 4,
};

struct field {
	const char *name; /* camelCase; NULL ends the table */
	enum field_kind kind;
	const struct shape *shape;
	unsigned flags;
};

struct shape {
	const char *name; /* for errors */
	const struct field *fields;
};

#define SHAPE_FIELDS_MAX 40
#define SHAPE_NAMES_MAX  5000 /* ids of a FIELD_ID_SET, members of a FIELD_OPAQUE */

/* The place of each member's canonical text in a buf. len 0: the member is absent. */
struct fieldset {
	struct {
		size_t at;
		size_t len;
	} value[SHAPE_FIELDS_MAX];
};

/*
 * Take an object: append the canonical text of each member to `text`, and note its place in
 * *set. -EINVAL, -ENODATA, -ENOMEM as in base/json_text.h.
 */
MUST_CHECK int shape_fields(struct json_scan *s, const struct shape *shape, struct fieldset *set,
			    struct buf *text);

/* Take an object and append its canonical text. Errors as for shape_fields(). */
MUST_CHECK int shape_canonical(struct json_scan *s, const struct shape *shape, struct buf *out);

/* Take an object that is the whole text. Errors as for shape_fields(). */
MUST_CHECK int shape_canonical_text(struct span text, const struct shape *shape, struct buf *out,
				    struct err *err);

/* The tables that more than one object has. */
extern const struct shape content_shape;
extern const struct field transcription_fields[];

#endif

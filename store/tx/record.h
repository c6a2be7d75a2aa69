/*
 * Records: the values of rows that have members.
 *
 * A record is a list of varints (7 bits a byte, least first, high bit: more)
 * and texts (a varint length, then bytes). What a newer version adds comes at
 * the end; a reader takes a missing member as 0 or empty. A struct that is
 * stored as a record has a table of its fields, which is the specification.
 */
#ifndef STORE_TX_RECORD_H
#define STORE_TX_RECORD_H

#include "base/buf.h"

enum record_kind { RECORD_END, RECORD_NUMBER, RECORD_TEXT };

/* A member of a struct, in its place in the record. */
struct record_field {
	enum record_kind kind; /* RECORD_END ends the table */
	size_t at;
	size_t size;
};

/* A number is a bool or has 4 or 8 bytes; a text is an array of char, and ends with NUL. */
#define RECORD_FIELD(type, member, kind)                                                           \
	{                                                                                          \
		(kind), offsetof(type, member), sizeof((type *)NULL)->member                       \
	}
#define RECORD_NUMBER(type, member) RECORD_FIELD(type, member, RECORD_NUMBER)
#define RECORD_TEXT(type, member)   RECORD_FIELD(type, member, RECORD_TEXT)

/* Append the fields of an object. */
void record_put(const struct record_field *fields, const void *object, struct buf *out);

void record_number(struct buf *out, uint64_t value);
void record_text(struct buf *out, struct span text);

struct record_reader {
	struct span left;
	bool bad; /* something did not parse, or did not fit */
};

/* Take the fields of an object. */
void record_take(const struct record_field *fields, struct record_reader *r, void *object);

uint64_t record_take_number(struct record_reader *r);
struct span record_take_text(struct record_reader *r);

#endif

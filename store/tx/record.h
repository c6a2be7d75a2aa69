/*
 * Records: the values of rows that have members.
 *
 * A record is a list of varints (7 bits a byte, least first, high bit: more)
 * and texts (a varint length, then bytes). A newer version of a record has its new members at
 * the end, and a reader takes a missing member as 0 or empty. A struct that is stored as a
 * record has a table of its fields, which specifies the record.
 */
#ifndef STORE_TX_RECORD_H
#define STORE_TX_RECORD_H

#include "base/buf.h"

enum record_kind { RECORD_END, RECORD_NUMBER, RECORD_TEXT, RECORD_GONE };

/* A member of a struct, in its place in the record. */
struct record_field {
	enum record_kind kind; /* RECORD_END ends the table */
	size_t at;
	size_t size;
};

/* A number is a bool or has 4 or 8 bytes. A text is an array of char that ends with NUL. */
#define RECORD_FIELD(type, member, kind)                                                           \
	{                                                                                          \
		(kind), offsetof(type, member), sizeof((type *)NULL)->member                       \
	}
/* The place of a number that records of older stores have. */
#define RECORD_OLD_NUMBER                                                                          \
	{                                                                                          \
		.kind = RECORD_GONE                                                                \
	}
#define RECORD_NUMBER(type, member) RECORD_FIELD(type, member, RECORD_NUMBER)
#define RECORD_TEXT(type, member)   RECORD_FIELD(type, member, RECORD_TEXT)

/* Append the fields of an object as a table lists them. */
void record_put(const struct record_field *fields, const void *object, struct buf *out);

void record_number(struct buf *out, uint64_t value);
void record_text(struct buf *out, struct span text);

struct record_reader {
	struct span left;
	bool bad; /* a member did not parse or did not fit; stays set */
};

/* Take the fields of an object. A text that does not fit sets `bad` and leaves the field empty. */
void record_take(const struct record_field *fields, struct record_reader *r, void *object);

/* Take a number, or a text that points into the record. 0 or empty: missing or bad. */
uint64_t record_take_number(struct record_reader *r);
struct span record_take_text(struct record_reader *r);

#endif

/*
 * JSON as text: a scanner that checks a text and does not change it.
 *
 * No number passes through a double, and the members of an object keep their
 * order; a tree of values could promise neither. The scanner accepts RFC 8259,
 * and refuses invalid UTF-8, lone surrogates, NaN, comments, numbers of more
 * than JSON_NUMBER_MAX characters, and more levels than the caller allows.
 *
 * Canonical text has no space outside strings and escapes only what must be
 * escaped. Where an object repeats a member, canonical text has that member
 * once: at the place of the first, with the value of the last.
 */
#ifndef BASE_JSON_TEXT_H
#define BASE_JSON_TEXT_H

#include "base/buf.h"

#define JSON_NUMBER_MAX 4300
#define JSON_DEPTH_FREE 128 /* levels of a value that may be any JSON */
#define JSON_DEPTH_MAX  144 /* levels of a whole text, with such values in it */

/* A position in a text. Each function that succeeds leaves it after what it scanned. */
struct json_scan {
	const char *at;
	const char *end;
	const char *start;
	int depth; /* levels that may still be opened */
	struct err *err;
};

/*
 * The functions that scan return 0, or
 *   -EINVAL   the text is not JSON: err says what is wrong and where
 *   -ENODATA  the text is JSON so far, but ends too early
 *   -ENOMEM
 */
struct json_scan json_scan_of(struct span text, int depth, struct err *err);

/*
 * The kind of the next value, by its first character: one of { [ " t f n 0,
 * where 0 stands for any number; or an error. The value is not scanned.
 */
MUST_CHECK int json_peek(struct json_scan *s);

/* 0: only white space is left; -EINVAL: something else follows. */
MUST_CHECK int json_end(struct json_scan *s);

/* Check a value. *value is its text as written, borrowed. */
MUST_CHECK int json_raw(struct json_scan *s, struct span *value);

/* Check a value and append its canonical text. */
MUST_CHECK int json_canonical(struct json_scan *s, struct buf *out);

/* Check a string and append the bytes that it stands for. */
MUST_CHECK int json_take_string(struct json_scan *s, struct buf *out);

/*
 * Walk an object: json_open(s, '{'), then json_key() before each value. It
 * returns 1 with the decoded key in `key`, which it clears first, or 0 at the
 * end of the object.
 *
 * Walk a list: json_open(s, '['), then json_item() before each value. It
 * returns 1, or 0 at the end of the list.
 *
 * *first must be true before the first call.
 */
MUST_CHECK int json_open(struct json_scan *s, char bracket);
MUST_CHECK int json_key(struct json_scan *s, bool *first, struct buf *key);
MUST_CHECK int json_item(struct json_scan *s, bool *first);

/* Set s->err to a text that ends with the position. Returns -EINVAL. */
int json_fail(struct json_scan *s, const char *fmt, ...) PRINTF(2, 3);

/* Append the canonical text of one value. -EINVAL: something follows the value. */
MUST_CHECK int json_canonical_text(struct span text, int depth, struct buf *out, struct err *err);

/* Append text as a JSON string, quotes included. The text must be valid UTF-8. */
void json_quote(struct buf *out, struct span text);

/* Like json_quote(), for any bytes: each invalid byte becomes U+FFFD. */
void json_quote_lossy(struct buf *out, struct span text);

/* Find a member of a checked object. *value is its text, borrowed. -ENOENT. */
MUST_CHECK int json_member(struct span object, const char *name, struct span *value);

/* Append the bytes that a checked string with its quotes stands for. -EINVAL: not a string. */
MUST_CHECK int json_unquote(struct span token, struct buf *out);

/*
 * Call fn for each member of a checked object, with the decoded key. Returns 0,
 * an error, or the first result of fn that is not 0, which ends the walk.
 */
typedef int json_member_fn(void *arg, struct span key, struct span value);
MUST_CHECK int json_each(struct span object, json_member_fn *fn, void *arg);

#endif

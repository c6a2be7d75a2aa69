/*
 * JSON as text: a scanner that checks and keeps what was written.
 *
 * Numbers never pass through a double and the members of an object keep their
 * order, which is why the store does not use a JSON tree. Accepted: RFC 8259.
 * Refused: invalid UTF-8, lone surrogates, NaN, comments, numbers of more than
 * JSON_NUMBER_MAX characters, more than the given depth.
 *
 * Canonical text has no space outside strings, escapes only what must be, and
 * keeps of a repeated member the last value at the place of the first.
 */
#ifndef BASE_JSON_TEXT_H
#define BASE_JSON_TEXT_H

#include "base/buf.h"

#define JSON_NUMBER_MAX  4300
#define JSON_DEPTH_FREE  128 /* below a free value: one state value, arguments, ... */
#define JSON_DEPTH_EVENT 144 /* a line of the log as a whole */

/* A position in a text. Every function leaves it behind what it took. */
struct json_scan {
	const char *at;
	const char *end;
	const char *start;
	int depth; /* levels that may still be opened */
	struct err *err;
};

/*
 * All functions that scan return
 *   -EINVAL   no JSON: err says what and where
 *   -ENODATA  right so far, but the text ends here
 *   -ENOMEM
 */
struct json_scan json_scan_of(struct span text, int depth, struct err *err);

/*
 * What the next value is, by its first character: one of { [ " t f n 0, where 0
 * stands for any number; or an error.
 */
MUST_CHECK int json_peek(struct json_scan *s);

/* Only white space is left: 0, else -EINVAL. */
MUST_CHECK int json_end(struct json_scan *s);

/* Check a value and step over it; *value is its text as written. */
MUST_CHECK int json_raw(struct json_scan *s, struct span *value);

/* Check a value and append its canonical text. */
MUST_CHECK int json_canonical(struct json_scan *s, struct buf *out);

/* Check a string and append its bytes, decoded. */
MUST_CHECK int json_take_string(struct json_scan *s, struct buf *out);

/*
 * Walk an object: json_open(s, '{'), then for each member json_key() == 1 and
 * the value taken; json_key() == 0 is the end. key is replaced, decoded.
 * A list: json_open(s, '['), then json_item() == 1 before each value.
 * *first starts as true.
 */
MUST_CHECK int json_open(struct json_scan *s, char bracket);
MUST_CHECK int json_key(struct json_scan *s, bool *first, struct buf *key);
MUST_CHECK int json_item(struct json_scan *s, bool *first);

/* -EINVAL with a text that names the place. */
int json_fail(struct json_scan *s, const char *fmt, ...) PRINTF(2, 3);

/* One whole value, canonical. As above; -EINVAL also for anything behind it. */
MUST_CHECK int json_canonical_text(struct span text, int depth, struct buf *out, struct err *err);

/* Append text as a JSON string, quotes included. The text must be valid UTF-8. */
void json_quote(struct buf *out, struct span text);

/* As json_quote; bytes that are not UTF-8 become U+FFFD. For what programs print. */
void json_quote_lossy(struct buf *out, struct span text);

/* The text of a member of a checked object, -ENOENT without it. */
MUST_CHECK int json_member(struct span object, const char *name, struct span *value);

/* Decode a checked string token, as json_member gives it. -EINVAL: not a string. */
MUST_CHECK int json_unquote(struct span token, struct buf *out);

/*
 * Call fn for each member of a checked object, key decoded. Ends early with
 * what fn returns if that is not 0.
 */
typedef int json_member_fn(void *arg, struct span key, struct span value);
MUST_CHECK int json_each(struct span object, json_member_fn *fn, void *arg);

#endif

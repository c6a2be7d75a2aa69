/*
 * Bytes: a span borrows them, a buf owns and grows them.
 *
 * A buf that could not grow remembers it (`failed`) and takes nothing more, so
 * that a chain of appends needs one check at its end: buf_check().
 */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include "base/cc.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Borrowed bytes; whoever made it says for how long. */
struct span {
	const char *data;
	size_t len;
};

/* Owned bytes. All zero is an empty buf. */
struct buf {
	char *data;
	size_t len;
	size_t cap;
	bool failed;
};

#define SPAN(literal) ((struct span){ (literal), sizeof(literal) - 1 })

static inline struct span span_of(const char *text)
{
	return (struct span){ text, text ? strlen(text) : 0 };
}

static inline struct span span_sub(struct span s, size_t from, size_t to)
{
	return (struct span){ s.data + from, to - from };
}

static inline bool span_equal(struct span a, struct span b)
{
	return a.len == b.len && (a.len == 0 || memcmp(a.data, b.data, a.len) == 0);
}

static inline bool span_is(struct span a, const char *text)
{
	return span_equal(a, span_of(text));
}

static inline struct span buf_span(const struct buf *b)
{
	return (struct span){ b->data ? b->data : "", b->len };
}

/* Whether a text has blanks only (char_is_blank), or nothing at all. */
bool span_is_blank(struct span s);

/* A text without the blanks at its start, at its end, at both. */
struct span span_trim_start(struct span s);
struct span span_trim_end(struct span s);
struct span span_trim(struct span s);

/* Negative, zero or positive as bytes order them; a prefix is smaller. */
int span_compare(struct span a, struct span b);

/* For tables in memory: equal bytes have equal numbers. */
uint64_t span_hash(struct span s);

/* A copy that ends with NUL; NULL when out of memory. The caller frees it. */
char *span_dup(struct span s);

/* Free what the buf holds and leave it empty. */
void buf_release(struct buf *b);

/* Forget the content, keep the memory. */
void buf_clear(struct buf *b);

/* Make room for `more` bytes behind the content. False when out of memory. */
bool buf_reserve(struct buf *b, size_t more);

void buf_add(struct buf *b, const void *data, size_t len);
void buf_char(struct buf *b, char c);
void buf_printf(struct buf *b, const char *fmt, ...) PRINTF(2, 3);

static inline void buf_span_add(struct buf *b, struct span s)
{
	buf_add(b, s.data, s.len);
}

static inline void buf_text(struct buf *b, const char *text)
{
	buf_add(b, text, strlen(text));
}

/* Drop the first n bytes. */
void buf_consume(struct buf *b, size_t n);

/* A NUL behind the content, which len does not count. NULL when out of memory. */
char *buf_cstr(struct buf *b);

static inline void *buf_list(const struct buf *b, size_t size, size_t *n)
{
	if (n)
		*n = b->len / size;
	return b->data;
}

/* The items of a buf that holds a list of TYPE; *n is their number; n may be NULL. */
#define BUF_LIST(type, b, n) ((type *)buf_list((b), sizeof(type), (n)))

/* 0, or -ENOMEM when an append had failed. */
MUST_CHECK int buf_check(const struct buf *b, struct err *err);

#endif

/*
 * Bytes: a span borrows them, a buf owns them and grows.
 *
 * When a buf cannot grow, it sets `failed` and ignores all later appends. A
 * chain of appends therefore needs one check at its end: buf_check().
 */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include "base/cc.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Borrowed bytes. The function that returns a span says how long they last. */
struct span {
	const char *data;
	size_t len;
};

/* Owned bytes. A buf of zeros is empty. */
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

/* True if a text is empty or has only blanks, which char_is_blank() defines. */
bool span_is_blank(struct span s);

/* A text without the blanks at its start, at its end, or at both. */
struct span span_trim_start(struct span s);
struct span span_trim_end(struct span s);
struct span span_trim(struct span s);

/* Compare byte by byte: negative, zero or positive. A prefix is smaller. */
int span_compare(struct span a, struct span b);

/* A hash for tables in memory. The value may change, so it is never stored. */
uint64_t span_hash(struct span s);

/* Copy the bytes and add a NUL. The caller frees the copy. NULL: out of memory. */
char *span_dup(struct span s);

/* For CLEANUP: frees a text, such as a copy. */
DEFINE_CLEANUP(char, free);

/* Free the memory and leave the buf empty. */
void buf_release(struct buf *b);

/* Drop the content and `failed`, keep the memory. */
void buf_clear(struct buf *b);

/* Make room for `more` bytes after the content. False: out of memory. */
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

/* Put a NUL after the content; len does not count it. Returns data. NULL: out of memory. */
char *buf_cstr(struct buf *b);

/* Whether a list of texts, each with its NUL, has this text. */
bool buf_has_text(const struct buf *list, const char *text);

static inline void *buf_list(const struct buf *b, size_t size, size_t *n)
{
	if (n)
		*n = b->len / size;
	return b->data;
}

/* The items of a buf that holds a list of TYPE. *n is their number; n may be NULL. */
#define BUF_LIST(type, b, n) ((type *)buf_list((b), sizeof(type), (n)))

/* 0, or -ENOMEM if an append failed. */
MUST_CHECK int buf_check(const struct buf *b, struct err *err);

#endif

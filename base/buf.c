/*
 * Bytes: see buf.h.
 */
#include "base/buf.h"

#include "base/char.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

struct span span_trim_start(struct span s)
{
	while (s.len && char_is_blank(s.data[0]))
		s = span_sub(s, 1, s.len);
	return s;
}

struct span span_trim_end(struct span s)
{
	while (s.len && char_is_blank(s.data[s.len - 1]))
		s.len--;
	return s;
}

struct span span_trim(struct span s)
{
	return span_trim_start(span_trim_end(s));
}

bool span_is_blank(struct span s)
{
	return !span_trim_end(s).len;
}

int span_compare(struct span a, struct span b)
{
	size_t n = MIN(a.len, b.len);
	int r = n ? memcmp(a.data, b.data, n) : 0;

	if (r)
		return r;
	return a.len < b.len ? -1 : a.len > b.len;
}

uint64_t span_hash(struct span s)
{
	uint64_t h = 14695981039346656037u;
	size_t i;

	for (i = 0; i < s.len; i++)
		h = (h ^ (unsigned char)s.data[i]) * 1099511628211u;
	return h ^ h >> 29;
}

char *span_dup(struct span s)
{
	char *copy = malloc(s.len + 1);

	if (!copy)
		return NULL;
	if (s.len)
		memcpy(copy, s.data, s.len);
	copy[s.len] = 0;
	return copy;
}

void buf_release(struct buf *b)
{
	free(b->data);
	*b = (struct buf){ 0 };
}

void buf_clear(struct buf *b)
{
	b->len = 0;
	b->failed = false;
}

bool buf_reserve(struct buf *b, size_t more)
{
	size_t cap = b->cap ? b->cap : 64;
	char *data;

	if (b->failed || more > SIZE_MAX / 4 - b->len) {
		b->failed = true;
		return false;
	}
	if (b->len + more <= b->cap)
		return true;
	while (cap < b->len + more)
		cap *= 2;
	data = realloc(b->data, cap);
	if (!data) {
		b->failed = true;
		return false;
	}
	b->data = data;
	b->cap = cap;
	return true;
}

void buf_add(struct buf *b, const void *data, size_t len)
{
	if (!len || !buf_reserve(b, len))
		return;
	memcpy(b->data + b->len, data, len);
	b->len += len;
}

void buf_char(struct buf *b, char c)
{
	buf_add(b, &c, 1);
}

void buf_printf(struct buf *b, const char *fmt, ...)
{
	size_t room = 48; /* enough for most texts */
	va_list args;
	int n = 0;

	while (buf_reserve(b, room)) {
		va_start(args, fmt);
		n = vsnprintf(b->data + b->len, room, fmt, args);
		va_end(args);
		if (n < 0)
			return;
		if ((size_t)n < room) {
			b->len += (size_t)n;
			return;
		}
		room = (size_t)n + 1;
	}
}

void buf_consume(struct buf *b, size_t n)
{
	b->len -= n;
	if (b->len)
		memmove(b->data, b->data + n, b->len);
}

char *buf_cstr(struct buf *b)
{
	if (!buf_reserve(b, 1))
		return NULL;
	b->data[b->len] = 0;
	return b->data;
}

bool buf_has_text(const struct buf *list, const char *text)
{
	size_t at = 0;

	while (at < list->len) {
		if (!strcmp(list->data + at, text))
			return true;
		at += strlen(list->data + at) + 1;
	}
	return false;
}

int buf_check(const struct buf *b, struct err *err)
{
	return b->failed ? err_nomem(err) : 0;
}

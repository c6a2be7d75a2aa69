/*
 * Content: see content.h.
 */
#include "tests/verify/content.h"

#include "tests/verify/steps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void content_new(struct content *c, uint64_t room)
{
	*c = (struct content){ .data = calloc(1, room ? room : 1), .room = room };
	if (!c->data) {
		fprintf(stderr, "no memory for %llu bytes\n", (unsigned long long)room);
		exit(2);
	}
}

void content_free(struct content *c)
{
	free(c->data);
	*c = (struct content){ 0 };
}

void content_copy(struct content *to, const struct content *from)
{
	if (to->size > from->size)
		memset(to->data + from->size, 0, to->size - from->size);
	memcpy(to->data, from->data, from->size);
	to->size = from->size;
}

void content_put(struct content *c, uint64_t at, const uint8_t *data, size_t len)
{
	memcpy(c->data + at, data, len);
	if (len > 0)
		c->size = MAX(c->size, at + len);
}

void content_zero(struct content *c, uint64_t at, size_t len)
{
	memset(c->data + at, 0, content_has(c, at, len));
}

void content_resize(struct content *c, uint64_t size)
{
	if (size < c->size)
		memset(c->data + size, 0, c->size - size);
	c->size = size;
}

size_t content_has(const struct content *c, uint64_t at, size_t len)
{
	return at < c->size ? MIN(len, c->size - at) : 0;
}

void content_compare(const struct content *c, const uint8_t *got, uint64_t at, size_t len,
		     const char *what)
{
	const uint8_t *want = c->data + at;
	size_t first = 0;
	size_t wrong = 0;

	if (memcmp(got, want, len) == 0)
		return;
	while (got[first] == want[first])
		first++;
	for (size_t i = first; i < len; i++)
		wrong += got[i] != want[i];
	differs("%s: %zu of %zu bytes at %llu are wrong; the first is at %llu, 0x%02x and not "
		"0x%02x (the size is %llu)",
		what, wrong, len, (unsigned long long)at, (unsigned long long)(at + first),
		got[first], want[first], (unsigned long long)c->size);
}

void content_compare_fd(const struct content *c, int fd, const char *what)
{
	static uint8_t piece[1 << 16];
	uint64_t at = 0;
	ssize_t n;

	while ((n = pread(fd, piece, sizeof piece, (off_t)at)) > 0) {
		if (at + (size_t)n > c->size)
			differs("%s: it has more than %llu bytes", what,
				(unsigned long long)c->size);
		content_compare(c, piece, at, (size_t)n, what);
		at += (size_t)n;
	}
	must(n == 0, what);
	if (at < c->size)
		differs("%s: it ends at %llu and not at %llu", what, (unsigned long long)at,
			(unsigned long long)c->size);
}

/*
 * Content: the bytes that a file must have, in memory.
 *
 * The buffer has room for the largest size of the run; what lies behind the
 * size is zero, so that a file that grows shows zeroes there as POSIX says.
 */
#ifndef VERIFY_CONTENT_H
#define VERIFY_CONTENT_H

#include <stddef.h>
#include <stdint.h>

struct content {
	uint8_t *data;
	uint64_t size;
	uint64_t room;
};

/* An empty content that may grow to `room` bytes. Exits if there is no memory. */
void content_new(struct content *c, uint64_t room);
void content_free(struct content *c);

void content_copy(struct content *to, const struct content *from);
void content_put(struct content *c, uint64_t at, const uint8_t *data, size_t len);
void content_zero(struct content *c, uint64_t at, size_t len); /* does not grow */
void content_resize(struct content *c, uint64_t size);

/* How many of `len` bytes at `at` lie in the content. */
size_t content_has(const struct content *c, uint64_t at, size_t len);

/* What was read at an offset must be the bytes that are there: else differs(). */
void content_compare(const struct content *c, const uint8_t *got, uint64_t at, size_t len,
		     const char *what);

/* A whole file, read to its end through a descriptor, must be the content. */
void content_compare_fd(const struct content *c, int fd, const char *what);

#endif

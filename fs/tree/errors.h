/*
 * .errors: why recent operations were refused, by the directory they were in.
 *
 * In memory only, for the last ERRORS_PLACES directories that had any, each
 * with its last ERRORS_BYTES of lines.
 */
#ifndef FS_TREE_ERRORS_H
#define FS_TREE_ERRORS_H

#include "base/buf.h"
#include "base/mutex.h"

#define ERRORS_PLACES 256
#define ERRORS_BYTES  16384

struct errors {
	struct mutex lock;
	struct error_place {
		uint64_t object; /* number of the app, user or session; 0: free */
		uint64_t stamp;
		struct buf lines;
	} places[ERRORS_PLACES] GUARDED_BY(lock);
};

void errors_init(struct errors *e);
void errors_release(struct errors *e);

/* Add a line: when, on which name, which errno, why. */
void errors_add(struct errors *e, uint64_t object, const char *name, const struct err *why);

/* The inode number of a directory's .errors. */
uint64_t errors_ino(uint64_t object);

/* Append the lines of a directory. */
void errors_show(struct errors *e, uint64_t object, struct buf *out);

/* Size of the text, and the time of its last line; both 0 without any. */
void errors_stat(struct errors *e, uint64_t object, uint64_t *size, uint64_t *stamp);

#endif

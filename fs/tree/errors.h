/*
 * .errors: why recent operations were refused, for each app, user and session.
 *
 * The lines are in memory only: the last ERRORS_BYTES of each of the
 * ERRORS_PLACES directories with the latest errors. Any thread may add and show.
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
		uint64_t object; /* number of the app, user or session; 0: the row is free */
		uint64_t stamp;
		struct buf lines;
	} places[ERRORS_PLACES] GUARDED_BY(lock);
};

void errors_init(struct errors *e);
void errors_release(struct errors *e);

/* Add a line: the time, the name, the errno and the reason. */
void errors_add(struct errors *e, uint64_t object, const char *name, const struct err *why);

/* The inode number of the .errors of a directory. */
uint64_t errors_ino(uint64_t object);

/* Append the lines of a directory. */
void errors_show(struct errors *e, uint64_t object, struct buf *out);

/* Size of the text, and the time of its last line; both are 0 if there is no line. */
void errors_stat(struct errors *e, uint64_t object, uint64_t *size, uint64_t *stamp);

#endif

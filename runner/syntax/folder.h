/*
 * Folders: where an agent's files lie, and which state of them was read.
 *
 * Names are relative to the folder. What they lead to, symlinks resolved, has
 * to lie inside it.
 */
#ifndef RUNNER_SYNTAX_FOLDER_H
#define RUNNER_SYNTAX_FOLDER_H

#include "base/buf.h"

#include <jansson.h>

struct folder {
	char *path;     /* absolute, symlinks resolved */
	json_t *files;  /* object: name -> "SIZE MTIME_NS INODE", or "absent" */
	uint64_t mtime; /* ns; the newest of those files */
};

/* -ENOENT, -ENOTDIR, another -errno. */
MUST_CHECK int folder_open(const char *path, struct folder *out, struct err *err);
void folder_release(struct folder *folder);

/*
 * The absolute path that a name leads to, to be freed. -ENOENT; -EINVAL: it is
 * absolute itself, or leads out of the folder; -ENOMEM; another -errno.
 */
MUST_CHECK int folder_resolve(const struct folder *folder, const char *name, char **path,
			      struct err *err);

/*
 * Append the bytes of a regular file, and keep its state. -ENOENT; -EFBIG:
 * over `max`; -EINVAL: not a regular file, or outside; -ENOMEM; another -errno.
 */
MUST_CHECK int folder_read(struct folder *folder, const char *name, size_t max, struct buf *text,
			   struct err *err);

/* Keep the state of a file that somebody else reads, also that there is none. */
MUST_CHECK int folder_note(struct folder *folder, const char *name, struct err *err);

/*
 * The absolute path of a program, to be freed. -ENOENT; -EINVAL: it is not
 * inside, not a regular file or not executable.
 */
MUST_CHECK int folder_program(const struct folder *folder, const char *name, char **path,
			      struct err *err);

/* Whether one of the files that were kept has another state by now. */
bool folder_changed(const char *path, const json_t *files);

#endif

/*
 * Folders: the files of an agent, and the state in which each was read.
 *
 * Names are relative to the folder. A file must lie inside the folder even after
 * its symlinks are resolved.
 */
#ifndef RUNNER_SYNTAX_FOLDER_H
#define RUNNER_SYNTAX_FOLDER_H

#include "base/buf.h"

#include <jansson.h>

struct folder {
	char *path;     /* absolute, symlinks resolved */
	json_t *files;  /* object: name -> "SIZE MTIME_NS INODE", or "absent" */
	uint64_t mtime; /* ns; of the newest of those files */
};

/* 0; -ENOENT, -ENOTDIR, another -errno. */
MUST_CHECK int folder_open(const char *path, struct folder *out, struct err *err);
void folder_release(struct folder *folder);

/*
 * Find the absolute path that a name leads to; the caller frees it. 0; -ENOENT;
 * -EINVAL: the name is absolute, or leads out of the folder; -ENOMEM; another
 * -errno.
 */
MUST_CHECK int folder_resolve(const struct folder *folder, const char *name, char **path,
			      struct err *err);

/*
 * Append the bytes of a regular file, and keep its state. 0; -ENOENT; -EFBIG:
 * over `max`; -EINVAL: not a regular file, or outside; -ENOMEM; another -errno.
 */
MUST_CHECK int folder_read(struct folder *folder, const char *name, size_t max, struct buf *text,
			   struct err *err);

/* Keep the state of a file that other code reads, even if the file is absent. 0 or -errno. */
MUST_CHECK int folder_note(struct folder *folder, const char *name, struct err *err);

/*
 * Find the absolute path of a program; the caller frees it. 0; -ENOENT; -EINVAL: the
 * file is outside, not regular or not executable.
 */
MUST_CHECK int folder_program(const struct folder *folder, const char *name, char **path,
			      struct err *err);

/* Whether one of the files has another state now than the one that was kept. */
bool folder_changed(const char *path, const json_t *files);

#endif

/*
 * Caches of files that are read once and used by many, such as scripts.
 *
 * A file is read again when its size, its inode or its time has changed. What was read
 * never changes, and lives as long as somebody has a reference.
 */
#ifndef RUNNER_SYNTAX_FILE_CACHE_H
#define RUNNER_SYNTAX_FILE_CACHE_H

#include "base/buf.h"
#include "base/mutex.h"

#include <stdatomic.h>
#include <sys/stat.h>

#define FILE_CACHE_MAX 32 /* files in a cache */

/* What was read of a file begins with one of these. */
struct cached_file {
	atomic_uint refs; /* pairs with itself: the last to count down frees */
	char *path;       /* absolute */
	char *name;       /* relative to the folder, for errors */
	struct stat st;   /* of the file that was read */
	bool is_parsed;   /* parse() was called, so release() must be */
};

/* A cache of one kind of file. */
struct file_cache {
	size_t size;     /* of the struct that begins with a struct cached_file */
	size_t max;      /* bytes of a file */
	unsigned places; /* at most FILE_CACHE_MAX */

	/* Fill in what the text says; all members start as zero. -EINVAL with err; -ENOMEM. */
	int (*parse)(struct cached_file *file, struct span text, struct err *err);

	/* Free what the members after the struct cached_file hold. Called after parse(), even if
	 * that failed. */
	void (*release)(struct cached_file *file);

	struct mutex lock; /* no lock is taken under it */
	struct cached_file *list[FILE_CACHE_MAX] GUARDED_BY(lock);
	unsigned next GUARDED_BY(lock); /* the place that is taken next */
};

/*
 * Open FOLDER/NAME. *out is one reference for the caller. -ENOENT; -EINVAL: the file is
 * outside of the folder or not regular, or what parse() says; -EFBIG; -ENOMEM; another
 * -errno. Any thread.
 */
MUST_CHECK int file_cache_open(struct file_cache *cache, const char *folder, const char *name,
			       struct cached_file **out, struct err *err);

/* Give a reference back; NULL is fine. */
void file_cache_unref(const struct file_cache *cache, struct cached_file *file);

#endif

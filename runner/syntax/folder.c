/*
 * Folders: see folder.h.
 */
#include "runner/syntax/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define STATE_MAX    80 /* three numbers and two blanks */
#define STATE_ABSENT "absent"

static void close_fd(const int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
}

void folder_release(struct folder *folder)
{
	free(folder->path);
	json_decref(folder->files);
	*folder = (struct folder){ 0 };
}

int folder_open(const char *path, struct folder *out, struct err *err)
{
	struct folder folder = { 0 };
	struct stat st;

	folder.path = realpath(path, NULL);
	if (!folder.path)
		return err_errno(err, -errno, "%s", path);
	folder.files = json_object();
	if (!folder.files) {
		folder_release(&folder);
		return err_nomem(err);
	}
	if (stat(folder.path, &st) < 0 || !S_ISDIR(st.st_mode)) {
		folder_release(&folder);
		return err_errno(err, -ENOTDIR, "%s", path);
	}
	*out = folder;
	return 0;
}

/* States */

static uint64_t mtime_of(const struct stat *st)
{
	return (uint64_t)st->st_mtim.tv_sec * 1000000000u + (uint64_t)st->st_mtim.tv_nsec;
}

static void write_state(const struct stat *st, char *out)
{
	(void)snprintf(out, STATE_MAX, "%jd %ju %ju", (intmax_t)st->st_size,
		       (uintmax_t)mtime_of(st), (uintmax_t)st->st_ino);
}

static int keep_state(struct folder *folder, const char *name, const struct stat *st,
		      struct err *err)
{
	char state[STATE_MAX] = STATE_ABSENT;

	if (st)
		write_state(st, state);
	if (json_object_set_new(folder->files, name, json_string(state)))
		return err_nomem(err);
	if (st)
		folder->mtime = MAX(folder->mtime, mtime_of(st));
	return 0;
}

static int stat_in(const char *folder, const char *name, struct stat *st)
{
	CLEANUP(buf_release) struct buf path = { 0 };

	buf_printf(&path, "%s/%s", folder, name);
	if (!buf_cstr(&path))
		return -ENOMEM;
	return stat(path.data, st) < 0 ? -errno : 0;
}

int folder_note(struct folder *folder, const char *name, struct err *err)
{
	struct stat st;
	int r = stat_in(folder->path, name, &st);

	if (r < 0 && r != -ENOENT)
		return err_errno(err, r, "%s", name);
	return keep_state(folder, name, r < 0 ? NULL : &st, err);
}

bool folder_changed(const char *path, const json_t *files)
{
	const char *name;
	json_t *kept;

	/* jansson's loop wants a mutable object, but does not change it */
	json_object_foreach((json_t *)files, name, kept)
	{
		char state[STATE_MAX] = STATE_ABSENT;
		struct stat st;

		if (stat_in(path, name, &st) == 0)
			write_state(&st, state);
		if (strcmp(state, json_string_value(kept)) != 0)
			return true;
	}
	return false;
}

/* Paths */

static bool is_inside(const struct folder *folder, const char *path)
{
	size_t len = strlen(folder->path);

	if (!strcmp(folder->path, "/"))
		return true;
	return !strncmp(path, folder->path, len) && path[len] == '/';
}

int folder_resolve(const struct folder *folder, const char *name, char **out, struct err *err)
{
	CLEANUP(buf_release) struct buf path = { 0 };
	char *real;

	if (*name == '/')
		return err_set(err, -EINVAL, "%s: must be relative to the agent's folder", name);
	buf_printf(&path, "%s/%s", folder->path, name);
	if (!buf_cstr(&path))
		return err_nomem(err);
	real = realpath(path.data, NULL);
	if (!real)
		return err_errno(err, -errno, "%s", name);
	if (!is_inside(folder, real)) {
		free(real);
		return err_set(err, -EINVAL, "%s: leads out of the agent's folder", name);
	}
	*out = real;
	return 0;
}

int folder_program(const struct folder *folder, const char *name, char **path, struct err *err)
{
	CLEANUP(free_p) char *real = NULL;
	struct stat st;
	int r = folder_resolve(folder, name, &real, err);

	if (r < 0)
		return r;
	if (stat(real, &st) < 0)
		return err_errno(err, -errno, "%s", name);
	if (!S_ISREG(st.st_mode))
		return err_set(err, -EINVAL, "%s: is not a regular file", name);
	if (faccessat(AT_FDCWD, real, X_OK, AT_EACCESS) < 0)
		return err_set(err, -EINVAL, "%s: is not executable (chmod +x)", name);
	*path = STEAL(&real);
	return 0;
}

/* Reading */

static int read_all(int fd, const char *name, size_t max, struct buf *text, struct err *err)
{
	size_t before = text->len;
	ssize_t n;

	do {
		if (text->len - before > max)
			return err_set(err, -EFBIG, "%s: is larger than %zu bytes", name, max);
		if (!buf_reserve(text, 16384))
			return err_nomem(err);
		n = read(fd, text->data + text->len, 16384);
		if (n > 0)
			text->len += (size_t)n;
	} while (n > 0 || (n < 0 && errno == EINTR));
	return n < 0 ? err_errno(err, -errno, "%s", name) : 0;
}

int folder_read(struct folder *folder, const char *name, size_t max, struct buf *text,
		struct err *err)
{
	CLEANUP(free_p) char *real = NULL;
	CLEANUP(close_fd) int fd = -1;
	struct stat st;
	int r = folder_resolve(folder, name, &real, err);

	if (r < 0)
		return r;
	/* A named pipe must not hold up the daemon. */
	fd = open(real, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 || fstat(fd, &st) < 0)
		return err_errno(err, -errno, "%s", name);
	if (!S_ISREG(st.st_mode))
		return err_set(err, -EINVAL, "%s: is not a regular file", name);
	/* Keep the state first: a change while we read is then seen later. */
	r = keep_state(folder, name, &st, err);
	return r < 0 ? r : read_all(fd, name, max, text, err);
}

/*
 * Mount points: see mountpoint.h.
 */
#include "mount/mountpoint.h"

#include "base/json_text.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <mntent.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#define OUR_TYPE "fuse.adkfs"

extern char **environ;

/* Count the mounts of adkfs at path. *is_on_top: the last mount there is one of them. */
static unsigned count_ours(const char *path, bool *is_on_top)
{
	FILE *mounts = setmntent("/proc/self/mounts", "re");
	struct mntent *row;
	unsigned count = 0;

	*is_on_top = false;
	if (!mounts)
		return 0;
	while ((row = getmntent(mounts))) {
		if (strcmp(row->mnt_dir, path) != 0)
			continue;
		*is_on_top = !strcmp(row->mnt_type, OUR_TYPE);
		count += *is_on_top;
	}
	(void)endmntent(mounts);
	return count;
}

bool mountpoint_is_ours(const char *path)
{
	bool is_on_top;

	(void)count_ours(path, &is_on_top);
	return is_on_top;
}

bool mountpoint_is_listed(const char *path)
{
	bool is_on_top;

	return count_ours(path, &is_on_top) > 0;
}

pid_t mountpoint_daemon(const char *path)
{
	CLEANUP(buf_release) struct buf name = { 0 };
	char text[4096];
	struct span value;
	ssize_t n;
	int fd;

	buf_printf(&name, "%s/.adkfs/stats.json", path);
	if (!buf_cstr(&name))
		return 0;
	fd = open(name.data, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	n = read(fd, text, sizeof text);
	(void)close(fd);
	if (n <= 0 || json_member((struct span){ text, (size_t)n }, "pid", &value) < 0)
		return 0;
	return (pid_t)strtol(value.data, NULL, 10);
}

/* Unmount as an ordinary user, whom only fusermount3 allows to. */
static int run_fusermount(const char *path, enum detach how)
{
	const char *const argv[] = { "fusermount3", how == DETACH_ANYWAY ? "-uqz" : "-uq", "--",
				     path, NULL };
	pid_t pid;
	int status;
	int r = posix_spawnp(&pid, argv[0], NULL, NULL, (char *const *)argv, environ);

	if (r)
		return -r;
	while (waitpid(pid, &status, 0) < 0) {
		if (errno != EINTR)
			return -errno;
	}
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -EBUSY;
}

int mountpoint_detach(const char *path, enum detach how, struct err *err)
{
	int r;

	if (umount2(path, how == DETACH_ANYWAY ? MNT_DETACH : 0) == 0)
		return 0;
	r = -errno;
	if (r == -EPERM)
		r = run_fusermount(path, how);
	if (r == -EBUSY)
		return err_set(err, r, "%s is in use: files or directories in it are open", path);
	return r < 0 ? err_errno(err, r, "unmounting %s", path) : 0;
}

static int check_empty(const char *path, struct err *err)
{
	struct dirent *entry;
	DIR *dir = opendir(path);
	int r = 0;

	if (!dir)
		return err_errno(err, -errno, "mount point %s", path);
	while (r == 0 && (entry = readdir(dir))) {
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			r = err_set(err, -ENOTEMPTY, "mount point %s is not empty", path);
	}
	(void)closedir(dir);
	return r;
}

/* Ask by statvfs(2), which always reaches the daemon; stat(2) may be answered from a cache. */
static bool is_dead(const char *path)
{
	struct statvfs st;

	return mountpoint_is_ours(path) && statvfs(path, &st) < 0 && errno == ENOTCONN;
}

int mountpoint_prepare(const char *path, struct err *err)
{
	struct stat st;
	int r;

	if (is_dead(path)) {
		r = mountpoint_detach(path, DETACH_ANYWAY, err);
		if (r < 0)
			return r;
	}
	if (stat(path, &st) < 0)
		return errno == ENOENT
			       ? err_set(err, -ENOENT, "mount point %s does not exist", path)
			       : err_errno(err, -errno, "mount point %s", path);
	if (!S_ISDIR(st.st_mode))
		return err_set(err, -ENOTDIR, "mount point %s is not a directory", path);
	if (mountpoint_is_ours(path))
		return err_set(err, -EBUSY, "%s is mounted already, by process %ld", path,
			       (long)mountpoint_daemon(path));
	return check_empty(path, err);
}

int mountpoint_resolve(const char *path, struct buf *out, struct err *err)
{
	char parent[PATH_MAX];
	char last[PATH_MAX];
	char resolved[PATH_MAX];

	if (realpath(path, resolved)) {
		buf_text(out, resolved);
		return buf_cstr(out) ? 0 : err_nomem(err);
	}
	if (strlen(path) >= PATH_MAX)
		return err_set(err, -ENAMETOOLONG, "the path of the mount point is too long");
	/* The directory may be a dead mount, which fails: resolve its parent only. */
	memcpy(parent, path, strlen(path) + 1);
	memcpy(last, path, strlen(path) + 1);
	if (!realpath(dirname(parent), resolved))
		return err_set(err, -ENOENT, "mount point %s does not exist", path);
	buf_printf(out, "%s%s%s", resolved, strcmp(resolved, "/") ? "/" : "", basename(last));
	return buf_cstr(out) ? 0 : err_nomem(err);
}

/*
 * bench_fill: make what bench measures, in a mount of adkfs or a directory.
 *
 *	bench_fill ROOT tree		the sessions of the rows, and a state value
 *	bench_fill ROOT many N		a directory of N sessions
 *	bench_fill ROOT log BYTES	a session with a log of that size
 *	bench_fill ROOT events N	N events, a thousand a session
 *	bench_fill STORE store N	as many, but into a store that nobody has mounted
 */
#include "base/cc.h"
#include "store/open.h"
#include "store/session/scope.h"
#include "tests/bench/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	PIECE = 256 << 10, /* of one write(2) to a log */
	EVENTS_EACH = 1000,
};

static int dir_make(const char *path)
{
	return mkdir(path, 0700) && errno != EEXIST ? -errno : 0;
}

/* mkdir -p of the first `keep` bytes of root/name, or of all of it. */
static int dirs_make(const char *root, const char *name)
{
	char path[PATH_MAX];
	char *slash;
	int r = 0;

	snprintf(path, sizeof(path), "%s/%s", root, name);
	slash = path + strlen(root);
	while (r == 0 && (slash = strchr(slash + 1, '/'))) {
		*slash = 0;
		r = dir_make(path);
		*slash = '/';
	}
	return r < 0 ? r : dir_make(path);
}

/* The directory that a file is in. */
static int parent_make(const char *root, const char *name)
{
	char dir[PATH_MAX];

	snprintf(dir, sizeof(dir), "%.*s", (int)(strrchr(name, '/') - name), name);
	return dirs_make(root, dir);
}

static int write_all(int fd, const char *text, size_t len)
{
	ssize_t n = write(fd, text, len);

	if (n < 0)
		return -errno;
	return (size_t)n == len ? 0 : -EIO;
}

static int state_make(const char *root)
{
	char path[PATH_MAX];
	int fd, r;

	snprintf(path, sizeof(path), "%s/%s", root, TREE_STATE);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	r = write_all(fd, TREE_VALUE, VALUE_SIZE);
	if (close(fd) && r == 0)
		r = -errno;
	return r;
}

static int tree_make(const char *root, long long unused)
{
	static const char *const files[] = { TREE_STATE, TREE_ARTIFACT, TREE_EVENTS, TREE_INPUT };
	char session[PATH_MAX];
	int r = dirs_make(root, TREE_PARKED);

	(void)unused;
	for (size_t i = 0; i < ARRAY_SIZE(files) && r == 0; i++)
		r = parent_make(root, files[i]);
	for (unsigned i = 0; i < CROWD && r == 0; i++) {
		snprintf(session, sizeof(session), TREE_CROWD_MEMBER, i);
		r = dirs_make(root, session);
	}
	return r < 0 ? r : state_make(root);
}

static int many_make(const char *root, long long count)
{
	char path[PATH_MAX];
	int r = dirs_make(root, TREE_MANY);

	for (long long i = 0; i < count && r == 0; i++) {
		snprintf(path, sizeof(path), "%s/" TREE_MANY "/" TREE_MEMBER, root, (unsigned)i);
		r = dir_make(path);
	}
	return r;
}

/* The scopes of a path of mount names, "apps/a/users/u/...", made if they are missing. */
static int scopes_make(struct store *st, const char *path, struct ref *ref, struct err *err)
{
	CLEANUP(free_p) char *copy = strdup(path);
	char *rest = copy;
	char *word;
	int r = copy ? 0 : -ENOMEM;

	*ref = (struct ref){ 0 };
	while (r == 0 && (word = strsep(&rest, "/"))) {
		const char *id = strsep(&rest, "/");
		struct ref child;

		if (!id)
			break; /* the directory of members */
		r = scope_find(st, *ref, id, &child, NULL, err);
		if (r == -ENOENT)
			r = scope_create(st, *ref, id, &child, NULL, err);
		*ref = child;
	}
	return r;
}

/* Through a mount it would take minutes. */
static int store_fill(const char *folder, long long count)
{
	struct store_options options = { .folder = folder };
	struct err err = { 0 };
	struct store *st;
	struct ref user;
	char id[32];
	int r = store_open(&options, &st, &err);

	if (r < 0)
		return r;
	r = scopes_make(st, TREE_MANY, &user, &err);
	for (long long i = 0; i < count && r == 0; i++) {
		snprintf(id, sizeof(id), TREE_MEMBER, (unsigned)i);
		r = scope_create(st, user, id, NULL, NULL, &err);
	}
	store_close(st);
	return r;
}

static int log_open(const char *root, const char *name)
{
	char path[PATH_MAX];
	int fd, r = parent_make(root, name);

	if (r < 0)
		return r;
	snprintf(path, sizeof(path), "%s/%s", root, name);
	fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
	return fd < 0 ? -errno : fd;
}

/* As many lines as one write takes, `count` at most. Returns how many, or an error. */
static int lines_write(int fd, char *piece, long long count)
{
	size_t used = 0;
	int n = 0, r;

	for (; n < count && used + EVENT_MAX <= PIECE; n++)
		used += tree_event(piece + used, (unsigned)n);
	r = write_all(fd, piece, used);
	return r < 0 ? r : n;
}

static int events_write(int fd, long long count)
{
	char *piece = malloc(PIECE);
	int r = piece ? 0 : -ENOMEM;

	while (count > 0 && r >= 0) {
		r = lines_write(fd, piece, count);
		count -= r;
	}
	free(piece);
	return r < 0 ? r : 0;
}

/* The size that counts is the stored one, so it is asked after each piece. */
static int log_make(const char *root, long long bytes)
{
	int fd = log_open(root, TREE_LOG), r = fd < 0 ? fd : 0;
	struct stat st = { 0 };

	while (r == 0 && st.st_size < bytes) {
		r = events_write(fd, EVENTS_EACH);
		if (r == 0 && fstat(fd, &st))
			r = -errno;
	}
	if (fd >= 0 && close(fd) && r == 0)
		r = -errno;
	return r;
}

static int session_make(const char *root, unsigned number)
{
	char name[PATH_MAX];
	int fd, r;

	snprintf(name, sizeof(name), TREE_MANY "/" TREE_MEMBER "/events.jsonl", number);
	fd = log_open(root, name);
	if (fd < 0)
		return fd;
	r = events_write(fd, EVENTS_EACH);
	if (close(fd) && r == 0)
		r = -errno;
	return r;
}

static int events_make(const char *root, long long count)
{
	int r = 0;

	for (unsigned i = 0; i < count / EVENTS_EACH && r == 0; i++)
		r = session_make(root, i);
	return r;
}

static const struct job {
	const char *name;
	int (*make)(const char *root, long long amount);
} jobs[] = {
	{ "tree", tree_make },     { "many", many_make },   { "log", log_make },
	{ "events", events_make }, { "store", store_fill },
};

int main(int argc, char **argv)
{
	for (size_t i = 0; argc >= 3 && i < ARRAY_SIZE(jobs); i++) {
		int r;

		if (strcmp(argv[2], jobs[i].name))
			continue;
		r = jobs[i].make(argv[1], argc > 3 ? strtoll(argv[3], NULL, 10) : 0);
		if (r < 0)
			fprintf(stderr, "bench_fill: %s in %s: %s\n", argv[2], argv[1],
				strerror(-r));
		return r < 0;
	}
	fprintf(stderr, "usage: bench_fill ROOT tree | many N | log BYTES | events N\n"
			"       bench_fill STORE store N\n");
	return 2;
}

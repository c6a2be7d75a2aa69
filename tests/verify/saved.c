/*
 * Saved: see saved.h.
 */
#include "tests/verify/saved.h"

#include "tests/verify/steps.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	KEPT = 6,
	LATE_MS = 2000,
};

static struct {
	const char *dir; /* NULL: nothing to check */
	struct {
		uint64_t n; /* 0: none */
		struct content content;
	} kept[KEPT];  /* version n at n % KEPT */
	uint64_t last; /* number; never used twice */
	uint64_t mine; /* what the present open was saved as */
	bool known;    /* the last number; not before the first save */
	uint64_t base; /* while it is not known: the number when the present open began */
	uint64_t late; /* how many SAVED_PERHAPS may still become a version */
} saved;

void saved_begin(const char *dir, uint64_t room)
{
	saved.dir = dir;
	for (int i = 0; dir && i < KEPT; i++)
		content_new(&saved.kept[i].content, room);
}

static int version_open(uint64_t n)
{
	char path[PATH_MAX];

	(void)snprintf(path, sizeof path, "%s/%llu", saved.dir, (unsigned long long)n);
	return open(path, O_RDONLY);
}

static void version_compare(uint64_t n, const struct content *content)
{
	char what[64];
	int fd = version_open(n);

	(void)snprintf(what, sizeof what, "version %llu", (unsigned long long)n);
	must(fd >= 0, what);
	content_compare_fd(content, fd, what);
	(void)close(fd);
}

/* The highest number that is there; 0: none. */
static uint64_t version_highest(void)
{
	uint64_t highest = 0;
	DIR *dir = opendir(saved.dir);
	struct dirent *entry;

	if (!dir && errno == ENOENT)
		return 0;
	must(dir, saved.dir);
	while ((entry = readdir(dir))) {
		char *end;
		uint64_t n = strtoull(entry->d_name, &end, 10);

		if (!*end)
			highest = MAX(highest, n);
	}
	(void)closedir(dir);
	return highest;
}

static bool same_as_last(const struct content *now)
{
	const struct content *then = &saved.kept[saved.last % KEPT].content;

	return saved.last && saved.kept[saved.last % KEPT].n == saved.last &&
	       then->size == now->size && memcmp(then->data, now->data, now->size) == 0;
}

static void version_keep(uint64_t n, const struct content *now)
{
	saved.last = n;
	saved.kept[n % KEPT].n = n;
	content_copy(&saved.kept[n % KEPT].content, now);
}

static void kept_compare(void)
{
	for (int i = 0; i < KEPT; i++)
		if (saved.kept[i].n)
			version_compare(saved.kept[i].n, &saved.kept[i].content);
}

void saved_opened(void)
{
	saved.mine = 0;
	saved.base = saved.dir && !saved.known ? version_highest() : 0;
}

/* An empty file may come late, but it comes. */
static uint64_t version_await(uint64_t above)
{
	uint64_t n = version_highest();

	for (int i = 0; n <= above && i < LATE_MS; i++) {
		(void)usleep(1000);
		n = version_highest();
	}
	return n;
}

void saved_check(const struct content *now, enum saved_what what)
{
	uint64_t before = saved.last;
	uint64_t n;

	if (!saved.dir)
		return;
	n = what == SAVED_EMPTY && !same_as_last(now) ? version_await(MAX(before, saved.base))
						      : version_highest();
	if (saved.known && (n > before + 1 + saved.late || (n > before + saved.late && saved.mine)))
		differs("one open was saved as more than one version: %llu after %llu",
			(unsigned long long)n, (unsigned long long)before);
	if (saved.known && n > before + saved.late && what == SAVED_NOTHING)
		differs("version %llu was saved without a change", (unsigned long long)n);
	if (n > before || what != SAVED_PERHAPS)
		saved.late = 0;
	else
		saved.late++;
	if (n <= before && what >= SAVED_CHANGE && !saved.mine && !same_as_last(now))
		differs("the change was not saved: the newest version is %llu",
			(unsigned long long)n);
	if (!saved.known && what == SAVED_PERHAPS)
		return; /* is it of this open? Nobody can tell */
	if (n > before || saved.mine)
		version_keep(MAX(n, before), now);
	if (n > before && what != SAVED_NOTHING)
		saved.mine = n;
	saved.known |= n > 0;
	kept_compare();
}

void saved_may_follow(void)
{
	saved.late++;
}

static void forget(void)
{
	for (int i = 0; i < KEPT; i++)
		saved.kept[i].n = 0;
}

void saved_moved(void)
{
	if (!saved.dir)
		return;
	forget();
	saved.last = saved.mine = 0;
	saved.known = false;
	saved.base = version_highest();
}

void saved_gone(void)
{
	uint64_t n;

	if (!saved.dir)
		return;
	forget();
	n = version_highest();
	if (n)
		differs("version %llu is there without the name", (unsigned long long)n);
}

void saved_end(void)
{
	for (int i = 0; i < KEPT; i++)
		content_free(&saved.kept[i].content);
}

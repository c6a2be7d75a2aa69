/*
 * The `.env` files of the agents: see env_files.h.
 */
#include "runner/process/env_files.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#define NAME ".env"

/*
 * Append the path of the file in a folder. Returns how many paths were added, 0 or 1. A
 * program of the same user cannot read a file that the daemon cannot find.
 */
static size_t add_file(const char *folder, const char *name, struct buf *out)
{
	char path[PATH_MAX];
	char real[PATH_MAX];
	struct stat st;

	if (snprintf(path, sizeof path, "%s/%s/" NAME, folder, name) >= (int)sizeof path ||
	    !realpath(path, real) || stat(real, &st) < 0 || !S_ISREG(st.st_mode))
		return 0;
	buf_add(out, real, strlen(real) + 1);
	return 1;
}

static void add_files(const char *agents, size_t n, struct buf *out)
{
	const struct dirent *entry;
	DIR *dir = opendir(agents);

	if (!dir)
		return;
	n += add_file(agents, ".", out);
	while (n < ENVFILES_MAX && (entry = readdir(dir))) {
		if (entry->d_name[0] != '.')
			n += add_file(agents, entry->d_name, out);
	}
	(void)closedir(dir);
}

int envfiles_find(const char *folder, const char *agents, struct buf *out)
{
	size_t n = add_file(folder, ".", out);

	if (agents)
		add_files(agents, n, out);
	return buf_check(out, NULL);
}

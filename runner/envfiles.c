/*
 * The `.env` files of the agents: see envfiles.h.
 */
#include "runner/envfiles.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#define NAME ".env"

/* What cannot be found cannot be read by a program of the same user either. */
static void add(const char *folder, const char *name, struct buf *out)
{
	char path[PATH_MAX];
	char real[PATH_MAX];
	struct stat st;

	if (snprintf(path, sizeof path, "%s/%s/" NAME, folder, name) < (int)sizeof path &&
	    realpath(path, real) && stat(real, &st) == 0 && S_ISREG(st.st_mode))
		buf_add(out, real, strlen(real) + 1);
}

int envfiles_find(const char *folder, const char *agents, struct buf *out)
{
	const struct dirent *entry;
	DIR *dir = NULL;
	size_t n;

	add(folder, ".", out);
	if (agents) {
		add(agents, ".", out);
		dir = opendir(agents);
	}
	for (n = 2; dir && n < ENVFILES_MAX && (entry = readdir(dir)); n++) {
		size_t before = out->len;

		if (entry->d_name[0] != '.')
			add(agents, entry->d_name, out);
		n -= out->len == before;
	}
	if (dir)
		(void)closedir(dir);
	return buf_check(out, NULL);
}

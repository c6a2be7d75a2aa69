/*
 * Environments of children: see env.h.
 */
#include "runner/process/env.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct variable {
	const char *name;
	const char *value; /* if the daemon has none; NULL: it stays unset */
} base[] = {
	{ "PATH", "/usr/local/bin:/usr/bin:/bin" },
	{ "HOME", NULL },
	{ "LANG", "C.UTF-8" },
	{ "TMPDIR", "/tmp" },
};

const char *childenv_get(char *const *list, const char *name)
{
	size_t len = strlen(name);

	for (; list && *list; list++) {
		if (!strncmp(*list, name, len) && (*list)[len] == '=')
			return *list + len + 1;
	}
	return NULL;
}

int childenv_add(struct childenv *env, const char *name, const char *value)
{
	char **list;

	if (childenv_get(env->list, name))
		return 0;
	list = reallocarray(env->list, env->n + 2, sizeof *list);
	if (!list)
		return -ENOMEM;
	env->list = list;
	if (asprintf(&list[env->n], "%s=%s", name, value) < 0) {
		list[env->n] = NULL;
		return -ENOMEM;
	}
	list[++env->n] = NULL;
	return 0;
}

int childenv_add_base(struct childenv *env)
{
	size_t i;
	int r = 0;

	for (i = 0; i < ARRAY_SIZE(base) && r == 0; i++) {
		const char *own = getenv(base[i].name);
		const char *value = own ? own : base[i].value;

		if (value)
			r = childenv_add(env, base[i].name, value);
	}
	return r;
}

void childenv_release(struct childenv *env)
{
	size_t i;

	for (i = 0; i < env->n; i++)
		free(env->list[i]);
	free(env->list);
}

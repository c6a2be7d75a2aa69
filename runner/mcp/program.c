/*
 * Programs that are MCP servers: see program.h.
 */
#include "runner/mcp/program.h"

#include "runner/process/env.h"
#include "runner/process/env_files.h"
#include "runner/process/process.h"
#include "runner/process/sandbox.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define QUOTE_MAX 160 /* bytes of standard error in errors */

static int make_env(const struct mcp_params *params, struct childenv *env)
{
	const char *name;
	json_t *value;
	int r = 0;

	/* jansson's loop wants a mutable object, but does not change it */
	json_object_foreach((json_t *)params->env, name, value)
	{
		r = childenv_add(env, name, json_string_value(value));
		if (r < 0)
			return r;
	}
	return childenv_add_base(env);
}

/* 0; -errno: the file cannot be executed. */
static int check_program(const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0 || (S_ISREG(st.st_mode) && access(path, X_OK) < 0))
		return -errno;
	return S_ISREG(st.st_mode) ? 0 : -EACCES;
}

/* DIRECTORY/NAME; a relative directory starts at the agent's folder. */
static void join_path(struct buf *out, const char *folder, struct span directory, const char *name)
{
	buf_clear(out);
	if (!directory.len || directory.data[0] != '/')
		buf_printf(out, "%s/", folder);
	buf_span_add(out, directory);
	buf_printf(out, "/%s", name);
}

/* Find the first program of that name in PATH. 0; -ENOENT; -ENOMEM. */
static int search_path(const char *path, const char *folder, const char *name, struct buf *out)
{
	for (;;) {
		size_t len = strcspn(path, ":");

		join_path(out, folder, (struct span){ path, len }, name);
		if (!buf_cstr(out))
			return -ENOMEM;
		if (check_program(out->data) == 0)
			return 0;
		if (!path[len])
			return -ENOENT;
		path += len + 1;
	}
}

static int find_program(const struct mcp_params *params, const char *folder,
			const struct childenv *env, struct buf *out)
{
	const char *path = childenv_get(env->list, "PATH");

	if (!strchr(params->command, '/'))
		return search_path(path ? path : "", folder, params->command, out);
	if (params->command[0] != '/')
		buf_printf(out, "%s/", folder);
	buf_text(out, params->command);
	return buf_cstr(out) ? check_program(out->data) : -ENOMEM;
}

/* Find the working directory. With symlinks resolved it must lie in the folder. */
static int find_directory(const struct mcp_params *params, const char *folder, char **out,
			  struct err *err)
{
	CLEANUP(free_p) char *base = realpath(folder, NULL);
	CLEANUP(buf_release) struct buf path = { 0 };
	size_t len = base ? strlen(base) : 0;

	if (!base)
		return mcp_fail(params, err, -errno, "the agent's folder is gone");
	buf_printf(&path, "%s/%s", params->cwd && params->cwd[0] == '/' ? "" : base,
		   params->cwd ? params->cwd : "");
	if (!buf_cstr(&path))
		return err_nomem(err);
	*out = realpath(path.data, NULL);
	if (!*out)
		return mcp_fail(params, err, -errno, "its working directory %s: %s", params->cwd,
				strerrorname_np(errno));
	if (strncmp(*out, base, len) != 0 || ((*out)[len] && (*out)[len] != '/'))
		return mcp_fail(params, err, -EINVAL,
				"its working directory is outside the agent's folder");
	return 0;
}

/* The program may see all that the daemon's user sees, except the keys of the agents. */
static int enclose_program(const struct mcp_home *home, struct process *p, struct buf *hidden)
{
	int r;

	if (!sandbox_is_on(home->sandbox))
		return 0;
	r = envfiles_find(home->folder, home->agents, hidden);
	p->sandbox = home->sandbox;
	p->sees_all = true;
	p->hidden = buf_span(hidden);
	return r;
}

int mcp_program_start(const struct mcp_params *params, const struct mcp_home *home,
		      struct child *child, struct err *err)
{
	CLEANUP(childenv_release) struct childenv env = { 0 };
	CLEANUP(buf_release) struct buf program = { 0 };
	CLEANUP(buf_release) struct buf hidden = { 0 };
	CLEANUP(free_p) char *directory = NULL;
	struct process p = { .argv = (char *const *)params->argv };
	char reason[64];
	int r = find_directory(params, home->folder, &directory, err);

	if (r < 0)
		return r;
	r = make_env(params, &env);
	if (r == 0)
		r = find_program(params, home->folder, &env, &program);
	if (r == 0)
		r = enclose_program(home, &p, &hidden);
	if (r == -ENOMEM)
		return err_nomem(err);
	if (r == 0) {
		p.program = program.data;
		p.folder = directory;
		p.env = env.list;
		r = child_open(child, &p);
	}
	if (r < 0)
		return mcp_fail(params, err, r, "%s cannot be started: %s", params->command,
				strerror_r(-r, reason, sizeof reason));
	return 0;
}

void mcp_program_say(struct buf *out, int r, int status, struct span stderr_text)
{
	const char *name = WIFSIGNALED(status) ? sigabbrev_np(WTERMSIG(status)) : NULL;

	if (r < 0)
		buf_printf(out, "cannot be started");
	else if (WIFSIGNALED(status))
		buf_printf(out, "was killed by SIG%s", name ? name : "?");
	else
		buf_printf(out, "ended with exit status %d", WEXITSTATUS(status));
	process_quote_stderr(out, stderr_text, QUOTE_MAX);
}

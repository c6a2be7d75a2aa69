/*
 * Views of sandboxes: see sandbox_view.h.
 */
#include "runner/process/sandbox_view.h"

#include "runner/process/env.h"
#include "runner/process/job.h"
#include "runner/process/spawn.h"

#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define SESSION_VARIABLE "ADKFS_SESSION"
#define LIFELINE         "status" /* of the session */

/* The files of /etc in a sandbox, if the machine has them. Each costs a mount. */
static const struct {
	const char *name;
	bool is_for_network;
} etc_names[] = {
	{ "alternatives", false }, { "crypto-policies", false }, { "fonts", false },
	{ "group", false },        { "hosts", false },           { "ld.so.cache", false },
	{ "localtime", false },    { "mime.types", false },      { "nsswitch.conf", false },
	{ "passwd", false },       { "timezone", false },        { "ca-certificates", true },
	{ "gai.conf", true },      { "host.conf", true },        { "pki", true },
	{ "protocols", true },     { "resolv.conf", true },      { "services", true },
	{ "ssl", true },
};

/* Directories of programs and libraries: links into /usr, or directories on older systems. */
static const char *const system_names[] = {
	"/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"
};

/* Targets of the links of a session: some steps up, then the name. */
static const struct {
	unsigned up;
	const char *name;
} shared[] = {
	{ 2, "state" },     /* of the user */
	{ 2, "artifacts" }, /* of the user */
	{ 4, "state" },     /* of the app */
};

/* Capabilities of a server of root. With any other it could uncover the hidden files. */
static const char *const server_capabilities[] = {
	"CAP_CHOWN", "CAP_DAC_OVERRIDE", "CAP_FOWNER", "CAP_FSETID",
	"CAP_KILL",  "CAP_SETGID",       "CAP_SETUID", "CAP_NET_BIND_SERVICE",
};

/* Capabilities of root's programs: to open the files of others in the mount. */
static const char *const program_capabilities[] = { "CAP_DAC_OVERRIDE" };

static void add_word(struct buf *words, const char *word)
{
	buf_add(words, word, strlen(word) + 1);
}

static void add_option(struct buf *words, const char *option, const char *value)
{
	add_word(words, option);
	add_word(words, value);
}

static void add_number(struct buf *words, const char *option, int value)
{
	char number[16];

	(void)snprintf(number, sizeof number, "%d", value);
	add_option(words, option, number);
}

/* Show a path at the same place inside. */
static void add_path(struct buf *words, const char *option, const char *path)
{
	add_option(words, option, path);
	add_word(words, path);
}

static void add_system(struct buf *words)
{
	char target[256];
	size_t i;

	add_path(words, "--ro-bind", "/usr");
	for (i = 0; i < ARRAY_SIZE(system_names); i++) {
		ssize_t n = readlink(system_names[i], target, sizeof target - 1);

		target[MAX(n, 0)] = 0;
		if (n > 0) {
			add_option(words, "--symlink", target);
			add_word(words, system_names[i]);
		} else {
			add_path(words, "--ro-bind-try", system_names[i]);
		}
	}
}

static void add_etc(struct buf *words, bool for_network)
{
	char path[64];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(etc_names); i++) {
		if (etc_names[i].is_for_network != for_network)
			continue;
		(void)snprintf(path, sizeof path, "/etc/%s", etc_names[i].name);
		add_path(words, "--ro-bind-try", path);
	}
}

static void hide_path(struct buf *words, const char *path)
{
	add_option(words, "--ro-bind", "/dev/null");
	add_word(words, path);
}

/*
 * The files in /proc that belong to no process are the machine's, and root may write to them
 * without any capability. bwrap protects some of them, but leaves out directories that access(2)
 * calls read-only, although the files inside are not.
 */
static void add_proc(struct buf *words)
{
	static const char *const fixed[] = { "/proc/sys", "/proc/fs" };
	static const char *const hidden[] = { "/proc/keys", "/proc/kcore", "/proc/timer_list" };
	size_t i;

	add_option(words, "--proc", "/proc");
	for (i = 0; i < ARRAY_SIZE(fixed); i++)
		add_path(words, "--ro-bind-try", fixed[i]);
	for (i = 0; i < ARRAY_SIZE(hidden); i++) {
		if (access(hidden[i], F_OK) == 0)
			hide_path(words, hidden[i]);
	}
}

static void keep_capabilities(struct buf *words, const char *const *names, size_t n)
{
	size_t i;

	if (geteuid() != 0)
		return;
	add_option(words, "--cap-drop", "ALL");
	for (i = 0; i < n; i++)
		add_option(words, "--cap-add", names[i]);
}

/* VIEW_PROGRAM */
static void start_program(struct buf *words)
{
	add_number(words, "--seccomp", SPAWN_FILTER);
	add_word(words, "--unshare-ipc");
	add_word(words, "--unshare-uts");
	add_word(words, "--unshare-cgroup-try");
	keep_capabilities(words, program_capabilities, ARRAY_SIZE(program_capabilities));
	add_system(words);
	add_etc(words, false);
	add_proc(words);
	add_option(words, "--dev", "/dev");
	add_option(words, "--tmpfs", "/tmp");
}

/* VIEW_SERVER: without other processes, whose /proc would lead around the hiding. */
static void start_server(struct buf *words)
{
	keep_capabilities(words, server_capabilities, ARRAY_SIZE(server_capabilities));
	add_path(words, "--dev-bind", "/");
	add_proc(words);
}

int sandbox_view_start(enum sandbox_view view, const char *bwrap, struct buf *words)
{
	add_word(words, bwrap);
	add_number(words, "--json-status-fd", SPAWN_NEWS);
	add_word(words, "--unshare-pid");
	add_word(words, "--new-session");
	add_word(words, "--die-with-parent");
	if (view == VIEW_SERVER)
		start_server(words);
	else
		start_program(words);
	return buf_check(words, NULL);
}

/*
 * bwrap asks the kernel late to end its process inside with it. If the daemon and
 * bwrap are killed before, the program would go on. But bwrap's process inside
 * opens a lock file first, and ends with all that is inside if it cannot. So the
 * lock file is one of the mount, which is gone with the daemon. Root gets none: its
 * process has no capability to open the files of others there.
 */
static void add_lifeline(struct buf *words, const char *session)
{
	char path[PATH_MAX];

	if (geteuid() != 0 &&
	    snprintf(path, sizeof path, "%s/" LIFELINE, session) < (int)sizeof path)
		add_option(words, "--lock-file", path);
}

/* Show the session and the directories that its links lead to. The path has no links in it. */
static void add_session(struct buf *words, const char *session)
{
	CLEANUP(buf_release) struct buf path = { 0 };
	size_t i;

	add_path(words, "--bind", session);
	add_lifeline(words, session);
	for (i = 0; i < ARRAY_SIZE(shared); i++) {
		struct span at = span_of(session);
		unsigned up = shared[i].up;

		while (up && at.len)
			up -= at.data[--at.len] == '/';
		buf_clear(&path);
		buf_printf(&path, "%.*s/%s", (int)at.len, at.data, shared[i].name);
		if (buf_cstr(&path))
			add_path(words, "--bind-try", path.data);
		words->failed |= path.failed;
	}
}

static void hide_paths(struct buf *words, struct span paths)
{
	size_t at;

	for (at = 0; at < paths.len; at += strlen(paths.data + at) + 1)
		hide_path(words, paths.data + at);
}

/* Show the agent's folder, but hide its settings: they hold keys, which are not for programs. */
static void add_folder(struct buf *words, const char *folder)
{
	char path[PATH_MAX];

	add_path(words, "--ro-bind", folder);
	if (snprintf(path, sizeof path, "%s/.env", folder) < (int)sizeof path &&
	    access(path, F_OK) == 0)
		hide_path(words, path);
}

static void add_program(struct buf *words, const struct process *p)
{
	const char *session = childenv_get(p->env, SESSION_VARIABLE);

	if (p->network)
		add_etc(words, true);
	else
		add_word(words, "--unshare-net");
	add_folder(words, p->folder);
	if (session && !p->is_shut_out)
		add_session(words, session);
	if (p->context && !p->is_shut_out)
		add_path(words, "--bind", p->context);
	add_option(words, "--remount-ro", "/");
	add_option(words, "--setenv", "HOME");
	add_word(words, "/tmp");
	add_option(words, "--setenv", "TMPDIR");
	add_word(words, "/tmp");
}

enum sandbox_view sandbox_view_of(const struct process *p)
{
	return p->sees_all ? VIEW_SERVER : VIEW_PROGRAM;
}

void sandbox_view_add(struct buf *words, const struct process *p)
{
	char *const *at;

	if (p->sees_all)
		hide_paths(words, p->hidden);
	else
		add_program(words, p);
	add_option(words, "--chdir", p->folder);
	add_option(words, "--", p->program);
	for (at = p->argv; at && *at && at[1]; at++)
		add_word(words, at[1]);
}

/*
 * The sandbox: see sandbox.h.
 */
#include "runner/sandbox.h"

#include "base/cancel.h"
#include "runner/process.h"
#include "runner/spawn.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define PROGRAM          "bwrap"
#define PATH_USUAL       "/usr/local/bin:/usr/bin:/bin"
#define PROBE_TIMEOUT_MS 10000
#define SESSION_VARIABLE "ADKFS_SESSION"

struct sandbox {
	char *bwrap;     /* absolute; NULL: off */
	struct buf view; /* the words that are the same for all programs, each with its NUL */
	char reason[sizeof((struct err *)0)->text];
};

static const struct {
	const char *name;
	enum sandbox_mode mode;
} modes[] = {
	{ "auto", SANDBOX_AUTO },
	{ PROGRAM, SANDBOX_BWRAP },
	{ "none", SANDBOX_NONE },
};

/* What of /etc is there, if the machine has it: each costs a mount. */
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

/* Directories of programs and libraries: links into /usr today, directories in older systems. */
static const char *const system_names[] = {
	"/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"
};

/* What links of a session lead to: so many steps up from it, then the name. */
static const struct {
	unsigned up;
	const char *name;
} shared[] = {
	{ 2, "state" },     /* of the user */
	{ 2, "artifacts" }, /* of the user */
	{ 4, "state" },     /* of the app */
};

bool sandbox_find(const char *name, enum sandbox_mode *mode, const char **names)
{
	size_t i;

	*names = "auto, " PROGRAM " or none";
	for (i = 0; i < ARRAY_SIZE(modes); i++) {
		if (!strcmp(modes[i].name, name)) {
			*mode = modes[i].mode;
			return true;
		}
	}
	return false;
}

/* Words of a command line */

static void add(struct buf *words, const char *word)
{
	buf_add(words, word, strlen(word) + 1);
}

static void add_two(struct buf *words, const char *option, const char *value)
{
	add(words, option);
	add(words, value);
}

/* The same path inside as outside. */
static void add_path(struct buf *words, const char *option, const char *path)
{
	add_two(words, option, path);
	add(words, path);
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
			add_two(words, "--symlink", target);
			add(words, system_names[i]);
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

/* A program of root is to open the files of others in the mount, as without a sandbox. */
static void add_capabilities(struct buf *words)
{
	if (geteuid() != 0)
		return;
	add_two(words, "--cap-drop", "ALL");
	add_two(words, "--cap-add", "CAP_DAC_OVERRIDE");
}

static int make_view(struct sandbox *sb)
{
	struct buf *words = &sb->view;
	char number[16];

	(void)snprintf(number, sizeof number, "%d", SPAWN_EXTRA);
	add(words, sb->bwrap);
	add_two(words, "--json-status-fd", number);
	add(words, "--unshare-pid");
	add(words, "--unshare-ipc");
	add(words, "--unshare-uts");
	add(words, "--unshare-cgroup-try");
	add(words, "--new-session");
	add(words, "--die-with-parent");
	add_capabilities(words);
	add_system(words);
	add_etc(words, false);
	add_two(words, "--proc", "/proc");
	add_two(words, "--dev", "/dev");
	add_two(words, "--tmpfs", "/tmp");
	return buf_check(words, NULL);
}

static const char *get_variable(char *const *env, const char *name)
{
	size_t n = strlen(name);

	for (; *env; env++) {
		if (!strncmp(*env, name, n) && (*env)[n] == '=')
			return *env + n + 1;
	}
	return NULL;
}

/* The session and what its links lead to. Paths are without links and end with no slash. */
static void add_session(struct buf *words, const char *session)
{
	CLEANUP(buf_release) struct buf path = { 0 };
	size_t i;

	add_path(words, "--bind", session);
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

/* Settings hold keys, which are not for programs. */
static void add_folder(struct buf *words, const char *folder)
{
	char path[PATH_MAX];

	add_path(words, "--ro-bind", folder);
	if (snprintf(path, sizeof path, "%s/.env", folder) < (int)sizeof path &&
	    access(path, F_OK) == 0) {
		add_two(words, "--ro-bind", "/dev/null");
		add(words, path);
	}
}

static void add_process(struct buf *words, const struct process *p)
{
	const char *session = get_variable(p->env, SESSION_VARIABLE);
	char *none = NULL;
	char *const *arg;

	if (p->network)
		add_etc(words, true);
	else
		add(words, "--unshare-net");
	add_folder(words, p->folder);
	if (session && !p->is_shut_out)
		add_session(words, session);
	if (p->context && !p->is_shut_out)
		add_path(words, "--bind", p->context);
	add_two(words, "--remount-ro", "/");
	add_two(words, "--chdir", p->folder);
	add_two(words, "--setenv", "HOME");
	add(words, "/tmp");
	add_two(words, "--setenv", "TMPDIR");
	add(words, "/tmp");
	add_two(words, "--", p->program);
	for (arg = p->argv && *p->argv ? p->argv + 1 : &none; *arg; arg++)
		add(words, *arg);
}

/* One block: the pointers, then the words. */
static int make_argv(struct span words, char ***out)
{
	size_t count = 1;
	size_t head;
	char **argv;
	char *text;
	size_t i;

	for (i = 0; i < words.len; i++)
		count += !words.data[i];
	head = count * sizeof *argv;
	argv = malloc(head + words.len);
	if (!argv)
		return -ENOMEM;
	text = (char *)argv + head;
	memcpy(text, words.data, words.len);
	for (i = 0; i + 1 < count; i++, text += strlen(text) + 1)
		argv[i] = text;
	argv[i] = NULL;
	*out = argv;
	return 0;
}

int sandbox_command(const struct process *p, struct sandbox_command *out)
{
	CLEANUP(buf_release) struct buf words = { 0 };

	buf_span_add(&words, buf_span(&p->sandbox->view));
	add_process(&words, p);
	return words.failed ? -ENOMEM : make_argv(buf_span(&words), &out->argv);
}

void sandbox_command_release(struct sandbox_command *command)
{
	free(command->argv);
	command->argv = NULL;
}

/* News: a JSON object a line, written with a space behind each colon */

/* The number of a member. -1: it was not told. */
static long news_number(struct span news, const char *name)
{
	char text[64];
	size_t n = (size_t)snprintf(text, sizeof text, "\"%s\": ", name);
	const char *at = memmem(news.data, news.len, text, n);
	const char *end = news.data + news.len;
	long value = 0;

	if (!at || at + n == end || !memchr(at, '\n', (size_t)(end - at)))
		return -1;
	for (at += n; *at >= '0' && *at <= '9' && value < INT32_MAX / 10; at++)
		value = value * 10 + (*at - '0');
	return value;
}

pid_t sandbox_group(struct span news)
{
	return (pid_t)MAX(news_number(news, "child-pid"), 0);
}

/* Signals that end a program unless it says otherwise. */
static bool is_deadly(long number)
{
	static const int deadly[] = { SIGHUP,  SIGINT,  SIGQUIT, SIGILL,  SIGTRAP,  SIGABRT,
				      SIGBUS,  SIGFPE,  SIGKILL, SIGUSR1, SIGSEGV,  SIGUSR2,
				      SIGPIPE, SIGALRM, SIGTERM, SIGXCPU, SIGXFSZ,  SIGVTALRM,
				      SIGPROF, SIGIO,   SIGPWR,  SIGSYS,  SIGSTKFLT };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(deadly); i++) {
		if (deadly[i] == number)
			return true;
	}
	return false;
}

/* "bwrap: execvp PATH: REASON", the last line when the program could not be started. */
static int exec_failure(struct span said)
{
	static const int reasons[] = { ENOENT, EACCES, ENOEXEC, ELOOP, ENOTDIR, EPERM, E2BIG };
	char reason[64];
	size_t i;

	while (said.len && said.data[said.len - 1] == '\n')
		said.len--;
	for (i = 0; i < ARRAY_SIZE(reasons); i++) {
		const char *text = strerror_r(reasons[i], reason, sizeof reason);
		size_t n = strlen(text);

		if (said.len > n && !memcmp(said.data + said.len - n, text, n))
			return -reasons[i];
	}
	return -EIO;
}

int sandbox_status(struct span news, struct span said, int *status)
{
	long code = news_number(news, "exit-code");

	if (code < 0)
		return exec_failure(said);
	*status = code > 128 && is_deadly(code - 128) ? (int)(code - 128)
						      : W_EXITCODE((int)code, 0);
	return 0;
}

/* Finding and trying it */

static int find_bwrap(struct sandbox *sb)
{
	const char *path = getenv("PATH");
	CLEANUP(buf_release) struct buf file = { 0 };
	size_t n;

	for (path = path ? path : PATH_USUAL; *path && !sb->bwrap; path += n + (path[n] == ':')) {
		n = strcspn(path, ":");
		buf_clear(&file);
		buf_printf(&file, "%.*s/%s", (int)n, path, PROGRAM);
		if (!buf_cstr(&file))
			return -ENOMEM;
		if (*file.data == '/' && access(file.data, X_OK) == 0)
			sb->bwrap = strdup(file.data);
	}
	return sb->bwrap ? 0 : -ENOENT;
}

/* Run a program in it that does nothing. */
static int probe(const struct sandbox *sb, struct err *err)
{
	char *const env[] = { "PATH=" PATH_USUAL, NULL };
	struct process p = { .program = "/bin/true",
			     .folder = "/usr",
			     .env = env,
			     .timeout_ms = PROBE_TIMEOUT_MS,
			     .sandbox = sb };
	struct cancel never;
	struct span said;
	int r = cancel_init(&never, err);

	if (r < 0)
		return r;
	r = process_run_all(&p, 1, &never, err);
	said = buf_span(&p.stderr_text);
	while (said.len && said.data[said.len - 1] == '\n')
		said.len--;
	if (r == 0 && (p.failure || p.status))
		r = err_set(err, -EPERM, "%s does not work here: %.*s", sb->bwrap,
			    (int)MIN(said.len, 160), said.len ? said.data : "it fails");
	cancel_release(&never);
	process_release(&p);
	return r;
}

static int turn_on(struct sandbox *sb, struct err *err)
{
	int r = find_bwrap(sb);

	if (r == -ENOENT)
		return err_set(err, r, PROGRAM " (bubblewrap) is not in PATH");
	if (r == 0)
		r = make_view(sb);
	return r < 0 ? err_nomem(err) : probe(sb, err);
}

static void turn_off(struct sandbox *sb, const char *reason)
{
	free(sb->bwrap);
	sb->bwrap = NULL;
	buf_release(&sb->view);
	(void)snprintf(sb->reason, sizeof sb->reason, "%s", reason);
}

int sandbox_new(enum sandbox_mode mode, struct sandbox **out, struct err *err)
{
	struct sandbox *sb = calloc(1, sizeof *sb);
	struct err reason = { 0 };
	int r = 0;

	if (!sb)
		return err_nomem(err);
	if (mode == SANDBOX_NONE)
		turn_off(sb, "it was not asked for");
	else
		r = turn_on(sb, &reason);
	if (r == -ENOMEM || (r < 0 && mode == SANDBOX_BWRAP)) {
		sandbox_free(sb);
		return err_set(err, r, "%s", reason.text);
	}
	if (r < 0)
		turn_off(sb, reason.text);
	*out = sb;
	return 0;
}

void sandbox_free(struct sandbox *sandbox)
{
	if (!sandbox)
		return;
	free(sandbox->bwrap);
	buf_release(&sandbox->view);
	free(sandbox);
}

bool sandbox_is_on(const struct sandbox *sandbox)
{
	return sandbox && sandbox->bwrap;
}

const char *sandbox_name(const struct sandbox *sandbox)
{
	return sandbox_is_on(sandbox) ? PROGRAM : "none";
}

const char *sandbox_reason(const struct sandbox *sandbox)
{
	return sandbox ? sandbox->reason : "it was not asked for";
}

/*
 * The sandbox: see sandbox.h.
 */
#include "runner/process/sandbox.h"

#include "base/cancel.h"
#include "runner/process/process.h"
#include "runner/process/sandbox_view.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define PROGRAM          "bwrap"
#define PATH_USUAL       "/usr/local/bin:/usr/bin:/bin"
#define PROBE_TIMEOUT_MS 10000

struct sandbox {
	char *bwrap;             /* absolute; NULL: off */
	struct buf views[VIEWS]; /* the words that are the same for all programs of a view */
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

	buf_span_add(&words, buf_span(&p->sandbox->views[sandbox_view_of(p)]));
	sandbox_view_add(&words, p);
	return words.failed ? -ENOMEM : make_argv(buf_span(&words), &out->argv);
}

bool sandbox_has_filter(const struct process *p)
{
	return sandbox_is_on(p->sandbox) && sandbox_view_of(p) == VIEW_PROGRAM;
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
		r = sandbox_view_start(VIEW_PROGRAM, sb->bwrap, &sb->views[VIEW_PROGRAM]);
	if (r == 0)
		r = sandbox_view_start(VIEW_SERVER, sb->bwrap, &sb->views[VIEW_SERVER]);
	return r < 0 ? err_nomem(err) : probe(sb, err);
}

static void release_views(struct sandbox *sb)
{
	size_t i;

	for (i = 0; i < VIEWS; i++)
		buf_release(&sb->views[i]);
}

static void turn_off(struct sandbox *sb, const char *reason)
{
	free(sb->bwrap);
	sb->bwrap = NULL;
	release_views(sb);
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
	release_views(sandbox);
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

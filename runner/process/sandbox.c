/*
 * The sandbox: see sandbox.h.
 */
#include "runner/process/sandbox.h"

#include "runner/process/job.h"
#include "runner/process/sandbox_view.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

/* Make one block that holds the pointers, then the words. */
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

bool sandbox_is_on(const struct sandbox *sandbox)
{
	return sandbox && sandbox->bwrap;
}

int sandbox_command(const struct process *p, char ***argv)
{
	CLEANUP(buf_release) struct buf words = { 0 };

	buf_span_add(&words, buf_span(&p->sandbox->views[sandbox_view_of(p)]));
	sandbox_view_add(&words, p);
	return words.failed ? -ENOMEM : make_argv(buf_span(&words), argv);
}

bool sandbox_has_filter(const struct process *p)
{
	return sandbox_is_on(p->sandbox) && sandbox_view_of(p) == VIEW_PROGRAM;
}

/* News: one JSON object in each line, with a space after each colon */

/* The number that is the value of a member. -1: no such member yet. */
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

/* Whether a signal ends programs by default. */
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

/* The errno in "bwrap: execvp PATH: REASON", the last line when the program could not start. */
static int exec_failure(struct span said)
{
	static const int reasons[] = { ENOENT, EACCES, ENOEXEC, ELOOP, ENOTDIR, EPERM, E2BIG };
	char reason[64];
	size_t i;

	said = span_trim_end(said);
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

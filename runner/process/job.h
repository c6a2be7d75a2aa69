/*
 * Jobs: a program to run, what it is given, and what became of it.
 */
#ifndef RUNNER_PROCESS_JOB_H
#define RUNNER_PROCESS_JOB_H

#include "base/buf.h"

#include <stdint.h>
#include <sys/types.h>

struct sandbox;

#define PROCESS_OUTPUT_MAX (16u << 20)
#define PROCESS_LINE_MAX   (16u << 20) /* of a line for on_line */
#define PROCESS_STDERR_MAX (64u << 10) /* only the last bytes are kept */
#define PROCESS_GRACE_MS   5000
#define PROCESS_DRAIN_MS   500
#define PROCESS_TIMEOUT_MS 300000
#define PROCESS_AT_ONCE    64 /* further programs of one call wait until one of these has ended */

struct process {
	/* set by the caller, borrowed */
	const char *program; /* absolute */
	char *const *argv;   /* ends with NULL; NULL: the program alone */
	const char *folder;  /* working directory */
	char *const *env;    /* NAME=VALUE, ends with NULL */
	struct span input;   /* for its standard input */
	unsigned timeout_ms; /* 0: PROCESS_TIMEOUT_MS */

	/* what a sandbox shows to the program */
	const struct sandbox *sandbox; /* NULL: no sandbox; the rest means nothing then */
	bool network;                  /* other programs and other machines */
	const char *context;           /* a directory to write to, or NULL */
	bool sees_all;                 /* all that the daemon sees, except the hidden paths */
	struct span hidden;            /* paths, each with its NUL */

	/*
	 * If set, called for each line of the output as soon as the line is there, on the
	 * thread of process_run_all(); `output` stays empty. The line has no newline, and the
	 * last one may have come without. A result other than 0 ends the program and becomes
	 * its failure. After a failure the function is not called again.
	 */
	int (*on_line)(void *arg, struct span line);
	void *arg;
	bool is_cut; /* for on_line: the output ended without a newline, in this line */

	/*
	 * The program's user may enter neither the session nor the context, so a sandbox shows
	 * neither. Set after the end: this may be why the program failed.
	 */
	bool is_shut_out;

	/* the result */
	struct buf output;
	struct buf stderr_text;
	int status;    /* as waitpid() gives it; meaningless when failure is set */
	int failure;   /* 0; -ETIMEDOUT; -EFBIG; -ECANCELED; what on_line returned; -errno of the
			  start */
	uint64_t nsec; /* from start to end */
};

#endif

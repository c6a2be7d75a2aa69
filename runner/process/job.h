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
#define PROCESS_LINE_MAX   (16u << 20) /* for on_line */
#define PROCESS_STDERR_MAX (64u << 10) /* the last so many bytes are kept */
#define PROCESS_GRACE_MS   5000
#define PROCESS_DRAIN_MS   500
#define PROCESS_TIMEOUT_MS 300000
#define PROCESS_AT_ONCE    64 /* more of one call wait until one of these has ended */

struct process {
	/* set by the caller, borrowed */
	const char *program; /* absolute */
	char *const *argv;   /* ends with NULL; NULL: the program alone */
	const char *folder;  /* working directory */
	char *const *env;    /* NAME=VALUE, ends with NULL */
	struct span input;   /* for its standard input */
	unsigned timeout_ms; /* 0: PROCESS_TIMEOUT_MS */

	const struct sandbox *sandbox; /* NULL: none; the next four are for it */
	bool network;                  /* reaches other programs and machines */
	const char *context;           /* a directory to write to, or NULL */
	bool sees_all;                 /* what the daemon sees, but not what is in these: */
	struct span hidden;            /* paths, each with its NUL */

	/*
	 * Set: each line of the output is handed over as soon as it came, on
	 * the thread of process_run_all(), and `output` stays empty. The line
	 * has no newline, and the last one need not have had one. Not 0 ends
	 * the program and becomes its failure. Not called after any failure.
	 */
	int (*on_line)(void *arg, struct span line);
	void *arg;
	bool is_cut; /* while it is called: the output ended in the line, which had no newline */

	/*
	 * Its user cannot enter the session nor the context: a sandbox has neither. When it has
	 * ended: and that may be why it failed.
	 */
	bool is_shut_out;

	/* the result */
	struct buf output;
	struct buf stderr_text;
	int status;    /* as waitpid gives it; meaningless when failure is set */
	int failure;   /* 0; -ETIMEDOUT; -EFBIG; -ECANCELED; of on_line; -errno of starting it */
	uint64_t nsec; /* from start to end */
};

#endif

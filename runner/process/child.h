/*
 * Children: a running program, alone or in a sandbox, with the pipes to it.
 *
 * The child of a sandbox is bwrap. The program inside has a process group of its
 * own, whose number bwrap reports. The TERM goes to that group alone: bwrap lives on
 * and sees how the program ends. A KILL of bwrap kills everything inside.
 */
#ifndef RUNNER_PROCESS_CHILD_H
#define RUNNER_PROCESS_CHILD_H

#include "runner/process/job.h"

/* Our ends of the pipes to a program's standard input, output and error, and a pidfd. */
enum { FD_IN, FD_OUT, FD_ERR, FD_PID, FDS };

/* A child; CHILD_NONE before it is opened. */
struct child {
	pid_t pid;       /* also the number of its process group */
	int fds[FDS];    /* not blocking; -1: closed */
	int news_fd;     /* a pipe from bwrap; -1: no sandbox */
	struct buf news; /* what bwrap wrote to it */
};

#define CHILD_NONE ((struct child){ .fds = { -1, -1, -1, -1 }, .news_fd = -1 })

/* Start the program of a job. 0; -errno of what failed, and *c is CHILD_NONE again. */
MUST_CHECK int child_open(struct child *c, const struct process *p);

/* Send TERM to the group. False: the program had not started yet, and was killed instead. */
bool child_term(struct child *c);

/* Send KILL to the group. */
void child_kill(struct child *c);

/*
 * Kill what is left of the group, wait for the child and close everything.
 *
 * @said	the end of what the child wrote to standard error
 * @status	the program's wait status, as waitpid() gives it
 * Returns 0; -errno: the sandbox could not start the program.
 */
MUST_CHECK int child_reap(struct child *c, struct span said, int *status);

/*
 * Append a piece of what the program wrote to FD_OUT or FD_ERR. 1: there was one; 0: nothing now;
 * -EPIPE: the pipe has ended, and is closed; -ENOMEM.
 */
MUST_CHECK int child_read(struct child *c, int which, struct buf *into);

/* Close one of the descriptors, unless it is closed already. */
void child_close(struct child *c, int which);

#endif

/*
 * Children: a program that was started, alone or in a sandbox, with the pipes
 * to it; how it is told to end, and what became of it.
 *
 * The child of a sandbox is bwrap. The program inside has a group of its own,
 * whose number bwrap tells: that group gets the TERM, so that bwrap lives to
 * see how the program ends. A KILL of bwrap kills all that is inside.
 */
#ifndef RUNNER_PROCESS_CHILD_H
#define RUNNER_PROCESS_CHILD_H

#include "runner/process/job.h"

/* Our ends of a program's three pipes, by its own numbers of them, and a pidfd. */
enum { FD_IN, FD_OUT, FD_ERR, FD_PID, FDS };

struct child {
	pid_t pid;       /* also of its group */
	int fds[FDS];    /* not blocking; -1: closed */
	int news_fd;     /* of the sandbox; -1 without one */
	struct buf news; /* what came from it */
};

#define CHILD_NONE ((struct child){ .fds = { -1, -1, -1, -1 }, .news_fd = -1 })

/* Start the program of a process. 0; -errno of what failed, and *c is CHILD_NONE again. */
MUST_CHECK int child_open(struct child *c, const struct process *p);

/* TERM to the group. False: the program was not there yet, and gets the KILL instead. */
bool child_term(struct child *c);

/* KILL to the group. */
void child_kill(struct child *c);

/*
 * Kill what is left of the group, wait for the child and close everything.
 * *status is the program's as waitpid gives it. said: the last it wrote to
 * standard error. 0; -errno: its sandbox could not start it.
 */
MUST_CHECK int child_reap(struct child *c, struct span said, int *status);

/* Close one of the descriptors, if it is not closed. */
void child_close(struct child *c, int which);

#endif

/*
 * Processes: programs that are started, fed, listened to, limited and reaped.
 *
 * A child starts as spawn.h says, in a sandbox if it is given one, and has a
 * time limit: TERM to its process group, PROCESS_GRACE_MS later KILL. Output
 * beyond its limit ends the child. What a child leaves behind in its group does
 * not outlive it by more than PROCESS_DRAIN_MS; in a sandbox it ends with it.
 *
 * SIGPIPE has to be ignored in this process: a child need not read its input.
 */
#ifndef RUNNER_PROCESS_PROCESS_H
#define RUNNER_PROCESS_PROCESS_H

#include "base/cancel.h"
#include "runner/process/job.h"

void process_release(struct process *p);

/*
 * Run n programs side by side and wait until all have ended.
 *
 * Returns 0, also when programs failed (each has its own result); -ECANCELED:
 * cancel fired, all groups were ended and reaped; -ENOMEM or another -errno:
 * they could not be watched, and were killed. Any thread; blocks.
 */
MUST_CHECK int process_run_all(struct process *list, size_t n, struct cancel *cancel,
			       struct err *err);

#endif

/*
 * Processes: programs are started, fed, read, limited and reaped.
 *
 * A child starts as spawn.h says, in a sandbox if the job has one. After its time
 * limit its process group gets a TERM, and a KILL PROCESS_GRACE_MS later. Too much
 * output ends the child, too. Processes that a child leaves in its group outlive the
 * child by PROCESS_DRAIN_MS at most; in a sandbox they end with the child.
 *
 * This process must ignore SIGPIPE: a child need not read its input.
 */
#ifndef RUNNER_PROCESS_PROCESS_H
#define RUNNER_PROCESS_PROCESS_H

#include "base/cancel.h"
#include "runner/process/job.h"

/* Free the results. */
void process_release(struct process *p);

/*
 * Run n programs side by side and wait until all have ended.
 *
 * Returns 0, even when programs failed (each has its own result); -ECANCELED:
 * cancel fired, and all groups were ended and reaped; -ENOMEM or another -errno:
 * the programs could not be watched, and were killed. Any thread; blocks.
 */
MUST_CHECK int process_run_all(struct process *list, size_t n, struct cancel *cancel,
			       struct err *err);

/*
 * Append ": " and the last line of what a program wrote to standard error, at most
 * `max` bytes of it. Nothing is appended for a blank text.
 */
void process_quote_stderr(struct buf *out, struct span stderr_text, size_t max);

#endif

/*
 * Failures: why a turn fails, and what it leaves.
 *
 * The first failure of a run counts. Calls of one run may fail side by side.
 */
#ifndef RUNNER_TURN_FAILURE_H
#define RUNNER_TURN_FAILURE_H

#include "base/err.h"
#include "runner/turn/changes.h"
#include "store/json/content.h"

struct agent_run;

struct failure {
	char name[64]; /* errorCode; "" for MODEL_ERROR */
	char *agent;   /* NULL: the root */
	char *branch;
	struct content *answer; /* texts of an answer that broke off; NULL: none */
	char *finish_reason;
	struct buf usage;
	uint64_t streamed;      /* bytes of the answer's text that were shown already */
	struct changes changes; /* of model callbacks; the event of the failure has them */
	struct err err;
};

void failure_release(struct failure *f);

/* Set run->failure unless there is one; name: errorCode or NULL. Returns the failure's code. */
int run_fail(struct agent_run *run, const char *name, const struct err *err);
int run_fail_text(struct agent_run *run, const char *name, int code, const char *fmt, ...)
	PRINTF(4, 5);
int run_nomem(struct agent_run *run);

/* -ECANCELED when the turn was cancelled: the run has failed. */
MUST_CHECK int run_check_cancelled(struct agent_run *run);

#endif

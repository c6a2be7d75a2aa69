/*
 * The calls of an answer: run side by side, answered in one event.
 */
#ifndef RUNNER_TURN_CALLS_H
#define RUNNER_TURN_CALLS_H

#include "runner/turn/offer.h"

struct calls_result {
	bool paused;            /* an answer comes from outside, later */
	bool skipped;           /* the model is not asked to comment on the results */
	struct agent *transfer; /* the agent that a call transferred to; NULL: none */
	struct buf response;    /* args of set_model_response; empty: not called */
	bool misfit;            /* the args of set_model_response do not fit its schema */
};
void calls_result_release(struct calls_result *result);

/*
 * Run the calls of a content, and commit their answers in one event. out: all zero; the caller
 * releases it. After an error run->failure says why.
 */
MUST_CHECK int calls_run(struct agent_run *run, const struct offer *offer,
			 const struct content *content, struct calls_result *out);
/*
 * Run the calls that the newest message confirms, and answer those that it rejects. 1: there are
 * any.
 */
MUST_CHECK int calls_confirmed(struct agent_run *run, const struct offer *offer,
			       struct calls_result *out);
/* Commit the answers, if any, to calls that a failing turn leaves open. */
void calls_close(struct agent_run *run, const struct content *answers);

#endif

/*
 * The calls of an answer: run side by side, answered in one event.
 */
#ifndef RUNNER_TURN_CALLS_H
#define RUNNER_TURN_CALLS_H

#include "runner/turn/offer.h"

struct calls_result {
	bool paused;  /* an answer is to come from outside */
	bool skipped; /* the model is not asked for words on the results */
	struct agent *transfer;
	struct buf response; /* args of set_model_response; empty: not called */
	bool misfit;         /* the args of set_model_response do not fit its schema */
};
void calls_result_release(struct calls_result *result);

/* Run the calls of a content. */
MUST_CHECK int calls_run(struct agent_run *run, const struct offer *offer,
			 const struct content *content, struct calls_result *out);
/* Run the calls that the newest message confirms, answer those it rejects. 1: there were some. */
MUST_CHECK int calls_confirmed(struct agent_run *run, const struct offer *offer,
			       struct calls_result *out);
/* Commit answers, if any, to calls that a turn leaves open when it fails. */
void calls_close(struct agent_run *run, const struct content *answers);

#endif

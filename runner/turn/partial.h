/*
 * Partial events: shown while an answer comes, and not stored.
 */
#ifndef RUNNER_TURN_PARTIAL_H
#define RUNNER_TURN_PARTIAL_H

#include "runner/turn/run.h"

/* Show an event. */
void run_show_partial(struct agent_run *run, struct event *e);
/* Show a piece of a model's text as an event. */
void run_show_text(struct agent_run *run, struct span text, bool thought);
/* Free what run_show_text() keeps. */
void run_end_partial(struct agent_run *run);

#endif

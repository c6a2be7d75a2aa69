/*
 * Commits: events of runs, stored with what comes with them, then shown.
 */
#ifndef RUNNER_TURN_COMMIT_H
#define RUNNER_TURN_COMMIT_H

#include "runner/turn/run.h"

/* Set the invocation, the author and the branch of an event. */
void run_head(const struct agent_run *run, struct event *e);

/* Set in an event that pauses which agents transferred to its author; resumed_find() reads it. */
void run_note_transferred(const struct agent_run *run, struct event *e);

/*
 * Commit an event with its changes (or NULL) and n reports of calls, show it, and note what it
 * does to the run. The changes are published, or dropped after an error: run->failure says why.
 */
MUST_CHECK int run_commit(struct agent_run *run, struct event *e, struct changes *changes,
			  const struct call_report *reports, size_t n);

/* An event and what comes with it. */
struct run_event {
	struct event *e;
	struct changes *changes; /* NULL: none */
	const struct call_report *reports;
	size_t report_count;
	size_t bad_save; /* after an error: the save, from 1, that is the reason; 0: none is */
};
/* Do what run_commit() does, but only return an error: the run has not failed. */
MUST_CHECK int run_try_commit(struct agent_run *run, struct run_event *re, struct err *err);

/* Store reports of calls that no event has. */
MUST_CHECK int run_report(struct agent_run *run, const struct call_report *reports, size_t n);

/* Wake whoever waits for news of a running turn. */
void commit_notify(const struct live *live, const struct turn_hooks *hooks);
/*
 * Add a stored event to the stream, and its text after the first `streamed` bytes to the output.
 * bytes: length of the turn's lines up to the end of the event.
 */
void commit_show(struct live *live, const struct turn_hooks *hooks, const struct event *e,
		 uint64_t bytes, uint64_t streamed);

#endif

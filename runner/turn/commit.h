/*
 * Commits: events of runs, stored with everything that belongs to them, then shown.
 *
 * Partial events are shown while an answer comes, and never stored.
 */
#ifndef RUNNER_TURN_COMMIT_H
#define RUNNER_TURN_COMMIT_H

#include "runner/turn/run.h"

/* Set the invocation, the author and the branch of an event. */
void run_head(const struct agent_run *run, struct event *e);

/* Note in an event that pauses which agents transferred to its author; resumed_find() reads it. */
void run_note_transferred(const struct agent_run *run, struct event *e);

/*
 * Commit an event with its changes (or NULL) and n reports of calls, show it, and note what it
 * does to the run. The changes are published, or dropped after an error: run->failure says why.
 */
MUST_CHECK int run_commit(struct agent_run *run, struct event *e, struct changes *changes,
			  const struct call_report *reports, size_t n);

/* An event, and what is stored with it. */
struct run_event {
	struct event *e;
	struct changes *changes; /* NULL: none */
	const struct call_report *reports;
	size_t report_count;
	size_t bad_save; /* after an error: the number, from 1, of the save that caused it; 0: none
			  */
};
/* Do what run_commit() does, but only return an error: the run has not failed. */
MUST_CHECK int run_try_commit(struct agent_run *run, struct run_event *re, struct err *err);

/* Store reports of calls that no event has. After an error run->failure says why. */
MUST_CHECK int run_report(struct agent_run *run, const struct call_report *reports, size_t n);

/*
 * Add an event to a log in memory, with a new id and the time. The saves and contexts of its
 * changes (or NULL) wait in the sink for the event of the call.
 */
MUST_CHECK int sink_add(struct event_sink *sink, struct event *e, struct changes *changes,
			struct err *err);

/* Wake whoever waits for news of a running turn. */
void commit_notify(const struct live *live, const struct turn_hooks *hooks);

/*
 * Add a stored event to the stream, and its text after the first `streamed` bytes to the output.
 * bytes: length of the turn's lines up to the end of the event.
 */
void commit_show(struct live *live, const struct turn_hooks *hooks, const struct event *e,
		 uint64_t bytes, uint64_t streamed);

/* Show an event that is not stored, or a piece of a model's text as such an event. */
void run_show_partial(struct agent_run *run, struct event *e);
void run_show_text(struct agent_run *run, struct span text, bool thought);

/* Free what run_show_text() keeps for the next piece. */
void run_end_partial(struct agent_run *run);

#endif

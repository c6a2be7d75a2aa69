/*
 * Pairing: models want each call of a function followed by its responses.
 *
 * The responses are collected from wherever they stand into one content after the calls of one
 * event, in the order of the calls; the last response to a call counts.
 */
#ifndef RUNNER_HISTORY_PAIRING_H
#define RUNNER_HISTORY_PAIRING_H

#include "runner/history/contents.h"
#include "runner/history/line.h"

/* An event that has something to show. */
struct entry {
	struct past_place place;
	struct content *content;  /* owned; others may share it, so it is not changed */
	struct span long_running; /* JSON list of calls that may be answered late; borrowed */
	bool own;                 /* by this agent or the user; else foreign, without calls */
	bool by_user;
	bool has_functions; /* calls or responses, perhaps */
};

/*
 * Put the contents into the history. A call without a response gets one that says so; a response
 * to no call in the list becomes foreign.
 */
MUST_CHECK int pairing_put(const struct entry *list, size_t count, const char *agent,
			   struct history *out);

/* Whether a JSON list of ids, such as longRunningToolIds, has this id. The list may be empty. */
bool pairing_lists(struct span list, const char *id);

/* The result of a long-running call that has no answer yet. */
#define PAIRING_PENDING "{\"status\":\"pending\"}"

#endif

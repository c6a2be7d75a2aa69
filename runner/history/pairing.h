/*
 * Pairing: models want each call of a function followed by its responses.
 *
 * They are collected from wherever they came, in one content behind the calls
 * of one event, in the order of the calls; the last response to a call counts.
 */
#ifndef RUNNER_HISTORY_PAIRING_H
#define RUNNER_HISTORY_PAIRING_H

#include "runner/history/history.h"
#include "runner/history/past.h"

/* An event that has something to show. */
struct entry {
	struct past_place place;
	struct content *content;  /* owned, with others perhaps: it is not changed */
	struct span long_running; /* JSON list of calls that may be answered late; borrowed */
	bool own;                 /* of this agent or the user; else it is told, and has no calls */
	bool by_user;
	bool has_functions; /* calls or responses, perhaps */
};

/*
 * Put the contents into the history. Calls without a response get one that says so; a
 * response to no call in the list is told.
 */
MUST_CHECK int pairing_put(const struct entry *list, size_t count, const char *agent,
			   struct history *out);

/* Begin what is told to an agent: a content of the user with a heading; NULL: no memory. */
struct content *pairing_story(void);

/* Add what an author said, called or was answered in a part to a story. */
MUST_CHECK int pairing_tell(struct content *story, const char *author, const struct part *p);

/* Whether a list of ids as JSON, such as longRunningToolIds, has this one; it may be empty. */
bool pairing_lists(struct span list, const char *id);

/* What stands for the result of a long-running call that has none yet. */
#define PAIRING_PENDING "{\"status\":\"pending\"}"

#endif

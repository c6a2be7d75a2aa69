/*
 * Event: one line of a session's log, and its only codec.
 *
 * An event has the canonical text of each of its members. A line is parsed once, when it comes;
 * the store and the mount then use the canonical text.
 */
#ifndef STORE_JSON_EVENT_H
#define STORE_JSON_EVENT_H

#include "store/json/content.h"

#define EVENT_LINE_MAX  (64u << 20)
#define STATE_VALUE_MAX (1u << 20)

/* Members in the order in which they are written; the rows of event.c's table. */
enum event_member {
	EVENT_MODEL_VERSION,
	EVENT_CONTENT,
	EVENT_GROUNDING,
	EVENT_PARTIAL,
	EVENT_TURN_COMPLETE,
	EVENT_TURN_COMPLETE_REASON,
	EVENT_FINISH_REASON,
	EVENT_ERROR_CODE,
	EVENT_ERROR_MESSAGE,
	EVENT_INTERRUPTED,
	EVENT_CUSTOM_METADATA,
	EVENT_USAGE,
	EVENT_LIVE_RESUMPTION,
	EVENT_LIVE_SESSION,
	EVENT_GO_AWAY,
	EVENT_LIVE_SETUP,
	EVENT_INPUT_TRANSCRIPTION,
	EVENT_OUTPUT_TRANSCRIPTION,
	EVENT_AVG_LOGPROBS,
	EVENT_LOGPROBS,
	EVENT_CACHE_METADATA,
	EVENT_CITATIONS,
	EVENT_INTERACTION,
	EVENT_INVOCATION,
	EVENT_AUTHOR,
	EVENT_ACTIONS,
	EVENT_OUTPUT,
	EVENT_NODE_INFO,
	EVENT_LONG_RUNNING,
	EVENT_BRANCH,
	EVENT_ISOLATION,
	EVENT_ID,
	EVENT_TIMESTAMP,
	EVENT_MEMBERS,
};

enum action_member {
	ACTION_SKIP_SUMMARIZATION,
	ACTION_STATE_DELTA,
	ACTION_ARTIFACT_DELTA,
	ACTION_TRANSFER,
	ACTION_ESCALATE,
	ACTION_AUTH,
	ACTION_CONFIRMATIONS,
	ACTION_COMPACTION,
	ACTION_END_OF_AGENT,
	ACTION_AGENT_STATE,
	ACTION_REWIND,
	ACTION_ROUTE,
	ACTION_UI_WIDGETS,
	ACTION_MODEL_RESPONSE,
	ACTION_MEMBERS,
};

struct event {
	struct buf text; /* the texts at which the sets point */
	struct fieldset top;
	struct fieldset actions;
	struct span temp_delta; /* the `temp:` keys of stateDelta, in temp_text; empty: none */
	struct buf temp_text;
	bool made_time; /* adkfs made the timestamp: a retried append makes a new one */
};

/* Free the memory of an event and make it empty. All zero is an empty event. */
void event_release(struct event *e);

/*
 * Parse a line in any accepted form. An absent id or timestamp stays absent. `temp:` keys move
 * from the delta to e->temp_delta.
 *
 * Returns 0; -EINVAL; -EFBIG: the line or a state value is over its limit; -ENOMEM. Call
 * event_release() in any case.
 */
MUST_CHECK int event_from_json(struct span line, struct event *e, struct err *err);

/* Append the line of an event, without a newline. The id and the timestamp must be set. */
void event_to_json(const struct event *e, struct buf *out);

/* The canonical text of a member; empty if absent. Borrowed until the event changes. */
struct span event_json(const struct event *e, enum event_member which);
struct span event_action(const struct event *e, enum action_member which);

/*
 * Set a member to canonical JSON, to a string, to a time or to a content. A setter that runs out
 * of memory is noticed by event_check().
 */
void event_set_json(struct event *e, enum event_member which, struct span json);
void event_set_text(struct event *e, enum event_member which, struct span text);
void event_set_action(struct event *e, enum action_member which, struct span json);
void event_set_time(struct event *e, int64_t usec);
void event_set_content(struct event *e, const struct content *content);

/* Add a key to stateDelta. json must be canonical. */
void event_set_state(struct event *e, const char *key, struct span json);

/* Append the decoded string of a member; nothing if it is absent. -EINVAL; -ENOMEM. */
MUST_CHECK int event_text(const struct event *e, enum event_member which, struct buf *out);

/* The timestamp in microseconds; 0 if absent. */
int64_t event_time(const struct event *e);

/* 0, or -ENOMEM if a setter has failed. */
MUST_CHECK int event_check(const struct event *e, struct err *err);

/* Delete a state key: stateDelta gets null, and adkfs.deleted lists the key. */
void event_delete_state(struct event *e, const char *key);

/*
 * Change many state keys. members: the members of stateDelta to add, with null for a deleted key;
 * deleted: the names to add to adkfs.deleted. Both are canonical JSON without brackets, or empty.
 */
void event_change_states(struct event *e, struct span members, struct span deleted);

#endif

/*
 * Event: one line of a session's log, and the only codec of it.
 *
 * An event is kept as the canonical text of its members, each addressable. It
 * is parsed once, at the door; what is stored and shown is this text.
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
	struct buf text; /* holds what the sets point at */
	struct fieldset top;
	struct fieldset actions;
	struct span temp_delta; /* `temp:` part of stateDelta, in temp_text; empty without */
	struct buf temp_text;
	bool made_time; /* the timestamp is ours: a retried append makes it anew */
};

/* Free what the event holds; an all-zero event is empty. */
void event_release(struct event *e);

/*
 * Parse a line in any accepted form. What is absent and can be made (id,
 * timestamp) stays absent. `temp:` keys are moved out of the delta.
 *
 * Returns 0; -EINVAL with the reason; -EFBIG for a line or a state value over
 * its limit; -ENOMEM. *e is to be released in every case.
 */
MUST_CHECK int event_from_json(struct span line, struct event *e, struct err *err);

/* Append the line, without a newline. Id and timestamp must be set. */
void event_to_json(const struct event *e, struct buf *out);

/* The canonical text of a member; len 0 when absent. Borrowed until the event changes. */
struct span event_json(const struct event *e, enum event_member which);
struct span event_action(const struct event *e, enum action_member which);

/* Set a member to JSON text, which must be canonical, or to a string. */
void event_set_json(struct event *e, enum event_member which, struct span json);
void event_set_text(struct event *e, enum event_member which, struct span text);
void event_set_action(struct event *e, enum action_member which, struct span json);
void event_set_time(struct event *e, int64_t usec);
void event_set_content(struct event *e, const struct content *content);

/* Add a member to stateDelta; json must be canonical. */
void event_set_state(struct event *e, const char *key, struct span json);

/* Append the decoded string of a member; nothing when it is absent. -ENOMEM. */
MUST_CHECK int event_text(const struct event *e, enum event_member which, struct buf *out);

/* Microseconds of its timestamp; 0 when absent. */
int64_t event_time(const struct event *e);

/* 0, or -ENOMEM when a setter had failed. */
MUST_CHECK int event_check(const struct event *e, struct err *err);

/* Mark one more state key as deleted: null in stateDelta, and listed in adkfs.deleted. */
void event_delete_state(struct event *e, const char *key);

/*
 * Many keys at once: the members of an object, those that are deleted with null, and the elements
 * of the list of these; both without brackets, canonical, empty for none.
 */
void event_change_states(struct event *e, struct span members, struct span deleted);

#endif

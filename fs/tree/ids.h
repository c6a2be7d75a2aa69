/*
 * The ids of rows: the low 8 bits of inode numbers. Tools such as git and tar
 * remember inode numbers, so an id never changes its meaning.
 */
#ifndef FS_TREE_IDS_H
#define FS_TREE_IDS_H

enum node_id {
	ID_OBJECT = 0, /* the object itself: a scope's directory, a state file, ... */

	/* of a state key or artifact */
	ID_OBJECT_LINK = 1,
	ID_OBJECT_VERSIONS = 2,
	ID_OBJECT_JSON = 3,

	/* of a turn */
	ID_TURN_INPUT = 1,
	ID_TURN_OUTPUT = 2,
	ID_TURN_STATUS = 3,
	ID_TURN_ERROR = 4,
	ID_TURN_EVENTS = 5,
	ID_TURN_STREAM = 6,
	ID_TURN_INVOCATION = 7,
	ID_TURN_AGENT = 8,
	ID_TURN_USAGE = 9,
	ID_TURN_CALLS = 10,
	ID_TURN_CONTEXT = 11,

	/* of a context */
	ID_CONTEXT_INVOCATION = 1,
	ID_CONTEXT_AGENT = 2,
	ID_CONTEXT_APP = 3,
	ID_CONTEXT_USER = 4,
	ID_CONTEXT_SESSION = 5,
	ID_CONTEXT_CONTENT = 6,
	ID_CONTEXT_STATE = 7,
	ID_CONTEXT_STATE_JSON = 8,
	ID_CONTEXT_ARTIFACTS = 9,
	ID_CONTEXT_CALL = 10,
	ID_CONTEXT_ARGS = 11,
	ID_CONTEXT_ACTIONS = 12,
	ID_CONTEXT_MEMORY = 13,
	ID_CONTEXT_SEARCH = 14,

	/* of a call of a tool */
	ID_CALL_TOOL = 1,
	ID_CALL_ARGS = 2,
	ID_CALL_RESPONSE = 3,
	ID_CALL_STDERR = 4,
	ID_CALL_DURATION = 5,

	/* of a scope */
	ID_MEMBERS = 16, /* apps, users, sessions */
	ID_STATE_DIR = 17,
	ID_STATE_JSON = 18,
	ID_ARTIFACTS = 19,
	ID_VERSIONS = 20,
	ID_TURNS = 21,
	ID_TURNS_LATEST = 22,
	ID_INPUT = 23,
	ID_OUTPUT = 24,
	ID_STATUS = 25,
	ID_WAIT = 26,
	ID_EVENTS = 27,
	ID_SESSION_JSON = 28,
	ID_ERRORS = 29,
	ID_AGENT = 30,
	ID_AGENT_JSON = 31,
	ID_CTL = 32,
	ID_INPUT_JSON = 33,
	ID_ATTACHMENTS = 34,
	ID_TRANSCRIPT_MD = 35,
	ID_TRANSCRIPT_HTML = 36,
	ID_TRACE = 37,
	ID_USAGE = 38,
	ID_MEMORY = 40,
	ID_MEMORY_SESSIONS = 41,
	ID_MEMORY_SEARCH = 42,

	/* of the root */
	ID_README = 64,
	ID_ADKFS = 65,
	ID_VERSION = 66,
	ID_STATS = 67,
	ID_CONFIG = 68,
	ID_METRICS = 69,
	ID_TURNS_JSONL = 70,
};

#endif

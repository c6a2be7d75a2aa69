/*
 * The tree that is measured.
 *
 * The same names mean the same thing in adkfs, in the floor server and in a
 * plain directory, so that one client can measure all three. Each name is
 * written here and nowhere else.
 */
#ifndef BENCH_TREE_H
#define BENCH_TREE_H

#include <stdio.h>

#define TREE_APP "apps/bench"

/* A session each for the rows that would disturb one another. */
#define TREE_USERS    TREE_APP "/users"
#define TREE_HOT      TREE_USERS "/hot/sessions/s"
#define TREE_STATE    TREE_HOT "/state/topic.json"
#define TREE_ARTIFACT TREE_HOT "/artifacts/big.bin"
#define TREE_APPEND   TREE_USERS "/append/sessions/s"
#define TREE_EVENTS   TREE_APPEND "/events.jsonl"
#define TREE_TURN     TREE_USERS "/turn/sessions/s"
#define TREE_INPUT    TREE_TURN "/input"
#define TREE_OUTPUT   TREE_TURN "/output"
#define TREE_PARKED   TREE_USERS "/parked/sessions/s"
#define TREE_BIG      TREE_USERS "/log/sessions/s"
#define TREE_LOG      TREE_BIG "/events.jsonl"

/* The directory of many sessions, and the name of the n-th. */
#define TREE_MANY   TREE_USERS "/u/sessions"
#define TREE_MEMBER "s%06u"

/* Sessions that grow side by side: the path of the n-th, and of its log. */
#define TREE_CROWD        TREE_USERS "/crowd/sessions"
#define TREE_CROWD_MEMBER TREE_CROWD "/s%02u"
#define TREE_CROWD_EVENTS TREE_CROWD_MEMBER "/events.jsonl"
#define CROWD             32

/* Users whose sessions take turns; the model of the last ones is slow. */
#define TREE_TOOL    TREE_USERS "/tool"
#define TREE_SWARM   TREE_USERS "/swarm"
#define TREE_WAITING "apps/slow/users/waiting"

/* The message whose turn takes some seconds: see the script that tests/bench/run writes. */
#define TREE_PARK_MESSAGE "park\n"

/* The message that makes the model call a program. */
#define TREE_TOOL_MESSAGE "tool\n"

/* A state value: 64 bytes of JSON with its newline. */
#define TREE_VALUE "\"sixty-four bytes of JSON, as a user would keep them as a topic\"\n"
#define VALUE_SIZE (sizeof(TREE_VALUE) - 1)

enum {
	EVENT_MAX = 512, /* room for one line */
};

/*
 * The n-th event, one line: 200 bytes as written, about 300 as adkfs stores
 * it with its ids and its time. Returns its length.
 */
static inline size_t tree_event(char line[EVENT_MAX], unsigned n)
{
	return (size_t)snprintf(
		line, EVENT_MAX,
		"{\"author\":\"user\",\"content\":{\"parts\":[{\"text\":"
		"\"message %08u of a long conversation in which somebody asks about "
		"the weather, the trains and the best place for lunch near the "
		"station\"}],\"role\":\"user\"}}\n",
		n);
}

#endif

/*
 * Replay: the outcome of lines of a log. That is the session's own state keys with their values,
 * and the last version of each artifact that the lines name.
 *
 * A replay takes as much memory as the outcome has, however long the lines are.
 */
#ifndef STORE_TIMELINE_REPLAY_H
#define STORE_TIMELINE_REPLAY_H

#include "base/buf.h"

/* A state key or an artifact. */
struct replay_item {
	struct replay_item *next; /* the next one in the slot */
	uint64_t hash;
	struct buf text;  /* a key: its canonical value; empty: the key was deleted */
	uint64_t version; /* an artifact: its last version */
	bool seen;        /* a mark of the caller */
	size_t len;       /* length of the name */
	char name[];      /* ends with NUL */
};

struct replay_map {
	struct replay_item **slots;
	size_t size; /* a power of two, or 0 */
	size_t count;
};

/* All zero is an empty replay. */
struct replay {
	struct replay_map keys;
	struct replay_map artifacts; /* the session's own, without `user:` */
};

void replay_release(struct replay *r);

/* Apply a stored line. -ENOMEM; -EIO: the line is damaged. */
MUST_CHECK int replay_line(struct replay *r, struct span line);

/* Whether a line may have a delta. A cheap test that may say yes without need. */
bool replay_has_delta(struct span line);

/* Find an item. NULL: no line named it. A deleted key is found, with an empty text. */
struct replay_item *replay_find(const struct replay_map *map, struct span name);

/* Call fn for each item, in no order. Not 0 from fn ends the walk and is returned. */
typedef int replay_fn(void *arg, struct replay_item *item);
MUST_CHECK int replay_each(const struct replay_map *map, replay_fn *fn, void *arg);

#endif

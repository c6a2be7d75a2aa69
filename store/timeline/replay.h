/*
 * Replay: what lines of a log leave behind - the session's own state keys with
 * their values, and which version of each artifact they name last.
 *
 * Takes as much memory as what is left, not as the lines have.
 */
#ifndef STORE_TIMELINE_REPLAY_H
#define STORE_TIMELINE_REPLAY_H

#include "base/buf.h"

/* A state key or an artifact. */
struct replay_item {
	struct replay_item *next; /* in its slot */
	uint64_t hash;
	struct buf text;  /* of a key: its value, canonical; empty: it was deleted */
	uint64_t version; /* of an artifact */
	bool seen;        /* for whoever looks through them */
	size_t len;       /* of the name */
	char name[];      /* and a NUL */
};

struct replay_map {
	struct replay_item **slots;
	size_t size; /* a power of two, or 0 */
	size_t count;
};

/* All zero is an empty one. */
struct replay {
	struct replay_map keys;
	struct replay_map artifacts; /* of the session: without `user:` */
};

void replay_release(struct replay *r);

/* Take a stored line. 0, -ENOMEM, -EIO: it cannot be read. */
MUST_CHECK int replay_line(struct replay *r, struct span line);

/* Whether replay_line() would find something in a line; a cheap look that may err on yes. */
bool replay_has_delta(struct span line);

/* NULL: no line named it. A key that was deleted is found, with an empty text. */
struct replay_item *replay_find(const struct replay_map *map, struct span name);

/* In no order. Ends early with what fn returns if that is not 0. */
typedef int replay_fn(void *arg, struct replay_item *item);
MUST_CHECK int replay_each(const struct replay_map *map, replay_fn *fn, void *arg);

#endif

/*
 * The description of a turn, and its record.
 */
#ifndef STORE_TURN_INFO_H
#define STORE_TURN_INFO_H

#include "store/tx/store.h"

enum turn_state { TURN_QUEUED, TURN_RUNNING, TURN_DONE, TURN_FAILED };

struct turn_info {
	uint64_t n;
	uint64_t number; /* number of the object */
	enum turn_state state;
	int64_t created; /* microseconds */
	int64_t started;
	int64_t ended;
	uint64_t stamp; /* ns; the latest change */
	uint64_t first; /* its lines are in [first, last) of the log, */
	uint64_t last;  /* perhaps with other lines between them */
	uint64_t bytes; /* size of its lines */
	uint64_t input_size;
	uint64_t output_size;
	uint64_t calls; /* number of calls of models and tools so far */
	char invocation[64];
	char agent[256];
	char error[256]; /* the reason of a failure */
};

/* Convert to a record and back. -EIO: the record is damaged. */
void turn_encode(const struct turn_info *t, struct buf *out);
MUST_CHECK int turn_decode(struct span record, uint64_t n, struct turn_info *t);

/* Inside a transaction: read turn n. -ENOENT. */
MUST_CHECK int turn_load(struct store_tx *tx, struct ref session, uint64_t n, struct turn_info *t);

#endif

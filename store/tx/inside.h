/*
 * The inside of a store. open.c fills it in, and tx/store.c uses it.
 */
#ifndef STORE_TX_INSIDE_H
#define STORE_TX_INSIDE_H

#include "base/mutex.h"
#include "store/tx/store.h"
#include "store/tx/writers.h"

struct store {
	/* fixed after open */
	const struct engine_ops *ops;
	struct engine *eng;
	enum durability durability;
	uint64_t node;
	char *folder;
	struct bulk_pins *pins;
	struct memory_worker *memory;
	watch_fn *notice; /* open.c's own: gets each change before the watcher does */
	watch_fn *watch;
	void *watch_arg;
	store_say_fn *say; /* NULL: nothing is said */
	uint64_t said_at;  /* monotonic; while the store is converted */

	struct writers writers;

	struct mutex numbers_lock;
	uint64_t next_number GUARDED_BY(numbers_lock);
	uint64_t end_number GUARDED_BY(numbers_lock);
	uint64_t numbers_at GUARDED_BY(numbers_lock);   /* the time when numbers were taken last */
	uint64_t numbers_size GUARDED_BY(numbers_lock); /* how many were taken then */
};

#endif

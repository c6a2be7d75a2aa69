/*
 * The inside of a store: for tx/store.c, which uses it, and open.c, which fills it in.
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
	char *folder;
	struct bulk_pins *pins;
	struct memory_worker *memory;
	watch_fn *notice; /* of the store itself; hears of each change before the watcher */
	watch_fn *watch;
	void *watch_arg;

	struct writers writers;

	struct mutex numbers_lock;
	uint64_t next_number GUARDED_BY(numbers_lock);
	uint64_t end_number GUARDED_BY(numbers_lock);
	uint64_t numbers_at GUARDED_BY(numbers_lock);   /* when some were taken last */
	uint64_t numbers_size GUARDED_BY(numbers_lock); /* how many */
};

#endif

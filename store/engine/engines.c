/*
 * Engines: see engines.h.
 */
#include "store/engine/engines.h"

const struct engine_ops *const engines[] = { &engine_rocksdb, &engine_memory, NULL };

const struct engine_ops *engine_find(const char *name)
{
	size_t i;

	for (i = 0; engines[i]; i++) {
		if (!strcmp(engines[i]->name, name))
			break;
	}
	return engines[i];
}

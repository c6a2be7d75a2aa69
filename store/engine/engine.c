/*
 * The engines there are.
 */
#include "store/engine/engine.h"

static const struct engine_ops *const engines[] = { &engine_rocksdb, &engine_memory, NULL };

const struct engine_ops *engine_find(const char *name)
{
	size_t i;

	for (i = 0; engines[i]; i++) {
		if (!strcmp(engines[i]->name, name))
			return engines[i];
	}
	return NULL;
}

const char *const *engine_names(void)
{
	static const char *names[ARRAY_SIZE(engines)];
	size_t i;

	for (i = 0; engines[i]; i++)
		names[i] = engines[i]->name;
	return names;
}

/*
 * Engines: the table of all engines.
 */
#ifndef STORE_ENGINE_ENGINES_H
#define STORE_ENGINE_ENGINES_H

#include "store/engine/engine.h"

/* NULL ends the table. */
extern const struct engine_ops *const engines[];

/* Find an engine by its name. NULL: no engine has it. */
const struct engine_ops *engine_find(const char *name);

#endif

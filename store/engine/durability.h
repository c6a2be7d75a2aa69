/*
 * Durability: what a commit survives.
 */
#ifndef STORE_ENGINE_DURABILITY_H
#define STORE_ENGINE_DURABILITY_H

#include <stdbool.h>

enum durability {
	DURABILITY_PROCESS, /* a crash of the daemon */
	DURABILITY_DISK,    /* a power cut too */
};

/* Find the durability that has this name. False: none has; *names then lists the names. */
bool durability_find(const char *name, enum durability *durability, const char **names);

const char *durability_name(enum durability durability);

#endif

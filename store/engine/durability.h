/*
 * Durability: how much a commit survives.
 */
#ifndef STORE_ENGINE_DURABILITY_H
#define STORE_ENGINE_DURABILITY_H

#include <stdbool.h>

enum durability {
	DURABILITY_PROCESS, /* a crash of the daemon */
	DURABILITY_DISK,    /* a power cut too */
};

/* Find a durability by its name. False: no durability has it. *names lists the names. */
bool durability_find(const char *name, enum durability *durability, const char **names);

const char *durability_name(enum durability durability);

#endif

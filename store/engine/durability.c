/*
 * Durability: see durability.h.
 */
#include "store/engine/durability.h"

#include "base/cc.h"

#include <string.h>

static const char *const durabilities[] = {
	[DURABILITY_PROCESS] = "process",
	[DURABILITY_DISK] = "disk",
};

bool durability_find(const char *name, enum durability *durability, const char **names)
{
	size_t i;

	*names = "process or disk";
	for (i = 0; i < ARRAY_SIZE(durabilities); i++) {
		if (!strcmp(durabilities[i], name)) {
			*durability = (enum durability)i;
			return true;
		}
	}
	return false;
}

const char *durability_name(enum durability durability)
{
	return durabilities[durability];
}

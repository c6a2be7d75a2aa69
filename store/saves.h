/*
 * Saves: versions of artifacts that are made together with an event.
 */
#ifndef STORE_SAVES_H
#define STORE_SAVES_H

#include "store/blob.h"

/* All borrowed. */
struct save {
	const char *name;  /* ADK's file name, such as "reports/q1.pdf"; "user:x.md": the user's */
	struct blob *blob; /* settled; sealed by who made it when it was saved */
	const char *mime;
	uint64_t version; /* set when it was saved */
};

#endif

/*
 * Saves: versions of artifacts that are made together with an event.
 */
#ifndef STORE_ARTIFACT_SAVES_H
#define STORE_ARTIFACT_SAVES_H

#include "store/artifact/artifact.h"

/* What it points at is borrowed. */
struct save {
	const char *name;  /* ADK's file name, such as "reports/q1.pdf"; "user:x.md": the user's */
	struct blob *blob; /* settled; sealed by who made it when it was saved */
	const char *mime;
	struct artifact_attr attr;
	uint64_t version; /* set when it was saved */
};

/* Where a session's file name leads: the session, or its user; *rest is the name there. */
struct ref save_scope(struct ref session, const char *name, const char **rest);

#endif

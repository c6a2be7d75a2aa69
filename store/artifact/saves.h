/*
 * Saves: versions of artifacts that are made together with an event.
 */
#ifndef STORE_ARTIFACT_SAVES_H
#define STORE_ARTIFACT_SAVES_H

#include "store/artifact/artifact.h"

/* A version to be saved. All that it points at is borrowed. */
struct save {
	const char *name;  /* ADK's file name, such as "reports/q1.pdf"; "user:x.md": the user's */
	struct blob *blob; /* settled; sealed by who made it when it was saved */
	const char *mime;
	struct artifact_attr attr;
	uint64_t version; /* set when it was saved */
};

/* The scope of a session's file name: the session or its user; *rest is the name there. */
struct ref save_scope(struct ref session, const char *name, const char **rest);

/* Saves inside the transaction of the event that names them: for turn/turn.c. */
struct saves_tx {
	struct save *list; /* borrowed */
	size_t count;
	struct buf numbers; /* of uint64_t: for what may have to be made */
	struct buf delta;   /* the artifactDelta that the event came with */
	size_t bad; /* set: which of the list, from 1, is why this failed; 0: none of them */
};

/*
 * Check the names and take numbers, before the transaction. e: the event that will tell.
 * -EINVAL, -ENAMETOOLONG: no artifact has such a name. Release it in any case.
 */
MUST_CHECK int saves_prepare(struct saves_tx *t, struct store *st, struct save *list, size_t count,
			     const struct event *e, struct err *err);

/*
 * Make the versions and name them in the event, which is to be added then. Each save's
 * version is set. -ENOTDIR, -EISDIR: something else is in the way.
 */
MUST_CHECK int saves_put(struct saves_tx *t, struct session_tx *s, struct event *e);

void saves_release(struct saves_tx *t);

#endif

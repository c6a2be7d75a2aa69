/*
 * Saves: versions of artifacts that are made together with an event.
 */
#ifndef STORE_ARTIFACT_SAVES_H
#define STORE_ARTIFACT_SAVES_H

#include "store/artifact/artifact.h"

/* A version to be saved. All pointers are borrowed. */
struct save {
	const char *name;  /* ADK's file name, such as "reports/q1.pdf"; "user:x.md": the user's */
	struct blob *blob; /* settled; the caller seals it after a success */
	const char *mime;
	struct artifact_attr attr;
	uint64_t version; /* set when it was saved */
};

/* The scope of a session's file name: the session or its user; *rest is the name there. */
struct ref save_scope(struct ref session, const char *name, const char **rest);

/* For turn/turn.c: saves in the transaction of the event that names them. */
struct saves_tx {
	struct save *list; /* borrowed */
	size_t count;
	struct buf numbers; /* uint64_t: for artifacts, versions and directories */
	struct buf delta;   /* the artifactDelta that the event came with */
	size_t bad;         /* set: the save, from 1, that failed; 0: none */
};

/*
 * Before the transaction: check the names and take numbers. e: the event that will name the
 * versions. -EINVAL, -ENAMETOOLONG: a name is invalid. Call saves_release() in any case.
 */
MUST_CHECK int saves_prepare(struct saves_tx *t, struct store *st, struct save *list, size_t count,
			     const struct event *e, struct err *err);

/*
 * Save the versions, set the `version` of each save, and name them in the event, which the caller
 * adds then. -ENOTDIR: an artifact has the name of a directory; -EISDIR: the reverse.
 */
MUST_CHECK int saves_put(struct saves_tx *t, struct session_tx *s, struct event *e);

void saves_release(struct saves_tx *t);

#endif

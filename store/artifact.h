/*
 * Artifacts: versioned files of a session or a user, in directories.
 *
 * An artifact's bytes are bulk (bulk.h), written before the version exists; one
 * transaction publishes version, event and artifactDelta. Version numbers
 * start at 1 and are never used twice, also after a deletion.
 */
#ifndef STORE_ARTIFACT_H
#define STORE_ARTIFACT_H

#include "store/session.h"

/* An artifact or a directory of artifacts. */
struct artifact_info {
	uint64_t number;
	bool is_directory;
	char name[256];          /* the last component */
	char full_name[1024];    /* ADK's file name: components joined by '/' */
	uint64_t stamp;          /* ns; of the latest version, or of a directory's list */
	int64_t created;         /* microseconds */
	uint64_t latest;         /* version; 0 for a directory */
	uint64_t highest;        /* ever given */
	uint64_t size;           /* of the latest version */
	uint64_t versions_stamp; /* ns; of the list of versions */
	bool removed;            /* a directory that is kept for the numbers below it */
};

struct version_info {
	uint64_t n;
	uint64_t number; /* of the object */
	uint64_t bulk;   /* 0: no bytes */
	uint64_t size;
	uint64_t stamp;
	int64_t created;
	char mime[128];
};

/* What publishing needs to know. */
struct artifact_save {
	struct ref scope; /* session, or user */
	uint64_t parent;  /* directory: number of the scope or of a directory */
	const char *name;
	const char *full_name;
	uint64_t bulk; /* of bulk_create(); 0: empty */
	uint64_t size;
	const char *mime;
	uint64_t number;  /* for the artifact if it is new, of store_new_number(); 0: any */
	uint64_t version; /* not 0: this version, saved by the same open before, has more bytes now
			   */

	/* For a user's file that is saved through a session: where the event goes, and its name. */
	struct ref event_session;
	const char *event_name;
};

/* By name in a directory. -ENOENT. */
MUST_CHECK int artifact_find(struct store *st, uint64_t parent, const char *name,
			     struct artifact_info *out, struct err *err);

/* By number. -ENOENT. */
MUST_CHECK int artifact_stat(struct store *st, uint64_t parent, uint64_t number,
			     struct artifact_info *out, struct err *err);

/* In order of number, numbers above `after` only. */
typedef int artifact_fn(void *arg, const struct artifact_info *info);
MUST_CHECK int artifact_list(struct store *st, uint64_t parent, uint64_t after, artifact_fn *fn,
			     void *arg, struct err *err);

/* -EEXIST. */
MUST_CHECK int artifact_mkdir(struct store *st, struct ref scope, uint64_t parent, const char *name,
			      const char *full_name, struct artifact_info *out, struct err *err);

/* A directory must be empty. -ENOENT, -ENOTEMPTY, -ENOTDIR. */
MUST_CHECK int artifact_rmdir(struct store *st, struct ref scope, uint64_t parent, const char *name,
			      struct err *err);

/* Save a version. -EISDIR: the name is a directory; -ESTALE: the scope is gone. */
MUST_CHECK int artifact_publish(struct store *st, const struct artifact_save *save,
				struct artifact_info *out, struct err *err);

/* Delete the name with all versions. -ENOENT, -EISDIR. */
MUST_CHECK int artifact_remove(struct store *st, struct ref scope, uint64_t parent,
			       const char *name, struct err *err);

/* Versions. -ENOENT. */
MUST_CHECK int artifact_version(struct store *st, uint64_t artifact, uint64_t n,
				struct version_info *out, struct err *err);
typedef int version_fn(void *arg, const struct version_info *info);
MUST_CHECK int artifact_versions(struct store *st, uint64_t artifact, uint64_t after,
				 version_fn *fn, void *arg, struct err *err);
MUST_CHECK int artifact_remove_version(struct store *st, struct ref scope, uint64_t parent,
				       uint64_t artifact, uint64_t n, struct err *err);

/* The object `<n>.json` shows. */
void artifact_describe(struct buf *out, const char *app, const char *user, const char *session,
		       const struct artifact_info *artifact, const struct version_info *version);

/* For scope.c: all of a directory, inside a transaction; bulks collects numbers. */
MUST_CHECK int artifact_remove_all(struct store_tx *tx, uint64_t parent, struct buf *bulks);
/* After its commit. */
void artifact_remove_bulks(struct store *st, const struct buf *bulks);

#endif

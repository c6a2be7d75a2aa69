/*
 * Artifacts: versioned files of a session or a user, in directories.
 *
 * An artifact's bytes are a blob (blob.h), written before the version exists; one
 * transaction publishes version, event and artifactDelta. Version numbers
 * start at 1 and are never used twice, also after a deletion.
 */
#ifndef STORE_ARTIFACT_ARTIFACT_H
#define STORE_ARTIFACT_ARTIFACT_H

#include "base/cc.h"
#include "store/artifact/blob.h"
#include "store/artifact/info.h"
#include "store/session/session.h"

/* A version to be published. */
struct artifact_save {
	struct ref scope; /* session, or user */
	uint64_t parent;  /* directory: number of the scope or of a directory */
	const char *name;
	const char *full_name;
	const struct blob *blob; /* settled; the caller seals it when this succeeded */
	const char *mime;
	const struct artifact_attr *attr; /* NULL: none */
	uint64_t number;         /* for the artifact if it is new, of store_new_number(); 0: any */
	bool must_be_there;      /* as `number`, else -ESTALE */
	bool replaces;           /* the name gets `number` also if it is there */
	uint64_t n;              /* this version; 0: the next one */
	uint64_t version_number; /* of its object; 0: any; with `version` the one it has */
	uint64_t version; /* not 0: this version, saved by the same open before, has other bytes
			   * now */

	/* For a user's file that is saved through a session: where the event goes, and its name. */
	struct ref event_session;
	const char *event_name;
};

/* Find an artifact by its name in a directory. -ENOENT. */
MUST_CHECK int artifact_find(struct store *st, uint64_t parent, const char *name,
			     struct artifact_info *out, struct err *err);
/* Find an artifact, even one of which only versions can be seen. -ENOENT. */
MUST_CHECK int artifact_find_versions(struct store *st, uint64_t parent, const char *name,
				      struct artifact_info *out, struct err *err);

/* Find by full name, even if only versions can be seen; *parent: its directory. -ENOENT. */
MUST_CHECK int artifact_resolve(struct store *st, struct ref scope, const char *full_name,
				uint64_t *parent, struct artifact_info *out, struct err *err);

/* Describe an artifact by its number. -ENOENT. */
MUST_CHECK int artifact_stat(struct store *st, uint64_t parent, uint64_t number,
			     struct artifact_info *out, struct err *err);

/* In order of number, numbers above `after` only. */
typedef int artifact_fn(void *arg, const struct artifact_info *info);
MUST_CHECK int artifact_list(struct store *st, uint64_t parent, uint64_t after, artifact_fn *fn,
			     void *arg, struct err *err);
MUST_CHECK int artifact_list_versions(struct store *st, uint64_t parent, uint64_t after,
				      artifact_fn *fn, void *arg, struct err *err);

/* A name in a directory. */
struct artifact_name {
	struct ref scope; /* session, or user */
	uint64_t parent;  /* directory: number of the scope or of a directory */
	const char *name;
};

/*
 * Make a directory. attr: NULL for none; out: NULL is fine. -EEXIST: the name is taken; -ESTALE:
 * the scope or the parent is gone; -ENAMETOOLONG.
 */
MUST_CHECK int artifact_mkdir(struct store *st, struct artifact_name at, const char *full_name,
			      const struct artifact_attr *attr, struct artifact_info *out,
			      struct err *err);

/* Remove an empty directory. -ENOENT; -ENOTEMPTY; -ENOTDIR; -ESTALE: the scope is gone. */
MUST_CHECK int artifact_rmdir(struct store *st, struct artifact_name at, struct err *err);

/*
 * Save a version. -EISDIR: the name is a directory; -ESTALE: the scope is gone; -EEXIST: save->n
 * was given already.
 */
MUST_CHECK int artifact_publish(struct store *st, const struct artifact_save *save,
				struct artifact_info *out, struct err *err);

/* Set attributes. -ENOENT. */
MUST_CHECK int artifact_set_attr(struct store *st, struct ref scope, uint64_t parent,
				 uint64_t number, const struct artifact_attr *attr,
				 struct err *err);

/* Delete an artifact with all its versions. -ENOENT; -EISDIR; -ESTALE: the scope is gone. */
MUST_CHECK int artifact_remove(struct store *st, struct artifact_name at, struct err *err);

/*
 * Change a name within a scope. What it had is a new version of the new name, whose versions
 * stay; the versions of the old name go with it, and the number goes along. A directory has to be
 * empty. -ENOENT, -EISDIR, -ENOTDIR, -ENOTEMPTY; -EXDEV: a directory with something in it.
 */
struct artifact_rename {
	struct ref scope;
	uint64_t parent;
	const char *name;
	uint64_t new_parent;
	const char *new_name;
	const char *new_full_name;
	const char *mime; /* of the new version */
	bool must_be_new; /* -EEXIST */
};
MUST_CHECK int artifact_rename(struct store *st, const struct artifact_rename *rename,
			       struct artifact_info *out, struct err *err);

/* Versions. artifact: its history. -ENOENT. */
MUST_CHECK int artifact_version(struct store *st, uint64_t artifact, uint64_t n,
				struct version_info *out, struct err *err);
MUST_CHECK int artifact_versions(struct store *st, uint64_t artifact, uint64_t after,
				 version_fn *fn, void *arg, struct err *err);
MUST_CHECK int artifact_remove_version(struct store *st, struct artifact_name at, uint64_t n,
				       struct err *err);

/* Load the bytes of a version into an empty blob, and describe it (out may be NULL). */
MUST_CHECK int artifact_blob(struct store *st, uint64_t artifact, uint64_t n, struct blob *blob,
			     struct version_info *out, struct err *err);

/* Whether version n could be saved. -EEXIST: it was given already. */
MUST_CHECK int artifact_check_number(struct store *st, const struct artifact_info *a, uint64_t n,
				     struct err *err);

/* Custom metadata of a version, an object; nothing when there is none. */
MUST_CHECK int artifact_metadata(struct store *st, uint64_t artifact, uint64_t n, struct buf *out,
				 struct err *err);

/*
 * Set the custom metadata of a version, a canonical object, and its MIME type; NULL keeps the
 * type. -ENOENT; -EFBIG: more than ARTIFACT_META_MAX bytes; -EINVAL: the type is too long;
 * -ESTALE: the scope is gone.
 */
#define ARTIFACT_META_MAX (64u << 10)
MUST_CHECK int artifact_describe_version(struct store *st, struct artifact_name at, uint64_t n,
					 const char *mime, struct span meta, struct err *err);

/* The ids in the canonical URI of a version. */
struct artifact_uri {
	const char *app;
	const char *user;
	const char *session; /* NULL: an artifact of the user */
	const char *full_name;
};

/* Append the JSON object that describes a version, with a newline. meta: empty for none. */
void artifact_describe(struct buf *out, const struct artifact_uri *at,
		       const struct version_info *version, struct span meta);

/* For session/scope.c: all of a directory, inside a transaction; dead collects numbers. */
MUST_CHECK int artifact_remove_all(struct store_tx *tx, uint64_t parent, struct buf *dead);
/* After its commit. */
void artifact_remove_bulks(struct store *st, const struct buf *dead);

/*
 * For timeline/fork.c, inside its transaction: what a session has, in versions up to the one that
 * `highest` tells for each full name (0: not at all), into a session that has none. Numbers are
 * kept, bytes are shared.
 */
typedef uint64_t artifact_cut_fn(void *arg, const char *full_name);
MUST_CHECK int artifact_fork(struct store_tx *tx, struct ref from, struct ref to,
			     artifact_cut_fn *highest, void *arg);

/*
 * For timeline/rewind.c, inside its transaction: a new version with the bytes of version n, or a
 * tombstone for n = 0. *made: its number. -ENOENT: the name or the version was deleted.
 */
MUST_CHECK int artifact_restore(struct session_tx *s, const char *full_name, uint64_t n,
				uint64_t *made);

#endif

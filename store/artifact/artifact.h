/*
 * Artifacts: versioned files of a session or a user, in directories.
 *
 * The bytes of a version are a blob (blob.h), which is written first. Then one transaction
 * publishes the version and the event that names it in its artifactDelta. Version numbers start
 * at 1 and are never used twice, even after the artifact was deleted.
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
	const struct blob *blob; /* settled; the caller seals it after a success */
	const char *mime;
	const struct artifact_attr *attr; /* NULL: none */
	uint64_t number;                  /* for a new artifact, from store_new_number(); 0: any */
	bool must_be_there;               /* -ESTALE unless the name has `number` */
	bool replaces;                    /* the name gets `number` even if it has another one */
	uint64_t n;                       /* number of the version; 0: the next one */
	uint64_t version_number;          /* number of the version's object; 0: any */
	/* Not 0: give this version other bytes; it must have the object `version_number`. */
	uint64_t version;

	/* A user's file that is saved through a session: the session gets an event with this name.
	 */
	struct ref event_session;
	const char *event_name;
};

/* Find an artifact or a directory by its name in a directory. -ENOENT. */
MUST_CHECK int artifact_find(struct store *st, uint64_t parent, const char *name,
			     struct artifact_info *out, struct err *err);
/* Find an artifact, even a deleted one that still has versions. -ENOENT. */
MUST_CHECK int artifact_find_versions(struct store *st, uint64_t parent, const char *name,
				      struct artifact_info *out, struct err *err);

/*
 * Find an artifact by its full name, even a deleted one that still has versions. *parent: the
 * number of its directory; NULL is fine. -ENOENT.
 */
MUST_CHECK int artifact_resolve(struct store *st, struct ref scope, const char *full_name,
				uint64_t *parent, struct artifact_info *out, struct err *err);

/* Describe an artifact by its number. -ENOENT. */
MUST_CHECK int artifact_stat(struct store *st, uint64_t parent, uint64_t number,
			     struct artifact_info *out, struct err *err);

/*
 * List a directory in the order of numbers, with numbers above `after` only.
 * artifact_list_versions() also lists deleted artifacts that still have versions.
 */
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
 * Save a version. out: NULL is fine. -EISDIR: the name is a directory; -ESTALE: the scope, the
 * directory or what `save` relies on is gone; -EEXIST: save->n was used already; -ENAMETOOLONG.
 */
MUST_CHECK int artifact_publish(struct store *st, const struct artifact_save *save,
				struct artifact_info *out, struct err *err);

/* Set the attributes that attr->has names. -ENOENT; -ESTALE: the scope is gone. */
MUST_CHECK int artifact_set_attr(struct store *st, struct ref scope, uint64_t parent,
				 uint64_t number, const struct artifact_attr *attr,
				 struct err *err);

/* Delete an artifact with all its versions. -ENOENT; -EISDIR; -ESTALE: the scope is gone. */
MUST_CHECK int artifact_remove(struct store *st, struct artifact_name at, struct err *err);

/*
 * Rename an artifact or an empty directory within a scope.
 *
 * The latest version of an artifact becomes a new version of the new name, which keeps its own
 * versions. The versions of the old name are deleted. The artifact keeps its number. out: NULL is
 * fine.
 *
 * -ENOENT; -EEXIST; -EISDIR: the new name is a directory; -ENOTDIR: a directory would replace an
 * artifact; -ENOTEMPTY: the new name is a directory with entries; -EXDEV: the old one is;
 * -ESTALE; -ENAMETOOLONG.
 */
struct artifact_rename {
	struct ref scope;
	uint64_t parent;
	const char *name;
	uint64_t new_parent;
	const char *new_name;
	const char *new_full_name;
	const char *mime; /* type of the new version, if none was set by hand */
	bool must_be_new; /* -EEXIST if the new name is taken */
};
MUST_CHECK int artifact_rename(struct store *st, const struct artifact_rename *rename,
			       struct artifact_info *out, struct err *err);

/*
 * Describe, list and remove versions. artifact: artifact_info.history. The list has numbers above
 * `after`, in order. -ENOENT: there is no such version, or it only hides the name.
 */
MUST_CHECK int artifact_version(struct store *st, uint64_t artifact, uint64_t n,
				struct version_info *out, struct err *err);
MUST_CHECK int artifact_versions(struct store *st, uint64_t artifact, uint64_t after,
				 version_fn *fn, void *arg, struct err *err);
MUST_CHECK int artifact_remove_version(struct store *st, struct artifact_name at, uint64_t n,
				       struct err *err);

/* Load the bytes of a version into an empty blob. out: its description; NULL is fine. -ENOENT. */
MUST_CHECK int artifact_blob(struct store *st, uint64_t artifact, uint64_t n, struct blob *blob,
			     struct version_info *out, struct err *err);

/* Whether version n could be saved. -EEXIST: the number was used already. */
MUST_CHECK int artifact_check_number(struct store *st, const struct artifact_info *a, uint64_t n,
				     struct err *err);

/* Append the custom metadata of a version, an object; nothing if it has none. -ENOENT. */
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

/*
 * For timeline/loose.c, inside its transaction: remove at most *budget rows of files and versions
 * in a directory that belongs to no scope any more. `dead` collects the numbers of bulks for
 * artifact_remove_bulks(). Returns 0: all are gone; 1: the budget ran out; -errno.
 */
MUST_CHECK int artifact_remove_some(struct store_tx *tx, uint64_t directory, size_t *budget,
				    struct buf *dead);
/* After the commit: remove bulks that no version refers to. */
void artifact_remove_bulks(struct store *st, const struct buf *dead);

/*
 * For timeline/fork.c, inside its transaction: copy the artifacts of a session to a session
 * without artifacts. highest() tells the last version to copy of each full name; 0: none. The
 * copies have the same version numbers and share the bytes.
 */
typedef uint64_t artifact_cut_fn(void *arg, const char *full_name);
MUST_CHECK int artifact_fork(struct store_tx *tx, struct ref from, struct ref to,
			     artifact_cut_fn *highest, void *arg);

/*
 * For timeline/rewind.c, inside its transaction: make a new version with the bytes of version n,
 * or for n = 0 a tombstone, which hides the name. *made: the number of the new version. -ENOENT:
 * the name or the version was deleted.
 */
MUST_CHECK int artifact_restore(struct session_tx *s, const char *full_name, uint64_t n,
				uint64_t *made);

#endif

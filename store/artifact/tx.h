/*
 * Parts of the operations on artifacts, for the files of this room: see artifact.h.
 */
#ifndef STORE_ARTIFACT_TX_H
#define STORE_ARTIFACT_TX_H

#include "store/artifact/artifact.h"
#include "store/artifact/item.h"
#include "store/artifact/version.h"

/* An operation, as the argument of its transaction. */
struct artifact_request {
	struct ref scope;
	uint64_t parent;
	uint64_t number;
	uint64_t n;
	uint64_t new_number;
	uint64_t new_version;
	const char *name;
	const char *full_name;
	const char *mime;
	const struct artifact_save *save;
	const struct artifact_rename *rename;
	const struct artifact_attr *attr;
	bool versions; /* find deleted names that still have versions, too */
	struct span meta;
	struct buf *text;
	struct extents map;
	struct artifact_info info;
	struct version_info version;
	struct buf dead;
};

/* A function that makes a version of rq and changes the record of the scope. */
typedef int artifact_saving_fn(struct store_tx *tx, struct artifact_request *rq,
			       struct scope_info *scope, uint64_t stamp);

/* Find rq->name in rq->parent, and set rq->info. -ENOENT. */
MUST_CHECK int artifact_find_tx(struct store_tx *tx, void *arg);

/* Check that the directory of a new artifact is there. -ESTALE. */
MUST_CHECK int artifact_check_parent(struct store_tx *tx, struct ref scope, uint64_t parent);

/* Note that a name came to a directory or left it. *info changes, and the caller saves it. */
void artifact_touch_list(struct store_tx *tx, struct ref scope, uint64_t parent,
			 struct scope_info *info, uint64_t stamp);

/* Whether a directory has entries, counting deleted names that still have versions. 1: yes. */
MUST_CHECK int artifact_has_entries(struct store_tx *tx, uint64_t directory);

/* -ENAMETOOLONG. */
MUST_CHECK int artifact_check_full_name(const char *full_name, struct err *err);

/* Before a transaction: take the numbers of a new artifact and a new version. */
MUST_CHECK int artifact_take_numbers(struct store *st, struct artifact_request *rq,
				     struct err *err);

/*
 * Save the version that rq->save describes; make the directory rq->name in rq->parent (-EEXIST).
 * Both use new_number and new_version, set rq->info, and change the record of the scope, which
 * the caller saves.
 */
artifact_saving_fn artifact_put_version;
artifact_saving_fn artifact_put_directory;

/* Save through a session, with an event. event_name: NULL for the full name. */
MUST_CHECK int artifact_save_in_session(struct store_tx *tx, struct artifact_request *rq,
					struct ref session, const char *event_name,
					artifact_saving_fn *saving);

/* Save in a user, without an event. */
MUST_CHECK int artifact_save_at_user(struct store_tx *tx, struct artifact_request *rq,
				     artifact_saving_fn *saving);

/* Run a transaction, and then remove the bulks in rq->dead. */
MUST_CHECK int artifact_update(struct store *st, store_tx_fn *fn, struct artifact_request *rq,
			       struct err *err);

#endif

/*
 * Drafts from inside: for the files of this folder.
 */
#ifndef FS_DRAFT_INSIDE_H
#define FS_DRAFT_INSIDE_H

#include "base/mutex.h"
#include "fs/draft/draft.h"
#include "store/artifact/blob.h"

#include <stdatomic.h>

struct draft {
	atomic_uint refs;
	struct mutex lock;
	struct blob blob GUARDED_BY(lock);
	atomic_bool is_renamed; /* the next save is another version, of the new name */
	atomic_bool is_taken;   /* of a new artifact: by the open that made it */
	atomic_bool is_based;   /* blob is the file: what was there before was loaded, or cut off */
	atomic_bool is_saved;   /* all of it; what is stored is that, or newer */
	bool is_written GUARDED_BY(lock); /* since it was saved: a close saves it */
	bool is_cut GUARDED_BY(lock);     /* nothing but emptied: the last close saves it */
	bool is_over GUARDED_BY(lock);    /* nothing more may be written */
	atomic_bool is_closing; /* others wait for the last close; changed with the lock */
	uint64_t version GUARDED_BY(lock); /* saved as; 0: not yet */
	uint64_t version_number GUARDED_BY(lock);
	_Atomic uint64_t length;

	struct mutex attr_lock;
	struct artifact_attr attr GUARDED_BY(attr_lock); /* for the version */
};

/* An open file. */
struct opened {
	struct draft *draft; /* NULL: reads what is stored, and nothing else */
	struct blob view;    /* guarded by the handle's lock, as the next ones */
	bool has_view;
	uint64_t change; /* of the inode, when the view was loaded */
	_Atomic uint64_t view_size;
};

/* Note the size for those who have no lock. */
void draft_measure_locked(struct draft *d) REQUIRES(d->lock);

/* The bytes that are stored under a place: of the version that it names, or of the latest. */
MUST_CHECK int draft_load_stored(const struct place *at, struct blob *blob, struct err *err);

/* What is stored, as an open shows it: loaded when it changed. With the handle's lock. */
MUST_CHECK int draft_refresh_view(struct handle *h, struct opened *o, struct err *err);

/* What it has of its own: with bytes that were written, or that it started from. */
bool draft_own_size(const struct handle *h, uint64_t *size);

/*
 * A close that only emptied or made the file has an effect when the last descriptor is
 * gone, which is just about to happen: who opens it or asks for its size waits for that.
 */
void draft_start_closing_locked(struct handle *h, struct draft *d) REQUIRES(d->lock);
void draft_stop_closing_locked(struct handle *h, struct draft *d) REQUIRES(d->lock);

#endif

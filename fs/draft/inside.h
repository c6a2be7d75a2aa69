/*
 * The inside of a draft, for the files of this folder only.
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
	atomic_bool is_renamed; /* the next save makes a version of the new name */
	atomic_bool is_claimed; /* a new artifact's draft: the open that made it has it */
	atomic_bool is_based;   /* blob is the file: the old bytes were loaded or cut off */
	atomic_bool is_saved;   /* the stored bytes are the draft's, or newer */
	bool is_written GUARDED_BY(lock);  /* since the last save: a close saves it */
	bool is_cut GUARDED_BY(lock);      /* emptied, not written: the last close saves it */
	bool is_over GUARDED_BY(lock);     /* writes are refused */
	atomic_bool is_closing;            /* others wait for the last close; set with lock held */
	uint64_t version GUARDED_BY(lock); /* the version it was saved as; 0: not saved */
	uint64_t version_number GUARDED_BY(lock);
	_Atomic uint64_t length;

	struct mutex attr_lock;
	struct artifact_attr attr GUARDED_BY(attr_lock); /* for the next version */
};

/* The state of an open file: h->state. */
struct opened {
	struct draft *draft; /* NULL: reads the stored bytes */
	struct blob view;    /* the stored bytes; guarded by h->lock, with the next two */
	bool has_view;
	uint64_t change; /* the inode's change when the view was loaded */
	_Atomic uint64_t view_size;
};

/* Set d->length, which others read without the lock. */
void draft_measure_locked(struct draft *d) REQUIRES(d->lock);

/* Load the stored bytes of a place: the version that it names, or the latest. -ENOENT. */
MUST_CHECK int draft_load_stored(const struct place *at, struct blob *blob, struct err *err);

/*
 * Load the stored bytes into o->view if the file changed since the last load. A removed file
 * keeps its view. The caller holds h->lock.
 */
MUST_CHECK int draft_refresh_view(struct handle *h, struct opened *o, struct err *err);

/* The size of the draft of an open. False: no draft, or the old bytes are not in it yet. */
bool draft_own_size(const struct handle *h, uint64_t *size);

/* Functions of draft_ops that have files of their own. See struct file_ops. */
bool draft_size(struct handle *h, uint64_t *size);
MUST_CHECK int draft_flush(struct handle *h, struct err *err);
void draft_release(struct handle *h, struct err *err);

/*
 * Begin and end the wait of others for the last close of a file. A file that was only made or
 * emptied is saved when its last descriptor is gone, which usually follows at once; others
 * that open the file or ask for its size wait (tree/closing.h).
 */
void draft_start_closing_locked(struct handle *h, struct draft *d) REQUIRES(d->lock);
void draft_stop_closing_locked(struct handle *h, struct draft *d) REQUIRES(d->lock);

#endif

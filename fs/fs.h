/*
 * The file system: a mount that shows a store and the runner of its agents.
 */
#ifndef FS_FS_H
#define FS_FS_H

#include "runner/runner.h"
#include "store/tx/store.h"

struct fs;
struct owners;
struct sandbox;

struct fs_options {
	struct store *store;
	const char *mountpoint;   /* absolute */
	const char *agents;       /* folder of the agent folders, absolute; NULL: no agents */
	const char *fuse_options; /* options for -o; may be NULL */
	struct owners *owners;    /* the owners of files; outlives the fs */
	const struct sandbox
		*sandbox; /* for programs of agents; outlives the fs; NULL: no sandbox */
	unsigned turns_max;
	unsigned threads; /* 0: choose by the number of cores */
};

/*
 * Make the runner and mount. *out is untouched on failure.
 *
 * @options borrowed for the call, but for the objects that outlive the fs
 * Returns 0; -errno of the mount, the runner or the agents.
 */
MUST_CHECK int fs_new(const struct fs_options *options, struct fs **out, struct err *err);

/*
 * Recover the turns of an earlier daemon, then serve until the mount is gone or
 * fs_stop() is called. Returns 0 or -errno.
 */
MUST_CHECK int fs_serve(struct fs *fs, struct err *err);

/* End the running turns, then fs_serve(). Blocks until the turns have ended. Any thread. */
void fs_stop(struct fs *fs);

/* Somebody else unmounted: end the running turns. Blocks until they have ended. Any thread. */
void fs_unmounted(struct fs *fs);

/* Stop the runner, unmount and free. The store stays open. NULL is fine. */
void fs_free(struct fs *fs);

#endif

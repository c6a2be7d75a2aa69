/*
 * The file system: a mount that shows a store and its runner.
 */
#ifndef FS_FS_H
#define FS_FS_H

#include "runner/runner.h"
#include "store/tx/store.h"

struct fs;
struct owners;
struct sandbox;

#define FS_THREADS_MIN 4 /* or two a core */

struct fs_options {
	struct store *store;
	const char *mountpoint;        /* absolute */
	const char *agents;            /* folder of agent folders, absolute, or NULL */
	const char *fuse_options;      /* for -o, or NULL */
	struct owners *owners;         /* whose files are whose; outlives the fs */
	const struct sandbox *sandbox; /* of programs; outlives the fs; NULL: none */
	unsigned turns_max;
	unsigned threads; /* 0: the usual number */
};

/* Mount. The runner is made here, since each hears of the other. */
MUST_CHECK int fs_new(const struct fs_options *options, struct fs **out, struct err *err);

/*
 * Take up what was left behind, and serve until the mount is gone or
 * fs_stop() is called. Returns 0 or -errno.
 */
MUST_CHECK int fs_serve(struct fs *fs, struct err *err);

/* End the running turns, then serving. Blocks for as long as the turns take to end. Any thread. */
void fs_stop(struct fs *fs);

/* The mount is not in its place any more: end the running turns. Blocks as fs_stop(). Any thread.
 */
void fs_unmounted(struct fs *fs);

/* Unmount, stop the runner, free. NULL is fine. */
void fs_free(struct fs *fs);

#endif

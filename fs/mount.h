/*
 * What the files of fs/ share: the one struct fs.
 */
#ifndef FS_MOUNT_H
#define FS_MOUNT_H

#include "fs/context.h"
#include "fs/errors.h"
#include "fs/fs.h"
#include "fs/inode.h"
#include "fs/node.h"
#include "fs/notify.h"
#include "fs/owners.h"
#include "fs/park.h"
#include "fs/scratch.h"
#include "fs/views.h"

struct fuse_session;

struct fs {
	/* fixed after fs_new() */
	struct store *store;
	struct runner *runner;
	struct fuse_session *se;
	char *mountpoint;
	char *agents;
	struct owners *owners;
	const struct sandbox *sandbox;
	char *fuse_options;
	unsigned turns_max;
	uint64_t mounted; /* stamp */
	int64_t started;  /* microseconds */
	unsigned threads;
	bool is_mounted;

	_Atomic uint64_t requests[4]; /* counters by enum request_kind */

	struct mutex handles_lock;
	struct handle *handles GUARDED_BY(handles_lock);

	struct inodes inodes;
	struct scratch_table scratch;
	struct savings savings;
	struct notify notify;
	struct park park;
	struct errors errors;
	struct views views;
};

enum request_kind { REQUEST_LOOKUP, REQUEST_READ, REQUEST_WRITE, REQUEST_OTHER };

#endif

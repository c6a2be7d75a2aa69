/*
 * struct fs: the state of one mount, shared by all files of fs/.
 */
#ifndef FS_TREE_FS_H
#define FS_TREE_FS_H

#include "fs/tree/errors.h"
#include "fs/tree/inode.h"
#include "fs/tree/node.h"
#include "fs/tree/notify.h"
#include "fs/tree/owners.h"
#include "fs/tree/park.h"

struct fuse_session;
struct runner;
struct sandbox;
struct savings;
struct scratch_table;
struct store;
struct views;

struct fs {
	/* fixed after fs_new() */
	struct store *store;
	struct runner *runner;
	struct fuse_session *se;
	char *mountpoint;
	char *agents;
	struct owners *owners;
	const struct sandbox *sandbox;
	struct scratch_table *scratch; /* draft/scratch.h */
	struct savings *savings;       /* names/context.h */
	struct views *views;           /* view/view.h */
	char *fuse_options;
	unsigned turns_max;
	uint64_t mounted; /* stamp */
	int64_t started;  /* microseconds */
	unsigned threads;
	bool is_mounted;

	_Atomic uint64_t requests[4]; /* number of requests by enum request_kind */

	struct mutex handles_lock;
	struct handle *handles GUARDED_BY(handles_lock);

	struct inodes inodes;
	struct notify notify;
	struct park park;
	struct errors errors;
};

enum request_kind { REQUEST_LOOKUP, REQUEST_READ, REQUEST_WRITE, REQUEST_OTHER };

#endif

/*
 * Scratch: files of a directory that are not in the store.
 *
 * Names in artifacts/ that start with a dot, names in state/ that do not end in
 * .json, new artifacts until they are saved for the first time, and what the
 * program of a context writes. They are ordinary files that vanish with the
 * daemon; a rename makes a version or a value of one.
 */
#ifndef FS_DRAFT_SCRATCH_H
#define FS_DRAFT_SCRATCH_H

#include "fs/tree/node.h"

#define SCRATCH_MAX 10000 /* files */

/* state/ has the number of its scope with this in it; artifacts/ has that number itself. */
#define SCRATCH_OF_STATE (1ull << 53)

struct draft;
struct scratch_table;

struct scratch_info {
	uint64_t number;
	uint64_t dir;      /* number of the directory's object, or one that stands for it */
	struct ref scope;  /* what it goes with */
	bool is_new;       /* will be an artifact; full_name is ADK's name for it */
	bool is_directory; /* and has no draft */
	char name[256];
	char full_name[1024];
	struct artifact_attr attr;
	uint64_t stamp;
	uint64_t changed;
	uint64_t size;
};

/* The table of a mount. NULL: out of memory. */
struct scratch_table *scratch_new(void);
void scratch_free(struct scratch_table *t); /* NULL is fine */

/*
 * Add a file: info without its times and size. draft: its bytes; a reference is taken.
 * -EEXIST; -ENOSPC: there are too many.
 */
MUST_CHECK int scratch_add(struct fs *fs, const struct scratch_info *info, struct draft *draft,
			   struct err *err);

/* The same of an empty file, or a directory: info gets a number, and the mode that `by` says. */
MUST_CHECK int scratch_create(struct fs *fs, struct scratch_info *info, const struct node_new *by,
			      struct err *err);

/* By name, by number. Whether it is there; out and draft (one reference) may be NULL. */
bool scratch_find(struct fs *fs, uint64_t dir, const char *name, struct scratch_info *out);
bool scratch_get(struct fs *fs, uint64_t number, struct scratch_info *out, struct draft **draft);

/* In order of number, numbers above `after` only. Not 0 from fn ends it. */
typedef int scratch_fn(void *arg, const struct scratch_info *info);
int scratch_list(struct fs *fs, uint64_t dir, uint64_t after, scratch_fn *fn, void *arg);

/* The same, of all directories, of those that go with a scope. */
int scratch_list_scope(struct fs *fs, struct ref scope, uint64_t after, scratch_fn *fn, void *arg);

/* The text of a small file; put a text into one that is empty. -ENOENT; -EFBIG. */
MUST_CHECK int scratch_text(struct fs *fs, uint64_t number, size_t max, struct buf *text,
			    struct err *err);
MUST_CHECK int scratch_put_text(struct fs *fs, uint64_t number, struct span text, struct err *err);

/*
 * One that becomes an artifact is held until it is no scratch file any more, and so is
 * one that is removed: it is the one or the other.
 */
void scratch_hold(struct fs *fs, uint64_t number);
void scratch_let(struct fs *fs, uint64_t number);

/* False: it is not there. */
bool scratch_remove(struct fs *fs, uint64_t number);
/* Remove it by its name: opens of it are ESTALE, and the kernel is told. */
void scratch_unlink(struct fs *fs, uint64_t number);
/* It will be an artifact of that name; "": of none. */
void scratch_set_full_name(struct fs *fs, uint64_t number, const char *full_name);
bool scratch_set_attr(struct fs *fs, uint64_t number, const struct artifact_attr *attr);
/* Another name, perhaps in another directory; one that has it is removed. */
void scratch_move(struct fs *fs, uint64_t number, uint64_t dir, const char *name);

/* It was written. */
void scratch_touch(struct fs *fs, uint64_t number);

/* When the list of a directory changed; 0: not by scratch files, or its time was set since. */
uint64_t scratch_dir_stamp(struct fs *fs, uint64_t dir);
void scratch_dir_settle(struct fs *fs, uint64_t dir);
/* It changes now, though not by scratch files. */
void scratch_dir_touch(struct fs *fs, uint64_t dir);

/* Whether there is any in the directory. */
bool scratch_any(struct fs *fs, uint64_t dir);

/* All of a scope that goes away. */
void scratch_forget(struct fs *fs, struct ref scope);

/* How a scratch file is shown. */
void scratch_stat(const struct scratch_info *info, struct node_stat *st);
void scratch_place(const struct place *dir, const struct scratch_info *info, struct place *child);
extern const struct node_type scratch_node;

#endif

/*
 * Scratch files: files that are not in the store.
 *
 * A scratch file is a name in artifacts/ that starts with a dot, a name in state/
 * that does not end in .json, a new artifact until its first save, or a file that
 * the program of a context writes. Scratch files are ordinary files that vanish
 * with the daemon; a rename turns a scratch file into a version or a value. All
 * functions may be called on any thread.
 */
#ifndef FS_DRAFT_SCRATCH_H
#define FS_DRAFT_SCRATCH_H

#include "fs/tree/node.h"

#define SCRATCH_MAX 10000 /* scratch files in a mount */

/* The scratch_info.dir of artifacts/ is its scope's number; of state/, the number with this bit. */
#define SCRATCH_OF_STATE (1ull << 53)

struct draft;
struct scratch_table;

struct scratch_info {
	uint64_t number;
	uint64_t dir;      /* number of the directory (see SCRATCH_OF_STATE) */
	struct ref scope;  /* the file is removed together with this scope */
	bool is_new;       /* the first save makes an artifact; full_name is its ADK name */
	bool is_directory; /* a directory, without a draft */
	char name[256];
	char full_name[1024];
	struct artifact_attr attr;
	uint64_t stamp;   /* time of the bytes, ns */
	uint64_t changed; /* time of the attributes, ns */
	uint64_t size;
};

/* The table of a mount. NULL: out of memory. */
struct scratch_table *scratch_new(void);
void scratch_free(struct scratch_table *t); /* NULL is fine */

/*
 * Add a scratch file: *info, but for the times and the size, which are set here. The table gets
 * a reference of its own to the draft. Returns 0; -EEXIST; -ENOSPC: SCRATCH_MAX files exist.
 */
MUST_CHECK int scratch_add(struct fs *fs, const struct scratch_info *info, struct draft *draft,
			   struct err *err);

/* Add an empty file or a directory: info gets a new number, and mode and owner from `by`. */
MUST_CHECK int scratch_create(struct fs *fs, struct scratch_info *info, const struct node_new *by,
			      struct err *err);

/* Add a file with a text and mode 0600. A file that has the name already is removed. */
MUST_CHECK int scratch_replace(struct fs *fs, struct scratch_info *info, const struct node_new *by,
			       struct span text, struct err *err);

/* Find a file by name or by number. out and draft (which gets a reference) may be NULL. */
bool scratch_find(struct fs *fs, uint64_t dir, const char *name, struct scratch_info *out);
bool scratch_get(struct fs *fs, uint64_t number, struct scratch_info *out, struct draft **draft);

/*
 * Call fn for each file of a directory whose number is above `after`, sorted by number, without
 * a lock. Ends when fn returns anything but 0, and returns that.
 */
typedef int scratch_fn(void *arg, const struct scratch_info *info);
int scratch_list(struct fs *fs, uint64_t dir, uint64_t after, scratch_fn *fn, void *arg);

/* Emit the files of `dir` as members of l->dir, with cookies above `base`. after: a cookie. */
int scratch_emit(struct lister *l, uint64_t dir, uint64_t base, uint64_t after);

/* Like scratch_list(), for all files of a scope. */
int scratch_list_scope(struct fs *fs, struct ref scope, uint64_t after, scratch_fn *fn, void *arg);

/* Append the text of a small file. -ENOENT; -EFBIG. */
MUST_CHECK int scratch_text(struct fs *fs, uint64_t number, size_t max, struct buf *text,
			    struct err *err);

/*
 * Lock and unlock a scratch file while it becomes an artifact or is removed, so that only one
 * of the two happens. scratch_hold() blocks; the thread that holds must let.
 */
void scratch_hold(struct fs *fs, uint64_t number);
void scratch_let(struct fs *fs, uint64_t number);

/* Remove a file from the table; its inode stays as it is. False: there is no such file. */
bool scratch_remove(struct fs *fs, uint64_t number);
/* Remove a file as unlink(2) does: further opens are ESTALE, and the kernel drops attributes. */
void scratch_unlink(struct fs *fs, uint64_t number);
/* The first save makes an artifact of this name; "": the file becomes no artifact. */
void scratch_set_full_name(struct fs *fs, uint64_t number, const char *full_name);
/* Set attributes. False: there is no such file. */
bool scratch_set_attr(struct fs *fs, uint64_t number, const struct artifact_attr *attr);
/* Rename a file, perhaps into another directory; a file that has the new name is removed. */
void scratch_move(struct fs *fs, uint64_t number, uint64_t dir, const char *name);

/* Set the times of a file that was written. Does nothing for other numbers. */
void scratch_touch(struct fs *fs, uint64_t number);

/* The time when scratch files last changed the list of a directory; 0: no time is known. */
uint64_t scratch_dir_stamp(struct fs *fs, uint64_t dir);
/* Forget that time: a user has set the directory's time. */
void scratch_dir_settle(struct fs *fs, uint64_t dir);
/* Set that time to now, for a change that scratch files did not make. */
void scratch_dir_touch(struct fs *fs, uint64_t dir);

/* Whether the directory has a scratch file. */
bool scratch_any(struct fs *fs, uint64_t dir);

/* Remove all files of a scope that goes away. */
void scratch_forget(struct fs *fs, struct ref scope);

/* The attributes and the place of a scratch file, for the rows that have such files. */
void scratch_stat(const struct scratch_info *info, struct node_stat *st);
void scratch_place(const struct place *dir, const struct scratch_info *info, struct place *child);
/* scratch_place() with the name in `text`, for a find() or a create() of a row. */
MUST_CHECK int scratch_found(const struct place *dir, const struct scratch_info *info,
			     struct place *child, struct buf *text, struct err *err);
extern const struct node_type scratch_node;

#endif

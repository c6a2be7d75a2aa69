/*
 * turns/<n>/context/<name>/: what a program that the runner waits for sees,
 * and may change (runner/live/context.h).
 *
 * The directory is there while the program is waited for. What is written to
 * it is kept in memory until the runner asks for it, and comes to nothing when
 * it does not.
 */
#ifndef FS_NAMES_CONTEXT_H
#define FS_NAMES_CONTEXT_H

#include "fs/tree/ids.h"
#include "fs/tree/node.h"
#include "runner/live/context.h"

/* The row of a turn. */
int contexts_present(const struct place *at);
int contexts_stat(const struct place *at, struct node_stat *st, struct err *err);
int contexts_list(const struct place *dir, uint64_t after, struct lister *l, struct err *err);
int contexts_find(const struct place *dir, const char *name, struct place *child, struct buf *text,
		  struct err *err);

#define CONTEXTS_NAME "context"
#define CONTEXTS_ROW                                                                               \
	{                                                                                          \
		.name = CONTEXTS_NAME, .id = ID_TURN_CONTEXT, .mode = S_IFDIR | 0700,              \
		.flags = NODE_LATE,                                                                \
		.help = "there while programs run: what each sees and changes",                    \
		.present = contexts_present, .stat = contexts_stat, .list = contexts_list,         \
		.find = contexts_find                                                              \
	}

/* The time of a turn's list of names, which `context` is one of; 0: as the turn's. */
uint64_t contexts_stamp(const struct place *turn);

/* The directory of the kind that has all names. */
extern const struct node_type context_dir;

/* For the runner (runner.h); arg is the fs. */
void contexts_opened(void *arg, struct context *c);
void contexts_closed(void *arg, struct context *c, bool published);
int contexts_saves(void *arg, struct context *c, struct buf *saves, struct err *err);

/* What was written and is being saved: fs.savings. */
struct saving;
struct savings {
	struct mutex lock;
	struct saving *first GUARDED_BY(lock);
};
void savings_init(struct savings *s);
void savings_release(struct savings *s);

/* For the files of a context: its place has the number of the context as its parent. */

/* It does not end until context_leave(). -ESTALE: it has ended. */
MUST_CHECK int context_of(const struct place *at, struct context **out, struct err *err);

/* What its scratch files go with. */
struct ref context_scope(const struct place *at);

/* As scratch_create(), in a context. -ESTALE. */
struct scratch_info;
MUST_CHECK int context_create(const struct place *dir, struct scratch_info *info,
			      const struct node_new *by, struct err *err);

/* state/ and state.json: context_state.c. */
int context_state_stat(const struct place *at, struct node_stat *st, struct err *err);
int context_state_list(const struct place *dir, uint64_t after, struct lister *l, struct err *err);
int context_state_find(const struct place *dir, const char *name, struct place *child,
		       struct buf *text, struct err *err);
int context_state_create(const struct place *dir, const char *name, const struct node_new *by,
			 struct place *child, struct buf *text, struct err *err);
int context_state_remove(const struct place *dir, const char *name, struct err *err);
int context_state_rename(const struct place *dir, const char *name, const struct place *new_dir,
			 const char *new_name, bool must_be_new, const struct node_new *by,
			 struct err *err);
int context_map_stat(const struct place *at, struct node_stat *st, struct err *err);
int context_map_show(const struct place *at, struct buf *out, struct err *err);
extern const struct file_ops context_map_ops;

/* artifacts/: context_artifacts.c. */
int context_artifacts_stat(const struct place *at, struct node_stat *st, struct err *err);
int context_artifacts_list(const struct place *dir, uint64_t after, struct lister *l,
			   struct err *err);
int context_artifacts_find(const struct place *dir, const char *name, struct place *child,
			   struct buf *text, struct err *err);
int context_artifacts_create(const struct place *dir, const char *name, const struct node_new *by,
			     struct place *child, struct buf *text, struct err *err);
int context_artifacts_make(const struct place *dir, const char *name, const struct node_new *by,
			   struct err *err);
int context_artifacts_remove(const struct place *dir, const char *name, struct err *err);
int context_artifacts_remove_dir(const struct place *dir, const char *name, struct err *err);
int context_artifacts_rename(const struct place *dir, const char *name, const struct place *new_dir,
			     const char *new_name, bool must_be_new, const struct node_new *by,
			     struct err *err);

#endif

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

/* The time of a turn's list of names, which `context` is one of; 0: as the turn's. */
uint64_t contexts_stamp(const struct place *turn);

/* The directory of a context, by enum context_kind; CONTEXT_TOOL has all names. */
extern const struct node_type context_members[];

/* For the runner (runner.h); arg is the fs. */
void contexts_opened(void *arg, struct context *c);
void contexts_closed(void *arg, struct context *c, bool published);
int contexts_saves(void *arg, struct context *c, struct buf *saves, struct err *err);

/* Artifacts that are being saved: fs.savings. NULL: out of memory. */
struct savings;
struct savings *savings_new(void);
void savings_free(struct savings *s); /* NULL is fine */

/* For the files of a context: its place has the number of the context as its parent. */

/* It does not end until context_leave(). -ESTALE: it has ended. */
MUST_CHECK int context_of(const struct place *at, struct context **out, struct err *err);

/* The scope that stands for a context of a session; scratch files of the context go with it. */
struct ref context_scope_of(struct ref session, uint64_t number);
struct ref context_scope(const struct place *at);

/* Whether a program is waited for in the turn. */
bool context_any_open(struct fs *fs, struct ref session, uint64_t turn);

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
int context_state_rename(const struct node_rename *rn, struct err *err);
int context_map_stat(const struct place *at, struct node_stat *st, struct err *err);
int context_map_show(const struct place *at, struct buf *out, struct err *err);
extern const struct text_rules context_map_rules;
extern const struct node_type context_state_members[];

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
int context_artifacts_rename(const struct node_rename *rn, struct err *err);
extern const struct node_type context_artifacts_members[];

#endif

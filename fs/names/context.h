/*
 * turns/<n>/context/<name>/: the data that a program of an agent sees and may
 * change (runner/live/context.h).
 *
 * The directory exists while the runner waits for the program. Changes are kept in
 * memory until the runner collects them; otherwise they are discarded. For the
 * contracts of functions that a row names see struct node_type.
 */
#ifndef FS_NAMES_CONTEXT_H
#define FS_NAMES_CONTEXT_H

#include "fs/tree/ids.h"
#include "fs/tree/node.h"
#include "runner/live/context.h"

/* The functions of the row `context` of a turn. */
int contexts_present(const struct place *at);
int contexts_stat(const struct place *at, struct node_stat *st, struct err *err);
extern const struct dir_ops contexts_ops;

/* The time when `context` last came to or went from a turn's directory; 0: no time is known. */
uint64_t contexts_stamp(const struct place *turn);

/* The types of contexts, by enum context_kind; CONTEXT_TOOL has all rows. */
extern const struct node_type context_members[];

/* Callbacks for struct runner_options (runner.h); arg is the struct fs. */
void contexts_opened(void *arg, struct context *c);
void contexts_closed(void *arg, struct context *c, bool published);
int contexts_saves(void *arg, struct context *c, struct buf *saves, struct err *err);

/* fs.savings: the artifacts of contexts that the runner is saving. NULL: out of memory. */
struct savings;
struct savings *savings_new(void);
void savings_free(struct savings *s); /* NULL is fine */

/* The rest is for the files of a context; place.parent is the number of the context. */

/*
 * The context of a place; it does not end until context_leave(). Returns 0; -ESTALE: the context
 * has ended.
 */
MUST_CHECK int context_of(const struct place *at, struct context **out, struct err *err);

/* The scope that scratch files of a context have, and with which they are removed. */
struct ref context_scope_of(struct ref session, uint64_t number);
struct ref context_scope(const struct place *at);

/* The stat() of files with a show() and no stored time: a changed text gets a new time. */
int context_text_stat(const struct place *at, struct node_stat *st, struct err *err);

/* Whether the runner waits for a program in the turn. */
bool context_any_open(struct fs *fs, struct ref session, uint64_t turn);

/* The functions and rules of the rows state/ and state.json: context_state.c. */
int context_state_stat(const struct place *at, struct node_stat *st, struct err *err);
int context_map_stat(const struct place *at, struct node_stat *st, struct err *err);
int context_map_show(const struct place *at, struct buf *out, struct err *err);
extern const struct text_rules context_map_rules;
extern const struct node_type context_state_members[];
extern const struct dir_ops context_state_ops;

/* The functions of the row artifacts/: context_artifacts.c. */
int context_artifacts_stat(const struct place *at, struct node_stat *st, struct err *err);
extern const struct node_type context_artifacts_members[];
extern const struct dir_ops context_artifacts_ops;

#endif

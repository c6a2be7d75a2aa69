/*
 * Views: files of a session that are rendered from its log and its turns.
 *
 * A view is rendered when a request needs its size or its bytes. The text is
 * cached while the session does not change and somebody uses the view. A
 * lookup and a listing need no size (NODE_LAZY), so a change of the session
 * renders nothing.
 */
#ifndef FS_VIEW_VIEW_H
#define FS_VIEW_VIEW_H

#include "base/mutex.h"
#include "fs/tree/node.h"

#define VIEWS_IDLE_MS    10000       /* an unused text is dropped after this time */
#define VIEWS_KEPT_BYTES (64u << 20) /* unused texts beyond this are dropped at once */

struct views;

/* The cache of a mount: the texts that are used. NULL: out of memory. */
struct views *views_new(void);
void views_free(struct views *v); /* NULL is fine. Nobody may ask for a view any more. */

/* The functions of the row of each view. */
int view_stat(const struct place *at, struct node_stat *st, struct err *err);
int view_read(struct handle *h, uint64_t offset, size_t size, struct buf *out, struct err *err);

/* The text of each view. */
int transcript_md_show(const struct place *at, struct buf *out, struct err *err);
int transcript_html_show(const struct place *at, struct buf *out, struct err *err);
int trace_show(const struct place *at, struct buf *out, struct err *err);
int usage_show(const struct place *at, struct buf *out, struct err *err);
/* The text of a turn's usage.json, which is rendered for each open. */
int usage_turn_show(const struct place *at, struct buf *out, struct err *err);

#endif

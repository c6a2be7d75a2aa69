/*
 * Views: files of a session that are rendered from its log and its turns.
 *
 * A view is rendered when somebody asks for its size or its bytes, and the
 * text is kept while nothing changed and somebody uses it. Listings and
 * lookups do not ask (NODE_LAZY): a change of the session costs no rendering.
 */
#ifndef FS_VIEW_VIEW_H
#define FS_VIEW_VIEW_H

#include "base/mutex.h"
#include "fs/tree/node.h"

#define VIEWS_IDLE_MS    10000       /* a text that nobody used for so long goes */
#define VIEWS_KEPT_BYTES (64u << 20) /* more texts than this are kept only while in use */

struct views;

/* The cache of a mount: the texts that are used. NULL: out of memory. */
struct views *views_new(void);
void views_free(struct views *v); /* NULL is fine. Nobody may ask for a view any more. */

/* Of a view's row. */
int view_stat(const struct place *at, struct node_stat *st, struct err *err);
int view_read(struct handle *h, uint64_t offset, size_t size, struct buf *out, struct err *err);

/* The rows' texts, each in the file of its name. */
int transcript_md_show(const struct place *at, struct buf *out, struct err *err);
int transcript_html_show(const struct place *at, struct buf *out, struct err *err);
int trace_show(const struct place *at, struct buf *out, struct err *err);
int usage_show(const struct place *at, struct buf *out, struct err *err);
/* Of a turn; as any other of its files. */
int usage_turn_show(const struct place *at, struct buf *out, struct err *err);

#endif

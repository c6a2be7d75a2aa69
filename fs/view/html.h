/*
 * HTML: text that means nothing in it, and the usual part of Markdown.
 */
#ifndef FS_VIEW_HTML_H
#define FS_VIEW_HTML_H

#include "base/buf.h"

/* Append text, also for use in a quoted attribute. It must be UTF-8. */
void html_text(struct buf *out, struct span text);

/*
 * Append Markdown as HTML: paragraphs, headings, lists, quotes, fences, tables,
 * code, emphasis, links to http, https and mailto. Tags are text, pictures
 * become links: nothing is loaded, nothing runs.
 */
void html_markdown(struct buf *out, struct span text);

#endif

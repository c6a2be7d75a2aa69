/*
 * HTML: text that has no meaning in HTML, and Markdown as HTML.
 */
#ifndef FS_VIEW_HTML_H
#define FS_VIEW_HTML_H

#include "base/buf.h"

#define HTML_MARKDOWN_MAX (256u << 10) /* bytes; longer Markdown is shown as it is written */

/*
 * Append a text, for an element or for an attribute in quotes. Control
 * characters and bytes that are not UTF-8 become U+FFFD.
 */
void html_text(struct buf *out, struct span text);

/*
 * Append Markdown (CommonMark with tables and strikethrough) as HTML.
 *
 * The output loads nothing and runs nothing: tags in the Markdown become text,
 * pictures become links, and a link leads to http, https or mailto, or loses
 * its address. Web addresses in the text become links. Every tag is closed.
 * Markdown that is nested too deep, or that would grow too much, becomes one
 * paragraph of plain text. The time grows with the length of the text.
 */
void html_markdown(struct buf *out, struct span text);

#endif

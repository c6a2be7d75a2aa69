/*
 * HTML: see html.h.
 *
 * Markdown is read in two layers: blocks, line by line, where quotes and list
 * items are blocks again; and what is inside of a paragraph. Whatever is not
 * understood is text.
 */
#include "fs/view/html.h"

#include <ctype.h>
#include <string.h>

#define DEPTH_MAX 8    /* of blocks in blocks, and of emphasis; deeper ones are text */
#define REACH_MAX 1000 /* bytes from the start of a link, emphasis, ... to its end */

/* What a byte is written as; NULL: as it is. */
static const char *escape_of(unsigned char c)
{
	switch (c) {
	case '&':
		return "&amp;";
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '"':
		return "&quot;";
	case '\'':
		return "&#39;";
	case '\n':
	case '\t':
		return NULL;
	case '\r':
		return "";
	default:
		return c < 0x20 || c == 0x7f ? "\xef\xbf\xbd" : NULL;
	}
}

void html_text(struct buf *out, struct span text)
{
	size_t from = 0;
	size_t i;

	for (i = 0; i < text.len; i++) {
		const char *escape = escape_of((unsigned char)text.data[i]);

		if (!escape)
			continue;
		buf_span_add(out, span_sub(text, from, i));
		buf_text(out, escape);
		from = i + 1;
	}
	buf_span_add(out, span_sub(text, from, text.len));
}

static size_t run_of(struct span text, size_t at, char c)
{
	size_t n = 0;

	while (at + n < text.len && text.data[at + n] == c)
		n++;
	return n;
}

/* Inside of a paragraph */

static void put_inline(struct buf *out, struct span text, unsigned depth);

/* Where `what` is behind `from`; text.len: nowhere. */
static size_t find(struct span text, size_t from, const char *what, size_t len)
{
	const char *hit = from < text.len ? memmem(text.data + from, text.len - from, what, len)
					  : NULL;

	return hit ? (size_t)(hit - text.data) : text.len;
}

/* `code`. How much was taken; 0: it is none. */
static size_t put_code(struct buf *out, struct span text, size_t at)
{
	size_t ticks = run_of(text, at, '`');
	size_t i = at + ticks;
	struct span code;

	while (i < text.len && run_of(text, i, '`') != ticks)
		i += run_of(text, i, '`') ? run_of(text, i, '`') : 1;
	if (i >= text.len)
		return 0;
	code = span_sub(text, at + ticks, i);
	if (code.len > 2 && code.data[0] == ' ' && code.data[code.len - 1] == ' ')
		code = span_sub(code, 1, code.len - 1);
	buf_text(out, "<code>");
	html_text(out, code);
	buf_text(out, "</code>");
	return i + ticks - at;
}

/* **strong** and *emphasis*, which touch what they stand for. */
static size_t put_emphasis(struct buf *out, struct span text, size_t at, unsigned depth)
{
	size_t n = run_of(text, at, '*') > 1 ? 2 : 1;
	const char *tag = n == 2 ? "strong" : "em";
	size_t from = at + n;
	size_t end = find(text, from, "**", n);

	while (n == 1 && end < text.len && run_of(text, end, '*') > 1)
		end = find(text, end + run_of(text, end, '*'), "*", 1);
	if (end >= text.len || end == from || isspace((unsigned char)text.data[from]) ||
	    isspace((unsigned char)text.data[end - 1]))
		return 0;
	buf_printf(out, "<%s>", tag);
	put_inline(out, span_sub(text, from, end), depth + 1);
	buf_printf(out, "</%s>", tag);
	return end + n - at;
}

static bool may_link(struct span url)
{
	static const char *const schemes[] = { "http://", "https://", "mailto:" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(schemes); i++) {
		if (url.len > strlen(schemes[i]) &&
		    strncasecmp(url.data, schemes[i], strlen(schemes[i])) == 0)
			return true;
	}
	return false;
}

static void open_link(struct buf *out, struct span url)
{
	buf_text(out, "<a rel=\"noopener noreferrer\" href=\"");
	html_text(out, url);
	buf_text(out, "\">");
}

/* [text](url) */
static size_t put_link(struct buf *out, struct span text, size_t at, unsigned depth)
{
	size_t middle = find(text, at, "](", 2);
	size_t end = find(text, middle, ")", 1);
	struct span label;
	struct span url;

	if (end >= text.len)
		return 0;
	label = span_sub(text, at + 1, middle);
	url = span_sub(text, middle + 2, end);
	if (!may_link(url) || memchr(url.data, ' ', url.len) || memchr(url.data, '\n', url.len) ||
	    memchr(label.data, '[', label.len))
		return 0;
	open_link(out, url);
	put_inline(out, label, depth + 1);
	buf_text(out, "</a>");
	return end + 1 - at;
}

/* An address as it stands. */
static size_t put_address(struct buf *out, struct span text, size_t at)
{
	struct span url = span_sub(text, at, text.len);
	size_t n = 0;

	if ((at && isalnum((unsigned char)text.data[at - 1])) || !may_link(url) ||
	    text.data[at] == 'm')
		return 0;
	while (n < url.len && !isspace((unsigned char)url.data[n]) &&
	       !strchr("<>\"'`)]*|", url.data[n]))
		n++;
	if (n == REACH_MAX)
		return 0;
	while (n && strchr(".,;:!?", url.data[n - 1]))
		n--;
	url.len = n;
	if (!may_link(url))
		return 0;
	open_link(out, url);
	html_text(out, url);
	buf_text(out, "</a>");
	return n;
}

static size_t put_special(struct buf *out, struct span text, size_t at, unsigned depth)
{
	size_t n;

	text = span_sub(text, 0, MIN(text.len, at + REACH_MAX));
	switch (text.data[at]) {
	case '`':
		return put_code(out, text, at);
	case '*':
		return depth < DEPTH_MAX ? put_emphasis(out, text, at, depth) : 0;
	case '[':
		return depth < DEPTH_MAX ? put_link(out, text, at, depth) : 0;
	case '!': /* a picture is not loaded, but may be followed */
		n = at + 1 < text.len && text.data[at + 1] == '[' && depth < DEPTH_MAX
			    ? put_link(out, text, at + 1, depth)
			    : 0;
		return n ? n + 1 : 0;
	case 'h':
		return put_address(out, text, at);
	case '\\':
		if (at + 1 >= text.len || !ispunct((unsigned char)text.data[at + 1]))
			return 0;
		html_text(out, span_sub(text, at + 1, at + 2));
		return 2;
	default:
		return 0;
	}
}

static void put_inline(struct buf *out, struct span text, unsigned depth)
{
	size_t from = 0;
	size_t at = 0;

	while (at < text.len) {
		CLEANUP(buf_release) struct buf piece = { 0 };
		size_t n = strchr("`*![h\\", text.data[at]) && text.data[at]
				   ? put_special(&piece, text, at, depth)
				   : 0;

		if (!n) { /* a run of the same stays together: "***" is not three tries */
			at += text.data[at] == '`' || text.data[at] == '*'
				      ? run_of(text, at, text.data[at])
				      : 1;
			continue;
		}
		html_text(out, span_sub(text, from, at));
		buf_span_add(out, buf_span(&piece));
		out->failed |= piece.failed;
		at += n;
		from = at;
	}
	html_text(out, span_sub(text, from, text.len));
}

/* Blocks */

static void put_blocks(struct buf *out, struct span text, unsigned depth);

static struct span peek_line(struct span text)
{
	const char *newline = memchr(text.data, '\n', text.len);

	return span_sub(text, 0, newline ? (size_t)(newline - text.data) : text.len);
}

static void skip_line(struct span *text, struct span line)
{
	*text = span_sub(*text, MIN(line.len + 1, text->len), text->len);
}

/* The run of a fence, 0: the line is none. */
static size_t fence_of(struct span line, char *c)
{
	struct span rest = span_trim(line);
	size_t n;

	if (!rest.len || line.len - rest.len > 3 + 1 || !memchr("`~", rest.data[0], 2))
		return 0;
	*c = rest.data[0];
	n = run_of(rest, 0, *c);
	return n >= 3 ? n : 0;
}

static void put_fence(struct buf *out, struct span *text, size_t n, char c)
{
	struct span line = peek_line(*text);

	skip_line(text, line);
	buf_text(out, "<pre><code>");
	while (text->len) {
		struct span rest;

		line = peek_line(*text);
		skip_line(text, line);
		rest = span_trim(line);
		if (rest.len >= n && run_of(rest, 0, c) == rest.len)
			break;
		html_text(out, line);
		buf_char(out, '\n');
	}
	buf_text(out, "</code></pre>\n");
}

static bool put_heading(struct buf *out, struct span line)
{
	struct span rest = span_trim(line);
	size_t n = run_of(rest, 0, '#');

	if (!n || n > 6 || n == rest.len || rest.data[n] != ' ')
		return false;
	buf_printf(out, "<h%zu>", MIN(n + 2, 6));
	put_inline(out, span_trim(span_sub(rest, n, rest.len)), 0);
	buf_printf(out, "</h%zu>\n", MIN(n + 2, 6));
	return true;
}

static bool is_rule(struct span line)
{
	struct span rest = span_trim(line);

	return rest.len >= 3 && memchr("-*_", rest.data[0], 3) &&
	       run_of(rest, 0, rest.data[0]) == rest.len;
}

static bool is_quote(struct span line)
{
	struct span rest = span_trim(line);

	return rest.len && rest.data[0] == '>';
}

static void put_quote(struct buf *out, struct span *text, unsigned depth)
{
	CLEANUP(buf_release) struct buf inner = { 0 };
	struct span line;

	while (text->len && is_quote(line = peek_line(*text))) {
		struct span rest = span_trim(line);
		size_t skip = rest.len > 1 && rest.data[1] == ' ' ? 2 : 1;

		buf_span_add(&inner, span_sub(rest, skip, rest.len));
		buf_char(&inner, '\n');
		skip_line(text, line);
	}
	buf_text(out, "<blockquote>");
	put_blocks(out, buf_span(&inner), depth + 1);
	buf_text(out, "</blockquote>\n");
	out->failed |= inner.failed;
}

/* Where the text of a list item begins, 0: the line is none. *number: it is numbered. */
static size_t item_of(struct span line, bool *numbered)
{
	size_t indent = run_of(line, 0, ' ');
	size_t at = indent;

	while (at < line.len && at < indent + 9 && isdigit((unsigned char)line.data[at]))
		at++;
	*numbered = at > indent;
	if (at + 1 >= line.len || line.data[at + 1] != ' ')
		return 0;
	return strchr(*numbered ? ".)" : "-*+", line.data[at]) && line.data[at] ? at + 2 : 0;
}

/* An item's first line and what is indented below it. at: where its text begins. */
static void take_item(struct buf *inner, struct span *text, size_t at)
{
	struct span line = peek_line(*text);
	size_t from = run_of(line, 0, ' ');

	buf_span_add(inner, span_sub(line, at, line.len));
	buf_char(inner, '\n');
	skip_line(text, line);
	while (text->len) {
		size_t spaces;

		line = peek_line(*text);
		spaces = run_of(line, 0, ' ');
		if (!span_is_blank(line) && spaces <= from)
			return;
		buf_span_add(inner, span_sub(line, MIN(spaces, at), line.len));
		buf_char(inner, '\n');
		skip_line(text, line);
	}
}

static void put_list(struct buf *out, struct span *text, bool numbered, unsigned depth)
{
	const char *tag = numbered ? "ol" : "ul";
	struct span line = peek_line(*text);
	size_t from = run_of(line, 0, ' ');
	bool same;
	size_t at;

	buf_printf(out, "<%s", tag);
	if (numbered) /* nine digits at most, see item_of() */
		buf_printf(out, " start=\"%.*s\"", (int)strspn(line.data + from, "0123456789"),
			   line.data + from);
	buf_text(out, ">");
	while (text->len && (at = item_of(peek_line(*text), &same)) && same == numbered) {
		CLEANUP(buf_release) struct buf inner = { 0 };

		take_item(&inner, text, at);
		buf_text(out, "<li>");
		put_blocks(out, buf_span(&inner), depth + 1);
		buf_text(out, "</li>\n");
		out->failed |= inner.failed;
	}
	buf_printf(out, "</%s>\n", tag);
}

/* The line below the head of a table: bars, dashes and colons. */
static bool is_table(struct span text)
{
	struct span line = peek_line(text);
	size_t i;

	if (!memchr(line.data, '|', line.len))
		return false;
	skip_line(&text, line);
	line = span_trim(peek_line(text));
	for (i = 0; i < line.len && memchr("|-: ", line.data[i], 4); i++)
		;
	return line.len >= 3 && i == line.len && memchr(line.data, '-', line.len) &&
	       memchr(line.data, '|', line.len);
}

static void put_row(struct buf *out, struct span line, const char *tag)
{
	line = span_trim(line);
	if (line.len && line.data[0] == '|')
		line = span_sub(line, 1, line.len);
	if (line.len && line.data[line.len - 1] == '|')
		line.len--;
	buf_text(out, "<tr>");
	while (true) {
		const char *bar = memchr(line.data, '|', line.len);
		size_t n = bar ? (size_t)(bar - line.data) : line.len;

		buf_printf(out, "<%s>", tag);
		put_inline(out, span_trim(span_sub(line, 0, n)), 0);
		buf_printf(out, "</%s>", tag);
		if (!bar)
			break;
		line = span_sub(line, n + 1, line.len);
	}
	buf_text(out, "</tr>\n");
}

static void put_table(struct buf *out, struct span *text)
{
	struct span line = peek_line(*text);

	buf_text(out, "<div class=\"wide\"><table>\n");
	put_row(out, line, "th");
	skip_line(text, line);
	skip_line(text, peek_line(*text));
	while (text->len) {
		line = peek_line(*text);
		if (!memchr(line.data, '|', line.len))
			break;
		put_row(out, line, "td");
		skip_line(text, line);
	}
	buf_text(out, "</table></div>\n");
}

/* Whether a line ends the paragraph before it. */
static bool begins_block(struct span text)
{
	struct span line = peek_line(text);
	bool numbered;
	char c;

	return span_is_blank(line) || fence_of(line, &c) || is_rule(line) || is_quote(line) ||
	       item_of(line, &numbered) || span_trim(line).data[0] == '#' || is_table(text);
}

static void put_paragraph(struct buf *out, struct span *text)
{
	struct span whole = *text;
	size_t n = 0;

	do {
		struct span line = peek_line(*text);

		n += line.len + 1;
		skip_line(text, line);
	} while (text->len && !begins_block(*text));
	buf_text(out, "<p>");
	put_inline(out, span_trim(span_sub(whole, 0, MIN(n, whole.len + 1) - 1)), 0);
	buf_text(out, "</p>\n");
}

static void put_blocks(struct buf *out, struct span text, unsigned depth)
{
	bool deep = depth >= DEPTH_MAX;

	while (text.len && !out->failed) {
		struct span line = peek_line(text);
		bool numbered;
		char c;
		size_t n = fence_of(line, &c);

		if (n) {
			put_fence(out, &text, n, c);
		} else if (is_rule(line)) {
			buf_text(out, "<hr>\n");
			skip_line(&text, line);
		} else if (span_is_blank(line) || put_heading(out, line)) {
			skip_line(&text, line);
		} else if (is_table(text)) {
			put_table(out, &text);
		} else if (!deep && is_quote(line)) {
			put_quote(out, &text, depth);
		} else if (!deep && item_of(line, &numbered)) {
			put_list(out, &text, numbered, depth);
		} else {
			put_paragraph(out, &text);
		}
	}
}

void html_markdown(struct buf *out, struct span text)
{
	put_blocks(out, text, 0);
}

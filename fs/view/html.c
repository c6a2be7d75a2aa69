/*
 * HTML: see html.h.
 *
 * md4c parses the Markdown and calls back for each block, span and piece of
 * text; the functions here write the tags. Only they write tags, and every
 * other byte is escaped, so that the page is safe whatever the parser reports.
 */
#include "fs/view/html.h"

#include "base/utf8.h"

#include <ctype.h>
#include <errno.h>
#include <md4c.h>

#define LINKS_MAX   (64u << 10) /* bytes of a text whose bare addresses become links */
#define MEMORY      128         /* bytes that the parser may need for each byte of Markdown... */
#define MEMORY_ROOM (64u << 10) /* ...and for each text */
#define DEPTH_MAX   100         /* tags that are open at a time */
#define MARKS_MAX   50          /* marks of quotes and items at the start of a line */
#define GROWTH_MAX  32          /* bytes of HTML for each byte of Markdown... */
#define GROWTH_ROOM 4096        /* ...and for each text */
#define REPLACEMENT "\xef\xbf\xbd"

struct page {
	struct buf *out;
	size_t limit;                   /* out->len may not pass it */
	const char *closing[DEPTH_MAX]; /* ends of the open tags; "": nothing was opened */
	size_t depth;
	size_t link;  /* depth inside of the open link; 0: none is open */
	size_t label; /* where the label of the open link begins in out */
	bool stopped; /* the parsing ends because a limit was reached */
};

static bool is_in(const char *set, char c)
{
	return c && strchr(set, c);
}

/* The text that replaces a byte; NULL: the byte stays. */
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
		return c < 0x20 || c == 0x7f ? REPLACEMENT : NULL;
	}
}

static void put_escaped(struct buf *out, struct span text)
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

void html_text(struct buf *out, struct span text)
{
	bool cut;
	size_t valid;

	while ((valid = utf8_prefix(text, &cut)) < text.len) {
		put_escaped(out, span_sub(text, 0, valid));
		buf_text(out, REPLACEMENT);
		text = span_sub(text, valid + 1, text.len);
	}
	put_escaped(out, text);
}

/* Links */

static const char link_end[] = "</a>";

static bool may_link(struct span address)
{
	static const char *const schemes[] = { "http://", "https://", "mailto:" };
	bool known = false;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(schemes); i++) {
		size_t n = strlen(schemes[i]);

		known |= address.len > n && strncasecmp(address.data, schemes[i], n) == 0;
	}
	for (i = 0; i < address.len; i++)
		known &= (unsigned char)address.data[i] > ' ' && address.data[i] != 0x7f;
	return known;
}

/* An entity means the same in HTML. */
static void put_entity(struct buf *out, struct span text)
{
	bool whole = text.len > 2 && text.data[0] == '&' && text.data[text.len - 1] == ';';
	size_t i;

	for (i = 1; i + 1 < text.len; i++)
		whole &= isalnum((unsigned char)text.data[i]) || (i == 1 && text.data[i] == '#');
	if (whole)
		buf_span_add(out, text);
	else
		html_text(out, text);
}

static void put_address(struct buf *out, const MD_ATTRIBUTE *address)
{
	size_t i;

	for (i = 0; address->substr_offsets[i] < address->size; i++) {
		struct span piece = { address->text + address->substr_offsets[i],
				      address->substr_offsets[i + 1] - address->substr_offsets[i] };

		if (address->substr_types[i] == MD_TEXT_ENTITY)
			put_entity(out, piece);
		else
			html_text(out, piece);
	}
}

/* Callbacks of the parser. The list of open tags proves that all of them match. */

static int check(struct page *page)
{
	page->stopped |= page->out->len > page->limit;
	return page->stopped || page->out->failed ? -ECANCELED : 0;
}

static int open_tag(struct page *page, const char *opening, const char *closing)
{
	if (page->depth == DEPTH_MAX)
		page->stopped = true;
	else
		page->closing[page->depth++] = closing;
	buf_text(page->out, opening);
	return check(page);
}

/* Close the latest tag. The parser must have reported the end of this one. */
static int close_tag(struct page *page, const char *closing)
{
	if (!page->depth || page->closing[--page->depth] != closing)
		page->stopped = true;
	buf_text(page->out, closing);
	return check(page);
}

static const char *const *block_tag(MD_BLOCKTYPE type, void *detail)
{
	static const char *const none[] = { "", "" };
	static const char *const headings[][2] = {
		{ "<h3>", "</h3>\n" },
		{ "<h4>", "</h4>\n" },
		{ "<h5>", "</h5>\n" },
		{ "<h6>", "</h6>\n" },
	};
	static const char *const tags[][2] = {
		[MD_BLOCK_QUOTE] = { "<blockquote>\n", "</blockquote>\n" },
		[MD_BLOCK_UL] = { "<ul>\n", "</ul>\n" },
		[MD_BLOCK_OL] = { "<ol start=\"", "</ol>\n" },
		[MD_BLOCK_LI] = { "<li>", "</li>\n" },
		[MD_BLOCK_HR] = { "<hr>\n", "" },
		[MD_BLOCK_CODE] = { "<pre><code>", "</code></pre>\n" },
		[MD_BLOCK_P] = { "<p>", "</p>\n" },
		[MD_BLOCK_TABLE] = { "<div class=\"wide\"><table>\n", "</table></div>\n" },
		[MD_BLOCK_TR] = { "<tr>", "</tr>\n" },
		[MD_BLOCK_TH] = { "<th>", "</th>" },
		[MD_BLOCK_TD] = { "<td>", "</td>" },
	};

	if (type == MD_BLOCK_H)
		return headings[MIN(((MD_BLOCK_H_DETAIL *)detail)->level, 4) - 1];
	return type < ARRAY_SIZE(tags) && tags[type][0] ? tags[type] : none;
}

static int enter_block(MD_BLOCKTYPE type, void *detail, void *arg)
{
	const char *const *tag = block_tag(type, detail);
	struct page *page = arg;

	if (open_tag(page, tag[0], tag[1]) == 0 && type == MD_BLOCK_OL)
		buf_printf(page->out, "%u\">\n", ((MD_BLOCK_OL_DETAIL *)detail)->start);
	return check(page);
}

static int leave_block(MD_BLOCKTYPE type, void *detail, void *arg)
{
	return close_tag(arg, block_tag(type, detail)[1]);
}

/* Links do not nest in HTML: the outer one stays. */
static int enter_link(struct page *page, const MD_ATTRIBUTE *address)
{
	if (page->link || !may_link((struct span){ address->text, address->size }))
		return open_tag(page, "", "");
	buf_text(page->out, "<a rel=\"noopener noreferrer\" href=\"");
	put_address(page->out, address);
	buf_text(page->out, "\">");
	page->link = page->depth + 1;
	page->label = page->out->len;
	return open_tag(page, "", link_end);
}

static int leave_link(struct page *page, const MD_ATTRIBUTE *address)
{
	if (!page->link || page->link != page->depth)
		return close_tag(page, "");
	page->link = 0;
	if (page->out->len == page->label) /* nobody could see it */
		put_address(page->out, address);
	return close_tag(page, link_end);
}

static const char *const *span_tag(MD_SPANTYPE type)
{
	static const char *const none[] = { "", "" };
	static const char *const tags[][2] = {
		[MD_SPAN_EM] = { "<em>", "</em>" },
		[MD_SPAN_STRONG] = { "<strong>", "</strong>" },
		[MD_SPAN_CODE] = { "<code>", "</code>" },
		[MD_SPAN_DEL] = { "<del>", "</del>" },
	};

	return type < ARRAY_SIZE(tags) && tags[type][0] ? tags[type] : none;
}

static int enter_span(MD_SPANTYPE type, void *detail, void *arg)
{
	if (type == MD_SPAN_A)
		return enter_link(arg, &((MD_SPAN_A_DETAIL *)detail)->href);
	if (type == MD_SPAN_IMG) /* not loaded, but a link leads to it */
		return enter_link(arg, &((MD_SPAN_IMG_DETAIL *)detail)->src);
	return open_tag(arg, span_tag(type)[0], span_tag(type)[1]);
}

static int leave_span(MD_SPANTYPE type, void *detail, void *arg)
{
	if (type == MD_SPAN_A)
		return leave_link(arg, &((MD_SPAN_A_DETAIL *)detail)->href);
	if (type == MD_SPAN_IMG)
		return leave_link(arg, &((MD_SPAN_IMG_DETAIL *)detail)->src);
	return close_tag(arg, span_tag(type)[1]);
}

static int put_text(MD_TEXTTYPE type, const MD_CHAR *text, MD_SIZE size, void *arg)
{
	struct page *page = arg;
	struct span span = { text, size };

	if (type == MD_TEXT_BR)
		buf_text(page->out, "<br>");
	else if (type == MD_TEXT_SOFTBR)
		buf_char(page->out, '\n');
	else if (type == MD_TEXT_NULLCHAR)
		buf_text(page->out, REPLACEMENT);
	else if (type == MD_TEXT_ENTITY)
		put_entity(page->out, span);
	else
		html_text(page->out, span);
	return check(page);
}

/*
 * Whether no line begins with more marks than a person writes. The parser's
 * time grows with the product of lines and marks.
 */
static bool is_flat(struct span text)
{
	unsigned marks = 0;
	bool begins = true;
	size_t i;

	for (i = 0; i < text.len && marks <= MARKS_MAX; i++) {
		char c = text.data[i];
		char next = i + 1 < text.len ? text.data[i + 1] : '\n';

		if (is_in("\r\n", c)) {
			marks = 0;
			begins = true;
		} else if (begins && !is_in(" \t", c)) {
			begins = is_in(">*+-.)0123456789", c);
			marks += c == '>' || (begins && is_in(" \t\r\n", next));
		}
	}
	return marks <= MARKS_MAX;
}

/*
 * Append the HTML of a text. False: nothing was appended, since a limit was
 * reached or the tags that the parser reported did not match.
 */
static bool put_markdown(struct buf *out, struct span text, unsigned flags)
{
	const MD_PARSER parser = {
		.flags = flags | MD_FLAG_NOHTML | MD_FLAG_TABLES | MD_FLAG_STRIKETHROUGH,
		.enter_block = enter_block,
		.leave_block = leave_block,
		.enter_span = enter_span,
		.leave_span = leave_span,
		.text = put_text,
	};
	struct page page = { .out = out, .limit = out->len + text.len * GROWTH_MAX + GROWTH_ROOM };
	CLEANUP(buf_release) struct buf lines = { 0 };
	size_t from = out->len;
	int r;

	/* md4c 0.4.8 may crash when memory ends while it works, so there must be enough now. */
	out->failed |= !buf_reserve(&lines, text.len * MEMORY + MEMORY_ROOM);
	buf_release(&lines);
	/* The parser reads one byte past the end of a line that is not ended. */
	buf_span_add(&lines, text);
	buf_char(&lines, '\n');
	out->failed |= !buf_cstr(&lines);
	if (out->failed)
		return true;
	r = md_parse(lines.data, (MD_SIZE)lines.len, &parser, &page);
	out->failed |= r < 0 && !page.stopped; /* no memory */
	if (!page.stopped && !page.depth)
		return true;
	out->len = from;
	return out->failed;
}

void html_markdown(struct buf *out, struct span text)
{
	if (text.len <= HTML_MARKDOWN_MAX && is_flat(text) &&
	    ((text.len <= LINKS_MAX && put_markdown(out, text, MD_FLAG_PERMISSIVEURLAUTOLINKS)) ||
	     put_markdown(out, text, 0)))
		return;
	buf_text(out, "<p>");
	html_text(out, text);
	buf_text(out, "</p>\n");
}

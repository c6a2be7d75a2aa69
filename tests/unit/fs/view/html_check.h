/*
 * HTML check: whether a piece of HTML is one that html.c may write.
 *
 * The check is strict. Each tag must be spelled as html.c spells it, must be
 * closed, and must stand where HTML allows it. Every other byte must be text:
 * valid UTF-8 without control characters, with each of & < > " ' as an entity.
 * An address must begin with one of three schemes and have no blank.
 */
#ifndef UNIT_HTML_CHECK_H
#define UNIT_HTML_CHECK_H

#include "base/buf.h"
#include "base/utf8.h"

#include <ctype.h>

#define HTML_CHECK_DEPTH 200

/* A tag that html.c writes. */
struct html_tag {
	const char *open;
	const char *close;  /* NULL: nothing is inside */
	const char *inside; /* the tag around it, if only one is allowed, */
	const char * or ;   /* or two are */
};

static const struct html_tag html_tags[] = {
	{ "<p>", "</p>", NULL, NULL },
	{ "<h3>", "</h3>", NULL, NULL },
	{ "<h4>", "</h4>", NULL, NULL },
	{ "<h5>", "</h5>", NULL, NULL },
	{ "<h6>", "</h6>", NULL, NULL },
	{ "<hr>", NULL, NULL, NULL },
	{ "<br>", NULL, NULL, NULL },
	{ "<blockquote>", "</blockquote>", NULL, NULL },
	{ "<ul>", "</ul>", NULL, NULL },
	{ "<ol start=\"", "</ol>", NULL, NULL },
	{ "<li>", "</li>", "<ul>", "<ol start=\"" },
	{ "<pre>", "</pre>", NULL, NULL },
	{ "<code>", "</code>", NULL, NULL },
	{ "<em>", "</em>", NULL, NULL },
	{ "<strong>", "</strong>", NULL, NULL },
	{ "<del>", "</del>", NULL, NULL },
	{ "<div class=\"wide\">", "</div>", NULL, NULL },
	{ "<table>", "</table>", "<div class=\"wide\">", NULL },
	{ "<tr>", "</tr>", "<table>", NULL },
	{ "<th>", "</th>", "<tr>", NULL },
	{ "<td>", "</td>", "<tr>", NULL },
	{ "<a rel=\"noopener noreferrer\" href=\"", "</a>", NULL, NULL },
};

struct html_check {
	struct span left;
	const struct html_tag *open[HTML_CHECK_DEPTH];
	size_t depth;
};

static inline bool html_check_take(struct span *left, const char *literal)
{
	size_t n = strlen(literal);

	if (left->len < n || memcmp(left->data, literal, n) != 0)
		return false;
	*left = span_sub(*left, n, left->len);
	return true;
}

/* Take one character of text, or an entity. */
static inline const char *html_check_text(struct span *left)
{
	unsigned char c = (unsigned char)left->data[0];
	size_t n = 1;

	if ((c < ' ' && c != '\n' && c != '\t') || c == 0x7f)
		return "a control character";
	if (strchr("<>\"'", c))
		return "a character that must be an entity";
	if (c == '&') {
		n += n < left->len && left->data[n] == '#';
		while (n < left->len && isalnum((unsigned char)left->data[n]))
			n++;
		if (n < 2 || n == left->len || left->data[n] != ';')
			return "an ampersand without an entity";
		n++;
	}
	*left = span_sub(*left, n, left->len);
	return NULL;
}

/* Take what stands behind `href="`, to the end of the tag. */
static inline const char *html_check_address(struct span *left)
{
	static const char *const schemes[] = { "http://", "https://", "mailto:" };
	const char *flaw = NULL;
	bool known = false;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(schemes); i++)
		known |= left->len > strlen(schemes[i]) &&
			 strncasecmp(left->data, schemes[i], strlen(schemes[i])) == 0;
	if (!known)
		return "an address with another scheme";
	while (!flaw && left->len && left->data[0] != '"') {
		if (isspace((unsigned char)left->data[0]))
			return "an address with a blank";
		flaw = html_check_text(left);
	}
	if (!flaw && !html_check_take(left, "\">"))
		return "an attribute that does not end its tag";
	return flaw;
}

/* Take a number of one to nine digits, to the end of the tag. */
static inline const char *html_check_number(struct span *left)
{
	size_t n = 0;

	while (n < left->len && isdigit((unsigned char)left->data[n]))
		n++;
	*left = span_sub(*left, n, left->len);
	return n && n <= 9 && html_check_take(left, "\">") ? NULL : "a list without a number";
}

static inline const char *html_check_open(struct html_check *c, const struct html_tag *tag)
{
	const char *around = c->depth ? c->open[c->depth - 1]->open : "";
	const char *flaw = NULL;
	size_t i;

	if (tag->inside && strcmp(around, tag->inside) != 0 &&
	    (!tag->or || strcmp(around, tag->or) != 0))
		return "a tag inside the wrong one";
	for (i = 0; i < c->depth; i++) {
		if (c->open[i] == tag && !strncmp(tag->open, "<a ", 3))
			return "a link inside a link";
	}
	if (!strncmp(tag->open, "<a ", 3))
		flaw = html_check_address(&c->left);
	else if (!strncmp(tag->open, "<ol ", 4))
		flaw = html_check_number(&c->left);
	if (!tag->close || flaw)
		return flaw;
	if (c->depth == HTML_CHECK_DEPTH)
		return "too many open tags";
	c->open[c->depth++] = tag;
	return NULL;
}

/* Take one tag. */
static inline const char *html_check_tag(struct html_check *c)
{
	size_t i;

	if (c->depth && html_check_take(&c->left, c->open[c->depth - 1]->close)) {
		c->depth--;
		return NULL;
	}
	for (i = 0; i < ARRAY_SIZE(html_tags); i++) {
		if (html_check_take(&c->left, html_tags[i].open))
			return html_check_open(c, &html_tags[i]);
	}
	return "an unknown tag, or the wrong end";
}

/* What is wrong with the HTML; NULL: nothing. *at: where. */
static inline const char *html_check(struct span html, size_t *at)
{
	struct html_check c = { .left = html };
	const char *flaw = NULL;

	if (!utf8_is_valid(html))
		flaw = "bytes that are not UTF-8";
	while (!flaw && c.left.len)
		flaw = c.left.data[0] == '<' ? html_check_tag(&c) : html_check_text(&c.left);
	*at = html.len - c.left.len;
	return !flaw && c.depth ? "a tag that is not closed" : flaw;
}

#endif

/*
 * Patterns: see pattern.h.
 */
#include "runner/pattern.h"

#include <errno.h>
#include <locale.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>

#define SPACES " \t\n\r\f\v"

/* A letter behind a backslash; as POSIX has it inside brackets, and outside of them. */
static const struct escape {
	char letter;
	const char *inside; /* NULL: not possible there */
	const char *outside;
} escapes[] = {
	{ 'd', "0-9", "[0-9]" },
	{ 'D', NULL, "[^0-9]" },
	{ 'w', "0-9A-Za-z_", "[0-9A-Za-z_]" },
	{ 'W', NULL, "[^0-9A-Za-z_]" },
	{ 's', SPACES, "[" SPACES "]" },
	{ 'S', NULL, "[^" SPACES "]" },
	{ 'b', NULL, "\\b" },
	{ 'B', NULL, "\\B" },
	{ 'n', "\n", "\n" },
	{ 't', "\t", "\t" },
	{ 'r', "\r", "\r" },
	{ 'f', "\f", "\f" },
	{ 'v', "\v", "\v" },
};

static bool is_word(char c)
{
	return (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z');
}

static const struct escape *find_escape(char letter)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(escapes); i++) {
		if (escapes[i].letter == letter)
			return &escapes[i];
	}
	return NULL;
}

/* What is between two brackets. Four characters need a place of their own in POSIX. */
struct set {
	bool negated;
	bool close;
	bool open;
	bool caret;
	bool dash;
	struct buf items;
};

static void set_release(struct set *set)
{
	buf_release(&set->items);
}

static void set_add(struct set *set, char c)
{
	if (c == ']')
		set->close = true;
	else if (c == '[')
		set->open = true;
	else if (c == '^')
		set->caret = true;
	else if (c == '-')
		set->dash = true;
	else
		buf_char(&set->items, c);
}

static void set_write(struct set *set, struct buf *out)
{
	bool empty = !set->close && !set->open && !set->items.len;

	if (set->caret && empty && !set->negated) {
		buf_text(out, set->dash ? "[-^]" : "\\^");
		return;
	}
	buf_text(out, set->negated ? "[^" : "[");
	if (set->close)
		buf_char(out, ']');
	buf_span_add(out, buf_span(&set->items));
	if (set->open)
		buf_char(out, '[');
	if (set->caret)
		buf_char(out, '^');
	if (set->dash)
		buf_char(out, '-');
	buf_char(out, ']');
	out->failed |= set->items.failed;
}

/* The character behind a backslash in brackets. */
static int set_escape(struct set *set, char c)
{
	const struct escape *escape = find_escape(c);

	if (escape && escape->inside)
		buf_text(&set->items, escape->inside);
	else if (escape || is_word(c) || !c)
		return -ENOTSUP;
	else
		set_add(set, c);
	return 0;
}

/* Behind the opening bracket; returns what is behind the closing one, or NULL. */
static const char *read_set(const char *at, struct set *set)
{
	const char *first;

	if (*at == '^') {
		set->negated = true;
		at++;
	}
	for (first = at; *at && *at != ']'; at++) {
		if (*at == '\\') {
			if (set_escape(set, *++at) < 0)
				return NULL;
			continue;
		}
		if (*at == '-' && at > first && at[1] != ']') {
			/* a range: both ends have to be plain characters */
			if (at[1] == '\\' || at[1] == '[' || at[-1] == '[' ||
			    (at - first > 1 && at[-2] == '\\'))
				return NULL;
			buf_char(&set->items, '-');
			buf_char(&set->items, *++at);
			continue;
		}
		set_add(set, *at);
	}
	return *at && at > first ? at + 1 : NULL;
}

static const char *translate_set(const char *at, struct buf *out)
{
	CLEANUP(set_release) struct set set = { 0 };

	at = read_set(at, &set);
	if (at)
		set_write(&set, out);
	return at;
}

static const char *translate_escape(const char *at, struct buf *out)
{
	const struct escape *escape = find_escape(*at);

	if (escape)
		buf_text(out, escape->outside);
	else if (!*at || is_word(*at))
		return NULL;
	else
		buf_printf(out, strchr("^.[$()|*+?{\\", *at) ? "\\%c" : "%c", *at);
	return at + 1;
}

static const char *translate_group(const char *at, struct buf *out)
{
	buf_char(out, '(');
	if (*at != '?')
		return at;
	return at[1] == ':' ? at + 2 : NULL;
}

/* A quantifier. Lazy or not, the same texts match. */
static const char *translate_quantifier(const char *at, struct buf *out)
{
	buf_char(out, at[-1]);
	return *at == '?' ? at + 1 : at;
}

static int translate(const char *at, struct buf *out)
{
	while (at && *at) {
		char c = *at++;

		if (c == '\\')
			at = translate_escape(at, out);
		else if (c == '[')
			at = translate_set(at, out);
		else if (c == '(')
			at = translate_group(at, out);
		else if (strchr("*+?}", c))
			at = translate_quantifier(at, out);
		else if (c == '.')
			buf_text(out, "[^\n\r]");
		else
			buf_char(out, c);
	}
	return at ? buf_check(out, NULL) : -ENOTSUP;
}

static int match_posix(const char *pattern, struct span text)
{
	regmatch_t range = { 0, (regoff_t)text.len };
	regex_t compiled;
	int r = regcomp(&compiled, pattern, REG_EXTENDED | REG_NOSUB);

	if (r)
		return r == REG_ESPACE ? -ENOMEM : -ENOTSUP;
	r = regexec(&compiled, text.data, 1, &range, REG_STARTEND);
	regfree(&compiled);
	if (r == REG_ESPACE)
		return -ENOMEM;
	return r == 0;
}

int pattern_match(const char *pattern, struct span text)
{
	CLEANUP(buf_release) struct buf posix = { 0 };
	locale_t utf8;
	locale_t before = (locale_t)0;
	int r = translate(pattern, &posix);

	if (r == 0 && !buf_cstr(&posix))
		r = -ENOMEM;
	if (r < 0)
		return r;
	/* A character is one in UTF-8, whatever the daemon's locale. */
	utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
	if (utf8)
		before = uselocale(utf8);
	r = match_posix(posix.data, text);
	if (utf8) {
		(void)uselocale(before);
		freelocale(utf8);
	}
	return r;
}

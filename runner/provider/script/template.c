/*
 * Placeholders in texts of scripts: see template.h.
 */
#include "runner/provider/script/template.h"

#include <ctype.h>
#include <errno.h>

#define MEMBER_PREFIX "result"

/* Find the name inside a "${" at the start of a text. */
static int braced(struct span text, struct span *inside)
{
	const char *close = memchr(text.data, '}', text.len);

	if (!close)
		return -EINVAL;
	*inside = span_sub(text, 2, (size_t)(close - text.data));
	return 0;
}

static bool is_member(struct span inside)
{
	size_t n = strlen(MEMBER_PREFIX);

	return inside.len >= n && memcmp(inside.data, MEMBER_PREFIX, n) == 0 &&
	       (inside.len == n || inside.data[n] == '.');
}

/* Parse a placeholder at the start of *text, and move *text after it. */
static int take_dollar(struct span *text, script_piece_fn *fn, void *arg)
{
	char next = text->len > 1 ? text->data[1] : 0;
	struct span inside;
	size_t used = 1;
	int r;

	if (next == '{') {
		r = braced(*text, &inside);
		if (r < 0)
			return r;
		used = inside.len + 3;
		r = fn(arg, is_member(inside) ? SCRIPT_MEMBER : SCRIPT_GROUP, inside);
	} else if (next >= '1' && next <= '9') {
		used = 2;
		r = fn(arg, SCRIPT_GROUP, span_sub(*text, 1, 2));
	} else {
		used = next == '$' ? 2 : 1;
		r = fn(arg, SCRIPT_LITERAL, SPAN("$"));
	}
	*text = span_sub(*text, used, text->len);
	return r;
}

int script_pieces(struct span text, script_piece_fn *fn, void *arg)
{
	int r = 0;

	while (r == 0 && text.len) {
		const char *dollar = memchr(text.data, '$', text.len);
		size_t n = dollar ? (size_t)(dollar - text.data) : text.len;

		if (n)
			r = fn(arg, SCRIPT_LITERAL, span_sub(text, 0, n));
		text = span_sub(text, n, text.len);
		if (r == 0 && text.len)
			r = take_dollar(&text, fn, arg);
	}
	return r;
}

int script_group(const struct script_rule *rule, struct span which)
{
	int number = which.len == 1 && isdigit((unsigned char)*which.data) ? *which.data - '0' : 0;
	int at = 0;
	size_t i;
	size_t k;

	for (i = 0; i < SCRIPT_SUBJECTS; i++) {
		for (k = 0; k < pattern_groups(rule->when[i]); k++, at++) {
			struct span name = pattern_name(rule->when[i], k);

			if (at + 1 == number || (name.len && span_equal(which, name)))
				return at;
		}
	}
	return -ENOENT;
}

/*
 * Names of functions: see name.h.
 */
#include "runner/wire/name.h"

#include "base/char.h"
#include "base/utf8.h"

#include <ctype.h>
#include <errno.h>

#define ESCAPE_LEN 5 /* of "-xHH-" */

static bool is_allowed(const char *also, char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '-' || strchr(also, c);
}

/* The byte that "-xHH-" at p stands for, or -1. */
static int escaped_at(struct span text, size_t at)
{
	const char *p = text.data + at;

	if (text.len - at < ESCAPE_LEN || p[0] != '-' || p[1] != 'x' || p[4] != '-')
		return -1;
	if (char_hex_upper(p[2]) < 0 || char_hex_upper(p[3]) < 0)
		return -1;
	return char_hex_upper(p[2]) * 16 + char_hex_upper(p[3]);
}

void model_name_escape(const char *also, const char *text, struct buf *out)
{
	struct span all = span_of(text);
	size_t i;

	for (i = 0; i < all.len; i++) {
		if (is_allowed(also, text[i]) && escaped_at(all, i) < 0)
			buf_char(out, text[i]);
		else
			buf_printf(out, "-x%02X-", (unsigned char)text[i]);
	}
}

int model_name_encode(const struct model_name_rule *rule, const char *name, struct buf *out,
		      struct err *err)
{
	size_t before = out->len;

	model_name_escape(rule->also, name, out);
	if (out->failed)
		return err_nomem(err);
	if (out->len == before || out->len - before > rule->max)
		return err_set(err, -EINVAL,
			       "the function name '%.80s' cannot be sent to %s: a name "
			       "must have 1 to %zu characters of a-z A-Z 0-9 _ -%s%s; each other "
			       "character counts as five",
			       name, rule->provider, rule->max, *rule->also ? " " : "", rule->also);
	return buf_check(out, err);
}

int model_name_encode_past(const struct model_name_rule *rule, const char *name, struct buf *out,
			   struct err *err)
{
	size_t before = out->len;

	model_name_escape(rule->also, name, out);
	out->len = MIN(out->len, before + rule->max);
	if (out->len == before && !out->failed)
		return model_name_encode(rule, name, out, err);
	return buf_check(out, err);
}

void model_name_decode(struct span wire, struct buf *name)
{
	size_t before = name->len;
	size_t i = 0;

	while (i < wire.len) {
		int byte = escaped_at(wire, i);

		buf_char(name, byte > 0 ? (char)byte : wire.data[i]);
		i += byte > 0 ? ESCAPE_LEN : 1;
	}
	if (utf8_is_valid(span_sub(buf_span(name), before, name->len)))
		return;
	name->len = before;
	buf_span_add(name, wire);
}

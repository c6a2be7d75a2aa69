/*
 * JSON as text: see json_text.h.
 */
#include "base/json_text.h"

#include "base/char.h"
#include "base/utf8.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

struct json_scan json_scan_of(struct span text, int depth, struct err *err)
{
	const char *start = text.data ? text.data : ""; /* no text is an empty text */

	return (struct json_scan){
		.at = start,
		.end = start + text.len,
		.start = start,
		.depth = depth,
		.err = err,
	};
}

int json_fail(struct json_scan *s, const char *fmt, ...)
{
	char text[160];
	va_list args;

	va_start(args, fmt);
	(void)vsnprintf(text, sizeof text, fmt, args);
	va_end(args);
	return err_set(s->err, -EINVAL, "%s (at byte %td)", text, s->at - s->start + 1);
}

static int fail_cut(struct json_scan *s)
{
	return err_set(s->err, -ENODATA, "the JSON text ends too early");
}

static int fail_unexpected(struct json_scan *s, const char *wanted)
{
	unsigned char c = (unsigned char)*s->at;

	if (c >= 0x20 && c < 0x7f)
		return json_fail(s, "expected %s, found '%c'", wanted, c);
	return json_fail(s, "expected %s, found byte 0x%02x", wanted, c);
}

static void skip_space(struct json_scan *s)
{
	while (s->at < s->end && char_is_blank(*s->at))
		s->at++;
}

int json_peek(struct json_scan *s)
{
	skip_space(s);
	if (s->at == s->end)
		return fail_cut(s);
	switch (*s->at) {
	case '{':
	case '[':
	case '"':
	case 't':
	case 'f':
	case 'n':
		return *s->at;
	case '-':
	case '0' ... '9':
		return '0';
	default:
		return fail_unexpected(s, "a JSON value");
	}
}

int json_end(struct json_scan *s)
{
	skip_space(s);
	return s->at == s->end ? 0 : json_fail(s, "something follows the JSON value");
}

static int scan_word(struct json_scan *s, const char *text)
{
	for (; *text; text++, s->at++) {
		if (s->at == s->end)
			return fail_cut(s);
		if (*s->at != *text)
			return fail_unexpected(s, "true, false or null");
	}
	return 0;
}

static int scan_digits(struct json_scan *s)
{
	const char *from = s->at;

	while (s->at < s->end && *s->at >= '0' && *s->at <= '9')
		s->at++;
	if (s->at > from)
		return 0;
	return s->at == s->end ? fail_cut(s) : fail_unexpected(s, "a digit");
}

static bool next_is(const struct json_scan *s, char a, char b)
{
	return s->at < s->end && (*s->at == a || *s->at == b);
}

static int scan_number(struct json_scan *s)
{
	const char *from = s->at;
	int r;

	if (next_is(s, '-', '-'))
		s->at++;
	if (next_is(s, '0', '0')) {
		s->at++;
		if (s->at < s->end && *s->at >= '0' && *s->at <= '9')
			return json_fail(s, "a number with a leading zero");
	} else {
		r = scan_digits(s);
		if (r < 0)
			return r;
	}
	if (next_is(s, '.', '.')) {
		s->at++;
		r = scan_digits(s);
		if (r < 0)
			return r;
	}
	if (next_is(s, 'e', 'E')) {
		s->at++;
		if (next_is(s, '+', '-'))
			s->at++;
		r = scan_digits(s);
		if (r < 0)
			return r;
	}
	if (s->at - from > JSON_NUMBER_MAX)
		return json_fail(s, "a number of more than %d characters", JSON_NUMBER_MAX);
	return 0;
}

static int scan_hex(struct json_scan *s, unsigned *out)
{
	unsigned value = 0;
	int i;

	for (i = 0; i < 4; i++, s->at++) {
		if (s->at == s->end)
			return fail_cut(s);
		if (char_hex(*s->at) < 0)
			return fail_unexpected(s, "four hex digits");
		value = value * 16 + (unsigned)char_hex(*s->at);
	}
	*out = value;
	return 0;
}

/* \uXXXX, and the \uXXXX after it if the two are a pair of surrogates. */
static int scan_unicode(struct json_scan *s, struct buf *out)
{
	unsigned high = 0;
	unsigned low = 0;
	int r = scan_hex(s, &high);

	if (r < 0)
		return r;
	if (high >= 0xdc00 && high <= 0xdfff)
		return json_fail(s, "a lone surrogate \\u%04x", high);
	if (high >= 0xd800 && high <= 0xdbff) {
		if ((s->at < s->end && s->at[0] != '\\') || (s->end - s->at > 1 && s->at[1] != 'u'))
			return json_fail(s, "a lone surrogate \\u%04x", high);
		if (s->end - s->at < 2)
			return fail_cut(s);
		s->at += 2;
		r = scan_hex(s, &low);
		if (r < 0)
			return r;
		if (low < 0xdc00 || low > 0xdfff)
			return json_fail(s, "a lone surrogate \\u%04x", high);
		high = 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
	}
	if (out)
		utf8_put(out, high);
	return 0;
}

static int scan_escape(struct json_scan *s, struct buf *out)
{
	static const char from[] = "\"\\/bfnrt";
	static const char to[] = "\"\\/\b\f\n\r\t";
	const char *hit;

	if (s->at == s->end)
		return fail_cut(s);
	if (*s->at == 'u') {
		s->at++;
		return scan_unicode(s, out);
	}
	hit = *s->at ? strchr(from, *s->at) : NULL;
	if (!hit)
		return json_fail(s, "an unknown escape in a string");
	if (out)
		buf_char(out, to[hit - from]);
	s->at++;
	return 0;
}

#define EACH_BYTE(b) (0x0101010101010101u * (uint64_t)(b))

/*
 * Skip plain ASCII, eight bytes at a time. At the first byte that is a quote, a backslash or a
 * control character a subtraction borrows, which sets the highest bit of that byte.
 */
static const char *skip_plain_words(const char *p, const char *end)
{
	for (; end - p >= 8; p += 8) {
		uint64_t word;
		uint64_t hits;

		memcpy(&word, p, sizeof word);
		hits = word | (word - EACH_BYTE(0x20));
		hits |= (word ^ EACH_BYTE('"')) - EACH_BYTE(1);
		hits |= (word ^ EACH_BYTE('\\')) - EACH_BYTE(1);
		if (hits & EACH_BYTE(0x80))
			break;
	}
	return p;
}

/* Scan the bytes before the next quote, backslash or control character, and check their UTF-8. */
static int scan_plain(struct json_scan *s, struct buf *out)
{
	const char *from = s->at;
	const char *p = skip_plain_words(from, s->end);
	bool ascii = true;

	while (p < s->end && *p != '"' && *p != '\\' && (unsigned char)*p >= 0x20) {
		ascii &= (unsigned char)*p < 0x80;
		p++;
	}
	if (!ascii) {
		bool is_cut;
		struct span run = { from, (size_t)(p - from) };
		size_t good = utf8_prefix(run, &is_cut);

		if (good != run.len) {
			s->at = from + good;
			return is_cut && p == s->end ? fail_cut(s) : json_fail(s, "invalid UTF-8");
		}
	}
	if (out)
		buf_add(out, from, (size_t)(p - from));
	s->at = p;
	return 0;
}

/* Scan a string. The bytes that it stands for are appended to out, which may be NULL. */
static int scan_string(struct json_scan *s, struct buf *out)
{
	int r;

	if (*s->at != '"')
		return fail_unexpected(s, "a string");
	s->at++;
	for (;;) {
		r = scan_plain(s, out);
		if (r < 0)
			return r;
		if (s->at == s->end)
			return fail_cut(s);
		if (*s->at == '"') {
			s->at++;
			return 0;
		}
		if (*s->at != '\\')
			return json_fail(s, "a control character in a string");
		s->at++;
		r = scan_escape(s, out);
		if (r < 0)
			return r;
	}
}

int json_take_string(struct json_scan *s, struct buf *out)
{
	int r = json_peek(s);

	if (r < 0)
		return r;
	r = scan_string(s, out);
	return r < 0 ? r : buf_check(out, s->err);
}

int json_open(struct json_scan *s, char bracket)
{
	int r = json_peek(s);

	if (r < 0)
		return r;
	if (r != bracket)
		return fail_unexpected(s, bracket == '{' ? "an object" : "a list");
	if (!s->depth--)
		return json_fail(s, "nested too deeply");
	s->at++;
	return 0;
}

/* After a value or an opening bracket. 1: another value follows; 0: the bracket is closed. */
static int scan_more(struct json_scan *s, bool *first, char close)
{
	bool was_first = *first;

	*first = false;
	skip_space(s);
	if (s->at == s->end)
		return fail_cut(s);
	if (*s->at == close) {
		s->at++;
		s->depth++;
		return 0;
	}
	if (was_first)
		return 1;
	if (*s->at != ',')
		return fail_unexpected(s, close == '}' ? "',' or '}'" : "',' or ']'");
	s->at++;
	skip_space(s);
	return s->at == s->end ? fail_cut(s) : 1;
}

static int scan_colon(struct json_scan *s)
{
	skip_space(s);
	if (s->at == s->end)
		return fail_cut(s);
	if (*s->at != ':')
		return fail_unexpected(s, "':'");
	s->at++;
	return 0;
}

int json_key(struct json_scan *s, bool *first, struct buf *key)
{
	int r = scan_more(s, first, '}');

	if (r <= 0)
		return r;
	buf_clear(key);
	r = scan_string(s, key);
	if (r == 0)
		r = buf_check(key, s->err);
	if (r == 0)
		r = scan_colon(s);
	return r < 0 ? r : 1;
}

int json_item(struct json_scan *s, bool *first)
{
	return scan_more(s, first, ']');
}

/* A member that was written to `out`, and where it lies there. */
struct member {
	size_t key;
	size_t value;
	size_t end;
	size_t replaced_by; /* index of the last member with this key */
};

static struct span member_key(const struct buf *out, const struct member *m)
{
	return (struct span){ out->data + m->key, m->value - m->key };
}

struct sort_key {
	struct span key;
	size_t index;
};

static int compare_keys(const void *a, const void *b)
{
	const struct sort_key *x = a;
	const struct sort_key *y = b;
	int r = span_compare(x->key, y->key);

	return r ? r : (x->index > y->index) - (x->index < y->index);
}

/* Mark members that have the key of another one. True if there are any. */
static bool mark_repeated(struct member *m, struct sort_key *keys, size_t n)
{
	bool found = false;
	size_t i;

	qsort(keys, n, sizeof *keys, compare_keys);
	for (i = n; i-- > 1;) {
		if (!span_equal(keys[i - 1].key, keys[i].key))
			continue;
		m[keys[i - 1].index].replaced_by = m[keys[i].index].replaced_by;
		m[keys[i].index].key = SIZE_MAX; /* not the first of its key */
		found = true;
	}
	return found;
}

/* Write the object at `from` again, with each key once. */
static void keep_last_values(struct buf *out, size_t from, const struct member *m, size_t n)
{
	struct buf again = { 0 };
	size_t i;

	buf_char(&again, '{');
	for (i = 0; i < n; i++) {
		const struct member *last = &m[m[i].replaced_by];

		if (m[i].key == SIZE_MAX)
			continue;
		if (again.len > 1)
			buf_char(&again, ',');
		buf_add(&again, out->data + m[i].key, m[i].value - m[i].key);
		buf_add(&again, out->data + last->value, last->end - last->value);
	}
	buf_char(&again, '}');
	out->len = from;
	out->failed |= again.failed;
	buf_span_add(out, buf_span(&again));
	buf_release(&again);
}

static int drop_repeated(struct buf *out, size_t from, struct buf *members, struct err *err)
{
	size_t n;
	struct member *m = BUF_LIST(struct member, members, &n);
	struct sort_key *keys = malloc(n * sizeof *keys);
	size_t i;

	if (!keys)
		return err_nomem(err);
	for (i = 0; i < n; i++)
		keys[i] = (struct sort_key){ member_key(out, &m[i]), i };
	if (mark_repeated(m, keys, n))
		keep_last_values(out, from, m, n);
	free(keys);
	return 0;
}

/* Check a value, and append its canonical text to out, which may be NULL. */
static int scan_value(struct json_scan *s, struct buf *out);

static int scan_text(struct json_scan *s, struct buf *out)
{
	CLEANUP(buf_release) struct buf decoded = { 0 };
	const char *from = s->at;
	int r = scan_string(s, NULL);

	if (r < 0 || !out)
		return r;
	/* Most strings hold no escape and are copied as they are. */
	if (!memchr(from, '\\', (size_t)(s->at - from))) {
		buf_add(out, from, (size_t)(s->at - from));
		return 0;
	}
	s->at = from;
	r = scan_string(s, &decoded);
	if (r < 0)
		return r;
	json_quote(out, buf_span(&decoded));
	return buf_check(&decoded, s->err);
}

static void put_char(struct buf *out, char c)
{
	if (out)
		buf_char(out, c);
}

/* Scan a member; *m is where it lies in out. */
static int scan_member(struct json_scan *s, struct buf *out, struct member *m)
{
	int r;

	m->key = out ? out->len : 0;
	r = scan_text(s, out);
	if (r == 0)
		r = scan_colon(s);
	if (r < 0)
		return r;
	put_char(out, ':');
	m->value = out ? out->len : 0;
	r = scan_value(s, out);
	m->end = out ? out->len : 0;
	return r;
}

static int scan_object(struct json_scan *s, struct buf *out)
{
	CLEANUP(buf_release) struct buf members = { 0 };
	size_t from = out ? out->len : 0;
	bool first = true;
	size_t n = 0;
	int r = json_open(s, '{');

	if (r < 0)
		return r;
	put_char(out, '{');
	while ((r = scan_more(s, &first, '}')) == 1) {
		struct member m = { .replaced_by = n };

		if (n++)
			put_char(out, ',');
		r = scan_member(s, out, &m);
		if (r < 0)
			return r;
		if (out)
			buf_add(&members, &m, sizeof m);
	}
	put_char(out, '}');
	if (r == 0)
		r = buf_check(&members, s->err);
	if (r == 0 && out)
		r = buf_check(out, s->err);
	if (r == 0 && out && n > 1)
		r = drop_repeated(out, from, &members, s->err);
	return r;
}

static int scan_list(struct json_scan *s, struct buf *out)
{
	bool first = true;
	size_t n = 0;
	int r = json_open(s, '[');

	if (r < 0)
		return r;
	put_char(out, '[');
	while ((r = scan_more(s, &first, ']')) == 1) {
		if (n++)
			put_char(out, ',');
		r = scan_value(s, out);
		if (r < 0)
			return r;
	}
	put_char(out, ']');
	return r;
}

static int scan_value(struct json_scan *s, struct buf *out)
{
	int kind = json_peek(s);
	const char *from = s->at;
	int r;

	switch (kind) {
	case '{':
		return scan_object(s, out);
	case '[':
		return scan_list(s, out);
	case '"':
		return scan_text(s, out);
	case 't':
		r = scan_word(s, "true");
		break;
	case 'f':
		r = scan_word(s, "false");
		break;
	case 'n':
		r = scan_word(s, "null");
		break;
	default:
		r = kind < 0 ? kind : scan_number(s);
	}
	if (r == 0 && out)
		buf_add(out, from, (size_t)(s->at - from));
	return r;
}

int json_raw(struct json_scan *s, struct span *value)
{
	const char *from;
	int r;

	skip_space(s);
	from = s->at;
	r = scan_value(s, NULL);
	if (r < 0)
		return r;
	*value = (struct span){ from, (size_t)(s->at - from) };
	return 0;
}

int json_canonical(struct json_scan *s, struct buf *out)
{
	int r = scan_value(s, out);

	return r < 0 ? r : buf_check(out, s->err);
}

int json_canonical_text(struct span text, int depth, struct buf *out, struct err *err)
{
	struct json_scan s = json_scan_of(text, depth, err);
	int r = json_canonical(&s, out);

	return r < 0 ? r : json_end(&s);
}

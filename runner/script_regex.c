/*
 * Patterns of scripts: see script_regex.h.
 *
 * The C library does not know names of groups: they are taken out of the
 * pattern and kept beside it. It also goes by the locale of the thread, so
 * that a '.' is a character and not a byte only under one of UTF-8.
 */
#include "runner/script_regex.h"

#include <errno.h>
#include <locale.h>
#include <pthread.h>
#include <stdlib.h>

static locale_t utf8_locale;

/* Without such a locale on the system patterns go by bytes. */
static void make_locale(void)
{
	utf8_locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
}

static locale_t enter_utf8(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	(void)pthread_once(&once, make_locale);
	return uselocale(utf8_locale);
}

static void leave_utf8(locale_t before)
{
	(void)uselocale(before);
}

/* A pattern while its names are taken out. */
struct reader {
	const char *at;
	const char *end;
	struct script_regex *regex;
	struct buf plain;
	struct err *err;
};

static bool reads(const struct reader *r, const char *text)
{
	size_t n = strlen(text);

	return (size_t)(r->end - r->at) >= n && memcmp(r->at, text, n) == 0;
}

static void copy(struct reader *r, size_t n)
{
	n = MIN(n, (size_t)(r->end - r->at));
	buf_add(&r->plain, r->at, n);
	r->at += n;
}

/* [...], where a bracket may come first and [:classes:] may be inside. */
static void copy_brackets(struct reader *r)
{
	copy(r, reads(r, "[^") ? 2 : 1);
	if (reads(r, "]"))
		copy(r, 1);
	while (r->at < r->end && *r->at != ']') {
		if (reads(r, "[:")) {
			const char *close = memmem(r->at, (size_t)(r->end - r->at), ":]", 2);

			copy(r, close ? (size_t)(close + 2 - r->at) : 2);
		} else {
			copy(r, 1);
		}
	}
	copy(r, 1);
}

static bool is_name(struct span name)
{
	size_t i;

	for (i = 0; i < name.len; i++) {
		char c = name.data[i];

		if (!((c | 32) >= 'a' && (c | 32) <= 'z') && c != '_' &&
		    !(i && c >= '0' && c <= '9'))
			return false;
	}
	return name.len > 0;
}

static int take_name(struct reader *r)
{
	const char *from = r->at + strlen("?<");
	const char *close = memchr(r->at, '>', (size_t)(r->end - r->at));
	struct span name = { from, close ? (size_t)(close - from) : 0 };

	if (!close || !is_name(name))
		return err_set(r->err, -EINVAL, "a group has a bad name");
	r->regex->names[r->regex->groups - 1] = span_dup(name);
	r->at = close + 1;
	return r->regex->names[r->regex->groups - 1] ? 0 : err_nomem(r->err);
}

static int take_group(struct reader *r)
{
	if (r->regex->groups == SCRIPT_GROUPS_MAX)
		return err_set(r->err, -EINVAL, "more than %d groups", SCRIPT_GROUPS_MAX);
	r->regex->groups++;
	copy(r, 1);
	return reads(r, "?<") ? take_name(r) : 0;
}

static int take_names(struct reader *r)
{
	int result = 0;

	while (result == 0 && r->at < r->end) {
		if (*r->at == '\\')
			copy(r, 2);
		else if (*r->at == '[')
			copy_brackets(r);
		else if (*r->at == '(')
			result = take_group(r);
		else
			copy(r, 1);
	}
	return result;
}

static int compile(struct script_regex *regex, const char *plain, enum script_case mode,
		   struct err *err)
{
	locale_t before = enter_utf8();
	char reason[128];
	int r = regcomp(&regex->re, plain,
			REG_EXTENDED | (mode == SCRIPT_ANY_CASE ? REG_ICASE : 0));

	leave_utf8(before);
	regex->set = r == 0;
	if (r == 0)
		return 0;
	(void)regerror(r, &regex->re, reason, sizeof reason);
	return err_set(err, r == REG_ESPACE ? -ENOMEM : -EINVAL, "%s", reason);
}

int script_regex_compile(struct script_regex *regex, struct span source, enum script_case mode,
			 struct err *err)
{
	struct reader r = { source.data, source.data + source.len, regex, { 0 }, err };
	int result;

	*regex = (struct script_regex){ 0 };
	if (memchr(source.data, 0, source.len))
		return err_set(err, -EINVAL, "a NUL character");
	result = take_names(&r);
	if (result == 0)
		result = buf_cstr(&r.plain) ? compile(regex, r.plain.data, mode, err)
					    : err_nomem(err);
	buf_release(&r.plain);
	return result;
}

void script_regex_release(struct script_regex *regex)
{
	size_t i;

	if (regex->set)
		regfree(&regex->re);
	for (i = 0; i < SCRIPT_GROUPS_MAX; i++)
		free(regex->names[i]);
	*regex = (struct script_regex){ 0 };
}

bool script_regex_match(const struct script_regex *regex, struct span text,
			struct span groups[SCRIPT_GROUPS_MAX])
{
	/* With REG_STARTEND the first element says how long the text is. */
	regmatch_t m[1 + SCRIPT_GROUPS_MAX] = { { 0, (regoff_t)text.len } };
	locale_t before = enter_utf8();
	int r = regexec(&regex->re, text.data, ARRAY_SIZE(m), m, REG_STARTEND);
	size_t i;

	leave_utf8(before);
	if (r != 0)
		return false;
	for (i = 0; i < regex->groups; i++) {
		bool used = m[i + 1].rm_so >= 0;

		groups[i] = used ? span_sub(text, (size_t)m[i + 1].rm_so, (size_t)m[i + 1].rm_eo)
				 : SPAN("");
	}
	return true;
}

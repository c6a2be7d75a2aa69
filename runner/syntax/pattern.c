/*
 * Patterns: see pattern.h.
 */
#include "runner/syntax/pattern.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <errno.h>
#include <pcre2.h>
#include <stdio.h>

/* Patterns are compiled and matched on small stacks. */
#define NESTED_MAX  100      /* brackets */
#define SOURCE_MAX  65536    /* bytes */
#define STEPS_MAX   10000000 /* of matching: some tenths of a second */
#define MEMORY_MAX  131072   /* KiB, for matching; 80 MB for `(?:aa)*` on a text of 1 MB */
#define REASON_SIZE 128

/* Syntax as in JavaScript, where '$' does not match before a last newline either. */
#define SYNTAX                                                                                     \
	(PCRE2_UTF | PCRE2_ALT_BSUX | PCRE2_ALLOW_EMPTY_CLASS | PCRE2_DOLLAR_ENDONLY |             \
	 PCRE2_MATCH_UNSET_BACKREF | PCRE2_NEVER_BACKSLASH_C)

/* A struct pattern is PCRE2's code under another name; the struct has no definition. */
static struct pattern *of_code(pcre2_code *code)
{
	return (struct pattern *)code;
}

static const pcre2_code *code_of(const struct pattern *p)
{
	return (const pcre2_code *)p;
}

static pcre2_compile_context *make_rules(void)
{
	pcre2_compile_context *rules = pcre2_compile_context_create(NULL);

	if (!rules)
		return NULL;
	(void)pcre2_set_newline(rules, PCRE2_NEWLINE_ANYCRLF);
	(void)pcre2_set_parens_nest_limit(rules, NESTED_MAX);
	(void)pcre2_set_max_pattern_length(rules, SOURCE_MAX);
	(void)pcre2_set_compile_extra_options(rules, PCRE2_EXTRA_ALT_BSUX);
	return rules;
}

static int refuse_pattern(int code, size_t at, struct err *err)
{
	char reason[REASON_SIZE];

	if (code == PCRE2_ERROR_HEAP_FAILED)
		return err_nomem(err);
	if (pcre2_get_error_message(code, (PCRE2_UCHAR *)reason, sizeof reason) < 0)
		(void)snprintf(reason, sizeof reason, "error %d", code);
	return err_set(err, -EINVAL, "%s (at byte %zu)", reason, at);
}

int pattern_compile(struct span source, unsigned flags, struct pattern **out, struct err *err)
{
	uint32_t options = SYNTAX | (flags & PATTERN_ANY_CASE ? PCRE2_CASELESS : 0u) |
			   (flags & PATTERN_DOT_ALL ? PCRE2_DOTALL : 0u);
	pcre2_compile_context *rules = make_rules();
	pcre2_code *code;
	PCRE2_SIZE at = 0;
	int r = 0;

	if (!rules)
		return err_nomem(err);
	code = pcre2_compile((PCRE2_SPTR)source.data, source.len, options, &r, &at, rules);
	pcre2_compile_context_free(rules);
	if (!code)
		return refuse_pattern(r, at, err);
	*out = of_code(code);
	return 0;
}

void pattern_free(struct pattern *p)
{
	pcre2_code_free((pcre2_code *)p);
}

static uint32_t read_number(const struct pattern *p, uint32_t what)
{
	uint32_t value = 0;

	(void)pcre2_pattern_info(code_of(p), what, &value);
	return value;
}

size_t pattern_groups(const struct pattern *p)
{
	return p ? read_number(p, PCRE2_INFO_CAPTURECOUNT) : 0;
}

/* A row of the table of names has the group's number in two bytes, then the name with a NUL. */
struct span pattern_name(const struct pattern *p, size_t group)
{
	uint32_t count = read_number(p, PCRE2_INFO_NAMECOUNT);
	uint32_t size = read_number(p, PCRE2_INFO_NAMEENTRYSIZE);
	PCRE2_SPTR row = NULL;

	(void)pcre2_pattern_info(code_of(p), PCRE2_INFO_NAMETABLE, &row);
	for (; count; count--, row += size) {
		if (((size_t)row[0] << 8 | row[1]) == group + 1)
			return span_of((const char *)row + 2);
	}
	return SPAN("");
}

static int do_match(const struct pattern *p, struct span text, pcre2_match_data *found)
{
	pcre2_match_context *limits = pcre2_match_context_create(NULL);
	int r;

	if (!limits)
		return -ENOMEM;
	(void)pcre2_set_match_limit(limits, STEPS_MAX);
	(void)pcre2_set_heap_limit(limits, MEMORY_MAX);
	r = pcre2_match(code_of(p), (PCRE2_SPTR)text.data, text.len, 0, 0, found, limits);
	pcre2_match_context_free(limits);
	if (r == PCRE2_ERROR_NOMATCH)
		return 0;
	if (r == PCRE2_ERROR_NOMEMORY)
		return -ENOMEM;
	return r < 0 ? -E2BIG : 1;
}

int pattern_find(const struct pattern *p, struct span text, struct span *groups, size_t n)
{
	pcre2_match_data *found = pcre2_match_data_create_from_pattern(code_of(p), NULL);
	const PCRE2_SIZE *ends;
	size_t i;
	int r;

	if (!found)
		return -ENOMEM;
	r = do_match(p, text, found);
	ends = pcre2_get_ovector_pointer(found);
	for (i = 0; r == 1 && i < MIN(n, pattern_groups(p)); i++) {
		const PCRE2_SIZE *at = &ends[2 * (i + 1)];

		groups[i] = at[0] == PCRE2_UNSET ? SPAN("") : span_sub(text, at[0], at[1]);
	}
	pcre2_match_data_free(found);
	return r;
}

int pattern_match(const char *pattern, struct span text)
{
	struct pattern *p = NULL;
	int r = pattern_compile(span_of(pattern), 0, &p, NULL);

	if (r == 0)
		r = pattern_find(p, text, NULL, 0);
	pattern_free(p);
	return r == -EINVAL || r == -E2BIG ? -ENOTSUP : r;
}

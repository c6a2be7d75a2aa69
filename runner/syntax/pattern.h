/*
 * Patterns: the regular expressions of JSON Schema and of scripts, by PCRE2.
 *
 * They come from anybody: from servers, and from folders of users. What would
 * take too much memory or time is refused or given up; nothing is ended by it.
 */
#ifndef RUNNER_SYNTAX_PATTERN_H
#define RUNNER_SYNTAX_PATTERN_H

#include "base/buf.h"
#include "base/err.h"

struct pattern;

enum pattern_flag {
	PATTERN_ANY_CASE = 1 << 0,
	PATTERN_DOT_ALL = 1 << 1, /* a '.' is a newline too */
};

/* Compile UTF-8. -EINVAL with the reason; -ENOMEM. flags: of enum pattern_flag. */
MUST_CHECK int pattern_compile(struct span source, unsigned flags, struct pattern **out,
			       struct err *err);
void pattern_free(struct pattern *p); /* NULL is fine */

/* How many groups it has (NULL: none), and the name of one, from 0; empty: it has none. Borrowed.
 */
size_t pattern_groups(const struct pattern *p);
struct span pattern_name(const struct pattern *p, size_t group);

/*
 * Whether a part of the text (UTF-8) matches: 1 or 0; -E2BIG: to find out takes too much;
 * -ENOMEM. The first n of its groups are set then, to no bytes where unused. Any thread.
 */
MUST_CHECK int pattern_find(const struct pattern *p, struct span text, struct span *groups,
			    size_t n);

/* The same for a pattern of JSON Schema, which is JavaScript's. -ENOTSUP: it is none, or takes too
 * much. */
MUST_CHECK int pattern_match(const char *pattern, struct span text);

#endif

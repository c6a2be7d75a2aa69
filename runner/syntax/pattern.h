/*
 * Patterns: the regular expressions of JSON Schema and of scripts, by PCRE2.
 *
 * Patterns come from servers and from folders of users, so nobody has checked them. A
 * pattern that would take too much memory or time is refused, or its match is given up.
 */
#ifndef RUNNER_SYNTAX_PATTERN_H
#define RUNNER_SYNTAX_PATTERN_H

#include "base/buf.h"
#include "base/err.h"

struct pattern;

enum pattern_flag {
	PATTERN_ANY_CASE = 1 << 0,
	PATTERN_DOT_ALL = 1 << 1, /* '.' matches a newline, too */
};

/* Compile a pattern in UTF-8, with flags of enum pattern_flag. 0; -EINVAL; -ENOMEM. */
MUST_CHECK int pattern_compile(struct span source, unsigned flags, struct pattern **out,
			       struct err *err);
void pattern_free(struct pattern *p); /* NULL is fine */

/* How many groups a pattern has. NULL has none. */
size_t pattern_groups(const struct pattern *p);

/* The name of a group, counted from 0, borrowed; empty: the group has no name. */
struct span pattern_name(const struct pattern *p, size_t group);

/*
 * Whether a part of the text (UTF-8) matches: 1 or 0; -E2BIG: the match takes too much memory or
 * time; -ENOMEM. After a match the first n groups are set; unused ones are empty. Any thread.
 */
MUST_CHECK int pattern_find(const struct pattern *p, struct span text, struct span *groups,
			    size_t n);

/*
 * Whether a part of the text matches a pattern of JSON Schema, which is JavaScript's: 1 or 0;
 * -ENOTSUP: the pattern is invalid, or takes too much memory or time; -ENOMEM.
 */
MUST_CHECK int pattern_match(const char *pattern, struct span text);

#endif

/*
 * Patterns of scripts: extended regular expressions of POSIX, on UTF-8, where
 * a group may have a name: (?<city>[a-z]+).
 */
#ifndef RUNNER_SCRIPT_REGEX_H
#define RUNNER_SCRIPT_REGEX_H

#include "base/buf.h"

#include <regex.h>

#define SCRIPT_GROUPS_MAX 9 /* $1 to $9 */

struct script_regex {
	bool set;
	regex_t re;
	size_t groups;
	char *names[SCRIPT_GROUPS_MAX]; /* NULL: the group has none */
};

enum script_case { SCRIPT_CASE, SCRIPT_ANY_CASE };

/* Compile. -EINVAL with the reason; -ENOMEM. Release it in any case. */
MUST_CHECK int script_regex_compile(struct script_regex *regex, struct span source,
				    enum script_case mode, struct err *err);
void script_regex_release(struct script_regex *regex);

/*
 * Whether a part of the text matches. Then its groups are set, to no bytes
 * where unused. A NUL has to stand behind the text (it may also hold some).
 */
bool script_regex_match(const struct script_regex *regex, struct span text,
			struct span groups[SCRIPT_GROUPS_MAX]);

#endif

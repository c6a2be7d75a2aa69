/*
 * Placeholders in texts of scripts: $1 to $9, ${NAME}, ${result} and ${result.a.b}.
 * $$ is a dollar sign.
 */
#ifndef RUNNER_PROVIDER_SCRIPT_TEMPLATE_H
#define RUNNER_PROVIDER_SCRIPT_TEMPLATE_H

#include "runner/provider/script/rules.h"

/* The kinds of pieces in a text. */
enum script_piece {
	SCRIPT_LITERAL, /* the text itself */
	SCRIPT_GROUP,   /* the number or the name of a group */
	SCRIPT_MEMBER,  /* "result" or "result.a.b" */
};

/* Call fn for each piece in order; not 0 ends the loop and is returned. -EINVAL: "${" without "}".
 */
typedef int script_piece_fn(void *arg, enum script_piece kind, struct span text);
MUST_CHECK int script_pieces(struct span text, script_piece_fn *fn, void *arg);

/* The number of a group, counted from 0 through all patterns of the rule; -ENOENT. */
int script_group(const struct script_rule *rule, struct span which);

#endif

/*
 * Plain scalars of YAML 1.1: a text without quotes becomes a value by the rules of
 * Python's safe loader. A text that fits no rule is a string.
 */
#ifndef RUNNER_SYNTAX_YAML_PLAIN_H
#define RUNNER_SYNTAX_YAML_PLAIN_H

#include "base/buf.h"

#include <jansson.h>
#include <regex.h>

#define YAML_PLAIN_FORMS 10  /* rows of the table in yaml_plain.c */
#define YAML_PLAIN_MAX   512 /* bytes; a longer text is a string in any case */

struct yaml_plain {
	regex_t forms[YAML_PLAIN_FORMS]; /* compiled once for a document */
};

/* 0 or -ENOMEM. */
MUST_CHECK int yaml_plain_init(struct yaml_plain *plain);
void yaml_plain_release(struct yaml_plain *plain);

/*
 * Read a text, which ends with NUL. *tag is set to "null", "bool", "int" or
 * "float", and *out to the value. 0; -ENOENT: the text is a string; -ERANGE: JSON has
 * no such number, or it is too large; -ENOMEM.
 */
MUST_CHECK int yaml_plain_read(const struct yaml_plain *plain, struct span text, const char **tag,
			       json_t **out);

#endif

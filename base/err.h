/*
 * Errors: a negative errno for the program, one line for the person.
 *
 * A function whose failure a user may have to read takes `struct err *` last;
 * it sets it once, where the cause is known, and each caller that adds meaning
 * prefixes it. Nobody logs what they return.
 */
#ifndef BASE_ERR_H
#define BASE_ERR_H

#include "base/cc.h"

struct err {
	int code;       /* negative errno, 0 while unset */
	char text[256]; /* one line, lower case, no full stop */
};

/* Set *err (which may be NULL). Returns code: `return err_set(...)`. */
int err_set(struct err *err, int code, const char *fmt, ...) PRINTF(3, 4);

/* As err_set, with what strerror says of the errno behind the text. */
int err_errno(struct err *err, int code, const char *fmt, ...) PRINTF(3, 4);

/* Prefix the text with context: "agent planner: " + text. Returns the code. */
int err_wrap(struct err *err, const char *fmt, ...) PRINTF(2, 3);

/* -ENOMEM with its text. */
int err_nomem(struct err *err);

/* The name of an errno, "EINVAL"; "E?" for one we do not know. */
const char *err_name(int code);

#endif

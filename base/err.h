/*
 * Errors: a negative errno for the program, one line for the person.
 *
 * A function whose failure a user may have to read has `struct err *` as its
 * last parameter. The function that knows the cause sets the error once; each
 * caller may prefix what it adds. A function that returns an error never logs
 * it too.
 */
#ifndef BASE_ERR_H
#define BASE_ERR_H

#include "base/cc.h"

struct err {
	int code;       /* negative errno, 0 while unset */
	char text[256]; /* one line, lower case, no full stop */
};

/* Set *err, which may be NULL. Returns code, for `return err_set(...)`. */
int err_set(struct err *err, int code, const char *fmt, ...) PRINTF(3, 4);

/* Like err_set(), with the text of the errno added: "pipe: Too many open files". */
int err_errno(struct err *err, int code, const char *fmt, ...) PRINTF(3, 4);

/* Prefix the text with context: "agent planner: " + text. Returns the code; 0 if err is NULL. */
int err_wrap(struct err *err, const char *fmt, ...) PRINTF(2, 3);

/* Set -ENOMEM and its text. Returns -ENOMEM. */
int err_nomem(struct err *err);

/* The name of an errno of either sign, such as "EINVAL"; "E?" for an unknown one. */
const char *err_name(int code);

#endif

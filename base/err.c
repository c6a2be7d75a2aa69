/*
 * Errors: see err.h.
 */
#include "base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* An error is one line, even if the name of an object in it has control characters. */
static void one_line(char *text)
{
	for (; *text; text++) {
		if ((unsigned char)*text < 0x20 || *text == 0x7f)
			*text = ' ';
	}
}

int err_set(struct err *err, int code, const char *fmt, ...)
{
	va_list args;

	if (!err)
		return code;
	va_start(args, fmt);
	(void)vsnprintf(err->text, sizeof err->text, fmt, args);
	va_end(args);
	one_line(err->text);
	err->code = code;
	return code;
}

int err_errno(struct err *err, int code, const char *fmt, ...)
{
	char text[sizeof err->text - 64];
	char reason[64] = "";
	va_list args;

	va_start(args, fmt);
	(void)vsnprintf(text, sizeof text, fmt, args);
	va_end(args);
	return err_set(err, code, "%s: %s", text, strerror_r(-code, reason, sizeof reason));
}

int err_wrap(struct err *err, const char *fmt, ...)
{
	char prefix[sizeof err->text];
	char rest[sizeof err->text];
	va_list args;

	if (!err)
		return 0;
	va_start(args, fmt);
	(void)vsnprintf(prefix, sizeof prefix, fmt, args);
	va_end(args);
	memcpy(rest, err->text, sizeof rest);
	(void)snprintf(err->text, sizeof err->text, "%.120s: %.*s", prefix, (int)sizeof rest - 124,
		       rest);
	one_line(err->text);
	return err->code;
}

int err_nomem(struct err *err)
{
	return err_set(err, -ENOMEM, "out of memory");
}

const char *err_name(int code)
{
	const char *name = strerrorname_np(code < 0 ? -code : code);

	return name ? name : "E?";
}

/*
 * Functions that the commands share: see command.h.
 */
#include "mount/command.h"

#include <stdarg.h>
#include <stdio.h>

int command_fail(const struct command *self, enum exit_status status, const struct err *err)
{
	(void)fprintf(stderr, "adkfs %s: %s\n", self->name, err->text);
	return status;
}

int command_usage(const struct command *self, const char *fmt, ...)
{
	va_list args;

	(void)fprintf(stderr, "adkfs %s: ", self->name);
	va_start(args, fmt);
	(void)vfprintf(stderr, fmt, args);
	va_end(args);
	(void)fprintf(stderr, "\nTry 'adkfs %s --help'.\n", self->name);
	return STATUS_USAGE;
}

int command_help(const char *text)
{
	(void)fputs(text, stdout);
	return STATUS_OK;
}

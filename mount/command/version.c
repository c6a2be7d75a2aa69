/*
 * adkfs version
 */
#include "mount/command.h"

#include <stdio.h>
#include <string.h>

static const char help[] = "usage: adkfs version\n\nPrint the version of this program.\n";

int command_version(const struct command *self, int argc, char **argv)
{
	if (argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")))
		return command_help(help);
	if (argc > 1 && argv[0] && !strcmp(argv[0], self->name))
		return command_usage(self, "unexpected argument '%s'", argv[1]);
	(void)printf("adkfs %s\n", ADKFS_VERSION);
	return STATUS_OK;
}

/*
 * adkfs: AI agent sessions as files. Each command is a row of the table.
 */
#include "mount/command.h"

#include <stdio.h>
#include <string.h>

static const struct command commands[] = {
	{ "mount", "mount a store of sessions and run their agents", command_mount },
	{ "umount", "unmount, and wait until the daemon has ended", command_umount },
	{ "check-agent", "load agent folders and report their errors", command_check_agent },
	{ "version", "print the version", command_version },
};

static void usage(FILE *out)
{
	size_t i;

	(void)fputs("usage: adkfs COMMAND [ARGUMENTS]\n\nAI agent sessions as files.\n\n", out);
	for (i = 0; i < ARRAY_SIZE(commands); i++)
		(void)fprintf(out, "  %-12s %s\n", commands[i].name, commands[i].summary);
	(void)fputs("\nSee 'adkfs COMMAND --help', and the manual pages adkfs(1) and adkfs(5).\n",
		    out);
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "";
	size_t i;

	if (!strcmp(name, "--help") || !strcmp(name, "-h")) {
		usage(stdout);
		return STATUS_OK;
	}
	if (!strcmp(name, "--version"))
		name += 2;
	for (i = 0; i < ARRAY_SIZE(commands); i++) {
		if (!strcmp(name, commands[i].name))
			return commands[i].run(&commands[i], argc - 1, argv + 1);
	}
	if (*name)
		(void)fprintf(stderr, "adkfs: there is no command '%s'\n\n", name);
	usage(stderr);
	return STATUS_USAGE;
}

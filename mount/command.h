/*
 * Commands: `adkfs NAME ...`. The table of them is in main.c; each has a file
 * in command/.
 */
#ifndef MOUNT_COMMAND_H
#define MOUNT_COMMAND_H

#include "base/err.h"

/* Exit statuses, which mean the same for each command. adkfs(1) lists them. */
enum exit_status {
	STATUS_OK = 0,
	STATUS_FAILED = 1,     /* anything else */
	STATUS_USAGE = 2,      /* bad option or argument */
	STATUS_NO_FUSE = 3,    /* this machine or user cannot mount FUSE file systems */
	STATUS_MOUNTPOINT = 4, /* missing, not a directory, not empty, or in use */
	STATUS_STORE = 5,      /* the store cannot be opened */
	STATUS_STORE_BUSY = 6, /* another daemon has opened the store */
	STATUS_AGENTS = 7,     /* the agents folder cannot be read */
};

struct command {
	const char *name;
	const char *summary; /* one line */

	/* Run the command, whose name is argv[0]. Returns the exit status. */
	int (*run)(const struct command *self, int argc, char **argv);
};

int command_mount(const struct command *self, int argc, char **argv);
int command_umount(const struct command *self, int argc, char **argv);
int command_check_agent(const struct command *self, int argc, char **argv);
int command_version(const struct command *self, int argc, char **argv);

/* Print "adkfs NAME: text" to standard error. Returns status. */
int command_fail(const struct command *self, enum exit_status status, const struct err *err);

/* Print what is wrong with the options or arguments. Returns STATUS_USAGE. */
int command_usage(const struct command *self, const char *fmt, ...) PRINTF(2, 3);

/* Print a help text. Returns STATUS_OK. */
int command_help(const char *text);

#endif

/*
 * Subcommands: `adkfs NAME ...`, one file each.
 */
#ifndef MOUNT_COMMAND_H
#define MOUNT_COMMAND_H

#include "base/err.h"

/* Exit status, the same for every subcommand; they are listed in adkfs(1). */
enum exit_status {
	STATUS_OK = 0,
	STATUS_FAILED = 1,     /* nothing below fits */
	STATUS_USAGE = 2,      /* bad option or argument */
	STATUS_NO_FUSE = 3,    /* this machine or user cannot mount FUSE file systems */
	STATUS_MOUNTPOINT = 4, /* missing, not a directory, not empty, or in use */
	STATUS_STORE = 5,      /* the store cannot be opened */
	STATUS_STORE_BUSY = 6, /* another daemon has it */
	STATUS_AGENTS = 7,     /* the agents folder cannot be read */
};

struct command {
	const char *name;
	const char *summary; /* one line */
	const char *help;    /* the whole text of --help */
	int (*run)(const struct command *self, int argc, char **argv);
};

extern const struct command command_mount;
extern const struct command command_umount;
extern const struct command command_check_agent;
extern const struct command command_version;

/* Print "adkfs NAME: text" to standard error; returns status. */
int command_fail(const struct command *self, enum exit_status status, const struct err *err);

/* A usage error of getopt_long or of the arguments. */
int command_usage(const struct command *self, const char *fmt, ...) PRINTF(2, 3);

/* Print the help text; returns 0. */
int command_help(const struct command *self);

#endif

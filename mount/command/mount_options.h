/*
 * Options of `adkfs mount`: the table, from which the help text comes too.
 */
#ifndef MOUNT_COMMAND_MOUNT_OPTIONS_H
#define MOUNT_COMMAND_MOUNT_OPTIONS_H

#include "fs/fs.h"
#include "mount/command.h"
#include "runner/process/sandbox.h"
#include "store/open.h"

/* A run of the command: the values of its options, and the texts made from them. */
struct mounting {
	const struct command *self;
	struct store_options store;
	struct fs_options fs;
	const char *record;   /* NULL or "": nothing is recorded */
	const char *settings; /* NULL or "": the usual file, if it is there */
	enum sandbox_mode sandbox;
	bool foreground;
	bool verbose;
	bool help;

	struct buf fuse_options; /* all values of -o, joined */
	struct buf mountpoint;   /* absolute paths, from here on */
	struct buf store_folder;
	struct buf agents_folder;
	struct buf record_folder;
	struct buf settings_file;
};

/*
 * Parse the command line into m, whose other members are zero except self and
 * fs.owners. Texts are borrowed from argv. Returns 0, or the exit status after
 * the error is printed. If m->help is set afterwards, nothing else is checked.
 */
MUST_CHECK int mount_parse(struct mounting *m, int argc, char **argv);

/* Print the help text. Returns STATUS_OK. */
int mount_help(void);

#endif

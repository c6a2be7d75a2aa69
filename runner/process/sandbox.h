/*
 * The sandbox: what of this machine the programs of agents see.
 *
 * bubblewrap (bwrap) builds it, each time a program starts. Inside are
 *
 *   read only    /usr, /bin, /lib..., what of /etc programs and name look-ups
 *                need, the agent's folder but for its .env
 *   to write     process.context; $ADKFS_SESSION if the environment has it, and
 *                the directories that its links lead to (none of these where
 *                process.is_shut_out); /tmp, which is empty,
 *                in memory and gone with the program, and is HOME too
 *   of its own   process ids, /proc, a small /dev, System V IPC, host name, and
 *                unless process.network a network without a way out
 *
 * at the paths where they are outside. Nothing else is there, and nothing that
 * started in it outlives the program. The user is the same inside; root keeps
 * of its capabilities the one to open files of others. The kernel's keyrings are
 * out of reach.
 *
 * A program with process.sees_all, which is an MCP server, sees the machine as
 * the daemon does: files, devices, network. What process.hidden names cannot be
 * read in it, and there are no processes but its own, so that no way leads around that.
 * They are hidden as long as they are not replaced. Root keeps capabilities
 * over files, users and processes.
 */
#ifndef RUNNER_PROCESS_SANDBOX_H
#define RUNNER_PROCESS_SANDBOX_H

#include "base/buf.h"

#include <stdbool.h>
#include <sys/types.h>

struct process;
struct sandbox;

enum sandbox_mode {
	SANDBOX_AUTO,  /* where bwrap is installed and works */
	SANDBOX_BWRAP, /* or an error */
	SANDBOX_NONE,
};

/* The mode of a name, as --sandbox=NAME. False: there is none; then *names lists them. */
bool sandbox_find(const char *name, enum sandbox_mode *mode, const char **names);

/*
 * Find bwrap in PATH and try it once. -ENOENT, -EPERM (mode SANDBOX_BWRAP): it
 * is not there, or does not work here, err has what it said; -ENOMEM. Blocks;
 * before the threads that use it. NULL is a sandbox that is off, everywhere.
 */
MUST_CHECK int sandbox_new(enum sandbox_mode mode, struct sandbox **out, struct err *err);
void sandbox_free(struct sandbox *sandbox);

bool sandbox_is_on(const struct sandbox *sandbox);

/* "bwrap" or "none". */
const char *sandbox_name(const struct sandbox *sandbox);

/* Why there is none; "" when there is one. */
const char *sandbox_reason(const struct sandbox *sandbox);

/* For child.c: a command line. bwrap's news go to SPAWN_NEWS. */
struct sandbox_command {
	char **argv; /* owned, ends with NULL; the first is an absolute path */
};

/* Whether bwrap reads a filter of system calls from SPAWN_FILTER when it starts this program. */
bool sandbox_has_filter(const struct process *p);

/* Write that filter to a descriptor, as BPF for the kernel. 0 or -errno. Any thread. */
MUST_CHECK int sandbox_write_filter(int fd);

/* How to start the program of a process in its sandbox, which is on. 0 or -ENOMEM. */
MUST_CHECK int sandbox_command(const struct process *p, struct sandbox_command *out);
void sandbox_command_release(struct sandbox_command *command);

/* The group of the program, as bwrap's news tell; 0: not yet. */
pid_t sandbox_group(struct span news);

/*
 * From the wait status of bwrap to that of the program. bwrap ends with 128 + N
 * after a signal N. said: the end of standard error. 0; -errno: the program
 * was not started.
 */
MUST_CHECK int sandbox_status(struct span news, struct span said, int *status);

#endif

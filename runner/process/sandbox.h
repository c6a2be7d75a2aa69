/*
 * The sandbox: the part of this machine that the programs of agents see.
 *
 * bubblewrap (bwrap) builds a new sandbox each time a program starts. A program
 * finds these inside, at the same paths as outside, and nothing else:
 *
 *   read only    /usr, /bin, /lib..., the files of /etc that programs and name
 *                look-ups need, the agent's folder without its .env
 *   to write     process.context; $ADKFS_SESSION if the environment has it, and
 *                the directories that its links lead to (none of these with
 *                process.is_shut_out); /tmp, which is HOME too, starts empty
 *                and is kept in memory until the program ends
 *   of its own   process ids, /proc, a small /dev, System V IPC, host name;
 *                without process.network a network that leads nowhere
 *
 * Nothing that starts in a sandbox outlives the program. The user is the same
 * inside; root keeps one capability, to open the files of others. The kernel's
 * keyrings are out of reach.
 *
 * A program with process.sees_all, which is an MCP server, sees the machine as
 * the daemon does: files, devices, network. The files in process.hidden cannot
 * be read, as long as nobody replaces them. The program sees no processes but
 * its own, since their /proc would be a way around that. Root keeps capabilities
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
	SANDBOX_AUTO,  /* a sandbox if bwrap is installed and works */
	SANDBOX_BWRAP, /* a sandbox, or an error */
	SANDBOX_NONE,  /* no sandbox */
};

/* Find the mode for --sandbox=NAME. False: no such name. *names lists all names. */
bool sandbox_find(const char *name, enum sandbox_mode *mode, const char **names);

/*
 * Find bwrap in PATH and try it once. With mode SANDBOX_BWRAP, -ENOENT: bwrap is
 * not installed, or -EPERM: it does not work here, err has its message. -ENOMEM.
 * Blocks; call it before the threads that use the sandbox start. Everywhere, NULL
 * stands for a sandbox that is off.
 */
MUST_CHECK int sandbox_new(enum sandbox_mode mode, struct sandbox **out, struct err *err);
void sandbox_free(struct sandbox *sandbox);

bool sandbox_is_on(const struct sandbox *sandbox);

/* "bwrap" or "none". */
const char *sandbox_name(const struct sandbox *sandbox);

/* Why the sandbox is off; "" when it is on. */
const char *sandbox_reason(const struct sandbox *sandbox);

/* Whether bwrap reads a filter of system calls from SPAWN_FILTER when it starts this program. */
bool sandbox_has_filter(const struct process *p);

/* Write that filter to a descriptor, as BPF for the kernel. 0 or -errno. Any thread. */
MUST_CHECK int sandbox_write_filter(int fd);

/*
 * Make bwrap's command line for the program of a job, whose sandbox is on. bwrap
 * writes its news to SPAWN_NEWS.
 *
 * @argv	ends with NULL; the first is an absolute path. The caller frees the list,
 *		which holds the words, too.
 * Returns 0; -ENOMEM.
 */
MUST_CHECK int sandbox_command(const struct process *p, char ***argv);

/* The process group of the program, from bwrap's news; 0: not reported yet. */
pid_t sandbox_group(struct span news);

/*
 * Find the wait status of the program in bwrap's news. bwrap reports 128 + N for a
 * program that signal N ended.
 *
 * @said	the end of standard error
 * Returns 0; -errno: the program was not started.
 */
MUST_CHECK int sandbox_status(struct span news, struct span said, int *status);

#endif

/*
 * adkfs umount
 */
#include "mount/command.h"
#include "mount/mountpoint.h"

#include <errno.h>
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#define WAIT_MS  60000 /* time for the daemon to end its turns and close the store */
#define QUIET_MS 2000  /* time for the kernel to tell the daemon that the mount is gone */

static const struct option options[] = {
	{ "lazy", no_argument, NULL, 'z' },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

static bool has_ended(int pidfd, int ms)
{
	struct pollfd pfd = { .fd = pidfd, .events = POLLIN };
	int n;

	do {
		n = poll(&pfd, 1, ms);
	} while (n < 0 && errno == EINTR);
	return n == 1;
}

/*
 * Wait until the daemon has ended, so that the store can be opened again. Send a signal if the
 * kernel does not tell the daemon that the mount is gone: another mount namespace, such as that of
 * a container, may hold a copy of the mount.
 */
static int wait_for_end(int pidfd, struct err *err)
{
	if (has_ended(pidfd, QUIET_MS))
		return 0;
	(void)syscall(SYS_pidfd_send_signal, pidfd, SIGTERM, NULL, 0);
	if (has_ended(pidfd, WAIT_MS))
		return 0;
	return err_set(err, -ETIMEDOUT, "the daemon has not ended after %d seconds",
		       (QUIET_MS + WAIT_MS) / 1000);
}

/* lazy: end the daemon even if the mount is in use. */
static int unmount(const char *path, bool lazy, struct err *err)
{
	pid_t daemon = mountpoint_daemon(path);
	int pidfd = daemon ? (int)syscall(SYS_pidfd_open, daemon, 0) : -1;
	int r;

	if (!daemon || !lazy)
		r = mountpoint_detach(path, daemon ? DETACH_IF_UNUSED : DETACH_ANYWAY, err);
	else
		r = kill(daemon, SIGTERM) < 0 ? err_errno(err, -errno, "process %d", (int)daemon)
					      : 0;
	if (r == 0 && pidfd >= 0)
		r = wait_for_end(pidfd, err);
	if (pidfd >= 0)
		(void)close(pidfd);
	return r;
}

static const char help[] =
	"usage: adkfs umount [-z] MOUNTPOINT\n"
	"\n"
	"Unmount MOUNTPOINT and wait until its daemon has closed the store. Running\n"
	"turns are ended and marked. A mount whose daemon has died is removed.\n"
	"\n"
	"  -z, --lazy   unmount even while files are open there; they fail from then on\n"
	"  -h, --help   this text\n"
	"\n"
	"Exit status: 0 unmounted; 2 bad option; 4 not a mount of adkfs, or in use; 1\n"
	"anything else.\n";

int command_umount(const struct command *self, int argc, char **argv)
{
	CLEANUP(buf_release) struct buf path = { 0 };
	struct err err = { 0 };
	bool lazy = false;
	int id;

	opterr = 0;
	while ((id = getopt_long(argc, argv, "zh", options, NULL)) != -1) {
		if (id == 'h')
			return command_help(help);
		if (id == '?')
			return command_usage(self, "there is no option '%s'", argv[optind - 1]);
		lazy = true;
	}
	if (optind + 1 != argc)
		return command_usage(self, optind == argc ? "the mount point is missing"
							  : "too many arguments");
	if (mountpoint_resolve(argv[optind], &path, &err) < 0)
		return command_fail(self, STATUS_MOUNTPOINT, &err);
	if (!mountpoint_is_ours(path.data)) {
		(void)err_set(&err, -EINVAL, "%s is not an adkfs mount", path.data);
		return command_fail(self, STATUS_MOUNTPOINT, &err);
	}
	if (unmount(path.data, lazy, &err) < 0)
		return command_fail(self, err.code == -EBUSY ? STATUS_MOUNTPOINT : STATUS_FAILED,
				    &err);
	return STATUS_OK;
}

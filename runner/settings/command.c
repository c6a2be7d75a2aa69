/*
 * Commands that print a key: see command.h.
 */
#include "runner/settings/command.h"

#include "base/clock.h"
#include "base/mutex.h"
#include "base/net/secrets.h"
#include "base/thread.h"
#include "runner/process/env.h"
#include "runner/process/process.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/wait.h>

#define STACK (256u << 10)

/* A run of a command, and its result. */
struct run {
	atomic_uint refs;
	char *command;
	struct cancel done; /* fired when the members below, except next, are final */
	char *key;
	uint64_t until; /* monotonic ns */
	int r;
	struct err err;
	struct run *next; /* guarded by all.lock */
};

static struct {
	struct mutex lock;
	struct cond ended;
	struct run *list GUARDED_BY(lock); /* the latest run of each command */
	unsigned running GUARDED_BY(lock); /* threads */
	bool is_ready GUARDED_BY(lock);    /* stop and ended are initialized */
	struct cancel stop;                /* fixed once is_ready */
} all = { .lock = MUTEX_INIT };

static void run_unref(struct run *run)
{
	if (!run || atomic_fetch_sub(&run->refs, 1) > 1)
		return;
	cancel_release(&run->done);
	free(run->command);
	secret_free(run->key);
	free(run);
}
DEFINE_CLEANUP(struct run, run_unref);

static struct run *run_new(const char *command)
{
	struct run *run = calloc(1, sizeof *run);

	if (!run)
		return NULL;
	atomic_init(&run->refs, 1);
	run->command = strdup(command);
	if (run->command && cancel_init(&run->done, NULL) == 0)
		return run;
	free(run->command);
	free(run);
	return NULL;
}

/* The program */

static int key_of(struct span output, char **key, struct err *err)
{
	const char *lf = output.len ? memchr(output.data, '\n', output.len) : NULL;
	size_t i;

	if (lf)
		output.len = (size_t)(lf - output.data);
	output = span_trim_end(output);
	if (!output.len)
		return err_set(err, -EACCES, "it wrote no key");
	if (output.len > KEY_COMMAND_KEY_MAX)
		return err_set(err, -EACCES, "its first line is longer than %d bytes",
			       KEY_COMMAND_KEY_MAX);
	for (i = 0; i < output.len; i++) {
		if ((unsigned char)output.data[i] < 0x20 || output.data[i] == 0x7f)
			return err_set(err, -EACCES, "its first line holds a control character");
	}
	*key = span_dup(output);
	return *key ? 0 : err_nomem(err);
}

/* The output of a program that fails may hold a key: errors do not repeat it. */
static int judge(const struct process *p, char **key, struct err *err)
{
	if (p->failure == -ETIMEDOUT)
		return err_set(err, p->failure, "it ran for more than %d seconds",
			       KEY_COMMAND_TIMEOUT_MS / 1000);
	if (p->failure == -EFBIG)
		return err_set(err, -EACCES, "it wrote too much");
	if (p->failure)
		return err_errno(err, p->failure, "it cannot be run");
	if (WIFSIGNALED(p->status))
		return err_set(err, -EACCES, "it was killed by signal %d", WTERMSIG(p->status));
	if (WEXITSTATUS(p->status))
		return err_set(err, -EACCES,
			       "it exited with status %d; run it by hand to see the reason",
			       WEXITSTATUS(p->status));
	return key_of(buf_span(&p->output), key, err);
}

static int execute(const char *command, char **key, struct err *err)
{
	char *const argv[] = { (char[]){ "sh" }, (char[]){ "-c" }, (char *)(uintptr_t)command,
			       NULL };
	CLEANUP(childenv_release) struct childenv env = { 0 };
	struct process p = { .program = "/bin/sh",
			     .argv = argv,
			     .folder = "/",
			     .timeout_ms = KEY_COMMAND_TIMEOUT_MS };
	int r = childenv_add_base(&env);

	if (r < 0)
		return err_nomem(err);
	p.env = env.list;
	r = process_run_all(&p, 1, &all.stop, err);
	if (r == 0)
		r = judge(&p, key, err);
	secret_wipe(&p.output);
	secret_wipe(&p.stderr_text);
	process_release(&p);
	return r;
}

static void *work(void *arg)
{
	CLEANUP(run_unref_p) struct run *run = arg;

	run->r = execute(run->command, &run->key, &run->err);
	run->until = clock_monotonic() + (uint64_t)KEY_COMMAND_KEEP_MS * NSEC_PER_MSEC;
	cancel_fire(&run->done);
	mutex_lock(&all.lock);
	all.running--;
	cond_wake_all(&all.ended);
	mutex_unlock(&all.lock);
	return NULL;
}

/* The list */

/* Whether a run is not over, or has a key that may be given. */
static bool is_good(const struct run *run, const char *refused)
{
	if (!cancel_fired(&run->done))
		return true;
	return run->r == 0 && clock_monotonic() < run->until &&
	       !(refused && strcmp(refused, run->key) == 0);
}

/* Take the run of a command out of the list; NULL: no run. */
static struct run *take_locked(const char *command) REQUIRES(all.lock);
static struct run *take_locked(const char *command)
{
	struct run **at;

	for (at = &all.list; *at; at = &(*at)->next) {
		struct run *run = *at;

		if (strcmp(run->command, command) == 0) {
			*at = run->next;
			return run;
		}
	}
	return NULL;
}

static int prepare_locked(void) REQUIRES(all.lock);
static int prepare_locked(void)
{
	int r;

	if (all.is_ready)
		return 0;
	r = cancel_init(&all.stop, NULL);
	if (r < 0)
		return r;
	cond_init(&all.ended);
	all.is_ready = true;
	return 0;
}

/* Start a run. *out is the reference for the list; the thread has another one. */
static int start_locked(const char *command, struct run **out) REQUIRES(all.lock);
static int start_locked(const char *command, struct run **out)
{
	struct run *run = run_new(command);
	int r;

	if (!run)
		return -ENOMEM;
	atomic_fetch_add(&run->refs, 1);
	r = thread_start(STACK, work, run, NULL);
	if (r < 0) {
		atomic_fetch_sub(&run->refs, 1);
		run_unref(run);
		return r;
	}
	all.running++;
	*out = run;
	return 0;
}

/* Find or start the run to wait for. *out is one reference. */
static int join(const char *command, const char *refused, struct run **out)
{
	struct run *run = NULL;
	struct run *old;
	int r;

	mutex_lock(&all.lock);
	r = prepare_locked();
	old = r == 0 ? take_locked(command) : NULL;
	if (old && is_good(old, refused))
		run = STEAL(&old);
	else if (r == 0)
		r = start_locked(command, &run);
	if (run) {
		run->next = all.list;
		all.list = run;
		atomic_fetch_add(&run->refs, 1);
	}
	mutex_unlock(&all.lock);
	run_unref(old);
	*out = run;
	return r;
}

static int wait_for(struct run *run, struct cancel *cancel, struct err *err)
{
	struct pollfd fds[] = { { .fd = run->done.fd, .events = POLLIN },
				{ .fd = cancel->fd, .events = POLLIN } };

	while (!cancel_fired(&run->done)) {
		if (cancel_fired(cancel))
			return err_set(err, -ECANCELED, "cancelled");
		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			return err_errno(err, -errno, "waiting for a program");
	}
	return 0;
}

int key_command_run(const char *command, const char *refused, struct cancel *cancel, char **key,
		    struct err *err)
{
	CLEANUP(run_unref_p) struct run *run = NULL;
	char *copy;
	int r = join(command, refused, &run);

	if (r < 0)
		return err_errno(err, r, "it cannot be run");
	r = wait_for(run, cancel, err);
	if (r < 0)
		return r;
	if (run->r < 0) {
		if (err)
			*err = run->err;
		return run->r;
	}
	copy = strdup(run->key);
	if (!copy)
		return err_nomem(err);
	*key = copy;
	return 0;
}

void key_command_exit(void)
{
	struct run *list;

	mutex_lock(&all.lock);
	if (all.is_ready)
		cancel_fire(&all.stop);
	while (all.running)
		cond_wait(&all.ended, &all.lock);
	if (all.is_ready) {
		cancel_release(&all.stop);
		cond_release(&all.ended);
	}
	all.is_ready = false;
	list = STEAL(&all.list);
	mutex_unlock(&all.lock);
	while (list) {
		struct run *run = list;

		list = run->next;
		run_unref(run);
	}
}

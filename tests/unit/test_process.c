/*
 * Processes: feeding, listening, limits, ends. Programs are small shell
 * scripts in a folder of their own.
 */
#include "base/clock.h"
#include "runner/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define SECOND NSEC_PER_SEC

static char folder[] = "/tmp/test_process.XXXXXX";
static char *const plain_env[] = { "PATH=/usr/bin:/bin", "GREETING=hello", NULL };
static struct cancel cancel;

static char *path_of(const char *name)
{
	char *path;

	assert_true(asprintf(&path, "%s/%s", folder, name) > 0);
	return path;
}

/* Write a program; the path is to be freed. */
static char *program(const char *name, const char *script)
{
	char *path = path_of(name);
	FILE *f = fopen(path, "we");

	assert_non_null(f);
	assert_true(fputs(script, f) >= 0);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(chmod(path, 0700), 0);
	return path;
}

static struct process process_of(const char *path)
{
	return (struct process){ .program = path, .folder = folder, .env = plain_env };
}

/* Run one script. The result is to be released. */
static struct process run(const char *script, struct span input, unsigned timeout_ms)
{
	char *path = program("p", script);
	struct process p = process_of(path);
	struct err err = { 0 };

	p.input = input;
	p.timeout_ms = timeout_ms;
	assert_int_equal(process_run_all(&p, 1, &cancel, &err), 0);
	p.program = NULL;
	free(path);
	return p;
}

static void expect_output(struct process *p, const char *output)
{
	assert_int_equal(p->failure, 0);
	assert_string_equal(buf_cstr(&p->output), output);
	process_release(p);
}

static void expect_exit(struct process *p, int code)
{
	assert_int_equal(p->failure, 0);
	assert_true(WIFEXITED(p->status));
	assert_int_equal(WEXITSTATUS(p->status), code);
	process_release(p);
}

static void test_pipes(void **state UNUSED)
{
	struct process p = run("#!/bin/sh\nread x; echo got $x; echo oops >&2; exit 3\n",
			       SPAN("abc\n"), 0);

	assert_string_equal(buf_cstr(&p.output), "got abc\n");
	assert_string_equal(buf_cstr(&p.stderr_text), "oops\n");
	assert_true(p.nsec > 0 && p.nsec < 60ull * SECOND);
	expect_exit(&p, 3);
}

static void test_surroundings(void **state UNUSED)
{
	struct process p = run("#!/bin/sh\necho $GREETING $HOME; pwd; trap\n", SPAN(""), 0);
	char *want;

	assert_true(asprintf(&want, "hello\n%s\n", folder) > 0);
	expect_output(&p, want);
	free(want);

	/* only 0, 1, 2 and the one that ls opened itself; each process group is its own */
	p = run("#!/bin/sh\nls /proc/self/fd | tr '\\n' ' '\n", SPAN(""), 0);
	expect_output(&p, "0 1 2 3 ");
	p = run("#!/bin/sh\nread _ _ _ _ group _ < /proc/self/stat\n"
		"[ $group = $$ ] && echo own\n",
		SPAN(""), 0);
	expect_output(&p, "own\n");
}

/* A descriptor without FD_CLOEXEC does not reach the child either. */
static void test_descriptors(void **state UNUSED)
{
	int fd = open("/dev/null", O_RDONLY);
	struct process p;

	assert_int_equal(dup2(fd, 200), 200);
	p = run("#!/bin/sh\n[ -e /proc/self/fd/200 ] || echo closed\n", SPAN(""), 0);
	(void)close(200);
	(void)close(fd);
	expect_output(&p, "closed\n");
}

/* SIGPIPE is ignored here and must not be there, nor anything blocked (but 32 on are libc's). */
static void test_signals(void **state UNUSED)
{
	struct process p;
	sigset_t set;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGTERM);
	assert_int_equal(pthread_sigmask(SIG_BLOCK, &set, NULL), 0);
	p = run("#!/bin/sh\n"
		"sed -n 's/^SigBlk:\t*/0x/p; s/^SigIgn:\t*/0x/p' /proc/self/status |\n"
		"while read x; do echo $((x & 0x7fffffff)); done\n",
		SPAN(""), 0);
	assert_int_equal(pthread_sigmask(SIG_UNBLOCK, &set, NULL), 0);
	expect_output(&p, "0\n0\n");
}

static void test_large(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf input = { 0 };
	struct process p;

	while (input.len < 4u << 20)
		buf_text(&input, "0123456789abcde\n");
	p = run("#!/bin/sh\ncat\n", buf_span(&input), 0);
	assert_int_equal(p.failure, 0);
	assert_true(span_equal(buf_span(&p.output), buf_span(&input)));
	process_release(&p);

	/* one that does not read it all */
	p = run("#!/bin/sh\nhead -c 5\n", buf_span(&input), 0);
	expect_output(&p, "01234");
	p = run("#!/bin/sh\nexit 7\n", buf_span(&input), 0);
	expect_exit(&p, 7);
}

static void test_too_much(void **state UNUSED)
{
	struct process p = run("#!/bin/sh\nexec cat /dev/zero\n", SPAN(""), 0);

	assert_int_equal(p.failure, -EFBIG);
	process_release(&p);
}

static void test_stderr_tail(void **state UNUSED)
{
	struct process p = run("#!/bin/sh\nhead -c 3000000 /dev/zero | tr '\\0' x >&2\n"
			       "echo last >&2\n",
			       SPAN(""), 0);

	assert_int_equal(p.failure, 0);
	assert_int_equal(p.stderr_text.len, PROCESS_STDERR_MAX);
	assert_memory_equal(p.stderr_text.data + p.stderr_text.len - 6, "xlast\n", 6);
	process_release(&p);
}

static void test_not_started(void **state UNUSED)
{
	char *text = program("text", "#!/nowhere/sh\n");
	char *none = path_of("none");
	struct process list[2] = { process_of(text), process_of(none) };
	struct err err = { 0 };

	assert_int_equal(process_run_all(list, 2, &cancel, &err), 0);
	assert_int_equal(list[0].failure, -ENOENT);
	assert_int_equal(list[1].failure, -ENOENT);
	assert_int_equal(chmod(text, 0600), 0);
	list[0] = process_of(text);
	assert_int_equal(process_run_all(list, 1, &cancel, &err), 0);
	assert_int_equal(list[0].failure, -EACCES);
	list[0] = process_of("/bin/true");
	list[0].folder = "/nowhere";
	assert_int_equal(process_run_all(list, 1, &cancel, &err), 0);
	assert_int_equal(list[0].failure, -ENOENT);
	assert_int_equal(process_run_all(NULL, 0, &cancel, &err), 0);
	free(text);
	free(none);
}

static void test_killed(void **state UNUSED)
{
	struct process p = run("#!/bin/sh\nkill -SEGV $$\n", SPAN(""), 0);

	assert_int_equal(p.failure, 0);
	assert_true(WIFSIGNALED(p.status));
	assert_int_equal(WTERMSIG(p.status), SIGSEGV);
	process_release(&p);
}

static void test_timeout(void **state UNUSED)
{
	uint64_t before = clock_monotonic();
	struct process p = run("#!/bin/sh\necho begun; sleep 1000\n", SPAN(""), 100);

	assert_int_equal(p.failure, -ETIMEDOUT);
	assert_string_equal(buf_cstr(&p.output), "begun\n");
	assert_true(p.nsec >= SECOND / 10);
	assert_true(clock_monotonic() - before < 4ull * SECOND);
	process_release(&p);
}

/* One that ignores TERM gets KILL when the grace is over. */
static void test_stubborn(void **state UNUSED)
{
	struct process p = run("#!/bin/sh\ntrap '' TERM; while :; do sleep 1; done\n", SPAN(""),
			       50);

	assert_int_equal(p.failure, -ETIMEDOUT);
	assert_true(WIFSIGNALED(p.status));
	assert_int_equal(WTERMSIG(p.status), SIGKILL);
	assert_true(p.nsec >= (uint64_t)PROCESS_GRACE_MS * NSEC_PER_MSEC);
	process_release(&p);
}

/* Wait until a process of somebody else has ended. */
static void expect_gone(pid_t pid)
{
	struct pollfd end = { .fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN };

	if (end.fd < 0) {
		assert_int_equal(errno, ESRCH);
		return;
	}
	assert_int_equal(poll(&end, 1, 10000), 1);
	(void)close(end.fd);
}

/* What a program leaves behind holds its pipes: neither waited for nor left alive. */
static void test_left_behind(void **state UNUSED)
{
	uint64_t before = clock_monotonic();
	struct process p = run("#!/bin/sh\nsleep 1000 & echo $!\n", SPAN(""), 0);
	uint64_t took = clock_monotonic() - before;

	assert_int_equal(p.failure, 0);
	assert_true(took >= (uint64_t)PROCESS_DRAIN_MS * NSEC_PER_MSEC);
	assert_true(took < 20ull * SECOND);
	expect_gone(atoi(buf_cstr(&p.output)));
	expect_exit(&p, 0);

	/* with its pipes closed it is ended at once */
	p = run("#!/bin/sh\nsleep 1000 >&- 2>&- <&- & echo $!\n", SPAN(""), 0);
	expect_gone(atoi(buf_cstr(&p.output)));
	expect_exit(&p, 0);
}

/* Two that wait for each other: they can only end when they run side by side. */
static void test_side_by_side(void **state UNUSED)
{
	char *a = program("a", "#!/bin/sh\nmkfifo f1 f2\necho from a > f1; cat f2\n");
	char *b = program("b",
			  "#!/bin/sh\nuntil [ -p f2 ]; do :; done\ncat f1; echo from b > f2\n");
	struct process list[2] = { process_of(a), process_of(b) };
	struct err err = { 0 };

	list[0].timeout_ms = 20000;
	list[1].timeout_ms = 20000;
	assert_int_equal(process_run_all(list, 2, &cancel, &err), 0);
	expect_output(&list[0], "from b\n");
	expect_output(&list[1], "from a\n");
	free(a);
	free(b);
}

/* More than may run at once, and more than there are descriptors for. */
static void test_many(void **state UNUSED)
{
	enum { MANY = 3 * PROCESS_AT_ONCE / 2 };
	char *path = program("m", "#!/bin/sh\nread n; echo $n\n");
	struct process list[MANY];
	char inputs[MANY][16];
	struct err err = { 0 };
	int i;

	for (i = 0; i < MANY; i++) {
		(void)snprintf(inputs[i], sizeof inputs[i], "%d\n", i);
		list[i] = process_of(path);
		list[i].input = span_of(inputs[i]);
	}
	assert_int_equal(process_run_all(list, MANY, &cancel, &err), 0);
	for (i = 0; i < MANY; i++)
		expect_output(&list[i], inputs[i]);
	free(path);
}

struct canceller {
	struct cancel *cancel;
	char *fifo;
};

/* Fires as soon as the program says that it runs. */
static void *cancel_later(void *arg)
{
	struct canceller *c = arg;
	int fd = open(c->fifo, O_RDONLY | O_CLOEXEC);
	char line[8];

	if (fd < 0 || read(fd, line, sizeof line) <= 0)
		return "the program did not start";
	(void)close(fd);
	cancel_fire(c->cancel);
	return NULL;
}

static void test_cancel(void **state UNUSED)
{
	char *path = program("c", "#!/bin/sh\necho runs > started; echo kept; sleep 1000\n");
	struct cancel own;
	struct canceller c = { &own, path_of("started") };
	struct process list[2] = { process_of(path), process_of("/nowhere") };
	uint64_t before = clock_monotonic();
	struct err err = { 0 };
	void *failed;
	pthread_t thread;

	assert_int_equal(mkfifo(c.fifo, 0600), 0);
	assert_int_equal(cancel_init(&own, &err), 0);
	assert_int_equal(pthread_create(&thread, NULL, cancel_later, &c), 0);
	assert_int_equal(process_run_all(list, 2, &own, &err), -ECANCELED);
	assert_int_equal(pthread_join(thread, &failed), 0);
	assert_null(failed);
	assert_true(clock_monotonic() - before < 4ull * SECOND);
	assert_int_equal(list[0].failure, -ECANCELED);
	assert_int_equal(list[1].failure, -ENOENT);
	process_release(&list[0]);

	/* cancelled before: nothing starts */
	list[0] = process_of(path);
	assert_int_equal(process_run_all(list, 1, &own, &err), -ECANCELED);
	assert_int_equal(list[0].failure, -ECANCELED);
	assert_int_equal(list[0].nsec, 0);
	cancel_release(&own);
	free(c.fifo);
	free(path);
}

static int count_descriptors(void)
{
	int count = 0;
	int fd;

	for (fd = 0; fd < 1024; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

static int set_up(void **state UNUSED)
{
	struct err err;

	(void)signal(SIGPIPE, SIG_IGN);
	return !mkdtemp(folder) || cancel_init(&cancel, &err) < 0;
}

static int tear_down(void **state UNUSED)
{
	char command[64];

	cancel_release(&cancel);
	(void)snprintf(command, sizeof command, "rm -r %s", folder);
	return system(command);
}

/* Nothing is left open or unreaped by all of the above. */
static void test_nothing_left(void **state UNUSED)
{
	int before = count_descriptors();
	struct process p = run("#!/bin/sh\necho x\n", SPAN("y"), 0);

	process_release(&p);
	assert_int_equal(count_descriptors(), before);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pipes),        cmocka_unit_test(test_surroundings),
		cmocka_unit_test(test_descriptors),  cmocka_unit_test(test_signals),
		cmocka_unit_test(test_large),        cmocka_unit_test(test_too_much),
		cmocka_unit_test(test_stderr_tail),  cmocka_unit_test(test_not_started),
		cmocka_unit_test(test_killed),       cmocka_unit_test(test_timeout),
		cmocka_unit_test(test_stubborn),     cmocka_unit_test(test_left_behind),
		cmocka_unit_test(test_side_by_side), cmocka_unit_test(test_many),
		cmocka_unit_test(test_cancel),       cmocka_unit_test(test_nothing_left),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}

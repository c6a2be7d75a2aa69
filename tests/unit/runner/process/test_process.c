/*
 * Processes: input, output, limits, ends; with and without a sandbox.
 * Programs are small shell scripts in a folder of their own.
 */
#include "base/clock.h"
#include "runner/process/process.h"
#include "runner/process/sandbox.h"
#include "runner/process/spawn.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define SECOND NSEC_PER_SEC

#define FOLDER "/tmp/test_process.XXXXXX"

static char folder[] = FOLDER;
static char *const plain_env[] = { "PATH=/usr/bin:/bin", "GREETING=hello", NULL };
static struct cancel cancel;
static struct sandbox *sandbox; /* while the tests run that need one */

static char *path_of(const char *name)
{
	char *path;

	assert_true(asprintf(&path, "%s/%s", folder, name) > 0);
	return path;
}

/* Write a program; the caller frees the path. */
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
	return (struct process){
		.program = path, .folder = folder, .env = plain_env, .sandbox = sandbox
	};
}

/* Run one script; the caller releases the result. */
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

static void expect_status(int status, int code)
{
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), code);
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

/* A program starts with limits, without a terminal, and cannot gain privileges. */
static void test_limits(void **state UNUSED)
{
	struct process p = run("#!/bin/sh\nulimit -c; ulimit -n\n"
			       "sed -n 's/^NoNewPrivs:\t*//p' /proc/self/status\n"
			       "(: < /dev/tty) 2>&- || echo no terminal\n",
			       SPAN(""), 0);

	expect_output(&p, "0\n1024\n1\nno terminal\n");
}

/* Even a descriptor without FD_CLOEXEC does not reach the child. */
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

/* The child ignores and blocks no signal, though we ignore SIGPIPE. (Signals from 32 on are
 * libc's.) */
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

	/* a program that does not read all its input */
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
	process_release(&list[0]);
	process_release(&list[1]);
	assert_int_equal(chmod(text, 0600), 0);
	list[0] = process_of(text);
	assert_int_equal(process_run_all(list, 1, &cancel, &err), 0);
	assert_int_equal(list[0].failure, -EACCES);
	process_release(&list[0]);
	list[0] = process_of("/bin/true");
	list[0].folder = "/nowhere";
	assert_int_equal(process_run_all(list, 1, &cancel, &err), 0);
	assert_int_equal(list[0].failure, -ENOENT);
	process_release(&list[0]);
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
	unsigned limit_ms = sandbox ? 1500 : 100;
	uint64_t before = clock_monotonic();
	struct process p = run("#!/bin/sh\necho begun; sleep 1000\n", SPAN(""), limit_ms);

	assert_int_equal(p.failure, -ETIMEDOUT);
	assert_string_equal(buf_cstr(&p.output), "begun\n");
	assert_true(p.nsec >= SECOND / 10);
	assert_true(clock_monotonic() - before < 4ull * SECOND);
	process_release(&p);
}

/* A program that ignores TERM gets KILL when the grace is over. */
static void test_stubborn(void **state UNUSED)
{
	struct process p = run("#!/bin/sh\ntrap '' TERM; while :; do sleep 1; done\n", SPAN(""),
			       sandbox ? 1500 : 50);

	assert_int_equal(p.failure, -ETIMEDOUT);
	assert_true(WIFSIGNALED(p.status));
	assert_int_equal(WTERMSIG(p.status), SIGKILL);
	assert_true(p.nsec >= (uint64_t)PROCESS_GRACE_MS * NSEC_PER_MSEC);
	process_release(&p);
}

/* Lines */

struct lines {
	struct buf text; /* each line in angle brackets */
	unsigned refuse; /* the number of the line to refuse; 0: none */
	unsigned count;  /* of lines that came */
	size_t bytes;    /* in them */
	bool opens;      /* opens the named pipe that each line names, where the program waits */
	bool keeps_no_text;
};

/* A pipe for each line: the next reader could meet the previous writer otherwise. */
static void open_pipe(struct span name)
{
	char path[sizeof folder + 16];
	int fd;

	(void)snprintf(path, sizeof path, "%s/%.*s", folder, (int)name.len, name.data);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	(void)close(fd);
}

static int take_line(void *arg, struct span line)
{
	struct lines *lines = arg;

	lines->bytes += line.len;
	if (!lines->keeps_no_text)
		buf_printf(&lines->text, "<%.*s>", (int)line.len, line.data);
	if (++lines->count == lines->refuse)
		return -EPROTO;
	if (lines->opens)
		open_pipe(line);
	return 0;
}

static struct process run_lines(const char *script, struct lines *lines)
{
	char *path = program("l", script);
	struct process p = process_of(path);
	struct err err = { 0 };

	p.timeout_ms = 60000;
	p.on_line = take_line;
	p.arg = lines;
	assert_int_equal(process_run_all(&p, 1, &cancel, &err), 0);
	assert_int_equal(p.output.len, 0);
	p.program = NULL;
	free(path);
	return p;
}

static void expect_lines(const char *script, const char *want)
{
	struct lines lines = { 0 };
	struct process p = run_lines(script, &lines);

	assert_int_equal(p.failure, 0);
	assert_string_equal(buf_cstr(&lines.text), want);
	buf_release(&lines.text);
	process_release(&p);
}

static void test_lines(void **state UNUSED)
{
	expect_lines("#!/bin/sh\nprintf 'a\\n\\nbc\\nend'\n", "<a><><bc><end>");
	expect_lines("#!/bin/sh\nprintf 'a\\n'; exit 3\n", "<a>");
	expect_lines("#!/bin/sh\nfor x in 1 2 3; do printf $x; done; echo; printf '\\n'\n",
		     "<123><>");
	expect_lines("#!/bin/sh\nexit\n", "");
	/* the last line, when a process left behind holds the pipe */
	expect_lines("#!/bin/sh\nprintf left; sleep 1000 &\n", "<left>");
}

/* A line arrives while its program runs: the program waits until we have seen it. */
static void test_lines_at_once(void **state UNUSED)
{
	static const char *const names[] = { "one", "two", "three" };
	struct lines lines = { .opens = true };
	struct process p;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		char *path = path_of(names[i]);

		assert_int_equal(mkfifo(path, 0600), 0);
		free(path);
	}
	p = run_lines("#!/bin/sh\nfor x in one two three; do echo $x; : < $x; done\n", &lines);
	assert_int_equal(p.failure, 0);
	assert_string_equal(buf_cstr(&lines.text), "<one><two><three>");
	buf_release(&lines.text);
	process_release(&p);
}

static void test_line_refused(void **state UNUSED)
{
	struct lines lines = { .refuse = 2 };
	uint64_t before = clock_monotonic();
	struct process p = run_lines("#!/bin/sh\nwhile echo x; do :; done\nsleep 1000\n", &lines);

	assert_int_equal(p.failure, -EPROTO);
	assert_int_equal(lines.count, 2);
	assert_true(clock_monotonic() - before < 4ull * SECOND);
	buf_release(&lines.text);
	process_release(&p);
}

/* Each line has a limit; all lines together have none. */
static void test_lines_large(void **state UNUSED)
{
	struct lines lines = { .keeps_no_text = true };
	struct process p = run_lines("#!/bin/sh\nyes 0123456789 | head -n 3000000\n"
				     "head -c 16777216 /dev/zero\n",
				     &lines);

	assert_int_equal(p.failure, 0);
	assert_int_equal(lines.count, 3000001);
	assert_int_equal(lines.bytes, 30000000 + PROCESS_LINE_MAX);
	process_release(&p);
	lines.count = 0;
	p = run_lines("#!/bin/sh\necho first; head -c 16777217 /dev/zero; echo\n", &lines);
	assert_int_equal(p.failure, -EFBIG);
	assert_int_equal(lines.count, 1);
	process_release(&p);
	p = run_lines("#!/bin/sh\nexec cat /dev/zero\n", &lines);
	assert_int_equal(p.failure, -EFBIG);
	assert_int_equal(lines.count, 1);
	process_release(&p);
}

/* Wait until a process that is not our child has ended. */
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

/* A process left behind holds the pipes: nobody waits for it, and it is killed. */
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

	/* with its pipes closed, such a process is killed at once */
	p = run("#!/bin/sh\nsleep 1000 >&- 2>&- <&- & echo $!\n", SPAN(""), 0);
	expect_gone(atoi(buf_cstr(&p.output)));
	expect_exit(&p, 0);
}

/* Two programs that wait for each other can only end when they run side by side. */
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

/* More programs than may run at once, and more than there are descriptors for. */
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

/* Cancel as soon as the program says that it runs. */
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
	if (!sandbox) /* in a sandbox, bwrap may be cancelled before it finds out */
		assert_int_equal(list[1].failure, -ENOENT);
	process_release(&list[0]);
	process_release(&list[1]);

	/* cancelled before: nothing starts */
	list[0] = process_of(path);
	assert_int_equal(process_run_all(list, 1, &own, &err), -ECANCELED);
	assert_int_equal(list[0].failure, -ECANCELED);
	assert_int_equal(list[0].nsec, 0);
	cancel_release(&own);
	free(c.fifo);
	free(path);
}

/* The sandbox */

/* Wait until no process has this command line. */
static void expect_no_process(const char *command)
{
	uint64_t end = clock_monotonic() + 10 * SECOND;
	char *test;

	assert_true(asprintf(&test, "! pgrep -f '^%s$' > /dev/null", command) > 0);
	while (system(test) != 0 && clock_monotonic() < end)
		(void)usleep(10000);
	assert_int_equal(system(test), 0);
	free(test);
}

static void test_inside(void **state UNUSED)
{
	struct process p = run("#!/bin/sh\npwd; echo $GREETING $HOME\n", SPAN(""), 0);
	char *want;

	assert_true(asprintf(&want, "%s\nhello /tmp\n", folder) > 0);
	expect_output(&p, want);
	free(want);
	p = run("#!/bin/sh\n"
		"(: > x) 2>&- || echo folder\n"
		"(: > /x) 2>&- || echo root\n"
		"(: > /usr/x) 2>&- || echo usr\n"
		"[ -e /home ] || [ -e /root ] || [ -e /var ] || echo hidden\n"
		"[ -e /etc/shadow ] || [ ! -e /etc/passwd ] || echo etc\n"
		": > /tmp/x && ls /tmp | grep -v test_process\n"
		"echo /proc/[0-9]*\n"
		"ls /proc/self/fd | tr '\\n' ' '\n",
		SPAN(""), 0);
	expect_output(&p, "folder\nroot\nusr\nhidden\netc\nx\n/proc/1 /proc/2\n0 1 2 3 ");
}

/* Whether a program reaches a port of this machine on the loopback interface. */
static struct process run_client(bool network)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
	socklen_t size = sizeof at;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct err err = { 0 };
	struct process p;
	char *script;
	char *path;

	assert_int_equal(bind(fd, (struct sockaddr *)&at, size), 0);
	assert_int_equal(listen(fd, 1), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &size), 0);
	assert_true(asprintf(&script, "#!/bin/bash\n: < /dev/tcp/127.0.0.1/%d\n",
			     ntohs(at.sin_port)) > 0);
	path = program("n", script);
	p = process_of(path);
	p.network = network;
	assert_int_equal(process_run_all(&p, 1, &cancel, &err), 0);
	(void)close(fd);
	free(script);
	free(path);
	return p;
}

static void test_inside_network(void **state UNUSED)
{
	struct process p = run_client(false);

	expect_exit(&p, 1);
	p = run_client(true);
	expect_exit(&p, 0);
}

static void test_inside_context(void **state UNUSED)
{
	char outside[] = "/var/tmp/test_process.XXXXXX";
	char *path = program("x", "#!/bin/sh\necho made > $WHERE/x && cat $WHERE/x\n");
	struct process p = process_of(path);
	struct err err = { 0 };
	char *env[3] = { plain_env[0] };

	assert_non_null(mkdtemp(outside));
	assert_true(asprintf(&env[1], "WHERE=%s", outside) > 0);
	p.env = env;
	p.context = outside;
	assert_int_equal(process_run_all(&p, 1, &cancel, &err), 0);
	expect_output(&p, "made\n");
	p = process_of(path);
	p.env = env;
	assert_int_equal(process_run_all(&p, 1, &cancel, &err), 0);
	expect_exit(&p, 2);
	free(path);
	assert_true(asprintf(&path, "%s/x", outside) > 0);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(outside), 0);
	free(env[1]);
	free(path);
}

/* The program gets the TERM, and may still print something before it ends. */
static void test_inside_term(void **state UNUSED)
{
	struct process p = run("#!/bin/sh\ntrap 'sleep 0.3; echo last; exit 5' TERM\n"
			       "while :; do sleep 0.1; done\n",
			       SPAN(""), 1500);

	assert_int_equal(p.failure, -ETIMEDOUT);
	assert_string_equal(buf_cstr(&p.output), "last\n");
	expect_status(p.status, 5);
	process_release(&p);
}

/* A program that is ended at any moment of its start leaves nothing. */
static void test_inside_early(void **state UNUSED)
{
	struct process p;
	unsigned ms;

	for (ms = 1; ms < 25; ms++) {
		uint64_t before = clock_monotonic();

		p = run("#!/bin/sh\necho 9 > $WHERE 2>&-; exec sleep 987654\n", SPAN(""), ms);
		assert_int_equal(p.failure, -ETIMEDOUT);
		assert_true(clock_monotonic() - before < 4ull * SECOND);
		process_release(&p);
	}
	expect_no_process("sleep 987654");
}

/* Programs that left their group and closed everything end with the sandbox. */
static void test_inside_left_behind(void **state UNUSED)
{
	struct process p = run("#!/bin/sh\nsetsid sleep 987653 >&- 2>&- <&- &\n"
			       "(setsid sleep 987653 &) ; sleep 0.1; echo done\n",
			       SPAN(""), 0);

	expect_output(&p, "done\n");
	expect_no_process("sleep 987653");
	p = run("#!/bin/sh\ntrap '' TERM; setsid sleep 987652 &\n"
		"while :; do sleep 1; done\n",
		SPAN(""), 1500);
	assert_int_equal(p.failure, -ETIMEDOUT);
	assert_true(WIFSIGNALED(p.status));
	process_release(&p);
	expect_no_process("sleep 987652");
}

static void test_statuses(void **state UNUSED)
{
	static const struct {
		const char *news;
		int code; /* of bwrap */
		int r;
		int status;
	} rows[] = {
		{ "{ \"child-pid\": 7 }\n{ \"exit-code\": 0 }\n", 0, 0, 0 },
		{ "{ \"child-pid\": 7 }\n{ \"exit-code\": 3 }\n", 3, 0, W_EXITCODE(3, 0) },
		{ "{ \"exit-code\": 139 }\n", 139, 0, SIGSEGV },
		{ "{ \"exit-code\": 128 }\n", 128, 0, W_EXITCODE(128, 0) },
		{ "{ \"exit-code\": 145 }\n", 145, 0, W_EXITCODE(145, 0) }, /* SIGCHLD */
		{ "{ \"exit-code\": 255 }\n", 255, 0, W_EXITCODE(255, 0) },
		{ "{ \"child-pid\": 7 }\n", 1, -EIO, W_EXITCODE(1, 0) },
		{ "", 1, -EIO, W_EXITCODE(1, 0) },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		int status = W_EXITCODE(rows[i].code, 0);

		assert_int_equal(sandbox_status(span_of(rows[i].news), SPAN(""), &status),
				 rows[i].r);
		assert_int_equal(status, rows[i].status);
	}
	assert_int_equal(sandbox_group(SPAN("{ \"child-pid\": 70, \"mnt-namespace\": 1 }\n")), 70);
	assert_int_equal(sandbox_group(SPAN("{ \"child-pid\": 70")), 0);
	assert_int_equal(sandbox_group(SPAN("")), 0);
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
	memcpy(folder, FOLDER, sizeof folder);
	return !mkdtemp(folder) || cancel_init(&cancel, &err) < 0;
}

static int tear_down(void **state UNUSED)
{
	char command[64];

	cancel_release(&cancel);
	(void)snprintf(command, sizeof command, "rm -r %s", folder);
	return system(command);
}

/* The tests above left nothing open or unreaped. */
static void test_nothing_left(void **state UNUSED)
{
	int before = count_descriptors();
	struct process p = run("#!/bin/sh\necho x\n", SPAN("y"), 0);

	process_release(&p);
	assert_int_equal(count_descriptors(), before);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
}

/* Tests of the sandbox, and of all that must be the same inside. */
static int enter_sandbox(void **state UNUSED)
{
	struct err err = { 0 };
	int r = set_up(NULL);

	if (r)
		return r;
	r = sandbox_new(SANDBOX_AUTO, &sandbox, &err);
	if (r == 0 && !sandbox_is_on(sandbox))
		print_message("no sandbox here: %s\n", sandbox_reason(sandbox));
	return r;
}

static int leave_sandbox(void **state UNUSED)
{
	sandbox_free(sandbox);
	sandbox = NULL;
	return tear_down(NULL);
}

static int need_sandbox(void **state UNUSED)
{
	if (!sandbox_is_on(sandbox))
		skip();
	return 0;
}

#define INSIDE(test) cmocka_unit_test_setup(test, need_sandbox)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pipes),        cmocka_unit_test(test_surroundings),
		cmocka_unit_test(test_limits),       cmocka_unit_test(test_descriptors),
		cmocka_unit_test(test_signals),      cmocka_unit_test(test_large),
		cmocka_unit_test(test_too_much),     cmocka_unit_test(test_stderr_tail),
		cmocka_unit_test(test_not_started),  cmocka_unit_test(test_killed),
		cmocka_unit_test(test_timeout),      cmocka_unit_test(test_stubborn),
		cmocka_unit_test(test_left_behind),  cmocka_unit_test(test_side_by_side),
		cmocka_unit_test(test_lines),        cmocka_unit_test(test_lines_at_once),
		cmocka_unit_test(test_line_refused), cmocka_unit_test(test_lines_large),
		cmocka_unit_test(test_many),         cmocka_unit_test(test_cancel),
		cmocka_unit_test(test_statuses),     cmocka_unit_test(test_nothing_left),
	};
	const struct CMUnitTest inside[] = {
		INSIDE(test_pipes),
		INSIDE(test_inside),
		INSIDE(test_inside_network),
		INSIDE(test_inside_context),
		INSIDE(test_limits),
		INSIDE(test_descriptors),
		INSIDE(test_signals),
		INSIDE(test_large),
		INSIDE(test_too_much),
		INSIDE(test_stderr_tail),
		INSIDE(test_not_started),
		INSIDE(test_killed),
		INSIDE(test_timeout),
		INSIDE(test_stubborn),
		INSIDE(test_inside_term),
		INSIDE(test_inside_early),
		INSIDE(test_inside_left_behind),
		INSIDE(test_lines_at_once),
		INSIDE(test_line_refused),
		INSIDE(test_many),
		INSIDE(test_cancel),
		INSIDE(test_nothing_left),
	};
	int failed = cmocka_run_group_tests(tests, set_up, tear_down);

	return failed + cmocka_run_group_tests(inside, enter_sandbox, leave_sandbox);
}

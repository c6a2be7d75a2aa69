/*
 * treeverify: the same random operations on two directories, results compared.
 *
 *	treeverify [OPTION]... REFERENCE DIRECTORY
 *
 *	--seed S, --steps N, --no OP,...	as in fsverify
 *	--policy NAME,...	what DIRECTORY may refuse although REFERENCE does not:
 *				symlink, link, mkfifo (EPERM), exchange (EINVAL),
 *				full (EXDEV: a directory that holds something does not move)
 *	--late		what is looked at may be right two seconds later: a mount under
 *			load takes a moment to see that a file was closed empty
 *	--ignore NAME,...	what stat(2) may tell differently: mode, nlink, times
 *
 * Both must be empty directories. Each result is a text, an errno or what was
 * found; the two texts have to be equal. Names that begin with a dot are not
 * listed. The directories are emptied in the end, and kept when there is a
 * difference.
 */
#include "tests/verify/steps.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	SIDES = 2,
	HELD = 6,
	LATE_MS = 2000,
	FILE_MAX = 6000,
	TEXT_SIZE = 1 << 16,
	LONG_AGO = 1000000000, /* times that are set are in the year after this */
	YEAR = 31536000,
};

/* What a call gave. */
struct outcome {
	size_t len;
	char text[TEXT_SIZE];
};

/* A call on one side, with the arguments in `arg`. */
typedef void act_fn(int side, struct outcome *out);

/* A refusal that is a rule of the directory and not a difference. */
struct policy {
	const char *name;
	int code;
	bool on;
};

static struct policy policy_symlink = { "symlink", EPERM, false };
static struct policy policy_link = { "link", EPERM, false };
static struct policy policy_mkfifo = { "mkfifo", EPERM, false };
static struct policy policy_exchange = { "exchange", EINVAL, false };
static struct policy policy_full = { "full", EXDEV, false };
static struct policy *const policies[] = { &policy_symlink, &policy_link, &policy_mkfifo,
					   &policy_exchange, &policy_full };

static struct {
	bool mode, nlink, times;
} ignored;

static int roots[SIDES];
static int held[HELD][SIDES]; /* descriptors that stay open; -1: none */
static struct outcome outcomes[SIDES];
static uint64_t refusals; /* by policy */
static bool late;

/* Arguments of the present step. */
static struct {
	char path[PATH_MAX];
	char to[PATH_MAX];
	mode_t mode;
	int flags;
	off_t size;
	unsigned slot;
	struct timespec times[2];
	size_t len;
	uint8_t bytes[FILE_MAX];
} arg;

static void tell(struct outcome *out, const char *fmt, ...) PRINTF(2, 3);
static void tell(struct outcome *out, const char *fmt, ...)
{
	va_list args;
	int n;

	va_start(args, fmt);
	n = vsnprintf(out->text + out->len, TEXT_SIZE - out->len, fmt, args);
	va_end(args);
	out->len = MIN(out->len + (size_t)MAX(n, 0), (size_t)TEXT_SIZE - 1);
}

static void tell_result(struct outcome *out, bool ok)
{
	tell(out, "%s", ok ? "ok" : strerrorname_np(errno));
}

static bool same_outcome(void)
{
	return strcmp(outcomes[0].text, outcomes[1].text) == 0;
}

static void act_on(int side, act_fn *act)
{
	outcomes[side].len = 0;
	outcomes[side].text[0] = 0;
	act(side, &outcomes[side]);
}

static void must_be_same(void)
{
	step_note(" -> %.40s", outcomes[0].text);
	if (!same_outcome())
		differs("the reference says: %.600s\n%*sthe directory says: %.600s",
			outcomes[0].text, 8, "", outcomes[1].text);
}

/* Do it on both sides; what the directory refuses by its policy is not asked of the reference. */
static void both(act_fn *act, struct policy *policy)
{
	act_on(1, act);
	if (policy && policy->on && strcmp(outcomes[1].text, strerrorname_np(policy->code)) == 0) {
		step_note(" -> refused");
		refusals++;
		return;
	}
	act_on(0, act);
	must_be_same();
}

/* The same of a call that changes nothing: with --late it may be right a little later. */
static void look(act_fn *act)
{
	act_on(1, act);
	act_on(0, act);
	for (int i = 0; late && !same_outcome() && i < LATE_MS; i++) {
		(void)usleep(1000);
		act_on(1, act);
	}
	must_be_same();
}

/* Names */

static const char *random_name(void)
{
	static const char *const names[] = { "a", "b", "c", "d.txt", "e f" };
	static char name[NAME_MAX + 2];
	unsigned n = (unsigned)random_below(100);

	if (n < 94)
		return names[n % ARRAY_SIZE(names)];
	if (n < 98)
		memset(name, 'x', NAME_MAX);
	else
		memset(name, 'y', NAME_MAX + 1);
	name[n < 98 ? NAME_MAX : NAME_MAX + 1] = 0;
	return name;
}

/* Up to three names, now and then with an end that needs care. */
static void random_path(char *path)
{
	static const char *const ends[] = { "/", "/.", "/..", "//a", "/./b", "/../c" };
	unsigned depth = 1 + (unsigned)random_below(3);
	size_t len = 0;

	for (unsigned i = 0; i < depth; i++)
		len += (size_t)snprintf(path + len, PATH_MAX - len, "%s%s", i ? "/" : "",
					random_name());
	if (random_chance(6))
		(void)snprintf(path + len, PATH_MAX - len, "%s",
			       ends[random_below(ARRAY_SIZE(ends))]);
	else if (random_chance(1))
		path[0] = 0;
	step_note(" %.60s", path[0] ? path : "''");
}

/* A directory that is the root now and then. */
static void random_directory(char *path)
{
	if (random_chance(20))
		strcpy(path, ".");
	else
		random_path(path);
}

static mode_t random_mode(void)
{
	mode_t mode = 0600 | (mode_t)random_below(0200);

	step_note(" 0%o", mode);
	return mode;
}

static void random_data(void)
{
	arg.len = random_skewed(FILE_MAX / 4);
	random_fill(arg.bytes, arg.len);
}

/* Directories */

static void mkdir_act(int side, struct outcome *out)
{
	tell_result(out, mkdirat(roots[side], arg.path, arg.mode | 0700) == 0);
}

static void op_mkdir(void)
{
	random_path(arg.path);
	arg.mode = random_mode();
	both(mkdir_act, NULL);
}

static void unlink_act(int side, struct outcome *out)
{
	tell_result(out, unlinkat(roots[side], arg.path, arg.flags) == 0);
}

static void op_rmdir(void)
{
	random_path(arg.path);
	arg.flags = AT_REMOVEDIR;
	both(unlink_act, NULL);
}

static void op_unlink(void)
{
	random_path(arg.path);
	arg.flags = 0;
	both(unlink_act, NULL);
}

static int visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static void list_act(int side, struct outcome *out)
{
	struct dirent **entries;
	int n = scandirat(roots[side], arg.path, &entries, visible, alphasort);

	tell_result(out, n >= 0);
	for (int i = 0; i < n; i++) {
		tell(out, "%s%s", i ? "," : " ", entries[i]->d_name);
		free(entries[i]);
	}
	if (n >= 0)
		free(entries);
}

static void op_list(void)
{
	random_directory(arg.path);
	look(list_act);
}

/* Files */

static void open_act(int side, struct outcome *out)
{
	int fd = openat(roots[side], arg.path, arg.flags, arg.mode);

	tell_result(out, fd >= 0);
	if (fd < 0)
		return;
	if ((arg.flags & O_ACCMODE) != O_RDONLY) {
		ssize_t n = write(fd, arg.bytes, arg.len);

		tell(out, ", wrote %zd", n);
	}
	tell(out, ", close ");
	tell_result(out, close(fd) == 0);
}

static void op_open(void)
{
	static const int flags[] = { O_CREAT, O_EXCL, O_TRUNC, O_APPEND, O_NOFOLLOW, O_DIRECTORY };

	random_path(arg.path);
	arg.mode = random_mode();
	arg.flags = (int)random_below(3); /* an access mode */
	for (size_t i = 0; i < ARRAY_SIZE(flags); i++)
		if (random_chance(flags[i] == O_DIRECTORY ? 5 : flags[i] == O_CREAT ? 70 : 25))
			arg.flags |= flags[i];
	if (!(arg.flags & O_CREAT)) /* alone it means nothing */
		arg.flags &= ~O_EXCL;
	step_note(" flags 0%o", (unsigned)arg.flags);
	random_data();
	both(open_act, NULL);
}

static void truncate_act(int side, struct outcome *out)
{
	char path[PATH_MAX + 40];

	(void)snprintf(path, sizeof path, "/proc/self/fd/%d/%s", roots[side], arg.path);
	tell_result(out, truncate(path, arg.size) == 0);
}

static void op_truncate(void)
{
	random_path(arg.path);
	arg.size = (off_t)random_skewed(FILE_MAX) - random_chance(3);
	step_note(" %lld", (long long)arg.size);
	both(truncate_act, NULL);
}

static void tell_content(struct outcome *out, int fd)
{
	static uint8_t bytes[FILE_MAX * 2];
	uint64_t sum = 0;
	ssize_t n = pread(fd, bytes, sizeof bytes, 0);

	tell_result(out, n >= 0);
	for (ssize_t i = 0; i < n; i++)
		sum = sum * 31 + bytes[i];
	tell(out, " %zd bytes, sum %llx", n, (unsigned long long)sum);
}

static void read_act(int side, struct outcome *out)
{
	int fd = openat(roots[side], arg.path, O_RDONLY);

	tell_result(out, fd >= 0);
	if (fd < 0)
		return;
	tell(out, ", read ");
	tell_content(out, fd);
	(void)close(fd);
}

static void op_read(void)
{
	random_path(arg.path);
	look(read_act);
}

/* Descriptors that outlive the name */

/* Files only: what an open directory is good for when it is gone differs by file system. */
static void hold_act(int side, struct outcome *out)
{
	int *fd = &held[arg.slot][side];
	struct stat st;

	if (*fd >= 0)
		(void)close(*fd);
	*fd = openat(roots[side], arg.path, O_RDONLY);
	tell_result(out, *fd >= 0);
	if (*fd >= 0 && fstat(*fd, &st) == 0 && S_ISDIR(st.st_mode)) {
		(void)close(*fd);
		*fd = -1;
	}
}

static void op_hold(void)
{
	arg.slot = (unsigned)random_below(HELD);
	random_path(arg.path);
	both(hold_act, NULL);
}

static void held_act(int side, struct outcome *out)
{
	int fd = held[arg.slot][side];
	struct stat st;

	tell_content(out, fd);
	tell(out, ", size ");
	tell_result(out, fstat(fd, &st) == 0);
	tell(out, " %lld", (long long)st.st_size);
}

static void op_held(void)
{
	arg.slot = (unsigned)random_below(HELD);
	if (held[arg.slot][0] >= 0)
		both(held_act, NULL);
}

/* Attributes */

/* A time that was set is told; any other is "now". */
static void tell_time(struct outcome *out, const struct timespec *t)
{
	if (ignored.times)
		return;
	if (t->tv_sec >= LONG_AGO && t->tv_sec < LONG_AGO + YEAR)
		tell(out, " %lld.%09ld", (long long)t->tv_sec, t->tv_nsec);
	else
		tell(out, " now");
}

static void stat_act(int side, struct outcome *out)
{
	struct stat st;
	int r = fstatat(roots[side], arg.path, &st, AT_SYMLINK_NOFOLLOW);

	tell_result(out, r == 0);
	if (r < 0)
		return;
	tell(out, " type 0%o", st.st_mode & S_IFMT);
	if (!ignored.mode && !S_ISLNK(st.st_mode))
		tell(out, " mode 0%o", st.st_mode & 07777);
	if (!S_ISREG(st.st_mode))
		return;
	tell(out, " size %lld", (long long)st.st_size);
	if (!ignored.nlink)
		tell(out, " nlink %ld", (long)st.st_nlink);
	tell_time(out, &st.st_mtim);
}

static void op_stat(void)
{
	random_path(arg.path);
	look(stat_act);
}

static void chmod_act(int side, struct outcome *out)
{
	tell_result(out, fchmodat(roots[side], arg.path, arg.mode | 0700, 0) == 0);
}

static void op_chmod(void)
{
	random_path(arg.path);
	arg.mode = random_mode();
	both(chmod_act, NULL);
}

static void utimens_act(int side, struct outcome *out)
{
	tell_result(out, utimensat(roots[side], arg.path, arg.times, 0) == 0);
}

static void op_utimens(void)
{
	random_path(arg.path);
	for (int i = 0; i < 2; i++)
		arg.times[i] = (struct timespec){ LONG_AGO + (time_t)random_below(YEAR),
						  (long)random_below(1000000000) };
	both(utimens_act, NULL);
}

/* Names that move, and more than one name */

static void rename_act(int side, struct outcome *out)
{
	tell_result(out, renameat2(roots[side], arg.path, roots[side], arg.to,
				   (unsigned)arg.flags) == 0);
}

/* Asked of the reference: is it a directory that holds something? */
static bool path_is_full(void)
{
	struct dirent **entries;
	int n = scandirat(roots[0], arg.path, &entries, visible, alphasort);

	for (int i = 0; i < n; i++)
		free(entries[i]);
	if (n >= 0)
		free(entries);
	return n > 0;
}

static void op_rename(void)
{
	random_path(arg.path);
	random_path(arg.to);
	arg.flags = random_chance(15) ? RENAME_NOREPLACE : 0;
	step_note("%s", arg.flags ? " noreplace" : "");
	both(rename_act, path_is_full() ? &policy_full : NULL);
}

static void op_exchange(void)
{
	random_path(arg.path);
	random_path(arg.to);
	arg.flags = RENAME_EXCHANGE;
	both(rename_act, &policy_exchange);
}

/* A link may lead anywhere, and an open of a FIFO waits: they do not stay. */
static void tell_made(int side, struct outcome *out, bool ok)
{
	tell_result(out, ok);
	if (ok)
		(void)unlinkat(roots[side], arg.path, 0);
}

static void symlink_act(int side, struct outcome *out)
{
	tell_made(side, out, symlinkat(arg.to, roots[side], arg.path) == 0);
}

static void op_symlink(void)
{
	random_path(arg.path);
	random_path(arg.to);
	both(symlink_act, &policy_symlink);
}

static void link_act(int side, struct outcome *out)
{
	tell_result(out, linkat(roots[side], arg.path, roots[side], arg.to, 0) == 0);
}

static void op_link(void)
{
	random_path(arg.path);
	random_path(arg.to);
	both(link_act, &policy_link);
}

static void mkfifo_act(int side, struct outcome *out)
{
	tell_made(side, out, mkfifoat(roots[side], arg.path, arg.mode) == 0);
}

static void op_mkfifo(void)
{
	random_path(arg.path);
	arg.mode = random_mode();
	both(mkfifo_act, &policy_mkfifo);
}

/* All below a directory: names, attributes, bytes. */
static void compare_below(const char *dir)
{
	struct dirent **entries;
	int n;

	(void)snprintf(arg.path, sizeof arg.path, "%s", dir);
	look(list_act);
	n = scandirat(roots[0], dir, &entries, visible, alphasort);
	must(n >= 0, dir);
	for (int i = 0; i < n; i++) {
		char path[PATH_MAX];
		struct stat st;

		(void)snprintf(path, sizeof path, "%s/%s", dir, entries[i]->d_name);
		(void)snprintf(arg.path, sizeof arg.path, "%s", path);
		look(stat_act);
		must(fstatat(roots[0], path, &st, AT_SYMLINK_NOFOLLOW) == 0, path);
		if (S_ISREG(st.st_mode))
			look(read_act);
		else if (S_ISDIR(st.st_mode))
			compare_below(path);
		free(entries[i]);
	}
	free(entries);
}

static void op_compare(void)
{
	compare_below(".");
}

static void remove_below(int side, const char *dir)
{
	struct dirent **entries;
	int n = scandirat(roots[side], dir, &entries, visible, alphasort);

	for (int i = 0; i < n; i++) {
		char path[PATH_MAX];

		(void)snprintf(path, sizeof path, "%s/%s", dir, entries[i]->d_name);
		if (unlinkat(roots[side], path, 0) < 0) {
			remove_below(side, path);
			must(unlinkat(roots[side], path, AT_REMOVEDIR) == 0, path);
		}
		free(entries[i]);
	}
	if (n >= 0)
		free(entries);
}

/* All goes: without this directories grow deeper and deeper. */
static void op_clear(void)
{
	for (int side = 0; side < SIDES; side++)
		remove_below(side, ".");
}

static struct operation operations[] = {
	{ "mkdir", 90, op_mkdir },       { "rmdir", 60, op_rmdir },
	{ "open", 200, op_open },        { "unlink", 60, op_unlink },
	{ "rename", 120, op_rename },    { "exchange", 5, op_exchange },
	{ "truncate", 40, op_truncate }, { "read", 60, op_read },
	{ "hold", 20, op_hold },         { "held", 60, op_held },
	{ "stat", 80, op_stat },         { "list", 60, op_list },
	{ "chmod", 30, op_chmod },       { "utimens", 30, op_utimens },
	{ "symlink", 10, op_symlink },   { "link", 10, op_link },
	{ "mkfifo", 5, op_mkfifo },      { "compare", 2, op_compare },
	{ "clear", 1, op_clear },        { 0 },
};

static void policies_allow(const char *list)
{
	for (size_t i = 0; i < ARRAY_SIZE(policies); i++)
		policies[i]->on |= strstr(list, policies[i]->name) != NULL;
}

static void ignore(const char *list)
{
	ignored.mode |= strstr(list, "mode") != NULL;
	ignored.nlink |= strstr(list, "nlink") != NULL;
	ignored.times |= strstr(list, "times") != NULL;
}

static void begin(char **paths)
{
	for (int side = 0; side < SIDES; side++) {
		roots[side] = open(paths[side], O_RDONLY | O_DIRECTORY);
		must(roots[side] >= 0, paths[side]);
		arg.path[0] = '.';
		outcomes[side].len = 0;
		list_act(side, &outcomes[side]);
		if (strcmp(outcomes[side].text, "ok") != 0) {
			fprintf(stderr, "%s is not empty\n", paths[side]);
			exit(2);
		}
	}
	memset(held, -1, sizeof held);
	(void)umask(022);
}

static void end(void)
{
	op_compare();
	for (int side = 0; side < SIDES; side++) {
		remove_below(side, ".");
		for (int i = 0; i < HELD; i++)
			if (held[i][side] >= 0)
				(void)close(held[i][side]);
		(void)close(roots[side]);
	}
	if (refusals)
		printf("%llu refused by policy\n", (unsigned long long)refusals);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "seed", required_argument, NULL, 's' },
		{ "steps", required_argument, NULL, 'n' },
		{ "no", required_argument, NULL, 'x' },
		{ "policy", required_argument, NULL, 'p' },
		{ "ignore", required_argument, NULL, 'i' },
		{ "late", no_argument, NULL, 'l' },
		{ 0 },
	};
	uint64_t seed = seed_choose();
	uint64_t steps = 10000;
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c == 's')
			seed = number_of(optarg);
		else if (c == 'n')
			steps = number_of(optarg);
		else if (c == 'x')
			operations_leave_out(operations, optarg);
		else if (c == 'p')
			policies_allow(optarg);
		else if (c == 'i')
			ignore(optarg);
		else if (c == 'l')
			late = true;
		else
			return 2;
	}
	if (optind != argc - 2) {
		fprintf(stderr,
			"usage: treeverify [--seed S] [--steps N] [--no OP,...] "
			"[--policy NAME,...] [--ignore NAME,...] [--late] REFERENCE DIRECTORY\n");
		return 2;
	}
	begin(argv + optind);
	steps_run(operations, seed, steps);
	end();
	return 0;
}

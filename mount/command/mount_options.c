/*
 * Options of `adkfs mount`: see mount_options.h. The table is in the middle.
 */
#include "mount/command/mount_options.h"

#include "fs/tree/owners.h"
#include "store/engine/engines.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#define COUNT_MAX     100000u /* turns, threads */
#define HELP_COLUMN   21      /* where the help text says what an option does */
#define FIRST_LONG_ID 256     /* for getopt_long(): after all letters */

/* An option: getopt_long() and the help text go by these rows. */
struct mount_option {
	const char *name;     /* after "--"; NULL: the option has a letter only */
	char letter;          /* after "-"; 0: the option has a name only */
	const char *argument; /* follows the name in the help text; NULL: there is none */

	/* Returns 0, or the exit status after a usage error. */
	int (*take)(struct mounting *m, const struct mount_option *o, const char *value);
	size_t at; /* take_text, take_count, take_flag: the member of struct mounting */
	const char *help;
};

static int take_text(struct mounting *m, const struct mount_option *o, const char *value)
{
	*(const char **)(void *)((char *)m + o->at) = value;
	return 0;
}

static int take_flag(struct mounting *m, const struct mount_option *o, const char *value UNUSED)
{
	*(bool *)(void *)((char *)m + o->at) = true;
	return 0;
}

static int take_count(struct mounting *m, const struct mount_option *o, const char *value)
{
	char *end;
	unsigned long count = strtoul(value, &end, 10);

	if (!*value || *end || !count || count > COUNT_MAX)
		return command_usage(m->self, "--%s takes a number from 1 to %u, not '%s'", o->name,
				     COUNT_MAX, value);
	*(unsigned *)(void *)((char *)m + o->at) = (unsigned)count;
	return 0;
}

static int take_engine(struct mounting *m, const struct mount_option *o UNUSED, const char *value)
{
	if (!engine_find(value))
		return command_usage(m->self, "there is no engine '%s'", value);
	m->store.engine = value;
	return 0;
}

static int take_durability(struct mounting *m, const struct mount_option *o, const char *value)
{
	const char *names;

	if (!durability_find(value, &m->store.durability, &names))
		return command_usage(m->self, "--%s takes %s, not '%s'", o->name, names, value);
	return 0;
}

static int take_sandbox(struct mounting *m, const struct mount_option *o, const char *value)
{
	const char *names;

	if (!sandbox_find(value, &m->sandbox, &names))
		return command_usage(m->self, "--%s takes %s, not '%s'", o->name, names, value);
	return 0;
}

static int take_fuse_options(struct mounting *m, const struct mount_option *o UNUSED,
			     const char *value)
{
	struct err err;

	if (m->fuse_options.len)
		buf_char(&m->fuse_options, ',');
	buf_text(&m->fuse_options, value);
	m->fs.fuse_options = buf_cstr(&m->fuse_options);
	if (m->fs.fuse_options)
		return 0;
	(void)err_nomem(&err);
	return command_fail(m->self, STATUS_FAILED, &err);
}

static int take_map_user(struct mounting *m, const struct mount_option *o, const char *value)
{
	struct err err;

	if (owners_map(m->fs.owners, value, &err) < 0)
		return command_usage(m->self, "--%s %s: %s", o->name, value, err.text);
	return 0;
}

static int take_map_users(struct mounting *m, const struct mount_option *o, const char *value)
{
	if (strcmp(value, "system") != 0)
		return command_usage(m->self, "--%s takes system, not '%s'", o->name, value);
	owners_map_system(m->fs.owners);
	return 0;
}

#define TAKE(kind, member) .take = take_##kind, .at = offsetof(struct mounting, member)

/* Keep in the order of the manual page. */
static const struct mount_option options[] = {
	{ .name = "agents",
	  .argument = " DIR",
	  TAKE(text, fs.agents),
	  .help = "folder of agent folders; each becomes an app\n"
		  "(default: $XDG_CONFIG_HOME/adkfs/agents, if it is there)" },
	{ .name = "store",
	  .argument = " DIR",
	  TAKE(text, store.folder),
	  .help = "folder of the store, made if it is missing\n"
		  "(default: $XDG_DATA_HOME/adkfs/store)" },
	{ .name = "engine",
	  .argument = " NAME",
	  .take = take_engine,
	  .help = "rocksdb (default), or memory: nothing is kept" },
	{ .name = "durability",
	  .argument = " HOW",
	  .take = take_durability,
	  .help = "process (default): what was written survives a crash of the\n"
		  "daemon; disk: of the machine too, but each change waits for the disk" },
	{ .name = "max-turns",
	  .argument = " N",
	  TAKE(count, fs.turns_max),
	  .help = "turns that run at the same time (default 1024)" },
	{ .name = "threads",
	  .argument = " N",
	  TAKE(count, fs.threads),
	  .help = "threads that answer the kernel (default: two per core, at least 4)" },
	{ .name = "sandbox",
	  .argument = " HOW",
	  .take = take_sandbox,
	  .help = "sandbox of the agents' programs: auto (default), bwrap or none;\n"
		  "auto is bubblewrap where it is installed and works" },
	{ .name = "record",
	  .argument = " DIR",
	  TAKE(text, record),
	  .help = "record the requests and answers of models, for replay/ models" },
	{ .name = "settings",
	  .argument = " FILE",
	  TAKE(text, settings),
	  .help = "keys and other settings of models\n"
		  "(default: $XDG_CONFIG_HOME/adkfs/models.yaml, if it is there)" },
	{ .letter = 'o',
	  .argument = " OPTIONS",
	  .take = take_fuse_options,
	  .help = "mount options of FUSE, such as allow_other" },
	{ .name = "map-user",
	  .argument = " NAME=UID[:GID]",
	  .take = take_map_user,
	  .help = "with allow_other: files of the user NAME belong to this login" },
	{ .name = "map-users",
	  .argument = "=system",
	  .take = take_map_users,
	  .help = "with allow_other: user names are logins of this host" },
	{ .name = "foreground",
	  .letter = 'f',
	  TAKE(flag, foreground),
	  .help = "stay in the foreground, log to standard error" },
	{ .name = "verbose", .letter = 'v', TAKE(flag, verbose), .help = "log more" },
	{ .name = "help", .letter = 'h', TAKE(flag, help), .help = "this text" },
};

/* "-f, --foreground", and then what the option does in a column of its own. */
static void print_option(const struct mount_option *o)
{
	const char *line = o->help;
	int n = printf("  ");

	if (o->letter)
		n += printf("-%c%s", o->letter, o->name ? ", " : "");
	n += printf("%s%s%s", o->name ? "--" : "", o->name ? o->name : "",
		    o->argument ? o->argument : "");
	if (n >= HELP_COLUMN)
		n = printf("\n") - 1;
	while (*line) {
		int len = (int)strcspn(line, "\n");

		(void)printf("%*s%.*s\n", HELP_COLUMN - n, "", len, line);
		line += len + (line[len] == '\n');
		n = 0;
	}
}

int mount_help(void)
{
	size_t i;

	(void)fputs(
		"usage: adkfs mount [OPTIONS] MOUNTPOINT\n"
		"\n"
		"Mount a store of agent sessions at MOUNTPOINT, an empty directory. The daemon\n"
		"goes to the background when the mount is there.\n"
		"\n",
		stdout);
	for (i = 0; i < ARRAY_SIZE(options); i++)
		print_option(&options[i]);
	(void)fputs("\n"
		    "Exit status: 0 mounted (with -f: ended well); 2 invalid option; 3 no usable\n"
		    "/dev/fuse; 4 bad mount point; 5 the store cannot be opened; 6 another daemon\n"
		    "has the store; 7 bad agents folder; 1 anything else.\n",
		    stdout);
	return STATUS_OK;
}

/* The value that getopt_long() returns for an option. */
static int option_id(size_t i)
{
	return options[i].letter ? options[i].letter : FIRST_LONG_ID + (int)i;
}

static int take_options(struct mounting *m, int argc, char **argv)
{
	struct option names[ARRAY_SIZE(options) + 1] = { 0 };
	char letters[2 * ARRAY_SIZE(options) + 2] = ":";
	size_t n = 0;
	size_t i;
	int id;
	int r = 0;

	for (i = 0; i < ARRAY_SIZE(options); i++) {
		const struct mount_option *o = &options[i];

		if (o->name)
			names[n++] = (struct option){ o->name, o->argument != NULL, NULL,
						      option_id(i) };
		if (o->letter)
			(void)sprintf(strchr(letters, 0), "%c%s", o->letter,
				      o->argument ? ":" : "");
	}
	opterr = 0;
	while (r == 0 && (id = getopt_long(argc, argv, letters, names, NULL)) != -1) {
		if (id == ':')
			return command_usage(m->self, "option '%s' needs a value",
					     argv[optind - 1]);
		if (id == '?')
			return command_usage(m->self, "there is no option '%s'", argv[optind - 1]);
		for (i = 0; option_id(i) != id; i++)
			;
		r = options[i].take(m, &options[i], optarg);
	}
	return r;
}

/* True if `name` is one of a list of mount options. */
static bool has_option(const char *list, const char *name)
{
	size_t len = strlen(name);

	while (list && *list) {
		size_t n = strcspn(list, ",");

		if (n == len && !memcmp(list, name, n))
			return true;
		list += n + (list[n] == ',');
	}
	return false;
}

int mount_parse(struct mounting *m, int argc, char **argv)
{
	struct err err;
	int r = take_options(m, argc, argv);

	if (r || m->help)
		return r;
	if (optind == argc)
		return command_usage(m->self, "the mount point is missing");
	if (optind + 1 < argc)
		return command_usage(m->self, "unexpected argument '%s'", argv[optind + 1]);
	m->fs.mountpoint = argv[optind];
	if (has_option(m->fs.fuse_options, "allow_other"))
		owners_share(m->fs.owners);
	if (owners_check(m->fs.owners, &err) < 0)
		return command_usage(m->self, "%s", err.text);
	return 0;
}

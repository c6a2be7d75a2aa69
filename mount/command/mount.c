/*
 * adkfs mount
 */
#include "base/log.h"
#include "fs/fs.h"
#include "fs/tree/owners.h"
#include "mount/command.h"
#include "mount/daemon.h"
#include "mount/mountpoint.h"
#include "runner/model/init.h"
#include "runner/model/record.h"
#include "runner/model/sections.h"
#include "runner/process/sandbox.h"
#include "runner/settings/file.h"
#include "store/engine/engines.h"
#include "store/open.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define COUNT_MAX 100000u /* of turns, of threads */

struct settings_of_mount {
	struct store_options store;
	struct fs_options fs;
	struct buf store_folder;
	struct buf agents;
	struct buf record; /* empty: nothing is recorded */
	struct buf settings;
	struct buf mountpoint;
	struct buf fuse_options; /* all of -o, joined */
	enum sandbox_mode sandbox;
	bool foreground;
	bool verbose;
	bool help;
};

enum option_id {
	OPTION_AGENTS = 256,
	OPTION_STORE,
	OPTION_ENGINE,
	OPTION_DURABILITY,
	OPTION_MAX_TURNS,
	OPTION_THREADS,
	OPTION_SANDBOX,
	OPTION_RECORD,
	OPTION_SETTINGS,
	OPTION_MAP_USER,
	OPTION_MAP_USERS,
};

static const struct option options[] = {
	{ "agents", required_argument, NULL, OPTION_AGENTS },
	{ "store", required_argument, NULL, OPTION_STORE },
	{ "engine", required_argument, NULL, OPTION_ENGINE },
	{ "durability", required_argument, NULL, OPTION_DURABILITY },
	{ "max-turns", required_argument, NULL, OPTION_MAX_TURNS },
	{ "threads", required_argument, NULL, OPTION_THREADS },
	{ "sandbox", required_argument, NULL, OPTION_SANDBOX },
	{ "record", required_argument, NULL, OPTION_RECORD },
	{ "settings", required_argument, NULL, OPTION_SETTINGS },
	{ "map-user", required_argument, NULL, OPTION_MAP_USER },
	{ "map-users", required_argument, NULL, OPTION_MAP_USERS },
	{ "foreground", no_argument, NULL, 'f' },
	{ "verbose", no_argument, NULL, 'v' },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

/* $XDG_..._HOME/adkfs/LAST, or below the home directory. */
static int xdg_path(const char *variable, const char *below_home, const char *last, struct buf *out,
		    struct err *err)
{
	const char *base = getenv(variable);
	const char *home = getenv("HOME");

	if (base && base[0] == '/')
		buf_printf(out, "%s/adkfs/%s", base, last);
	else if (home && *home)
		buf_printf(out, "%s/%s/adkfs/%s", home, below_home, last);
	else
		return err_set(err, -EINVAL, "neither %s nor HOME is set: say --%s DIR", variable,
			       last);
	return buf_cstr(out) ? 0 : err_nomem(err);
}

static bool parse_count(const char *text, unsigned *out)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	if (!*text || *end || !value || value > COUNT_MAX)
		return false;
	*out = (unsigned)value;
	return true;
}

static int set_fuse_options(struct settings_of_mount *s, const char *value,
			    const struct command *self)
{
	struct err err;

	if (s->fuse_options.len)
		buf_char(&s->fuse_options, ',');
	buf_text(&s->fuse_options, value);
	s->fs.fuse_options = buf_cstr(&s->fuse_options);
	if (s->fs.fuse_options)
		return 0;
	(void)err_nomem(&err);
	return command_fail(self, STATUS_FAILED, &err);
}

static int map_user(struct settings_of_mount *s, const char *value, const struct command *self)
{
	struct err err;

	if (owners_map(s->fs.owners, value, &err) < 0)
		return command_usage(self, "--map-user %s: %s", value, err.text);
	return 0;
}

static int map_users(struct settings_of_mount *s, const char *value, const struct command *self)
{
	if (strcmp(value, "system") != 0)
		return command_usage(self, "--map-users takes system, not '%s'", value);
	owners_map_system(s->fs.owners);
	return 0;
}

static int set_sandbox(struct settings_of_mount *s, const char *value, const struct command *self)
{
	const char *names;

	if (!sandbox_find(value, &s->sandbox, &names))
		return command_usage(self, "--sandbox is %s, not '%s'", names, value);
	return 0;
}

static int set_durability(struct settings_of_mount *s, const char *value,
			  const struct command *self)
{
	const char *names;

	if (!durability_find(value, &s->store.durability, &names))
		return command_usage(self, "--durability is %s, not '%s'", names, value);
	return 0;
}

static int set_count(const char *option, const char *value, unsigned *out,
		     const struct command *self)
{
	if (parse_count(value, out))
		return 0;
	return command_usage(self, "%s takes a number from 1 to %u, not '%s'", option, COUNT_MAX,
			     value);
}

static int set_option(struct settings_of_mount *s, int id, char *value, const struct command *self)
{
	switch (id) {
	case OPTION_AGENTS:
		s->fs.agents = value;
		return 0;
	case OPTION_STORE:
		s->store.folder = value;
		return 0;
	case OPTION_ENGINE:
		if (!engine_find(value))
			return command_usage(self, "there is no engine '%s'", value);
		s->store.engine = value;
		return 0;
	case OPTION_DURABILITY:
		return set_durability(s, value, self);
	case OPTION_MAX_TURNS:
		return set_count("--max-turns", value, &s->fs.turns_max, self);
	case OPTION_THREADS:
		return set_count("--threads", value, &s->fs.threads, self);
	case OPTION_RECORD:
		buf_clear(&s->record);
		buf_text(&s->record, value);
		return 0;
	case OPTION_SETTINGS:
		buf_clear(&s->settings);
		buf_text(&s->settings, value);
		return 0;
	case OPTION_SANDBOX:
		return set_sandbox(s, value, self);
	case 'o':
		return set_fuse_options(s, value, self);
	case OPTION_MAP_USER:
		return map_user(s, value, self);
	case OPTION_MAP_USERS:
		return map_users(s, value, self);
	case 'f':
		s->foreground = true;
		return 0;
	case 'v':
		s->verbose = true;
		return 0;
	case 'h':
		s->help = true;
		return 0;
	case ':':
		return command_usage(self, "option '%s' needs a value", value);
	default:
		return command_usage(self, "there is no option '%s'", value);
	}
}

/* Whether a list of mount options holds this one. */
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

static int parse(struct settings_of_mount *s, const struct command *self, int argc, char **argv)
{
	struct err err;
	int id;
	int r = 0;

	opterr = 0;
	while (r == 0 && (id = getopt_long(argc, argv, ":fvho:", options, NULL)) != -1)
		r = set_option(s, id, id == '?' || id == ':' ? argv[optind - 1] : optarg, self);
	if (r || s->help)
		return r;
	if (optind == argc)
		return command_usage(self, "say where to mount");
	if (optind + 1 < argc)
		return command_usage(self, "unexpected argument '%s'", argv[optind + 1]);
	s->fs.mountpoint = argv[optind];
	if (has_option(s->fs.fuse_options, "allow_other"))
		owners_share(s->fs.owners);
	if (owners_check(s->fs.owners, &err) < 0)
		return command_usage(self, "%s", err.text);
	return 0;
}

/* Behind the working directory, if it is relative. */
static int make_absolute(struct buf *path, struct err *err)
{
	CLEANUP(buf_release) struct buf given = *path;
	char here[PATH_MAX];

	*path = (struct buf){ 0 };
	if (given.len && given.data[0] != '/') {
		if (!getcwd(here, sizeof here))
			return err_errno(err, -errno, "the working directory");
		buf_printf(path, "%s/", here);
	}
	buf_span_add(path, buf_span(&given));
	path->failed |= given.failed;
	return buf_cstr(path) ? 0 : err_nomem(err);
}

/* Folders as absolute paths, which stay right when the daemon leaves its directory. */
static int resolve_folders(struct settings_of_mount *s, struct err *err)
{
	int r;

	if (s->store.folder) {
		buf_text(&s->store_folder, s->store.folder);
		r = make_absolute(&s->store_folder, err);
	} else {
		r = xdg_path("XDG_DATA_HOME", ".local/share", "store", &s->store_folder, err);
	}
	s->store.folder = s->store_folder.data;
	return r;
}

static int resolve_agents(struct settings_of_mount *s, struct err *err)
{
	bool given = s->fs.agents;
	char path[PATH_MAX];
	struct stat st;
	int r = 0;

	if (given)
		buf_text(&s->agents, s->fs.agents);
	else if (xdg_path("XDG_CONFIG_HOME", ".config", "agents", &s->agents, NULL) < 0)
		return 0; /* a mount without agents */
	s->fs.agents = NULL;
	if (!buf_cstr(&s->agents))
		return err_nomem(err);
	if (!realpath(s->agents.data, path))
		r = -errno;
	else if (stat(path, &st) < 0 || !S_ISDIR(st.st_mode))
		r = -ENOTDIR;
	if (r < 0)
		return given ? err_errno(err, r, "agents folder %s", s->agents.data) : 0;
	buf_clear(&s->agents);
	buf_text(&s->agents, path);
	s->fs.agents = buf_cstr(&s->agents);
	return s->fs.agents ? 0 : err_nomem(err);
}

static int start_recording(struct settings_of_mount *s, struct err *err)
{
	int r;

	if (!s->record.len)
		return 0;
	r = make_absolute(&s->record, err);
	if (r == 0)
		r = record_open(s->record.data, err);
	return r < 0 ? err_wrap(err, "--record") : 0;
}

/* The settings file: one that was asked for has to be right, the usual one need not be there. */
static int open_settings(struct settings_of_mount *s, const struct command *self, struct err *err)
{
	bool given = s->settings.len;
	int r;

	if (given)
		r = make_absolute(&s->settings, err);
	else if (xdg_path("XDG_CONFIG_HOME", ".config", "models.yaml", &s->settings, NULL) < 0)
		return 0;
	else
		r = buf_cstr(&s->settings) ? 0 : err_nomem(err);
	if (r == 0)
		r = model_settings_open(s->settings.data, err);
	if (r < 0 && given)
		return err_wrap(err, "--settings");
	if (r < 0 && r != -ENOENT)
		(void)fprintf(stderr, "adkfs %s: the settings file is not used: %s\n", self->name,
			      err->text);
	return 0;
}

static int check_fuse(struct err *err)
{
	if (access("/dev/fuse", F_OK) < 0)
		return err_set(err, -ENODEV,
			       "there is no /dev/fuse: load the kernel module "
			       "(modprobe fuse), or give it to the container");
	if (access("/dev/fuse", R_OK | W_OK) < 0)
		return err_set(err, -EACCES, "/dev/fuse cannot be opened by this user");
	return 0;
}

/* Whether fusermount3 lets ordinary users say allow_other. */
static bool fuse_conf_allows_others(void)
{
	FILE *conf = fopen("/etc/fuse.conf", "re");
	char line[256];
	char word[256];
	bool allowed = false;

	if (!conf)
		return false;
	while (!allowed && fgets(line, sizeof line, conf))
		allowed = sscanf(line, "%255s", word) == 1 && !strcmp(word, "user_allow_other");
	(void)fclose(conf);
	return allowed;
}

/* The likely reason why a mount for others did not come about. */
static void explain_others(const struct settings_of_mount *s, struct err *err)
{
	if (err->code == -EIO && owners_shared(s->fs.owners) && getuid() != 0 &&
	    !fuse_conf_allows_others())
		(void)err_set(err, err->code,
			      "%s cannot be mounted with allow_other by an ordinary user: "
			      "/etc/fuse.conf lacks the line user_allow_other",
			      s->fs.mountpoint);
}

/* What programs run in, or what they do not run in. */
static int make_sandbox(const struct settings_of_mount *s, struct sandbox **out, struct err *err)
{
	int r = sandbox_new(s->sandbox, out, err);

	if (r < 0)
		return err_wrap(err, "--sandbox");
	if (!sandbox_is_on(*out))
		log_info("programs of agents run without a sandbox: %s", sandbox_reason(*out));
	return 0;
}

static void stop_serving(void *arg)
{
	fs_stop(arg);
}

static void end_turns(void *arg)
{
	fs_unmounted(arg);
}

/* Mount and serve until the end. ready: for the waiting parent, or -1. */
static int serve(struct settings_of_mount *s, const struct command *self, int ready)
{
	struct err err = { 0 };
	struct sandbox *sandbox = NULL;
	struct store *store = NULL;
	struct fs *fs = NULL;
	int status = STATUS_OK;
	int r = store_open(&s->store, &store, &err);

	if (r < 0)
		return command_fail(self, r == -EBUSY ? STATUS_STORE_BUSY : STATUS_STORE, &err);
	s->fs.store = store;
	r = make_sandbox(s, &sandbox, &err);
	s->fs.sandbox = sandbox;
	if (r == 0 && (r = fs_new(&s->fs, &fs, &err)) < 0)
		explain_others(s, &err);
	if (r == 0)
		r = daemon_watch_signals(stop_serving, fs, &err);
	if (r == 0)
		r = daemon_watch_mount(s->fs.mountpoint, end_turns, fs, &err);
	if (r == 0) {
		if (ready >= 0)
			daemon_ready(ready);
		log_info("mounted at %s, store %s", s->fs.mountpoint, s->store.folder);
		r = fs_serve(fs, &err);
	}
	if (r < 0)
		status = command_fail(self, STATUS_FAILED, &err);
	daemon_ignore_signals();
	fs_free(fs);
	store_close(store);
	sandbox_free(sandbox);
	model_exit();
	return status;
}

static int go(struct settings_of_mount *s, const struct command *self)
{
	struct err err = { 0 };
	int ready = -1;
	int r = check_fuse(&err);

	if (r < 0)
		return command_fail(self, STATUS_NO_FUSE, &err);
	r = mountpoint_resolve(s->fs.mountpoint, &s->mountpoint, &err);
	if (r == 0) {
		s->fs.mountpoint = s->mountpoint.data;
		r = mountpoint_prepare(s->fs.mountpoint, &err);
	}
	if (r < 0)
		return command_fail(self, STATUS_MOUNTPOINT, &err);
	if (resolve_folders(s, &err) < 0)
		return command_fail(self, STATUS_STORE, &err);
	if (resolve_agents(s, &err) < 0)
		return command_fail(self, STATUS_AGENTS, &err);
	if (start_recording(s, &err) < 0 || open_settings(s, self, &err) < 0)
		return command_fail(self, STATUS_FAILED, &err);
	if (s->fs.agents && owners_may_shut_out(s->fs.owners))
		log_warning("users are mapped and the daemon is not root: programs of agents "
			    "cannot enter sessions and contexts of other logins");
	if (!s->foreground)
		ready = daemon_fork(&err);
	if (!s->foreground && ready < 0)
		return command_fail(self, STATUS_FAILED, &err);
	log_init(s->verbose ? LOG_LEVEL_INFO : LOG_LEVEL_WARNING, !s->foreground);
	if (chdir("/") < 0 || model_init(&err) < 0)
		return command_fail(self, STATUS_FAILED, &err);
	daemon_block_signals();
	daemon_allow_files();
	return serve(s, self, ready);
}

static int run(const struct command *self, int argc, char **argv)
{
	struct settings_of_mount s = { 0 };
	struct err err;
	int status;

	if (owners_new(&s.fs.owners, &err) < 0)
		return command_fail(self, STATUS_FAILED, &err);
	status = parse(&s, self, argc, argv);
	if (status == 0)
		status = s.help ? command_help(self) : go(&s, self);
	buf_release(&s.store_folder);
	buf_release(&s.agents);
	buf_release(&s.record);
	buf_release(&s.settings);
	buf_release(&s.mountpoint);
	buf_release(&s.fuse_options);
	owners_free(s.fs.owners);
	return status;
}

const struct command command_mount = {
	.name = "mount",
	.summary = "mount a store of sessions and run their agents",
	.help = "usage: adkfs mount [OPTIONS] MOUNTPOINT\n"
		"\n"
		"Mount a store of agent sessions at MOUNTPOINT, an empty directory. The daemon\n"
		"goes to the background when the mount is there.\n"
		"\n"
		"  --agents DIR       folder of agent folders; each becomes an app\n"
		"                     (default: $XDG_CONFIG_HOME/adkfs/agents, if it is there)\n"
		"  --store DIR        where everything is kept, made if missing\n"
		"                     (default: $XDG_DATA_HOME/adkfs/store)\n"
		"  --engine NAME      rocksdb (default), or memory: nothing is kept\n"
		"  --durability HOW   process (default): what was written survives a crash of the\n"
		"                     daemon; disk: also a power cut, at the price of a sync each\n"
		"  --max-turns N      turns that run at the same time (default 1024)\n"
		"  --threads N        threads that answer the kernel (default two a core, at least "
		"4)\n"
		"  --sandbox HOW      what programs of agents run in: auto (default), bwrap or "
		"none;\n"
		"                     auto is bubblewrap where it is installed and works\n"
		"  --record DIR       record what models are asked and answer, for replay/ models\n"
		"  --settings FILE    keys and other settings of models\n"
		"                     (default: $XDG_CONFIG_HOME/adkfs/models.yaml, if it is "
		"there)\n"
		"  -o OPTIONS         mount options of FUSE, such as allow_other\n"
		"  --map-user NAME=UID[:GID]\n"
		"                     with allow_other: files of the user NAME belong to this "
		"login\n"
		"  --map-users=system with allow_other: user names are logins of this host\n"
		"  -f, --foreground   stay in the foreground, log to standard error\n"
		"  -v, --verbose      log more\n"
		"  -h, --help         this text\n"
		"\n"
		"Exit status: 0 mounted (with -f: ended well); 2 bad option; 3 no usable\n"
		"/dev/fuse; 4 bad mount point; 5 the store cannot be opened; 6 another daemon\n"
		"has the store; 7 bad agents folder; 1 anything else.\n",
	.run = run,
};

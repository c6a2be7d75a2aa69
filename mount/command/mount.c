/*
 * adkfs mount: from the options to a daemon that serves, and its end.
 */
#include "mount/command/mount_options.h"

#include "base/log.h"
#include "fs/tree/owners.h"
#include "mount/daemon.h"
#include "mount/mountpoint.h"
#include "runner/model/init.h"
#include "runner/model/record.h"
#include "runner/model/sections.h"
#include "store/open.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Append $XDG_..._HOME/adkfs/LAST, where $HOME/BELOW_HOME stands for an unset variable. */
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
		return err_set(err, -EINVAL, "neither %s nor HOME is set: use --%s DIR", variable,
			       last);
	return buf_cstr(out) ? 0 : err_nomem(err);
}

/* Append the absolute form of a path, since the daemon leaves its working directory. */
static int absolute_path(const char *path, struct buf *out, struct err *err)
{
	char here[PATH_MAX];

	if (*path && *path != '/') {
		if (!getcwd(here, sizeof here))
			return err_errno(err, -errno, "the working directory");
		buf_printf(out, "%s/", here);
	}
	buf_text(out, path);
	return buf_cstr(out) ? 0 : err_nomem(err);
}

/* Conversions may take long, so whoever waits for the mount is told. */
static void say(const char *sentence)
{
	log_warning("%s", sentence);
}

static int resolve_store(struct mounting *m, struct err *err)
{
	int r = m->store.folder
			? absolute_path(m->store.folder, &m->store_folder, err)
			: xdg_path("XDG_DATA_HOME", ".local/share", "store", &m->store_folder, err);

	m->store.folder = m->store_folder.data;
	m->store.say = say;
	return r;
}

/* Without --agents, the mount has no agents if the usual folder is missing. */
static int resolve_agents(struct mounting *m, struct err *err)
{
	struct buf *folder = &m->agents_folder;
	bool given = m->fs.agents;
	char path[PATH_MAX];
	struct stat st;
	int r = 0;

	if (given)
		buf_text(folder, m->fs.agents);
	else if (xdg_path("XDG_CONFIG_HOME", ".config", "agents", folder, NULL) < 0)
		return 0;
	m->fs.agents = NULL;
	if (!buf_cstr(folder))
		return err_nomem(err);
	if (!realpath(folder->data, path))
		r = -errno;
	else if (stat(path, &st) < 0 || !S_ISDIR(st.st_mode))
		r = -ENOTDIR;
	if (r < 0)
		return given ? err_errno(err, r, "agents folder %s", folder->data) : 0;
	buf_clear(folder);
	buf_text(folder, path);
	m->fs.agents = buf_cstr(folder);
	return m->fs.agents ? 0 : err_nomem(err);
}

static int start_recording(struct mounting *m, struct err *err)
{
	int r;

	if (!m->record || !*m->record)
		return 0;
	r = absolute_path(m->record, &m->record_folder, err);
	if (r == 0)
		r = record_open(m->record_folder.data, err);
	return r < 0 ? err_wrap(err, "--record") : 0;
}

/* An error in the file of --settings ends the command; one in the usual file is printed. */
static int open_settings(struct mounting *m, struct err *err)
{
	bool given = m->settings && *m->settings;
	int r;

	if (given)
		r = absolute_path(m->settings, &m->settings_file, err);
	else if (xdg_path("XDG_CONFIG_HOME", ".config", "models.yaml", &m->settings_file, NULL) < 0)
		return 0;
	else
		r = 0;
	if (r == 0)
		r = model_settings_open(m->settings_file.data, err);
	if (r < 0 && given)
		return err_wrap(err, "--settings");
	if (r < 0 && r != -ENOENT)
		(void)fprintf(stderr, "adkfs %s: the settings file is not used: %s\n",
			      m->self->name, err->text);
	return 0;
}

static int check_fuse(struct err *err)
{
	if (access("/dev/fuse", F_OK) < 0)
		return err_set(err, -ENODEV,
			       "there is no /dev/fuse: load the kernel module "
			       "(modprobe fuse), or give it to the container");
	if (access("/dev/fuse", R_OK | W_OK) < 0)
		return err_set(err, -EACCES, "this user may not open /dev/fuse");
	return 0;
}

/* True if fusermount3 lets ordinary users mount with allow_other. */
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

/* If a mount with allow_other failed, give the likely reason in place of an EIO of FUSE. */
static void explain_others(const struct mounting *m, struct err *err)
{
	if (err->code == -EIO && owners_shared(m->fs.owners) && getuid() != 0 &&
	    !fuse_conf_allows_others())
		(void)err_set(err, err->code,
			      "cannot mount at %s: only root may use allow_other: "
			      "/etc/fuse.conf lacks the line user_allow_other",
			      m->fs.mountpoint);
}

/* Find out what programs can run in, and log if that is no sandbox. */
static int make_sandbox(const struct mounting *m, struct sandbox **out, struct err *err)
{
	int r = sandbox_new(m->sandbox, out, err);

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

/* Mount and serve until the end. ready: the descriptor of daemon_fork(), or -1 in the foreground.
 */
static int serve(struct mounting *m, int ready)
{
	struct err err = { 0 };
	struct sandbox *sandbox = NULL;
	struct store *store = NULL;
	struct fs *fs = NULL;
	int status = STATUS_OK;
	int r = store_open(&m->store, &store, &err);

	if (r < 0)
		return command_fail(m->self, r == -EBUSY ? STATUS_STORE_BUSY : STATUS_STORE, &err);
	m->fs.store = store;
	r = make_sandbox(m, &sandbox, &err);
	m->fs.sandbox = sandbox;
	if (r == 0 && (r = fs_new(&m->fs, &fs, &err)) < 0)
		explain_others(m, &err);
	if (r == 0)
		r = daemon_watch_signals(stop_serving, fs, &err);
	if (r == 0)
		r = daemon_watch_mount(m->fs.mountpoint, end_turns, fs, &err);
	if (r == 0) {
		if (ready >= 0)
			daemon_ready(ready);
		log_info("mounted at %s, store %s", m->fs.mountpoint, m->store.folder);
		r = fs_serve(fs, &err);
	}
	if (r < 0)
		status = command_fail(m->self, STATUS_FAILED, &err);
	daemon_ignore_signals();
	fs_free(fs);
	store_close(store);
	sandbox_free(sandbox);
	model_exit();
	return status;
}

static int start_daemon(struct mounting *m)
{
	struct err err = { 0 };
	int ready = -1;
	int r = check_fuse(&err);

	if (r < 0)
		return command_fail(m->self, STATUS_NO_FUSE, &err);
	r = mountpoint_resolve(m->fs.mountpoint, &m->mountpoint, &err);
	if (r == 0) {
		m->fs.mountpoint = m->mountpoint.data;
		r = mountpoint_prepare(m->fs.mountpoint, &err);
	}
	if (r < 0)
		return command_fail(m->self, STATUS_MOUNTPOINT, &err);
	if (resolve_store(m, &err) < 0)
		return command_fail(m->self, STATUS_STORE, &err);
	if (resolve_agents(m, &err) < 0)
		return command_fail(m->self, STATUS_AGENTS, &err);
	if (start_recording(m, &err) < 0 || open_settings(m, &err) < 0)
		return command_fail(m->self, STATUS_FAILED, &err);
	if (m->fs.agents && owners_may_shut_out(m->fs.owners))
		log_warning("users are mapped and the daemon is not root: programs of agents "
			    "cannot enter sessions and contexts of other logins");
	if (!m->foreground)
		ready = daemon_fork(&err);
	if (!m->foreground && ready < 0)
		return command_fail(m->self, STATUS_FAILED, &err);
	log_init(m->verbose ? LOG_LEVEL_INFO : LOG_LEVEL_WARNING, !m->foreground);
	if (chdir("/") < 0 || model_init(&err) < 0)
		return command_fail(m->self, STATUS_FAILED, &err);
	daemon_block_signals();
	daemon_allow_files();
	return serve(m, ready);
}

int command_mount(const struct command *self, int argc, char **argv)
{
	struct mounting m = { .self = self };
	struct err err;
	int status;

	if (owners_new(&m.fs.owners, &err) < 0)
		return command_fail(self, STATUS_FAILED, &err);
	status = mount_parse(&m, argc, argv);
	if (status == 0)
		status = m.help ? mount_help() : start_daemon(&m);
	buf_release(&m.fuse_options);
	buf_release(&m.mountpoint);
	buf_release(&m.store_folder);
	buf_release(&m.agents_folder);
	buf_release(&m.record_folder);
	buf_release(&m.settings_file);
	owners_free(m.fs.owners);
	return status;
}

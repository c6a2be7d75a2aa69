/*
 * The file system: see fs.h. The callbacks of the runner come first, then start
 * and stop.
 */
#include "fs/fs.h"

#include "base/clock.h"
#include "base/name.h"
#include "fs/draft/scratch.h"
#include "fs/kernel/ops.h"
#include "fs/names/changes.h"
#include "fs/names/context.h"
#include "fs/names/scopes.h"
#include "fs/names/turns.h"
#include "fs/tree/handle.h"
#include "fs/tree/ids.h"
#include "fs/tree/tree.h"
#include "fs/view/view.h"
#include "runner/agent/agents.h"
#include "runner/runner.h"
#include "store/memory/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#define THREADS_MIN 4 /* or two for each core, if that is more */

static void on_progress(void *arg, struct ref session, uint64_t turn_number)
{
	changes_progress(arg, session, turn_number);
}

/* A compaction ended after its writer closed ctl, so .errors reports a failure. */
static void on_compacted(void *arg, struct ref session, const struct err *why)
{
	struct fs *fs = arg;

	if (why) {
		errors_add(&fs->errors, session.session, tree_row_name(&session_dir, ID_CTL), why);
		notify_attributes(&fs->notify, errors_ino(session.session));
	}
	park_wake(&fs->park, session.session);
}

/* Append the name of the directory of members in `dir`, and the name of the scope in there. */
static int add_component(const struct node_type *dir, const char *id, struct buf *out)
{
	buf_printf(out, "/%s/", tree_row_name(dir, ID_MEMBERS));
	return name_encode(span_of(id), NAME_PLAIN, out, NULL);
}

/* The path of a session, for programs that use it through the mount. */
static int session_path(void *arg, struct ref ref, struct buf *out)
{
	struct fs *fs = arg;
	struct scopes scopes;
	int r = scope_stat_all(fs->store, ref, &scopes, NULL);

	buf_text(out, fs->mountpoint);
	if (r == 0)
		r = add_component(&root_dir, scopes.app.id, out);
	if (r == 0)
		r = add_component(&app_dir, scopes.user.id, out);
	if (r == 0)
		r = add_component(&user_dir, scopes.session.id, out);
	return r < 0 ? r : buf_check(out, NULL);
}

/* The path of a program's context. */
static int context_path(void *arg, struct context *c, struct buf *out)
{
	int r = session_path(arg, c->session, out);

	buf_printf(out, "/%s/%llu/%s/", tree_row_name(&session_dir, ID_TURNS),
		   (unsigned long long)c->turn, tree_row_name(&turn_dir, ID_TURN_CONTEXT));
	if (r == 0)
		r = name_encode(span_of(c->name), NAME_PLAIN, out, NULL);
	return r < 0 ? r : buf_check(out, NULL);
}

static bool context_is_shut(void *arg, struct context *c)
{
	return owners_shut_out(arg, c->session);
}

/* Make the app of an agent's folder, if it does not exist. */
static int ensure_app(void *arg, const char *app)
{
	struct fs *fs = arg;
	int r = scope_create(fs->store, (struct ref){ 0 }, app, NULL, NULL, NULL);

	return r == -EEXIST || r == -EINVAL || r == -ENAMETOOLONG ? 0 : r;
}

static int start(struct fs *fs, const struct fs_options *o, struct err *err)
{
	struct runner_options runner = { .store = o->store,
					 .agents = fs->agents,
					 .turns_max = fs->turns_max,
					 .sandbox = fs->sandbox,
					 .hooks = { .progress = on_progress,
						    .compacted = on_compacted,
						    .session_path = session_path,
						    .context_path = context_path,
						    .context_is_shut = context_is_shut,
						    .context_opened = contexts_opened,
						    .context_closed = contexts_closed,
						    .context_saves = contexts_saves,
						    .arg = fs } };
	int r = inodes_init(&fs->inodes, err);

	if (r == 0)
		r = runner_new(&runner, &fs->runner, err);
	if (r == 0)
		r = agents_list(runner_agents(fs->runner), ensure_app, fs, err);
	if (r == 0)
		r = ops_mount(fs, &root_dir, err);
	return r;
}

/* No handler of a request waits, so a few threads are enough; more of them only compete. */
static unsigned usual_threads(void)
{
	long cores = sysconf(_SC_NPROCESSORS_ONLN);

	return cores > 2 ? 2 * (unsigned)cores : THREADS_MIN;
}

int fs_new(const struct fs_options *options, struct fs **out, struct err *err)
{
	struct fs *fs = calloc(1, sizeof *fs);
	int r;

	if (!fs)
		return err_nomem(err);
	fs->store = options->store;
	fs->owners = options->owners;
	fs->sandbox = options->sandbox;
	fs->turns_max = options->turns_max ? options->turns_max : RUNNER_TURNS_MAX;
	fs->mounted = clock_stamp();
	fs->started = clock_now();
	fs->threads = options->threads ? options->threads : usual_threads();
	errors_init(&fs->errors);
	fs->scratch = scratch_new();
	fs->savings = savings_new();
	fs->views = views_new();
	mutex_init(&fs->handles_lock);
	fs->mountpoint = strdup(options->mountpoint);
	fs->agents = options->agents ? strdup(options->agents) : NULL;
	fs->fuse_options = options->fuse_options ? strdup(options->fuse_options) : NULL;
	if (!fs->scratch || !fs->savings || !fs->views || !fs->mountpoint ||
	    (options->agents && !fs->agents) || (options->fuse_options && !fs->fuse_options))
		r = err_nomem(err);
	else
		r = start(fs, options, err);
	if (r < 0) {
		fs_free(fs);
		return r;
	}
	*out = fs;
	return 0;
}

int fs_serve(struct fs *fs, struct err *err)
{
	int r = notify_start(&fs->notify, &fs->inodes, &ops_kernel, fs, err);

	if (r == 0)
		r = park_start(&fs->park, err);
	if (r < 0)
		return r;
	store_watch(fs->store, changes_notify, fs);
	memory_work(fs->store);
	r = runner_recover(fs->runner, err);
	return r < 0 ? r : ops_serve(fs, err);
}

void fs_stop(struct fs *fs)
{
	/* Stop the runner while the mount still serves: programs of turns may wait for the mount.
	 */
	runner_stop(fs->runner);
	ops_exit(fs);
}

void fs_unmounted(struct fs *fs)
{
	/* A sandbox keeps the mount alive: fs_serve() ends when the last sandbox is gone. */
	runner_stop(fs->runner);
}

void fs_free(struct fs *fs)
{
	if (!fs)
		return;
	memory_stop(fs->store);
	park_stop(&fs->park);
	if (fs->runner)
		runner_stop(fs->runner);
	handle_close_all(fs);
	notify_stop(&fs->notify);
	ops_unmount(fs);
	runner_free(fs->runner);
	inodes_release(&fs->inodes);
	errors_release(&fs->errors);
	scratch_free(fs->scratch);
	savings_free(fs->savings);
	views_free(fs->views);
	mutex_release(&fs->handles_lock);
	free(fs->mountpoint);
	free(fs->agents);
	free(fs->fuse_options);
	free(fs);
}

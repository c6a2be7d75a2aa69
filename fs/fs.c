/*
 * The file system as a whole: see fs.h.
 */
#include "fs/fs.h"

#include "base/clock.h"
#include "base/name.h"
#include "fs/kernel/ops.h"
#include "fs/names/context.h"
#include "fs/names/ctl.h"
#include "fs/tree/fs.h"
#include "fs/tree/handle.h"
#include "fs/tree/ids.h"
#include "store/memory/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

/* A turn said something, or ended: sizes, and readers that wait. */
static void on_progress(void *arg, struct ref session, uint64_t turn_number)
{
	struct fs *fs = arg;

	notify_soon(fs, node_ino(session.session, ID_OUTPUT));
	notify_soon(fs, node_ino(turn_number, ID_TURN_OUTPUT));
	notify_soon(fs, node_ino(turn_number, ID_TURN_STREAM));
	park_wake(&fs->park, session.session);
}

static void on_compacted(void *arg, struct ref session, const struct err *why)
{
	struct fs *fs = arg;

	if (why)
		ctl_tell_failure(fs, session, why);
	park_wake(&fs->park, session.session);
}

static int add_component(struct fs *fs, struct ref ref, const char *dir, struct buf *out)
{
	struct scope_info info;
	int r = scope_stat(fs->store, ref, &info, NULL);

	buf_printf(out, "/%s/", dir);
	return r < 0 ? r : name_encode(span_of(info.id), NAME_PLAIN, out, NULL);
}

/* Where a session is, for programs that look at it through the mount. */
static int session_path(void *arg, struct ref session, struct buf *out)
{
	struct fs *fs = arg;
	struct ref user = { session.app, session.user, 0 };
	struct ref app = { session.app, 0, 0 };
	int r;

	buf_text(out, fs->mountpoint);
	r = add_component(fs, app, "apps", out);
	if (r == 0)
		r = add_component(fs, user, "users", out);
	if (r == 0)
		r = add_component(fs, session, "sessions", out);
	return r < 0 ? r : buf_check(out, NULL);
}

/* Where a program finds its context. */
static int context_path(void *arg, struct context *c, struct buf *out)
{
	int r = session_path(arg, c->session, out);

	buf_printf(out, "/turns/%llu/" CONTEXTS_NAME "/", (unsigned long long)c->turn);
	if (r == 0)
		r = name_encode(span_of(c->name), NAME_PLAIN, out, NULL);
	return r < 0 ? r : buf_check(out, NULL);
}

static bool context_is_shut(void *arg, struct context *c)
{
	return owners_shut_out(arg, c->session);
}

/* Every folder with an agent is an app. */
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
					 .progress = on_progress,
					 .compacted = on_compacted,
					 .session_path = session_path,
					 .context_path = context_path,
					 .context_is_shut = context_is_shut,
					 .context_opened = contexts_opened,
					 .context_closed = contexts_closed,
					 .context_saves = contexts_saves,
					 .arg = fs };
	int r = inodes_init(&fs->inodes, err);

	if (r == 0)
		r = runner_new(&runner, &fs->runner, err);
	if (r == 0)
		r = runner_apps(fs->runner, ensure_app, fs, err);
	if (r == 0)
		r = ops_mount(fs, fs->fuse_options, err);
	return r;
}

/* No handler waits, so that a few are enough; more only get in each other's way. */
static unsigned usual_threads(void)
{
	long cores = sysconf(_SC_NPROCESSORS_ONLN);

	return cores > 2 ? 2 * (unsigned)cores : FS_THREADS_MIN;
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
	scratch_init(&fs->scratch);
	savings_init(&fs->savings);
	views_init(&fs->views);
	mutex_init(&fs->handles_lock);
	fs->mountpoint = strdup(options->mountpoint);
	fs->agents = options->agents ? strdup(options->agents) : NULL;
	fs->fuse_options = options->fuse_options ? strdup(options->fuse_options) : NULL;
	if (!fs->mountpoint || (options->agents && !fs->agents) ||
	    (options->fuse_options && !fs->fuse_options))
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
	int r = notify_start(fs, err);

	if (r == 0)
		r = park_start(&fs->park, err);
	if (r < 0)
		return r;
	store_watch(fs->store, notify_change, fs);
	memory_work(fs->store);
	r = runner_recover(fs->runner, err);
	return r < 0 ? r : ops_serve(fs, err);
}

void fs_stop(struct fs *fs)
{
	/* While the mount still serves: programs of turns may be waiting for it. */
	runner_stop(fs->runner);
	ops_exit(fs);
}

void fs_unmounted(struct fs *fs)
{
	/* Sandboxes keep what they show: serving ends when the last of them is gone. */
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
	notify_stop(fs);
	ops_unmount(fs);
	runner_free(fs->runner);
	inodes_release(&fs->inodes);
	errors_release(&fs->errors);
	scratch_release(&fs->scratch);
	savings_release(&fs->savings);
	views_release(&fs->views);
	mutex_release(&fs->handles_lock);
	free(fs->mountpoint);
	free(fs->agents);
	free(fs->fuse_options);
	free(fs);
}

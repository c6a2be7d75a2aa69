/*
 * The agents of a mount: see agents.h.
 */
#include "runner/agent/agents.h"

#include "base/clock.h"
#include "base/thread.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define RETIRE_STACK (256u << 10)

void agents_init(struct agents *all, const char *folder, const struct sandbox *sandbox)
{
	*all = (struct agents){ .folder = folder, .sandbox = sandbox };
	mutex_init(&all->lock);
	cond_init(&all->quiet);
}

/* Retiring */

struct retiring {
	struct agents *all;
	struct agent_tree *tree;
};

static void *retire_tree(void *arg)
{
	struct retiring *r = arg;
	struct agents *all = r->all;

	agent_tree_unref(r->tree);
	free(r);
	mutex_lock(&all->lock);
	all->retiring--;
	cond_wake_all(&all->quiet);
	mutex_unlock(&all->lock);
	return NULL;
}

static int stop_at_server(void *arg UNUSED, struct mcp_server *server UNUSED)
{
	return 1;
}

static bool start_retiring(struct agents *all, struct agent_tree *tree)
{
	struct retiring *r = malloc(sizeof *r);

	if (!r)
		return false;
	*r = (struct retiring){ all, tree };
	mutex_lock(&all->lock);
	all->retiring++;
	mutex_unlock(&all->lock);
	if (thread_start(RETIRE_STACK, retire_tree, r, NULL) == 0)
		return true;
	mutex_lock(&all->lock);
	all->retiring--;
	mutex_unlock(&all->lock);
	free(r);
	return false;
}

void agents_retire(struct agents *all, struct agent_tree *tree)
{
	if (!tree)
		return;
	if (atomic_load(&tree->refs) > 1 || !agent_each_server(tree, stop_at_server, NULL) ||
	    !start_retiring(all, tree))
		agent_tree_unref(tree);
}

/* Stopping */

/* Take one tree, any, out of the cache. NULL: the cache is empty. */
static struct agent_tree *pop_kept(struct agents *all)
{
	struct agent_tree *tree = NULL;

	mutex_lock(&all->lock);
	if (all->count)
		tree = all->list[--all->count].tree;
	mutex_unlock(&all->lock);
	return tree;
}

void agents_stop(struct agents *all)
{
	struct agent_tree *tree;

	while ((tree = pop_kept(all)))
		agents_retire(all, tree); /* side by side */
	mutex_lock(&all->lock);
	while (all->retiring)
		cond_wait(&all->quiet, &all->lock);
	mutex_unlock(&all->lock);
}

void agents_release(struct agents *all)
{
	agents_stop(all);
	cond_release(&all->quiet);
	mutex_release(&all->lock);
}

/* Loading */

int agents_folder(struct agents *all, const char *app, struct buf *out, struct err *err)
{
	CLEANUP(buf_release) struct buf path = { 0 };
	struct stat st;

	if (!all->folder)
		return err_set(err, -ENOENT, "app %s has no agent: the mount has no agents folder",
			       app);
	if (strchr(app, '/') || app[0] == '.')
		return err_set(err, -ENOENT, "app %s has no agent folder", app);
	buf_printf(&path, "%s/%s", all->folder, app);
	if (!buf_cstr(&path))
		return err_nomem(err);
	if (stat(path.data, &st) < 0 || !S_ISDIR(st.st_mode))
		return err_set(err, -ENOENT, "app %s has no agent: there is no folder %s", app,
			       path.data);
	buf_span_add(out, buf_span(&path));
	return buf_check(out, err);
}

/* Find the cached tree of an app, if its files have not changed. One reference; NULL: none. */
static struct agent_tree *find_kept(struct agents *all, const char *app)
{
	struct agent_tree *tree = NULL;
	size_t i;

	mutex_lock(&all->lock);
	for (i = 0; i < all->count && !tree; i++) {
		if (!strcmp(all->list[i].app, app))
			tree = agent_tree_ref(all->list[i].tree);
	}
	mutex_unlock(&all->lock);
	if (!tree || !agent_is_stale(tree))
		return tree;
	agents_retire(all, tree);
	return NULL;
}

static void keep_tree(struct agents *all, const char *app, struct agent_tree *tree)
{
	struct agent_tree *old = NULL;
	size_t i;

	mutex_lock(&all->lock);
	for (i = 0; i < all->count && strcmp(all->list[i].app, app) != 0; i++)
		;
	if (i == AGENTS_MAX)
		i = (size_t)clock_monotonic() % AGENTS_MAX; /* drop any tree to make room */
	if (i < all->count)
		old = all->list[i].tree;
	else
		all->count++;
	(void)snprintf(all->list[i].app, sizeof all->list[i].app, "%s", app);
	all->list[i].tree = agent_tree_ref(tree);
	mutex_unlock(&all->lock);
	agents_retire(all, old);
}

int agents_get(struct agents *all, const char *app, struct agent_tree **out, struct err *err)
{
	CLEANUP(buf_release) struct buf folder = { 0 };
	struct agent_tree *tree = find_kept(all, app);
	int r;

	if (tree) {
		*out = tree;
		return 0;
	}
	r = agents_folder(all, app, &folder, err);
	if (r < 0)
		return r == -ENOENT ? -ENXIO : r;
	if (!buf_cstr(&folder))
		return err_nomem(err);
	r = agent_load(folder.data, &tree, err);
	if (r < 0) {
		err_wrap(err, "agent %s", app);
		return r == -ENOMEM ? r : -ENXIO;
	}
	agent_enclose(tree, all->sandbox, all->folder);
	keep_tree(all, app, tree);
	*out = tree;
	return 0;
}

int agents_list(struct agents *all, agents_fn *fn, void *arg, struct err *err)
{
	struct dirent *entry;
	DIR *dir;
	int r = 0;

	if (!all->folder)
		return 0;
	dir = opendir(all->folder);
	if (!dir)
		return err_errno(err, -errno, "agents folder %s", all->folder);
	while (r == 0 && (entry = readdir(dir))) {
		char path[PATH_MAX];

		if (entry->d_name[0] == '.' ||
		    snprintf(path, sizeof path, "%s/%s/" AGENT_ROOT_FILE, all->folder,
			     entry->d_name) >= (int)sizeof path)
			continue;
		if (access(path, F_OK) == 0)
			r = fn(arg, entry->d_name);
	}
	(void)closedir(dir);
	return r;
}

/*
 * The agents of a mount: a folder that holds one folder for each app.
 *
 * Loaded trees are cached. A tree whose files have changed is loaded again.
 */
#ifndef RUNNER_AGENT_AGENTS_H
#define RUNNER_AGENT_AGENTS_H

#include "base/mutex.h"
#include "runner/agent/agent.h"

#define AGENTS_MAX 256 /* loaded trees in the cache */

struct agents {
	/* fixed, borrowed */
	const char *folder;            /* absolute; NULL: the mount has no agents */
	const struct sandbox *sandbox; /* for MCP servers; NULL: none */

	struct mutex lock;
	struct cond quiet; /* a retired tree was freed */
	struct cached_agent {
		char app[256];
		struct agent_tree *tree;
	} list[AGENTS_MAX] GUARDED_BY(lock);
	size_t count GUARDED_BY(lock);
	unsigned retiring GUARDED_BY(lock); /* threads that end trees */
};

/* Make an empty cache; the caller keeps the folder and the sandbox alive. */
void agents_init(struct agents *all, const char *folder, const struct sandbox *sandbox);

/*
 * Empty the cache, and wait until the servers of unused trees have ended. A later
 * agents_get() loads again. Any thread; blocks.
 */
void agents_stop(struct agents *all);

/* Stop, and free everything. Nobody may use the cache meanwhile. */
void agents_release(struct agents *all);

/*
 * Get the tree of an app's agent, from the cache or loaded now. *out is one reference
 * for the caller. 0; -ENXIO: the app has no agent that loads, err has the reason;
 * -ENOMEM. Any thread; reads files.
 */
MUST_CHECK int agents_get(struct agents *all, const char *app, struct agent_tree **out,
			  struct err *err);

/*
 * Drop a reference, which may be the last. A tree with MCP servers then ends on a
 * thread of its own, since a server may take seconds to end. NULL is fine. Any thread.
 */
void agents_retire(struct agents *all, struct agent_tree *tree);

/* Append the path of an app's folder. 0; -ENOENT: there is no such folder; -ENOMEM. */
MUST_CHECK int agents_folder(struct agents *all, const char *app, struct buf *out, struct err *err);

/*
 * Call fn with the name of each folder that holds an agent. A result other than 0 ends
 * the loop and is returned. 0; -errno: the folder of all agents cannot be read.
 */
typedef int agents_fn(void *arg, const char *app);
MUST_CHECK int agents_list(struct agents *all, agents_fn *fn, void *arg, struct err *err);

#endif

/*
 * The agents of a mount: a folder that holds one folder for each app.
 *
 * Loaded trees are cached, and loaded again when their files have changed.
 */
#ifndef RUNNER_AGENT_AGENTS_H
#define RUNNER_AGENT_AGENTS_H

#include "base/mutex.h"
#include "runner/agent/agent.h"

#define AGENTS_MAX 256 /* loaded trees in the cache */

struct agents {
	const char *folder;            /* absolute; NULL: none. Fixed */
	const struct sandbox *sandbox; /* of MCP servers; NULL: none. Fixed */
	struct mutex lock;
	struct cond quiet; /* a tree has been retired */
	struct cached_agent {
		char app[256];
		struct agent_tree *tree;
	} list[AGENTS_MAX] GUARDED_BY(lock);
	size_t count GUARDED_BY(lock);
	unsigned retiring GUARDED_BY(lock);
};

void agents_init(struct agents *all, const char *folder, const struct sandbox *sandbox);

/*
 * Empty the cache, and wait until the servers of unused trees have ended. Any thread; an agent that
 * is asked for later is loaded again.
 */
void agents_stop(struct agents *all);
void agents_release(struct agents *all);

/* The agent of an app, one reference. -ENXIO with the reason. Any thread. */
MUST_CHECK int agents_get(struct agents *all, const char *app, struct agent_tree **out,
			  struct err *err);

/*
 * Drop a reference that may be the last. Trees with MCP servers end on a thread of
 * their own: a server may take its time. NULL is fine.
 */
void agents_retire(struct agents *all, struct agent_tree *tree);

/* Append the path of an app's folder. -ENOENT: there is none. */
MUST_CHECK int agents_folder(struct agents *all, const char *app, struct buf *out, struct err *err);

/* Names of the folders that hold an agent. Not 0 from fn ends it. */
typedef int agents_fn(void *arg, const char *app);
MUST_CHECK int agents_list(struct agents *all, agents_fn *fn, void *arg, struct err *err);

#endif

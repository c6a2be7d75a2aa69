/*
 * apps/<id>: an application with its agent, its state and its users.
 */
#include "base/json_text.h"
#include "fs/draft/text.h"
#include "fs/names/adkfs.h"
#include "fs/names/scopes.h"
#include "fs/names/state.h"
#include "fs/tree/fs.h"
#include "runner/agent/agents.h"
#include "runner/runner.h"
#include "store/session/scope.h"

#include <errno.h>

static int agent_link(const struct place *at, struct buf *out, struct err *err)
{
	struct scope_info info;
	int r = scope_stat(at->fs->store, at->ref, &info, err);

	return r < 0 ? r : agents_folder(runner_agents(at->fs->runner), info.id, out, err);
}

static int agent_present(const struct place *at)
{
	CLEANUP(buf_release) struct buf folder = { 0 };

	return agent_link(at, &folder, NULL) < 0 ? -ENOENT : 0;
}

static int agent_json_show(const struct place *at, struct buf *out, struct err *err)
{
	struct agent_tree *agent;
	struct scope_info info;
	struct err why;
	int r = scope_stat(at->fs->store, at->ref, &info, err);

	if (r < 0)
		return r;
	r = agents_get(runner_agents(at->fs->runner), info.id, &agent, &why);
	if (r < 0) {
		buf_text(out, "{\"error\":");
		json_quote_lossy(out, span_of(why.text));
		buf_text(out, "}\n");
		return buf_check(out, err);
	}
	r = adkfs_show_json(agent_show(agent), out, err);
	agents_retire(runner_agents(at->fs->runner), agent);
	return r;
}

static const struct node_type app_entries[] = {
	{ .name = "agent",
	  .id = ID_AGENT,
	  .mode = S_IFLNK | 0777,
	  .help = "link to the agent's folder",
	  .present = agent_present,
	  .link = agent_link },
	{ .name = "agent.json",
	  .id = ID_AGENT_JSON,
	  .mode = S_IFREG | 0400,
	  .flags = NODE_VOLATILE | NODE_PUBLIC,
	  .help = "the loaded agent, or why it does not load",
	  .show = agent_json_show },
	{ .name = "state",
	  .id = ID_STATE_DIR,
	  .mode = S_IFDIR | 0700,
	  .flags = NODE_PUBLIC,
	  .news = NEWS_STATE_NAMES,
	  .help = "state that all users of the app share, a JSON value in each file",
	  .members = state_members,
	  .stat = state_dir_stat,
	  .dir = &state_dir_ops },
	{ .name = "state.json",
	  .id = ID_STATE_JSON,
	  .mode = S_IFREG | 0600,
	  .flags = NODE_PUBLIC,
	  .news = NEWS_STATE,
	  .help = "all state values in one JSON object",
	  .stat = state_map_stat,
	  .show = state_map_show,
	  .file = &text_ops,
	  .text = &state_map_rules },
	{ .name = "users",
	  .id = ID_MEMBERS,
	  .mode = S_IFDIR | 0700,
	  .flags = NODE_JOINABLE,
	  .news = NEWS_MEMBERS,
	  .help = "one directory for each user",
	  .members = &user_dir,
	  .stat = scopes_stat,
	  .dir = &scopes_ops },
	{ .name = ".errors",
	  .id = ID_ERRORS,
	  .mode = S_IFREG | 0400,
	  .help = "why recent operations here were refused",
	  .stat = scope_errors_stat,
	  .show = scope_errors_show },
	{ 0 },
};

const struct node_type app_dir = {
	.name = "<app>",
	.id = ID_OBJECT,
	.mode = S_IFDIR | 0700,
	.flags = NODE_PUBLIC,
	.entries = app_entries,
	.stat = scope_dir_stat,
};

/*
 * users/<id>: a user of an app with the user's state, artifacts, memory and
 * sessions.
 */
#include "fs/draft/text.h"
#include "fs/names/artifacts.h"
#include "fs/names/memory.h"
#include "fs/names/scopes.h"
#include "fs/names/state.h"

static const struct node_type user_entries[] = {
	{ .name = "state",
	  .id = ID_STATE_DIR,
	  .mode = S_IFDIR | 0700,
	  .news = NEWS_STATE_NAMES,
	  .help = "state that the user's sessions share, a JSON value in each file",
	  .members = state_members,
	  .stat = state_dir_stat,
	  .dir = &state_dir_ops },
	{ .name = "state.json",
	  .id = ID_STATE_JSON,
	  .mode = S_IFREG | 0600,
	  .news = NEWS_STATE,
	  .help = "all state values in one JSON object",
	  .stat = state_map_stat,
	  .show = state_map_show,
	  .file = &text_ops,
	  .text = &state_map_rules },
	{ .name = "artifacts",
	  .id = ID_ARTIFACTS,
	  .mode = S_IFDIR | 0700,
	  .flags = NODE_SHOWS_ABOVE,
	  .news = NEWS_ARTIFACTS,
	  .help = "the user's files, with all their versions",
	  .entries = artifacts_entries,
	  .members = artifacts_members,
	  .stat = artifacts_top_stat,
	  .dir = &artifacts_ops },
	{ .name = "memory",
	  .id = ID_MEMORY,
	  .mode = S_IFDIR | 0700,
	  .help = "what the user's agents can remember",
	  .entries = memory_entries },
	{ .name = "sessions",
	  .id = ID_MEMBERS,
	  .mode = S_IFDIR | 0700,
	  .news = NEWS_MEMBERS,
	  .help = "one directory for each session; mkdir makes one, rmdir removes it",
	  .members = &session_dir,
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

const struct node_type user_dir = {
	.name = "<user>",
	.id = ID_OBJECT,
	.mode = S_IFDIR | 0700,
	.entries = user_entries,
	.stat = scope_dir_stat,
};

/*
 * users/<id>: what one user has in one app.
 */
#include "fs/names/artifacts.h"
#include "fs/names/memory.h"
#include "fs/names/scopes.h"
#include "fs/names/state.h"

static const struct node_type user_entries[] = {
	STATE_ROWS(0700, 0600, 0, "state of the user, shared by the sessions"),
	ARTIFACTS_ROW("files of the user, kept in versions"),
	MEMORY_ROW,
	SCOPES_ROW("sessions", 0, "one directory a session; mkdir makes one, rmdir removes it"),
	ERRORS_ROW,
	{ 0 },
};

const struct node_type user_dir = {
	.name = "<user>",
	.id = ID_OBJECT,
	.mode = S_IFDIR | 0700,
	.entries = user_entries,
	.stat = scope_dir_stat,
};

/*
 * The root of the mount.
 */
#include "fs/names/adkfs.h"
#include "fs/names/scopes.h"
#include "fs/tree/tree.h"

static int readme_show(const struct place *at, struct buf *out, struct err *err)
{
	(void)at;
	tree_help(out);
	return buf_check(out, err);
}

static const struct node_type root_entries[] = {
	{ .name = "README.md",
	  .id = ID_README,
	  .mode = S_IFREG | 0444,
	  .help = "this text",
	  .show = readme_show },
	{ .name = ".adkfs", .id = ID_ADKFS, .mode = S_IFDIR | 0755, .entries = adkfs_entries },
	SCOPES_ROW("apps", NODE_PUBLIC, "one directory an app"),
	{ 0 },
};

const struct node_type root_dir = {
	.name = "/",
	.mode = S_IFDIR | 0755,
	.entries = root_entries,
};

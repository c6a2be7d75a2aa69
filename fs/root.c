/*
 * The root of the mount, and .adkfs: the daemon itself.
 */
#include "base/clock.h"
#include "fs/mount.h"
#include "fs/scopes.h"
#include "fs/tree.h"

#include <unistd.h>

static int readme_show(const struct place *at, struct buf *out, struct err *err)
{
	(void)at;
	tree_help(out);
	return buf_check(out, err);
}

static int version_show(const struct place *at, struct buf *out, struct err *err)
{
	(void)at;
	buf_text(out, ADKFS_VERSION "\n");
	return buf_check(out, err);
}

static uint64_t count(const struct fs *fs, enum request_kind kind)
{
	return atomic_load(&fs->requests[kind]);
}

static int stats_show(const struct place *at, struct buf *out, struct err *err)
{
	struct fs *fs = at->fs;
	struct runner_stats turns;

	runner_stats(fs->runner, &turns);
	buf_printf(out,
		   "{\"version\":\"%s\",\"pid\":%ld,\"engine\":\"%s\",\"uptimeSeconds\":%lld,"
		   "\"inodes\":%zu,\"parked\":%u,",
		   ADKFS_VERSION, (long)getpid(), store_engine(fs->store),
		   (long long)((clock_now() - fs->started) / USEC_PER_SEC),
		   inodes_count(&fs->inodes), park_count(&fs->park));
	buf_printf(out,
		   "\"requests\":{\"lookup\":%llu,\"read\":%llu,\"write\":%llu,\"other\":%llu},",
		   (unsigned long long)count(fs, REQUEST_LOOKUP),
		   (unsigned long long)count(fs, REQUEST_READ),
		   (unsigned long long)count(fs, REQUEST_WRITE),
		   (unsigned long long)count(fs, REQUEST_OTHER));
	buf_printf(out,
		   "\"turns\":{\"running\":%u,\"waiting\":%u,\"ended\":%llu,\"failed\":%llu},"
		   "\"modelCalls\":%llu,\"toolCalls\":%llu}\n",
		   turns.running, turns.waiting, (unsigned long long)turns.turns,
		   (unsigned long long)turns.failed, (unsigned long long)turns.model_calls,
		   (unsigned long long)turns.tool_calls);
	return buf_check(out, err);
}

static const struct node_type adkfs_entries[] = {
	{ .name = "version",
	  .id = ID_VERSION,
	  .mode = S_IFREG | 0444,
	  .help = "of the daemon",
	  .show = version_show },
	{ .name = "stats.json",
	  .id = ID_STATS,
	  .mode = S_IFREG | 0400,
	  .flags = NODE_VOLATILE,
	  .help = "counts of this moment",
	  .show = stats_show },
	{ 0 },
};

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

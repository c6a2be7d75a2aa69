/*
 * The root of the mount, and its README.md.
 */
#include "fs/names/adkfs.h"
#include "fs/names/calls.h"
#include "fs/names/context.h"
#include "fs/names/scopes.h"
#include "fs/names/turns.h"

/* Append the help line of each row, with the rows of its directories. */
static void help_rows(const struct node_type *rows, const char *path, struct buf *out)
{
	const struct node_type *row;

	for (row = rows; row && row->name; row++) {
		CLEANUP(buf_release) struct buf name = { 0 };

		buf_printf(&name, "%s%s%s", path, row->name, S_ISDIR(row->mode) ? "/" : "");
		if (!buf_cstr(&name))
			continue;
		if (row->help)
			buf_printf(out, "    %-28s %s\n", name.data, row->help);
		if (row->entries)
			help_rows(row->entries, name.data, out);
	}
}

static void help_section(const char *title, const struct node_type *dir, struct buf *out)
{
	buf_printf(out, "\n%s\n\n", title);
	help_rows(dir->entries, "", out);
}

static void show_help(struct buf *out)
{
	buf_text(out,
		 "# adkfs\n\n"
		 "AI agent sessions as files: apps, users and sessions are directories. In a\n"
		 "session's directory:\n\n"
		 "    echo hello > input      say something: a turn starts\n"
		 "    cat output              read the answer, as it comes\n"
		 "    tail -f events.jsonl    watch what happens\n"
		 "    cat .errors             why something was refused\n\n"
		 "`mkdir -p apps/APP/users/USER/sessions/SESSION` starts a session, `rmdir` ends "
		 "it.\nReading never changes anything. adkfs(5) has all of it.\n");
	help_section("## /", &root_dir, out);
	help_section("## apps/APP/", &app_dir, out);
	help_section("## apps/APP/users/USER/", &user_dir, out);
	help_section("## apps/APP/users/USER/sessions/SESSION/", &session_dir, out);
	help_section("## .../turns/N/", &turn_dir, out);
	help_section("## .../turns/N/calls/ID/", &call_dir, out);
	help_section("## .../turns/N/context/CALL/", &context_members[CONTEXT_TOOL], out);
}

static int readme_show(const struct place *at, struct buf *out, struct err *err)
{
	(void)at;
	show_help(out);
	return buf_check(out, err);
}

static const struct node_type root_entries[] = {
	{ .name = "README.md",
	  .id = ID_README,
	  .mode = S_IFREG | 0444,
	  .help = "this text",
	  .show = readme_show },
	{ .name = ".adkfs", .id = ID_ADKFS, .mode = S_IFDIR | 0755, .entries = adkfs_entries },
	{ .name = "apps",
	  .id = ID_MEMBERS,
	  .mode = S_IFDIR | 0700,
	  .flags = NODE_PUBLIC,
	  .news = NEWS_MEMBERS,
	  .help = "one directory for each app",
	  .members = &app_dir,
	  .stat = scopes_stat,
	  .dir = &scopes_ops },
	{ 0 },
};

const struct node_type root_dir = {
	.name = "/",
	.mode = S_IFDIR | 0755,
	.entries = root_entries,
};

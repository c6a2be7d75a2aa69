/*
 * adkfs check-agent
 */
#include "mount/command.h"
#include "runner/agent/agent.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct option options[] = {
	{ "json", no_argument, NULL, 'j' },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

static const char *plural(size_t n)
{
	return n == 1 ? "" : "s";
}

/* Print a line about the agents, and one for each warning. */
static int print_line(const char *folder, const struct agent_tree *tree)
{
	json_auto_t *warnings = agent_warnings(tree);
	const struct agent *root = tree->root;
	size_t tools = 0;
	json_t *warning;
	size_t i;

	if (!warnings)
		return -ENOMEM;
	/* A toolset counts as one tool: only its server knows how many it offers. */
	for (i = 0; i < tree->count; i++)
		tools += tree->agents[i]->tool_count + tree->agents[i]->toolset_count;
	(void)printf("%s: ok: %s (%s), %zu agent%s, %zu tool%s\n", folder, root->name,
		     agent_kind_name(root->kind), tree->count, plural(tree->count), tools,
		     plural(tools));
	json_array_foreach(warnings, i, warning)
	{
		(void)printf("%s: warning: %s\n", folder, json_string_value(warning));
	}
	return 0;
}

static int print_json(const char *folder UNUSED, const struct agent_tree *tree)
{
	json_auto_t *shown = agent_show(tree);

	if (!shown || json_dumpf(shown, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(15)) < 0)
		return -ENOMEM;
	(void)putchar('\n');
	return 0;
}

/* True if the error begins with the name of the folder. */
static bool names_folder(const struct err *err, const char *folder)
{
	size_t len = strlen(folder);

	return !strncmp(err->text, folder, len) && err->text[len] == ':';
}

static enum exit_status check(const struct command *self, const char *folder,
			      int (*print)(const char *, const struct agent_tree *))
{
	CLEANUP(agent_tree_unref_p) struct agent_tree *tree = NULL;
	struct err err = { 0 };
	int r = agent_load(folder, &tree, &err);

	if (r == 0 && print(folder, tree) < 0)
		r = err_nomem(&err);
	if (r == 0)
		return STATUS_OK;
	/* Print the folder outside of err, so that a long name does not cut off the reason. */
	(void)fprintf(stderr, "adkfs %s: %s%s%s\n", self->name,
		      names_folder(&err, folder) ? "" : folder,
		      names_folder(&err, folder) ? "" : ": ", err.text);
	return STATUS_FAILED;
}

static const char help[] =
	"usage: adkfs check-agent [--json] DIR...\n"
	"\n"
	"Load each agent folder as a mount would, with all its files, and print a line\n"
	"about it and its warnings; or the file, line and field that is wrong. No model\n"
	"is asked, no tool and no server is started. Settings come from DIR/.env and the\n"
	"environment.\n"
	"\n"
	"      --json   print the tree of agents, as agent.json in the mount has it\n"
	"  -h, --help   this text\n"
	"\n"
	"Exit status: 0 all of them load; 1 one does not; 2 bad option.\n";

int command_check_agent(const struct command *self, int argc, char **argv)
{
	int (*print)(const char *, const struct agent_tree *) = print_line;
	enum exit_status status = STATUS_OK;
	int id;

	opterr = 0;
	while ((id = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		if (id == 'h')
			return command_help(help);
		if (id == '?')
			return command_usage(self, "there is no option '%s'", argv[optind - 1]);
		print = print_json;
	}
	if (optind == argc)
		return command_usage(self, "the folder to check is missing");
	for (; optind < argc; optind++) {
		if (check(self, argv[optind], print) != STATUS_OK)
			status = STATUS_FAILED;
	}
	if (fflush(stdout) || ferror(stdout))
		return STATUS_FAILED;
	return status;
}

/*
 * The MCP client of adkfs as a program of its own, for trying servers.
 *
 *     mcp_client FOLDER < COMMANDS
 *
 * FOLDER has entry.yaml, the args of an MCPToolset entry. Each line is a command:
 *
 *     list                the tools, one in each line: name, a tab, description
 *     schemas             their parameters, one in each line: name, a tab, JSON
 *     warnings            the tools that were left out, and why
 *     call NAME ARGS      the result, or "error ERRNO: text"
 */
#include "base/net/http.h"
#include "runner/mcp/mcp.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#define ENTRY_MAX (1u << 20)

struct client {
	struct mcp_server *server;
	struct cancel cancel;
};

static void say_error(int r, const struct err *err)
{
	printf("error %s: %s\n", err_name(r), err->text);
}

static int print_tool(void *arg UNUSED, const struct mcp_tool *tool)
{
	printf("%s\t%.60s\n", tool->name, tool->description);
	return 0;
}

static int print_schema(void *arg UNUSED, const struct mcp_tool *tool)
{
	printf("%s\t", tool->name);
	(void)json_dumpf(tool->parameters, stdout, JSON_COMPACT);
	putchar('\n');
	return 0;
}

static void command_list(struct client *c, mcp_tool_fn *print)
{
	struct err err = { 0 };
	int r = mcp_tools(c->server, &c->cancel, print, NULL, &err);

	if (r < 0)
		say_error(r, &err);
}

static void command_warnings(struct client *c)
{
	json_auto_t *warnings = mcp_warnings(c->server);

	(void)json_dumpf(warnings, stdout, JSON_COMPACT);
	putchar('\n');
}

static void command_call(struct client *c, const char *name, const char *args)
{
	CLEANUP(buf_release) struct buf result = { 0 };
	struct err err = { 0 };
	struct mcp_call call = { .tool = name, .args = span_of(args) };
	int r = mcp_call(c->server, &call, &c->cancel, &result, &err);

	if (r < 0)
		say_error(r, &err);
	else
		printf("%.*s\n", (int)result.len, result.data);
}

static void run(struct client *c, char *line)
{
	char *save;
	const char *what = strtok_r(line, " \n", &save);
	const char *name = what ? strtok_r(NULL, " \n", &save) : NULL;
	const char *args = name ? strtok_r(NULL, "\n", &save) : NULL;

	if (!what)
		return;
	if (!strcmp(what, "list"))
		command_list(c, print_tool);
	else if (!strcmp(what, "schemas"))
		command_list(c, print_schema);
	else if (!strcmp(what, "warnings"))
		command_warnings(c);
	else if (!strcmp(what, "call") && name)
		command_call(c, name, args ? args : "");
	else
		printf("what is %s?\n", what);
	(void)fflush(stdout);
}

static int read_entry(const char *folder, struct buf *text)
{
	char path[4096];
	FILE *f;

	(void)snprintf(path, sizeof path, "%s/entry.yaml", folder);
	f = fopen(path, "re");
	if (!f || !buf_reserve(text, ENTRY_MAX))
		return -1;
	text->len = fread(text->data, 1, ENTRY_MAX, f);
	return fclose(f);
}

static int serve(const char *folder, struct client *c, struct err *err)
{
	CLEANUP(buf_release) struct buf text = { 0 };
	CLEANUP(yaml_tree_free_p) struct yaml_tree *tree = NULL;
	CLEANUP(mcp_params_free_p) struct mcp_params *params = NULL;
	char line[65536];
	int r;

	if (read_entry(folder, &text) < 0)
		return err_set(err, -1, "no entry.yaml");
	r = yaml_tree_load(buf_span(&text), "entry.yaml", &tree, err);
	if (r == 0)
		r = mcp_params_read(tree, "args", tree->root, &params, err);
	if (r < 0)
		return r;
	c->server = mcp_server_new(params, folder);
	if (!c->server)
		return err_nomem(err);
	while (fgets(line, sizeof line, stdin))
		run(c, line);
	mcp_server_free(c->server);
	return 0;
}

int main(int argc, char **argv)
{
	struct client client = { 0 };
	struct err err = { 0 };

	if (argc != 2) {
		(void)fprintf(stderr, "usage: mcp_client FOLDER < COMMANDS\n");
		return 2;
	}
	(void)signal(SIGPIPE, SIG_IGN);
	if (http_init(&err) < 0 || cancel_init(&client.cancel, &err) < 0 ||
	    serve(argv[1], &client, &err) < 0) {
		(void)fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	cancel_release(&client.cancel);
	http_exit();
	return 0;
}

/*
 * Trees of agents: files that refer to others, every kind of agent, tools that
 * are no programs, callbacks, schemas.
 */
#include "runner/agent/builtin.h"
#include "tests/unit/runner/agent/agent_folder.h"

#include <signal.h>

#define LLM(name) "name: " name "\ninstruction: i\n"

static void expect_text(const json_t *object, const char *member, const char *want)
{
	const char *text = json_string_value(json_object_get(object, member));

	if (!text || strcmp(text, want) != 0)
		fail_msg("%s is '%s', wanted '%s'", member, text ? text : "-", want);
}

static void expect_warning(const struct agent *root, size_t index, const char *want)
{
	const char *text = json_string_value(json_array_get(root->tree->warnings, index));

	if (!text || strcmp(text, want) != 0)
		fail_msg("warning '%s', wanted '%s'", text ? text : "-", want);
}

/* Kinds and references */

static void test_kinds(void **state UNUSED)
{
	static const struct {
		const char *class;
		enum agent_kind kind;
	} rows[] = {
		{ "LlmAgent", AGENT_LLM },
		{ "''", AGENT_LLM },
		{ "google.adk.agents.llm_agent.LlmAgent", AGENT_LLM },
		{ "SequentialAgent", AGENT_SEQUENTIAL },
		{ "google.adk.agents.SequentialAgent", AGENT_SEQUENTIAL },
		{ "ParallelAgent", AGENT_PARALLEL },
		{ "LoopAgent", AGENT_LOOP },
		{ "agents/program", AGENT_PROGRAM },
		{ "./agents/program", AGENT_PROGRAM },
	};
	size_t i;

	put_program("agents/program");
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct agent *root;
		char yaml[256];

		(void)snprintf(yaml, sizeof yaml, "agent_class: %s\nname: a\n%s", rows[i].class,
			       rows[i].kind == AGENT_LLM ? "model: script/s\ninstruction: i\n"
							 : "");
		root = load(yaml);
		assert_int_equal(root->kind, rows[i].kind);
		drop(root);
	}
#define KINDS                                                                                      \
	": there are LlmAgent, SequentialAgent, ParallelAgent, LoopAgent, and programs by their "  \
	"path"
	expect_error("agent_class: my.Agent\n",
		     "root_agent.yaml:1: agent_class: unknown kind of agent 'my.Agent'" KINDS);
	expect_error("agent_class: google.adk.agents.\n",
		     "root_agent.yaml:1: agent_class: unknown kind of agent ''" KINDS);
	expect_error("agent_class: program\n",
		     "root_agent.yaml:1: agent_class: unknown kind of agent 'program'" KINDS);
	expect_error("agent_class: 5\n", "root_agent.yaml:1: agent_class: must be a text");
	expect_error("name: a\nagent_class: agents/none\n",
		     "root_agent.yaml:2: agent_class: agents/none: No such file or directory");
	expect_error("agent_class: SequentialAgent\nname: a\nmodel: m\n",
		     "root_agent.yaml:3: model: is not a field of SequentialAgent");
	expect_error("agent_class: ParallelAgent\nname: a\nmax_iterations: 1\n",
		     "root_agent.yaml:3: max_iterations: is not a field of ParallelAgent");
	expect_error("agent_class: LoopAgent\nname: a\nmax_iteration: 1\n",
		     "root_agent.yaml:3: max_iteration: unknown field");
	expect_error("agent_class: LoopAgent\n", "root_agent.yaml:1: name: is missing");
	expect_error("agent_class: LoopAgent\nname: a\nmax_iterations: -1\n",
		     "root_agent.yaml:3: max_iterations: must be a whole number from 0 to "
		     "2147483647");
	expect_error("agent_class: LoopAgent\nname: a\nmax_iterations: 1.0\n",
		     "root_agent.yaml:3: max_iterations: must be a whole number from 0 to "
		     "2147483647");
}

static void test_program_agent(void **state UNUSED)
{
	json_auto_t *shown = NULL;
	char path[PATH_MAX + 32];
	struct agent *root;

	put_program("agents/program");
	put_program("agents/guard");
	put("agents/sub.yaml", LLM("sub") "model: script/s\n", 0600);
	root = load("agent_class: agents/program\nname: a\ndescription: d\n"
		    "before_agent_callbacks: [{name: agents/guard}]\n"
		    "sub_agents: [{config_path: agents/sub.yaml}]\n"
		    "args: {x: 0.1}\nmodel: own\nnothing: ~\n");
	(void)snprintf(path, sizeof path, "%s/agents/program", folder);
	assert_string_equal(root->program.path, path);
	assert_string_equal(root->program.args,
			    "{\"args\":{\"x\":0.1},\"model\":\"own\",\"nothing\":null}");
	assert_null(root->model);
	assert_int_equal(root->callbacks[BEFORE_AGENT].count, 1);
	assert_int_equal(root->sub_count, 1);
	shown = agent_show(root->tree);
	expect_text(shown, "agent_class", "agents/program");
	expect_text(json_object_get(shown, "args"), "model", "own");
	drop(root);

	root = load("agent_class: agents/program\nname: a\n");
	assert_null(root->program.args);
	drop(root);
	expect_error("agent_class: agents/program\nname: a\nsub_agents: 5\n",
		     "root_agent.yaml:3: sub_agents: must be a list");
}

static void test_tree(void **state UNUSED)
{
	json_auto_t *shown = NULL;
	const json_t *part;
	const struct agent *loop;
	struct agent *root;

	put("agents/loop.yaml",
	    "agent_class: LoopAgent\nname: loop\nmax_iterations: 3\n"
	    "sub_agents:\n- config_path: ./inner.yaml\n- config_path: ../far.yaml\n",
	    0600);
	put("agents/inner.yaml", LLM("inner") "model: script/own\n", 0600);
	put("far.yaml", LLM("far"), 0600);
	root = load(HEAD "sub_agents:\n- {config_path: agents/loop.yaml, code: ~}\n");
	assert_null(root->parent);
	assert_int_equal(root->sub_count, 1);
	loop = root->subs[0];
	assert_ptr_equal(loop->parent, root);
	assert_ptr_equal(loop->tree, root->tree);
	assert_int_equal(loop->kind, AGENT_LOOP);
	assert_int_equal(loop->max_iterations, 3);
	assert_string_equal(loop->file, "agents/loop.yaml");
	assert_int_equal(loop->sub_count, 2);
	assert_string_equal(loop->subs[0]->model, "script/own");
	assert_string_equal(loop->subs[0]->file, "agents/inner.yaml");
	assert_string_equal(loop->subs[1]->model, "openai/s"); /* of the root */
	assert_string_equal(loop->subs[1]->file, "far.yaml");
	assert_int_equal(root->tree->count, 4);
	assert_ptr_equal(agent_find(root, "far"), loop->subs[1]);
	assert_ptr_equal(agent_find(root, "a"), root);
	assert_null(agent_find(loop->subs[0], "far"));
	assert_null(agent_find(root, "none"));

	shown = agent_show(root->tree);
	part = json_array_get(json_object_get(shown, "sub_agents"), 0);
	expect_text(part, "agent_class", "LoopAgent");
	expect_text(part, "file", "agents/loop.yaml");
	expect_text(json_array_get(json_object_get(part, "sub_agents"), 1), "name", "far");
	drop(root);
}

/* The model: of one above, of the host, of whoever uses the agent as a tool. */
static void test_models(void **state UNUSED)
{
	struct agent *root;

	put("agents/seq.yaml",
	    "agent_class: SequentialAgent\nname: seq\nsub_agents: [{config_path: x.yaml}]\n", 0600);
	put("agents/x.yaml",
	    LLM("x") "tools: [{name: AgentTool, args: {agent: {config_path: y.yaml}}}]\n", 0600);
	put("agents/y.yaml", LLM("y"), 0600);
	root = load(HEAD "sub_agents: [{config_path: agents/seq.yaml}]\n");
	assert_string_equal(agent_find(root, "x")->model, "openai/s");
	assert_null(agent_find(root, "y"));
	assert_string_equal(agent_find(root, "x")->tools[0].agent->model, "openai/s");
	assert_null(root->subs[0]->model);
	drop(root);

	expect_error("agent_class: LoopAgent\nname: a\n"
		     "sub_agents: [{config_path: agents/y.yaml}]\n",
		     "agents/y.yaml:1: model: is missing, and neither an agent above nor "
		     "ADKFS_MODEL names one");
	put(".env", "ADKFS_MODEL=openai/host\n", 0600);
	root = load(
		"agent_class: LoopAgent\nname: a\nsub_agents: [{config_path: agents/y.yaml}]\n");
	assert_string_equal(root->subs[0]->model, "openai/host");
	assert_int_equal(json_array_size(root->tree->warnings), 0);
	drop(root);
	put(".env", "ADKFS_MODEL=m\n", 0600);
	root = load(LLM("a") "sub_agents: [{config_path: agents/y.yaml}]\n");
	assert_string_equal(root->subs[0]->model, "m");
	assert_int_equal(json_array_size(root->tree->warnings), 1);
	drop(root);
	(void)unlink(".env");
	root = load(LLM("a") "model: nobody-2.5\n");
	expect_warning(root, 0,
		       "root_agent.yaml:3: model: the model 'nobody-2.5' is not of the form "
		       "PROVIDER/NAME, such as openai/NAME; docs/models.md lists the providers");
	drop(root);
	root = load(LLM("a") "model: claud/sonnet/5\n");
	expect_warning(root, 0,
		       "root_agent.yaml:3: model: the model 'claud/sonnet/5' has the provider "
		       "'claud', which is not known; docs/models.md lists the providers");
	drop(root);
}

static void test_references(void **state UNUSED)
{
	struct agent *root;

	put("agents/b.yaml", LLM("b"), 0600);
	put("agents/bad.yaml", LLM("bad") "\ntemprature: 1\n", 0600);
	put("agents/up.yaml", LLM("up") "sub_agents:\n  - config_path: ../root_agent.yaml\n", 0600);
	put("agents/twin.yaml", LLM("a"), 0600);
	put("agents/deep.yaml",
	    LLM("deep") "tools:\n- name: AgentTool\n  args:\n    agent: none.yaml\n", 0600);
	(void)unlink("out.yaml");
	assert_int_equal(symlink("/etc/passwd", "out.yaml"), 0);
	(void)unlink("link.yaml");
	assert_int_equal(symlink("agents/b.yaml", "link.yaml"), 0);
	(void)unlink("pipe");
	assert_int_equal(mkfifo("pipe", 0600), 0);

#define SUBS HEAD "sub_agents:\n- config_path: "
#define AT   "root_agent.yaml:5: sub_agents[0].config_path: "
	root = load(SUBS "link.yaml\n");
	assert_string_equal(root->subs[0]->file, "link.yaml");
	drop(root);
	expect_error(HEAD "sub_agents: {}\n", "root_agent.yaml:4: sub_agents: must be a list");
	expect_error(HEAD "sub_agents: [b.yaml]\n",
		     "root_agent.yaml:4: sub_agents[0]: must be {config_path: FILE}");
	expect_error(HEAD "sub_agents: [{}]\n",
		     "root_agent.yaml:4: sub_agents[0].config_path: is missing");
	expect_error(SUBS "5\n", AT "must be a text");
	expect_error(SUBS "''\n", AT "is empty");
	expect_error(HEAD "sub_agents:\n- code: my.agent\n",
		     "root_agent.yaml:5: sub_agents[0].code: names a Python object, which adkfs "
		     "cannot run: use {config_path: FILE}");
	expect_error(SUBS "agents/b.yaml\n  config: x\n",
		     "root_agent.yaml:6: sub_agents[0].config: unknown field");
	expect_error(SUBS "none.yaml\n", AT "none.yaml: No such file or directory");
	expect_error(SUBS "agents\n", AT "agents: is not a regular file");
	expect_error(SUBS "pipe\n", AT "pipe: is not a regular file");
	expect_error(SUBS "/etc/passwd\n",
		     AT "/etc/passwd: must be relative to the agent's folder");
	expect_error(SUBS "../../etc/passwd\n",
		     AT "../../etc/passwd: leads out of the agent's folder");
	expect_error(SUBS "out.yaml\n", AT "out.yaml: leads out of the agent's folder");
	expect_error(SUBS "agents/bad.yaml\n", "agents/bad.yaml:4: temprature: unknown field");
	expect_error(SUBS "agents/deep.yaml\n",
		     "agents/deep.yaml:6: tools[0].args.agent: agents/none.yaml: No such file or "
		     "directory");
	expect_error(SUBS "root_agent.yaml\n",
		     AT "root_agent.yaml refers to this file, which makes a circle");
	expect_error(SUBS "agents/up.yaml\n",
		     "agents/up.yaml:4: sub_agents[0].config_path: root_agent.yaml refers to this "
		     "file, which makes a circle");
	expect_error(SUBS "agents/b.yaml\n- config_path: link.yaml\n",
		     "root_agent.yaml:6: sub_agents[1].config_path: link.yaml is already used by "
		     "root_agent.yaml");
	expect_error(SUBS "agents/twin.yaml\n",
		     "agents/twin.yaml:1: name: the agent in root_agent.yaml is already named a");
	expect_error(HEAD "tools:\n- name: AgentTool\n  args:\n    agent: agents/twin.yaml\n",
		     "agents/twin.yaml:1: name: the agent in root_agent.yaml is already named a");
}

static void put_chain(unsigned n)
{
	char name[32];
	char yaml[128];
	unsigned i;

	for (i = 1; i <= n; i++) {
		(void)snprintf(name, sizeof name, "agents/c%u.yaml", i);
		(void)snprintf(yaml, sizeof yaml,
			       LLM("c%u") "sub_agents:\n%s- config_path: c%u.yaml\n", i,
			       i == n ? "#" : "", i + 1);
		put(name, yaml, 0600);
	}
}

static void test_limits(void **state UNUSED)
{
	const char *yaml = HEAD "sub_agents: [{config_path: agents/c1.yaml}]\n";
	CLEANUP(buf_release) struct buf wide = { 0 };
	char name[32];
	char sub[64];
	unsigned i;

	put_chain(AGENT_DEPTH_MAX - 1);
	drop(load(yaml));
	put_chain(AGENT_DEPTH_MAX);
	expect_error(yaml, "agents/c31.yaml:4: sub_agents[0].config_path: agents are nested more "
			   "than 32 levels deep");

	buf_text(&wide, HEAD "sub_agents:\n");
	for (i = 1; i <= AGENT_TREE_MAX; i++) {
		(void)snprintf(name, sizeof name, "agents/w%u.yaml", i);
		(void)snprintf(sub, sizeof sub, LLM("w%u"), i);
		put(name, sub, 0600);
		if (i == AGENT_TREE_MAX) {
			assert_non_null(buf_cstr(&wide));
			drop(load(wide.data));
		}
		buf_printf(&wide, "- config_path: %s\n", name);
	}
	assert_non_null(buf_cstr(&wide));
	expect_error(wide.data,
		     "root_agent.yaml:260: sub_agents[255].config_path: more than 256 agents");
}

/* Tools */

static void test_builtins(void **state UNUSED)
{
	struct agent *root;

	root = load(HEAD "tools:\n- name: transfer_to_agent\n- name: exit_loop\n"
			 "- name: google.adk.tools.load_memory\n- name: preload_memory\n"
			 "- name: load_artifacts\n- name: set_model_response\n");
	assert_int_equal(root->tool_count, 4);
	assert_int_equal(root->tools[0].kind, TOOL_EXIT_LOOP);
	assert_string_equal(root->tools[0].name, "exit_loop");
	assert_null(root->tools[0].parameters);
	assert_int_equal(root->tool_index[0], 1);
	assert_int_equal(root->tools[1].kind, TOOL_LOAD_MEMORY);
	assert_non_null(root->tools[1].parameters);
	assert_int_equal(root->tools[2].kind, TOOL_PRELOAD_MEMORY);
	assert_int_equal(root->tools[3].kind, TOOL_LOAD_ARTIFACTS);
	assert_int_equal(root->tool_index[3], 4);
	assert_int_equal(json_array_size(root->tree->warnings), 1);
	expect_warning(root, 0,
		       "root_agent.yaml:10: tools[5]: set_model_response is ignored: adkfs adds it "
		       "where it is needed");
	drop(root);

	expect_error(HEAD "tools:\n- name: exit_loop\n  args: {a: 1}\n",
		     "root_agent.yaml:6: tools[0].args: exit_loop takes no args");
	expect_error(HEAD "tools: [{name: exit_loop}, {name: exit_loop}]\n",
		     "root_agent.yaml:4: tools[1].name: another tool is already named exit_loop");
	put_program("tools/t");
	put("tools/t.json", "{\"name\":\"exit_loop\",\"description\":\"d\"}", 0600);
	expect_error(HEAD "tools: [{name: exit_loop}, {name: tools/t}]\n",
		     "root_agent.yaml:4: tools[1].name: another tool is already named exit_loop");
	put("tools/t.json", "{\"name\":\"transfer_to_agent\",\"description\":\"d\"}", 0600);
	expect_error(HEAD "tools: [{name: tools/t}]\n",
		     "root_agent.yaml:4: tools[0].name: transfer_to_agent is reserved for a tool "
		     "of ADK");
	expect_error(
		HEAD "tools: [{name: google_search}]\n",
		"root_agent.yaml:4: tools[0].name: google_search runs only on Google's servers");
	expect_error(HEAD "tools: [{name: google.adk.tools.get_user_choice}]\n",
		     "root_agent.yaml:4: tools[0].name: get_user_choice is Python code, which "
		     "adkfs cannot run");
}

/* Each kind can be had without an entry, for tools that are added where they are needed. */
static void test_builtin_fill(void **state UNUSED)
{
	static const char *const names[] = { "transfer_to_agent", "exit_loop",
					     "load_memory",       "preload_memory",
					     "load_artifacts",    "set_model_response" };
	struct err err = { 0 };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		struct tool tool = { 0 };
		enum tool_kind kind = builtin_find(names[i]);

		assert_int_not_equal(kind, TOOL_PROGRAM);
		assert_int_equal(builtin_fill(kind, &tool, &err), 0);
		assert_int_equal(tool.kind, kind);
		assert_string_equal(tool.name, names[i]);
		assert_true(strlen(tool.description) > 20);
		tool_release(&tool);
	}
	assert_int_equal(builtin_find("none"), TOOL_PROGRAM);
	assert_true(builtin_is_reserved("adk_request_confirmation"));
	assert_false(builtin_is_reserved("exit_loop"));
}

static void test_agent_tool(void **state UNUSED)
{
	json_auto_t *want = NULL;
	json_auto_t *shown = NULL;
	const json_t *part;
	const struct tool *tool;
	struct agent *root;

	put("in.json", "{\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"integer\"}}}", 0600);
	put("agents/b.yaml", LLM("b") "description: does b\n", 0600);
	put("agents/c.yaml", LLM("c") "input_schema: {name: in.json}\n", 0600);
	root = load(HEAD "tools:\n"
			 "- name: AgentTool\n"
			 "  args: {agent: agents/b.yaml, skip_summarization: true}\n"
			 "- name: AgentTool\n"
			 "  args: {agent: {config_path: agents/c.yaml}, include_plugins: false}\n");
	assert_int_equal(root->tool_count, 2);
	assert_int_equal(root->sub_count, 0);
	assert_int_equal(root->tree->count, 3);
	tool = agent_tool(root, "b");
	assert_non_null(tool);
	assert_int_equal(tool->kind, TOOL_AGENT);
	assert_string_equal(tool->description, "does b");
	assert_true(tool->skip_summarization);
	assert_null(tool->agent->parent);
	assert_string_equal(tool->agent->name, "b");
	want = json_loads("{\"type\":\"object\",\"properties\":{\"request\":{\"type\":\"string\"}},"
			  "\"required\":[\"request\"]}",
			  0, NULL);
	assert_true(json_equal(tool->parameters, want));
	tool = agent_tool(root, "c");
	assert_string_equal(tool->description, "");
	assert_false(tool->skip_summarization);
	assert_ptr_equal(tool->parameters, tool->agent->input_schema);
	shown = agent_show(root->tree);
	part = json_array_get(json_object_get(shown, "tools"), 0);
	expect_text(part, "kind", "AgentTool");
	expect_text(json_object_get(part, "agent"), "file", "agents/b.yaml");
	drop(root);

#define AGENT_TOOL HEAD "tools:\n- name: AgentTool\n  args: "
	expect_error(HEAD "tools: [{name: AgentTool}]\n",
		     "root_agent.yaml:4: tools[0].args.agent: is missing");
	expect_error(AGENT_TOOL "{agent: 5}\n",
		     "root_agent.yaml:6: tools[0].args.agent: must be {config_path: FILE}");
	expect_error(AGENT_TOOL "{agent: {code: a.b}}\n",
		     "root_agent.yaml:6: tools[0].args.agent.code: names a Python object, which "
		     "adkfs cannot run: use {config_path: FILE}");
	expect_error(AGENT_TOOL "{agent: agents/b.yaml, skip: true}\n",
		     "root_agent.yaml:6: tools[0].args.skip: unknown field");
	expect_error(AGENT_TOOL "{agent: agents/b.yaml, skip_summarization: 1}\n",
		     "root_agent.yaml:6: tools[0].args.skip_summarization: must be true or false");
	expect_error(AGENT_TOOL "{agent: root_agent.yaml}\n",
		     "root_agent.yaml:6: tools[0].args.agent: root_agent.yaml refers to this file, "
		     "which makes a circle");
	expect_error(HEAD "sub_agents: [{config_path: agents/b.yaml}]\n"
			  "tools:\n- name: AgentTool\n  args: {agent: agents/b.yaml}\n",
		     "root_agent.yaml:4: sub_agents[0].config_path: agents/b.yaml is already used "
		     "by root_agent.yaml");
}

static void test_toolsets(void **state UNUSED)
{
	json_auto_t *shown = NULL;
	const json_t *part;
	struct agent *root;

	(void)mkdir("toolsets", 0700);
	put_program("toolsets/many");
	root = load(HEAD "tools:\n- name: exit_loop\n- name: toolsets/many\n  args: {a: 1}\n"
			 "- name: load_memory\n");
	assert_int_equal(root->tool_count, 2);
	assert_int_equal(root->tool_index[1], 2);
	assert_int_equal(root->toolset_count, 1);
	assert_int_equal(root->toolsets[0].kind, TOOLSET_PROGRAM);
	assert_int_equal(root->toolsets[0].index, 1);
	assert_string_equal(root->toolsets[0].program.args, "{\"a\":1}");
	shown = agent_show(root->tree);
	part = json_array_get(json_object_get(shown, "tools"), 1);
	expect_text(part, "kind", "toolset");
	expect_text(part, "program", "toolsets/many");
	drop(root);

	expect_error(HEAD "tools: [{name: toolsets/none}]\n",
		     "root_agent.yaml:4: tools[0].name: toolsets/none: No such file or directory");
	expect_error(HEAD "tools: [{name: MCPToolset}]\n",
		     "root_agent.yaml:4: tools[0].args: is missing");
}

/* Loading starts no server: the program need not work. */
static void test_servers(void **state UNUSED)
{
	json_auto_t *shown = NULL;
	const json_t *part;
	struct agent *root;

	put_program("tools/rooms");
	root = load(HEAD "tools:\n- name: exit_loop\n- name: MCPToolset\n  args:\n"
			 "    stdio_server_params: {command: ./tools/rooms, env: {KEY: secret}}\n"
			 "    tool_filter: [find_room]\n");
	assert_int_equal(root->tool_count, 1);
	assert_int_equal(root->toolset_count, 1);
	assert_int_equal(root->toolsets[0].kind, TOOLSET_MCP);
	assert_int_equal(root->toolsets[0].index, 1);
	assert_non_null(root->toolsets[0].server);
	shown = agent_show(root->tree);
	part = json_array_get(json_object_get(shown, "tools"), 1);
	expect_text(part, "kind", "McpToolset");
	part = json_object_get(json_object_get(part, "args"), "stdio_server_params");
	expect_text(part, "command", "./tools/rooms");
	assert_string_not_equal(
		json_string_value(json_object_get(json_object_get(part, "env"), "KEY")), "secret");
	drop(root);
	drop(load(HEAD "tools:\n- name: google.adk.tools.mcp_tool.McpToolset\n  args:\n"
		       "    streamable_http_connection_params: {url: 'http://127.0.0.1:9/mcp'}\n"));
}

static int no_tool(void *arg UNUSED, const struct mcp_tool *tool UNUSED)
{
	return -EEXIST;
}

/* Once it is asked a server runs in the folder. */
static void test_server_folder(void **state UNUSED)
{
	struct cancel cancel;
	struct err err = { 0 };
	struct agent *root;
	char where[PATH_MAX] = "";
	FILE *file;

	put("tools/rooms", "#!/bin/sh\npwd > where\n", 0700);
	root = load(HEAD "tools:\n- name: McpToolset\n  args:\n"
			 "    stdio_server_params: {command: ./tools/rooms}\n");
	assert_int_equal(cancel_init(&cancel, &err), 0);
	assert_true(mcp_tools(root->toolsets[0].server, &cancel, no_tool, NULL, &err) < 0);
	drop(root);
	cancel_release(&cancel);
	file = fopen("where", "re");
	assert_non_null(file);
	assert_non_null(fgets(where, sizeof where, file));
	(void)fclose(file);
	where[strcspn(where, "\n")] = 0;
	assert_string_equal(where, folder);
}

/* Callbacks and schemas */

static void test_callbacks(void **state UNUSED)
{
	static const char *const names[CALLBACK_KINDS] = {
		[BEFORE_AGENT] = "before_agent_callbacks", [AFTER_AGENT] = "after_agent_callbacks",
		[BEFORE_MODEL] = "before_model_callbacks", [AFTER_MODEL] = "after_model_callbacks",
		[BEFORE_TOOL] = "before_tool_callbacks",   [AFTER_TOOL] = "after_tool_callbacks",
	};
	char path[PATH_MAX + 32];
	char yaml[256];
	char want[256];
	size_t i;

	put_program("tools/one");
	put_program("tools/two");
	(void)snprintf(path, sizeof path, "%s/tools/two", folder);
	for (i = 0; i < CALLBACK_KINDS; i++) {
		json_auto_t *shown = NULL;
		struct callbacks *list;
		struct agent *root;

		(void)snprintf(yaml, sizeof yaml,
			       HEAD "%s:\n- name: tools/one\n- name: tools/two\n  args: {a: [1]}\n",
			       names[i]);
		root = load(yaml);
		list = &root->callbacks[i];
		assert_int_equal(list->count, 2);
		assert_null(list->list[0].args);
		assert_string_equal(list->list[1].path, path);
		assert_string_equal(list->list[1].args, "{\"a\":[1]}");
		shown = agent_show(root->tree);
		expect_text(json_array_get(json_object_get(shown, names[i]), 1), "name",
			    "tools/two");
		drop(root);
		(void)snprintf(yaml, sizeof yaml, HEAD "%s: {name: tools/one}\n", names[i]);
		(void)snprintf(want, sizeof want, "root_agent.yaml:4: %s: must be a list",
			       names[i]);
		expect_error(yaml, want);
	}
	expect_error(HEAD "after_tool_callbacks:\n- name: tools/one\n- name: guards.check\n",
		     "root_agent.yaml:6: after_tool_callbacks[1].name: guards.check is a Python "
		     "object, which adkfs cannot run: write a program and give its path, such "
		     "as programs/check");
	expect_error(HEAD "after_tool_callbacks:\n- name: tools/one\n  arg: 1\n",
		     "root_agent.yaml:6: after_tool_callbacks[0].arg: unknown field");
	expect_error(HEAD "after_tool_callbacks:\n- name: tools/one\n  args: 1\n",
		     "root_agent.yaml:6: after_tool_callbacks[0].args: must be a mapping");
	expect_error("agent_class: LoopAgent\nname: a\nafter_tool_callbacks: []\n",
		     "root_agent.yaml:3: after_tool_callbacks: is not a field of LoopAgent");
	put("tools/one", "", 0600);
	expect_error(HEAD "before_model_callbacks: [{name: tools/one}]\n",
		     "root_agent.yaml:4: before_model_callbacks[0].name: tools/one: is not "
		     "executable (chmod +x)");
}

static void test_args_limit(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf yaml = { 0 };
	size_t i;

	put_program("tools/one");
	buf_text(&yaml, HEAD "before_agent_callbacks:\n- name: tools/one\n  args: {a: ");
	for (i = 0; i < AGENT_ARGS_MAX; i++)
		buf_char(&yaml, 'x');
	buf_text(&yaml, "}\n");
	assert_non_null(buf_cstr(&yaml));
	expect_error(yaml.data,
		     "root_agent.yaml:6: before_agent_callbacks[0].args: has more than 65536 "
		     "bytes");
}

static void test_schemas(void **state UNUSED)
{
	static const struct {
		const char *json;
		const char *want;
	} rows[] = {
		{ "{\n\"type\":", "s.json:2: unexpected token near end of file" },
		{ "[]", "s.json:1: must be a schema with \"type\": \"object\"" },
		{ "{\n\"type\":\"array\"}", "s.json:2: type: must be a schema with \"type\": "
					    "\"object\"" },
		{ "{\"type\":\"object\",\n\"properties\":{\n\"a\":{\n\t\"type\":\"strng\"}}}",
		  "s.json:4: properties.a.type: there is no type 'strng'" },
		{ "{\"type\":\"object\",\n\"properties\":{\n\"a\":5}}",
		  "s.json:3: properties.a: must be a schema" },
		{ "{\"type\":\"object\",\"properties\":[]}",
		  "s.json:1: properties: must be an object of schemas" },
		{ "{\"type\":\"object\",\"required\":\"a\"}",
		  "s.json:1: required: must be a list of texts" },
		{ "{\"type\":\"object\",\"anyOf\":[{},\n{\"enum\":[]}]}",
		  "s.json:2: anyOf[1].enum: must be a list that is not empty" },
		{ "{\"type\":\"object\",\"properties\":{\"a\":{\"$ref\":\"#/$defs/x\"}}}",
		  "s.json:1: properties.a.$ref: the schema has no #/$defs/x" },
		{ "{\"type\":\"object\",\"$defs\":{\"x\":{\"minLength\":-1}}}",
		  "s.json:1: $defs.x.minLength: must be a number of at least 0" },
		{ "{\"type\":\"object\",\"not\":{\"items\":{\"type\":[\"string\",1]}}}",
		  "s.json:1: not.items.type: must be a text or a list of texts" },
		{ "{\"type\":\"object\",\"properties\":{\"a\":{\"pattern\":1}}}",
		  "s.json:1: properties.a.pattern: must be a text" },
	};
	struct agent *root;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		put("s.json", rows[i].json, 0600);
		expect_error(HEAD "output_schema: {name: s.json}\n", rows[i].want);
	}
	put("s.json",
	    "{\"type\":\"OBJECT\",\"title\":\"S\",\"additionalProperties\":false,"
	    "\"properties\":{\"a\":{\"$ref\":\"#/$defs/x\"},"
	    "\"b\":{\"type\":[\"string\",\"null\"],\"enum\":[null,\"v\"]},"
	    "\"c\":{\"items\":{\"anyOf\":[true,{\"const\":1}]}}},"
	    "\"required\":[\"a\"],\"$defs\":{\"x\":{\"type\":\"integer\",\"minimum\":0}}}",
	    0600);
	root = load(HEAD
		    "input_schema: {name: s.json}\noutput_schema: {name: ./s.json, args: ~}\n");
	assert_true(json_equal(root->input_schema, root->output_schema));
	assert_non_null(json_object_get(root->input_schema, "title"));
	drop(root);
	expect_error(HEAD "output_schema: s.json\n",
		     "root_agent.yaml:4: output_schema: must be a mapping with a name");
	expect_error(HEAD "output_schema:\n  name: s.json\n  args: {a: 1}\n",
		     "root_agent.yaml:6: output_schema.args: s.json takes no args");
	expect_error(HEAD "output_schema:\n  name: my.Model\n",
		     "root_agent.yaml:5: output_schema.name: my.Model: No such file or directory");
	expect_error(HEAD "output_schema:\n  name: ../s.json\n",
		     "root_agent.yaml:5: output_schema.name: ../s.json: No such file or directory");
}

/* Settings, other people's files, changes */

static void test_compaction(void **state UNUSED)
{
	struct agent *root;

	root = load(HEAD);
	assert_int_equal(root->tree->compaction_interval, 0);
	drop(root);
	put(".env", "ADKFS_COMPACTION_INTERVAL=20\nADKFS_COMPACTION_OVERLAP=2\n", 0600);
	root = load(HEAD);
	assert_int_equal(root->tree->compaction_interval, 20);
	assert_int_equal(root->tree->compaction_overlap, 2);
	drop(root);
	put(".env", "ADKFS_COMPACTION_INTERVAL=100001\n", 0600);
	expect_error(HEAD, "ADKFS_COMPACTION_INTERVAL: must be a number from 0 to 100000");
	put(".env", "ADKFS_COMPACTION_OVERLAP=' 1'\n", 0600);
	expect_error(HEAD, "ADKFS_COMPACTION_OVERLAP: must be a number from 0 to 100000");
	(void)unlink(".env");
}

/* A workflow agent that has nobody. */
static void test_empty(void **state UNUSED)
{
	struct agent *root = load("agent_class: ParallelAgent\nname: a\nsub_agents: []\n");

	expect_warning(root, 0, "root_agent.yaml:3: sub_agents: is empty: a does nothing");
	drop(root);
}

/* A tool whose parameters would let anything pass. */
static void test_parameters(void **state UNUSED)
{
	struct agent *root;

	put_program("tools/t");
	put("tools/t.json",
	    "{\"description\":\"d\",\"parameters\":{\"type\":\"object\",\"properties\":"
	    "{\"city\":{\"type\":\"sting\"}}}}",
	    0600);
	root = load(HEAD "tools:\n- name: tools/t\n");
	expect_warning(
		root, 0,
		"root_agent.yaml:5: tools[0]: tools/t.json: parameters.properties.city.type: "
		"there is no type 'sting'");
	drop(root);
}

static void test_python_folder(void **state UNUSED)
{
	put("__init__.py", "from . import agent\n", 0600);
	put("tools.py", "def roll(): pass\n", 0600);
	drop(load(HEAD));
	expect_error(HEAD "tools: [{name: my_app.tools.roll}]\n",
		     "root_agent.yaml:4: tools[0].name: my_app.tools.roll is a Python object, "
		     "which adkfs cannot run: write a program and give its path, such as "
		     "programs/roll");
	expect_error(HEAD "tools: [{name: tools.roll}]\n",
		     "root_agent.yaml:4: tools[0].name: tools.roll is a Python object, which adkfs "
		     "cannot run: write a program and give its path, such as programs/roll");
	expect_error(HEAD "tools: [{name: tools.py}]\n",
		     "root_agent.yaml:4: tools[0].name: tools.py: is not executable (chmod +x)");
}

/* Every file that was read counts. */
static void test_tree_stale(void **state UNUSED)
{
	static const char *const names[] = { "agents/b.yaml", "agents/c.yaml", "s.json" };
	struct agent *root;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		put("s.json", "{\"type\":\"object\"}", 0600);
		put("agents/b.yaml", LLM("b"), 0600);
		put("agents/c.yaml", LLM("c") "output_schema: {name: s.json}\n", 0600);
		root = load(HEAD "sub_agents: [{config_path: agents/b.yaml}]\n"
				 "tools: [{name: AgentTool, args: {agent: agents/c.yaml}}]\n");
		assert_false(agent_is_stale(root->tree));
		put(names[i], "# changed\n", 0600);
		assert_true(agent_is_stale(root->tree));
		(void)unlink(names[i]);
		assert_true(agent_is_stale(root->tree));
		drop(root);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kinds),         cmocka_unit_test(test_program_agent),
		cmocka_unit_test(test_tree),          cmocka_unit_test(test_models),
		cmocka_unit_test(test_references),    cmocka_unit_test(test_limits),
		cmocka_unit_test(test_builtins),      cmocka_unit_test(test_builtin_fill),
		cmocka_unit_test(test_agent_tool),    cmocka_unit_test(test_toolsets),
		cmocka_unit_test(test_servers),       cmocka_unit_test(test_server_folder),
		cmocka_unit_test(test_callbacks),     cmocka_unit_test(test_args_limit),
		cmocka_unit_test(test_schemas),       cmocka_unit_test(test_compaction),
		cmocka_unit_test(test_empty),         cmocka_unit_test(test_parameters),
		cmocka_unit_test(test_python_folder), cmocka_unit_test(test_tree_stale),
	};

	(void)signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, set_up, tear_down);
}

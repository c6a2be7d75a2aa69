/*
 * Agents: what a folder has to hold, and the errors that say what is wrong.
 */
#include "tests/unit/runner/agent/agent_folder.h"

static void test_least(void **state UNUSED)
{
	struct agent *agent = load(HEAD);

	assert_string_equal(agent->name, "a");
	assert_string_equal(agent->model, "openai/s");
	assert_string_equal(agent->instruction, "i");
	assert_null(agent->description);
	assert_null(agent->static_instruction);
	assert_null(agent->output_key);
	assert_null(agent->config);
	assert_false(agent->no_history);
	assert_int_equal(agent->tool_count, 0);
	assert_string_equal(agent->tree->folder, folder);
	assert_non_null(agent->tree->settings);
	assert_int_equal(json_array_size(agent->tree->warnings), 0);
	assert_true(agent->tree->mtime > 0);
	agent_tree_unref(agent_tree_ref(agent->tree));
	agent_tree_unref(agent->tree);
	agent_tree_unref(NULL);
}

static void test_all_fields(void **state UNUSED)
{
	json_auto_t *want = NULL;
	struct agent *agent;

	put("tools/t", "#!/bin/sh\n", 0700);
	put("tools/t.json",
	    "{\"description\":\"d\",\"parameters\":{\"type\":\"OBJECT\"},"
	    "\"responseSchema\":{},\"isLongRunning\":true,\"requireConfirmation\":true,"
	    "\"network\":true}",
	    0600);
	agent = load("agent_class: google.adk.agents.LlmAgent\n" HEAD "description: what it does\n"
		     "static_instruction: {role: user, parts: [{text: one}, {text: two}]}\n"
		     "output_key: user:answer\n"
		     "include_contents: none\n"
		     "disallow_transfer_to_parent: yes\n"
		     "sub_agents: []\n"
		     "before_agent_callbacks: ~\n"
		     "generate_content_config:\n"
		     "  temperature: 0.2\n"
		     "  topK: 5\n"
		     "  max_output_tokens: 100\n"
		     "  seed: ~\n"
		     "  stop_sequences: [x]\n"
		     "  thinking_config: {thinking_budget: 0, include_thoughts: true}\n"
		     "  labels: {my_label: a_b}\n"
		     "  http_options: {extra_body: {a_b: 1}, time_out: 3}\n"
		     "tools:\n"
		     "  - name: tools/t\n"
		     "    args: {unit_name: c, n: 0.1}\n");

	assert_string_equal(agent->description, "what it does");
	assert_int_equal(agent->static_instruction->count, 2);
	assert_true(span_is(buf_span(&agent->static_instruction->parts[1].text), "two"));
	assert_true(agent->no_parent);
	assert_false(agent->no_peers);
	assert_string_equal(agent->output_key, "user:answer");
	assert_true(agent->no_history);
	want = json_loads("{\"temperature\":0.2,\"topK\":5,\"maxOutputTokens\":100,"
			  "\"stopSequences\":[\"x\"],\"thinkingConfig\":{\"thinkingBudget\":0,"
			  "\"includeThoughts\":true},\"labels\":{\"my_label\":\"a_b\"},"
			  "\"httpOptions\":{\"extraBody\":{\"a_b\":1},\"timeOut\":3}}",
			  0, NULL);
	assert_true(json_equal(agent->config, want));

	assert_int_equal(agent->tool_count, 1);
	assert_string_equal(agent->tools[0].name, "t");
	assert_string_equal(agent->tools[0].description, "d");
	assert_string_equal(agent->tools[0].program.args, "{\"unit_name\":\"c\",\"n\":0.1}");
	assert_true(agent->tools[0].long_running);
	assert_true(agent->tools[0].confirm);
	assert_true(agent->tools[0].program.network);
	assert_non_null(agent->tools[0].parameters);
	assert_non_null(agent->tools[0].response);
	assert_ptr_equal(agent_tool(agent, "t"), &agent->tools[0]);
	assert_null(agent_tool(agent, "u"));
	drop(agent);
}

static void test_show(void **state UNUSED)
{
	json_auto_t *shown = NULL;
	json_t *tool;
	struct agent *agent;

	put("tools/t", "#!/bin/sh\n", 0700);
	put("tools/t.json", "{\"name\":\"tee\",\"description\":\"d\"}", 0600);
	agent = load(HEAD "tools: [{name: tools/t, args: {a: 1}}]\n");
	shown = agent_show(agent->tree);
	assert_non_null(shown);
	assert_string_equal(json_string_value(json_object_get(shown, "agent_class")), "LlmAgent");
	assert_string_equal(json_string_value(json_object_get(shown, "model")), "openai/s");
	assert_null(json_object_get(shown, "description"));
	tool = json_array_get(json_object_get(shown, "tools"), 0);
	assert_string_equal(json_string_value(json_object_get(tool, "name")), "tee");
	assert_string_equal(json_string_value(json_object_get(tool, "program")), "tools/t");
	assert_true(json_is_object(json_object_get(tool, "args")));
	assert_int_equal(json_array_size(json_object_get(shown, "warnings")), 0);
	drop(agent);
}

static void test_missing(void **state UNUSED)
{
	struct agent_tree *tree = NULL;
	struct err err = { 0 };

	(void)unlink("root_agent.yaml");
	expect_error_of(-ENOENT, "root_agent.yaml: No such file or directory");
	assert_int_equal(agent_load("/nowhere", &tree, &err), -ENOENT);
	assert_int_equal(agent_load("/etc/passwd", &tree, &err), -ENOTDIR);
	assert_int_equal(mkdir("root_agent.yaml", 0700), 0);
	expect_error_of(-EINVAL, "root_agent.yaml: is not a regular file");
	assert_int_equal(rmdir("root_agent.yaml"), 0);
	assert_int_equal(mkfifo("root_agent.yaml", 0600), 0);
	expect_error_of(-EINVAL, "root_agent.yaml: is not a regular file");
}

#define NO_MODEL(line)                                                                             \
	"root_agent.yaml:" #line ": model: is missing, and neither an agent above nor "            \
	"ADKFS_MODEL names one"

static void test_fields(void **state UNUSED)
{
	expect_error("", "root_agent.yaml:1: must be a mapping of fields");
	expect_error("- a\n", "root_agent.yaml:1: must be a mapping of fields");
	expect_error("name: [\n", "root_agent.yaml:2: did not find expected node content while "
				  "parsing a flow node");
	expect_error("model: m\ninstruction: i\n", "root_agent.yaml:1: name: is missing");
	expect_error("name: a\ninstruction: i\n", NO_MODEL(1));
	expect_error("name: a\nmodel:\ninstruction: i\n", NO_MODEL(2));
	expect_error("name: a\nmodel: m\n", "root_agent.yaml:1: instruction: is missing");
	expect_error(HEAD "instructions: x\n", "root_agent.yaml:4: instructions: unknown field");
	expect_error(HEAD "max_iterations: 3\n",
		     "root_agent.yaml:4: max_iterations: is not a field of LlmAgent");
	expect_error(HEAD "description: 5\n", "root_agent.yaml:4: description: must be a text");
	expect_error("name: on\n", "root_agent.yaml:1: name: must be a text");
	expect_error("name: a-b\n", "root_agent.yaml:1: name: 'a-b' must be a letter or _, then "
				    "letters, digits, _");
	expect_error("name: user\n", "root_agent.yaml:1: name: 'user' is reserved for the person "
				     "who talks to the agent");
	expect_error("name: a\nmodel: ''\n", "root_agent.yaml:2: model: is empty");
	expect_error(HEAD "output_key: 'app:'\n", "root_agent.yaml:4: output_key: the state key "
						  "'app:' is empty after its prefix");
	expect_error(HEAD "include_contents: all\n",
		     "root_agent.yaml:4: include_contents: must be default or none");
	expect_error(HEAD "static_instruction:\n  - a\n  - inline_data: {data: '&'}\n",
		     "root_agent.yaml:6: static_instruction[1]: inlineData: data: bad "
		     "base64");
	expect_error(HEAD "static_instruction:\n  parts:\n  - 5\n",
		     "root_agent.yaml:6: static_instruction.parts[0]: must be a text or a part");
	expect_error(HEAD "static_instruction: 5\n",
		     "root_agent.yaml:4: static_instruction: must be a text or a part");
	expect_error(HEAD "static_instruction: {txt: a}\n",
		     "root_agent.yaml:4: static_instruction: unknown key 'txt'");
	expect_error(HEAD "static_instruction: {parts: [], rle: a}\n",
		     "root_agent.yaml:4: static_instruction: content: unknown key 'rle'");
	expect_error(HEAD "disallow_transfer_to_peers: 1\n",
		     "root_agent.yaml:4: disallow_transfer_to_peers: must be true or false");
	expect_error(HEAD "model_code: {name: x}\n",
		     "root_agent.yaml:4: model_code: names a Python "
		     "object, which adkfs cannot run");
}

static void test_config(void **state UNUSED)
{
	const char *at = HEAD "generate_content_config:\n  ";
	static const struct {
		const char *yaml;
		const char *want;
	} rows[] = {
		{ "temprature: 1", "temprature: unknown option" },
		{ "temperature: hot", "temperature: must be a number" },
		{ "max_output_tokens: 1.5", "max_output_tokens: must be an integer" },
		{ "stop_sequences: x", "stop_sequences: must be a list of texts" },
		{ "stop_sequences: [1]", "stop_sequences: must be a list of texts" },
		{ "top_p: 1\n  topP: 1", "topP: is set twice" },
		{ "tools: []", "tools: belongs in the field tools" },
		{ "system_instruction: x", "system_instruction: belongs in the field instruction" },
		{ "response_schema: {}", "response_schema: belongs in the field output_schema" },
	};
	char yaml[256];
	char want[256];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		(void)snprintf(yaml, sizeof yaml, "%s%s\n", at, rows[i].yaml);
		(void)snprintf(want, sizeof want, "root_agent.yaml:%d: generate_content_config.%s",
			       strchr(rows[i].yaml, '\n') ? 6 : 5, rows[i].want);
		expect_error(yaml, want);
	}
	expect_error(HEAD "generate_content_config: 5\n",
		     "root_agent.yaml:4: generate_content_config: must be a mapping");
}

static void test_tools(void **state UNUSED)
{
	put("tools/t", "#!/bin/sh\n", 0700);
	put("tools/t.json", "{\"description\":\"d\"}", 0600);
	put("plain", "text", 0600);
	put("lonely", "#!/bin/sh\n", 0700);
	(void)unlink("away");
	assert_int_equal(symlink("/bin/sh", "away"), 0);

	expect_error(HEAD "tools: {}\n", "root_agent.yaml:4: tools: must be a list");
	expect_error(HEAD "tools: [tools/t]\n",
		     "root_agent.yaml:4: tools[0]: must be a mapping with a name");
	expect_error(HEAD "tools:\n- {}\n", "root_agent.yaml:5: tools[0].name: is missing");
	expect_error(HEAD "tools:\n- name: tools/t\n- name: tools/t\n  arg: 1\n",
		     "root_agent.yaml:7: tools[1].arg: unknown field");
	expect_error(HEAD "tools:\n- name: tools/t\n- name: tools/t\n",
		     "root_agent.yaml:6: tools[1].name: another tool is already named t");
	expect_error(HEAD "tools:\n- name: tools/t\n  args: [1]\n",
		     "root_agent.yaml:6: tools[0].args: must be a mapping");
	expect_error(HEAD "tools: [{name: tools/none}]\n", "root_agent.yaml:4: tools[0].name: "
							   "tools/none: No such file or directory");
	expect_error(HEAD "tools: [{name: roll}]\n",
		     "root_agent.yaml:4: tools[0].name: 'roll' is neither a built-in nor a program "
		     "in the folder");
	expect_error(HEAD "tools: [{name: my.mod.fn}]\n",
		     "root_agent.yaml:4: tools[0].name: my.mod.fn is a Python object, which adkfs "
		     "cannot run: write a program and give its path, such as programs/fn");
	expect_error(HEAD "tools: [{name: /bin/sh}]\n",
		     "root_agent.yaml:4: tools[0].name: /bin/sh: "
		     "must be relative to the agent's folder");
	expect_error(HEAD "tools: [{name: ../../bin/sh}]\n",
		     "root_agent.yaml:4: tools[0].name: ../../bin/sh: leads out of the agent's "
		     "folder");
	expect_error(HEAD "tools: [{name: away}]\n",
		     "root_agent.yaml:4: tools[0].name: away: leads "
		     "out of the agent's folder");
	expect_error(HEAD "tools: [{name: tools}]\n",
		     "root_agent.yaml:4: tools[0].name: tools: is not a regular file");
	expect_error(HEAD "tools: [{name: plain}]\n",
		     "root_agent.yaml:4: tools[0].name: plain: is not executable (chmod +x)");
	expect_error(HEAD "tools: [{name: lonely}]\n",
		     "root_agent.yaml:4: tools[0].name: its declaration lonely.json: No such file "
		     "or directory");
}

static void test_declarations(void **state UNUSED)
{
	static const struct {
		const char *json;
		const char *want;
	} rows[] = {
		{ "{", "tools/t.json:1: string or '}' expected near end of file" },
		{ "[]", "tools/t.json:1: must be an object" },
		{ "{\"description\":\"a\",\n\"description\":\"b\"}",
		  "tools/t.json:2: duplicate object key near '\"description\"'" },
		{ "{}", "tools/t.json:1: description: is missing" },
		{ "{\"description\":\"\"}", "tools/t.json:1: description: is empty" },
		{ "{\"description\":\"d\",\"params\":{}}",
		  "tools/t.json:1: params: unknown member" },
		{ "{\"description\":\"d\",\"name\":\"1x\"}",
		  "tools/t.json:1: name: '1x' must be a letter or _, then letters, digits, _ . "
		  "-, "
		  "at most 64" },
		{ "{\"description\":\"d\",\"parameters\":{}}",
		  "tools/t.json:1: parameters: must be a schema with \"type\": \"object\"" },
		{ "{\"description\":\"d\",\"responseSchema\":5}",
		  "tools/t.json:1: responseSchema: must be a schema" },
		{ "{\"description\":\"d\",\"isLongRunning\":1}",
		  "tools/t.json:1: isLongRunning: must be true or false" },
		{ "{\"description\":\"d\",\n\"requireConfirmation\":1}",
		  "tools/t.json:2: requireConfirmation: must be true or false" },
		{ "{\n\"description\":\"d\",\n\t\"network\":1}",
		  "tools/t.json:3: network: must be true or false" },
	};
	size_t i;

	put("tools/t", "#!/bin/sh\n", 0700);
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		put("tools/t.json", rows[i].json, 0600);
		expect_error(HEAD "tools: [{name: tools/t}]\n", rows[i].want);
	}
}

static void test_settings(void **state UNUSED)
{
	struct agent *agent;

	put(".env", "ADKFS_TOOL_TIMEOUT_MS=1500\nA_KEY=secret\n", 0600);
	agent = load(HEAD);
	assert_string_equal(settings_get(agent->tree->settings, "A_KEY"), "secret");
	assert_int_equal(agent->tree->tool_timeout_ms, 1500);
	drop(agent);
	put(".env", "ADKFS_TOOL_TIMEOUT_MS=soon\n", 0600);
	expect_error(HEAD, "ADKFS_TOOL_TIMEOUT_MS: must be a number from 1 to 86400000");
	(void)unlink(".env");
}

/* Every file that was read counts, and the one that was not there. */
static void test_stale(void **state UNUSED)
{
	static const char *const names[] = { "root_agent.yaml", "tools/t.json", ".env" };
	const char *yaml = HEAD "tools: [{name: tools/t}]\n";
	struct agent *agent;
	size_t i;

	put("tools/t", "#!/bin/sh\n", 0700);
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		put("tools/t.json", "{\"description\":\"d\"}", 0600);
		(void)unlink(".env");
		agent = load(yaml);
		assert_false(agent_is_stale(agent->tree));
		put("tools/t", "#!/bin/sh\n:\n", 0700);
		assert_false(agent_is_stale(agent->tree));
		put(names[i], "# changed\n", 0600);
		assert_true(agent_is_stale(agent->tree));
		(void)unlink(names[i]);
		assert_int_equal(agent_is_stale(agent->tree), strcmp(names[i], ".env") != 0);
		drop(agent);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_least),    cmocka_unit_test(test_all_fields),
		cmocka_unit_test(test_show),     cmocka_unit_test(test_missing),
		cmocka_unit_test(test_fields),   cmocka_unit_test(test_config),
		cmocka_unit_test(test_tools),    cmocka_unit_test(test_declarations),
		cmocka_unit_test(test_settings), cmocka_unit_test(test_stale),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}

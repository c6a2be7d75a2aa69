# Agents that consist of several files: agent.json, adkfs check-agent, changes, errors.
load lib/mount
bats_require_minimum_version 1.5.0

# tree [NAME]: an app whose agent has others below it. The root answers what it is told.
tree() {
	A=$AGENTS/${1:-tree}
	mkdir -p "$A"/{agents,tools,toolsets,guards,schemas}
	cp "$AGENTS/echo/script.yaml" "$A"
	cat > "$A/root_agent.yaml" <<-'YAML'
		name: concierge
		model: script/script.yaml
		description: Answers guests.
		instruction: Say it back.
		sub_agents:
		- config_path: agents/billing.yaml
		tools:
		- name: tools/clock
		  args: {zone: UTC}
		- name: toolsets/rooms
		- name: load_memory
		- name: AgentTool
		  args:
		    agent: {config_path: agents/translator.yaml}
		    skip_summarization: true
		before_tool_callbacks:
		- name: guards/weekend
	YAML
	cat > "$A/agents/billing.yaml" <<-'YAML'
		agent_class: SequentialAgent
		name: billing
		sub_agents:
		- config_path: invoice.yaml
		- config_path: ../refund.yaml
	YAML
	printf 'name: invoice\ninstruction: i\n' > "$A/agents/invoice.yaml"
	printf 'agent_class: guards/weekend\nname: refund\nlimit: 5\n' > "$A/refund.yaml"
	printf '%s\n' 'name: translator' 'instruction: i' 'model: openai/gpt-5-mini' \
		'output_schema: {name: schemas/words.json}' > "$A/agents/translator.yaml"
	echo '{"type": "object", "properties": {"words": {"type": "string"}}}' > "$A/schemas/words.json"
	echo '{"description": "The time."}' > "$A/tools/clock.json"
	printf '#!/bin/sh\n' | tee "$A/tools/clock" > "$A/guards/weekend"
	printf '#!/bin/sh\necho "[]"\n' > "$A/toolsets/rooms"
	chmod +x "$A/tools/clock" "$A/toolsets/rooms" "$A/guards/weekend"
}

# shown FILTER...: of agent.json, once it is that
shown() {
	eventually 10 jq -e "$@" "$MNT/apps/tree/agent.json" > /dev/null || {
		cat "$MNT/apps/tree/agent.json"
		return 1
	}
}

@test "agent.json shows the whole tree" {
	tree
	session tree
	shown '.name == "concierge" and .agent_class == "LlmAgent" and .file == "root_agent.yaml"'
	shown --arg folder "$A" '.folder == $folder and .warnings == []'
	shown '[.tools[].kind] == ["program", "toolset", "built-in", "AgentTool"]'
	shown '.tools[0] | .name == "clock" and .program == "tools/clock" and .args.zone == "UTC"'
	shown '.tools[3] | .name == "translator" and .skip_summarization and
		.agent.model == "openai/gpt-5-mini" and .agent.output_schema.properties.words'
	shown '.before_tool_callbacks == [{name: "guards/weekend"}]'
	shown '.sub_agents[0] | .agent_class == "SequentialAgent" and .file == "agents/billing.yaml"'
	shown '.sub_agents[0].sub_agents[0] | .name == "invoice" and .model == "script/script.yaml"'
	shown '.sub_agents[0].sub_agents[1] | .agent_class == "guards/weekend" and .args.limit == 5'
	say hi
	same 'you said hi' "$(cat output)"
}

@test "a change of any file is seen by the next turn" {
	tree
	session tree
	say hi
	sed -i 's/name: invoice/name: bills/' "$A/agents/invoice.yaml"
	shown '.sub_agents[0].sub_agents[0].name == "bills"'
	echo '{"type": "object", "required": ["words"]}' > "$A/schemas/words.json"
	shown '.tools[3].agent.output_schema.required == ["words"]'
	sed -i 's/The time./The hour./' "$A/tools/clock.json"
	shown '.tools[0].description == "The hour."'
	echo ADKFS_MODEL=script/other > "$A/.env"
	sed -i /^model:/d "$A/root_agent.yaml"
	shown '.model == "script/other" and .sub_agents[0].sub_agents[0].model == "script/other"'
	echo ADKFS_MODEL=script/script.yaml > "$A/.env"
	say again
	same 'you said again' "$(cat output)"
}

@test "a file below the root that breaks: ENXIO with its name and line, until it is right" {
	tree
	session tree
	say hi
	echo 'temprature: 1' >> "$A/agents/invoice.yaml"
	refused ENXIO bash -c 'echo hi > input'
	tail -n 1 .errors | jq -e '.errno == "ENXIO" and
		(.error | test("agents/invoice.yaml:3: temprature: unknown field"))'
	shown '.error | test("agents/invoice.yaml:3: ")'
	rm "$A/agents/invoice.yaml"
	refused ENXIO bash -c 'echo hi > input'
	tail -n 1 .errors | jq -e '.error | test("agents/billing.yaml:4: sub_agents\\[0\\].config_path: ")'
	printf 'name: invoice\ninstruction: i\n' > "$A/agents/invoice.yaml"
	say back
	same 'you said back' "$(cat output)"
}

@test "no path leads out of the folder, and no agent contains itself" {
	tree
	session tree
	printf 'name: spy\ninstruction: i\n' > "$AGENTS/spy.yaml"
	sed -i 's,agents/billing.yaml,../spy.yaml,' "$A/root_agent.yaml"
	refused ENXIO bash -c 'echo hi > input'
	tail -n 1 .errors | jq -e '.error | test("root_agent.yaml:6: .*leads out of the agent")'
	ln -s ../spy.yaml "$A/inside.yaml"
	sed -i 's,: ../spy.yaml,: inside.yaml,' "$A/root_agent.yaml"
	refused ENXIO bash -c 'echo hi > input'
	tail -n 1 .errors | jq -e '.error | test("root_agent.yaml:6: .*leads out of the agent")'
	sed -i 's,inside.yaml,agents/billing.yaml,' "$A/root_agent.yaml"
	sed -i 's,invoice.yaml,../root_agent.yaml,' "$A/agents/billing.yaml"
	refused ENXIO bash -c 'echo hi > input'
	tail -n 1 .errors | jq -e '.error | test("agents/billing.yaml:4: .*circle")'
}

@test "a root that is a workflow loads, and so does a folder with Python in it" {
	tree
	printf '%s\n' 'agent_class: google.adk.agents.LoopAgent' 'name: round' 'max_iterations: 2' \
		'sub_agents: [{config_path: agents/translator.yaml}]' > "$A/root_agent.yaml"
	echo 'from . import agent' > "$A/__init__.py"
	echo 'def roll(): pass' > "$A/tools.py"
	session tree
	shown '.agent_class == "LoopAgent" and .max_iterations == 2 and .sub_agents[0].name == "translator"'
	printf 'tools:\n- name: tools.roll\n' >> "$A/agents/translator.yaml"
	shown '.error | test("agents/translator.yaml:6: tools\\[0\\].name: tools.roll is a Python object")'
}

@test "check-agent: a line for each folder, the errors of the others on standard error" {
	tree
	same "$A: ok: concierge (LlmAgent), 5 agents, 4 tools" "$("$ADKFS" check-agent "$A")"
	run --separate-stderr "$ADKFS" check-agent "$AGENTS/echo" "$AGENTS/broken" "$A"
	same 1 "$status"
	same "$AGENTS/echo: ok: echo (LlmAgent), 1 agent, 0 tools" "${lines[0]}"
	same "$A: ok: concierge (LlmAgent), 5 agents, 4 tools" "${lines[1]}"
	same "adkfs check-agent: $AGENTS/broken: root_agent.yaml:4: instrucktion: unknown field" "$stderr"
	echo '- name: set_model_response' >> "$A/refund.yaml"
	run --separate-stderr "$ADKFS" check-agent "$A"
	same 1 "$status"
	[[ $stderr == *"$A: refund.yaml:4: "* ]]
	[ -z "$output" ]
}

@test "a field that a provider cannot use is a warning before the first turn" {
	mkdir -p "$TMP/a"
	printf '%s\n' 'name: a' 'instruction: hi' 'model: openai/gpt-5' 'generate_content_config: {topK: 3}' \
		> "$TMP/a/root_agent.yaml"
	run env -u OPENAI_API_KEY "$ADKFS" check-agent "$TMP/a"
	same 0 "$status"
	[[ ${lines[1]} == "$TMP/a: warning: root_agent.yaml:3: model: generate_content_config: topK: cannot be sent to openai" ]]
	sed -i /generate/d "$TMP/a/root_agent.yaml"
	run env -u OPENAI_API_KEY "$ADKFS" check-agent "$TMP/a"
	same 0 "$status"
	same 1 "${#lines[@]}"
}

@test "a missing or bad script is a warning until it is mended" {
	mkdir -p "$TMP/a"
	printf '%s\n' 'name: a' 'instruction: hi' 'model: script/a.yaml' > "$TMP/a/root_agent.yaml"
	run "$ADKFS" check-agent "$TMP/a"
	same 0 "$status"
	[[ ${lines[1]} == "$TMP/a: warning: root_agent.yaml:3: model: a.yaml: No such file"* ]]
	echo '- txt: hello' > "$TMP/a/a.yaml"
	run "$ADKFS" check-agent "$TMP/a"
	[[ ${lines[1]} == "$TMP/a: warning: root_agent.yaml:3: model: a.yaml:1: "*"txt"* ]]
	cp -r "$TMP/a" "$AGENTS/a"
	session a
	jq -e '.warnings | length == 1' "$MNT/apps/a/agent.json"
	echo '- text: hello' > "$AGENTS/a/a.yaml"
	eventually 20 jq -e '.warnings == []' "$MNT/apps/a/agent.json"
}

@test "check-agent: warnings, --json, settings, and a path that is no folder" {
	tree
	sed -i 's/^model: .*/model: nobody-2.5/' "$A/root_agent.yaml"
	run "$ADKFS" check-agent "$A"
	same 0 "$status"
	[[ ${lines[1]} == "$A: warning: root_agent.yaml:2: model: the model 'nobody-2.5'"* ]]
	"$ADKFS" check-agent --json "$A" > "$TMP/json"
	session tree
	same "$(jq -S . "$TMP/json")" "$(jq -S . "$MNT/apps/tree/agent.json")"
	sed -i /^model:/d "$A/root_agent.yaml"
	run "$ADKFS" check-agent "$A"
	same 1 "$status"
	[[ $output == *"root_agent.yaml:1: model: is missing"* ]]
	ADKFS_MODEL=script/x "$ADKFS" check-agent --json "$A" | jq -e '.model == "script/x"'
	for what in "$TMP/none" /etc/passwd "$TMP"; do
		run "$ADKFS" check-agent "$what"
		same 1 "$status"
		[[ $output == "adkfs check-agent: $what: "* ]]
	done
	run "$ADKFS" check-agent
	same 2 "$status"
	run "$ADKFS" check-agent --yaml "$A"
	same 2 "$status"
}

@test "agent.json shows numbers with a fraction as they were written" {
	mkdir -p "$AGENTS/fractions"/{toolsets,tools}
	cd "$AGENTS/fractions"
	cat > root_agent.yaml <<-'E'
		name: fractions
		model: script/rules.yaml
		instruction: Go.
		generate_content_config: {temperature: 0.2, top_p: 0.95}
		output_schema: {name: answer.json}
		before_model_callbacks: [{name: tools/keep}]
		tools: [{name: toolsets/one}]
	E
	echo '[{when: {tool: .}, text: "{\"n\": 0.7}"}, {calls: [{name: rate, args: {by: 0.3}}]}]' > rules.yaml
	echo '{"type": "object", "properties": {"n": {"type": "number", "multipleOf": 0.1}}}' > answer.json
	cat > toolsets/one <<-'E'
		#!/bin/sh
		echo '[{"name": "rate", "description": "d", "program": "tools/rate", "args": {"rate": 0.1},
			"parameters": {"type": "object", "properties": {"by": {"enum": [0.1, 0.2]}}}}]'
	E
	printf '#!/bin/sh\necho "$ADK_ARGS"\n' > tools/rate
	printf '#!/bin/sh\ncat > "$ADK_CONTEXT/artifacts/request.json"\n' > tools/keep
	chmod +x toolsets/one tools/*
	"$ADKFS" check-agent --json . > "$TMP/checked"
	session fractions
	diff "$TMP/checked" "$MNT/apps/fractions/agent.json"
	grep -q '"temperature": 0.2,$' "$TMP/checked"
	say go
	same '{"error":"by: must be one of [0.1,0.2]"}' "$(cat turns/1/calls/*/response.json)"
	sed -i 's/by: 0.3/by: 0.1/' "$AGENTS/fractions/rules.yaml"
	say go
	same '{"rate":0.1}' "$(cat turns/2/calls/*/response.json)"
	not grep '[0-9]\{12\}' artifacts/request.json
}

# Agents as tools of other agents.
load lib/mount
load lib/agents

@test "an agent as a tool: its answer, its state, and nothing of its own in the log" {
	llm tool root_agent.yaml boss
	cat >> "$AGENTS/tool/root_agent.yaml" <<-'E'
		tools:
		  - name: AgentTool
		    args: {agent: {config_path: clerk.yaml}}
	E
	llm tool clerk.yaml clerk "description: writes" "output_key: note"
	rules tool boss <<-'E'
		- when: {tool: clerk}
		  text: "clerk: ${result.result}"
		- calls: [{name: clerk, args: {request: please write}}]
	E
	rules tool clerk <<-'E'
		- when: {user: '^please write$'}
		  text: written
	E
	session tool
	say hi
	same "user|hi
boss|calls clerk
boss|gets {\"result\":\"written\"}
boss|clerk: written" "$(story)"
	same '"written"' "$(cat state/note.json)"
	same clerk "$(jq -r 'select(.actions.stateDelta.note == "written") | .content.parts[0].functionResponse.name' events.jsonl)"
	same 3 "$(jq .total.modelCalls usage.json)" # those of the clerk count
}

@test "an agent as a tool answers with its last words, though an event without words follows" {
	llm at root_agent.yaml boss "tools:" "  - {name: AgentTool, args: {agent: clerk.yaml}}"
	llm at clerk.yaml clerk "after_agent_callbacks: [{name: after}]" "output_schema: {name: n.json}"
	agent_file at n.json <<< '{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}'
	agent_file at after <<< $'#!/bin/sh\necho \'{"parts":[{"text":"[] and words"}]}\''
	rules at boss <<-'E'
		- when: {tool: clerk}
		  text: ${result}
		- calls: [{name: clerk, args: {request: r}}]
	E
	rules at clerk <<< '[{text: "{\"n\":1}"}]'
	session at
	say go
	same '{"result":"[] and words"}' "$(cat output)" # words of a callback are not checked
	agent_file at after <<< $'#!/bin/sh\necho \'{"parts":[{"text":"[]"}]}\''
	say go
	same '{"result":"[]"}' "$(cat output)"
	agent_file at after <<< $'#!/bin/sh\nexit 0'
	say go
	same '{"n":1}' "$(cat output)"
}

@test "agents as tools: nested deep, with transfers, failures, temp: keys of their own, calls counted" {
	llm d root_agent.yaml a0 "tools: [{name: AgentTool, args: {agent: a1.yaml}}]"
	for i in $(seq 1 17); do
		llm d "a$i.yaml" "a$i" "tools: [{name: AgentTool, args: {agent: a$((i + 1)).yaml}}]"
	done
	llm d a18.yaml a18
	for i in $(seq 0 17); do
		rules d "a$i" <<-E
			- when: {tool: a}
			  text: "\${result}"
			- calls: [{name: a$((i + 1)), args: {request: go}}]
		E
	done
	rules d a18 <<< '[{text: deep}]'
	session d
	say go
	grep -q 'agents call each other more than 16 deep' output
	llm e root_agent.yaml boss "tools:" "  - {name: AgentTool, args: {agent: clerk.yaml}}" \
		"  - {name: AgentTool, args: {agent: broken.yaml}}"
	llm e clerk.yaml clerk "sub_agents: [{config_path: helper.yaml}]"
	llm e helper.yaml helper "output_key: 'temp:h'"
	llm e broken.yaml broken
	rules e boss <<-'E'
		- when: {tool: .}
		  text: ${result}
		- when: {user: broken}
		  calls: [{name: broken, args: {request: r}}]
		- calls: [{name: clerk, args: {request: r}}]
	E
	rules e clerk <<< '[{calls: [{name: transfer_to_agent, args: {agent_name: helper}}]}]'
	rules e helper <<< '[{text: from the helper}]'
	rules e broken <<< '[{error: {code: SAFETY, message: not me}}]'
	session e
	say hi
	same '{"result":"from the helper"}' "$(cat output)"
	same 4 "$(jq .total.modelCalls usage.json)"
	not grep -q temp: events.jsonl
	say broken
	same '{"error":"agent broken failed: not me"}' "$(cat output)"
	same done "$(cat turns/2/status)"
}

@test "an agent as a tool sees and replaces the state that the callback before it has set" {
	llm o root_agent.yaml boss "tools: [{name: AgentTool, args: {agent: clerk.yaml}}]"
	llm o clerk.yaml clerk "input_schema: {name: in.json}" "output_key: said"
	agent_file o in.json <<< '{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}'
	rules o boss <<-'E'
		- when: {tool: clerk, result: error}
		  text: "${result.error}"
		- when: {tool: clerk}
		  text: "${result.result}"
		- when: {user: bad}
		  calls: [{name: clerk, args: {n: x}}]
		- calls: [{name: clerk, args: {n: 5}}]
	E
	rules o clerk <<-'E'
		- when: {user: '^[{]"n":5[}]$'}
		  text: five
	E
	session o
	say go
	same five "$(cat output)"
	say bad
	same 'n: must be an integer, not a string' "$(cat output)"
}

@test "a long-running call in an agent that is a tool: its model hears that no answer can come" {
	llm a root_agent.yaml boss "tools: [{name: AgentTool, args: {agent: clerk.yaml}}]"
	rules a boss <<-'E'
		- when: {tool: clerk}
		  text: "${result.result}"
		- calls: [{name: clerk, args: {request: r}}]
	E
	llm a clerk.yaml clerk "tools: [{name: tools/ask}]"
	rules a clerk <<-'E'
		- when: {tool: ask, result: error}
		  text: "${result.error}"
		- when: {tool: ask}
		  text: "it says ${result.status}"
		- calls: [{name: ask}]
	E
	tool a ask '{"description":"asks","isLongRunning":true}' <<< $'#!/bin/sh\necho 1 > "$ADK_CONTEXT/state/asked.json"'
	session a
	say go
	same 'ask has no result yet, and an agent that is called as a tool cannot wait for one' "$(cat output)"
	same 'idle' "$(cat status)"
	same 1 "$(cat state/asked.json)" # it did what it did
	# One that says something meanwhile is an ordinary result.
	tool a ask '{"description":"asks","isLongRunning":true}' <<< $'#!/bin/sh\necho \'{"status":"opened"}\''
	say go
	same 'it says opened' "$(cat output)"
}

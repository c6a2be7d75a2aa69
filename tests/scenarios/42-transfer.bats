# Transfers: an agent hands the conversation over to another one.
load lib/mount
load lib/agents

transfers() {
	llm trans root_agent.yaml desk "description: the front desk" \
		"sub_agents: [{config_path: billing.yaml}, {config_path: tech.yaml}]"
	llm trans billing.yaml billing "description: bills"
	llm trans tech.yaml tech "description: machines" "disallow_transfer_to_parent: true" \
		"disallow_transfer_to_peers: true"
	rules trans desk <<-'E'
		- when: {user: '^my bill'}
		  calls: [{name: transfer_to_agent, args: {agent_name: billing}}]
		- when: {user: '^a machine'}
		  calls: [{name: transfer_to_agent, args: {agent_name: tech}}]
		- when: {user: '^nobody'}
		  calls: [{name: transfer_to_agent, args: {agent_name: ghost}}]
		- when: {tool: transfer_to_agent, result: 'not found'}
		  text: ${result.error}
		- text: desk here
	E
	rules trans billing <<-'E'
		- when: {user: 'back'}
		  calls: [{name: transfer_to_agent, args: {agent_name: desk}}]
		- when: {user: 'machine'}
		  calls: [{name: transfer_to_agent, args: {agent_name: tech}}]
		- text: billing here
	E
	rules trans tech <<< '[{text: tech here}]'
	session trans
}

@test "transfer: to a child, which keeps the conversation, to a peer, and back to the parent" {
	transfers
	say 'my bill'
	same "desk|calls transfer_to_agent
desk|gets {\"result\":null}
billing|billing here" "$(story | tail -n 3)"
	same billing "$(jq -r '.actions.transferToAgent // empty' events.jsonl)"
	say 'and now'
	same "billing|billing here" "$(story | tail -n 1)"
	same billing "$(cat turns/2/agent)"
	say 'a machine'
	same "tech|tech here" "$(story | tail -n 1)"
	say 'more'
	same "billing|billing here" "$(story | tail -n 1)" # tech does not keep it
	say 'back'
	same "desk|desk here" "$(story | tail -n 1)"
	say 'nobody'
	same "Agent 'ghost' not found. Available agents: billing, tech" "$(cat output)"
	same 1 "$(jq -r .invocationId turns/1/events.jsonl | sort -u | wc -l)"
}

@test "transfer: a tool transfers by actions.json, only to agents that may be transferred to" {
	transfers
	tool trans hand '{"description":"hand over"}' <<-'E'
		#!/bin/sh
		echo 1 > "$ADK_CONTEXT/state/handed.json"
		jq -c '{transferToAgent: .to}' > "$ADK_CONTEXT/actions.json"
	E
	echo 'tools: [{name: tools/hand}]' >> "$AGENTS/trans/root_agent.yaml"
	rules trans desk <<-'E'
		- when: {tool: '.'}
		  text: ${result}
		- when: {user: '^to (\w+)'}
		  calls: [{name: hand, args: {to: "$1"}}]
	E
	say 'to nobody'
	same done "$(cat turns/1/status)"
	same "{\"error\":\"Agent 'nobody' not found. Available agents: billing, tech\"}" "$(cat output)"
	same '{}' "$(cat state.json)"
	not grep -q transferToAgent events.jsonl
	say 'to tech'
	same "tech here" "$(cat output)"
	same 1 "$(cat state/handed.json)"
}

@test "transfer: the model is told to which agents it may transfer" {
	transfers
	agent_file trans dump <<-'E'
		#!/bin/sh
		cat > "$ADKFS_SESSION/artifacts/request.json"
	E
	echo 'before_model_callbacks: [{name: dump}]' >> "$AGENTS/trans/billing.yaml"
	say 'my bill'
	jq -r .config.systemInstruction artifacts/request.json > "$TMP/system"
	grep -q '^You are billing.$' "$TMP/system"
	grep -q 'Agent name: desk' "$TMP/system"
	grep -q 'Agent description: machines' "$TMP/system"
	same transfer_to_agent "$(jq -r '.config.tools[0].functionDeclarations[].name' artifacts/request.json)"
	jq -e '[.contents[].parts[].text] | index("[desk] called tool `transfer_to_agent` with parameters: {\"agent_name\":\"billing\"}")' \
		artifacts/request.json
}

@test "transfers without end are ended by the limit of model calls" {
	llm pp root_agent.yaml ping "sub_agents: [{config_path: pong.yaml}]"
	llm pp pong.yaml pong
	rules pp ping <<< '[{calls: [{name: transfer_to_agent, args: {agent_name: pong}}]}]'
	rules pp pong <<< '[{calls: [{name: transfer_to_agent, args: {agent_name: ping}}]}]'
	workflow par root_agent.yaml both Parallel ping ping2
	for i in '' 2; do
		llm par "ping$i.yaml" "ping$i" "sub_agents: [{config_path: pong$i.yaml}]"
		llm par "pong$i.yaml" "pong$i"
		rules par "ping$i" <<< "[{calls: [{name: transfer_to_agent, args: {agent_name: pong$i}}]}]"
		rules par "pong$i" <<< "[{calls: [{name: transfer_to_agent, args: {agent_name: ping$i}}]}]"
	done
	for app in pp par; do
		session $app
		say go
		same "failed 1" "$(cat status)"
		same MAX_LLM_CALLS "$(jq -r '.errorCode // empty' events.jsonl)"
		same 500 "$(jq .total.modelCalls usage.json)"
	done
}

@test "after a transfer: callbacks of the agents that transferred come last, the last first" {
	for a in one two three; do
		agent_file cb "after_$a" <<< $'#!/bin/sh\n'"echo '{\"parts\":[{\"text\":\"$a is done\"}]}'"
	done
	agent_file cb before_three <<< $'#!/bin/sh\ngrep -q three || exit 1'
	llm cb root_agent.yaml one "sub_agents: [{config_path: two.yaml}]" "after_agent_callbacks: [{name: after_one}]"
	llm cb two.yaml two "sub_agents: [{config_path: three.yaml}]" "after_agent_callbacks: [{name: after_two}]"
	llm cb three.yaml three "after_agent_callbacks: [{name: after_three}]" \
		"before_agent_callbacks: [{name: before_three}]"
	rules cb one <<< '[{calls: [{name: transfer_to_agent, args: {agent_name: two}}]}]'
	rules cb two <<< '[{calls: [{name: transfer_to_agent, args: {agent_name: three}}]}]'
	rules cb three <<< '[{text: at last}]'
	session cb
	say go
	same "at last
three is done
two is done
one is done" "$(cat output)"
	# One that is answered for by its before_agent has no after_agent; the others have.
	agent_file cb before_three <<< $'#!/bin/sh\necho \'{"parts":[{"text":"closed"}]}\''
	session cb ann s2
	say go
	same "closed
two is done
one is done" "$(cat output)"
}

@test "several transfers in one answer: the last counts; other calls are answered" {
	llm t root_agent.yaml desk "tools: [{name: tools/look}, {name: load_artifacts}]" \
		"sub_agents: [{config_path: a.yaml}, {config_path: b.yaml}]"
	talker t a
	talker t b
	tool t look '{"description":"looks"}' <<< $'#!/bin/sh\necho seen'
	rules t desk <<-'E'
		- calls:
		    - {name: transfer_to_agent, args: {agent_name: a}}
		    - {name: look}
		    - {name: load_artifacts, args: {artifact_names: [x]}}
		    - {name: transfer_to_agent, args: {agent_name: b}}
	E
	session t
	say go
	same "b here" "$(cat output)"
	same b "$(jq -r '.actions.transferToAgent // empty' events.jsonl)"
	same '["transfer_to_agent","look","load_artifacts","transfer_to_agent"]' \
		"$(jq -c '[.content.parts[].functionResponse.name // empty] | select(length > 0)' events.jsonl)"
}

@test "a transfer inside workflow agents stays inside, and the next step goes on" {
	workflow w root_agent.yaml flow Sequential first last
	llm w first.yaml first "sub_agents: [{config_path: helper.yaml}]" "output_key: f"
	llm w helper.yaml helper "output_key: h"
	talker w last
	rules w first <<< '[{calls: [{name: transfer_to_agent, args: {agent_name: helper}}]}]'
	rules w helper <<< '[{text: helped}]'
	session w
	say go
	same "helper|helped
last|last here" "$(texts 1)"
	same '"helped"' "$(cat state/h.json)"
	[ ! -e state/f.json ] # what others say is not its output
	say again # a workflow begins anew
	same flow "$(cat turns/2/agent)"
	same "helper|helped
last|last here" "$(texts 2)"
}

@test "rewound turns and removed agents do not decide which agent answers" {
	llm who root_agent.yaml desk "sub_agents: [{config_path: billing.yaml}]"
	llm who billing.yaml billing
	rules who desk <<-'E'
		- when: {user: bill}
		  calls: [{name: transfer_to_agent, args: {agent_name: billing}}]
		- text: desk here
	E
	rules who billing <<< '[{text: billing here}]'
	session who
	say hi
	say bill
	say more
	same billing "$(cat turns/3/agent)"
	echo "rewind $(cat turns/2/invocation_id)" > ctl
	say and now
	same desk "$(cat turns/4/agent)"
	say bill
	say more
	same billing "$(cat turns/6/agent)"
	llm who root_agent.yaml desk
	say more
	same "desk here" "$(cat output)"
	same desk "$(cat turns/7/agent)"
}

@test "a tool after an entry that is ignored is offered, too" {
	transfers
	agent_file trans dump <<-'E'
		#!/bin/sh
		cat > "$ADKFS_SESSION/artifacts/request.json"
	E
	cat >> "$AGENTS/trans/billing.yaml" <<-'E'
		before_model_callbacks: [{name: dump}]
		tools: [{name: transfer_to_agent}, {name: exit_loop}]
	E
	say 'my bill'
	same '["exit_loop","transfer_to_agent"]' \
		"$(jq -c '[.config.tools[0].functionDeclarations[].name]' artifacts/request.json)"
}

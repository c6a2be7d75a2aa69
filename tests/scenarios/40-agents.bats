# Trees of agents: workflows, transfers, agents as tools, callbacks, pauses.
load lib/mount
load lib/agents

@test "a sequence: each agent after the other, with what the one before it left" {
	file seq root_agent.yaml <<-'E'
		agent_class: SequentialAgent
		name: chain
		sub_agents:
		  - config_path: first.yaml
		  - config_path: second.yaml
	E
	llm seq first.yaml first "output_key: draft"
	llm seq second.yaml second
	sed -i 's/^instruction:.*/instruction: "Polish {draft}"/' "$AGENTS/seq/second.yaml"
	rules seq first <<< '[{text: rough}]'
	rules seq second <<< '[{text: polished}]'
	file seq seen <<-'E'
		#!/bin/sh
		jq -c '.config.systemInstruction' > "$ADKFS_SESSION/artifacts/seen.json"
	E
	echo 'before_model_callbacks: [{name: seen}]' >> "$AGENTS/seq/second.yaml"
	session seq
	say hi
	same "user|hi
first|rough
second|polished" "$(story | grep -v '^user$')"
	same "rough
polished" "$(cat output)"
	[[ $(cat artifacts/seen.json) == '"Polish rough'* ]]
	same done "$(cat turns/1/status)"
	same chain "$(cat turns/1/agent)"
}

@test "a loop ends by exit_loop, and by max_iterations; the outer one goes on" {
	file loop root_agent.yaml <<-'E'
		agent_class: LoopAgent
		name: outer
		max_iterations: 2
		sub_agents: [{config_path: inner.yaml}, {config_path: after.yaml}]
	E
	file loop inner.yaml <<-'E'
		agent_class: LoopAgent
		name: inner
		max_iterations: 5
		sub_agents: [{config_path: worker.yaml}, {config_path: judge.yaml}]
	E
	llm loop worker.yaml worker
	llm loop judge.yaml judge "tools: [{name: exit_loop}]"
	llm loop after.yaml after
	rules loop worker <<< '[{text: work}]'
	rules loop judge <<-'E'
		- calls: [{name: exit_loop}]
	E
	rules loop after <<< '[{text: and on}]'
	session loop
	say go
	same "user|go
worker|work
judge|calls exit_loop
judge|gets {\"result\":null}
after|and on
worker|work
judge|calls exit_loop
judge|gets {\"result\":null}
after|and on" "$(story)"
	grep -q '"escalate":true' events.jsonl
}

@test "side by side: branches, and nobody sees what the other said" {
	file par root_agent.yaml <<-'E'
		agent_class: SequentialAgent
		name: root
		sub_agents: [{config_path: both.yaml}, {config_path: sum.yaml}]
	E
	file par both.yaml <<-'E'
		agent_class: ParallelAgent
		name: both
		sub_agents: [{config_path: left.yaml}, {config_path: right.yaml}]
	E
	llm par left.yaml left "output_key: l"
	llm par right.yaml right "output_key: r"
	llm par sum.yaml sum
	sed -i 's/^instruction:.*/instruction: "{l} and {r}"/' "$AGENTS/par/sum.yaml"
	rules par left <<-'E'
		- when: {user: right}
		  text: I saw it
		- text: left
		  delay_ms: 50
	E
	rules par right <<-'E'
		- when: {user: left}
		  text: I saw it
		- text: right
		  delay_ms: 50
	E
	rules par sum <<-'E'
		- when: {user: '\[(left|right)\] said: (left|right)'}
		  text: both seen
		- text: nothing seen
	E
	session par
	say go
	same "left|both.left|left
right|both.right|right" "$(story | grep '|both[.]' | sort)"
	same "sum|both seen" "$(story | tail -n 1)"
	same '"left"
"right"' "$(cat state/l.json state/r.json)"
	jq -e 'select(.author == "sum") | has("branch") | not' events.jsonl
}

@test "a branch that fails: the others end, and the turn fails with the first one's error" {
	file parfail root_agent.yaml <<-'E'
		agent_class: ParallelAgent
		name: both
		sub_agents: [{config_path: left.yaml}, {config_path: right.yaml}]
	E
	llm parfail left.yaml left
	llm parfail right.yaml right
	rules parfail left <<< '[{error: {code: SAFETY, message: not this}}]'
	rules parfail right <<< '[{text: slow but sure, delay_ms: 100}]'
	session parfail
	say go
	same "failed 1" "$(cat status)"
	same "not this" "$(cat turns/1/error)"
	same "right|both.right|slow but sure" "$(story | grep right)"
	same '["SAFETY","left","both.left"]' \
		"$(jq -c 'select(.errorCode) | [.errorCode, .author, .branch]' events.jsonl)"
	same 1 "$(grep -c errorCode events.jsonl)"
}

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

@test "transfer: a tool hands over by actions.json, and to nobody else than agents that can be handed over to" {
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

@test "transfer: what the model is told of it" {
	transfers
	file trans dump <<-'E'
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

@test "a tool after an entry that is ignored is offered, too" {
	transfers
	file trans dump <<-'E'
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

@test "structured answers: asked again until they fit, and the value under the key" {
	llm schema root_agent.yaml pedant "output_key: city" "output_schema: {name: city.json}"
	file schema city.json <<< '{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}'
	rules schema pedant <<-'E'
		- when: {user: 'city: is missing'}
		  text: '{"city": "Lima"}'
		- when: {user: 'never'}
		  text: '{"town": 1}'
		- when: {user: 'does not fit'}
		  text: '{"town": 2}'
		- text: '{"town": "Lima"}'
	E
	session schema
	say where
	same '{"city": "Lima"}' "$(cat output)"
	same '{"city":"Lima"}' "$(cat state/city.json)"
	same 2 "$(wc -l < events.jsonl)"
}

@test "a structured answer that never fits fails the turn" {
	llm schema root_agent.yaml pedant "output_schema: {name: city.json}" "output_key: city"
	file schema city.json <<< '{"type":"object","required":["city"]}'
	rules schema pedant <<< '[{text: "[]"}]'
	session schema
	say where
	same "failed 1" "$(cat status)"
	same OUTPUT_SCHEMA "$(jq -r '.errorCode // empty' events.jsonl)"
	same '[]' "$(jq -r 'select(.errorCode) | .content.parts[0].text' events.jsonl)"
	[ ! -e state/city.json ]
}

@test "a structured answer beside tools comes by set_model_response" {
	llm schema root_agent.yaml pedant "output_schema: {name: city.json}" "output_key: city" \
		"tools: [{name: load_memory}]"
	file schema city.json <<< '{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}'
	rules schema pedant <<-'E'
		- when: {tool: set_model_response, result: 'error'}
		  calls: [{name: set_model_response, args: {city: Lima}}]
		- calls: [{name: set_model_response, args: {town: Lima}}]
	E
	session schema
	say where
	same '{"city":"Lima"}' "$(cat output)"
	same '{"city":"Lima"}' "$(cat state/city.json)"
	same 'pedant|gets {"error":"city: is missing"}' "$(story | grep error)"
}

@test "callbacks of an agent: a content in its place, a content behind it, changes alone" {
	llm cb root_agent.yaml guarded "before_agent_callbacks: [{name: gate}]" \
		"after_agent_callbacks: [{name: sign, args: {by: me}}]"
	rules cb guarded <<< '[{text: answer}]'
	file cb gate <<-'E'
		#!/bin/sh
		grep -q '"agent":"guarded"' || exit 9
		[ ! -e "$ADKFS_SESSION/state/closed.json" ] || echo '{"parts":[{"text":"closed"}]}'
	E
	file cb sign <<-'E'
		#!/bin/sh
		echo "{\"role\":\"model\",\"parts\":[{\"text\":\"signed $(echo "$ADK_ARGS" | jq -r .by)\"}]}"
	E
	session cb
	say hi
	same "answer
signed me" "$(cat output)"
	echo true > state/closed.json
	say hi
	same closed "$(cat output)"
	file cb gate <<-'E'
		#!/bin/sh
		echo no way >&2
		exit 3
	E
	say hi
	same "failed 3" "$(cat status)"
	same "before_agent callback gate: exit status 3: no way" "$(cat turns/3/error)"
	same CALLBACK_ERROR "$(jq -r '.errorCode // empty' turns/3/events.jsonl)"
}

@test "callbacks of the model: the request changed, answered in its place, the answer replaced" {
	llm cbm root_agent.yaml guarded "before_model_callbacks: [{name: before}]" \
		"after_model_callbacks: [{name: after}]"
	rules cbm guarded <<-'E'
		- when: {user: 'whisper'}
		  text: quiet
		- text: loud
	E
	file cbm before <<-'E'
		#!/usr/bin/python3
		import json, sys
		request = json.load(sys.stdin)
		text = request["contents"][-1]["parts"][0]["text"]
		if "skip" in text:
		    print(json.dumps({"content": {"parts": [{"text": "skipped"}]}}))
		elif "soft" in text:
		    request["contents"][-1]["parts"][0]["text"] = "whisper"
		    print(json.dumps({"llmRequest": request}))
	E
	file cbm after <<-'E'
		#!/bin/sh
		jq -c 'if .content.parts[0].text == "loud" then {content: {role: "model", parts: [{text: "LOUD"}]}} else empty end'
	E
	session cbm
	say hello
	same LOUD "$(cat output)"
	! grep -q loud turns/1/stream.jsonl
	say softly
	same quiet "$(cat output)"
	say skip
	same skipped "$(cat output)"
	same 2 "$(jq .total.modelCalls usage.json)"
}

@test "usage that a callback gives is of the form of the log, or is not there" {
	llm cbu root_agent.yaml counter "after_model_callbacks: [{name: after}]"
	rules cbu counter <<< '[{text: hi, usage: {prompt: 1, candidates: 2}}]'
	file cbu after <<< $'#!/bin/sh\nset -- "$(cat "$ADKFS_SESSION/turns/latest/input")"\nprintf \'{"content":{"parts":[{"text":"x"}]},"usageMetadata":%s}\' "$1"'
	session cbu
	say 'null'
	say '7'
	say '{"promptTokenCount":"3","totalTokenCount":4,"x":1}'
	same '[null,null,{"totalTokenCount":4}]' \
		"$(jq -sc 'map(select(.author == "counter")) | map(.usageMetadata)' events.jsonl)"
	not grep -q '"usageMetadata":null' events.jsonl
}

@test "what the model said is not shown or kept when the callback behind it fails" {
	llm leak root_agent.yaml guarded "after_model_callbacks: [{name: after}]"
	rules leak guarded <<-'E'
		- when: {user: slowly}
		  text: secret words
		  delay_ms: 60000
		- text: secret words
	E
	file leak after <<< $'#!/bin/sh\nexit 3'
	session leak
	say hi
	same "failed 1" "$(cat status)"
	same "after_model callback after: exit status 3" "$(cat turns/1/error)"
	echo slowly > input
	eventually 10 grep -q running turns/2/status
	echo cancel > ctl
	same "failed 2" "$(timeout 60 cat wait)"
	same '["CALLBACK_ERROR","CANCELLED"]' "$(jq -c .errorCode events.jsonl | jq -sc 'map(select(.))')"
	not grep -rq secret events.jsonl turns/1/ turns/2/ transcript.md
}

@test "callbacks of tools: arguments changed, the tool not run, the result replaced" {
	llm cbt root_agent.yaml guarded "tools: [{name: tools/add}]" \
		"before_tool_callbacks: [{name: before}]" "after_tool_callbacks: [{name: after}]"
	rules cbt guarded <<-'E'
		- when: {tool: add}
		  text: ${result}
		- when: {user: '^(\w+)$'}
		  calls: [{name: add, args: {n: "$1"}}]
	E
	file cbt tools/add <<-'E'
		#!/bin/sh
		jq -c '{n: .n}'
	E
	file cbt tools/add.json <<< '{"description":"adds","parameters":{"type":"object","properties":{"n":{"type":"string"}}}}'
	file cbt before <<-'E'
		#!/bin/sh
		jq -c 'if .args.n == "no" then {response: {refused: true}} elif .args.n == "two" then {args: {n: "2"}} else empty end'
	E
	file cbt after <<-'E'
		#!/bin/sh
		jq -c 'if .response.n == "3" then {response: {n: "three"}} else empty end'
	E
	session cbt
	say one
	same '{"n":"one"}' "$(cat output)"
	say no
	same '{"refused":true}' "$(cat output)"
	say two
	same '{"n":"2"}' "$(cat output)"
	same '{"n":"two"}' "$(jq -c '.content.parts[0].functionCall.args // empty' turns/3/events.jsonl)"
	say 3
	same '{"n":"three"}' "$(cat output)"
}

@test "a program as an agent: its lines are events" {
	file prog root_agent.yaml <<-'E'
		agent_class: ./agent
		name: scripted
	E
	file prog agent <<-'E'
		#!/bin/sh
		text=$(jq -r '.parts[0].text')
		echo '{"partial":true,"content":{"role":"model","parts":[{"text":"you said "}]}}'
		echo "{\"content\":{\"role\":\"model\",\"parts\":[{\"text\":\"you said $text\"}]},\"actions\":{\"stateDelta\":{\"said\":\"$text\"}}}"
		[ "$text" != fail ] || { echo broken >&2; exit 4; }
		[ "$text" != junk ] || echo '{"content": 7}'
	E
	session prog
	say hi
	same "you said hi" "$(cat output)"
	same '"hi"' "$(cat state/said.json)"
	same "scripted|you said hi" "$(story | tail -n 1)"
	say fail
	same "failed 2" "$(cat status)"
	same "agent scripted: exit status 4: broken" "$(cat turns/2/error)"
	say junk
	same AGENT_ERROR "$(jq -r '.errorCode // empty' turns/3/events.jsonl)"
	[[ $(cat turns/3/error) == "agent scripted: line 3 of its output: "* ]]
}

pausing() {
	file pause root_agent.yaml <<-'E'
		agent_class: SequentialAgent
		name: flow
		sub_agents: [{config_path: asker.yaml}, {config_path: closer.yaml}]
	E
	llm pause asker.yaml asker "tools: [{name: tools/ticket}]"
	llm pause closer.yaml closer
	rules pause asker <<-'E'
		- when: {tool: ticket}
		  text: "ticket says ${result.result}"
		- when: {user: open}
		  calls: [{name: ticket, id: t-1}]
	E
	rules pause closer <<< '[{text: closed}]'
	file pause tools/ticket <<-'E'
		#!/bin/sh
		exit 0
	E
	file pause tools/ticket.json <<< '{"description":"asks","isLongRunning":true}'
	session pause
}

@test "a long-running call pauses a sequence, and the answer lets it go on" {
	pausing
	say open
	same "idle" "$(cat status)"
	same "asker|calls ticket" "$(story | grep . | grep asker)"
	same '{"current_sub_agent":"asker"}' "$(jq -c '.actions.agentState // empty' events.jsonl)"
	answer t-1 ticket '{"result":"fine"}'
	same "asker|ticket says fine
closer|closed
flow" "$(story | tail -n 3)"
	same true "$(jq -c '.actions.endOfAgent // empty' events.jsonl)"
	same "$(jq -r .invocationId turns/1/events.jsonl | head -n 1)" \
		"$(jq -r '.customMetadata["adkfs.resumes"] // empty' events.jsonl)"
}

@test "an answer to a call that nobody made is refused" {
	pausing
	say open
	refused EINVAL bash -c 'echo "{\"role\":\"user\",\"parts\":[{\"functionResponse\":{\"id\":\"t-2\",\"name\":\"ticket\",\"response\":{}}}]}" > input.json'
	grep -q 't-2, which was not called' .errors
	same 1 "$(ls turns | grep -c '^[0-9]')"
}

confirming() {
	llm conf root_agent.yaml ops "tools: [{name: tools/delete}, {name: tools/look}]"
	rules conf ops <<-'E'
		- when: {tool: delete}
		  text: ${result}
		- when: {user: both}
		  calls: [{name: look, id: l-1}, {name: delete, id: d-1, args: {path: /x}}]
		- when: {user: delete}
		  calls: [{name: delete, id: d-1, args: {path: /x}}]
	E
	file conf tools/delete <<-'E'
		#!/bin/sh
		echo >> "$ADKFS_SESSION/artifacts/deleted"
		jq -c '{deleted: .path}'
	E
	file conf tools/delete.json <<< '{"description":"deletes","requireConfirmation":true,"parameters":{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}}'
	file conf tools/look <<< $'#!/bin/sh\necho seen'
	file conf tools/look.json <<< '{"description":"looks"}'
	session conf
}

@test "a confirmation: asked, given, and good for one call" {
	confirming
	say both
	same "idle" "$(cat status)"
	[ ! -e artifacts/deleted ]
	same '{"originalFunctionCall":{"id":"d-1","args":{"path":"/x"},"name":"delete"},"toolConfirmation":{"hint":"May delete be called?","confirmed":false}}' \
		"$(jq -c '.content.parts[]?.functionCall | select(.name == "adk_request_confirmation") | .args' events.jsonl)"
	same 'ops|gets {"result":"seen"}|gets {"error":"confirmation required"}' "$(story | tail -n 1)"
	same false "$(jq 'select(.actions.skipSummarization) | .actions.requestedToolConfirmations["d-1"].confirmed' events.jsonl)"
	id=$(request_id)
	answer "$id" adk_request_confirmation '{"confirmed":true}'
	same '{"deleted":"/x"}' "$(cat output)"
	same 1 "$(wc -l < artifacts/deleted)"
	answer "$id" adk_request_confirmation '{"confirmed":true}' || :
	same 1 "$(wc -l < artifacts/deleted)"
}

@test "a confirmation that is refused, also in the form of clients" {
	confirming
	say delete
	answer "$(request_id)" adk_request_confirmation '{"response":"{\"confirmed\":\"true\"}"}'
	same '{"error":"rejected by the user"}' "$(cat output)"
	[ ! -e artifacts/deleted ]
}

@test "a program as an agent: what it says is seen at once" {
	file prog root_agent.yaml <<-'E'
		agent_class: ./agent
		name: scripted
	E
	file prog agent <<-'E'
		#!/bin/sh
		echo '{"partial":true,"content":{"role":"model","parts":[{"text":"one "}]}}'
		echo '{"content":{"role":"model","parts":[{"text":"one two"}]}}'
		while [ ! -e "$ADKFS_SESSION/state/go.json" ]; do sleep 0.05; done
		echo '{"content":{"role":"model","parts":[{"text":"three"}]}}'
	E
	session prog
	echo hi > input
	eventually 20 grep -q two events.jsonl
	same 'running 1' "$(cat status)"
	grep -q '"partial":true' <(timeout 1 cat turns/1/stream.jsonl)
	echo true > state/go.json
	same 'one two
three' "$(timeout 20 cat output)"
}

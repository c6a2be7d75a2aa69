# Pauses: what agents around a call that waits do when its answer comes, and what the log and
# the model see of it meanwhile.
load lib/mount
load lib/agents

# An agent that waits for the call NAME-1 and says what it got. More lines of YAML may follow.
waiter() {
	llm "$1" "$2.yaml" "$2" "tools: [{name: tools/ask}, {name: exit_loop}]" "${@:3}"
	rules "$1" "$2" <<-E
		- when: {tool: ask, result: 'result'}
		  text: "$2 got \${result.result}"
		- calls: [{name: ask, id: $2-1}]
	E
	tool "$1" ask '{"description":"asks","isLongRunning":true}' <<< $'#!/bin/sh\nexit 0'
}

# marks APP: before_NAME and after_NAME of each agent of APP say so, for callbacks.
marks() {
	local name

	for name in before after; do
		file "$1" "$name" <<-'E'
			#!/bin/sh
			me=$(basename "$0")
			[ "$me" = after ] || { echo "\"$ADK_AGENT_NAME\"" > "$ADK_CONTEXT/state/began_$ADK_AGENT_NAME.json"; exit; }
			echo "{\"parts\":[{\"text\":\"$ADK_AGENT_NAME is done\"}]}"
		E
	done
}
MARKS=("before_agent_callbacks: [{name: before}]" "after_agent_callbacks: [{name: after}]")

# begun TURN: whose before_agent ran in it.
begun() {
	jq -r '.actions.stateDelta // {} | keys[] | select(startswith("began_"))[6:]' "turns/$1/events.jsonl"
}

# texts TURN: who said what in it.
texts() {
	jq -r 'select(.author != "user" and .content.parts[0].text) | [.author, (.branch // empty), .content.parts[0].text] | join("|")' \
		"turns/$1/events.jsonl"
}

@test "an escalate before the pause ends the loop when it goes on" {
	workflow l root_agent.yaml loop Loop a b
	echo "max_iterations: 5" >> "$AGENTS/l/root_agent.yaml"
	waiter l a
	talker l b
	rules l a <<-'E'
		- when: {tool: ask, result: result}
		  text: a is through
		- calls: [{name: exit_loop}, {name: ask, id: a-1}]
	E
	session l
	say go
	same true "$(jq -c 'select(.author == "loop") | .customMetadata["adkfs.escalated"]' events.jsonl)"
	daemon_restart
	back
	answer a-1 ask '{"result":1}'
	same "a|a is through" "$(texts 2)"
	same loop "$(jq -r 'select(.actions.endOfAgent) | .author' turns/2/events.jsonl)"
}

@test "an escalate side by side with a pause, and in a turn between two pauses, ends the loop too" {
	workflow p root_agent.yaml loop Loop inner b
	echo "max_iterations: 5" >> "$AGENTS/p/root_agent.yaml"
	workflow p inner.yaml inner Sequential both tail
	workflow p both.yaml both Parallel l r
	waiter p l
	waiter p r
	talker p b
	talker p tail
	rules p l <<-'E'
		- when: {tool: ask, result: result}
		  calls: [{name: exit_loop}]
		- calls: [{name: ask, id: l-1}]
	E
	session p
	say go
	answer l-1 ask '{"result":1}'
	same idle "$(cat status)"
	same '' "$(texts 2)"
	same true "$(jq -c 'select(.author == "loop") | .customMetadata["adkfs.escalated"]' turns/2/events.jsonl)"
	answer r-1 ask '{"result":1}'
	same "r|both.r|r got 1
tail|tail here" "$(texts 3)"
	same "both
inner
loop" "$(jq -r 'select(.actions.endOfAgent) | .author' turns/3/events.jsonl)"
	# An inner loop that ended by itself says nothing about the outer one.
	workflow q root_agent.yaml outer Loop inner waits
	echo "max_iterations: 2" >> "$AGENTS/q/root_agent.yaml"
	workflow q inner.yaml inner Loop quits
	llm q quits.yaml quits "tools: [{name: exit_loop}]"
	rules q quits <<< '[{calls: [{name: exit_loop}]}]'
	waiter q waits
	session q
	say go
	answer waits-1 ask '{"result":1}'
	same 1 "$(grep -c '"escalate":true' turns/2/events.jsonl)" # the outer one went round again
}

@test "who handed over ends behind the answer, and nobody begins twice" {
	marks h
	llm h root_agent.yaml desk "sub_agents: [{config_path: office.yaml}]" "${MARKS[@]}"
	llm h office.yaml office "sub_agents: [{config_path: arm.yaml}]" "${MARKS[@]}"
	waiter h arm "${MARKS[@]}"
	rules h desk <<< '[{calls: [{name: transfer_to_agent, args: {agent_name: office}}]}]'
	rules h office <<< '[{calls: [{name: transfer_to_agent, args: {agent_name: arm}}]}]'
	session h
	say go
	same "desk
office
arm" "$(begun 1)"
	same '' "$(texts 1)"
	same '["desk","office"]' "$(jq -c '.customMetadata["adkfs.transfers"] // empty' events.jsonl)"
	answer arm-1 ask '{"result":1}'
	same "arm|arm got 1
arm|arm is done
office|office is done
desk|desk is done" "$(texts 2)"
	same '' "$(begun 2)"
	# Whom the user speaks to directly was not handed over to.
	llm h root_agent.yaml desk "sub_agents: [{config_path: office.yaml}]"
	llm h office.yaml office "sub_agents: [{config_path: arm.yaml}]"
	session h ann s2
	rules h arm <<-'E'
		- when: {user: now}
		  calls: [{name: ask, id: arm-2}]
		- when: {tool: ask}
		  text: answered
		- text: hi
	E
	say hi
	say now
	same arm "$(cat turns/2/agent)"
	answer arm-2 ask '{"result":1}'
	same "arm|answered
arm|arm is done" "$(texts 3)"
	not grep -q adkfs.transfers events.jsonl
}

@test "callbacks around a pause: of sequences, loops, agents side by side, and who handed over to them" {
	marks w
	llm w root_agent.yaml desk "sub_agents: [{config_path: flow.yaml}]" "${MARKS[@]}"
	rules w desk <<< '[{calls: [{name: transfer_to_agent, args: {agent_name: flow}}]}]'
	workflow w flow.yaml flow Sequential loop closer
	workflow w loop.yaml loop Loop both
	workflow w both.yaml both Parallel x y
	echo "max_iterations: 1" >> "$AGENTS/w/loop.yaml"
	for a in flow loop both; do
		printf '%s\n' "${MARKS[@]}" >> "$AGENTS/w/$a.yaml"
	done
	llm w x.yaml x "sub_agents: [{config_path: z.yaml}]" "${MARKS[@]}"
	rules w x <<< '[{calls: [{name: transfer_to_agent, args: {agent_name: z}}]}]'
	waiter w z "${MARKS[@]}"
	waiter w y "${MARKS[@]}"
	waiter w closer "${MARKS[@]}"
	session w
	say go
	same '' "$(texts 1)"
	answer z-1 ask '{"result":1}'
	same "z|both.x|z got 1
z|both.x|z is done
x|both.x|x is done" "$(texts 2)"
	answer y-1 ask '{"result":1}'
	same "y|both.y|y got 1
y|both.y|y is done
both|both is done
loop|loop is done" "$(texts 3)"
	same closer "$(begun 3)"
	answer closer-1 ask '{"result":1}'
	same "closer|closer got 1
closer|closer is done
flow|flow is done
desk|desk is done" "$(texts 4)"
	same 8 "$(cat turns/*/events.jsonl | jq -r '.actions.stateDelta // {} | keys[] | select(startswith("began_"))' | sort -u | wc -l)"
	same 8 "$(cat turns/[0-9]*/events.jsonl | jq -r '.actions.stateDelta // {} | keys[] | select(startswith("began_"))' | wc -l)"
}

@test "after_agent waits for the last of several answers" {
	marks m
	waiter m root_agent "${MARKS[@]}"
	mv "$AGENTS/m/root_agent.yaml" "$TMP/y"
	sed 's/^name: .*/name: asker/; s/script\/.*/script\/asker.script.yaml/' "$TMP/y" > "$AGENTS/m/root_agent.yaml"
	rules m asker <<-'E'
		- when: {tool: ask, result: result}
		  text: "got ${result.result}"
		- when: {tool: ask}
		  text: one more
		- calls: [{name: ask, id: a-1}, {name: ask, id: a-2}]
	E
	session m
	say go
	answer a-1 ask '{"result":1}'
	same "asker|one more" "$(texts 2)"
	answer a-2 ask '{"result":2}'
	same "asker|got 2
asker|asker is done" "$(texts 3)"
}

@test "a long-running call that was allowed and has no result yet: pending, made once" {
	llm c root_agent.yaml ops "tools: [{name: tools/deploy}]"
	rules c ops <<-'E'
		- when: {user: how}
		  text: "still at it"
		- when: {tool: deploy, result: status}
		  text: "now ${result}"
		- when: {tool: deploy, result: done}
		  text: "deployed ${result.done}"
		- calls: [{name: deploy, id: d-1}]
	E
	tool c deploy '{"description":"d","isLongRunning":true,"requireConfirmation":true}' <<-'E'
		#!/bin/sh
		echo >> "$ADKFS_SESSION/artifacts/deployed"
	E
	file c dump <<< $'#!/bin/sh\ncat > "$ADKFS_SESSION/artifacts/request.json"'
	echo 'before_model_callbacks: [{name: dump}]' >> "$AGENTS/c/root_agent.yaml"
	session c
	say go
	id=$(request_id)
	answer "$id" adk_request_confirmation '{"confirmed":true}'
	same 1 "$(wc -l < artifacts/deployed)"
	same '' "$(cat turns/2/output)"
	same '{"status":"pending"}' "$(cat turns/1/calls/d-1/response.json)"
	say how
	same '[{"status":"pending"}]' \
		"$(jq -c '[.contents[].parts[] | .functionResponse.response // empty]' artifacts/request.json)"
	answer "$id" adk_request_confirmation '{"confirmed":true}'
	same 1 "$(wc -l < artifacts/deployed)"
	same '' "$(texts 4)"
	answer d-1 deploy '{"done":"all"}'
	same "ops|deployed all" "$(texts 5)"
}

@test "the same in a sequence: it goes on behind the result" {
	workflow s root_agent.yaml flow Sequential ops closer
	llm s ops.yaml ops "tools: [{name: tools/deploy}]"
	rules s ops <<-'E'
		- when: {tool: deploy, result: done}
		  text: deployed
		- calls: [{name: deploy, id: d-1}]
	E
	talker s closer
	tool s deploy '{"description":"d","isLongRunning":true,"requireConfirmation":true}' <<< $'#!/bin/sh\n:'
	session s
	say go
	answer "$(request_id)" adk_request_confirmation '{"confirmed":true}'
	same '' "$(texts 2)"
	answer d-1 deploy '{"done":"all"}'
	same "ops|deployed
closer|closer here" "$(texts 3)"
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
@test "side by side: the stream tells events in the order of the log" {
	workflow o root_agent.yaml both Parallel a b c d e f
	for x in a b c d e f; do
		file o "$x.yaml" <<< "agent_class: ./talk
name: $x"
	done
	file o talk <<-'E'
		#!/bin/sh
		for i in $(seq 300); do
			echo "{\"content\":{\"role\":\"model\",\"parts\":[{\"text\":\"$ADK_AGENT_NAME$i\"}]}}"
		done
	E
	session o
	say go
	same 1801 "$(wc -l < turns/1/events.jsonl)"
	cp turns/1/stream.jsonl "$TMP/after"
	echo go > input
	timeout 60 cat turns/2/stream.jsonl > "$TMP/live"
	cmp <(grep -v '"author":"user"' turns/2/events.jsonl | jq -r .id) <(jq -r .id "$TMP/live")
	cmp <(grep -v '"author":"user"' turns/2/events.jsonl | jq -r '.content.parts[0].text') turns/2/output
}

@test "what a tool saves and cannot be kept: its call gets an error, the turn goes on" {
	llm sv root_agent.yaml a "tools: [{name: tools/one}, {name: tools/two}, {name: tools/late}]"
	rules sv a <<-'E'
		- when: {tool: .}
		  text: "${result}"
		- when: {user: late}
		  calls: [{name: late, id: c-3}]
		- calls: [{name: one, id: c-1}, {name: two, id: c-2}]
	E
	tool sv one '{"description":"1"}' <<-'E'
		#!/bin/sh
		echo 1 > "$ADK_CONTEXT/artifacts/x"
		echo 1 > "$ADK_CONTEXT/state/one.json"
		echo first
	E
	tool sv two '{"description":"2"}' <<-'E'
		#!/bin/sh
		echo 2 > "$ADK_CONTEXT/artifacts/other"
		mkdir "$ADK_CONTEXT/artifacts/x"
		echo 2 > "$ADK_CONTEXT/artifacts/x/y"
		echo 2 > "$ADK_CONTEXT/state/two.json"
		echo '{"skipSummarization":true}' > "$ADK_CONTEXT/actions.json"
		echo second
	E
	tool sv late '{"description":"3"}' <<-'E'
		#!/bin/sh
		echo 3 > "$ADK_CONTEXT/artifacts/z"
		mkdir "$ADKFS_SESSION/artifacts/z"
		echo 3 > "$ADKFS_SESSION/artifacts/z/w"
	E
	session sv
	say go
	same 'idle' "$(cat status)"
	same '[{"result":"first"},{"error":"artifact x/y cannot be saved: '"'x'"' is not a directory"}]' \
		"$(jq -c '[.content.parts[]?.functionResponse.response // empty] | select(length > 0)' events.jsonl)"
	same '{"x":1}' "$(jq -c '.actions.artifactDelta | select(length > 0)' events.jsonl)"
	same '{"one":1}' "$(jq -c '.actions.stateDelta | select(length > 0)' events.jsonl)"
	same 1 "$(cat artifacts/x)"
	[ ! -e artifacts/other ]
	[ ! -e state/two.json ]
	not grep -q skipSummarization events.jsonl
	same '{"error":"artifact x/y cannot be saved: '"'x'"' is not a directory"}' "$(cat turns/1/calls/c-2/response.json)"
	say late
	same '{"error":"artifact z cannot be saved: '"'z'"' is a directory"}' "$(cat output)"
	same 3 "$(cat artifacts/z/w)"
}

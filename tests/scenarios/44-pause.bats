# Pauses: a call that waits for its answer, what agents around it do when the answer comes, and what the
# log and the model see of it meanwhile.
load lib/mount
load lib/agents

pausing() {
	agent_file pause root_agent.yaml <<-'E'
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
	agent_file pause tools/ticket <<-'E'
		#!/bin/sh
		exit 0
	E
	agent_file pause tools/ticket.json <<< '{"description":"asks","isLongRunning":true}'
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
	grep -q 't-2, but no call has that id' .errors
	same 1 "$(ls turns | grep -c '^[0-9]')"
}

@test "an interim result pauses nothing, and a late result goes to the agent alone" {
	workflow i root_agent.yaml flow Sequential asker closer
	llm i asker.yaml asker "tools: [{name: tools/ticket}]"
	talker i closer
	tool i ticket '{"description":"t","isLongRunning":true}' <<< $'#!/bin/sh\necho \'{"status":"opened"}\''
	rules i asker <<-'E'
		- when: {tool: ticket}
		  text: "ticket: ${result.status}"
		- calls: [{name: ticket, id: t-1}]
	E
	session i
	say go
	same "asker|ticket: opened
closer|closer here" "$(texts 1)"
	same '["t-1"]' "$(jq -c '.longRunningToolIds // empty' events.jsonl)"
	not grep -q agentState events.jsonl
	answer t-1 ticket '{"status":"closed"}'
	same asker "$(cat turns/2/agent)"
	same "asker|ticket: closed" "$(texts 2)"
	not grep -q endOfAgent events.jsonl
}

@test "two parallel agents wait: the sequence goes on when both are answered" {
	workflow b root_agent.yaml flow Sequential both closer
	workflow b both.yaml both Parallel left right third
	waiter b left
	waiter b right
	talker b third
	talker b closer
	session b
	say go
	same idle "$(cat status)"
	same "third|both.third|third here" "$(texts 1)"
	answer right-1 ask '{"result":"R"}'
	same "right|both.right|right got R" "$(texts 2)"
	answer left-1 ask '{"result":"L"}'
	same "left|both.left|left got L
closer|closer here" "$(texts 3)"
	same "both
flow" "$(jq -r 'select(.actions.endOfAgent) | .author' turns/3/events.jsonl)"
	answer left-1 ask '{"result":"again"}'
	same "left|both.left|left got again" "$(texts 4)" # the sequence is over
}

@test "any other message leaves the call open; the model gets the answer last" {
	llm o root_agent.yaml desk "tools: [{name: tools/ask}]"
	tool o ask '{"description":"asks","isLongRunning":true}' <<< $'#!/bin/sh\nexit 0'
	rules o desk <<-'E'
		- when: {tool: ask, result: 'result'}
		  text: "got ${result.result}"
		- when: {user: ask}
		  calls: [{name: ask, id: a-1}]
		- text: chat
	E
	dump o root_agent.yaml
	session o
	say ask
	say more
	same "desk|chat" "$(texts 2)"
	same '{"status":"pending"}' "$(jq -c '.contents[].parts[].functionResponse.response // empty' artifacts/request.json)"
	answer a-1 ask '{"result":1}'
	same "desk|got 1" "$(texts 3)"
	same '["ask","more","chat","ask","ask"]' \
		"$(jq -c '[.contents[].parts[] | (.text // .functionCall.name // .functionResponse.name)]' artifacts/request.json)"
	say more # later it stands at its call
	same '["ask","ask","ask","more","chat","got 1","more"]' \
		"$(jq -c '[.contents[].parts[] | (.text // .functionCall.name // .functionResponse.name)]' artifacts/request.json)"
}

@test "two parallel agents wait: one message answers both" {
	workflow b root_agent.yaml flow Sequential both closer
	workflow b both.yaml both Parallel left right
	waiter b left
	waiter b right
	talker b closer
	session b
	say go
	jq -nc '{role: "user", parts: [("left", "right") | {functionResponse: {id: (. + "-1"), name: "ask", response: {result: .}}}]}' > input.json
	timeout 20 cat wait > /dev/null
	same "left|both.left|left got left
right|both.right|right got right
closer|closer here" "$(texts 2)"
}

@test "two long-running calls in one answer: the sequence goes on after the second" {
	workflow two root_agent.yaml flow Sequential asker closer
	waiter two asker
	rules two asker <<-'E'
		- when: {tool: ask, result: 'result'}
		  text: "got ${result.result}"
		- when: {tool: ask}
		  text: one more
		- calls: [{name: ask, id: a-1}, {name: ask, id: a-2}]
	E
	talker two closer
	session two
	say go
	same '["a-1","a-2"]' "$(jq -c '.longRunningToolIds // empty' events.jsonl)"
	answer a-1 ask '{"result":1}'
	same "asker|one more" "$(texts 2)"
	answer a-2 ask '{"result":2}'
	same "asker|got 2
closer|closer here" "$(texts 3)"
}

pausing_loop() {
	workflow l root_agent.yaml outer Loop inner closer
	echo "max_iterations: 2" >> "$AGENTS/l/root_agent.yaml"
	workflow l inner.yaml inner Sequential a b
	for x in a b; do
		llm l $x.yaml $x "tools: [{name: tools/ask}]" "before_model_callbacks: [{name: count}]"
		rules l $x <<-E
			- when: {tool: ask, result: 'result'}
			  text: "$x got \${result.result}"
			- text: not reached
		E
	done
	# Each time they are asked anew they call again, by another id.
	agent_file l count <<-'E'
		#!/usr/bin/python3
		import json, sys, os
		request = json.load(sys.stdin)
		last = request["contents"][-1]["parts"][-1]
		if "functionResponse" in last and "result" in last["functionResponse"]["response"]:
		    sys.exit()
		name = os.environ["ADK_AGENT_NAME"]
		n = json.dumps(request["contents"]).count("%s got" % name) + 1
		print(json.dumps({"content": {"role": "model", "parts": [
		    {"functionCall": {"name": "ask", "id": "%s-%d" % (name, n), "args": {}}}]}}))
	E
	tool l ask '{"description":"asks","isLongRunning":true}' <<< $'#!/bin/sh\nexit 0'
	talker l closer
	session l
}

@test "a loop that pauses again and again, over restarts, goes round as often as it should" {
	pausing_loop
	say go
	answer a-1 ask '{"result":1}'
	same "a|a got 1" "$(texts 2)"
	same idle "$(cat status)"
	daemon_restart
	back
	answer b-1 ask '{"result":1}'
	same "b|b got 1
closer|closer here" "$(texts 3)"
	grep -q '"id":"a-2"' turns/3/events.jsonl
	answer a-2 ask '{"result":2}'
	daemon_restart
	back
	answer b-2 ask '{"result":2}'
	same "b|b got 2
closer|closer here" "$(texts 5)"
	same "outer" "$(jq -r 'select(.actions.endOfAgent) | .author' turns/5/events.jsonl | tail -n 1)"
	not grep -q '"id":"a-3"' events.jsonl
	same '{"current_sub_agent":"inner","times_looped":1}' \
		"$(jq -c 'select(.author == "outer") | .actions.agentState // empty' events.jsonl | tail -n 1)"
}

@test "agents that changed before the answer: only the agent that called runs" {
	workflow c root_agent.yaml flow Sequential asker closer
	waiter c asker
	talker c closer
	talker c other
	session c
	say go
	workflow c root_agent.yaml changed Sequential asker other
	answer asker-1 ask '{"result":"x"}'
	same "asker|asker got x" "$(texts 2)"
	# And one that is gone: the root.
	session c ann s2
	say go
	workflow c root_agent.yaml changed Sequential other
	answer asker-1 ask '{"result":"x"}'
	same "other|other here" "$(texts 2)"
}

@test "a turn that goes on and fails can be continued again" {
	workflow r root_agent.yaml flow Sequential asker closer
	waiter r asker
	talker r closer
	session r
	say go
	mv "$AGENTS/r/asker.script.yaml" "$TMP/rules"
	answer asker-1 ask '{"result":1}' || :
	same "failed 2" "$(cat status)"
	mv "$TMP/rules" "$AGENTS/r/asker.script.yaml"
	answer asker-1 ask '{"result":2}'
	same "asker|asker got 2
closer|closer here" "$(texts 3)"
}

@test "after a crash every open call is closed, except long-running calls" {
	workflow x root_agent.yaml both Parallel l r
	for a in l r; do
		llm x $a.yaml $a "tools: [{name: tools/slow}, {name: tools/ask}]"
		rules x $a <<< "[{calls: [{name: slow, id: $a-slow}, {name: ask, id: $a-ask}]}]"
	done
	tool x slow '{"description":"slow"}' <<< $'#!/bin/sh\nexec sleep 100'
	tool x ask '{"description":"asks","isLongRunning":true}' <<< $'#!/bin/sh\nexit 0'
	session x
	echo go > input
	eventually 10 grep -q l-slow events.jsonl
	eventually 10 grep -q r-slow events.jsonl
	cd "$TMP"
	daemon_kill
	"$ADKFS" umount -z "$MNT"
	daemon_start
	back
	same "failed 1" "$(cat status)"
	same '["l","both.l",["l-slow"]]
["r","both.r",["r-slow"]]' "$(jq -c '[.author, .branch, [.content.parts[]?.functionResponse.id // empty]] | select(.[2] != [])' events.jsonl | sort)"
	same ABORTED "$(jq -r '.errorCode // empty' events.jsonl)"
}

# marks APP: before_NAME and after_NAME of each agent of APP say so, for callbacks.
marks() {
	local name

	for name in before after; do
		agent_file "$1" "$name" <<-'E'
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

@test "an escalate beside a pause, or in a turn between two pauses, ends the loop too" {
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

@test "an agent that transferred ends after the answer, and no agent begins twice" {
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

@test "callbacks around a pause: of sequences, loops, parallel agents, and agents that transferred to them" {
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

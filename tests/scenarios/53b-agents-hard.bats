# Trees of agents, the hard cases: hand-overs without end, pauses in pauses, answers that come
# twice, failures between call and result.
load lib/mount
load lib/agents

# An agent that waits for the call NAME-1, and says what it got.
waiter() {
	llm "$1" "$2.yaml" "$2" "tools: [{name: tools/ask}]"
	rules "$1" "$2" <<-E
		- when: {tool: ask, result: 'result'}
		  text: "$2 got \${result.result}"
		- when: {tool: ask}
		  text: "$2 still waits"
		- calls: [{name: ask, id: $2-1}]
	E
	tool "$1" ask '{"description":"asks","isLongRunning":true}' <<< $'#!/bin/sh\nexit 0'
}

# dump APP FILE: the requests of this agent, as artifacts/request.json.
dump() {
	file "$1" dump <<< $'#!/bin/sh\ncat > "$ADKFS_SESSION/artifacts/request.json"'
	echo 'before_model_callbacks: [{name: dump}]' >> "$AGENTS/$1/$2"
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

@test "after a transfer: callbacks of those who handed over come last, the last first" {
	for a in one two three; do
		file cb "after_$a" <<< $'#!/bin/sh\n'"echo '{\"parts\":[{\"text\":\"$a is done\"}]}'"
	done
	file cb before_three <<< $'#!/bin/sh\ngrep -q three || exit 1'
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
	file cb before_three <<< $'#!/bin/sh\necho \'{"parts":[{"text":"closed"}]}\''
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
last|last here" "$(said 1)"
	same '"helped"' "$(cat state/h.json)"
	[ ! -e state/f.json ] # what others say is not its output
	say again # a workflow begins anew
	same flow "$(cat turns/2/agent)"
	same "helper|helped
last|last here" "$(said 2)"
}

@test "who answers: rewound turns and removed agents do not count" {
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

@test "no answer of the model: no event, and the turn is done" {
	llm empty root_agent.yaml mute "after_model_callbacks: [{name: hush}]"
	rules empty mute <<< '[{text: words}]'
	file empty hush <<< $'#!/bin/sh\necho \'{"content":{"parts":[]}}\''
	session empty
	say hi
	same done "$(cat turns/1/status)"
	same 1 "$(wc -l < events.jsonl)"
	same '' "$(cat output)"
	same 1 "$(jq .total.modelCalls usage.json)"
}

@test "what was said with a call is not told again when the turn fails at the call" {
	llm f root_agent.yaml guarded "tools: [{name: tools/slow}]" "before_tool_callbacks: [{name: guard}]"
	tool f slow '{"description":"slow"}' <<< $'#!/bin/sh\nexec sleep 100'
	file f guard <<< $'#!/bin/sh\ngrep -q crash || exit 0\nexit 3'
	rules f guarded <<-'E'
		- when: {user: crash}
		  text: let me see
		  calls: [{name: slow, id: c-1, args: {crash: 1}}]
		- text: let me see
		  calls: [{name: slow, id: c-2}, {name: slow, id: c-3}]
	E
	session f
	say crash
	same "guarded|let me see|calls slow
guarded|gets {\"error\":\"the turn ended before the tool did\"}
guarded" "$(story | tail -n 3)"
	same 'let me see' "$(timeout 5 cat output 2>&1 | head -n 1)"
	same 1 "$(grep -c 'let me see' turns/1/output)"
	# The same with cancel.
	echo go > input
	eventually 10 grep -q c-3 events.jsonl
	echo cancel > ctl
	timeout 20 cat wait > /dev/null
	same "failed 2" "$(cat status)"
	same "guarded|let me see|calls slow|calls slow
guarded|gets {\"error\":\"the turn ended before the tool did\"}|gets {\"error\":\"the turn ended before the tool did\"}
guarded" "$(story turns/2/events.jsonl | tail -n 3)"
	same CANCELLED "$(jq -r '.errorCode // empty' turns/2/events.jsonl)"
}

@test "many calls that fail the turn at once make one failure" {
	llm m root_agent.yaml guarded "tools: [{name: tools/t}]" "before_tool_callbacks: [{name: guard}]"
	tool m t '{"description":"t"}' <<< $'#!/bin/sh\n:'
	file m guard <<< $'#!/bin/sh\nexit 3'
	{
		echo "- calls:"
		for i in $(seq 80); do echo "  - {name: t, id: c-$i}"; done
	} | rules m guarded
	session m
	say go
	same "failed 1" "$(cat status)"
	same CALLBACK_ERROR "$(jq -r '.errorCode // empty' events.jsonl)"
	same 80 "$(jq '[.content.parts[]?.functionResponse.response | select(.error)] | select(length > 0) | length' events.jsonl)"
}

@test "actions of calls side by side are merged in the order of the calls" {
	llm m root_agent.yaml a "tools: [{name: tools/t}]" "before_tool_callbacks: [{name: cb}]"
	tool m t '{"description":"t"}' <<< $'#!/bin/sh\n:'
	file m cb <<< $'#!/bin/sh\n:'
	# With AgentTool: each sets the same key.
	llm m root_agent.yaml a "tools:" "  - {name: AgentTool, args: {agent: x.yaml}}" \
		"  - {name: AgentTool, args: {agent: y.yaml, skip_summarization: true}}" "  - {name: exit_loop}"
	llm m x.yaml x "output_key: k" "after_model_callbacks: [{name: late}]"
	llm m y.yaml y "output_key: k"
	file m late <<< $'#!/bin/sh\nsleep 0.3'
	rules m x <<< '[{text: from x}]'
	rules m y <<< '[{text: from y}]'
	rules m a <<-'E'
		- when: {user: xy}
		  calls: [{name: x, args: {request: r}}, {name: y, args: {request: r}}]
		- when: {user: yx}
		  calls: [{name: y, args: {request: r}}, {name: x, args: {request: r}}, {name: exit_loop}]
	E
	session m
	say xy
	same '"from y"' "$(cat state/k.json)"
	same true "$(jq -c '.actions.skipSummarization // empty' turns/1/events.jsonl)"
	say yx
	same '"from x"' "$(cat state/k.json)" # though it came last
	same '[true,true]' "$(jq -c 'select(.actions.escalate) | [.actions.escalate, .actions.skipSummarization]' turns/2/events.jsonl)"
	same 3 "$(jq -c .author turns/2/events.jsonl | wc -l)"
}

@test "nested loops, a sequence in a loop, and agents side by side in it" {
	workflow n root_agent.yaml outer Loop mid end
	echo "max_iterations: 2" >> "$AGENTS/n/root_agent.yaml"
	workflow n mid.yaml mid Sequential pair judge tail
	workflow n pair.yaml pair Parallel l r
	talker n l
	talker n r
	llm n judge.yaml judge "tools: [{name: exit_loop}]"
	talker n tail
	talker n end
	rules n judge <<< '[{text: on}]'
	session n
	say go
	same 2 "$(said 1 | grep -c '^end|end here')"
	same "l|pair.l|l here
r|pair.r|r here" "$(said 1 | head -n 2 | sort)"
	same 4 "$(said 1 | grep -c '|pair[.]')"
	rules n judge <<< '[{calls: [{name: exit_loop}]}]'
	say stop
	# The sequence runs to its end, the loop starts nothing more.
	same "judge
tail" "$(jq -r 'select(.branch | not) | .author' turns/2/events.jsonl | grep -v user | uniq)"
	same "tail|tail here" "$(said 2 | tail -n 1)"
	not grep -q '"end"' turns/2/events.jsonl
}

@test "a loop without a number goes on until someone ends it; empty workflow agents end at once" {
	workflow z root_agent.yaml all Sequential none noloop nopar loop after
	for k in none:Sequential noloop:Loop nopar:Parallel; do
		printf 'agent_class: %sAgent\nname: %s\n' "${k#*:}" "${k%:*}" | file z "${k%:*}.yaml"
	done
	workflow z loop.yaml loop Loop count
	echo "max_iterations: 0" >> "$AGENTS/z/loop.yaml"
	llm z count.yaml count "tools: [{name: exit_loop}]" "before_model_callbacks: [{name: third}]"
	file z third <<-'E'
		#!/bin/sh
		n=$(jq '[.contents[].parts[] | select(.text == "again")] | length')
		[ "$n" -lt 3 ] || echo '{"content":{"role":"model","parts":[{"functionCall":{"name":"exit_loop","args":{}}}]}}'
	E
	rules z count <<< '[{text: again}]'
	talker z after
	session z
	say go
	same "count|again
count|again
count|again
after|after here" "$(said 1)"
}

@test "a loop of agents that say nothing can be cancelled" {
	workflow z root_agent.yaml loop Loop none
	printf 'agent_class: SequentialAgent\nname: none\n' | file z none.yaml
	session z
	echo go > input
	eventually 10 grep -q running status
	echo cancel > ctl
	timeout 20 cat wait > /dev/null
	same "failed 1" "$(cat status)"
}

@test "an interim result: the model speaks, nothing pauses, and a late result goes to the agent alone" {
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
closer|closer here" "$(said 1)"
	same '["t-1"]' "$(jq -c '.longRunningToolIds // empty' events.jsonl)"
	not grep -q agentState events.jsonl
	answer t-1 ticket '{"status":"closed"}'
	same asker "$(cat turns/2/agent)"
	same "asker|ticket: closed" "$(said 2)"
	not grep -q endOfAgent events.jsonl
}

@test "side by side, both wait: the sequence goes on when both are answered" {
	workflow b root_agent.yaml flow Sequential both closer
	workflow b both.yaml both Parallel left right third
	waiter b left
	waiter b right
	talker b third
	talker b closer
	session b
	say go
	same idle "$(cat status)"
	same "third|both.third|third here" "$(said 1)"
	answer right-1 ask '{"result":"R"}'
	same "right|both.right|right got R" "$(said 2)"
	answer left-1 ask '{"result":"L"}'
	same "left|both.left|left got L
closer|closer here" "$(said 3)"
	same "both
flow" "$(jq -r 'select(.actions.endOfAgent) | .author' turns/3/events.jsonl)"
	answer left-1 ask '{"result":"again"}'
	same "left|both.left|left got again" "$(said 4)" # the sequence is over
}

@test "any other message leaves the pause open; the answer comes last for the model" {
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
	same "desk|chat" "$(said 2)"
	same '{"status":"pending"}' "$(jq -c '.contents[].parts[].functionResponse.response // empty' artifacts/request.json)"
	answer a-1 ask '{"result":1}'
	same "desk|got 1" "$(said 3)"
	same '["ask","more","chat","ask","ask"]' \
		"$(jq -c '[.contents[].parts[] | (.text // .functionCall.name // .functionResponse.name)]' artifacts/request.json)"
	say more # later it stands at its call
	same '["ask","ask","ask","more","chat","got 1","more"]' \
		"$(jq -c '[.contents[].parts[] | (.text // .functionCall.name // .functionResponse.name)]' artifacts/request.json)"
}

@test "side by side, both answered in one message" {
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
closer|closer here" "$(said 2)"
}

@test "two long-running calls in one answer: the sequence goes on behind the second" {
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
	same "asker|one more" "$(said 2)"
	answer a-2 ask '{"result":2}'
	same "asker|got 2
closer|closer here" "$(said 3)"
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
	file l count <<-'E'
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
	same "a|a got 1" "$(said 2)"
	same idle "$(cat status)"
	daemon_restart
	back
	answer b-1 ask '{"result":1}'
	same "b|b got 1
closer|closer here" "$(said 3)"
	grep -q '"id":"a-2"' turns/3/events.jsonl
	answer a-2 ask '{"result":2}'
	daemon_restart
	back
	answer b-2 ask '{"result":2}'
	same "b|b got 2
closer|closer here" "$(said 5)"
	same "outer" "$(jq -r 'select(.actions.endOfAgent) | .author' turns/5/events.jsonl | tail -n 1)"
	not grep -q '"id":"a-3"' events.jsonl
	same '{"current_sub_agent":"inner","times_looped":1}' \
		"$(jq -c 'select(.author == "outer") | .actions.agentState // empty' events.jsonl | tail -n 1)"
}

@test "a tree that is another one at the answer: only who called runs" {
	workflow c root_agent.yaml flow Sequential asker closer
	waiter c asker
	talker c closer
	talker c other
	session c
	say go
	workflow c root_agent.yaml changed Sequential asker other
	answer asker-1 ask '{"result":"x"}'
	same "asker|asker got x" "$(said 2)"
	# And one that is gone: the root.
	session c ann s2
	say go
	workflow c root_agent.yaml changed Sequential other
	answer asker-1 ask '{"result":"x"}'
	same "other|other here" "$(said 2)"
}

@test "a turn that goes on and fails can be gone on with again" {
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
closer|closer here" "$(said 3)"
}

@test "a crash: every open call is closed, but those that may be answered later" {
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

confirming() {
	llm conf root_agent.yaml ops "tools: [{name: tools/delete}, {name: tools/look}]" "$@"
	rules conf ops <<-'E'
		- when: {user: twice}
		  calls: [{name: delete, id: d-1, args: {path: /x}}, {name: delete, id: d-2, args: {path: /y}}]
		- when: {user: delete}
		  calls: [{name: delete, id: d-1, args: {path: /x}}]
		- when: {tool: delete}
		  text: ${result}
	E
	tool conf delete '{"description":"deletes","requireConfirmation":true,"parameters":{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}}' <<-'E'
		#!/bin/sh
		jq -c '{deleted: .path}' | tee -a "$ADKFS_SESSION/artifacts/deleted"
	E
	tool conf look '{"description":"looks"}' <<< $'#!/bin/sh\necho seen'
	session conf
}

yes_to() {
	jq -nc --args '{role: "user", parts: [$ARGS.positional[] | {functionResponse: {id: ., name: "adk_request_confirmation", response: {confirmed: true}}}]}' "$@" > input.json
	timeout 20 cat wait > /dev/null
}

requests() {
	jq -r '.content.parts[]?.functionCall | select(.name == "adk_request_confirmation") | .id' events.jsonl
}

@test "a confirmation that comes twice decides once, and its copy is no turn of the model" {
	confirming
	say delete
	id=$(requests)
	yes_to "$id" "$id"
	same '{"deleted":"/x"}' "$(cat output)"
	same '{"deleted":"/x"}' "$(cat artifacts/deleted)"
	calls=$(jq .total.modelCalls usage.json)
	yes_to "$id"
	same idle "$(cat status)"
	same 1 "$(wc -l < turns/3/events.jsonl)"
	same "$calls" "$(jq .total.modelCalls usage.json)"
	same '{"deleted":"/x"}' "$(cat artifacts/deleted)"
}

@test "two calls to confirm: each by itself, over a restart" {
	confirming
	say twice
	same 2 "$(requests | wc -l)"
	yes_to "$(requests | tail -n 1)"
	same '{"deleted":"/y"}' "$(cat artifacts/deleted)"
	daemon_restart
	back
	yes_to "$(requests | head -n 1)"
	same '{"deleted":"/y"}
{"deleted":"/x"}' "$(cat artifacts/deleted)"
}

@test "a call whose arguments a callback changes can be confirmed" {
	file conf change <<< $'#!/bin/sh\njq -c \'{args: {path: ("/safe" + .args.path)}}\''
	confirming "before_tool_callbacks: [{name: change}]"
	say delete
	same /x "$(jq -r '.content.parts[]?.functionCall.args.originalFunctionCall.args.path // empty' events.jsonl)"
	yes_to "$(requests)"
	same '{"deleted":"/safe/x"}' "$(cat output)"
}

@test "answers that are no yes" {
	confirming
	for response in '{}' '{"confirmed":"true"}' '{"confirmed":1}' '{"response":"yes"}' \
		'{"response":"[true]"}' '{"response":7}' '{"confirmed":false,"response":"{\"confirmed\":true}"}'; do
		mkdir "$MNT/apps/conf/users/ann/sessions/$((++n))"
		cd "$MNT/apps/conf/users/ann/sessions/$n"
		say delete
		answer "$(request_id)" adk_request_confirmation "$response"
		same '{"error":"rejected by the user"}' "$(cat output)"
		[ ! -e artifacts/deleted ]
	done
	mkdir ../yes
	cd ../yes
	say delete
	answer "$(request_id)" adk_request_confirmation '{"response":"{\"confirmed\": true, \"payload\": 1}"}'
	same '{"deleted":"/x"}' "$(cat output)"
}

@test "a confirmation in a sub-agent, inside a sequence: it goes on behind" {
	workflow s root_agent.yaml flow Sequential ops last
	llm s ops.yaml ops "sub_agents: [{config_path: arm.yaml}]"
	llm s arm.yaml arm "tools: [{name: tools/fire}]"
	talker s last
	tool s fire '{"description":"f","requireConfirmation":true}' <<< $'#!/bin/sh\necho fired'
	rules s ops <<< '[{calls: [{name: transfer_to_agent, args: {agent_name: arm}}]}]'
	rules s arm <<-'E'
		- when: {tool: fire}
		  text: ${result.result}
		- calls: [{name: fire}]
	E
	session s
	say go
	yes_to "$(requests)"
	same arm "$(cat turns/2/agent)"
	same "arm|fired
last|last here" "$(said 2)"
}

@test "an agent as a tool: its last words, though an event without words follows them" {
	llm at root_agent.yaml boss "tools:" "  - {name: AgentTool, args: {agent: clerk.yaml}}"
	llm at clerk.yaml clerk "after_agent_callbacks: [{name: after}]" "output_schema: {name: n.json}"
	file at n.json <<< '{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}'
	file at after <<< $'#!/bin/sh\necho \'{"parts":[{"text":"[] and words"}]}\''
	rules at boss <<-'E'
		- when: {tool: clerk}
		  text: ${result}
		- calls: [{name: clerk, args: {request: r}}]
	E
	rules at clerk <<< '[{text: "{\"n\":1}"}]'
	session at
	say go
	same '{"result":"[] and words"}' "$(cat output)" # words of a callback are not checked
	file at after <<< $'#!/bin/sh\necho \'{"parts":[{"text":"[]"}]}\''
	say go
	same '{"result":"[]"}' "$(cat output)"
	file at after <<< $'#!/bin/sh\nexit 0'
	say go
	same '{"n":1}' "$(cat output)"
}

@test "agents as tools: nested deep, transfers, failures, their own temp: and the calls counted" {
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

@test "an agent as a tool sees and overrules what the callback before it has set" {
	llm o root_agent.yaml boss "tools: [{name: AgentTool, args: {agent: clerk.yaml}}]"
	llm o clerk.yaml clerk "input_schema: {name: in.json}" "output_key: said"
	file o in.json <<< '{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}'
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

@test "callbacks: the first that answers ends the chain; slow ones, and junk" {
	llm ch root_agent.yaml a "before_model_callbacks: [{name: one}, {name: two}, {name: three}]"
	rules ch a <<< '[{text: model}]'
	file ch one <<< $'#!/bin/sh\n:'
	file ch two <<< $'#!/bin/sh\necho \'{"content":{"parts":[{"text":"two"}]}}\''
	file ch three <<< $'#!/bin/sh\ntouch "$ADKFS_SESSION/artifacts/three"'
	session ch
	say hi
	same two "$(cat output)"
	[ ! -e artifacts/three ]
	n=1
	while IFS='|' read -r junk why; do
		file ch one <<< $'#!/bin/sh\n'"$junk"
		say hi
		n=$((n + 1))
		same "failed $n" "$(cat status)"
		same CALLBACK_ERROR "$(jq -r '.errorCode // empty' turns/$n/events.jsonl)"
		why="before_model callback one: $why"
		got=$(cat turns/$n/error)
		same "$why" "${got:0:${#why}}"
	done <<-'E'
		echo junk|its output is not JSON: expected a JSON value, found 'j' (at byte 1)
		echo []|its output is not an object
		echo {|its output is not JSON: 
		echo {}|a response has content, or an errorCode
		echo '{"content":7}'|content: 
		echo '{"llmRequest":5}'|llmRequest has to be an object
		echo '{"llmRequest":{"contents":{}}}'|contents: expected a list
		echo '{"llmRequest":{"config":[]}}'|config has to be an object
		echo '{"llmRequest":{"config":{"tools":5}}}'|config.tools has to be a list
		printf '\377'|its output is not JSON: 
		kill -9 $$|killed by SIGKILL
		exit 7|exit status 7
	E
	echo ADKFS_TOOL_TIMEOUT_MS=300 > "$AGENTS/ch/.env"
	file ch one <<< $'#!/bin/sh\nsleep 100'
	say hi
	same "before_model callback one: timed out after 0.3 seconds" "$(cat turns/latest/error)"
}

@test "program agents: junk, huge lines, no last newline, ids of their own, and cancel" {
	file p root_agent.yaml <<< $'agent_class: ./agent\nname: prog'
	file p agent <<-'E'
		#!/usr/bin/python3
		import json, os, sys, time
		word = json.load(sys.stdin)["parts"][0]["text"].strip()
		def say(text, **more):
		    sys.stdout.write(json.dumps({"content": {"role": "model", "parts": [{"text": text}]}, **more}) + "\n")
		    sys.stdout.flush()
		if word == "huge":
		    say("x" * 3000000)
		elif word == "partial":
		    sys.stdout.write('\n\r\n{"content":{"parts":[{"text":"no newline"}],"role":"model"}}')
		elif word == "pretend":
		    say("me", author="user", invocationId="e-1", branch="x.y", id="own", timestamp=5)
		elif word == "twice":
		    say("me", id="own")
		elif word == "key":
		    say("me", actions={"stateDelta": {"": 1}})
		elif word == "slow":
		    say("begun")
		    time.sleep(100)
		elif word == "crash":
		    say("before")
		    os.kill(os.getpid(), 11)
	E
	session p
	say huge
	same 3000001 "$(wc -c < output)"
	say partial
	same "no newline" "$(cat output)"
	say pretend
	same '["prog",null]' "$(jq -c 'select(.content.parts[0].text == "me") | [.author, .branch]' events.jsonl)"
	same 1 "$(jq -r .invocationId turns/3/events.jsonl | sort -u | wc -l)"
	for word in twice key; do
		say $word
		same AGENT_ERROR "$(jq -r '.errorCode // empty' turns/latest/events.jsonl)"
		[[ $(cat turns/latest/error) == "agent prog: line 1 of its output: "* ]]
	done
	say crash
	same "agent prog: killed by SIGSEGV" "$(cat turns/latest/error)"
	echo slow > input
	eventually 10 grep -q running status
	echo cancel > ctl
	timeout 20 cat wait > /dev/null
	same CANCELLED "$(jq -r '.errorCode // empty' turns/latest/events.jsonl)"
}

@test "a program agent that ends in the middle of a line: the error names how it ended" {
	file cl root_agent.yaml <<< $'agent_class: ./agent\nname: prog'
	file cl agent <<-'E'
		#!/usr/bin/python3
		import json, os, sys
		word = json.load(sys.stdin)["parts"][0]["text"].strip()
		print('{"content":{"role":"model","parts":[{"text":"good"}]}}')
		sys.stdout.write('{"content":{"parts":[{"text":"' + ("" if word == "byte" else "cut"))
		sys.stdout.flush()
		if word == "byte":
		    os.write(1, b"\xc3")
		elif word == "newline":
		    print(flush=True)
		elif word == "closed":
		    os.close(1)
		    os.close(2)
		    os.kill(os.getpid(), 11)
		if word in ("segv", "byte"):
		    os.kill(os.getpid(), 11)
		elif word != "well":
		    sys.exit("it broke")
	E
	session cl
	for word in segv:'killed by SIGSEGV' byte:'killed by SIGSEGV' exit:'exit status 1: it broke' \
		closed:'killed by SIGSEGV' \
		newline:'line 2 of its output: it ends too early to be JSON' \
		well:'line 2 of its output: it ends too early to be JSON'; do
		say "${word%%:*}"
		same "agent prog: ${word#*:}" "$(cat turns/latest/error)"
		same good "$(cat output)"
		same AGENT_ERROR "$(jq -r '.errorCode // empty' turns/latest/events.jsonl)"
	done
}

# A program that calls, app $1: by the first word of the message it ends in one way or another.
calling_program() {
	file "$1" "${2-root_agent}.yaml" <<< $'agent_class: ./agent\nname: '"${3-prog}"
	file "$1" agent <<-'E'
		#!/usr/bin/python3
		import json, os, sys, time
		part = json.load(sys.stdin)["parts"][0]
		word = part["text"].strip() if "text" in part else "answered"
		def say(*parts, **more):
		    print(json.dumps({"content": {"role": "model", "parts": parts}, **more}), flush=True)
		def call(id):
		    return {"functionCall": {"id": id, "name": "look", "args": {}}}
		def answer(id):
		    return {"functionResponse": {"id": id, "name": "look", "response": {"result": id}}}
		if word == "answered":
		    say({"text": "got " + json.dumps(part["functionResponse"]["response"])})
		elif word == "wait":
		    say(call("w-1"), longRunningToolIds=["w-1"])
		elif word == "request":
		    say({"functionCall": {"id": "r-1", "name": "adk_request_confirmation", "args": {}}}, longRunningToolIds=["r-1"])
		elif word == "settled":
		    say(call("s-1"), longRunningToolIds=["s-1"])
		    say(answer("s-1"))
		else:
		    say(call("a-1"), call("b-1"), {"text": "well"})
		    say(call("c-1"), answer("c-1"))
		    say({"functionCall": {"name": "nameless", "args": {}}})
		    say(call("late"), call("d-1"), longRunningToolIds=["late"])
		    say(answer("b-1"), {"functionResponse": {"name": "nameless", "response": {}}})
		    if word == "fail":
		        sys.exit("no more")
		    elif word == "junk":
		        print("{}}", flush=True)
		    elif word == "slow":
		        time.sleep(100)
	E
	session "$1"
}

# Calls of the newest turn that were closed with an error: who says so, which, and why.
closed_calls() {
	jq -c '[.author, .branch, .content.role] + [.content.parts[]?.functionResponse | select(.response.error)
		| .id, .name, .response.error] | select(length > 3)' turns/latest/events.jsonl
}

@test "program agents: no call stays open when the program fails, is cancelled, or ends well" {
	local early='the turn ended before the tool did' late='the program ended without an answer'

	calling_program oc
	say fail
	same "agent prog: exit status 1: no more" "$(cat turns/latest/error)"
	same "[\"prog\",null,\"user\",\"a-1\",\"look\",\"$early\",\"d-1\",\"look\",\"$early\"]" "$(closed_calls)"
	same '["prog","AGENT_ERROR"]' "$(tail -n 1 events.jsonl | jq -c '[.author, .errorCode]')"
	say junk
	same "[\"prog\",null,\"user\",\"a-1\",\"look\",\"$early\",\"d-1\",\"look\",\"$early\"]" "$(closed_calls)"
	echo slow > input
	eventually 20 grep -q nameless.*response turns/3/events.jsonl
	echo cancel > ctl
	same "failed 3" "$(timeout 60 cat wait)"
	same "[\"prog\",null,\"user\",\"a-1\",\"look\",\"$early\",\"d-1\",\"look\",\"$early\"]" "$(closed_calls)"
	same '["prog","CANCELLED"]' "$(tail -n 1 events.jsonl | jq -c '[.author, .errorCode]')"
	say well
	same "done" "$(cat turns/latest/status)"
	same "[\"prog\",null,\"user\",\"a-1\",\"look\",\"$late\",\"d-1\",\"look\",\"$late\"]" "$(closed_calls)"
}

@test "program agents side by side: each closes its own calls, on its branch" {
	workflow ob root_agent.yaml both Parallel l r
	calling_program ob l l
	calling_program ob r r
	say fail
	same '["l","both.l","user","a-1"]
["r","both.r","user","a-1"]' "$(closed_calls | jq -c '.[:4]' | sort)"
	say settled
	same "done" "$(cat turns/latest/status)"
	same "" "$(closed_calls)"
}

@test "program agents: a long-running call pauses the loop around it, and the answer goes on behind it" {
	file pl root_agent.yaml <<-'E'
		agent_class: LoopAgent
		name: flow
		max_iterations: 2
		sub_agents: [{config_path: a.yaml}, {config_path: b.yaml}]
	E
	calling_program pl a a
	talker pl b
	file pl sign <<< $'#!/bin/sh\necho \'{"parts":[{"text":"signed"}]}\''
	echo 'after_agent_callbacks: [{name: sign}]' >> "$AGENTS/pl/a.yaml"
	say wait
	same "idle" "$(cat status)"
	same "user|wait
a|calls look
flow" "$(story turns/1/events.jsonl)"
	same '{"current_sub_agent":"a","times_looped":0}' "$(tail -n 1 events.jsonl | jq -c .actions.agentState)"
	daemon_restart
	back
	answer w-1 look '{"n":7}'
	same "done" "$(cat turns/2/status)"
	# The second round gets the same message, the answer.
	same 'a|got {"n": 7}
a|signed
b|b here
a|got {"n": 7}
a|signed
b|b here' "$(said 2)"
	same '["flow",true]' "$(tail -n 1 events.jsonl | jq -c '[.author, .actions.endOfAgent]')"
	say settled
	same "a|signed
b|b here
a|signed
b|b here" "$(said 3)"
}

@test "program agents: side by side, behind a transfer, with a request of their own, and as a tool" {
	workflow pq root_agent.yaml root Sequential both end
	workflow pq both.yaml both Parallel l t
	calling_program pq l l
	talker pq t
	talker pq end
	say wait
	same "t|both.t|t here" "$(said 1)"
	answer w-1 look '{}'
	same "l|both.l|got {}
end|end here" "$(said 2)"
	# A request for a confirmation is a call like others.
	say request
	same "t|both.t|t here" "$(said 3)"
	yes_to r-1
	same 'l|both.l|got {"confirmed": true}
end|end here' "$(said 4)"
	# Who handed over is known: its after_agent comes behind the answer.
	llm pt root_agent.yaml desk "sub_agents: [{config_path: a.yaml}]" "after_agent_callbacks: [{name: sign}]"
	rules pt desk <<< '[{calls: [{name: transfer_to_agent, args: {agent_name: a}}]}]'
	file pt sign <<< $'#!/bin/sh\necho \'{"parts":[{"text":"signed"}]}\''
	calling_program pt a a
	sed -i 's/longRunningToolIds=\["w-1"\]/longRunningToolIds=["w-1"], customMetadata={"mine": 1}/' "$AGENTS/pt/agent"
	say wait
	same "" "$(said 1)"
	same '{"adkfs.transfers":["desk"],"mine":1}' "$(jq -c 'select(.longRunningToolIds) | .customMetadata' -S events.jsonl)"
	answer w-1 look '{}'
	same "a|got {}
desk|signed" "$(said 2)"
	# Called as a tool it cannot wait.
	llm pn root_agent.yaml boss "tools: [{name: AgentTool, args: {agent: {config_path: flow.yaml}}}]"
	rules pn boss <<< '[{when: {tool: flow}, text: "${result.result}"}, {calls: [{name: flow, args: {request: wait}}]}]'
	workflow pn flow.yaml flow Sequential a b
	calling_program pn a a
	talker pn b
	say go
	same "b here" "$(cat output)"
	same "done" "$(cat turns/1/status)"
	# What it said with a call that it leaves is its answer.
	sed -i 's/{config_path: flow.yaml}/{config_path: a.yaml}/' "$AGENTS/pn/root_agent.yaml"
	rules pn boss <<< '[{when: {tool: a}, text: "${result.result}"}, {calls: [{name: a, args: {request: words}}]}]'
	sed -i 's/word == "wait":/word == "words":\n    say({"text": "my words"}, call("x"))\nelif word == "wait":/' "$AGENTS/pn/agent"
	say go
	same "my words" "$(cat output)"
}

@test "instructions: static parts, placeholders with artifacts, and what is not there" {
	file in root_agent.yaml <<-'E'
		name: a
		model: script/a.script.yaml
		description: helps
		static_instruction: [{text: always}, {inline_data: {mime_type: image/png, data: aGk=}}, {text: the same}]
		instruction: "{x} {x?} {y?}|{artifact.note.md}|{artifact.user:n.md}|{{x}} { x } {a.b}"
	E
	dump in root_agent.yaml
	rules in a <<< '[{text: ok}]'
	session in
	echo '"X"' > state/x.json
	echo -n 'of mine' > artifacts/note.md
	echo -n 'of the user' > artifacts/user:n.md
	say one
	say two
	same "always
the same

You are an agent. Your internal name is \"a\". The description about you is \"helps\"." \
		"$(jq -r .config.systemInstruction artifacts/request.json)"
	same '[["user",["image/png"]],["user",["one"]],["model",["ok"]],["user",["X X |of mine|of the user|X X {a.b}"]],["user",["two"]]]' \
		"$(jq -c '[.contents[] | [.role, [.parts[] | (.text // .inlineData.mimeType)]]]' artifacts/request.json)"
	rm artifacts/note.md
	say three
	same "Artifact 'note.md' not found." "$(cat turns/3/error)"
	same TEMPLATE_ERROR "$(jq -r '.errorCode // empty' turns/3/events.jsonl)"
}

@test "load_artifacts: text, image, binary, of the user, and what is missing, in one request" {
	llm la root_agent.yaml a "tools: [{name: load_artifacts}]"
	dump la root_agent.yaml
	sed -i 's/artifacts\/request.json/artifacts\/r$(ls "$ADKFS_SESSION\/artifacts" | grep -c ^r).json/' "$AGENTS/la/dump"
	rules la a <<-'E'
		- when: {user: '^load$'}
		  calls: [{name: load_artifacts, args: {artifact_names: [t.txt, i.png, b.bin, u.txt, none]}}]
		- when: {tool: load_artifacts}
		  calls: [{name: load_artifacts, args: {artifact_names: []}}]
		- text: seen
	E
	session la
	echo -n words > artifacts/t.txt
	printf '\x89PNG\r\n\x1a\n' > artifacts/i.png
	printf '\0\1' > artifacts/b.bin
	echo -n "the user's" > artifacts/user:u.txt
	say load
	same '["b.bin","i.png","t.txt","user:u.txt"]' \
		"$(jq -r .config.systemInstruction artifacts/r0.json | grep '^\["' | jq -c 'map(select(startswith("r") | not))')"
	same '["Artifact t.txt is:","words","Artifact i.png is:","image/png","Artifact b.bin is:","[binary data, application/octet-stream, 2 bytes]","Artifact u.txt is:","the user'"'"'s","There is no artifact none."]' \
		"$(jq -c '[.contents[3:][].parts[] | (.text // .inlineData.mimeType)]' artifacts/r1.json)"
	same seen "$(cat output)"
	not grep -q words events.jsonl
}

@test "memory: what is remembered comes by itself, and by a call" {
	llm me root_agent.yaml a "tools: [{name: preload_memory}, {name: load_memory}]"
	dump me root_agent.yaml
	rules me a <<-'E'
		- when: {tool: load_memory}
		  text: "${result}"
		- when: {user: '^find (\w+)'}
		  calls: [{name: load_memory, args: {query: "$1"}}]
		- text: noted
	E
	session me ann old
	say 'the cat is called Mimi'
	ln -s ../../sessions/old ../../memory/sessions/old
	session me
	say 'how is my cat'
	jq -r .config.systemInstruction artifacts/request.json | grep -q 'user: the cat is called Mimi'
	same '["load_memory"]' "$(jq -c '[.config.tools[].functionDeclarations[].name]' artifacts/request.json)"
	say 'find mimi'
	jq -e '.memories[0].content.parts[0].text == "the cat is called Mimi"' output
	say 'find nothing_like_it'
	same '{"memories":[]}' "$(cat output)"
}

@test "include_contents none: what is new since the agent spoke" {
	workflow ic root_agent.yaml flow Sequential one two
	talker ic one
	llm ic two.yaml two "include_contents: none"
	dump ic two.yaml
	rules ic two <<< '[{text: two here}]'
	session ic
	say first
	say second
	same '[["For context:","[one] said: one here"]]' "$(jq -c '[.contents[] | [.parts[].text]]' artifacts/request.json)"
}

@test "temp: keys of a turn are seen by its agents, and by nobody after it" {
	workflow te root_agent.yaml flow Sequential one two
	llm te one.yaml one "output_key: 'temp:draft'"
	rules te one <<< '[{text: rough}]'
	llm te two.yaml two
	sed -i 's/^instruction:.*/instruction: "<{temp:draft}>"/' "$AGENTS/te/two.yaml"
	dump te two.yaml
	rules te two <<< '[{text: done}]'
	session te
	say go
	[[ $(jq -r .config.systemInstruction artifacts/request.json) == "<rough>"* ]]
	not grep -q draft events.jsonl
	workflow te root_agent.yaml flow Sequential two
	say go
	same TEMPLATE_ERROR "$(jq -r '.errorCode // empty' turns/2/events.jsonl)"
}

@test "usage and trace of a turn of several agents" {
	workflow u root_agent.yaml flow Sequential one both
	workflow u both.yaml both Parallel l r
	for a in one l r; do
		llm u $a.yaml $a
		rules u $a <<< "[{text: $a, usage: {prompt: 10, candidates: 2, total: 12}}]"
	done
	session u
	say go
	same '{"modelCalls":3,"promptTokenCount":30,"totalTokenCount":36}' \
		"$(jq -c '.total | {modelCalls, promptTokenCount, totalTokenCount}' usage.json)"
	jq -e . trace.json > /dev/null
	for a in one l r; do
		grep -q "\"$a\"" trace.json
	done
}

@test "contexts: what callbacks change stays when the tool fails; what it changed does not" {
	llm cx root_agent.yaml a "tools: [{name: tools/t}, {name: AgentTool, args: {agent: sub.yaml}}]" \
		"before_tool_callbacks: [{name: before}]" "after_tool_callbacks: [{name: after}]"
	llm cx sub.yaml sub "output_key: seen"
	sed -i 's/^instruction:.*/instruction: "{k}"/' "$AGENTS/cx/sub.yaml"
	dump cx sub.yaml
	sed -i 's/request.json/sub.json/' "$AGENTS/cx/dump"
	rules cx sub <<< '[{text: done}]'
	rules cx a <<-'E'
		- when: {tool: '.'}
		  text: ${result}
		- when: {user: sub}
		  calls: [{name: sub, args: {request: r}}]
		- calls: [{name: t}]
	E
	file cx before <<-'E'
		#!/bin/sh
		echo '{"before":1}' > "$ADK_CONTEXT/state/k.json"
		echo '"before"' > "$ADK_CONTEXT/state/seen.json"
	E
	file cx after <<-'E'
		#!/bin/sh
		! grep -q error || echo 1 > "$ADK_CONTEXT/state/errors.json"
	E
	tool cx t '{"description":"t"}' <<-'E'
		#!/bin/sh
		grep -q before "$ADK_CONTEXT/state/k.json" || exit 9
		echo '{"tool":2}' > "$ADK_CONTEXT/state/k.json"
		echo 2 > "$ADK_CONTEXT/state/tool.json"
		echo '{"escalate":true}' > "$ADK_CONTEXT/actions.json"
		echo x > "$ADK_CONTEXT/artifacts/x.txt"
		exit 3
	E
	session cx
	say fail
	same '{"error":"exit status 3"}' "$(cat output)"
	same '{"before":1} 1' "$(echo $(cat state/k.json state/errors.json))"
	[ ! -e state/tool.json ]
	[ ! -e artifacts/x.txt ]
	not grep -q escalate events.jsonl
	sed -i 's/exit 3/exit 0/' "$AGENTS/cx/tools/t"
	say work
	same '{"tool":2}' "$(cat state/k.json)" # what came later takes its place
	same x "$(cat artifacts/x.txt)"
	same true "$(jq -c 'select(.actions.artifactDelta["x.txt"]) | .actions.escalate' events.jsonl)"
	say sub
	jq -r .config.systemInstruction artifacts/sub.json | grep -q '{"before":1}'
	same '"done"' "$(cat state/seen.json)"
}

@test "contexts: what calls side by side change is merged in depth, in the order of the calls" {
	llm md root_agent.yaml a "tools: [{name: tools/t}]"
	rules md a <<-'E'
		- when: {tool: t}
		  text: done
		- calls: [{name: t, args: {n: 1}}, {name: t, args: {n: 2}}, {name: t, args: {n: 3}}]
	E
	tool md t '{"description":"t"}' <<-'E'
		#!/bin/sh
		n=$(jq .n)
		sleep 0.$((4 - n))
		echo "{\"m\":{\"$n\":true},\"list\":[$n],\"last\":$n}" > "$ADK_CONTEXT/state/k.json"
		echo "$n" > "$ADK_CONTEXT/artifacts/a.txt"
		[ "$n" != 1 ] || echo '{"skipSummarization":true}' > "$ADK_CONTEXT/actions.json"
		[ "$n" != 2 ] || echo '{"skipSummarization":false,"escalate":true}' > "$ADK_CONTEXT/actions.json"
	E
	session md
	say go
	same '{"m":{"1":true,"2":true,"3":true},"list":[3],"last":3}' "$(cat state/k.json)"
	same 3 "$(cat artifacts/a.txt)"
	same "1 2 3" "$(ls artifacts/.versions/a.txt | grep -v json | tr '\n' ' ' | sed 's/ $//')"
	same '[true,true]' "$(jq -c 'select(.actions.escalate) | [.actions.escalate, .actions.skipSummarization]' events.jsonl)"
	same '' "$(cat output)" # the model is not asked for words
}

@test "set_model_response with what never fits: three times, and no more" {
	llm sm root_agent.yaml a "tools: [{name: load_memory}]" "output_schema: {name: s.json}"
	file sm s.json <<< '{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}'
	rules sm a <<< '[{calls: [{name: set_model_response, args: {n: x}}]}]'
	session sm
	say go
	same OUTPUT_SCHEMA "$(jq -r '.errorCode // empty' events.jsonl)"
	same 3 "$(jq .total.modelCalls usage.json)"
}

@test "a callback of a tool that hands over to nobody: the call has failed, and leaves nothing" {
	llm ht root_agent.yaml desk "tools: [{name: tools/t}]" "sub_agents: [{config_path: kid.yaml}]" \
		"before_tool_callbacks: [{name: before}]" "after_tool_callbacks: [{name: after}]"
	talker ht kid
	rules ht desk <<-'E'
		- when: {tool: t, result: error}
		  text: ${result.error}
		- when: {tool: t}
		  text: fine
		- when: {user: (.+)}
		  calls: [{name: t, id: c-1, args: {who: "$1"}}]
	E
	tool ht t '{"description":"t"}' <<< $'#!/bin/sh\necho 1 > "$ADK_CONTEXT/state/tool.json"\necho x > "$ADK_CONTEXT/artifacts/x.txt"'
	for kind in before after; do
		file ht $kind <<-E
			#!/bin/sh
			read -r call
			echo 1 > "\$ADK_CONTEXT/state/$kind.json"
			to=\$(echo "\$call" | jq -r '.args.who | capture("$kind=(?<to>\\\\w+)").to // empty')
			[ -z "\$to" ] || echo "{\"transferToAgent\":\"\$to\"}" > "\$ADK_CONTEXT/actions.json"
		E
	done
	for message in after=root before=desk "before=kid after=nobody"; do
		session ht ann "s-${message##*=}"
		say "$message"
		same done "$(cat turns/1/status)"
		same "Agent '${message##*=}' not found. Available agents: kid" "$(cat output)"
		same '' "$(jq -r '.actions.transferToAgent // empty' events.jsonl)"
		same '' "$(ls state; ls artifacts)"
	done
	# What is written last counts.
	session ht
	say "before=nobody after=kid"
	same 'kid here' "$(cat output)"
	same "after.json before.json tool.json x.txt" "$({ ls state; ls artifacts; } | sort | xargs)"
	# Nobody is asked about a call that has failed.
	tool ht t '{"description":"t","requireConfirmation":true}' <<< $'#!/bin/sh\n:'
	session ht ann conf
	say before=nobody
	same done "$(cat turns/1/status)"
	same "Agent 'nobody' not found. Available agents: kid" "$(cat output)"
	not grep -q adk_request_confirmation events.jsonl
}

@test "two calls with one id in what a callback answers: each has its own result" {
	llm one root_agent.yaml a "tools: [{name: tools/t}]" "before_model_callbacks: [{name: twice}]"
	rules one a <<< '[{text: never}]'
	tool one t '{"description":"t"}' <<< $'#!/bin/sh\njq -c "{n}"'
	file one twice <<-'E'
		#!/bin/sh
		cat > "$ADKFS_SESSION/artifacts/request.json"
		grep -q functionResponse "$ADKFS_SESSION/artifacts/request.json" &&
			exec echo '{"content":{"parts":[{"text":"both"}]}}'
		call() { printf '{"functionCall":{"id":"%s","name":"t","args":{"n":%s}}}' "$@"; }
		echo "{\"content\":{\"parts\":[$(call c-1 1),$(call c-1 2),$(call "" 3),$(call c-1 4)]}}"
	E
	session one
	say go
	same both "$(cat output)"
	same "1 2 3 4" "$(jq -r '.contents[].parts[].functionResponse.response.n // empty' artifacts/request.json | xargs)"
	same "c-1 adk adk adk" "$(jq -r '.content.parts[]?.functionCall.id // empty' events.jsonl | sed 's/^adk-.*/adk/' | xargs)"
	same "$(jq -c '[.content.parts[]?.functionCall.id // empty] | select(length > 0)' events.jsonl)" \
		"$(jq -c '[.content.parts[]?.functionResponse.id // empty] | select(length > 0)' events.jsonl)"
}

@test "callbacks of agents cannot call functions" {
	for kind in before after; do
		llm no root_agent.yaml a "${kind}_agent_callbacks: [{name: calls}]"
		rules no a <<< '[{text: hello}]'
		for part in '{"functionCall":{"name":"t"}}' '{"function_response":{"name":"t","id":"i","response":{}}}'; do
			file no calls <<< $'#!/bin/sh\n'"echo '{\"parts\":[{\"text\":\"x\"},$part]}'"
			session no
			say go
			same CALLBACK_ERROR "$(jq -r '.errorCode // empty' turns/latest/events.jsonl)"
			same "${kind}_agent callback calls: an agent callback cannot call functions or answer calls" \
				"$(cat turns/latest/error)"
			not grep -q -E "functionCall|functionResponse" events.jsonl
		done
	done
}

# counted APP NAME [LINE OF YAML]...: an agent whose requests are counted in its state, in
# user:seen and in log.txt; `seen NAME` is in its instruction.
counted() {
	local app=$1 name=$2

	shift 2
	llm "$app" "$name.yaml" "$name" "before_model_callbacks: [{name: count}, {name: say}]" "$@"
	sed -i "s/^instruction:.*/instruction: 'seen {$name?}'/" "$AGENTS/$app/$name.yaml"
	file "$app" count <<-'E'
		#!/bin/sh
		cd "$ADK_CONTEXT"
		n=$(($(cat "state/$ADK_AGENT_NAME.json" 2> /dev/null || echo 0) + 1))
		echo $n > "state/$ADK_AGENT_NAME.json"
		echo $n > "state/user:seen.json"
		echo $n > artifacts/log.txt
		jq -r .config.systemInstruction | grep -o 'seen.*' >> "$ADKFS_SESSION/artifacts/seen.txt"
	E
	[ -e "$AGENTS/$app/say" ] || file "$app" say <<< $'#!/bin/sh\n:'
}

# What count has changed, and where: values, versions of log.txt, events that tell of them.
counts() {
	echo "$(cat "state/$1.json" state/user:seen.json artifacts/log.txt | xargs)" \
		"$(ls artifacts/.versions/log.txt | grep -vc json)" \
		"$(jq -c "select(.actions.stateDelta.$1) | [.actions.stateDelta.$1, .actions.artifactDelta[\"log.txt\"]]" events.jsonl | xargs)"
}

@test "an answer that does not fit: what callbacks changed before it is in the event of the one that does" {
	counted ca root_agent "output_schema: {name: s.json}" "output_key: out"
	file ca s.json <<< '{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}'
	rules ca root_agent <<-'E'
		- when: {user: bad}
		  text: never
		- when: {user: fit}
		  text: '{"n":"x"}'
		- text: '{"n":1}'
	E
	file ca say <<-'E'
		#!/bin/sh
		[ "$(cat "$ADK_CONTEXT/state/root_agent.json")" = 3 ] || exit 0
		echo '{"content":{"parts":[{"text":"{\"n\":3}"}]}}'
	E
	session ca
	say fit
	same '{"n":3}' "$(cat output)"
	same "3 3 3 3 [3,3]" "$(counts root_agent)"
	same '{"n":3}' "$(cat state/out.json)"
	same "seen ,seen 1,seen 2" "$(paste -sd, artifacts/seen.txt)"
	same 2 "$(wc -l < turns/1/events.jsonl)"
	# None fits: they are in the event that says so.
	session ca ann s2
	file ca say <<< $'#!/bin/sh\n:'
	say bad
	same '["OUTPUT_SCHEMA",3]' "$(jq -c 'select(.errorCode) | [.errorCode, .actions.stateDelta.root_agent]' events.jsonl)"
	same "3 3 3 3 [3,3]" "$(counts root_agent)"
	[ ! -e state/out.json ]
}

@test "no answer of the model: what callbacks changed is an event without words" {
	counted cn root_agent "after_model_callbacks: [{name: hush}]"
	rules cn root_agent <<< '[{text: words}]'
	file cn hush <<< $'#!/bin/sh\necho \'{"content":{"parts":[]}}\''
	session cn
	say hi
	same done "$(cat turns/1/status)"
	same '' "$(cat output)"
	same "1 1 1 1 [1,1]" "$(counts root_agent)"
	same '["root_agent",false]' "$(tail -n 1 events.jsonl | jq -c '[.author, has("content")]')"
	same 1 "$(jq .total.modelCalls usage.json)"
	# Of a callback in place of the model: nobody was asked.
	file cn say <<< $'#!/bin/sh\necho \'{"content":{"parts":[]}}\''
	say hi
	same '' "$(cat output)"
	same "2 2 2 2 [1,1] [2,2]" "$(counts root_agent)"
	same 1 "$(jq .total.modelCalls usage.json)"
	# The next one sees nothing of it but its own message.
	file cn say <<< $'#!/bin/sh\njq -c "[.contents[] | [.role, .parts[].text]]" > "$ADKFS_SESSION/artifacts/contents.json"'
	say again
	same '[["user","hi","hi","again"]]' "$(jq -c '[["user"] + map(.[1])]' artifacts/contents.json)"
}

@test "the model fails: what callbacks changed is in the event that says so" {
	counted cf root_agent
	rules cf root_agent <<-'E'
		- when: {user: block}
		  error: {code: SAFETY}
		- when: {user: slow}
		  text: begun and not ended
		  delay_ms: 600000
	E
	file cf say <<-'E'
		#!/bin/sh
		case $(cat "$ADK_CONTEXT/user_content.json") in
		*guard*) echo '{"errorCode":"SAFETY","errorMessage":"no"}' ;;
		*crash*) exit 3 ;;
		*way*) rm "$ADKFS_SESSION/artifacts/log.txt" && mkdir "$ADKFS_SESSION/artifacts/log.txt" && exit 3 ;;
		esac
	E
	session cf
	n=0
	for what in guard:SAFETY block:SAFETY nothing:MODEL_ERROR crash:CALLBACK_ERROR; do
		say "${what%:*}"
		n=$((n + 1))
		same "failed $n" "$(cat status)"
		same "[\"${what#*:}\",$n,$n]" "$(jq -c 'select(.errorCode) |
			[.errorCode, .actions.stateDelta.root_agent, .actions.artifactDelta["log.txt"]]' turns/$n/events.jsonl)"
		same "$n $n $n" "$(cat state/root_agent.json state/user:seen.json artifacts/log.txt | xargs)"
	done
	echo slow > input
	eventually 10 bash -c "timeout 5 head -c 5 turns/5/output | grep -q begun"
	echo cancel > ctl
	timeout 20 cat wait > /dev/null
	same '["CANCELLED","begun ",5,5]' "$(jq -c 'select(.errorCode) | [.errorCode, .content.parts[0].text,
		.actions.stateDelta.root_agent, .actions.artifactDelta["log.txt"]]' turns/5/events.jsonl)"
	# What cannot be kept does not keep the turn from its end.
	say way
	same "failed 6" "$(cat status)"
	same '["CALLBACK_ERROR",null]' "$(jq -c 'select(.errorCode) | [.errorCode, .actions.stateDelta.root_agent]' turns/6/events.jsonl)"
	same 5 "$(cat state/root_agent.json)"
}

@test "agents side by side fail: one event tells of what callbacks of all have changed" {
	workflow cp root_agent.yaml both Parallel one two
	counted cp one
	counted cp two
	rules cp one <<< '[{error: {code: SAFETY}}]'
	rules cp two <<< '[{error: {code: OTHER}}]'
	session cp
	say go
	same '["one","SAFETY",1,1,2]' "$(jq -c 'select(.errorCode) | [.author, .errorCode, .actions.stateDelta.one,
		.actions.stateDelta.two, .actions.artifactDelta["log.txt"]]' events.jsonl)"
	same "1 1" "$(cat state/one.json state/two.json | xargs)"
	# As a tool it fails as a call does: nothing is kept.
	llm ct root_agent.yaml a "tools: [{name: AgentTool, args: {agent: kid.yaml}}]"
	counted ct kid
	rules ct a <<< '[{when: {tool: kid}, text: "${result.error}"}, {calls: [{name: kid, args: {request: r}}]}]'
	rules ct kid <<< '[{error: {code: SAFETY}}]'
	session ct
	say go
	same "agent kid failed: the model said nothing: SAFETY" "$(cat output)"
	same '' "$(ls state; ls artifacts | grep log)"
}

# Programs as agents.
load lib/mount
load lib/agents

@test "a program as an agent: its lines are events" {
	agent_file prog root_agent.yaml <<-'E'
		agent_class: ./agent
		name: scripted
	E
	agent_file prog agent <<-'E'
		#!/bin/sh
		text=$(jq -r '.parts[0].text')
		echo '{"partial":true,"content":{"role":"model","parts":[{"text":"you texts "}]}}'
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

@test "a program as an agent: what it says is seen at once" {
	agent_file prog root_agent.yaml <<-'E'
		agent_class: ./agent
		name: scripted
	E
	agent_file prog agent <<-'E'
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

@test "program agents: junk, huge lines, no last newline, ids of their own, and cancel" {
	agent_file p root_agent.yaml <<< $'agent_class: ./agent\nname: prog'
	agent_file p agent <<-'E'
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

@test "a program agent that ends in the middle of a line: the error says how it ended" {
	agent_file cl root_agent.yaml <<< $'agent_class: ./agent\nname: prog'
	agent_file cl agent <<-'E'
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
		newline:'line 2 of its output: the JSON is cut off' \
		well:'line 2 of its output: the JSON is cut off'; do
		say "${word%%:*}"
		same "agent prog: ${word#*:}" "$(cat turns/latest/error)"
		same good "$(cat output)"
		same AGENT_ERROR "$(jq -r '.errorCode // empty' turns/latest/events.jsonl)"
	done
}

# A program that calls, app $1: by the first word of the message it ends in one way or another.
calling_program() {
	agent_file "$1" "${2-root_agent}.yaml" <<< $'agent_class: ./agent\nname: '"${3-prog}"
	agent_file "$1" agent <<-'E'
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

@test "parallel program agents: each closes its own calls, on its branch" {
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

@test "program agents: a long-running call pauses the loop around it, and the answer continues it" {
	agent_file pl root_agent.yaml <<-'E'
		agent_class: LoopAgent
		name: flow
		max_iterations: 2
		sub_agents: [{config_path: a.yaml}, {config_path: b.yaml}]
	E
	calling_program pl a a
	talker pl b
	agent_file pl sign <<< $'#!/bin/sh\necho \'{"parts":[{"text":"signed"}]}\''
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
b|b here' "$(texts 2)"
	same '["flow",true]' "$(tail -n 1 events.jsonl | jq -c '[.author, .actions.endOfAgent]')"
	say settled
	same "a|signed
b|b here
a|signed
b|b here" "$(texts 3)"
}

@test "program agents: parallel, after a transfer, with a request of their own, and as a tool" {
	workflow pq root_agent.yaml root Sequential both end
	workflow pq both.yaml both Parallel l t
	calling_program pq l l
	talker pq t
	talker pq end
	say wait
	same "t|both.t|t here" "$(texts 1)"
	answer w-1 look '{}'
	same "l|both.l|got {}
end|end here" "$(texts 2)"
	# A request for a confirmation is a call like others.
	say request
	same "t|both.t|t here" "$(texts 3)"
	yes_to r-1
	same 'l|both.l|got {"confirmed": true}
end|end here' "$(texts 4)"
	# Who handed over is known: its after_agent comes behind the answer.
	llm pt root_agent.yaml desk "sub_agents: [{config_path: a.yaml}]" "after_agent_callbacks: [{name: sign}]"
	rules pt desk <<< '[{calls: [{name: transfer_to_agent, args: {agent_name: a}}]}]'
	agent_file pt sign <<< $'#!/bin/sh\necho \'{"parts":[{"text":"signed"}]}\''
	calling_program pt a a
	sed -i 's/longRunningToolIds=\["w-1"\]/longRunningToolIds=["w-1"], customMetadata={"mine": 1}/' "$AGENTS/pt/agent"
	say wait
	same "" "$(texts 1)"
	same '{"adkfs.transfers":["desk"],"mine":1}' "$(jq -c 'select(.longRunningToolIds) | .customMetadata' -S events.jsonl)"
	answer w-1 look '{}'
	same "a|got {}
desk|signed" "$(texts 2)"
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

# Callbacks of agents, models and tools.
load lib/mount
load lib/agents

@test "callbacks of an agent: a content instead of the agent, a content after it, changes alone" {
	llm cb root_agent.yaml guarded "before_agent_callbacks: [{name: gate}]" \
		"after_agent_callbacks: [{name: sign, args: {by: me}}]"
	rules cb guarded <<< '[{text: answer}]'
	agent_file cb gate <<-'E'
		#!/bin/sh
		grep -q '"agent":"guarded"' || exit 9
		[ ! -e "$ADKFS_SESSION/state/closed.json" ] || echo '{"parts":[{"text":"closed"}]}'
	E
	agent_file cb sign <<-'E'
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
	agent_file cb gate <<-'E'
		#!/bin/sh
		echo no way >&2
		exit 3
	E
	say hi
	same "failed 3" "$(cat status)"
	same "before_agent callback gate: exit status 3: no way" "$(cat turns/3/error)"
	same CALLBACK_ERROR "$(jq -r '.errorCode // empty' turns/3/events.jsonl)"
}

@test "callbacks of the model change the request, answer instead, replace the answer" {
	llm cbm root_agent.yaml guarded "before_model_callbacks: [{name: before}]" \
		"after_model_callbacks: [{name: after}]"
	rules cbm guarded <<-'E'
		- when: {user: 'whisper'}
		  text: quiet
		- text: loud
	E
	agent_file cbm before <<-'E'
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
	agent_file cbm after <<-'E'
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

@test "usage that a callback gives has the form of the log, or is dropped" {
	llm cbu root_agent.yaml counter "after_model_callbacks: [{name: after}]"
	rules cbu counter <<< '[{text: hi, usage: {prompt: 1, candidates: 2}}]'
	agent_file cbu after <<< $'#!/bin/sh\nset -- "$(cat "$ADKFS_SESSION/turns/latest/input")"\nprintf \'{"content":{"parts":[{"text":"x"}]},"usageMetadata":%s}\' "$1"'
	session cbu
	say 'null'
	say '7'
	say '{"promptTokenCount":"3","totalTokenCount":4,"x":1}'
	same '[null,null,{"totalTokenCount":4}]' \
		"$(jq -sc 'map(select(.author == "counter")) | map(.usageMetadata)' events.jsonl)"
	not grep -q '"usageMetadata":null' events.jsonl
}

@test "an answer of the model is discarded when the callback after it fails" {
	llm leak root_agent.yaml guarded "after_model_callbacks: [{name: after}]"
	rules leak guarded <<-'E'
		- when: {user: slowly}
		  text: secret words
		  delay_ms: 60000
		- text: secret words
	E
	agent_file leak after <<< $'#!/bin/sh\nexit 3'
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

@test "callbacks of tools change arguments, answer instead, replace the result" {
	llm cbt root_agent.yaml guarded "tools: [{name: tools/add}]" \
		"before_tool_callbacks: [{name: before}]" "after_tool_callbacks: [{name: after}]"
	rules cbt guarded <<-'E'
		- when: {tool: add}
		  text: ${result}
		- when: {user: '^(\w+)$'}
		  calls: [{name: add, args: {n: "$1"}}]
	E
	agent_file cbt tools/add <<-'E'
		#!/bin/sh
		jq -c '{n: .n}'
	E
	agent_file cbt tools/add.json <<< '{"description":"adds","parameters":{"type":"object","properties":{"n":{"type":"string"}}}}'
	agent_file cbt before <<-'E'
		#!/bin/sh
		jq -c 'if .args.n == "no" then {response: {refused: true}} elif .args.n == "two" then {args: {n: "2"}} else empty end'
	E
	agent_file cbt after <<-'E'
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

@test "callbacks: the first that answers ends the chain; slow ones, and junk" {
	llm ch root_agent.yaml a "before_model_callbacks: [{name: one}, {name: two}, {name: three}]"
	rules ch a <<< '[{text: model}]'
	agent_file ch one <<< $'#!/bin/sh\n:'
	agent_file ch two <<< $'#!/bin/sh\necho \'{"content":{"parts":[{"text":"two"}]}}\''
	agent_file ch three <<< $'#!/bin/sh\ntouch "$ADKFS_SESSION/artifacts/three"'
	session ch
	say hi
	same two "$(cat output)"
	[ ! -e artifacts/three ]
	n=1
	while IFS='|' read -r junk why; do
		agent_file ch one <<< $'#!/bin/sh\n'"$junk"
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
		echo {}|a response needs content or an errorCode
		echo '{"content":7}'|content: 
		echo '{"llmRequest":5}'|llmRequest must be an object
		echo '{"llmRequest":{"contents":{}}}'|contents: expected a list
		echo '{"llmRequest":{"config":[]}}'|config must be an object
		echo '{"llmRequest":{"config":{"tools":5}}}'|config.tools must be a list
		printf '\377'|its output is not JSON: 
		kill -9 $$|killed by SIGKILL
		exit 7|exit status 7
	E
	echo ADKFS_TOOL_TIMEOUT_MS=300 > "$AGENTS/ch/.env"
	agent_file ch one <<< $'#!/bin/sh\nsleep 100'
	say hi
	same "before_model callback one: timed out after 0.3 seconds" "$(cat turns/latest/error)"
}

@test "contexts: changes of callbacks stay when the tool fails; changes of the tool do not" {
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
	agent_file cx before <<-'E'
		#!/bin/sh
		echo '{"before":1}' > "$ADK_CONTEXT/state/k.json"
		echo '"before"' > "$ADK_CONTEXT/state/seen.json"
	E
	agent_file cx after <<-'E'
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

@test "a callback of a tool that transfers to an unknown agent: the call fails, and leaves nothing" {
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
		agent_file ht $kind <<-E
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
	agent_file one twice <<-'E'
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
			agent_file no calls <<< $'#!/bin/sh\n'"echo '{\"parts\":[{\"text\":\"x\"},$part]}'"
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
	agent_file "$app" count <<-'E'
		#!/bin/sh
		cd "$ADK_CONTEXT"
		n=$(($(cat "state/$ADK_AGENT_NAME.json" 2> /dev/null || echo 0) + 1))
		echo $n > "state/$ADK_AGENT_NAME.json"
		echo $n > "state/user:seen.json"
		echo $n > artifacts/log.txt
		jq -r .config.systemInstruction | grep -o 'seen.*' >> "$ADKFS_SESSION/artifacts/seen.txt"
	E
	[ -e "$AGENTS/$app/say" ] || agent_file "$app" say <<< $'#!/bin/sh\n:'
}

# What count has changed, and where: values, versions of log.txt, events that tell of them.
counts() {
	echo "$(cat "state/$1.json" state/user:seen.json artifacts/log.txt | xargs)" \
		"$(ls artifacts/.versions/log.txt | grep -vc json)" \
		"$(jq -c "select(.actions.stateDelta.$1) | [.actions.stateDelta.$1, .actions.artifactDelta[\"log.txt\"]]" events.jsonl | xargs)"
}

@test "an answer that does not fit: changes of its callbacks are in the event of the answer that fits" {
	counted ca root_agent "output_schema: {name: s.json}" "output_key: out"
	agent_file ca s.json <<< '{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}'
	rules ca root_agent <<-'E'
		- when: {user: bad}
		  text: never
		- when: {user: fit}
		  text: '{"n":"x"}'
		- text: '{"n":1}'
	E
	agent_file ca say <<-'E'
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
	agent_file ca say <<< $'#!/bin/sh\n:'
	say bad
	same '["OUTPUT_SCHEMA",3]' "$(jq -c 'select(.errorCode) | [.errorCode, .actions.stateDelta.root_agent]' events.jsonl)"
	same "3 3 3 3 [3,3]" "$(counts root_agent)"
	[ ! -e state/out.json ]
}

@test "no answer of the model: changes of callbacks are an event without words" {
	counted cn root_agent "after_model_callbacks: [{name: hush}]"
	rules cn root_agent <<< '[{text: words}]'
	agent_file cn hush <<< $'#!/bin/sh\necho \'{"content":{"parts":[]}}\''
	session cn
	say hi
	same done "$(cat turns/1/status)"
	same '' "$(cat output)"
	same "1 1 1 1 [1,1]" "$(counts root_agent)"
	same '["root_agent",false]' "$(tail -n 1 events.jsonl | jq -c '[.author, has("content")]')"
	same 1 "$(jq .total.modelCalls usage.json)"
	# Of a callback in place of the model: nobody was asked.
	agent_file cn say <<< $'#!/bin/sh\necho \'{"content":{"parts":[]}}\''
	say hi
	same '' "$(cat output)"
	same "2 2 2 2 [1,1] [2,2]" "$(counts root_agent)"
	same 1 "$(jq .total.modelCalls usage.json)"
	# The next one sees nothing of it but its own message.
	agent_file cn say <<< $'#!/bin/sh\njq -c "[.contents[] | [.role, .parts[].text]]" > "$ADKFS_SESSION/artifacts/contents.json"'
	say again
	same '[["user","hi","hi","again"]]' "$(jq -c '[["user"] + map(.[1])]' artifacts/contents.json)"
}

@test "the model fails: changes of callbacks are in the event that says so" {
	counted cf root_agent
	rules cf root_agent <<-'E'
		- when: {user: block}
		  error: {code: SAFETY}
		- when: {user: slow}
		  text: begun and not ended
		  delay_ms: 600000
	E
	agent_file cf say <<-'E'
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

@test "parallel agents fail: one event has the changes of all their callbacks" {
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

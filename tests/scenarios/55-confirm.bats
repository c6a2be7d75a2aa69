# Confirmations: calls that a person allows or refuses.
load lib/mount
load lib/agents

# confirming [LINE OF YAML]...: an agent whose tool delete needs a confirmation.
confirming() {
	llm conf root_agent.yaml ops "tools: [{name: tools/delete}, {name: tools/look}]" "$@"
	rules conf ops <<-'E'
		- when: {user: both}
		  calls: [{name: look, id: l-1}, {name: delete, id: d-1, args: {path: /x}}]
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

@test "a confirmation is refused, in our form and in that of clients" {
	confirming
	say delete
	answer "$(request_id)" adk_request_confirmation '{"response":"{\"confirmed\":\"true\"}"}'
	same '{"error":"rejected by the user"}' "$(cat output)"
	[ ! -e artifacts/deleted ]
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
	agent_file conf change <<< $'#!/bin/sh\njq -c \'{args: {path: ("/safe" + .args.path)}}\''
	confirming "before_tool_callbacks: [{name: change}]"
	say delete
	same /x "$(jq -r '.content.parts[]?.functionCall.args.originalFunctionCall.args.path // empty' events.jsonl)"
	yes_to "$(requests)"
	same '{"deleted":"/safe/x"}' "$(cat output)"
}

@test "answers that do not confirm" {
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

@test "a confirmation in a sub-agent of a sequence: the sequence goes on after it" {
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
last|last here" "$(texts 2)"
}

@test "a confirmed long-running call without a result is pending, and made once" {
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
	agent_file c dump <<< $'#!/bin/sh\ncat > "$ADKFS_SESSION/artifacts/request.json"'
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

@test "a confirmed long-running call in a sequence: the sequence goes on after the result" {
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

# Agents: what they are told, what they answer, what is left of it.
load lib/mount
load lib/agents

@test "structured answers: asked again until they fit, and the value under the key" {
	llm schema root_agent.yaml pedant "output_key: city" "output_schema: {name: city.json}"
	agent_file schema city.json <<< '{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}'
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
	agent_file schema city.json <<< '{"type":"object","required":["city"]}'
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
	agent_file schema city.json <<< '{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}'
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

@test "no answer of the model: no event, and the turn has succeeded" {
	llm empty root_agent.yaml mute "after_model_callbacks: [{name: hush}]"
	rules empty mute <<< '[{text: words}]'
	agent_file empty hush <<< $'#!/bin/sh\necho \'{"content":{"parts":[]}}\''
	session empty
	say hi
	same done "$(cat turns/1/status)"
	same 1 "$(wc -l < events.jsonl)"
	same '' "$(cat output)"
	same 1 "$(jq .total.modelCalls usage.json)"
}

@test "a text beside a call is not repeated when the turn fails at the call" {
	llm f root_agent.yaml guarded "tools: [{name: tools/slow}]" "before_tool_callbacks: [{name: guard}]"
	tool f slow '{"description":"slow"}' <<< $'#!/bin/sh\nexec sleep 100'
	agent_file f guard <<< $'#!/bin/sh\ngrep -q crash || exit 0\nexit 3'
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
	agent_file m guard <<< $'#!/bin/sh\nexit 3'
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

@test "actions of parallel calls are merged in the order of the calls" {
	llm m root_agent.yaml a "tools: [{name: tools/t}]" "before_tool_callbacks: [{name: cb}]"
	tool m t '{"description":"t"}' <<< $'#!/bin/sh\n:'
	agent_file m cb <<< $'#!/bin/sh\n:'
	# With AgentTool: each sets the same key.
	llm m root_agent.yaml a "tools:" "  - {name: AgentTool, args: {agent: x.yaml}}" \
		"  - {name: AgentTool, args: {agent: y.yaml, skip_summarization: true}}" "  - {name: exit_loop}"
	llm m x.yaml x "output_key: k" "after_model_callbacks: [{name: late}]"
	llm m y.yaml y "output_key: k"
	agent_file m late <<< $'#!/bin/sh\nsleep 0.3'
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

@test "instructions: static parts, placeholders with artifacts, and what is not there" {
	agent_file in root_agent.yaml <<-'E'
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

@test "memory: the model gets remembered sessions by itself, and by a call" {
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

@test "include_contents none: the agent gets what is new since it spoke" {
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

@test "contexts: changes of parallel calls are merged in depth, in the order of the calls" {
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

@test "set_model_response with a value that never fits is tried three times" {
	llm sm root_agent.yaml a "tools: [{name: load_memory}]" "output_schema: {name: s.json}"
	agent_file sm s.json <<< '{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}'
	rules sm a <<< '[{calls: [{name: set_model_response, args: {n: x}}]}]'
	session sm
	say go
	same OUTPUT_SCHEMA "$(jq -r '.errorCode // empty' events.jsonl)"
	same 3 "$(jq .total.modelCalls usage.json)"
}

@test "a tool saves an artifact that cannot be kept: its call gets an error, the turn goes on" {
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

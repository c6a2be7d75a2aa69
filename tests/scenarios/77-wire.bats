# The lines of conversations, whole: as ADK writes them.
load lib/mount
load lib/agents

# The log with its ids numbered in their order, and no times.
lines() {
	python3 - "${1-events.jsonl}" <<-'PY'
		import re, sys
		names = {}
		def name(match):
		    prefix = {"adk-": "adk-", "e-": "e-", "p-": "p-"}.get(match[1] or "", "id-")
		    known = names.setdefault(match[0], (prefix, 1 + sum(p == prefix for p, _ in names.values())))
		    return "%s%d" % known
		for line in open(sys.argv[1]):
		    line = re.sub(r"(adk-|e-|p-)?[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", name, line.rstrip("\n"))
		    line = re.sub(r'"id":"id-\d+"', '"id":"-"', line)
		    print(re.sub(r'"timestamp":\d+\.\d{6}', '"timestamp":0', line))
	PY
}

# The actions of an event in which nothing happened.
N='"actions":{"stateDelta":{},"artifactDelta":{},"requestedAuthConfigs":{}}'
E='"id":"-","timestamp":0}'

# user_line N TEXT: the line of a message.
user_line() {
	echo "{\"content\":{\"parts\":[{\"text\":\"$2\"}],\"role\":\"user\"},\"invocationId\":\"e-$1\",\"author\":\"user\",$N,$E"
}

# text_line N AUTHOR TEXT
text_line() {
	echo "{\"content\":{\"parts\":[{\"text\":\"$3\"}],\"role\":\"model\"},\"finishReason\":\"STOP\",\"invocationId\":\"e-$1\",\"author\":\"$2\",$N,$E"
}

# call_line N AUTHOR ID ARGS NAME
call_line() {
	echo "{\"content\":{\"parts\":[{\"functionCall\":{\"id\":\"$3\",\"args\":$4,\"name\":\"$5\"}}],\"role\":\"model\"},\"finishReason\":\"STOP\",\"invocationId\":\"e-$1\",\"author\":\"$2\",$N,$E"
}

# response_line N AUTHOR ID NAME RESPONSE ACTIONS
response_line() {
	echo "{\"content\":{\"parts\":[{\"functionResponse\":{\"id\":\"$3\",\"name\":\"$4\",\"response\":$5}}],\"role\":\"user\"},\"invocationId\":\"e-$1\",\"author\":\"$2\",\"actions\":{$6},$E"
}

@test "text, a tool that changes state and saves an artifact, output_key" {
	agent_file app root_agent.yaml <<-'E'
		name: greeter
		model: script/rules.yaml
		instruction: Greet.
		output_key: last
		tools: [{name: tools/draw}]
	E
	agent_file app rules.yaml <<-'E'
		- when: {tool: draw}
		  text: Drawn.
		- when: {user: cat}
		  calls: [{name: draw, args: {what: cat, size: 1.50}}]
		- text: Hello!
	E
	agent_file app tools/draw.json <<< '{"description": "draws"}'
	agent_file app tools/draw <<-'E'
		#!/bin/sh
		cd "$ADK_CONTEXT"
		echo meow > artifacts/cat.txt
		echo '{"lines": 1}' > state/drawing.json
		echo '"cats"' > state/user:likes.json
		echo '{"file": "cat.txt"}'
	E
	session app
	say Hi
	say 'a cat'
	same "$(
		user_line 1 Hi
		text_line 1 greeter 'Hello!' | sed 's/"stateDelta":{}/"stateDelta":{"last":"Hello!"}/'
		user_line 2 'a cat'
		call_line 2 greeter adk-1 '{"what":"cat","size":1.50}' draw
		response_line 2 greeter adk-1 draw '{"file":"cat.txt"}' \
			'"stateDelta":{"drawing":{"lines":1},"user:likes":"cats"},"artifactDelta":{"cat.txt":1},"requestedAuthConfigs":{}'
		text_line 2 greeter Drawn. | sed 's/"stateDelta":{}/"stateDelta":{"last":"Drawn."}/'
	)" "$(lines)"
	same "$(lines)" "$(for n in 1 2; do cat turns/$n/stream.jsonl; done > "$TMP/s"; lines "$TMP/s")"
}

@test "a transfer, a loop's end, branches" {
	agent_file app root_agent.yaml <<-'E'
		name: root
		model: script/root.rules.yaml
		instruction: Go.
		sub_agents: [{config_path: loop.yaml}, {config_path: par.yaml}]
	E
	agent_file app loop.yaml <<-'E'
		agent_class: LoopAgent
		name: loop
		sub_agents: [{config_path: critic.yaml}]
	E
	agent_file app critic.yaml <<-'E'
		name: critic
		model: script/critic.rules.yaml
		instruction: Go.
		tools: [{name: exit_loop}]
	E
	agent_file app par.yaml <<-'E'
		agent_class: ParallelAgent
		name: par
		sub_agents: [{config_path: b.yaml}]
	E
	agent_file app b.yaml <<-'E'
		name: b
		model: script/b.rules.yaml
		instruction: Go.
	E
	agent_file app root.rules.yaml <<-'E'
		- when: {user: loop}
		  calls: [{name: transfer_to_agent, args: {agent_name: loop}}]
		- calls: [{name: transfer_to_agent, args: {agent_name: par}}]
	E
	agent_file app critic.rules.yaml <<< '[{calls: [{name: exit_loop}]}]'
	agent_file app b.rules.yaml <<< '[{text: done}]'
	session app
	say loop
	say par
	same "$(
		user_line 1 loop
		call_line 1 root adk-1 '{"agent_name":"loop"}' transfer_to_agent
		response_line 1 root adk-1 transfer_to_agent '{"result":null}' \
			'"stateDelta":{},"artifactDelta":{},"transferToAgent":"loop","requestedAuthConfigs":{}'
		call_line 1 critic adk-2 '{}' exit_loop
		response_line 1 critic adk-2 exit_loop '{"result":null}' \
			'"skipSummarization":true,"stateDelta":{},"artifactDelta":{},"escalate":true,"requestedAuthConfigs":{}'
		user_line 2 par
		call_line 2 root adk-3 '{"agent_name":"par"}' transfer_to_agent
		response_line 2 root adk-3 transfer_to_agent '{"result":null}' \
			'"stateDelta":{},"artifactDelta":{},"transferToAgent":"par","requestedAuthConfigs":{}'
		text_line 2 b done | sed 's/,"id":"-"/,"branch":"par.b","id":"-"/'
	)" "$(lines)"
}

@test "a call that waits, in a loop; its answer, and the end" {
	agent_file app root_agent.yaml <<-'E'
		agent_class: LoopAgent
		name: loop
		max_iterations: 1
		sub_agents: [{config_path: w.yaml}]
	E
	agent_file app w.yaml <<-'E'
		name: w
		model: script/rules.yaml
		instruction: Go.
		tools: [{name: approve}]
	E
	agent_file app rules.yaml <<-'E'
		- when: {tool: approve}
		  text: Thanks.
		- calls: [{name: approve, id: adk-4, args: {order: 7}}]
	E
	agent_file app approve <<< $'#!/bin/sh\n:'
	agent_file app approve.json <<< '{"description": "asks", "isLongRunning": true}'
	session app
	say go
	echo '{"parts":[{"functionResponse":{"id":"adk-4","name":"approve","response":{"status":"approved"}}}]}' > input.json
	timeout 60 cat wait
	same "$(
		user_line 1 go
		call_line 1 w adk-4 '{"order":7}' approve | sed 's/,"id":"-"/,"longRunningToolIds":["adk-4"],"id":"-"/'
		echo "{\"invocationId\":\"e-1\",\"author\":\"loop\",${N%\}},\"agentState\":{\"current_sub_agent\":\"w\",\"times_looped\":0}},$E"
		echo "{\"content\":{\"parts\":[{\"functionResponse\":{\"id\":\"adk-4\",\"name\":\"approve\",\"response\":{\"status\":\"approved\"}}}],\"role\":\"user\"},\"customMetadata\":{\"adkfs.resumes\":\"e-1\"},\"invocationId\":\"e-2\",\"author\":\"user\",$N,$E"
		text_line 2 w Thanks.
		echo "{\"invocationId\":\"e-2\",\"author\":\"loop\",${N%\}},\"endOfAgent\":true},$E"
	)" "$(lines)"
}

@test "a confirmation" {
	agent_file app root_agent.yaml <<-'E'
		name: ops
		model: script/rules.yaml
		instruction: Go.
		tools: [{name: delete_file}]
	E
	agent_file app rules.yaml <<-'E'
		- when: {tool: delete_file}
		  text: Gone.
		- calls: [{name: delete_file, id: adk-8, args: {path: /x}}]
	E
	agent_file app delete_file <<< $'#!/bin/sh\necho ok'
	agent_file app delete_file.json <<< '{"description": "deletes", "requireConfirmation": true}'
	session app
	say go
	id=$(jq -r '.longRunningToolIds[0] // empty' events.jsonl)
	echo "{\"parts\":[{\"functionResponse\":{\"id\":\"$id\",\"name\":\"adk_request_confirmation\",\"response\":{\"confirmed\":true}}}]}" > input.json
	timeout 60 cat wait
	hint='{"hint":"May delete_file be called?","confirmed":false}'
	same "$(
		user_line 1 go
		call_line 1 ops adk-8 '{"path":"/x"}' delete_file
		echo "{\"content\":{\"parts\":[{\"functionCall\":{\"id\":\"adk-1\",\"args\":{\"originalFunctionCall\":{\"id\":\"adk-8\",\"args\":{\"path\":\"/x\"},\"name\":\"delete_file\"},\"toolConfirmation\":$hint},\"name\":\"adk_request_confirmation\"}}],\"role\":\"user\"},\"invocationId\":\"e-1\",\"author\":\"ops\",$N,\"longRunningToolIds\":[\"adk-1\"],$E"
		response_line 1 ops adk-8 delete_file '{"error":"confirmation required"}' \
			"\"skipSummarization\":true,\"stateDelta\":{},\"artifactDelta\":{},\"requestedAuthConfigs\":{},\"requestedToolConfirmations\":{\"adk-8\":$hint}"
		echo "{\"content\":{\"parts\":[{\"functionResponse\":{\"id\":\"adk-1\",\"name\":\"adk_request_confirmation\",\"response\":{\"confirmed\":true}}}],\"role\":\"user\"},\"customMetadata\":{\"adkfs.resumes\":\"e-1\"},\"invocationId\":\"e-2\",\"author\":\"user\",$N,$E"
		response_line 2 ops adk-8 delete_file '{"result":"ok"}' \
			'"stateDelta":{},"artifactDelta":{},"requestedAuthConfigs":{}'
		text_line 2 ops Gone.
	)" "$(lines)"
}

@test "an attachment, a thought, tokens, two calls in one answer, a limit, changes by files, a failure, a cancel" {
	agent_file app root_agent.yaml <<-'E'
		name: w
		model: script/rules.yaml
		instruction: Go.
		tools: [{name: inc}]
	E
	agent_file app rules.yaml <<-'E'
		- when: {tool: inc}
		  text: Two.
		- when: {user: what}
		  thought: It looks like...
		  text: A cat.
		  usage: {prompt: 10, candidates: 5, cached: 2, thoughts: 1}
		- when: {user: inc}
		  calls: [{name: inc, id: adk-2, args: {x: 1}}, {name: inc, id: adk-3, args: {x: 2}}]
		- when: {user: long}
		  text: A long sto
		  finish_reason: MAX_TOKENS
		- when: {user: bad}
		  error: {code: SAFETY, message: no}
		- when: {user: once}
		  text: Once upon
		  pieces: 5
		  delay_ms: 60000
	E
	agent_file app inc.json <<< '{"description": "adds"}'
	agent_file app inc <<-'E'
		#!/bin/sh
		grep -q 1 || { echo no more >&2; exit 1; }
		echo 2 | tee "$ADK_CONTEXT/state/n.json"
	E
	session app
	printf '\373\377\0\0' > attachments/a.png
	say what
	say inc
	say long
	say bad
	echo '{"topic": "bees", "user:name": "Ann"}' > state.json
	rm state/topic.json
	echo one > artifacts/chart.png
	echo once > input
	eventually 10 grep -q Once turns/5/stream.jsonl
	echo cancel > ctl
	cat wait
	same "$(
		user_line 1 what | sed 's/\("what"}\)/\1,{"inlineData":{"data":"-_8AAA==","displayName":"a.png","mimeType":"image\/png"}}/'
		echo "{\"content\":{\"parts\":[{\"text\":\"It looks like...\",\"thought\":true},{\"text\":\"A cat.\"}],\"role\":\"model\"},\"finishReason\":\"STOP\",\"usageMetadata\":{\"cachedContentTokenCount\":2,\"candidatesTokenCount\":5,\"promptTokenCount\":10,\"thoughtsTokenCount\":1,\"totalTokenCount\":16},\"invocationId\":\"e-1\",\"author\":\"w\",$N,$E"
		user_line 2 inc
		call_line 2 w adk-2 '{"x":1}' inc | sed 's/}\],"role"/},{"functionCall":{"id":"adk-3","args":{"x":2},"name":"inc"}}],"role"/'
		response_line 2 w adk-2 inc '{"result":2}' '"stateDelta":{"n":2},"artifactDelta":{},"requestedAuthConfigs":{}' |
			sed 's/}\],"role"/},{"functionResponse":{"id":"adk-3","name":"inc","response":{"error":"exit status 1: no more"}}}],"role"/'
		text_line 2 w Two.
		user_line 3 long
		text_line 3 w 'A long sto' | sed s/STOP/MAX_TOKENS/
		user_line 4 bad
		echo "{\"finishReason\":\"SAFETY\",\"errorCode\":\"SAFETY\",\"errorMessage\":\"no\",\"invocationId\":\"e-4\",\"author\":\"w\",$N,$E"
		echo "{\"invocationId\":\"p-1\",\"author\":\"user\",${N/'"stateDelta":{}'/'"stateDelta":{"topic":"bees","user:name":"Ann"}'},$E"
		echo "{\"customMetadata\":{\"adkfs.deleted\":[\"topic\"]},\"invocationId\":\"p-2\",\"author\":\"user\",${N/'"stateDelta":{}'/'"stateDelta":{"topic":null}'},$E"
		echo "{\"invocationId\":\"p-3\",\"author\":\"user\",${N/'"artifactDelta":{}'/'"artifactDelta":{"chart.png":1}'},$E"
		user_line 5 once
		echo "{\"content\":{\"parts\":[{\"text\":\"Once \"}],\"role\":\"model\"},\"errorCode\":\"CANCELLED\",\"errorMessage\":\"the turn was cancelled\",\"interrupted\":true,\"invocationId\":\"e-5\",\"author\":\"w\",$N,$E"
	)" "$(lines)"
}

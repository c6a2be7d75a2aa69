# Agents whose model speaks Ollama's own protocol.
MODEL=ollama_chat/llama3.2:3b
load lib/provider

env_file() {
	echo "OLLAMA_HOST=127.0.0.1:$PORT"
	echo "OLLAMA_API_KEY=$KEY"
}

@test "a streamed answer" {
	serve '[{"text": "Hello there, é 😀."}]'
	echo hi > input
	same 'Hello there, é 😀.' "$(cat output)"
	told 'last | .content.parts[0].text == "Hello there, é 😀." and .finishReason == "STOP"
		and .usageMetadata.totalTokenCount == 18 and .modelVersion == "test-model"'
	grep -q '^POST /api/chat ' "$TMP/asked/1.head"
	grep -qi "^authorization: bearer $KEY" "$TMP/asked/1.head"
	asked 1 '.model == "llama3.2:3b" and .stream and .messages[0].role == "system"
		and .messages[-1] == {role: "user", content: "hi"}'
}

@test "text in pieces of one byte" {
	serve '[{"text": "Ünïcödé in pieces 😀, word by word.", "split": 1}]'
	echo hi > input
	same 'Ünïcödé in pieces 😀, word by word.' "$(cat output)"
}

@test "text arrives while the model still writes, and a cancel ends it at once" {
	serve '[{"text": "first second third", "stall": 300}, {"text": "on"}]'
	echo hi > input
	timeout 20 python3 - <<-'PY'
		import os
		fd = os.open("output", os.O_RDONLY)
		assert os.read(fd, 100).startswith(b"first")
	PY
	same 'running 1' "$(cat status)"
	connected
	echo cancel > ctl
	timeout 10 cat wait
	eventually 5 not connected
	told 'last.interrupted'
	say again
	same on "$(cat output)"
}

@test "tools, several in one answer, and their results" {
	serve '[{"thought": "add up", "text": "Adding.", "calls": [{"name": "add", "args": {"a": 2, "b": 3.5}},
		{"name": "add", "args": {"a": 1, "b": 1}, "id": "call_7"}]}, {"text": "It is 5.5."}]'
	echo 'add 2 and 3.5' > input
	[[ $(cat output) == *'It is 5.5.' ]]
	told '[.[].content.parts[]?.functionResponse // empty] | map(.response) == [{"sum": 5.5}, {"sum": 2}]'
	told '[.[].content.parts[]? | select(.thought)][0].text == "add up"'
	asked 1 '.tools == [{type: "function", function: {name: "add", description: "Adds two numbers.",
		parameters: {type: "object", properties: {a: {type: "number"}, b: {type: "number"}}, required: ["a", "b"]}}}]'
	asked 2 '.messages[-3] == {role: "assistant", content: "Adding.", thinking: "add up", tool_calls: [
		{function: {name: "add", arguments: {a: 2, b: 3.5}}},
		{id: "call_7", function: {name: "add", arguments: {a: 1, b: 1}}}]}'
	asked 2 '.messages[-2:] == [{role: "tool", tool_name: "add", content: "{\"sum\":5.5}"},
		{role: "tool", tool_name: "add", tool_call_id: "call_7", content: "{\"sum\":2}"}]'
}

@test "thoughts are no part of the output" {
	serve '[{"thought": "hm", "text": "42"}]'
	echo hi > input
	same 42 "$(cat output)"
	told 'last.content.parts == [{text: "hm", thought: true}, {text: "42"}]'
}

@test "attachments reach the model, and a type it does not take is named" {
	serve '[{"text": "seen"}]'
	printf '\211PNG\r\n\032\n\0\0\0\rIHDR\0\0\0\001\0\0\0\001' > attachments/a.png
	echo 'a note' > attachments/b.txt
	say look
	same seen "$(cat output)"
	jq -e --arg png "$(jq -r '.content.parts[1].inlineData.data' <(head -n 1 events.jsonl) | tr -- '-_' '+/')" \
		'.messages[-1] == {role: "user", content: "look\na note\n", images: [$png]}' "$TMP/asked/1.json"
	printf '%%PDF-1.4\n%%EOF\n' > attachments/z.pdf
	echo no > input
	turn_fails 'message 3: inlineData application/pdf cannot be sent to ollama'
}

@test "the config of the agent" {
	cat >> "$AGENT/root_agent.yaml" <<-'EOY'
		generate_content_config:
		  temperature: 0.5
		  max_output_tokens: 64
		  thinking_config: {thinking_level: HIGH}
		  http_options:
		    extra_body: {keep_alive: 10m, options: {num_ctx: 8192}}
	EOY
	serve '[{"text": "ok"}]'
	say hi
	asked 1 '.options == {temperature: 0.5, num_predict: 64, num_ctx: 8192} and .think == "high"
		and .keep_alive == "10m"'
}

@test "a part of a schema that is lost is a warning of the folder" {
	jq '.parameters.properties.a.minimum = 1' "$AGENT/tools/add.json" > "$TMP/add.json"
	cp "$TMP/add.json" "$AGENT/tools/add.json"
	serve '[{"text": "ok"}]'
	jq -e '.warnings | map(contains("tool '"'add'"': parameters.properties.a is sent to ollama without minimum"))
		| any' "$MNT/apps/asker/agent.json"
	say hi
	asked 1 '.tools[0].function.parameters.properties.a == {type: "number"}'
}

@test "an unknown model, and a key that is refused" {
	serve '[{"status": 404, "body": {"error": "model '"'x'"' not found"}}, {"status": 401, "echo_key": true}]'
	echo hi > input
	turn_fails "the model service does not know the model llama3.2:3b or the path /api/chat (404): model 'x' not found"
	echo hi > input
	turn_fails 'the key in OLLAMA_API_KEY was refused (401)'
	key_is_secret
}

@test "429, then 200" {
	serve '[{"status": 429, "headers": {"retry-after": "0.02"}}, {"text": "at last"}]'
	echo hi > input
	same 'at last' "$(timeout 30 cat output)"
	cmp "$TMP/asked/1.json" "$TMP/asked/2.json"
}

@test "an error in the stream: the text before it is kept" {
	serve '[{"text": "so far", "calls": [{"name": "add", "args": {"a": 1, "b": 1}}], "error": "the runner has died"}]'
	echo hi > input
	turn_fails 'the model service reported an error: the runner has died'
	told 'map(.content.parts[]?.text) | index("so far")'
	told '[.[].content.parts[]?.functionCall // empty] == []'
}

@test "a stream without its end: the text is kept, and no tool runs" {
	printf '#!/bin/sh\ntouch %s\n' "$TMP/ran" > "$AGENT/tools/add"
	serve '[{"text": "so far", "calls": [{"name": "add", "args": {"a": 1, "b": 1}}], "done": false},
		{"text": "this is only the beginning of it", "cut": 500, "reset": true}]'
	echo hi > input
	turn_fails 'the answer of the model broke off'
	told 'map(.content.parts[]?.text) | index("so far")'
	not test -e "$TMP/ran"
	echo hi > input
	run timeout 30 cat output
	[ "$status" -eq 1 ]
	same 'failed 2' "$(cat status)"
}

@test "an answer that is not streamed" {
	serve '[{"body": {"model": "m", "message": {"role": "assistant", "content": "all at once"}, "done": true}}]'
	say hi
	same 'all at once' "$(cat output)"
}

@test "a recorded conversation is replayed" {
	OPTIONS=(--record "$TMP/cassettes")
	serve '[{"thought": "hm", "calls": [{"name": "add", "args": {"a": 2, "b": 3.5}}]}, {"text": "It is 5.5.", "split": 3}]'
	say 'add 2 and 3.5'
	events > "$TMP/before"
	not grep -qE "$KEY|uthorization" "$TMP/cassettes/asker.jsonl"
	jq -s -e 'all(.provider == "ollama" and .path == "/api/chat")' "$TMP/cassettes/asker.jsonl"
	replay "$TMP/cassettes/asker.jsonl"
	say 'add 2 and 3.5'
	events > "$TMP/after"
	diff "$TMP/before" "$TMP/after"
}

# Agents whose model speaks OpenAI's Responses.
MODEL=openai/responses/gpt-test
load lib/provider

env_file() {
	echo "OPENAI_API_KEY=$KEY"
	echo "OPENAI_BASE_URL=http://127.0.0.1:$PORT/v1"
}

@test "a streamed answer" {
	serve '[{"text": "Hello there, é 😀."}]'
	echo hi > input
	same 'Hello there, é 😀.' "$(cat output)"
	told 'last | .content.parts[0].text == "Hello there, é 😀." and .finishReason == "STOP"
		and .usageMetadata == {promptTokenCount: 11, candidatesTokenCount: 5, thoughtsTokenCount: 2,
			cachedContentTokenCount: 0, totalTokenCount: 18} and .modelVersion == "test-model"'
	grep -q '^POST /v1/responses ' "$TMP/asked/1.head"
	grep -qi "^authorization: bearer $KEY" "$TMP/asked/1.head"
	asked 1 '.model == "gpt-test" and .stream and .store == false
		and .include == ["reasoning.encrypted_content"] and (.instructions | contains("You are a test."))
		and .input[-1] == {type: "message", role: "user", content: [{type: "input_text", text: "hi"}]}'
}

@test "text in pieces of one byte" {
	serve '[{"text": "Ünïcödé in pieces 😀, word by word.", "split": 1}]'
	echo hi > input
	same 'Ünïcödé in pieces 😀, word by word.' "$(cat output)"
}

@test "text arrives while the model still writes, and a cancel ends it at once" {
	serve '[{"text": "first second third", "stall": 700}, {"text": "on"}]'
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

@test "tools, several in one answer, their results, and the thoughts before them" {
	serve '[{"thought": "add up", "encrypted": "gAAAA/+x==", "text": "Adding.", "calls": [
		{"name": "add", "args": {"a": 2, "b": 3.5}, "id": "call_1"}, {"name": "add", "args": {"a": 1, "b": 1}, "id": "call_7"}]},
		{"text": "It is 5.5."}, {"text": "Bye."}]'
	echo 'add 2 and 3.5' > input
	[[ $(cat output) == *'It is 5.5.' ]]
	told '[.[].content.parts[]?.functionResponse // empty] | map(.response) == [{"sum": 5.5}, {"sum": 2}]'
	told '[.[].content.parts[]? | select(.thought)][0] | .text == "add up" and (.thoughtSignature | length > 10)'
	asked 1 '.tools == [{type: "function", name: "add", description: "Adds two numbers.", strict: false,
		parameters: {type: "object", properties: {a: {type: "number"}, b: {type: "number"}}, required: ["a", "b"]}}]'
	asked 2 '.input[1:] == [
		{type: "reasoning", id: "rs_0", summary: [{type: "summary_text", text: "add up"}], encrypted_content: "gAAAA/+x=="},
		{type: "message", role: "assistant", content: "Adding."},
		{type: "function_call", call_id: "call_1", name: "add", arguments: "{\"a\":2,\"b\":3.5}"},
		{type: "function_call", call_id: "call_7", name: "add", arguments: "{\"a\":1,\"b\":1}"},
		{type: "function_call_output", call_id: "call_1", output: "{\"sum\":5.5}"},
		{type: "function_call_output", call_id: "call_7", output: "{\"sum\":2}"}]'
	say thanks
	jq -e --slurpfile second "$TMP/asked/2.json" '.input[:7] == $second[0].input' "$TMP/asked/3.json"
}

@test "attachments reach the model, and a type it does not take is named" {
	serve '[{"text": "seen"}]'
	printf '\211PNG\r\n\032\n\0\0\0\rIHDR\0\0\0\001\0\0\0\001' > attachments/a.png
	printf '%%PDF-1.4\n%%EOF\n' > attachments/b.pdf
	echo 'a note' > attachments/c.txt
	say look
	same seen "$(cat output)"
	asked 1 '.input[-1].content | map(.type) == ["input_text", "input_image", "input_file", "input_text"]'
	asked 1 '.input[-1].content | (.[1].image_url | startswith("data:image/png;base64,iVBOR"))
		and (.[2].file_data | startswith("data:application/pdf;base64,JVBER")) and .[3].text == "a note\n"'
	head -c 100 /dev/zero > attachments/z.bin
	echo no > input
	turn_fails 'message 3: inlineData application/octet-stream cannot be sent to openai/responses'
}

@test "the config of the agent is sent, and fields without a place are dropped" {
	cat >> "$AGENT/root_agent.yaml" <<-'EOY'
		generate_content_config:
		  max_output_tokens: 64
		  thinking_config: {thinking_level: HIGH, include_thoughts: true}
		  http_options: {extra_body: {service_tier: flex}}
	EOY
	serve '[{"text": "ok"}]'
	say hi
	asked 1 '.max_output_tokens == 64 and .reasoning == {effort: "high", summary: "auto"}
		and .service_tier == "flex"'
	sed -i 's/max_output_tokens: 64/top_k: 3/' "$AGENT/root_agent.yaml"
	echo hi > input
	turn_fails 'generate_content_config: topK: cannot be sent to openai/responses'
}

@test "a key that is refused, and the key is in no file" {
	serve '[{"status": 401, "echo_key": true}]'
	echo hi > input
	turn_fails 'the key in OPENAI_API_KEY was refused (401)'
	key_is_secret
}

@test "429, then 200" {
	serve '[{"status": 429, "headers": {"retry-after-ms": "20"}}, {"text": "at last"}]'
	echo hi > input
	same 'at last' "$(timeout 30 cat output)"
	cmp "$TMP/asked/1.json" "$TMP/asked/2.json"
}

@test "a failure in the stream: the text before it is kept, no tool runs" {
	printf '#!/bin/sh\ntouch %s\n' "$TMP/ran" > "$AGENT/tools/add"
	serve '[{"text": "so far", "calls": [{"name": "add", "args": {"a": 1, "b": 1}}], "error": "it broke"}]'
	echo hi > input
	turn_fails 'the model service reported an error: it broke'
	told 'map(.content.parts[]?.text) | index("so far")'
	not test -e "$TMP/ran"
}

@test "a stream without its end: the text is kept, and no tool runs" {
	printf '#!/bin/sh\ntouch %s\n' "$TMP/ran" > "$AGENT/tools/add"
	serve '[{"text": "so far", "calls": [{"name": "add", "args": {"a": 1, "b": 1}}], "done": false}]'
	echo hi > input
	turn_fails 'the answer of the model broke off'
	told 'map(.content.parts[]?.text) | index("so far")'
	not test -e "$TMP/ran"
}

@test "at the limit of tokens a text is an answer, and a call that was cut is not" {
	printf '#!/bin/sh\ntouch %s\n' "$TMP/ran" > "$AGENT/tools/add"
	local begun='data: {"type": "response.output_item.added", "output_index": 0, "item": {"type": "function_call",
		"call_id": "c", "name": "add", "arguments": ""}}' end
	end='data: {"type": "response.incomplete", "response": {"incomplete_details": {"reason": "max_output_tokens"}}}'
	serve "$(jq -n --arg begun "${begun//$'\n'/ }" --arg last "$end" '[{text: "so far", finish: "max_output_tokens"},
		{chunks: [$begun, "\n\n", $last, "\n\n"]}]')"
	say hi
	told 'last | .finishReason == "MAX_TOKENS" and .content.parts[0].text == "so far"'
	echo hi > input
	turn_fails "the answer was cut off inside a call to 'add'"
	not test -e "$TMP/ran"
}

@test "a recorded conversation is replayed" {
	OPTIONS=(--record "$TMP/cassettes")
	serve '[{"thought": "hm", "calls": [{"name": "add", "args": {"a": 2, "b": 3.5}}]}, {"text": "It is 5.5.", "split": 3}]'
	say 'add 2 and 3.5'
	events > "$TMP/before"
	local cassette=$TMP/cassettes/asker.jsonl
	not grep -qE "$KEY|uthorization" "$cassette"
	jq -s -e 'all(.provider == "openai_responses" and .path == "/v1/responses")' "$cassette"
	replay "$cassette"
	say 'add 2 and 3.5'
	events > "$TMP/after"
	diff "$TMP/before" "$TMP/after"
}

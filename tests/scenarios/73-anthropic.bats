# Agents that ask Anthropic: tests/servers/model.py answers in its place.
load lib/mount

KEY=sk-ant-test-0123456789abcdef-secret

# The agent of the tests for openai/, with another model.
setup() {
	folders_setup
	cp -R "$AGENTS/openai" "$AGENTS/claude"
	sed -i 's/^name:.*/name: claude/; s,^model:.*,model: anthropic/test,' "$AGENTS/claude/root_agent.yaml"
}

# serve SCENARIO [OPTION OF adkfs mount]...: the model, its address in the agent's .env, a session.
serve() {
	model_serve "$1"
	cat > "$AGENTS/claude/.env" <<-EOF
		ANTHROPIC_API_KEY=$KEY
		ANTHROPIC_BASE_URL=http://127.0.0.1:$PORT
	EOF
	daemon_start "${@:2}"
	session claude
}

# config LINE...: generate_content_config of the agent.
config() {
	printf '%s\n' generate_content_config: "${@/#/  }" >> "$AGENTS/claude/root_agent.yaml"
}

responses() {
	jq -sc '[.[].content.parts[]?.functionResponse.response // empty]' events.jsonl
}

@test "a streamed answer" {
	serve '[{"text": "Hello there, é 😀.", "split": 1}]'
	echo hi > input
	same 'Hello there, é 😀.' "$(cat output)"
	same idle "$(cat status)"
	tail -n 1 events.jsonl | jq -e '.author == "claude" and .content.parts[0].text == "Hello there, é 😀."
		and .finishReason == "STOP" and .usageMetadata.totalTokenCount == 18
		and .customMetadata["adkfs.model"] == {"provider": "anthropic", "finishReason": "end_turn"}'
	grep -q '^POST /v1/messages HTTP' "$TMP/asked/1.head"
	grep -qi "^x-api-key: $KEY" "$TMP/asked/1.head"
	grep -qi '^anthropic-version: 2023-06-01' "$TMP/asked/1.head"
	not grep -qiE '^(authorization|anthropic-beta)' "$TMP/asked/1.head"
	jq -e '.model == "test" and .stream and .max_tokens == 8192
		and (.system | startswith("You are a test."))
		and .messages == [{"role": "user", "content": [{"type": "text", "text": "hi"}]}]' "$TMP/asked/1.json"
}

@test "text arrives while the model still writes" {
	serve '[{"text": "first second third", "stall": 800}]'
	echo hi > input
	timeout 20 python3 - <<-'PY'
		import os
		fd = os.open("output", os.O_RDONLY)
		assert os.read(fd, 100).startswith(b"first")
	PY
	same 'running 1' "$(cat status)"
}

@test "a bare name, a token, a version and betas" {
	sed -i 's,^model:.*,model: claude-test-1,' "$AGENTS/claude/root_agent.yaml"
	serve '[{"text": "ok"}]'
	sed -i "s/^ANTHROPIC_API_KEY=.*/ANTHROPIC_AUTH_TOKEN=$KEY/" "$AGENTS/claude/.env"
	printf '%s\n' ANTHROPIC_VERSION=2026-10-21 ANTHROPIC_BETAS=one,two ANTHROPIC_MAX_TOKENS=100 \
		>> "$AGENTS/claude/.env"
	say hi
	same ok "$(cat output)"
	grep -qi "^authorization: bearer $KEY" "$TMP/asked/1.head"
	not grep -qi '^x-api-key' "$TMP/asked/1.head"
	grep -qi '^anthropic-version: 2026-10-21' "$TMP/asked/1.head"
	grep -qi '^anthropic-beta: one,two' "$TMP/asked/1.head"
	jq -e '.model == "claude-test-1" and .max_tokens == 100' "$TMP/asked/1.json"
}

@test "a conversation is sent whole, and after it was compacted" {
	serve '[{"text": "one"}, {"text": "two"}, {"text": "they counted"}, {"text": "three"}]'
	say first
	say second
	same '["user","assistant","user"]' "$(jq -c '[.messages[].role]' "$TMP/asked/2.json")"
	same '["first","one","second"]' "$(jq -c '[.messages[].content[].text]' "$TMP/asked/2.json")"
	echo compact > ctl
	timeout 30 cat wait
	say third
	same three "$(cat output)"
	same '["user","assistant","user"]' "$(jq -c '[.messages[].role]' "$TMP/asked/4.json")"
	same '["they counted","third"]' "$(jq -c '[.messages[1:][].content[].text]' "$TMP/asked/4.json")"
}

@test "a tool call round trip" {
	serve '[{"text": "Adding.", "calls": [{"name": "add", "args": {"a": 2, "b": 3.5}, "id": "toolu_7"}]},
		{"text": "It is 5.5."}]'
	echo 'add 2 and 3.5' > input
	[[ $(cat output) == *'It is 5.5.' ]]
	same '[{"sum":5.5}]' "$(responses)"
	jq -e '.tools[0] | .name == "add" and .input_schema.required == ["a", "b"]' "$TMP/asked/1.json"
	jq -e '.messages[1:] == [
		{role: "assistant", content: [{type: "text", text: "Adding."},
			{type: "tool_use", id: "toolu_7", name: "add", input: {a: 2, b: 3.5}}]},
		{role: "user", content: [{type: "tool_result", tool_use_id: "toolu_7",
			content: "{\"sum\":5.5}", is_error: false}]}]' "$TMP/asked/2.json"
}

@test "three calls in one answer" {
	serve '[{"calls": [{"name": "add", "args": {"a": 1, "b": 1}, "id": "x"},
		{"name": "add", "args": {"a": 2, "b": 2}, "id": "y"}, {"name": "add", "args": {"a": "no"}, "id": "z"}]},
		{"text": "done"}]'
	echo go > input
	same done "$(cat output)"
	same '["x","y","z"]' "$(jq -c '[.messages[-1].content[].tool_use_id]' "$TMP/asked/2.json")"
	same '["{\"sum\":2}","{\"sum\":4}"]' "$(jq -c '[.messages[-1].content[:2][].content]' "$TMP/asked/2.json")"
	jq -e '.messages[-1].content[2].content | fromjson | .error | length > 3' "$TMP/asked/2.json"
}

@test "thinking goes back with its signature, redacted or not" {
	config 'thinking_config: {thinking_budget: 2000}'
	serve '[{"thought": "Let me add.", "signature": "EqQB+/x==", "redacted": "EmwK/+=",
		"calls": [{"name": "add", "args": {"a": 1, "b": 1}, "id": "toolu_1"}]},
		{"signature": "omitted", "text": "2"}, {"text": "bye"}]'
	say 'add'
	same 2 "$(cat output)"
	jq -e '.thinking == {type: "enabled", budget_tokens: 2000} and .max_tokens == 10192' "$TMP/asked/1.json"
	jq -e '.messages[1].content[:2] == [{type: "thinking", thinking: "Let me add.", signature: "EqQB+/x=="},
		{type: "redacted_thinking", data: "EmwK/+="}]' "$TMP/asked/2.json"
	jq -s -e '[.[].content.parts[]? | select(.thought)] | map(.text) == ["Let me add.", "", ""]' events.jsonl
	daemon_restart
	back
	say 'thanks'
	jq -e --slurpfile before "$TMP/asked/2.json" '.messages[:3] == $before[0].messages
		and .messages[3].content == [{type: "thinking", thinking: "", signature: "omitted"},
			{type: "text", text: "2"}]' "$TMP/asked/3.json"
}

@test "attachments reach the model, and a type it does not take is named" {
	serve '[{"text": "seen"}, {"text": "again"}]'
	printf '\211PNG\r\n\032\n\0\0\0\rIHDR\0\0\0\001\0\0\0\001' > attachments/a.png
	printf '%%PDF-1.4\n' > attachments/b.pdf
	echo 'a note' > attachments/c.txt
	say look
	same seen "$(cat output)"
	jq -e --arg png "$(base64 -w 0 < <(printf '\211PNG\r\n\032\n\0\0\0\rIHDR\0\0\0\001\0\0\0\001'))" \
		'.messages[0].content == [{type: "text", text: "look"},
		{type: "image", source: {type: "base64", media_type: "image/png", data: $png}},
		{type: "document", source: {type: "base64", media_type: "application/pdf", data: "JVBERi0xLjQK"}},
		{type: "document", source: {type: "text", media_type: "text/plain", data: "a note\n"}}]' "$TMP/asked/1.json"
	head -c 100 /dev/zero > attachments/z.bin
	say no
	same 'failed 2' "$(cat status)"
	grep -q 'message 3: inlineData application/octet-stream cannot be sent to anthropic' turns/2/error
}

@test "an answer that has to fit a schema, with and without tools" {
	echo '{"type": "object", "properties": {"n": {"type": "integer", "minimum": 1}}, "required": ["n"]}' \
		> "$AGENTS/claude/answer.json"
	echo 'output_schema: {name: answer.json}' >> "$AGENTS/claude/root_agent.yaml"
	serve '[{"calls": [{"name": "set_model_response", "args": {"n": 5}, "id": "toolu_1"}]}, {"text": "{\"n\":0}"}, {"text": "{\"n\":7}"}]'
	say go
	jq -e 'has("output_config") | not' "$TMP/asked/1.json"
	jq -s -e 'last.content.parts[0].text | fromjson == {n: 5}' events.jsonl
	sed -i '/^tools:/,/^  - /d' "$AGENTS/claude/root_agent.yaml"
	say again
	same '{"n":7}' "$(jq -sr 'last.content.parts[0].text' events.jsonl)"
	jq -e '.output_config.format | .type == "json_schema"
		and .schema == {type: "object", properties: {n: {type: "integer", description: "{minimum: 1}"}},
			required: ["n"], additionalProperties: false}' "$TMP/asked/2.json"
	same user "$(jq -r '.messages[-1].role' "$TMP/asked/3.json")"
	grep -q 'properties.n.minimum reaches anthropic only as part of the description' "$MNT/apps/claude/agent.json"
}

@test "429 and 529, then 200" {
	serve '[{"status": 429, "headers": {"retry-after": "0.02"}, "body": {"type": "error", "error": {"type": "rate_limit_error", "message": "slow down"}}},
		{"status": 529, "headers": {"retry-after-ms": "20"}}, {"text": "at last"}]'
	echo hi > input
	same 'at last' "$(timeout 30 cat output)"
	cmp "$TMP/asked/1.json" "$TMP/asked/3.json"
}

@test "a refused key names its setting, an error says what the service said" {
	serve '[{"status": 401, "body": {"type": "error", "error": {"type": "authentication_error", "message": "invalid x-api-key"}}},
		{"status": 400, "body": {"type": "error", "error": {"type": "invalid_request_error", "message": "max_tokens: too many"}}},
		{"status": 529, "repeat": 9, "headers": {"retry-after-ms": "1"}, "body": {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}}]'
	say hi
	same 'failed 1' "$(cat status)"
	grep -q 'the key in ANTHROPIC_API_KEY was refused (401): invalid x-api-key' turns/1/error
	say hi
	grep -q 'did not accept the request (400): max_tokens: too many' turns/2/error
	say hi
	grep -q 'after 3 attempts: the model service answered 529: Overloaded' turns/3/error
	jq -s -e 'last | .errorCode == "MODEL_ERROR" and (.errorMessage | contains("Overloaded"))' events.jsonl
}

@test "a token in the agent's folder keeps back the key of the daemon" {
	export ANTHROPIC_API_KEY=sk-ant-of-the-daemon-0123456789
	serve '[{"text": "ok"}]'
	sed -i "s/^ANTHROPIC_API_KEY=.*/ANTHROPIC_AUTH_TOKEN=$KEY/" "$AGENTS/claude/.env"
	say hi
	grep -qi "^authorization: bearer $KEY" "$TMP/asked/1.head"
	not grep -qi '^x-api-key\|of-the-daemon' "$TMP/asked/1.head"
}

@test "no key" {
	serve '[{"text": "x"}]'
	echo > "$AGENTS/claude/.env"
	say hi
	grep -q 'ANTHROPIC_API_KEY is not set' turns/1/error
	[ ! -e "$TMP/asked/1.json" ]
}

@test "an error in the stream: the text is kept, nothing is tried again" {
	serve '[{"chunks": ["event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"model\":\"m\",\"usage\":{\"input_tokens\":3,\"output_tokens\":1}}}\n\n",
		"data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"half of it\"}}\n\n",
		"event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n"]}]'
	echo hi > input
	run timeout 30 cat output
	[ "$status" -eq 1 ]
	[[ $output == 'half of it'* ]]
	grep -q 'the model service reported an error: Overloaded' turns/1/error
	grep -q '"half of it"' events.jsonl
	[ ! -e "$TMP/asked/2.json" ]
}

@test "a stream that is cut: its text is kept, no tool runs" {
	serve '[{"text": "this is the beginning", "calls": [{"name": "add", "args": {"a": 1, "b": 1}}], "done": false},
		{"text": "this is only the beginning of what I wanted to say to you", "cut": 1100, "reset": true}]'
	echo hi > input
	run timeout 30 cat output
	[ "$status" -eq 1 ]
	[[ $output == 'this is the beginning'* ]]
	same 'failed 1' "$(cat status)"
	grep -q 'broke off' turns/1/error
	grep -q '"this is the beginning' events.jsonl
	same '[]' "$(responses)"
	say again
	same 'failed 2' "$(cat status)"
	grep -q '"this is only' events.jsonl
}

@test "a call that was cut off never runs" {
	serve '[{"text": "Adding.", "calls": [{"name": "add", "args": {"a": 1, "b": 1}}], "end": false, "finish": "max_tokens"}]'
	say hi
	same 'failed 1' "$(cat status)"
	grep -q "cut off inside a call to 'add': the limit of tokens was reached" turns/1/error
	same '[]' "$(responses)"
	not grep -q functionCall events.jsonl
}

@test "a refusal" {
	serve '[{"finish": "refusal", "stop": {"type": "refusal", "category": "bio", "explanation": "Not this."}},
		{"text": "First", "calls": [{"name": "add", "args": {"a": 1, "b": 1}}], "finish": "refusal"}, {"text": "ok"}]'
	say hi
	same 'failed 1' "$(cat status)"
	jq -s -e 'last | .errorCode == "SAFETY" and .errorMessage == "the model refused to answer (bio): Not this."' events.jsonl
	say more
	same First "$(cat turns/2/output)"
	jq -s -e 'last | .content.parts == [{text: "First"}] and .errorCode == "SAFETY"
		and .finishReason == "SAFETY"' events.jsonl
	same '[]' "$(responses)"
	say again
	same ok "$(cat output)"
}

@test "cancel closes the connection at once" {
	serve '[{"text": "first second third", "stall": 800}, {"text": "two"}]'
	echo hi > input
	same first "$(timeout 20 head -c 5 output)"
	echo cancel > ctl
	timeout 10 cat wait
	eventually 5 not connected
	jq -s -e 'last | .interrupted and .errorCode == "CANCELLED"' events.jsonl
	say hi
	same two "$(cat output)"
}

@test "the key is in no file of the mount, in no log, and in no tool's environment" {
	cat > "$AGENTS/claude/tools/add" <<-'EOF'
		#!/bin/sh
		env | sort | tr '\n' ' '
	EOF
	serve '[{"calls": [{"name": "add", "args": {"a": 1, "b": 1}}]}, {"status": 401, "echo_key": true}]'
	say hi
	same 'failed 1' "$(cat status)"
	not grep -rqF --devices=skip "$KEY" "$MNT" --exclude=input --exclude-dir=agent
	not grep -qF "$KEY" "$TMP/daemon.log" "$TMP/daemon.out"
	[[ $(responses) == *ADKFS_SESSION=* ]]
	[[ $(responses) != *ANTHROPIC* ]]
	cd "$TMP"
	daemon_stop
	not grep -rqF "$KEY" "$STORE"
}

@test "a recording can be replayed" {
	serve '[{"thought": "hm", "signature": "sig1", "text": "Adding.", "calls": [{"name": "add", "args": {"a": 2, "b": 3}, "id": "toolu_1"}]},
		{"text": "It is 5.", "split": 3}]' --record "$TMP/cassettes"
	echo ANTHROPIC_MAX_TOKENS=20 >> "$AGENTS/claude/.env"
	say 'add 2 and 3'
	not grep -qiE "$KEY|x-api-key" "$TMP/cassettes/claude.jsonl"
	said=$(jq -c '[.author, .content]' events.jsonl)
	cd "$TMP"
	kill "$SERVER"
	daemon_stop
	rm -r "$STORE" "$AGENTS/claude/.env"
	cp "$TMP/cassettes/claude.jsonl" "$AGENTS/claude/a.jsonl"
	sed -i 's,^model:.*,model: replay/a.jsonl,' "$AGENTS/claude/root_agent.yaml"
	daemon_start
	session claude
	say 'add 2 and 3'
	same "$said" "$(jq -c '[.author, .content]' events.jsonl)"
}

@test "a result with media beside it answers its call" {
	serve '[{"text": "seen"}]'
	{
		jq -nc '{author: "user", content: {role: "user", parts: [{text: "look"}]}}'
		jq -nc '{author: "claude", content: {role: "model", parts: [{functionCall: {id: "c1", name: "see", args: {}}}]}}'
		jq -nc --arg png "$(base64 -w 0 "$ROOT/README.md" | head -c 400)" '{author: "claude", content: {role: "user",
			parts: [{functionResponse: {id: "c1", name: "see", response: {ok: true},
				parts: [{inlineData: {mimeType: "image/png", data: $png}}]}}]}}'
	} >> events.jsonl
	say 'and now?'
	same seen "$(cat output)"
	jq -e '[.messages[].content[] | select(.type == "tool_result")] | length == 1
		and .[0].tool_use_id == "c1" and (.[0].content | any(.type == "image"))' "$TMP/asked/1.json"
	not grep -q 'no result was recorded' "$TMP/asked/1.json"
}

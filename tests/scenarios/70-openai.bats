# Agents with a model behind HTTP: tests/servers/model.py answers in place of one.
load lib/mount

KEY=sk-test-0123456789abcdef-secret

setup() {
	mount_setup
}

# serve SCENARIO: start the model, with a key and its address in the agent's .env.
serve() {
	model_serve "$1"
	cat > "$AGENTS/openai/.env" <<-EOF
		# of a test
		OPENAI_API_KEY=$KEY
		OPENAI_BASE_URL="http://127.0.0.1:$PORT/v1"
	EOF
	session openai
}

@test "a streamed answer" {
	serve '[{"text": "Hello there, é 😀."}]'
	echo hi > input
	same 'Hello there, é 😀.' "$(cat output)"
	same idle "$(cat status)"
	tail -n 1 events.jsonl | jq -e '.author == "openai" and .content.parts[0].text == "Hello there, é 😀."
		and .finishReason == "STOP" and .usageMetadata.totalTokenCount == 18'
	grep -qi "^authorization: bearer $KEY" "$TMP/asked/1.head"
	jq -e '.model == "test" and .stream == true and .messages[0].role == "system"
		and .messages[-1] == {"role": "user", "content": "hi"}' "$TMP/asked/1.json"
}

@test "text in pieces of one byte" {
	serve '[{"text": "Ünïcödé in pieces 😀, word by word.", "split": 1}]'
	echo hi > input
	same 'Ünïcödé in pieces 😀, word by word.' "$(cat output)"
	same 'Ünïcödé in pieces 😀, word by word.' \
		"$(jq -rj 'select(.partial == true) | .content.parts[].text' turns/1/stream.jsonl 2> /dev/null |
			grep . || cat output)"
	same 1 "$(jq -s 'map(select(.author == "openai")) | length' events.jsonl)"
}

@test "text arrives while the model still writes" {
	serve '[{"text": "first second third", "stall": 700}]'
	echo hi > input
	timeout 20 python3 - <<-'PY'
		import os
		fd = os.open("output", os.O_RDONLY)
		assert os.read(fd, 100).startswith(b"first")
	PY
	same 'running 1' "$(cat status)"
}

@test "a conversation is sent whole" {
	serve '[{"text": "one"}, {"text": "two"}]'
	say first
	say second
	same two "$(cat output)"
	same '["system","user","assistant","user"]' "$(jq -c '[.messages[].role]' "$TMP/asked/2.json")"
	same '["first","one","second"]' "$(jq -c '[.messages[1:][].content]' "$TMP/asked/2.json")"
}

@test "a compacted part of the log is sent as its summary" {
	serve '[{"text": "one"}, {"text": "two"}, {"text": "they counted"}, {"text": "three"}]'
	say first
	say second
	echo compact > ctl
	timeout 30 cat wait
	jq -e '.messages | length == 1 and .[0].role == "user"
		and (.[0].content
			| endswith("\n\nuser: first\nopenai: one\nuser: second\nopenai: two\n"))' "$TMP/asked/3.json"
	jq -e 'has("tools") | not' "$TMP/asked/3.json"
	say third
	same '["they counted","third"]' "$(jq -c '[.messages[1:][].content]' "$TMP/asked/4.json")"
	same '["system","assistant","user"]' "$(jq -c '[.messages[].role]' "$TMP/asked/4.json")"
}

@test "a tool call round trip" {
	serve '[{"text": "Adding.", "calls": [{"name": "add", "args": {"a": 2, "b": 3.5}, "id": "call_1"}]},
		{"text": "It is 5.5."}]'
	echo 'add 2 and 3.5' > input
	[[ $(cat output) == *'It is 5.5.' ]]
	jq -s -e '[.[].content.parts[]?.functionCall // empty] | .[0].name == "add" and .[0].args == {"a": 2, "b": 3.5}' events.jsonl
	jq -s -e '[.[].content.parts[]?.functionResponse // empty] | .[0].response == {"sum": 5.5}' events.jsonl
	same add "$(jq -r '.tools[0].function.name' "$TMP/asked/1.json")"
	jq -e '.messages[-1].role == "tool" and (.messages[-1].content | fromjson) == {"sum": 5.5}
		and .messages[-2].tool_calls[0].id == .messages[-1].tool_call_id' "$TMP/asked/2.json"
}

@test "three calls in one answer" {
	serve '[{"calls": [{"name": "add", "args": {"a": 1, "b": 1}, "id": "x"},
		{"name": "add", "args": {"a": 2, "b": 2}, "id": "y"}, {"name": "add", "args": {"a": "no"}, "id": "z"}]},
		{"text": "done"}]'
	echo go > input
	same done "$(cat output)"
	same '[{"sum":2},{"sum":4}]' "$(jq -sc '[.[].content.parts[]?.functionResponse.response // empty][:2]' events.jsonl)"
	jq -s -e '[.[].content.parts[]?.functionResponse.response // empty][2].error | length > 3' events.jsonl
}

@test "429, then 200" {
	serve '[{"status": 429, "headers": {"retry-after-ms": "20"}}, {"text": "at last"}]'
	echo hi > input
	same 'at last' "$(timeout 30 cat output)"
	same idle "$(cat status)"
	[ -e "$TMP/asked/2.json" ]
	cmp "$TMP/asked/1.json" "$TMP/asked/2.json"
}

@test "a connection that is cut: the turn fails, its text is kept" {
	serve '[{"text": "this is only the beginning of what I wanted to say to you today", "cut": 900}]'
	echo hi > input
	run timeout 30 cat output
	[ "$status" -eq 1 ]
	[[ $output == 'this is'*'Input/output error'* ]]
	same 'failed 1' "$(cat status)"
	[ -s turns/1/error ]
	jq -s -e 'last | .errorCode and (.errorMessage | length > 5)' events.jsonl
	grep -q '"this is' events.jsonl
}

@test "a connection that is reset" {
	serve '[{"text": "this is only the beginning of what I wanted to say to you today", "cut": 900, "reset": true}]'
	echo hi > input
	run timeout 30 cat output
	[ "$status" -eq 1 ]
	same 'failed 1' "$(cat status)"
}

@test "a 404 names the model and the path; a page of a gateway is quoted without its last line end" {
	serve '[{"status": 404, "body": "<h1>Not here</h1>\r\n\n"}]'
	say hi
	same 'the model service does not know the model test or the path /v1/chat/completions (404): <h1>Not here</h1>' \
		"$(jq -r 'select(.errorCode) | .errorMessage' events.jsonl)"
}

@test "a page in place of an answer is quoted" {
	serve '[{"body": "<!DOCTYPE html>\n<title>Please log in</title>\n"}]'
	say hi
	same 'the model service sent something other than an answer of a model: <!DOCTYPE html> <title>Please log in</title>' \
		"$(cat turns/1/error)"
}

@test "an error body becomes a readable errorMessage" {
	serve '[{"status": 400, "body": {"error": {"message": "the model likes no tests", "type": "invalid_request_error"}}}]'
	echo hi > input
	run timeout 30 cat output
	[ "$status" -eq 1 ]
	grep -q 'the model likes no tests' turns/1/error
	jq -s -e 'last | .errorCode and (.errorMessage | contains("the model likes no tests"))' events.jsonl
	[ ! -e "$TMP/asked/2.json" ]
}

@test "an error whose body breaks off is reported with its status, which decides about a retry" {
	serve '[{"status": 400, "cut": 21, "body": "<p>no temperature here</p>"},
		{"status": 503, "cut": 5, "body": "<p>not now</p>", "headers": {"retry-after-ms": "1"}}, {"text": "ok"}]'
	say hi
	same 'the model service did not accept the request (400): <p>no temperature her' "$(cat turns/1/error)"
	say hi
	same ok "$(cat output)"
}

@test "a long name in an error is cut between characters, and the rest of the error is kept" {
	local name

	name=a$(printf 'é%.0s' {1..40})
	sed -i "s,^model:.*,model: openai/$name," "$AGENTS/openai/root_agent.yaml"
	serve '[{"status": 404, "body": "no"}]'
	say hi
	same "the model service does not know the model ${name::30} or the path /v1/chat/completions (404): no" \
		"$(cat turns/1/error)"
}

@test "the time to connect counts until the server speaks, also when it is 0" {
	serve '[{"stall": 0, "text": "x"}]'
	cat >> "$AGENTS/openai/.env" <<-EOF
		OPENAI_BASE_URL=https://127.0.0.1:$PORT/v1
		ADKFS_MODEL_CONNECT_MS=0
	EOF
	kill -STOP "$PID"
	say hi
	kill -CONT "$PID"
	grep -q 'cannot be reached in time$' turns/1/error
}

@test "a server that is not there" {
	serve '[{"text": "x"}]'
	kill "$PID"
	wait "$PID" || :
	echo "ADKFS_MODEL_RETRIES=0" >> "$AGENTS/openai/.env"
	eventually 10 test -e "$MNT/apps/openai/agent.json"
	echo hi > input
	run timeout 30 cat output
	[ "$status" -eq 1 ]
	[ -s turns/1/error ]
}

@test "the key is in no file of the mount, in no log, and in no tool's environment" {
	cat > "$AGENTS/openai/tools/add" <<-'EOF'
		#!/bin/sh
		env | sort | tr '\n' ' '
	EOF
	serve '[{"calls": [{"name": "add", "args": {"a": 1, "b": 1}}]}, {"status": 401, "echo_key": true}]'
	echo hi > input
	run timeout 30 cat output
	same 'failed 1' "$(cat status)"
	not grep -rqF --devices=skip "$KEY" "$MNT" --exclude=input --exclude-dir=agent
	not grep -qF "$KEY" "$TMP/daemon.log" "$TMP/daemon.out"
	environment=$(jq -s '[.[].content.parts[]?.functionResponse.response // empty]' events.jsonl)
	[[ $environment == *ADKFS_SESSION=* ]]
	[[ $environment != *OPENAI* ]]
	cd "$TMP"
	daemon_stop
	not grep -rqF "$KEY" "$STORE"
}

@test ".env is read again when it changes, and hides the daemon's environment" {
	serve '[{"text": "ok"}]'
	say hi
	sed -i 's/^OPENAI_API_KEY=.*/OPENAI_API_KEY=another-key/' "$AGENTS/openai/.env"
	say hi
	grep -qi '^authorization: bearer another-key' "$TMP/asked/2.head"
	cd "$TMP"
	daemon_stop
	export OPENAI_API_KEY=of-the-daemon
	daemon_start
	back
	say hi
	grep -qi '^authorization: bearer another-key' "$TMP/asked/3.head"
	sed -i 's/^OPENAI_API_KEY=.*/OPENAI_API_KEY=/' "$AGENTS/openai/.env"
	say hi
	not grep -qi '^authorization' "$TMP/asked/4.head"
	sed -i '/^OPENAI_API_KEY/d' "$AGENTS/openai/.env"
	say hi
	grep -qi '^authorization: bearer of-the-daemon' "$TMP/asked/5.head"
}

@test "rmdir and umount while the model is silent" {
	serve '[{"text": "x", "stall": 0}]'
	echo hi > input
	eventually 20 test -e "$TMP/asked/1.json"
	cd "$TMP"
	timeout 20 rmdir "$S"
	session openai ann s2
	echo hi > input
	eventually 20 test -e "$TMP/asked/2.json"
	cd "$TMP"
	timeout 30 "$ADKFS" umount "$MNT"
}

@test "attachments reach the model, and a type it does not take is named" {
	serve '[{"text": "seen"}, {"text": "again"}]'
	printf '\211PNG\r\n\032\n\0\0\0\rIHDR\0\0\0\001\0\0\0\001' > attachments/a.png
	echo 'a note' > attachments/b.txt
	say look
	same seen "$(cat output)"
	jq -e --arg png "data:image/png;base64,$(jq -r \
		'.content.parts[1].inlineData.data' <(head -n 1 events.jsonl) | tr -- '-_' '+/')" \
		'.messages[-1].content == [{type: "text", text: "look"}, {type: "image_url", image_url: {url: $png}},
		{type: "text", text: "a note\n"}]' "$TMP/asked/1.json"
	head -c 100 /dev/zero > attachments/z.bin
	say no
	same 'failed 2' "$(cat status)"
	grep -q 'inlineData application/octet-stream cannot be sent' turns/2/error
}

# Gemini and Vertex AI: tests/servers/model.py answers in place of them (tests/servers/dialects/gemini.py).
load lib/mount

KEY=AIza-test-0123456789abcdef-secret
SIGNATURE=+/+/AAECAwQF
OURS=-_-_AAECAwQF

setup() {
	mount_setup
}

# serve SCENARIO: start the model; @FILE: the scenario is there.
serve() {
	model_serve "$1"
	settings "GEMINI_API_KEY=$KEY" "GOOGLE_GEMINI_BASE_URL=http://127.0.0.1:$PORT"
	session gemini
}

# settings LINE...: the agent's .env.
settings() {
	printf '%s\n' "$@" > "$AGENTS/gemini/.env"
}

agent_has() {
	printf '%s\n' "$@" >> "$AGENTS/gemini/root_agent.yaml"
}

# The events of the model.
model_events() {
	jq -sc 'map(select(.author == "gemini"))' events.jsonl
}

@test "a streamed answer" {
	serve '[{"text": "Hello there, é 😀.", "thought": "hm"}]'
	echo hi > input
	same 'Hello there, é 😀.' "$(cat output)"
	same idle "$(cat status)"
	tail -n 1 events.jsonl | jq -e '.author == "gemini" and .finishReason == "STOP" and .modelVersion == "test-model"
		and .content.parts == [{"text": "hm", "thought": true}, {"text": "Hello there, é 😀."}]
		and .usageMetadata == {"promptTokensDetails": [{"modality": "TEXT", "tokenCount": 11}],
			"candidatesTokenCount": 7, "promptTokenCount": 11, "totalTokenCount": 18}'
	grep -q '^POST /v1beta/models/gemini-3-test:streamGenerateContent?alt=sse ' "$TMP/asked/1.head"
	grep -qi "^x-goog-api-key: $KEY" "$TMP/asked/1.head"
	not grep -qi '^authorization' "$TMP/asked/1.head"
	jq -e '.contents == [{"role": "user", "parts": [{"text": "hi"}]}]
		and (.systemInstruction.parts[0].text | contains("You are a test."))
		and (has("generationConfig") | not)
		and .tools[0].functionDeclarations[0].parametersJsonSchema.type == "object"' "$TMP/asked/1.json"
}

@test "text in pieces of one byte" {
	serve '[{"text": "Ünïcödé in pieces 😀, word by word.", "split": 1}]'
	echo hi > input
	same 'Ünïcödé in pieces 😀, word by word.' "$(cat output)"
	same 1 "$(model_events | jq length)"
}

@test "text arrives while the model still writes" {
	serve '[{"text": "first second third", "stall": 500}]'
	echo hi > input
	timeout 20 python3 - <<-'PY'
		import os
		fd = os.open("output", os.O_RDONLY)
		assert os.read(fd, 100).startswith(b"first")
	PY
	same 'running 1' "$(cat status)"
}

@test "a tool call: the id made here stays here, its signature goes back" {
	serve '[{"text": "Adding.", "calls": [{"name": "add", "args": {"a": 2, "b": 3.5}}], "signature": "'$SIGNATURE'"},
		{"text": "It is 5.5."}]'
	say 'add 2 and 3.5'
	[[ $(cat output) == *'It is 5.5.' ]]
	model_events | jq -e --arg s "$OURS" '.[0].content.parts[1] | .thoughtSignature == $s and (.functionCall.id | startswith("adk-"))'
	jq -e --arg s "$SIGNATURE" '.contents[1:] == [{"role": "model", "parts": [{"text": "Adding."},
			{"functionCall": {"name": "add", "args": {"a": 2, "b": 3.5}}, "thoughtSignature": $s}]},
		{"role": "user", "parts": [{"functionResponse": {"name": "add", "response": {"sum": 5.5}}}]}]' "$TMP/asked/2.json"
}

@test "three calls in one answer: one content of results, in their order, with the ids of the model" {
	serve '[{"calls": [{"name": "add", "args": {"a": 1, "b": 1}, "id": "x"},
		{"name": "add", "args": {"a": 2, "b": 2}, "id": "y"}, {"name": "add", "args": {"a": "no"}, "id": "z"}],
		"signature": "'$SIGNATURE'"}, {"text": "done"}]'
	say go
	same done "$(cat output)"
	jq -e '(.contents | length == 3) and (.contents[2].parts | map(.functionResponse.id) == ["x", "y", "z"]
		and .[0].functionResponse.response == {"sum": 2} and (.[2].functionResponse.response.error | length > 3))' "$TMP/asked/2.json"
	same "[\"$SIGNATURE\",null,null]" "$(jq -c '.contents[1].parts | map(.thoughtSignature)' "$TMP/asked/2.json")"
}

@test "a signature on an empty text at the end goes back in the next turn" {
	serve '[{"text": "one", "signature": "'$SIGNATURE'"}, {"text": "two"}]'
	say first
	say second
	jq -e --arg s "$SIGNATURE" '.contents[1].parts == [{"text": "one"}, {"text": "", "thoughtSignature": $s}]' "$TMP/asked/2.json"
}

@test "a text that a signature cuts in two is one in the views" {
	serve '[{"chunks": ["data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"hm\",\"thought\":true},{\"text\":\"step-by-\",\"thoughtSignature\":\"////\"}]}}]}\r\n\r\n",
		"data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"step \"},{\"text\":\"guide\"}]},\"finishReason\":\"STOP\"}]}\r\n\r\n"]}, {"text": "two"}]'
	say first
	same step-by-step\ guide "$(cat output)"
	model_events | jq -e '.[0].content.parts == [{"text": "hm", "thought": true},
		{"text": "step-by-", "thoughtSignature": "____"}, {"text": "step guide"}]'
	grep -q '^> step-by-step guide$' transcript.md
	grep -q 'step-by-step guide' transcript.html
	say second
	jq -e '.contents[1].parts == [{"text": "hm", "thought": true},
		{"text": "step-by-", "thoughtSignature": "////"}, {"text": "step guide"}]' "$TMP/asked/2.json"
}

@test "an unsigned call of another model gets the signature that means none" {
	serve '[{"calls": [{"name": "add", "args": {"a": 1, "b": 1}}]}, {"text": "done"}]'
	say go
	same skip_thought_signature_validator "$(jq -r '.contents[1].parts[0].thoughtSignature' "$TMP/asked/2.json" | base64 -d)"
}

@test "an image of the model is part of the event, and goes back as it came" {
	serve '[{"text": "Look:", "image": "'$SIGNATURE'", "signature": "////"}, {"text": "ok"}]'
	say draw
	same Look: "$(cat output)"
	model_events | jq -e --arg d "$OURS" '.[0].content.parts[1] == {"inlineData": {"data": $d, "mimeType": "image/png"}, "thoughtSignature": "____"}'
	say bluer
	jq -e --arg d "$SIGNATURE" '.contents[1].parts[1] == {"inlineData": {"mimeType": "image/png", "data": $d}, "thoughtSignature": "////"}' "$TMP/asked/2.json"
}

@test "an image of many megabytes" {
	python3 -c 'print("[{\"text\": \"big\", \"image\": \"%s\"}]" % ("AAA+" * (3 << 20)))' > "$TMP/big.json"
	serve @"$TMP/big.json"
	say draw
	same big "$(cat output)"
	same $((12 << 20)) "$(model_events | jq '.[0].content.parts[1].inlineData.data | length')"
}

@test "attachments reach the model, and a type it does not take is named" {
	serve '[{"text": "seen"}, {"text": "again"}]'
	printf '\211PNG\r\n\032\n\0\0\0\rIHDR\0\0\0\001\0\0\0\001' > attachments/a.png
	echo 'a note' > attachments/b.txt
	echo '{"a": 1}' > attachments/c.json
	say look
	same seen "$(cat output)"
	jq -e --arg png "$(jq -r '.content.parts[1].inlineData.data' <(head -n 1 events.jsonl) | tr -- '-_' '+/')" \
		'.contents[-1].parts == [{text: "look"}, {inlineData: {mimeType: "image/png", data: $png}},
		{inlineData: {mimeType: "text/plain", data: "YSBub3RlCg=="}},
		{inlineData: {mimeType: "text/plain", data: "eyJhIjogMX0K"}}]' "$TMP/asked/1.json"
	head -c 100 /dev/zero > attachments/z.bin
	say no
	same 'failed 2' "$(cat status)"
	grep -q 'message 3: inlineData application/octet-stream cannot be sent to gemini' turns/2/error
	[ ! -e "$TMP/asked/2.json" ]
}

@test "the options of the agent are sent, and a schema by the tool that is there for it" {
	agent_has 'generate_content_config:' '  temperature: 0.7' '  max_output_tokens: 64' \
		'  thinking_config: {include_thoughts: true, thinking_level: LOW}' \
		'  safety_settings: [{category: HARM_CATEGORY_HARASSMENT, threshold: BLOCK_NONE}]' \
		'output_schema: {name: out.json}'
	echo '{"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}' > "$AGENTS/gemini/out.json"
	serve '[{"calls": [{"name": "set_model_response", "args": {"n": 4}}]}]'
	say go
	jq -e '.generationConfig == {"temperature": 0.7, "maxOutputTokens": 64,
			"thinkingConfig": {"includeThoughts": true, "thinkingLevel": "LOW"}}
		and .safetySettings[0].threshold == "BLOCK_NONE"
		and ([.tools[0].functionDeclarations[].name] | index("set_model_response"))' "$TMP/asked/1.json"
	same idle "$(cat status)"
}

@test "a field that the service refuses is a warning of the agent" {
	agent_has 'generate_content_config: {audio_timestamp: true}'
	settings GEMINI_API_KEY= # whoever has no key yet is told too
	session gemini
	jq -e '.warnings[0] | contains("audioTimestamp: only vertex_ai takes this")' "$MNT/apps/gemini/agent.json"
}

@test "Vertex AI: project, place and token" {
	serve '[{"text": "one"}]'
	settings GOOGLE_GENAI_USE_VERTEXAI=true GOOGLE_CLOUD_PROJECT=p1 GOOGLE_CLOUD_LOCATION=europe-west4 \
		"CLOUDSDK_AUTH_ACCESS_TOKEN=$KEY" "GOOGLE_VERTEX_BASE_URL=http://127.0.0.1:$PORT"
	say hi
	same one "$(cat output)"
	grep -q '^POST /v1beta1/projects/p1/locations/europe-west4/publishers/google/models/gemini-3-test:streamGenerateContent?alt=sse ' "$TMP/asked/1.head"
	grep -qi "^authorization: bearer $KEY" "$TMP/asked/1.head"
	same vertex_ai "$(model_events | jq -r '.[0].customMetadata["adkfs.model"].provider')"
}

@test "statuses: 401 and a bad key name the setting, 400 and 404 have the words of the service" {
	serve '[{"status": 401, "echo_key": true},
		{"status": 400, "body": {"error": {"code": 400, "message": "API key not valid.", "status": "INVALID_ARGUMENT",
			"details": [{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}]}}},
		{"status": 404, "body": [{"error": {"code": 404, "message": "no model of that name", "status": "NOT_FOUND"}}]}]'
	say one
	grep -q 'the key in GEMINI_API_KEY was refused (401)' turns/1/error
	say two
	grep -q 'the key in GEMINI_API_KEY was refused (400): API key not valid' turns/2/error
	say three
	grep -q '(404): no model of that name' turns/3/error
	settings "GOOGLE_GEMINI_BASE_URL="
	say four
	grep -q 'GEMINI_API_KEY is not set' turns/4/error
}

@test "429 says in its body how long to wait" {
	serve '[{"status": 429, "body": {"error": {"code": 429, "message": "slowly", "status": "RESOURCE_EXHAUSTED",
		"details": [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "0.02s"}]}}}, {"text": "at last"}]'
	say hi
	same 'at last' "$(cat output)"
	cmp "$TMP/asked/1.json" "$TMP/asked/2.json"
}

@test "an error in a stream: text is kept, no tool runs, nothing is asked again" {
	serve '[{"chunks": ["data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"so \"},{\"functionCall\":{\"name\":\"add\",\"args\":{\"a\":1,\"b\":1}}}]}}]}\r\n\r\n",
		"{\r\n  \"error\": {\r\n    \"code\": 503,\r\n    \"message\": \"overloaded\"\r\n  }\r\n}\r\n"]}, {"text": "no"}]'
	say hi
	same 'failed 1' "$(cat status)"
	grep -q 'the model service reported an error: overloaded' turns/1/error
	same 'so ' "$(model_events | jq -r '[.[].content.parts[]?.text] | join("")')"
	not grep -q 'functionCall\|functionResponse' events.jsonl
	[ ! -e "$TMP/asked/2.json" ]
}

@test "a stream that is cut: text is kept, no tool runs" {
	serve '[{"text": "this is the beginning ", "calls": [{"name": "add", "args": {"a": 1, "b": 1}}], "cut": 760}, {"text": "no"}]'
	say hi
	same 'failed 1' "$(cat status)"
	grep -q 'broke\|closed\|cut' turns/1/error
	grep -q 'this is' events.jsonl
	not grep -q 'functionCall\|functionResponse' events.jsonl
	[ ! -e "$TMP/asked/2.json" ]
}

@test "a call in pieces never runs" {
	serve '[{"chunks": ["data: {\"candidates\":[{\"content\":{\"parts\":[{\"functionCall\":{\"name\":\"add\",\"willContinue\":true}}]}}]}\r\n\r\n",
		"data: {\"candidates\":[{\"content\":{\"parts\":[{\"functionCall\":{}}]},\"finishReason\":\"STOP\"}]}\r\n\r\n"]}]'
	say hi
	same 'failed 1' "$(cat status)"
	grep -q 'a call in pieces, which is not supported' turns/1/error
	not grep -q functionResponse events.jsonl
}

@test "a blocked prompt, and an answer without content" {
	serve '[{"body": {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT", "blockReasonMessage": "not this"}}},
		{"body": {"candidates": [{"content": {"role": "model"}, "finishReason": "MAX_TOKENS"}], "usageMetadata": {"promptTokenCount": 5}}}]'
	say one
	tail -n 1 events.jsonl | jq -e '.errorCode == "PROHIBITED_CONTENT" and .errorMessage == "not this"'
	say two
	tail -n 1 events.jsonl | jq -e '.errorCode == "MAX_TOKENS" and .finishReason == "MAX_TOKENS" and .usageMetadata.promptTokenCount == 5'
	same 'failed 2' "$(cat status)"
}

@test "grounding and citations are in the event" {
	serve '[{"body": {"candidates": [{"content": {"parts": [{"text": "x"}]}, "finishReason": "STOP", "avgLogprobs": -0.5,
		"groundingMetadata": {"webSearchQueries": ["q"]},
		"citationMetadata": {"citationSources": [{"startIndex": 0, "endIndex": 1, "uri": "https://x"}]}}]}}]'
	say hi
	tail -n 1 events.jsonl | jq -e '.groundingMetadata.webSearchQueries == ["q"] and .avgLogprobs == -0.5
		and .citationMetadata.citations[0].uri == "https://x"'
}

@test "cancel closes the connection at once" {
	serve '[{"text": "first second third", "stall": 300}, {"text": "next"}]'
	echo hi > input
	eventually 20 grep -q first turns/1/stream.jsonl
	connected
	echo cancel > ctl
	eventually 5 not connected
	timeout 10 cat wait > /dev/null
	tail -n 1 events.jsonl | jq -e '.interrupted == true and .errorCode == "CANCELLED"'
	say again
	same next "$(cat output)"
}

@test "the key is in no file of the mount, in no log, and in no tool's environment" {
	printf '#!/bin/sh\nenv | sort | tr "\\n" " "\n' > "$AGENTS/gemini/tools/add"
	serve '[{"calls": [{"name": "add", "args": {"a": 1, "b": 1}}]}, {"status": 401, "echo_key": true}]'
	say hi
	same 'failed 1' "$(cat status)"
	not grep -rqF --devices=skip "$KEY" "$MNT" --exclude=input --exclude-dir=agent
	not grep -qF "$KEY" "$TMP/daemon.log" "$TMP/daemon.out"
	environment=$(jq -s '[.[].content.parts[]?.functionResponse.response // empty]' events.jsonl)
	[[ $environment == *ADKFS_SESSION=* ]]
	[[ $environment != *GEMINI* ]]
	cd "$TMP"
	daemon_stop
	not grep -rqF "$KEY" "$STORE"
}

@test "a recorded conversation replays" {
	cd "$TMP"
	daemon_stop
	daemon_start --record "$TMP/cassettes"
	serve '[{"text": "Adding.", "thought": "hm", "calls": [{"name": "add", "args": {"a": 2, "b": 3.5}}], "signature": "'$SIGNATURE'"},
		{"text": "It is 5.5, é 😀.", "split": 3}]'
	say 'add 2 and 3.5'
	jq -c 'del(.id, .timestamp, .invocationId) | del(.content.parts[]?.functionCall?.id?, .content.parts[]?.functionResponse?.id?)' \
		events.jsonl > "$TMP/before"
	not grep -qF "$KEY" "$TMP/cassettes/gemini.jsonl"
	cd "$TMP"
	kill "$PID"
	rm "$AGENTS/gemini/.env"
	daemon_stop
	rm -r "$STORE"
	cp "$TMP/cassettes/gemini.jsonl" "$AGENTS/gemini/a.jsonl"
	sed -i 's,^model:.*,model: replay/a.jsonl,' "$AGENTS/gemini/root_agent.yaml"
	daemon_start
	session gemini
	say 'add 2 and 3.5'
	jq -c 'del(.id, .timestamp, .invocationId) | del(.content.parts[]?.functionCall?.id?, .content.parts[]?.functionResponse?.id?)' \
		events.jsonl > "$TMP/after"
	diff "$TMP/before" "$TMP/after"
}

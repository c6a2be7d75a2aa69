# input.json: messages that are more than text.
load lib/mount
load lib/agents

# send JSON: as a message, to its end.
send() {
	printf '%s\n' "$1" > input.json
	timeout 60 cat wait > /dev/null
}

no_turn() {
	[ ! -e turns/1 ]
	[ ! -s events.jsonl ]
	same idle "$(cat status)"
}

@test "a content is a message" {
	session
	same '' "$(cat input.json)"
	send '{"parts": [{"text": "hi"}]}'
	same 'you said hi' "$(cat output)"
	same hi "$(cat turns/1/input)"
	head -n 1 events.jsonl | jq -e '.author == "user" and .content == {role: "user", parts: [{text: "hi"}]}
		and (.invocationId | startswith("e-"))'
	send '{"role": "user", "parts": [{"text": "there"}]}'
	same 'you said there' "$(cat output)"
}

@test "parts of all kinds stay what they are" {
	session
	echo '{"author": "echo", "invocationId": "e-1", "content": {"role": "model", "parts": [
		{"functionCall": {"id": "adk-4", "name": "approve", "args": {}}}]}}' | tr -d '\n' >> events.jsonl
	echo >> events.jsonl
	send '{"parts": [
		{"text": "look"},
		{"inline_data": {"mime_type": "image/png", "data": "+/8AAA==", "display_name": "a.png"}},
		{"fileData": {"fileUri": "gs://b/p.pdf", "mimeType": "application/pdf"}},
		{"functionResponse": {"id": "adk-4", "name": "approve", "response": {"n": 1.50}}}]}'
	sed -n 2p events.jsonl | jq -e '.content.parts == [{text: "look"},
		{inlineData: {data: "-_8AAA==", displayName: "a.png", mimeType: "image/png"}},
		{fileData: {fileUri: "gs://b/p.pdf", mimeType: "application/pdf"}},
		{functionResponse: {id: "adk-4", name: "approve", response: {n: 1.5}}}]'
	sed -n 2p events.jsonl | grep -qF '{"n":1.50}'
	same look "$(cat turns/1/input)"
	sizes_are_true .
}

@test "a run request sets state" {
	session
	send '{"newMessage": {"parts": [{"text": "one"}]}, "stateDelta": {"a": [1, 2.0], "user:u": true}}'
	same '{"a":[1,2.0],"user:u":true}' "$(cat state.json)"
	head -n 1 events.jsonl | jq -e '.actions.stateDelta == {a: [1, 2], "user:u": true}'
	id=$(cat turns/1/invocation_id)
	send "{\"app_name\": \"echo\", \"user_id\": \"ann\", \"session_id\": \"s1\", \"streaming\": true,
		\"invocation_id\": \"$id\", \"new_message\": {\"parts\": [{\"text\": \"two\"}]},
		\"state_delta\": {\"a\": null}, \"custom_metadata\": {\"from\": \"here\"}}"
	same 'you said two' "$(cat output)"
	same null "$(cat state/a.json)"
	same here "$(sed -n 3p events.jsonl | jq -r .customMetadata.from)"
	send '{"newMessage": {"parts": [{"text": "three"}]}, "stateDelta": {}, "invocationId": null}'
	same 'you said three' "$(cat output)"
}

@test "temp: keys of a request exist for its turn alone" {
	mkdir "$AGENTS/temp"
	cat > "$AGENTS/temp/root_agent.yaml" <<-'YAML'
		name: temp
		model: script/script.yaml
		instruction: Needs {temp:key}.
	YAML
	cat > "$AGENTS/temp/script.yaml" <<-'YAML'
		- when: {user: '.'}
		  text: fine
		  delay_ms: 100
	YAML
	session temp
	request='{"newMessage": {"parts": [{"text": "x"}]}, "stateDelta": {"temp:key": 1}}'
	# The second one waits for the first, and still has it.
	printf '%s' "$request" > input.json
	printf '%s' "$request" > input.json
	timeout 30 cat wait
	same 'done done' "$(cat turns/[12]/status | xargs)"
	same '{}' "$(cat state.json)"
	not grep -q temp: events.jsonl
	send '{"parts": [{"text": "x"}]}'
	same failed "$(cat turns/3/status)"
}

@test "JSON that cannot be a message is refused by the write" {
	session
	for text in '[]' '"hi"' '{"parts": [}' '{"parts": 1}' '{"parts": [{"text": 1}]}' '{}' \
		'{"parts": []}' '{"parts": [{"txt": "x"}]}' '{"parts": [{"text": "x"}]} x' \
		'{"role": "model", "parts": [{"text": "x"}]}' \
		'{"parts": [{"functionCall": {"name": "f", "args": {}}}]}' \
		'{"parts": [{"functionCall": {"name": "f", "willContinue": true}}]}' \
		'{"newMessage": {"parts": [{"text": "x"}]}, "foo": 1}' '{"stateDelta": {}}' \
		'{"newMessage": {"parts": [{"text": "x"}]}, "stateDelta": []}' \
		'{"newMessage": {"parts": [{"text": "x"}]}, "stateDelta": {"": 1}}' \
		'{"newMessage": {"parts": [{"text": "x"}]}, "appName": "other"}' \
		'{"newMessage": {"parts": [{"text": "x"}]}, "userId": "other"}' \
		'{"newMessage": {"parts": [{"text": "x"}]}, "sessionId": "other"}' \
		'{"newMessage": {"parts": [{"text": "x"}]}, "invocationId": "e-1"}' \
		'{"newMessage": {"parts": [{"text": "x"}]}, "streaming": "yes"}' \
		'{"parts": [{"text": "\ud800"}]}'; do
		export text
		refused EINVAL bash -c 'printf "%s\n" "$text" > input.json' || { echo "$text"; false; }
		tail -n 1 .errors | jq -e '.name == "input.json" and (.error | length > 10)'
	done
	refused EINVAL bash -c "printf '{\"parts\": [{\"text\": \"\xff\"}]}' > input.json"
	no_turn
	refused ENXIO bash -c 'mkdir -p ../../../../../none/users/a/sessions/s &&
		cd ../../../../../none/users/a/sessions/s && echo "{}" > input.json'
}

@test "JSON that ends too early is refused by the close; an empty file starts nothing" {
	session
	python3 - <<-'PY'
		import errno, os
		fd = os.open("input.json", os.O_WRONLY)
		os.write(fd, b'{"parts": [')
		try:
		    os.close(fd)
		    raise SystemExit("the close succeeded")
		except OSError as e:
		    assert e.errno == errno.EINVAL, e
	PY
	tail -n 1 .errors | jq -e '.name == "input.json" and (.error | contains("too early"))'
	: > input.json
	echo > input.json
	printf ' \n\t\n' > input.json
	no_turn
	# In pieces, by several processes, with white space behind.
	{ printf '{"parts": '; printf '[{"text": '; printf '"hi"}]}'; echo; echo; } > input.json
	same 'you said hi' "$(cat output)"
	same 1 "$(ls -d turns/[0-9]* | wc -l)"
}

@test "messages of 16 MiB" {
	session
	python3 - <<-'PY'
		import errno, os
		def send(text):
		    fd = os.open("input.json", os.O_WRONLY)
		    try:
		        for i in range(0, len(text), 1 << 17):
		            os.write(fd, text[i:i + (1 << 17)])
		    finally:
		        os.close(fd)
		head, tail = b'{"parts": [{"inlineData": {"data": "', b'", "mimeType": "x/y"}}, {"text": "hi"}]}'
		send(head + b"A" * ((16 << 20) - 64 - len(head) - len(tail)) + b"AAAA" * 4 + tail)
		try:
		    send(head + b"A" * (16 << 20) + tail)
		    raise SystemExit("too much was taken")
		except OSError as e:
		    assert e.errno == errno.EFBIG, e
		# An error far behind is found, at the close at the latest.
		try:
		    send(head + b"A" * (3 << 20) + b'", "mimeType": "x/y"}}, {"txt": "hi"}]}')
		    raise SystemExit("a bad message was taken")
		except OSError as e:
		    assert e.errno == errno.EINVAL, e
	PY
	timeout 30 cat wait
	same 'you said hi' "$(cat output)"
	same 1 "$(ls -d turns/[0-9]* | wc -l)"
}

@test "a message that was closed survives a crash" {
	session
	TMP=$TMP python3 - <<-'PY' &
		import os, time
		fd = os.open("input.json", os.O_WRONLY)
		os.write(fd, b'{"newMessage": {"parts": [{"text": "hi"}]}, "stateDelta": {"a": 1}}')
		os.close(os.dup(fd))
		open(os.environ["TMP"] + "/closed", "w").close()
		time.sleep(600)
	PY
	PID=$!
	BACKGROUND+=("$PID")
	eventually 10 test -e "$TMP/closed"
	daemon_kill
	kill "$PID"
	daemon_start
	back
	timeout 30 cat wait
	same 'you said hi' "$(cat output)"
	same 1 "$(cat state/a.json)"
}

# referring URI [MEMBER OF fileData]...: what the model gets for a part that names it.
referring() {
	jq -nc --arg uri "$1" '{parts: [{text: "see"}, {fileData: {fileUri: $uri, displayName: "shown"}}]}' > input.json
	same idle "$(timeout 60 cat wait)"
	jq -c '.contents[-1].parts[-1]' artifacts/seen.json
}

@test "a fileData that names an artifact brings the artifact to the model" {
	agent_file ref root_agent.yaml <<-'E'
		name: ref
		model: script/s.yaml
		instruction: Look.
		before_model_callbacks: [{name: see}]
	E
	agent_file ref s.yaml <<< '[{text: seen}]'
	agent_file ref see <<< $'#!/bin/sh\ncat > "$ADKFS_SESSION/artifacts/seen.json"'
	session ref
	here=artifact://apps/ref/users/ann/sessions/s1/artifacts
	mkdir "artifacts/a dir"
	printf one > "artifacts/a dir/n.txt"
	printf two > "artifacts/a dir/n.txt"
	printf '\211PNG\r\n\032\n\0' > artifacts/p.png
	printf '\0\1' > artifacts/b.bin
	printf mine > artifacts/user:u.txt
	mkdir ../s2 ../../../bob ../../../bob/sessions/s1
	printf other > ../s2/artifacts/o.txt
	printf secret > ../../../bob/sessions/s1/artifacts/o.txt
	same '{"text":"one"}' "$(referring "$here/a%20dir/n.txt/versions/1")"
	same '{"text":"two"}' "$(referring "$(jq -r .canonicalUri 'artifacts/.versions/a dir/n.txt/2.json')")"
	same '{"text":"two"}' "$(referring "$here/a dir/n.txt/versions/2")"
	same '{"inlineData":{"data":"iVBORw0KGgoA","displayName":"shown","mimeType":"image/png"}}' \
		"$(referring "$here/p.png/versions/1")"
	same '{"text":"[binary data, application/octet-stream, 2 bytes]"}' "$(referring "$here/b.bin/versions/1")"
	same '{"text":"mine"}' "$(referring artifact://apps/ref/users/ann/artifacts/u.txt/versions/1)"
	same '{"text":"other"}' "$(referring "${here/s1/s2}/o.txt/versions/1")"
	for uri in "$here/p.png/versions/9" "$here/p.png/versions/01" "$here/p.png" "$here/no/versions/1" \
		"$here/a dir/versions/1" "${here/s1/s3}/o.txt/versions/1" "${here/ann/bob}/o.txt/versions/1" \
		"${here/ref/echo}/o.txt/versions/1" "$here/%zz/versions/1" artifact://x artifact://; do
		same "{\"text\":\"There is no artifact $uri.\"}" "$(referring "$uri")"
	done
	uri=https://example.org/p.png
	same "{\"fileData\":{\"displayName\":\"shown\",\"fileUri\":\"$uri\"}}" "$(referring $uri)"
	# The log keeps the names.
	same 19 "$(grep -c '"fileUri"' events.jsonl)"
	not grep -q 'iVBOR' events.jsonl
}

# Recording what a model said (--record), and playing it again (replay/).
load lib/mount

KEY=sk-test-0123456789abcdef-secret

setup() {
	folders_setup
	CASSETTE=$TMP/cassettes/openai.jsonl
}

# serve SCENARIO: start the model, with a key and its address in the agent's .env.
serve() {
	model_serve "$1"
	cat > "$AGENTS/openai/.env" <<-EOF
		OPENAI_API_KEY=$KEY
		OPENAI_BASE_URL=http://user:pass-$KEY@127.0.0.1:$PORT/v1
		OPENAI_ORG_ID=org-of-mine
	EOF
	daemon_start --record "$TMP/cassettes"
	session openai
}

# The server goes, and so do key and address; the agent asks its cassette.
replay() {
	cd "$TMP"
	kill "$SERVER" 2> /dev/null || :
	rm "$AGENTS/openai/.env"
	daemon_stop
	rm -r "$STORE"
	mkdir -p "$AGENTS/openai/cassettes"
	cp "$CASSETTE" "$AGENTS/openai/cassettes/a.jsonl"
	sed -i "s,^model:.*,model: replay/cassettes/a.jsonl${1:-}," "$AGENTS/openai/root_agent.yaml"
	daemon_start
	session openai
}

# Events without what differs from one time to the next.
events() {
	jq -c 'del(.id, .timestamp, .invocationId) |
		del(.content.parts[]?.functionCall?.id?, .content.parts[]?.functionResponse?.id?) |
		if .longRunningToolIds then .longRunningToolIds |= length else . end' events.jsonl
}

has_no_secret() {
	not grep -qiE "$KEY|0123456789abcdef|authorization|bearer|x-api-key|org-of-mine|pass-|user:" "$1"
	same 600 "$(stat -c %a "$1")"
}

@test "a turn with tools gives the same events, and no key is in the cassette" {
	serve '[{"text": "Adding.", "thought": "hm", "calls": [{"name": "add", "args": {"a": 2, "b": 3.5}, "id": "call_1"}]},
		{"text": "It is 5.5, é 😀.", "split": 3}, {"text": "Bye.", "delay_ms": 5}]'
	say 'add 2 and 3.5'
	say 'thanks'
	events > "$TMP/before"
	same 2 "$(jq -s 'map(select(.call)) | length - 1' "$CASSETTE")"
	jq -s -e 'all(.provider == "openai" and .model == "test" and .path == "/v1/chat/completions"
		and .status == 200 and .attempt == 0 and .body.stream and (.headers["content-type"] | length > 3))
		and (.[1].pieces | length > 3) and ([.[1].pieces[][1] | objects] | length > 0)' "$CASSETTE"
	has_no_secret "$CASSETTE"
	same "$TMP/cassettes" "$(jq -r .record "$MNT/.adkfs/config.json")"
	replay
	say 'add 2 and 3.5'
	say 'thanks'
	events > "$TMP/after"
	diff "$TMP/before" "$TMP/after"
	same Bye. "$(cat output)"
	same null "$(jq .record "$MNT/.adkfs/config.json")"
}

@test "calls without an id get a new id each time, and are found all the same" {
	serve '[{"calls": [{"name": "add", "args": {"a": 1, "b": 1}, "id": ""}, {"name": "add", "args": {"a": 2, "b": 2}, "id": ""}]},
		{"text": "done"}]'
	say go
	events > "$TMP/before"
	same done "$(cat output)"
	replay
	say go
	events | diff "$TMP/before" -
}

@test "429, then 200; a connection that is cut; an error that names the key" {
	serve '[{"status": 429, "headers": {"retry-after-ms": "20"}}, {"text": "at last"},
		{"text": "this is only the beginning of what I wanted to say to you today", "cut": 900},
		{"status": 401, "echo_key": true}]'
	say one
	say two
	say three
	events > "$TMP/before"
	same 2 "$(jq -s 'map(select(.status == 429 or .attempt == 1)) | length' "$CASSETTE")"
	same ECONNRESET "$(jq -r 'select(.error).error.errno' "$CASSETTE")"
	has_no_secret "$CASSETTE"
	replay
	say one
	same 'at last' "$(cat output)"
	say two
	same 'failed 2' "$(cat status)"
	say three
	events > "$TMP/after"
	# the key was replaced by a mark here and by asterisks there
	diff <(sed -E 's/\[key\]|\*{9,}/KEY/g' "$TMP/before") <(sed -E 's/\[key\]|\*{9,}/KEY/g' "$TMP/after")
}

@test "failed attempts to connect are part of a recording" {
	serve '[]'
	kill "$SERVER"
	eventually 10 gone "$SERVER"
	export ADKFS_MODEL_RETRIES=1
	say hi
	events > "$TMP/before"
	replay
	say hi
	events | sed 's/after . attempts: //' > "$TMP/after"
	diff <(sed 's/after . attempts: //' "$TMP/before") "$TMP/after"
	grep -q 'nothing answers there' turns/1/error
}

@test "equal requests are answered in their order, then from the start" {
	serve '[{"text": "first"}, {"text": "second"}]'
	sed -i '$ a include_contents: none' "$AGENTS/openai/root_agent.yaml"
	say hi
	say hi
	same second "$(cat output)"
	replay
	for answer in first second first second; do
		say hi
		same $answer "$(cat output)"
	done
}

@test "a request that was not recorded fails and says what differs" {
	serve '[{"text": "one"}, {"text": "two"}]'
	say first
	say second
	replay
	say first
	same one "$(cat output)"
	say another
	same 'failed 2' "$(cat status)"
	same 'cassettes/a.jsonl has no such request: messages[3].content differs from line 2, the nearest' \
		"$(cat turns/2/error)"
	sed -i 's/^instruction:.*/instruction: You are something else./' "$AGENTS/openai/root_agent.yaml"
	session openai ann s2
	say first
	grep -qF 'messages[0].content differs from line 1' turns/1/error
}

@test "pieces at the pace they came, and a cancel in between" {
	serve '[{"text": "slow words one two three", "delay_ms": 100}]'
	say go
	replay '?paced'
	local began=$(date +%s%N)
	say go
	[ $((($(date +%s%N) - began) / 1000000)) -ge 400 ]
	same 'slow words one two three' "$(cat output)"
	# long in between
	sed -i -E 's/\[[0-9]+,("data: \[DONE)/[600000,\1/' "$AGENTS/openai/cassettes/a.jsonl"
	session openai ann s2
	echo go > input
	eventually 10 grep -q slow turns/1/stream.jsonl
	echo cancel > ctl
	timeout 20 cat wait
	same CANCELLED "$(tail -n 1 events.jsonl | jq -r .errorCode)"
}

@test "a cassette that is missing, outside or no cassette" {
	local case number=0

	daemon_start
	for case in 'none.jsonl|No such file' '../../x.jsonl|outside\|out of\|No such file' 'a.jsonl|a.jsonl:2: the line is not JSON' \
		'b.jsonl|b.jsonl:1: the line is not an exchange' 'c.jsonl|c.jsonl is empty' 'd.jsonl|d.jsonl:1: the line has no body' \
		'e.jsonl|e.jsonl:1: the line has no provider'; do
		mkdir -p "$AGENTS/bad"
		printf 'name: bad\ninstruction: x\nmodel: replay/%s\n' "${case%%|*}" > "$AGENTS/bad/root_agent.yaml"
		printf '\n{"call": ' > "$AGENTS/bad/a.jsonl"
		echo '[1]' > "$AGENTS/bad/b.jsonl"
		: > "$AGENTS/bad/c.jsonl"
		echo '{"call": "1", "provider": "openai", "model": "x"}' > "$AGENTS/bad/d.jsonl"
		echo '{"call": "1", "provider": 5, "model": "x"}' > "$AGENTS/bad/e.jsonl"
		session bad ann "s$((++number))"
		run "$ADKFS" check-agent "$AGENTS/bad"
		echo "$output"
		grep -q "warning: root_agent.yaml:3: model: .*\(${case#*|}\)" <<< "$output"
		say hi
		grep -q "${case#*|}" turns/1/error || {
			cat turns/1/error
			return 1
		}
		cd "$TMP"
	done
}

@test "keys that were not sent, and short keys, are replaced by marks too" {
	serve '[{"text": "ok"}]'
	sed -i 's,^model:.*,model: gemini/test,' "$AGENTS/openai/root_agent.yaml"
	printf '%s\n' "GOOGLE_API_KEY=$KEY" GEMINI_API_KEY=tiny-67 \
		"GOOGLE_GEMINI_BASE_URL=http://127.0.0.1:$PORT" > "$AGENTS/openai/.env"
	say hi
	same ok "$(cat output)"
	jq -e '.settings | .GOOGLE_API_KEY == "[key]" and .GEMINI_API_KEY == "[key]"' "$CASSETTE"
	not grep -q tiny-67 "$CASSETTE"
	replay
	say hi
	same ok "$(cat output)"
}

@test "a folder that cannot be recorded to fails the mount" {
	: > "$TMP/file"
	run "$ADKFS" mount --record "$TMP/file" --store "$STORE" "$MNT"
	same 1 "$status"
	same "adkfs mount: --record: $TMP/file: Not a directory" "$output"
	not is_mounted "$MNT"
}

# What is done about an output schema depends on who was asked: recorded is played by the same rules.
@test "answers to a schema replay for providers that take it beside tools and for others" {
	local model

	echo '{"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}' > "$AGENTS/openai/out.json"
	sed -i '$ a output_schema: {name: out.json}' "$AGENTS/openai/root_agent.yaml"
	cp "$AGENTS/openai/root_agent.yaml" "$TMP/tools.yaml"
	sed '/^tools:/d; /tools.add/d' "$TMP/tools.yaml" > "$TMP/bare.yaml"
	for model in gemini/test anthropic/test ollama/test mistral/test openai/responses/test openai/test; do
		play_schema $model tools '{"text": "{\"n\": 4}", "calls": [{"name": "set_model_response", "args": {"n": 4}}]}'
		play_schema $model bare '{"text": "{\"n\": 4}"}'
	done
}

# play_schema MODEL AGENT ANSWER: the turn of a recording ends as that of its replay.
play_schema() {
	local answer=$3

	cd "$TMP"
	[ ! -e "$TMP/daemon.pid" ] || daemon_stop
	rm -rf "$STORE" "$TMP/cassettes"
	case $1-$2 in
	openai*-tools | mistral*-tools) answer='{"text": "{\"n\": 4}"}' ;;
	esac
	sed "s,^model:.*,model: $1," "$TMP/$2.yaml" > "$AGENTS/openai/root_agent.yaml"
	model_serve "[$answer]"
	(
		HOST=http://127.0.0.1:$PORT
		printf '%s\n' "OPENAI_BASE_URL=$HOST/v1" "MISTRAL_API_BASE=$HOST/v1" "GOOGLE_GEMINI_BASE_URL=$HOST" \
			"ANTHROPIC_BASE_URL=$HOST" "OLLAMA_HOST=$HOST"
	) > "$AGENTS/openai/.env"
	daemon_start --record "$TMP/cassettes"
	session openai
	say go
	same idle "$(cat status)" || {
		echo "$1 $2: $(cat turns/1/error)"
		return 1
	}
	events > "$TMP/before"
	replay
	say go
	same idle "$(cat status)" || {
		echo "$1 $2, played: $(cat turns/1/error)"
		return 1
	}
	events | diff "$TMP/before" - || {
		echo "$1 $2, played"
		return 1
	}
}

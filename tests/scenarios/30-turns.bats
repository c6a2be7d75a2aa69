# Turns: what is said, and what is answered.
load lib/mount

@test "echo hi > input; cat output" {
	session
	echo hi > input
	same 'you said hi' "$(cat output)"
	same idle "$(cat status)"
	same idle "$(cat wait)"
}

@test "a turn leaves these files" {
	session
	say hi
	same "1 latest" "$(ls turns | xargs)"
	same 1 "$(readlink turns/latest)"
	same "agent calls error events.jsonl input invocation_id output status stream.jsonl usage.json" \
		"$(ls turns/1 | xargs)"
	same hi "$(cat turns/1/input)"
	same 'you said hi' "$(cat turns/1/output)"
	same 'you said hi' "$(cat turns/latest/output)"
	same done "$(cat turns/1/status)"
	same '' "$(cat turns/1/error)"
	same echo "$(cat turns/1/agent)"
	same "$(cat turns/1/events.jsonl)" "$(cat events.jsonl)"
	same "$(cat turns/1/invocation_id)" "$(jq -r .invocationId events.jsonl | sort -u)"
	[ ! -e turns/2 ]
	[ ! -e turns/0 ]
	[ ! -e turns/01 ]
	[ ! -e turns/x ]
}

@test "the events of a turn are ADK's" {
	session
	say hi
	same 2 "$(wc -l < events.jsonl)"
	head -n 1 events.jsonl | jq -e '.author == "user" and .content.role == "user"
		and .content.parts == [{"text": "hi"}]'
	tail -n 1 events.jsonl | jq -e '.author == "echo" and .content.role == "model"
		and .content.parts == [{"text": "you said hi"}]
		and (.id | length > 5) and .timestamp > 1000000000 and (has("partial") | not)'
	same 2 "$(jq -r .id events.jsonl | sort -u | wc -l)"
}

@test "a second turn sees the first, and files of the first stay" {
	session
	say one
	say two
	same 'you said two' "$(cat output)"
	same 'you said one' "$(cat turns/1/output)"
	same 2 "$(readlink turns/latest)"
	same 4 "$(wc -l < events.jsonl)"
	same "$(cat events.jsonl)" "$(cat turns/1/events.jsonl turns/2/events.jsonl)"
}

@test "status and wait while a turn runs" {
	session slow
	echo a b c d e f g h > input
	eventually 10 grep -qx 'running 1' status
	same running "$(cat turns/1/status)"
	same idle "$(timeout 30 cat wait)"
	same done "$(cat turns/1/status)"
}

@test "stream.jsonl has partial events while the turn runs, and the log never has" {
	session slow
	echo x > input
	timeout 30 cat turns/1/stream.jsonl > "$TMP/stream"
	jq -e -s 'map(select(.partial == true)) | length >= 3' "$TMP/stream"
	same 0 "$(jq -s 'map(select(.partial == true)) | length' events.jsonl)"
	same 1 "$(grep -c 'one two three x' events.jsonl)"
	same 'one two three x' "$(jq -rj 'select(.partial == true) | .content.parts[].text' "$TMP/stream")"
}

@test "messages queue up and run in order" {
	session slow
	for n in 1 2 3 4; do
		echo "m$n" > input
	done
	same 'running 1' "$(cat status)"
	same queued "$(cat turns/4/status)"
	same 'one two three m4' "$(timeout 30 cat output)"
	same "m1 m2 m3 m4" "$(cat turns/[1-4]/input | xargs)"
	for n in 1 2 3 4; do
		same "one two three m$n" "$(cat turns/$n/output)"
	done
	same "m1 m2 m3 m4" \
		"$(jq -r 'select(.author == "user") | .content.parts[0].text' events.jsonl | xargs)"
	same "one two three m1,one two three m2,one two three m3,one two three m4" \
		"$(jq -r 'select(.author == "slow") | .content.parts[0].text' events.jsonl | paste -sd,)"
}

@test "turns of different sessions run side by side" {
	for n in 1 2 3 4; do
		session slow ann s$n
		echo forever > input
	done
	for n in 1 2 3 4; do
		eventually 10 grep -q 'running 1' "../s$n/status"
	done
	eventually 10 jq -e '.turns.running == 4' "$MNT/.adkfs/stats.json"
}

@test "echo > input; cat output, 100 times, never shows the turn before" {
	session
	for n in {1..100}; do
		echo "message $n" > input
		answer=$(cat output)
		same "you said message $n" "$answer"
	done
}

@test "echo > input; cat output, with answers that take time" {
	session
	for n in {1..10}; do
		echo "slow m$n" > input
		same "you said m$n" "$(cat output)"
		echo "quick m$n" > input
		same "$n $n" "$(jq -r 'select(.author == "user") | .content.parts[0].text' \
			events.jsonl | tail -n 2 | tr -dc '0-9\n' | xargs)"
		same "you said quick m$n" "$(cat output)"
	done
}

@test "events.jsonl and status are as new as the message" {
	session
	for n in {1..30}; do
		echo "message $n" > input
		same 1 "$(grep -c "\"message $n\"" events.jsonl)"
		[ -d turns/$n ]
		same $n "$(readlink turns/latest)"
		cat wait > /dev/null
	done
}

@test "an app without an agent: ENXIO at open" {
	session plain
	refused ENXIO bash -c 'echo hi > input'
	same "app plain has no agent: there is no folder $AGENTS/plain" "$(tail -n 1 .errors | jq -r .error)"
	[ ! -e "$MNT/apps/plain/agent" ]
	jq -e .error "$MNT/apps/plain/agent.json"
	[ ! -s events.jsonl ]
	[ ! -e turns/1 ]
}

@test "a broken agent: agent.json says file and line, and input does not open" {
	session broken
	jq -e '.error | test("root_agent.yaml:4: ") and test("instrucktion")' "$MNT/apps/broken/agent.json"
	run bash -c 'echo hi > input'
	[ "$status" -ne 0 ]
	tail -n 1 .errors | jq -e '.error | test("root_agent.yaml:4: ")'
	sed -i /instrucktion/d "$AGENTS/broken/root_agent.yaml"
	cp "$AGENTS/echo/script.yaml" "$AGENTS/broken"
	eventually 10 jq -e '.name == "broken"' "$MNT/apps/broken/agent.json"
	echo hi > input
	same 'you said hi' "$(cat output)"
}

@test "an agent that appears while mounted" {
	session later
	refused ENXIO bash -c 'echo hi > input'
	cp -R "$AGENTS/echo" "$AGENTS/later"
	echo hi > input
	same 'you said hi' "$(cat output)"
	same "$AGENTS/later" "$(readlink "$MNT/apps/later/agent")"
}

@test "an agent's files are read again when they change" {
	session
	say hi
	sed -i 's/you said/I heard/' "$AGENTS/echo/script.yaml"
	say hi
	same 'I heard hi' "$(cat output)"
}

@test "the output of a failed turn ends with EIO, after what was said" {
	session cut
	echo hi > input
	run timeout 30 cat output
	[ "$status" -eq 1 ]
	[[ $output == 'half an'*'Input/output error'* ]]
	same 'failed 1' "$(cat status)"
	same 'failed 1' "$(cat wait)"
	same failed "$(cat turns/1/status)"
	grep -q 'no rule of script.yaml matches' turns/1/error
	tail -n 1 events.jsonl | jq -e '.errorCode and (.errorMessage | test("no rule of script.yaml"))'
	refused EIO cat turns/1/output
	refused EIO cat output
}

@test "a turn after a failed one" {
	session cut
	echo hi > input
	run timeout 30 cat output
	say fine
	same fine "$(cat output)"
	same idle "$(cat status)"
	refused EIO cat turns/1/output
}

@test "an error of the provider" {
	session cut
	say 'refuse'
	tail -n 1 events.jsonl | jq -e '.errorCode == "SAFETY" and .errorMessage == "not a subject for me"'
	echo '[{error: {code: MAX_TOKENS}}]' > "$AGENTS/cut/script.yaml"
	say 'a code alone'
	tail -n 1 events.jsonl | jq -e '.errorCode == "MAX_TOKENS" and .finishReason == "MAX_TOKENS"'
	same "the model said nothing: MAX_TOKENS" "$(cat turns/2/error)"
}

@test "the weather: tool, state, artifact" {
	session weather
	echo '"Ann"' > state/user:name.json
	echo 'What is the weather in New York?' > input
	text=$(cat output)
	[[ $text == *'In New York there is a clear sky at 4 °C, with wind of 31 km/h.' ]]
	same '"New York"' "$(cat state/user:last_city.json)"
	same '"New York"' "$(cat ../../state/last_city.json)"
	same 'New York: a clear sky, 4 degrees, wind 31 km/h' "$(cat artifacts/weather-new-york.txt)"
	same "\"${text##*$'\n'}\"" "$(cat state/last_answer.json)"
	jq -s -e '[.[].content.parts[]?.functionCall // empty] | length == 1
		and .[0].name == "get_weather" and .[0].args == {"city": "New York"}' events.jsonl
	jq -s -e '[.[].content.parts[]?.functionResponse // empty] | length == 1
		and .[0].response == {"city": "New York", "sky": "a clear sky", "celsius": 4, "wind_kmh": 31}' \
		events.jsonl
	jq -s -e '[.[].content.parts[]? | (.functionCall // .functionResponse // empty).id] | .[0] == .[1]' \
		events.jsonl
	jq -s -e 'map(.actions.artifactDelta["weather-new-york.txt"] // empty) == [1]' events.jsonl
	jq -s -e 'last | .actions.stateDelta | has("last_answer")' events.jsonl
}

@test "the weather of a city that the tool does not know" {
	session weather
	say 'What is the weather in Atlantis?'
	same idle "$(cat status)"
	[[ $(cat output) == *'The tool says "no weather is known for Atlantis".' ]]
}

@test "a change by a tool is seen at once, though the old value was cached" {
	session weather
	say 'What is the weather in Lima?'
	for city in Cairo Tokyo Berlin; do
		[ ! -e artifacts/weather-${city,,}.txt ]
		cat state/user:last_city.json state.json session.json > /dev/null
		ls artifacts state > /dev/null
		echo "What is the weather in $city?" > input
		cat output > /dev/null
		same "\"$city\"" "$(cat state/user:last_city.json)"
		same "\"$city\"" "$(jq '."user:last_city"' state.json)"
		same 1 "$(ls artifacts | grep -ci "$city")"
		[ -s artifacts/weather-${city,,}.txt ]
		grep -q "In $city" output
	done
}

@test "20 sessions at once" {
	for n in {1..20}; do
		mkdir -p "$MNT/apps/weather/users/u$n/sessions/s"
	done
	for n in {1..20}; do
		background bash -c "cd '$MNT/apps/weather/users/u$n/sessions/s' &&
			echo 'What is the weather in Lima?' > input && timeout 60 cat output > '$TMP/out$n'"
	done
	wait "${BACKGROUND[@]}"
	BACKGROUND=()
	for n in {1..20}; do
		grep -q 'In Lima there is fog' "$TMP/out$n"
		same '"Lima"' "$(cat "$MNT/apps/weather/users/u$n/state/last_city.json")"
	done
}

@test "rmdir of a session whose turn runs" {
	session slow
	echo forever > input
	eventually 10 test -s output
	background cat output
	eventually 10 parked 1
	cd "$TMP"
	timeout 20 rmdir "$S"
	[ ! -e "$S" ]
	eventually 10 gone "$PID"
	mkdir "$S"
	same idle "$(cat "$S/status")"
}

@test "umount ends a turn that runs; after the remount it has failed" {
	session slow
	echo forever > input
	eventually 10 test -s output
	daemon_restart
	back
	same 'failed 1' "$(cat status)"
	tail -n 1 events.jsonl | jq -e .errorCode
	run cat output
	[[ $output == begun*'Input/output error'* ]]
	say hi
	same 'one two three hi' "$(cat output)"
}

# Tools: programs that answer calls.
load lib/mount
load lib/agents

# Programs are looked at from outside here, and tell of themselves in files of the test.
setup() {
	folders_setup
	daemon_start --sandbox=none
}

# tooled APP [LINE OF YAML]...: an agent whose user says which of its tools to call.
tooled() {
	local app=$1

	shift
	llm "$app" root_agent.yaml worker "$@"
	rules "$app" worker <<-'E'
		- when: {tool: '.'}
		  text: ${result}
		- when: {user: '^t$'}
		  calls: [{name: t, id: c-1}]
		- when: {user: '^other$'}
		  calls: [{name: other, id: c-1}]
		- when: {user: '^preload_memory$'}
		  calls: [{name: preload_memory, id: c-1}]
		- when: {user: '^strict$'}
		  calls: [{name: strict, id: c-1}]
		- when: {user: '^strict number$'}
		  calls: [{name: strict, id: c-1, args: {city: 5}}]
	E
	tool "$app" t '{"description":"t"}' <<< $'#!/bin/sh\n:'
}

# gives WANT, with the program on standard input: the response to a call of it.
gives() {
	tool to t '{"description":"t"}'
	say t
	same "$1" "$(cat output)"
}

@test "the result is what the program prints, or how it ends" {
	tooled to "tools: [{name: tools/t}]"
	session to
	gives '{"a":1}' <<< $'#!/bin/sh\necho \'{ "a": 1 }\''
	gives '{"result":"two\nlines"}' <<< $'#!/bin/sh\nprintf "two\\nlines\\n"'
	gives '{"result":null}' <<< $'#!/bin/sh\n:'
	gives '{"error":"the output is not UTF-8 text; save binary results as artifacts"}' \
		<<< $'#!/bin/sh\nprintf "\\377"'
	gives '{"error":"exit status 3"}' <<< $'#!/bin/sh\necho \'{"x":1}\'; exit 3'
	gives '{"error":"exit status 1: no such \"city\""}' \
		<<< $'#!/bin/sh\necho first >&2; echo \'no such "city" \' >&2; echo >&2; exit 1'
	gives $'{"error":"exit status 1: a\xef\xbf\xbdb"}' <<< $'#!/bin/sh\nprintf "a\\377b" >&2; exit 1'
	gives '{"error":"killed by SIGKILL: why"}' <<< $'#!/bin/sh\necho why >&2; kill -KILL $$'
	gives '{"error":"the program cannot be started: Exec format error; a script begins with a line #!INTERPRETER"}' <<< 'no program'
	gives '{"error":"the program cannot be started: its interpreter /no/such/sh does not exist"}' <<< $'#! /no/such/sh -e\n'
	gives '{"error":"the program cannot be started: its lines end with CR LF, as on Windows"}' <<< $'#!/bin/sh\r\necho\r'
	gives "{\"error\":\"Agent 'x' not found. Available agents: none\"}" \
		<<< $'#!/bin/sh\necho \'{"transferToAgent":"x"}\' > "$ADK_CONTEXT/actions.json"'
	gives '{"error":"the output is larger than 16777216 bytes"}' <<< $'#!/bin/sh\nexec cat /dev/zero'
	same done "$(cat turns/latest/status)"
}

@test "16 MiB of output are a result; what is too much for an event is an error for the model" {
	tooled to "tools: [{name: tools/t}]"
	rules to worker <<-'E'
		- when: {tool: t, result: 'error'}
		  text: too much
		- when: {tool: t}
		  text: fine
		- when: {user: many}
		  calls: [{name: t, id: c-1}, {name: t, id: c-2}, {name: t, id: c-3}, {name: t, id: c-4}, {name: t, id: c-5}]
		- calls: [{name: t, id: c-1}]
	E
	tool to t '{"description":"t"}' <<< $'#!/bin/sh\nhead -c 16777216 /dev/zero | tr "\\0" x'
	session to
	say one
	same fine "$(cat output)"
	same $((16777216 + 14)) "$(wc -c < turns/1/calls/c-1/response.json)"
	say many
	same done "$(cat turns/2/status)"
	same 'too much' "$(cat output)"
	jq -r .error turns/2/calls/c-5/response.json | grep -q 'too large'
}

@test "a program that takes too long is killed with all its children, and the model gets an error" {
	tooled to "tools: [{name: tools/t}]"
	echo ADKFS_TOOL_TIMEOUT_MS=400 > "$AGENTS/to/.env"
	session to
	echo $$ > "$TMP/before"
	gives '{"error":"timed out after 0.4 seconds"}' <<-E
		#!/bin/sh
		sleep 1234 & sh -c 'sleep 1235 & sleep 1236' & echo \$! > $TMP/child
		sleep 1237
	E
	eventually 10 gone "$(cat "$TMP/child")"
	not grep -q -a '^sleep.123[4-7]' /proc/[0-9]*/cmdline
	gives '{"result":"quick"}' <<< $'#!/bin/sh\necho quick'
}

@test "standard error, arguments and times are kept with the call" {
	tooled to "tools: [{name: tools/t}]"
	tool to t '{"description":"t"}' <<< $'#!/bin/sh\nhead -c 100000 /dev/zero | tr "\\0" e >&2; echo end >&2; cat'
	session to
	say t
	same 65536 "$(wc -c < turns/1/calls/c-1/stderr)"
	same end "$(tail -c 4 turns/1/calls/c-1/stderr)"
	same '{}' "$(cat turns/1/calls/c-1/args.json)"
	same t "$(cat turns/1/calls/c-1/tool)"
	[[ $(cat turns/1/calls/c-1/duration_ms) =~ ^[0-9]+$ ]]
}

@test "the environment is what the manual says, and no more" {
	export SECRET=1 OPENAI_API_KEY=sk-1 LANG=xx HOME=/home/me
	daemon_stop
	daemon_start --sandbox=none
	tooled to "tools: [{name: tools/t, args: {unit: c}}]"
	echo SECRET_TOO=1 > "$AGENTS/to/.env"
	tool to t '{"description":"t"}' <<< $'#!/bin/sh\ncat /proc/self/environ | tr "\\0" "\\n"'
	session to
	say t
	jq -r .result turns/1/calls/c-1/response.json | grep = | sort > "$TMP/env"
	same "ADKFS_SESSION ADK_AGENT_NAME ADK_APP_NAME ADK_ARGS ADK_CONTEXT ADK_FUNCTION_CALL_ID ADK_INVOCATION_ID ADK_SESSION_ID ADK_USER_ID HOME LANG PATH TMPDIR" \
		"$(cut -d= -f1 "$TMP/env" | grep -v -x -e PWD -e _ -e SHLVL -e OLDPWD | tr '\n' ' ' | sed 's/ $//')"
	for line in ADK_AGENT_NAME=worker ADK_APP_NAME=to ADK_USER_ID=ann ADK_SESSION_ID=s1 ADK_FUNCTION_CALL_ID=c-1 \
		'ADK_ARGS={"unit":"c"}' LANG=xx HOME=/home/me "ADKFS_SESSION=$S" \
		"ADK_INVOCATION_ID=$(cat turns/1/invocation_id)"; do
		grep -q -x -F -- "$line" "$TMP/env"
	done
}

@test "tools that are not there, and arguments that do not fit: the program does not run" {
	tooled to "tools: [{name: tools/t}, {name: tools/strict}, {name: load_memory}, {name: preload_memory}]"
	tool to strict '{"description":"d","parameters":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}}' \
		<<< $'#!/bin/sh\ntouch "$ADKFS_SESSION/artifacts/ran"; cat'
	session to
	say other
	same "{\"error\":\"Tool 'other' not found. Available tools: t, strict, load_memory\"}" "$(cat output)"
	say preload_memory
	[[ $(cat output) == '{"error":'* ]]
	say strict
	same '{"error":"city: is missing"}' "$(cat output)"
	say 'strict number'
	same '{"error":"city: must be a string, not an integer"}' "$(cat output)"
	[ ! -e artifacts/ran ]
	same done "$(cat turns/latest/status)"
}

@test "a pattern that needs too much memory or stack fails the schema alone" {
	tooled to "tools: [{name: tools/t}]"
	rules to worker <<-'E'
		- when: {tool: '.'}
		  text: ${result}
		- calls: [{name: t, args: {a: "aaa"}}]
	E
	session to
	for pattern in '^[a-z]{0,4096}$' '^.{0,32767}$' '^((a{1,200}){1,200}){1,200}$' '^(?!b)a+$'; do
		tool to t '{"description":"t","parameters":{"type":"object","properties":{"a":{"type":"string","pattern":"'"$pattern"'"}}}}' \
			<<< $'#!/bin/sh\ncat'
		say go
		same '{"a":"aaa"}' "$(timeout 20 cat output)"
	done
	rules to worker <<-'E'
		- when: {user: '^[a-z]{0,4096}$'}
		  text: yes, $1
	E
	say go
	same failed "$(cat turns/latest/status)"
	rules to worker <<< $'- when: {user: \'^([a-z]{0,4096})$\'}\n  text: yes, $1'
	say go
	same 'yes, go' "$(cat output)"
}

@test "state that would make an event too large is refused, and its turn can be read" {
	tooled to "tools: [{name: tools/t}]"
	tool to t '{"description":"t"}' <<-'E'
		#!/bin/sh
		args=$(cat)
		value=$(head -c 1000000 /dev/zero | tr '\0' x)
		for i in $(seq $(echo "$args" | jq .n)); do
			printf '"%s"' "$value" > "$ADK_CONTEXT/state/$(echo "$args" | jq -r .key)$i.json" || exit
		done
	E
	rules to worker <<-'E'
		- when: {user: one, result: '.'}
		  text: ${result}
		- when: {result: '.'}
		  text: done
		- when: {user: one}
		  calls: [{name: t, args: {n: 17, key: k}}]
		- calls:
		  - {name: t, id: a, args: {n: 15, key: a}}
		  - {name: t, id: b, args: {n: 15, key: b}}
		  - {name: t, id: c, args: {n: 15, key: c}}
		  - {name: t, id: d, args: {n: 15, key: d}}
	E
	session to
	say one
	[[ $(cat output) == '{"error":"exit status 1: '* ]]
	same '' "$(ls state)"
	say four
	same done "$(cat output)"
	same 45 "$(ls state | wc -l)"
	same 'a b c' "$(ls state | tr -d '0-9' | cut -d. -f1 | uniq | xargs)"
	same '{"error":"the result and the changes of the state are too large beside those of the other calls"}' \
		"$(jq -c '.content.parts[]?.functionResponse | select(.id == "d").response' turns/2/events.jsonl)"
	same 1 "$(jq -r 'select(.actions.stateDelta | length == 45) | .id' events.jsonl | wc -l)"
}

@test "200 calls of one answer, side by side, answered in order" {
	tooled to "tools: [{name: tools/t}]"
	tool to t '{"description":"t"}' <<< $'#!/bin/sh\ncat'
	{
		echo "- when: {tool: t}"
		echo "  text: done"
		echo "- calls:"
		for i in $(seq 200); do echo "  - {name: t, id: c-$i, args: {n: $i}}"; done
	} | rules to worker
	session to
	say go
	same done "$(cat output)"
	same "$(seq 200)" "$(jq '.content.parts[]?.functionResponse.response.n // empty' events.jsonl)"
	same 3 "$(jq -c 'select(.author == "worker")' events.jsonl | wc -l)"
	same 200 "$(ls turns/1/calls | wc -l)"
}

@test "calls of one answer run at the same time" {
	tooled to "tools: [{name: tools/t}]"
	{
		echo "- when: {tool: t}"
		echo "  text: done"
		echo "- calls:"
		for i in $(seq 30); do echo "  - {name: t, args: {n: $i}}"; done
	} | rules to worker
	mkdir "$TMP/there"
	# Each ends when all are there.
	tool to t '{"description":"t"}' <<-E
		#!/bin/sh
		touch $TMP/there/\$\$
		while [ "\$(ls $TMP/there | wc -l)" -lt 30 ]; do sleep 1; done
	E
	session to
	say go
	same done "$(cat output)"
}

@test "cancel while tools run: they and all that they started end, and their calls are closed" {
	tooled to "tools: [{name: tools/t}, {name: tools/later}]"
	rules to worker <<< '[{calls: [{name: t, id: c-1}, {name: t, id: c-2}, {name: later, id: c-3}]}]'
	tool to t '{"description":"t"}' <<-E
		#!/bin/sh
		trap '' TERM
		sleep 2345 & echo \$! >> $TMP/pids
		echo \$\$ >> $TMP/pids
		setsid sleep 2346 &
		wait
	E
	tool to later '{"description":"l","isLongRunning":true}' <<< $'#!/bin/sh\nexec sleep 2347'
	session to
	echo go > input
	eventually 20 bash -c "[ \$(wc -l < $TMP/pids) -eq 4 ]"
	echo cancel > ctl
	timeout 30 cat wait > /dev/null
	same "failed 1" "$(cat status)"
	while read -r pid; do
		eventually 10 gone "$pid"
	done < "$TMP/pids"
	same '["c-1","c-2"]' "$(jq -c '[.content.parts[]?.functionResponse.id // empty] | select(length > 0)' events.jsonl)"
	same '["c-3"]' "$(jq -c '.longRunningToolIds // empty' events.jsonl)"
	same '[true,"CANCELLED"]' "$(jq -c 'select(.errorCode) | [.interrupted, .errorCode]' events.jsonl)"
	# Those that are left of it by their own will are not ours; end them for the machine's sake.
	for pid in $(grep -l -a -x 'sleep.2346.' /proc/[0-9]*/cmdline 2> /dev/null | cut -d/ -f3); do
		kill "$pid" || :
	done
}

@test "a toolset that prints something else fails the turn, with the declaration that is wrong" {
	llm set root_agent.yaml worker "tools: [{name: toolsets/s}]"
	rules set worker <<< '[{text: not asked}]'
	agent_file set tools/one <<< $'#!/bin/sh\n:'
	agent_file set toolsets/s <<< $'#!/bin/sh\n:'
	session set
	while IFS='|' read -r printed why; do
		agent_file set toolsets/s <<< $'#!/bin/sh\necho \''"$printed'"
		say hi
		same "toolset toolsets/s: $why" "$(cat turns/latest/error)"
		same AGENT_ERROR "$(tail -n 1 events.jsonl | jq -r .errorCode)"
	done <<-'E'
		{"name": "one"}|its output is not a JSON list of declarations
		[{"name": "one", "description": "d"}, 5]|declaration 2: must be an object
		[{"name": "one"}]|declaration 1: description: is missing
		[{"description": "d"}]|declaration 1: the name is missing
		[{"name": "one", "description": "d", "colour": 1}]|declaration 1: colour: unknown member
		[{"name": "two", "description": "d"}]|tools/two: No such file or directory
	E
	same 6 "$(ls -d turns/[0-9]* | wc -l)"
}

@test "a call of an agent without tools" {
	mkdir "$AGENTS/bare"
	printf 'name: bare\nmodel: script/rules.yaml\ninstruction: i\n' > "$AGENTS/bare/root_agent.yaml"
	echo '[{when: {tool: .}, text: "${result}"}, {calls: [{name: f}]}]' > "$AGENTS/bare/rules.yaml"
	session bare
	say go
	same '{"error":"Tool '\''f'\'' not found. Available tools: none"}' "$(cat output)"
}

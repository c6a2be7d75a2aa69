# Tools of MCP servers, through a mount.
load lib/mount

# agent ARGS: the app "mcp", whose tools are those of a server.
agent() {
	mkdir -p "$AGENTS/mcp"
	cp "$ROOT"/tests/servers/mcp/*.py "$AGENTS/mcp"
	cat > "$AGENTS/mcp/root_agent.yaml" <<-E
		name: helper
		model: script/rules.yaml
		instruction: You help.
		before_model_callbacks: [{name: dump}]
		tools:
		  - name: MCPToolset
		    args: $1
	E
	cat > "$AGENTS/mcp/rules.yaml" <<-'E'
		- when: {tool: '.*', result: '"error":"([^"]*)"'}
		  text: "error: $1"
		- when: {tool: '.*', result: '"structuredContent":.*"text":"([^"]*)"'}
		  text: "$1"
		- when: {user: '^my_echo (.*)$'}
		  calls: [{name: my_echo, args: {text: "$1"}}]
		- when: {user: '^my_die'}
		  calls: [{name: my_die}]
		- when: {user: '^echo (.*)$'}
		  calls: [{name: echo, args: {text: "$1"}}]
	E
	cat > "$AGENTS/mcp/dump" <<-'E'
		#!/bin/sh
		jq -r '.config.tools[0].functionDeclarations[].name' > "$ADKFS_SESSION/artifacts/offer"
	E
	chmod +x "$AGENTS/mcp/dump" "$AGENTS/mcp/stdio_server.py"
	session mcp
}

@test "a server that is a program: its tools are offered, called, and it is started again" {
	agent '{stdio_server_params: {command: ./stdio_server.py}, tool_filter: [echo, die], tool_name_prefix: my_}'
	say 'my_echo hello there'
	same 'hello there' "$(cat output)"
	same 'my_die
my_echo' "$(cat artifacts/offer)"
	same '{"text":"hello there"}' "$(cat turns/1/calls/*/args.json)"
	say 'my_die now'
	[[ $(cat output) == error:* ]]
	same done "$(cat turns/2/status)"
	say 'my_echo again'
	same again "$(cat output)"
}

# Starts the server behind $port.
service() {
	coproc SERVER { exec "$ROOT/tests/servers/mcp/http_server.py" 3>&-; }
	BACKGROUND+=("$SERVER_PID")
	read -r port <&"${SERVER[0]}"
}

@test "a server behind a URL" {
	service
	agent "{streamable_http_connection_params: {url: 'http://127.0.0.1:$port/sse'}, tool_filter: [echo]}"
	say 'echo hello'
	same hello "$(cat output)"
}

# Ask for an answer, and look whether the model was offered a tool.
is_offered() {
	say 'echo hello'
	grep -qx "$1" artifacts/offer
}

@test "a server behind a URL reports that its list changed" {
	service
	agent "{streamable_http_connection_params: {url: 'http://127.0.0.1:$port/push'}}"
	cat >> "$AGENTS/mcp/rules.yaml" <<-'E'
		- when: {user: '^change_quietly'}
		  calls: [{name: change_quietly}]
		- when: {user: '^change'}
		  calls: [{name: change}]
		- when: {tool: '.*'}
		  text: done
	E
	say 'change_quietly'
	not is_offered late0
	say 'change'
	eventually 20 is_offered late1
}

@test "a server that cannot start fails the turn, and the error names it" {
	agent '{stdio_server_params: {command: ./nowhere}}'
	say 'echo hello'
	same 'failed 1' "$(cat status)"
	same AGENT_ERROR "$(jq -r '.errorCode // empty' events.jsonl)"
	grep -q nowhere turns/1/error
}

@test "agent.json shows what is wrong with a list, and starts no server for that" {
	plain odd
	same '[]' "$(jq -c .warnings ../../../../agent.json)"
	number_of_servers 0
	say where
	eventually 5 grep -q no_schema ../../../../agent.json
	same 'MCP server python3 stdio_server.py: rooms_find_all is left out: another tool is offered as rooms_find_all
MCP server python3 stdio_server.py: no_schema is left out: it has no inputSchema
MCP server python3 stdio_server.py: no_object is left out: its inputSchema does not describe an object
MCP server python3 stdio_server.py: not_only_object is left out: its inputSchema does not describe an object
MCP server python3 stdio_server.py: bad_properties is left out: its inputSchema does not describe an object
MCP server python3 stdio_server.py: a tool without a name is left out
MCP server python3 stdio_server.py: echo is left out: another tool has the same name' "$(jq -r '.warnings[]' ../../../../agent.json)"
}

# plain: the app "mcp" with the tools of the test server, and a rule for each that is called without arguments.
plain() {
	local name

	agent "{stdio_server_params: {command: python3, args: [stdio_server.py, ${1:-legacy}], env: {ROOMS_TOKEN: s3cret-token}}}"
	for name in hang env where ask; do
		printf -- "- when: {user: '^%s'}\n  calls: [{name: %s}]\n" $name $name
	done >> "$AGENTS/mcp/rules.yaml"
	cat >> "$AGENTS/mcp/rules.yaml" <<-'E'
		- when: {user: '^shell (.*)$'}
		  calls: [{name: shell, args: {command: "$1"}}]
		- when: {tool: '.*'}
		  text: done
	E
}

# Python processes that run in the agent's folder: the servers.
servers() {
	find /proc -maxdepth 2 -name cwd -lname "$AGENTS/mcp" -printf '%h/comm\n' 2> /dev/null |
		xargs -r grep -ls '^python' || :
}

# sh COMMAND: what it printed, run by the server.
run_there() {
	say "shell $1"
	jq -r .structuredContent.text turns/latest/calls/*/response.json
}

needs_bwrap() {
	[ "$(jq -r .sandbox.kind "$MNT/.adkfs/config.json")" = bwrap ] ||
		skip "$(jq -r .sandbox.reason "$MNT/.adkfs/config.json")"
}

number_of_servers() {
	[ "$(servers | wc -l)" -eq "$1" ]
}

response() {
	jq -c .structuredContent turns/"$1"/calls/*/response.json
}

@test "cancel in the middle of a call ends the turn at once, and the server stays" {
	plain
	echo hang > input
	eventually 20 grep -q '"functionCall"' events.jsonl
	eventually 20 number_of_servers 1
	echo cancel > ctl
	timeout 5 cat wait > /dev/null
	[[ $(cat turns/1/error) == *cancelled* ]]
	number_of_servers 1
	say where
	number_of_servers 1
}

@test "one process serves all sessions, and ends with the mount" {
	local life

	plain
	number_of_servers 0
	say where
	life=$(response 1 | jq .life)
	session mcp bob s2
	say where
	same "$life" "$(response 1 | jq .life)"
	number_of_servers 1
	cd "$TMP"
	daemon_stop
	number_of_servers 0
}

@test "a changed agent gets a server of its own, and the old one ends" {
	local life

	plain
	say where
	life=$(response 1 | jq .life)
	echo '# changed' >> "$AGENTS/mcp/root_agent.yaml"
	say where
	[ "$life" != "$(response 2 | jq .life)" ]
	eventually 20 number_of_servers 1
}

@test "a server gets its env, and nothing of .env and the daemon" {
	plain
	echo 'OPENAI_API_KEY=of-the-agent' > "$AGENTS/mcp/.env"
	say env
	[[ $(cat turns/1/calls/*/response.json) == *s3cret-token* ]]
	same '["BATS_TEST_TMPDIR","OPENAI_API_KEY"]' "$(response 1 | jq -c '["BATS_TEST_TMPDIR", "OPENAI_API_KEY"] - keys')"
	not grep -r of-the-agent turns events.jsonl
	not grep s3cret-token ../../../../agent.json
	grep -q ROOMS_TOKEN ../../../../agent.json
}

@test "a server that asks back, in the modern era and before" {
	plain
	say ask
	same '{"ping":{},"roots":-32601}' "$(response 1)"
	plain modern
	say where
	[[ $(response 2) == *modern* ]]
}

@test "a server that does not end by itself is killed by an umount" {
	plain stubborn
	say where
	number_of_servers 1
	cd "$TMP"
	daemon_stop
	number_of_servers 0
}

@test "a server cannot read the keys of agents, nor other settings of the daemon" {
	export MY_SECRET=of-the-daemon
	needs_bwrap
	daemon_restart
	plain_with_keys
	same '' "$(run_there 'cat .env ../*/.env ../.env 2> /dev/null; cd .. && grep -rs of-an-agent --include=.env .')"
	same '' "$(run_there 'cat keys 2> /dev/null')" # a .env may be a link
	same '' "$(run_there 'cat /proc/*/environ 2> /dev/null | grep -a of-the-daemon')"
	same '' "$(run_there 'cat /proc/[0-9]*/root'"$AGENTS"'/mcp/.env 2> /dev/null')"
	same '' "$(run_there "umount .env 2> /dev/null; unshare -rm umount .env 2> /dev/null; cat .env 2> /dev/null")"
	grep -q of-an-agent "$AGENTS/mcp/.env"
}

# Agents with keys.
plain_with_keys() {
	plain
	echo 'KEY=of-an-agent' > "$AGENTS/mcp/keys"
	ln -s keys "$AGENTS/mcp/.env"
	echo 'KEY=of-an-agent' > "$AGENTS/echo/.env"
	echo 'KEY=of-an-agent' > "$AGENTS/.env"
}

@test "a server sees the rest of the machine" {
	needs_bwrap
	plain
	session mcp
	same "$AGENTS/mcp" "$(run_there pwd)"
	same 'kept' "$(run_there 'echo kept > made; cat made; echo x > /dev/null')"
	same kept "$(cat "$AGENTS/mcp/made")"
	same "$(id -u)" "$(run_there 'id -u')"
	same "$HOME" "$(run_there 'echo $HOME')"
	same "$(readlink /proc/self/ns/net)" "$(run_there 'readlink /proc/self/ns/net')"
	same "$(ls -A /etc | wc -l)" "$(run_there 'ls -A /etc | wc -l')"
	same mcp "$(run_there "ls $MNT/apps | grep mcp")"
}

@test "the sandbox reports a server's exit status" {
	agent '{stdio_server_params: {command: sh, args: [-c, "echo gone wrong >&2; exit 3"]}}'
	say 'echo hello'
	grep -q 'ended with exit status 3: gone wrong' turns/1/error
	agent '{stdio_server_params: {command: sh, args: [-c, "kill -9 $$"]}}'
	say 'echo hello'
	grep -q 'was killed by SIGKILL' turns/2/error
}

@test "a server dies with the daemon, whatever signals it ignores" {
	needs_bwrap
	plain stubborn
	say where
	number_of_servers 1
	cd "$TMP"
	daemon_kill
	eventually 20 number_of_servers 0
}

@test "servers and daemon end, whoever unmounts" {
	plain
	say where
	number_of_servers 1
	cd "$TMP"
	fusermount3 -u "$MNT"
	daemon_ended 0
	rm "$TMP/daemon.pid"
	number_of_servers 0
}

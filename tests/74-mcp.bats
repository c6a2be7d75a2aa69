# Tools of MCP servers, through a mount.
load lib/mount

# agent ARGS: the app "mcp", whose tools are those of a server.
agent() {
	mkdir -p "$AGENTS/mcp"
	cp "$ROOT"/tests/mcp/*.py "$AGENTS/mcp"
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

@test "a server behind a URL" {
	coproc SERVER { exec "$ROOT/tests/mcp/http_server.py" 3>&-; }
	BACKGROUND+=("$SERVER_PID")
	read -r port <&"${SERVER[0]}"
	agent "{streamable_http_connection_params: {url: 'http://127.0.0.1:$port/sse'}, tool_filter: [echo]}"
	say 'echo hello'
	same hello "$(cat output)"
}

@test "no server: the turn fails and says which" {
	agent '{stdio_server_params: {command: ./nowhere}}'
	say 'echo hello'
	same 'failed 1' "$(cat status)"
	same AGENT_ERROR "$(jq -r '.errorCode // empty' events.jsonl)"
	grep -q nowhere turns/1/error
}

# plain: the app "mcp" with the tools of the test server, and a rule for each that is called without arguments.
plain() {
	local name

	agent "{stdio_server_params: {command: python3, args: [stdio_server.py, ${1:-legacy}], env: {ROOMS_TOKEN: s3cret-token}}}"
	for name in hang env where ask; do
		printf -- "- when: {user: '^%s'}\n  calls: [{name: %s}]\n" $name $name
	done >> "$AGENTS/mcp/rules.yaml"
	printf -- "- when: {tool: '.*'}\n  text: done\n" >> "$AGENTS/mcp/rules.yaml"
}

# Processes that run in the agent's folder: the servers.
servers() {
	find /proc -maxdepth 2 -name cwd -lname "$AGENTS/mcp" -printf '%P\n' 2> /dev/null
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
	local pid

	plain
	number_of_servers 0
	say where
	pid=$(response 1 | jq .pid)
	session mcp bob s2
	say where
	same "$pid" "$(response 1 | jq .pid)"
	number_of_servers 1
	cd "$TMP"
	daemon_stop
	number_of_servers 0
}

@test "a changed agent gets a server of its own, and the old one ends" {
	local pid

	plain
	say where
	pid=$(response 1 | jq .pid)
	echo '# changed' >> "$AGENTS/mcp/root_agent.yaml"
	say where
	[ "$pid" != "$(response 2 | jq .pid)" ]
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

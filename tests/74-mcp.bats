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

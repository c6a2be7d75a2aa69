# shellcheck shell=bash
#
# For tests/scenarios/*.bats: folders of agents that answer by scripts, and what became of a turn.
#
#   load lib/mount
#   load lib/agents

# agent_file APP NAME: standard input becomes a file of the agent's folder.
agent_file() {
	mkdir -p "$(dirname "$AGENTS/$1/$2")"
	cat > "$AGENTS/$1/$2"
	case $2 in
	*.yaml | *.json) ;;
	*) chmod +x "$AGENTS/$1/$2" ;;
	esac
}

# llm APP FILE NAME [LINE OF YAML]...: an LlmAgent that answers by FILE's rules, NAME.script.yaml.
llm() {
	local app=$1 name=$2 agent=$3

	shift 3
	agent_file "$app" "$name" < <(
		echo "name: $agent"
		echo "model: script/$agent.script.yaml"
		echo "instruction: You are $agent."
		printf '%s\n' "$@"
	)
}

rules() {
	agent_file "$1" "$2.script.yaml"
}

# tool APP NAME DECLARATION: a tool, from standard input.
tool() {
	agent_file "$1" "tools/$2"
	agent_file "$1" "tools/$2.json" <<< "$3"
}

# story [FILE]: authors of the log, with what they said or did, a line each.
story() {
	jq -r '[.author, (.branch // empty), (.content.parts[]? |
		(.text // (if .functionCall then "calls " + .functionCall.name else empty end)
		 // (if .functionResponse then "gets " + (.functionResponse.response | tojson) else empty end)))]
		| join("|")' "${1-events.jsonl}"
}

# answer ID NAME RESPONSE: a function response as the next message.
answer() {
	printf '{"role":"user","parts":[{"functionResponse":{"id":"%s","name":"%s","response":%s}}]}' \
		"$1" "$2" "$3" > input.json
	timeout 60 cat wait > /dev/null
}

# The ids of requests for confirmations.
requests() {
	jq -r '.content.parts[]?.functionCall | select(.name == "adk_request_confirmation") | .id' events.jsonl
}

# The id of the newest one.
request_id() {
	requests | tail -n 1
}

# confirm ID...: one message that says yes to these requests.
confirm() {
	jq -nc '{role: "user", parts: [$ARGS.positional[] | {functionResponse:
		{id: ., name: "adk_request_confirmation", response: {confirmed: true}}}]}' --args "$@" > input.json
}

# yes_to ID...: confirm, and wait for the turn's end.
yes_to() {
	confirm "$@"
	timeout 20 cat wait > /dev/null
}

# workflow APP FILE NAME CLASS SUB...: of agents in SUB.yaml.
workflow() {
	local app=$1 name=$2 agent=$3 class=$4

	shift 4
	agent_file "$app" "$name" < <(
		printf 'agent_class: %sAgent\nname: %s\nsub_agents:\n' "$class" "$agent"
		printf '  - config_path: %s.yaml\n' "$@"
	)
}

# waiter APP NAME [LINE OF YAML]...: an agent that waits for the call NAME-1, and says what it got.
waiter() {
	llm "$1" "$2.yaml" "$2" "tools: [{name: tools/ask}, {name: exit_loop}]" "${@:3}"
	rules "$1" "$2" <<-E
		- when: {tool: ask, result: 'result'}
		  text: "$2 got \${result.result}"
		- when: {tool: ask}
		  text: "$2 still waits"
		- calls: [{name: ask, id: $2-1}]
	E
	tool "$1" ask '{"description":"asks","isLongRunning":true}' <<< $'#!/bin/sh\nexit 0'
}

# dump APP FILE: the requests of this agent, as artifacts/request.json.
dump() {
	agent_file "$1" dump <<< $'#!/bin/sh\ncat > "$ADKFS_SESSION/artifacts/request.json"'
	echo 'before_model_callbacks: [{name: dump}]' >> "$AGENTS/$1/$2"
}

# An agent that says its name.
talker() {
	llm "$1" "$2.yaml" "$2"
	rules "$1" "$2" <<< "[{text: $2 here}]"
}

# texts TURN: who said what in it, texts alone.
texts() {
	jq -r 'select(.author != "user" and any(.content.parts[]?; .text)) |
		[.author, (.branch // empty), (.content.parts[].text // empty)] | join("|")' "turns/$1/events.jsonl"
}

# Folders of agents that answer by scripts, for tests/scenarios/4*.bats.

# file APP NAME: standard input becomes a file of the agent's folder.
file() {
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
	file "$app" "$name" < <(
		echo "name: $agent"
		echo "model: script/$agent.script.yaml"
		echo "instruction: You are $agent."
		printf '%s\n' "$@"
	)
}

rules() {
	file "$1" "$2.script.yaml"
}

# tool APP NAME DECLARATION: a tool, from standard input.
tool() {
	file "$1" "tools/$2"
	file "$1" "tools/$2.json" <<< "$3"
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

# The id of the newest request for a confirmation.
request_id() {
	jq -r '.content.parts[]?.functionCall | select(.name == "adk_request_confirmation") | .id' events.jsonl | tail -n 1
}

# workflow APP FILE NAME CLASS SUB...: of agents in SUB.yaml.
workflow() {
	local app=$1 name=$2 agent=$3 class=$4

	shift 4
	file "$app" "$name" < <(
		printf 'agent_class: %sAgent\nname: %s\nsub_agents:\n' "$class" "$agent"
		printf '  - config_path: %s.yaml\n' "$@"
	)
}

# An agent that says its name.
talker() {
	llm "$1" "$2.yaml" "$2"
	rules "$1" "$2" <<< "[{text: $2 here}]"
}

# said TURN: who said what in it, texts alone.
said() {
	story "turns/$1/events.jsonl" | grep -v '^user' | grep -v -E '\|(calls|gets) ' | grep '|' || :
}

# A folder as ADK's Agent Config has it, with Gemini behind it: what people bring along runs as it is,
# but for the names of their functions, which are programs here.
load lib/mount

setup() {
	folders_setup
}

# serve SCENARIO: Gemini, and its address in the environment, where ADK looks for it too.
serve() {
	model_serve "$1"
	export GOOGLE_API_KEY=AIza-test-0123456789 GOOGLE_GEMINI_BASE_URL="http://127.0.0.1:$PORT"
	daemon_start
}

SCHEMA='# yaml-language-server: $schema=https://raw.githubusercontent.com/google/adk-python/refs/heads/main/src/google/adk/agents/config_schemas/AgentConfig.json'

@test "a tutor transfers to other agents, and one of them has a tool" {
	mkdir -p "$AGENTS/tutor/primes"
	cat > "$AGENTS/tutor/root_agent.yaml" <<-END
		$SCHEMA
		agent_class: LlmAgent
		model: gemini-2.5-flash
		name: root_agent
		description: Helps students with code and mathematics.
		instruction: |
		  You help students. Questions about code are for code_tutor_agent,
		  those about mathematics for math_tutor_agent.
		sub_agents:
		  - config_path: code_tutor_agent.yaml
		  - config_path: math_tutor_agent.yaml
	END
	cat > "$AGENTS/tutor/code_tutor_agent.yaml" <<-END
		$SCHEMA
		agent_class: LlmAgent
		name: code_tutor_agent
		description: Explains code.
		instruction: Explain code.
	END
	cat > "$AGENTS/tutor/math_tutor_agent.yaml" <<-END
		$SCHEMA
		agent_class: LlmAgent
		model: gemini-2.5-flash
		name: math_tutor_agent
		description: Explains mathematics.
		instruction: |
		  Call check_prime with a list of integers, never guess.
		generate_content_config:
		  temperature: 0.2
		  max_output_tokens: 200
		  safety_settings:
		    - category: HARM_CATEGORY_DANGEROUS_CONTENT
		      threshold: BLOCK_NONE
		tools:
		  - name: primes/check_prime
	END
	cat > "$AGENTS/tutor/primes/check_prime.json" <<-'END'
		{"description": "Tells which numbers are prime.", "parameters": {"type": "OBJECT", "properties":
			{"nums": {"type": "ARRAY", "items": {"type": "INTEGER"}}}, "required": ["nums"]}}
	END
	cat > "$AGENTS/tutor/primes/check_prime" <<-'END'
		#!/usr/bin/env python3
		import json, sys
		nums = json.load(sys.stdin)["nums"]
		print(json.dumps({"prime": [n for n in nums if n > 1 and all(n % d for d in range(2, n))]}))
	END
	chmod +x "$AGENTS/tutor/primes/check_prime"
	run "$ADKFS" check-agent "$AGENTS/tutor"
	same 0 "$status"
	same 1 "${#lines[@]}"

	serve '[{"calls": [{"name": "transfer_to_agent", "args": {"agent_name": "math_tutor_agent"}}]},
		{"calls": [{"name": "check_prime", "args": {"nums": [7, 9, 11]}}]},
		{"text": "7 and 11."}, {"text": "And 13."}]'
	session tutor
	echo 'which of 7, 9, 11 are prime?' > input
	same '7 and 11.' "$(cat output)"
	same 'user root_agent root_agent math_tutor_agent math_tutor_agent math_tutor_agent' \
		"$(jq -r .author events.jsonl | xargs)"
	jq -s -e '.[2].actions.transferToAgent == "math_tutor_agent"
		and .[4].content.parts[0].functionResponse.response == {"prime": [7, 11]}
		and .[5].modelVersion' events.jsonl
	# Who spoke last goes on.
	say 'more?'
	same 'math_tutor_agent' "$(jq -r .author events.jsonl | tail -n 1)"
	grep -q '^POST /v1beta/models/gemini-2.5-flash:streamGenerateContent' "$TMP/asked/2.head"
	jq -e '.generationConfig.temperature == 0.2 and .generationConfig.maxOutputTokens == 200
		and (.safetySettings | length) == 1
		and any(.tools[].functionDeclarations[]; .name == "check_prime" and .parametersJsonSchema.type == "object")
		' "$TMP/asked/2.json"
}

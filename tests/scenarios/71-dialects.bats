# Services that speak OpenAI's chat completions in their own way: tests/servers/model.py in their place.
load lib/mount

KEY=key-of-a-dialect-0123456789

setup() {
	mount_setup
}

# serve MODEL SCENARIO [NAME=VALUE]...: an agent that asks MODEL; @ in a value is the address.
serve() {
	local setting

	sed -i "s|^model:.*|model: $1|" "$AGENTS/openai/root_agent.yaml"
	model_serve "$2"
	shift 2
	for setting; do
		printf '%s\n' "${setting//@/http://127.0.0.1:$PORT}"
	done > "$AGENTS/openai/.env"
	session openai
}

CALL='{"thought": "I should add.", "calls": [{"name": "add", "args": {"a": 2, "b": 3.5}, "id": "call_1"}]}'

@test "azure: a deployment, a version, a header of its own" {
	serve azure/my-deployment "[$CALL, {\"text\": \"It is 5.5.\"}]" "AZURE_API_KEY=$KEY" AZURE_API_BASE=@/ \
		AZURE_API_VERSION=2024-10-21
	say add
	[[ $(cat output) == *'It is 5.5.' ]]
	grep -q '^POST /openai/deployments/my-deployment/chat/completions?api-version=2024-10-21 ' "$TMP/asked/1.head"
	grep -q "^api-key: $KEY" "$TMP/asked/1.head"
	not grep -qi '^authorization' "$TMP/asked/1.head"
	jq -e '.messages[-1].role == "tool"' "$TMP/asked/2.json"
	jq -s -e 'last | .customMetadata | tostring | contains("\"provider\":\"azure\"")' events.jsonl
}

@test "azure: a key that is refused is named and hidden" {
	serve azure/d '[{"status": 401, "echo_key": true}]' "AZURE_OPENAI_API_KEY=$KEY" AZURE_OPENAI_ENDPOINT=@
	say hi
	same 'failed 1' "$(cat status)"
	grep -q 'the key in AZURE_OPENAI_API_KEY was refused (401)' turns/1/error
	not grep -rqF --devices=skip "$KEY" "$MNT" --exclude=input --exclude-dir=agent
}

@test "azure: without an address" {
	serve azure/d '[]' "AZURE_API_KEY=$KEY"
	say hi
	grep -q 'AZURE_API_BASE is not set: it must hold the address of azure models' turns/1/error
}

@test "deepseek: reasoning goes back in tool turns, and only there" {
	serve deepseek/deepseek-reasoner "[{\"thought\": \"easy\", \"text\": \"hello\"}, $CALL, {\"thought\": \"so\", \"text\": \"5.5\"},
		{\"text\": \"bye\"}]" "DEEPSEEK_API_KEY=$KEY" DEEPSEEK_API_BASE=@
	say hi
	say add
	say bye
	grep -q '^POST /chat/completions ' "$TMP/asked/1.head"
	same '[null,"I should add."]' \
		"$(jq -c '[.messages[] | select(.role == "assistant") | .reasoning_content]' "$TMP/asked/3.json")"
	same '[null,"I should add.","so"]' \
		"$(jq -c '[.messages[] | select(.role == "assistant") | .reasoning_content]' "$TMP/asked/4.json")"
}

@test "mistral: no field that it refuses, ids in its form" {
	serve mistral/mistral-large-latest "[$CALL, {\"text\": \"done\"}]" "MISTRAL_API_KEY=$KEY" MISTRAL_API_BASE=@/v1
	say add
	same done "$(cat output)"
	jq -e 'has("stream_options") | not' "$TMP/asked/1.json"
	jq -e '.messages[-1].tool_call_id == .messages[-2].tool_calls[0].id
		and (.messages[-1].tool_call_id | test("^[a-zA-Z0-9]{9}$"))' "$TMP/asked/2.json"
}

@test "groq: an error in the stream after the answer began" {
	serve groq/m '[{"chunks": ["data: {\"choices\":[{\"index\":0,\"delta\":{\"reasoning\":\"hm\"}}]}\n\n",
		"event: error\ndata: {\"error\":{\"message\":\"Failed to call a function\",\"code\":\"tool_use_failed\"}}\n\n"]}]' \
		"GROQ_API_KEY=$KEY" GROQ_API_BASE=@/openai/v1
	say hi
	same 'failed 1' "$(cat status)"
	grep -q 'Failed to call a function' turns/1/error
	grep -q '^POST /openai/v1/chat/completions ' "$TMP/asked/1.head"
}

@test "openrouter: comments, an error of the server that it asked, a name" {
	serve openrouter/org/model:free '[{"chunks": [": OPENROUTER PROCESSING\n\n", "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hi\"},\"finish_reason\":\"stop\"}]}\n\n",
		"data: [DONE]\n\n"]}, {"status": 400, "body": {"error": {"code": 400, "message": "x", "metadata": {"raw": "too long"}}}}]' \
		"OPENROUTER_API_KEY=$KEY" OPENROUTER_API_BASE=@/api/v1 OR_APP_NAME=mine
	say hi
	same hi "$(cat output)"
	same org/model:free "$(jq -r .model "$TMP/asked/1.json")"
	grep -qi '^x-title: mine' "$TMP/asked/1.head"
	say hi
	grep -q 'too long' turns/2/error
}

@test "a server of the user's own needs no key" {
	local server

	for server in hosted_vllm:HOSTED_VLLM lm_studio:LM_STUDIO litellm_proxy:LITELLM_PROXY; do
		serve "${server%:*}/some/model" '[{"text": "mine"}]' "${server#*:}_API_BASE=@/v1"
		say hi
		same mine "$(cat output)"
		not grep -qi '^authorization' "$TMP/asked/1.head"
		kill "$PID"
	done
}

@test "gemini's endpoint: a signature goes back with its call" {
	serve openai/gemini-3-pro '[{"chunks": ["data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"\",\"type\":\"function\",\"function\":{\"name\":\"add\",\"arguments\":\"{\\\"a\\\":1,\\\"b\\\":1}\"},\"extra_content\":{\"google\":{\"thought_signature\":\"SIG+/==\"}}}]},\"finish_reason\":\"tool_calls\"}]}\n\n",
		"data: [DONE]\n\n"]}, {"text": "2"}]' "OPENAI_API_KEY=$KEY" \
		OPENAI_BASE_URL=http://generativelanguage.googleapis.com/v1beta/openai OPENAI_PROXY=@
	say add
	same 2 "$(cat output)"
	grep -q '^POST http://generativelanguage.googleapis.com/v1beta/openai/chat/completions ' "$TMP/asked/1.head"
	same '"SIG+/=="' "$(jq -c '.messages[-2].tool_calls[0].extra_content.google.thought_signature' "$TMP/asked/2.json")"
}

@test "a recording of a dialect is replayed with it" {
	cd "$TMP"
	daemon_stop
	daemon_start --record "$TMP/cassettes"
	serve deepseek/r "[$CALL, {\"text\": \"done\"}]" "DEEPSEEK_API_KEY=$KEY" DEEPSEEK_API_BASE=@
	say add
	same done "$(cat output)"
	jq -e '.provider == "deepseek"' "$TMP/cassettes/openai.jsonl" > /dev/null
	not grep -qF "$KEY" "$TMP/cassettes/openai.jsonl"
	kill "$PID"
	cp "$TMP/cassettes/openai.jsonl" "$AGENTS/openai/one.jsonl"
	sed -i 's|^model:.*|model: replay/one.jsonl|' "$AGENTS/openai/root_agent.yaml"
	session openai ann s2
	say add
	same done "$(cat output)"
}

@test "config.json knows the settings of all dialects" {
	jq -e '.settings.values | has("AZURE_API_VERSION") and has("DEEPSEEK_API_KEY") and has("LM_STUDIO_API_BASE")' \
		"$MNT/.adkfs/config.json"
}

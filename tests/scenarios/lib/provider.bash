# shellcheck shell=bash disable=SC2153,SC2154 # lib/mount sets $AGENTS, bats $status
#
# For tests of model providers: an agent that asks tests/servers/model.py, through a mount.
#
#   load lib/provider
#
# Before a test calls serve(), $MODEL is the agent's model and env() writes its .env;
# $PORT is the server's then, and $KEY a key that has to stay secret.

load lib/mount

KEY=sk-test-0123456789abcdef-secret
OPTIONS=()

setup() {
	folders_setup
	AGENT=$AGENTS/asker
	cp -R "$AGENTS/openai" "$AGENT"
	sed -i "s,^name:.*,name: asker,; s,^model:.*,model: $MODEL," "$AGENT/root_agent.yaml"
}

# serve SCENARIO: start the model and the daemon, make a session and go there.
serve() {
	model_serve "$1"
	env_file > "$AGENT/.env"
	daemon_start "${OPTIONS[@]}"
	session asker
}

# asked N FILTER: what holds for the Nth request.
asked() {
	jq -e "$2" "$TMP/asked/$1.json" > /dev/null || {
		echo "request $1 is not so: $2"
		cat "$TMP/asked/$1.json"
		return 1
	}
}

# told FILTER: what holds for the list of events.
told() {
	jq -s -e "$1" events.jsonl > /dev/null || {
		echo "the events are not so: $1"
		cat events.jsonl
		return 1
	}
}

# turn_fails WORDS: the turn that runs fails, and the reason has these words.
turn_fails() {
	run timeout 30 cat output
	[ "$status" -eq 1 ]
	grep -qF "$1" turns/latest/error || {
		cat turns/latest/error
		return 1
	}
	told 'last | .errorCode and (.errorMessage | length > 5)'
}

# The key is in no file of the mount, not in the store and not in what the daemon printed.
key_is_secret() {
	not grep -rqF --devices=skip "$KEY" "$MNT" --exclude=input --exclude-dir=agent
	not grep -qF "$KEY" "$TMP/daemon.log" "$TMP/daemon.out"
	cd "$TMP" || return 1
	daemon_stop
	not grep -rqF "$KEY" "$STORE"
}

# Events without what differs from one time to the next.
events() {
	jq -c 'del(.id, .timestamp, .invocationId) |
		del(.content.parts[]?.functionCall?.id?, .content.parts[]?.functionResponse?.id?)' events.jsonl
}

# replay CASSETTE: the server and the settings go, the agent asks its cassette.
replay() {
	cd "$TMP" || return 1
	kill "$SERVER" 2> /dev/null || :
	rm "$AGENT/.env"
	daemon_stop
	rm -r "$STORE"
	mkdir -p "$AGENT/cassettes"
	cp "$1" "$AGENT/cassettes/a.jsonl"
	sed -i 's,^model:.*,model: replay/cassettes/a.jsonl,' "$AGENT/root_agent.yaml"
	daemon_start
	session asker
}

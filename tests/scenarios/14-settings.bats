# Settings of models: the settings file, commands for keys, proxies, certificates, headers.
load lib/mount

KEY=sk-of-the-file-0123456789
FILE_KEY="openai: {api_key: $KEY}"

setup() {
	folders_setup
	SETTINGS=$TMP/models.yaml
	DAEMON_OPTIONS=(--settings "$SETTINGS")
}

# settings TEXT: the settings file, as whole as a rename makes it.
settings() {
	(umask 077 && printf '%s\n' "$1" > "$SETTINGS.new")
	mv "$SETTINGS.new" "$SETTINGS"
}

# serve SCENARIO: start the model; its address is $URL.
serve() {
	model_serve "$1"
	HOST=127.0.0.1:$PORT
	URL=http://$HOST/v1
}

# The key that request N was sent with.
key_of() {
	sed -n 's/^[Aa]uthorization: Bearer \(.*[^\r]\)\r*$/\1/p' "$TMP/asked/$1.head"
}

# starts_not TEXT [OPTION]...: the daemon does not start, and says why.
starts_not() {
	local why=$1

	shift
	run daemon_start "$@"
	[ "$status" -ne 0 ]
	[[ $output == *"$why"* ]] || {
		echo "$output"
		return 1
	}
	rm -f "$TMP/daemon.pid"
}

# No secret is anywhere: hidden SECRET...
hidden() {
	local secret

	for secret in "$@"; do
		not grep -rqF --devices=skip -e "$secret" "$MNT" --exclude=input --exclude-dir=agent
		not grep -qF -e "$secret" "$TMP/daemon.log" "$TMP/daemon.out"
	done
	cd "$TMP"
	daemon_stop
	for secret in "$@"; do
		not grep -rqF -e "$secret" "$STORE"
	done
}

@test "a key and an address come from the settings file" {
	serve '[{"text": "ok"}]'
	settings "openai: {api_key: $KEY, base_url: $URL}"
	daemon_start "${DAEMON_OPTIONS[@]}"
	session openai
	say hi
	same ok "$(cat output)"
	same "$KEY" "$(key_of 1)"
	same "[\"$SETTINGS\",null,\"[key]\",\"file\",\"$URL\"]" "$(jq -c '.settings | [.file, .reason,
		.values.OPENAI_API_KEY.value, .values.OPENAI_API_KEY.from, .values.OPENAI_BASE_URL.value]' \
		"$MNT/.adkfs/config.json")"
}

@test "the settings file lies in the user's configuration, and may be missing" {
	serve '[{"text": "ok"}]'
	daemon_start
	same "[\"$XDG_CONFIG_HOME/adkfs/models.yaml\",null]" \
		"$(jq -c '.settings | [.file, .reason]' "$MNT/.adkfs/config.json")"
	mkdir -p "$XDG_CONFIG_HOME/adkfs"
	SETTINGS=$XDG_CONFIG_HOME/adkfs/models.yaml
	settings "openai: {api_key: $KEY, base_url: $URL}"
	session openai
	say hi
	same "$KEY" "$(key_of 1)"
	cd "$TMP"
	daemon_stop
	chmod 644 "$SETTINGS"
	daemon_start
	grep -q 'the settings file is not used: .*models.yaml can be read by others: chmod 600 it' "$TMP/daemon.log"
	jq -e '.settings | .reason | contains("can be read by others")' "$MNT/.adkfs/config.json"
	back
	say again
	grep -q 'OPENAI_API_KEY is not set, and the settings file is not used: .*can be read by others' turns/2/error
	chmod 600 "$SETTINGS"
	say 'once more'
	same ok "$(cat output)"
}

@test "settings: the folder comes before the app, the app before the environment, then the provider" {
	serve '[{"text": "ok"}]'
	settings "openai: {api_key: of-provider, base_url: $URL}
apps:
  openai:
    openai: {api_key: of-app}
  other:
    openai: {api_key: of-other}"
	export OPENAI_API_KEY=of-environment
	daemon_start "${DAEMON_OPTIONS[@]}"
	session openai
	echo OPENAI_API_KEY=of-folder > "$AGENTS/openai/.env"
	say one
	same of-folder "$(key_of 1)"
	rm "$AGENTS/openai/.env"
	say two
	same of-app "$(key_of 2)"
	settings "openai: {api_key: of-provider, base_url: $URL}"
	say three
	same of-environment "$(key_of 3)"
	cd "$TMP"
	daemon_stop
	unset OPENAI_API_KEY
	daemon_start "${DAEMON_OPTIONS[@]}"
	back
	say four
	same of-provider "$(key_of 4)"
	echo OPENAI_API_KEY= > "$AGENTS/openai/.env"
	say five
	same '' "$(key_of 5)"
}

@test "config.json shows the sections of apps" {
	settings 'apps: {weather: {openai: {api_key: sk-0123456789, org_id: mine}}}'
	daemon_start "${DAEMON_OPTIONS[@]}"
	same '{"weather":{"OPENAI_API_KEY":{"value":"[key]","from":"file"},"OPENAI_ORG_ID":{"value":"mine","from":"file"}}}' \
		"$(jq -c .settings.apps "$MNT/.adkfs/config.json")"
}

@test "the daemon does not start with a bad settings file, and says why" {
	starts_not '--settings: '"$SETTINGS"': No such file or directory' --settings "$SETTINGS"
	settings "$FILE_KEY"
	chmod 640 "$SETTINGS"
	starts_not "$SETTINGS can be read by others: chmod 600 it" --settings "$SETTINGS"
	chmod 600 "$SETTINGS"
	mkfifo "$TMP/pipe"
	chmod 600 "$TMP/pipe"
	starts_not "$TMP/pipe is not a regular file" --settings "$TMP/pipe"
	settings $'openai:\n  api_keys: x'
	starts_not "$SETTINGS:2: openai.api_keys: is unknown; the members are api_key, api_key_command, base_url" \
		--settings "$SETTINGS"
	settings $'openai:\n  api_key: 12'
	starts_not "$SETTINGS:2: openai.api_key: is not a text: put it in quotes" --settings "$SETTINGS"
	settings $'openai:\n  api_key: 99999999999999999999'
	starts_not "$SETTINGS:2: the number is out of range; put a text in quotes" --settings "$SETTINGS"
	settings $'opena: {api_key: x}'
	starts_not "$SETTINGS:1: opena: there is no provider 'opena'" --settings "$SETTINGS"
	settings $'apps:\n  a:\n    openai:\n      headers: {"a b": x}'
	starts_not "$SETTINGS:4: apps.a.openai.headers: holds a name that is not valid for a header" \
		--settings "$SETTINGS"
	settings $'openai: {\n'
	starts_not "$SETTINGS:" --settings "$SETTINGS"
	settings '- openai'
	starts_not "$SETTINGS:1: the file is not a mapping" --settings "$SETTINGS"
	cd "$TMP"
	settings "$FILE_KEY"
	daemon_start --settings models.yaml
}

@test "a bad change of the settings file is reported, and the old settings stay" {
	serve '[{"text": "ok"}]'
	settings "openai: {api_key: $KEY, base_url: $URL}"
	daemon_start "${DAEMON_OPTIONS[@]}"
	session openai
	jq -e '.settings.reason == null' "$MNT/.adkfs/config.json"
	settings 'openai: {api_kex: oops}'
	jq -e '.settings.reason | contains("models.yaml:1: openai.api_kex: is unknown")' "$MNT/.adkfs/config.json"
	say hi
	same "$KEY" "$(key_of 1)"
	jq -e '.settings.reason | contains("models.yaml:1: openai.api_kex: is unknown")' "$MNT/.adkfs/config.json"
	settings "openai: {api_key: another-key, base_url: $URL}"
	say hi
	same another-key "$(key_of 2)"
	jq -e '.settings.reason == null' "$MNT/.adkfs/config.json"
	rm "$SETTINGS"
	say hi
	grep -q 'OPENAI_API_KEY is not set' turns/3/error
}

@test "a running turn keeps the settings it has" {
	serve '[{"calls": [{"name": "add", "args": {"a": 1, "b": 1}}]}, {"text": "done"}, {"text": "next"}]'
	settings "openai: {api_key: first-key, base_url: $URL}"
	cat > "$AGENTS/openai/tools/add" <<-EOF
		#!/bin/sh
		touch "$TMP/in-tool"
		while [ ! -e "$TMP/go-on" ]; do sleep 0.02; done
		echo '{"sum": 2}'
	EOF
	daemon_start --sandbox none "${DAEMON_OPTIONS[@]}"
	session openai
	echo hi > input
	eventually 20 test -e "$TMP/in-tool"
	settings "openai: {api_key: second-key, base_url: $URL}"
	touch "$TMP/go-on"
	same done "$(timeout 30 cat output)"
	same 'first-key first-key' "$(key_of 1) $(key_of 2)"
	say next
	same second-key "$(key_of 3)"
}

@test "a command gives the key: it runs once in five minutes, for all turns" {
	serve '[{"text": "ok"}]'
	settings "openai:
  api_key_command: 'echo run >> $TMP/runs; while [ ! -e $TMP/go-on ]; do sleep 0.02; done; echo key-of-command; echo more'
  base_url: $URL"
	daemon_start "${DAEMON_OPTIONS[@]}"
	session openai
	echo hi > input
	session openai ann s2
	echo hi > input
	eventually 20 test -e "$TMP/runs"
	touch "$TMP/go-on"
	same ok "$(timeout 30 cat output)"
	session openai
	same ok "$(timeout 30 cat output)"
	say again
	same ok "$(cat output)"
	same run "$(cat "$TMP/runs")"
	same 'key-of-command key-of-command key-of-command' "$(key_of 1) $(key_of 2) $(key_of 3)"
	jq -e '.settings.values.OPENAI_API_KEY_COMMAND == {"value": "[key]", "from": "file"}' "$MNT/.adkfs/config.json"
	hidden key-of-command
}

@test "a turn that waits for a command is cancelled at once; others go on" {
	serve '[{"text": "ok"}]'
	settings "openai: {base_url: $URL}
apps:
  openai:
    openai: {api_key_command: 'touch $TMP/runs; while [ ! -e $TMP/go-on ]; do sleep 0.02; done; echo key-of-command'}"
	daemon_start "${DAEMON_OPTIONS[@]}"
	session echo
	say hi
	same idle "$(cat status)"
	session openai
	echo hi > input
	eventually 20 test -e "$TMP/runs"
	session openai ann s2
	echo hi > input
	echo cancel > ../s1/ctl
	timeout 10 cat ../s1/wait > /dev/null
	grep -q cancelled ../s1/turns/1/error
	[ ! -e "$TMP/go-on" ]
	touch "$TMP/go-on"
	same ok "$(timeout 30 cat output)"
}

@test "a key that was refused is asked for again, once" {
	serve '[{"text": "ok"}, {"status": 401}, {"text": "fresh"}, {"status": 401, "repeat": 9}]'
	settings "openai:
  api_key_command: 'echo >> $TMP/runs; echo token-number-\$(wc -l < $TMP/runs)'
  base_url: $URL"
	daemon_start "${DAEMON_OPTIONS[@]}"
	session openai
	say one
	say two
	same fresh "$(cat output)"
	same 'token-number-1 token-number-1 token-number-2' "$(key_of 1) $(key_of 2) $(key_of 3)"
	say three
	same 'failed 3' "$(cat status)"
	grep -q 'the key in OPENAI_API_KEY was refused (401)' turns/3/error
	same 'token-number-2 token-number-3' "$(key_of 4) $(key_of 5)"
	[ ! -e "$TMP/asked/6.json" ]
	hidden token-number
}

@test "a key that Google refuses in words is asked for again too" {
	serve '[{"status": 400, "body": {"error": {"code": 400, "message": "API key not valid.", "status": "INVALID_ARGUMENT",
		"details": [{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}]}}}, {"text": "fresh"}]'
	sed -i 's,^model:.*,model: gemini/test,' "$AGENTS/openai/root_agent.yaml"
	settings "gemini:
  api_key_command: 'echo >> $TMP/runs; echo token-number-\$(wc -l < $TMP/runs)'
  base_url: http://$HOST"
	daemon_start "${DAEMON_OPTIONS[@]}"
	session openai
	say one
	same fresh "$(cat output)"
	grep -qi '^x-goog-api-key: token-number-1' "$TMP/asked/1.head"
	grep -qi '^x-goog-api-key: token-number-2' "$TMP/asked/2.head"
	hidden token-number
}

@test "a command that is a list is a program with arguments, in a clean environment" {
	serve '[{"text": "ok"}]'
	cat > "$TMP/give key" <<-'EOF'
		#!/bin/sh
		env | sed 's/=.*//' | sort | tr '\n' ' ' > "$1"
		echo "given-$2"
	EOF
	chmod +x "$TMP/give key"
	settings "openai: {api_key_command: ['$TMP/give key', '$TMP/env', \"it's\$HOME\"], base_url: $URL}"
	SECRET_OF_DAEMON=x daemon_start "${DAEMON_OPTIONS[@]}"
	session openai
	say hi
	same "given-it's\$HOME" "$(key_of 1)"
	[[ $(cat "$TMP/env") == *'HOME '*'PATH '* ]]
	[[ $(cat "$TMP/env") != *SECRET_OF_DAEMON* ]]
}

@test "the error of a command does not show its output" {
	serve '[{"text": "ok"}]'
	local what
	declare -A why=(
		['echo loud-secret-1; echo loud-secret-2 >&2; exit 3']='it exited with status 3; run it by hand to see the reason'
		[':']='it wrote no key'
		['echo; echo loud-secret-1']='it wrote no key'
		['printf "loud-secret-1\\001x\\n"']='its first line holds a control character'
		['kill -9 $$']='it was killed by signal 9'
	)
	settings "openai: {base_url: $URL}"
	daemon_start "${DAEMON_OPTIONS[@]}"
	session openai
	for what in "${!why[@]}"; do
		settings "openai: {base_url: $URL, api_key_command: $(jq -n --arg c "$what" '$c')}"
		say hi
		grep -qF "the command for OPENAI_API_KEY: ${why[$what]}" turns/latest/error || {
			echo "$what: $(cat turns/latest/error)"
			return 1
		}
	done
	hidden loud-secret
	[ ! -e "$TMP/asked/1.json" ]
}

@test "a command in the environment is used, a command in an agent's folder is not" {
	serve '[{"text": "ok"}]'
	cat > "$AGENTS/openai/.env" <<-EOF
		OPENAI_BASE_URL=$URL
		OPENAI_API_KEY_COMMAND=touch $TMP/evil; echo of-folder
	EOF
	export OPENAI_API_KEY_COMMAND='echo of-environment'
	daemon_start
	session openai
	say hi
	same of-environment "$(key_of 1)"
	[ ! -e "$TMP/evil" ]
	jq -e '.warnings | map(contains(".env: OPENAI_API_KEY_COMMAND is not used")) | any' "$MNT/apps/openai/agent.json"
	echo "OPENAI_API_KEY=of-folder" >> "$AGENTS/openai/.env"
	say hi
	same of-folder "$(key_of 2)"
}

@test "umount ends a command that runs" {
	serve '[{"text": "ok"}]'
	settings "openai: {base_url: $URL, api_key_command: 'echo \$\$ > $TMP/pid; exec sleep 20'}"
	daemon_start "${DAEMON_OPTIONS[@]}"
	session openai
	echo hi > input
	eventually 20 test -s "$TMP/pid"
	cd "$TMP"
	timeout 15 "$ADKFS" umount "$MNT"
	daemon_ended 0
	gone "$(cat "$TMP/pid")"
}

@test "extra headers replace our headers, and their values are hidden" {
	serve '[{"text": "ok"}, {"status": 400, "body": {"error": {"message": "no header-value-12345"}}}]'
	settings "openai:
  api_key: $KEY
  base_url: $URL
  headers: {X-Team: header-value-12345, accept: text/other}
apps:
  echo: {openai: {headers: {X-App: other-value-6789}}}"
	daemon_start "${DAEMON_OPTIONS[@]}"
	session openai
	say hi
	grep -qi '^x-team: header-value-12345' "$TMP/asked/1.head"
	same 1 "$(grep -ci '^accept:' "$TMP/asked/1.head")"
	grep -qi '^accept: text/other' "$TMP/asked/1.head"
	say hi
	grep -q 'no \[key\]' turns/2/error
	same '"X-Team: [key], accept: [key]"' "$(jq -c .settings.values.OPENAI_CUSTOM_HEADERS.value "$MNT/.adkfs/config.json")"
	same '"X-App: [key]"' "$(jq -c .settings.apps.echo.OPENAI_CUSTOM_HEADERS.value "$MNT/.adkfs/config.json")"
	hidden "$KEY" header-value-12345 other-value-6789
}

@test "a key in an extra header is hidden even when a service repeats only the key" {
	serve '[{"status": 401, "echo_key": true}]'
	settings "openai: {base_url: $URL, headers: {Authorization: Bearer sk-of-a-header-0123}}"
	daemon_start --record "$TMP/cassettes" "${DAEMON_OPTIONS[@]}"
	session openai
	say hi
	same sk-of-a-header-0123 "$(key_of 1)"
	grep -qF 'key provided: [key].' turns/1/error
	not grep -q of-a-header "$TMP/cassettes/openai.jsonl"
	hidden sk-of-a-header-0123
}

@test ".env can have headers, one a line, and a line that is no header is refused" {
	serve '[{"text": "ok"}]'
	echo "OPENAI_BASE_URL=$URL" > "$AGENTS/openai/.env"
	echo 'OPENAI_CUSTOM_HEADERS="X-One: 1\nX-Two:2\n"' >> "$AGENTS/openai/.env"
	daemon_start
	session openai
	say hi
	grep -q '^X-One: 1' "$TMP/asked/1.head"
	grep -q '^X-Two: 2' "$TMP/asked/1.head"
	echo 'OPENAI_CUSTOM_HEADERS="X-One"' >> "$AGENTS/openai/.env"
	say hi
	grep -q 'OPENAI_CUSTOM_HEADERS has a line that is not of the form NAME: VALUE' turns/2/error
	echo 'OPENAI_CUSTOM_HEADERS="Content-Length: 3"' >> "$AGENTS/openai/.env"
	say hi
	grep -q 'OPENAI_CUSTOM_HEADERS has a line that is not' turns/3/error
	jq -e '.warnings | map(contains("OPENAI_CUSTOM_HEADERS has a line")) | any' "$MNT/apps/openai/agent.json"
}

@test "requests go to the proxy, and its password is hidden" {
	serve '[{"text": "by proxy"}, {"status": 407}]'
	settings "openai:
  api_key: $KEY
  base_url: http://models.example/v1
  proxy: http://me:proxy-password@$HOST"
	daemon_start "${DAEMON_OPTIONS[@]}"
	session openai
	say hi
	same 'by proxy' "$(cat output)"
	grep -q '^POST http://models.example/v1/chat/completions' "$TMP/asked/1.head"
	grep -qi '^proxy-authorization: basic' "$TMP/asked/1.head"
	say hi
	grep -q 'the proxy requires a user and a password (407)' turns/2/error
	echo 'OPENAI_PROXY=gopher://me:proxy-password@x' > "$AGENTS/openai/.env"
	say hi
	grep -q 'OPENAI_PROXY is not an address that begins with http://, https:// or socks5://' turns/3/error
	jq -e '.settings.values.OPENAI_PROXY.value == "[key]"' "$MNT/.adkfs/config.json"
	printf 'OPENAI_BASE_URL=https://models.example/v1\nADKFS_MODEL_RETRIES=0\n' > "$AGENTS/openai/.env"
	say hi
	grep -q 'models.example cannot be reached: the proxy answered 501' turns/4/error
	kill "$PID"
	wait "$PID" || :
	say hi
	grep -q 'models.example cannot be reached: its proxy does not answer' turns/5/error
	rm "$AGENTS/openai/.env"
	hidden proxy-password "$KEY"
}

@test "a certificate file of the user's own is trusted" {
	command -v openssl > /dev/null || skip 'no openssl'
	serve '[{"text": "over TLS"}]'
	openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -addext 'subjectAltName=DNS:localhost' \
		-keyout "$TMP/key.pem" -out "$TMP/cert.pem" 2> /dev/null
	background python3 "$ROOT/tests/servers/tls_front.py" "$TMP/cert.pem" "$TMP/key.pem" "$PORT" "$TMP/tls"
	eventually 20 test -s "$TMP/tls"
	settings "openai: {api_key: $KEY, base_url: 'https://localhost:$(cat "$TMP/tls")/v1', ca_file: $TMP/cert.pem}"
	daemon_start "${DAEMON_OPTIONS[@]}"
	session openai
	say hi
	same 'over TLS' "$(cat output)"
	settings "openai: {api_key: $KEY, base_url: 'https://localhost:$(cat "$TMP/tls")/v1'}"
	say hi
	grep -q 'has a certificate that cannot be trusted' turns/2/error
	echo "ADKFS_CA_FILE=$TMP/cert.pem" > "$AGENTS/openai/.env"
	say hi
	same 'over TLS' "$(cat output)"
	echo "OPENAI_CA_FILE=$TMP/none.pem" >> "$AGENTS/openai/.env"
	say hi
	grep -q 'the file of trusted certificates cannot be read' turns/4/error
	echo "OPENAI_CA_FILE=none.pem" >> "$AGENTS/openai/.env"
	say hi
	grep -q 'OPENAI_CA_FILE is not an absolute path' turns/5/error
}

@test "a recording holds no key of a command, no header, no proxy" {
	serve '[{"status": 401, "echo_key": true}, {"text": "ok header-value-12345"}]'
	settings "openai:
  base_url: http://me:url-password@$HOST/v1
  api_key_command: 'echo >> $TMP/runs; echo token-number-\$(wc -l < $TMP/runs)'
  headers: {X-Team: header-value-12345}"
	daemon_start --record "$TMP/cassettes" "${DAEMON_OPTIONS[@]}"
	session openai
	say hi
	same 'idle' "$(cat status)"
	same 2 "$(wc -l < "$TMP/cassettes/openai.jsonl")"
	same "{\"OPENAI_API_KEY\":\"[key]\",\"OPENAI_BASE_URL\":\"$URL\"}" \
		"$(head -n 1 "$TMP/cassettes/openai.jsonl" | jq -c .settings)"
	not grep -E 'token-number|header-value|url-password' "$TMP/cassettes/openai.jsonl"
	mkdir -p "$AGENTS/openai/cassettes"
	cp "$TMP/cassettes/openai.jsonl" "$AGENTS/openai/cassettes/one.jsonl"
	sed -i 's|^model:.*|model: replay/cassettes/one.jsonl|' "$AGENTS/openai/root_agent.yaml"
	session openai ann s2
	say hi
	cat turns/1/error 2> /dev/null || :
	same 'ok ******************' "$(cat output)"
}

@test "all providers report a missing key in the same words" {
	local case number=0

	daemon_start
	for case in 'ollama/x OLLAMA_API_KEY' 'gemini/x GEMINI_API_KEY' 'vertex_ai/x CLOUDSDK_AUTH_ACCESS_TOKEN' \
		'anthropic/x ANTHROPIC_API_KEY' 'openai/responses/x OPENAI_API_KEY' 'mistral/x MISTRAL_API_KEY'; do
		sed -i "s,^model:.*,model: ${case% *}," "$AGENTS/openai/root_agent.yaml"
		echo OLLAMA_HOST=ollama.com > "$AGENTS/openai/.env"
		cd "$TMP"
		session openai ann "s$((++number))"
		say hi
		grep -q "${case#* } is not set: put it into .env of the agent's folder, into the settings file" turns/1/error || {
			echo "$case: $(cat turns/1/error)"
			return 1
		}
	done
}

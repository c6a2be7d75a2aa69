# Many turns at once, each waiting for a model that takes its time: tests/servers/slow.py.
load lib/mount

COUNT=1000
SESSIONS=apps/slow/users/ann/sessions

setup() {
	folders_setup
	background python3 "$ROOT/tests/servers/slow.py" --port-file "$TMP/port" --said 'Well, ' > "$TMP/model.log" 2>&1
	eventually 20 test -s "$TMP/port"
	rm -r "$AGENTS/slow"; mkdir "$AGENTS/slow"
	cat > "$AGENTS/slow/root_agent.yaml" <<-EOF
		name: slow
		model: openai/slow
		instruction: Take your time.
	EOF
	printf 'OPENAI_BASE_URL=http://127.0.0.1:%s/v1\n' "$(cat "$TMP/port")" > "$AGENTS/slow/.env"
	ulimit -Sn 1024 # as in most logins: the daemon has to ask for more
	daemon_start
}

many() {
	timeout 120 python3 "$ROOT/tests/scenarios/lib/many_turns.py" "$MNT" "$(cat "$TMP/port")" "$COUNT" "$@"
}

# What the sanitizers add is not ours.
is_plain_build() {
	! grep -qE '__(asan|tsan)_init' "$ADKFS"
}

@test "a thousand turns wait for a model at once" {
	session echo bob quiet
	many start
	same "$COUNT" "$(jq .turns.running "$MNT/.adkfs/stats.json")"
	same 'running 1' "$(cat "$MNT/$SESSIONS/s0999/status")"
	say 'still there?'
	same 'idle' "$(cat status)"
	memory=$(awk '/^VmRSS/ { print $2 }' "/proc/$DAEMON/status")
	echo "$memory KiB, $(awk '/^Threads/ { print $2 }' "/proc/$DAEMON/status") threads"
	if is_plain_build; then [ "$memory" -lt 200000 ]; fi
	[ "$(awk '/^Threads/ { print $2 }' "/proc/$DAEMON/status")" -lt $((COUNT + 100)) ]
	many release
	same 'Well, word word word ' "$(cat "$MNT/$SESSIONS/s0999/output")"
	same 0 "$(jq .turns.running "$MNT/.adkfs/stats.json")"
}

@test "other sessions are not slower while a thousand turns wait" {
	session echo bob quiet
	many quick "$S"
}

@test "each of a thousand turns is cancelled at once" {
	many start
	many cancel
	same 0 "$(jq .turns.running "$MNT/.adkfs/stats.json")"
	same 'failed 1' "$(cat "$MNT/$SESSIONS/s0500/status")"
	same 'Well, ' "$(cat "$MNT/$SESSIONS/s0500/output" 2> /dev/null)"
}

@test "the daemon ends while a thousand turns wait" {
	many start
	SECONDS=0
	daemon_stop
	[ $SECONDS -lt 20 ]
}

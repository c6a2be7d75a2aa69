# shellcheck shell=bash disable=SC2034,SC2154 # scenarios use what is set here; bats sets $status and $output
#
# For tests/scenarios/*.bats: each test gets a mount of its own with a fresh store.
#
#   load lib/mount
#
# $ADKFS is the program under test, $MNT the mount point, $STORE and $AGENTS the
# folders behind it. session() makes a session and goes there.

ROOT=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
ADKFS=$(realpath "${ADKFS:-$ROOT/build/adkfs}")
export ROOT ADKFS
# Characters are counted by the shell, and sorted: in one way wherever the tests run.
unset LC_ALL LC_CTYPE LC_COLLATE LC_MESSAGES LANGUAGE
export LANG=C.UTF-8
export BATS_TEST_TIMEOUT=${BATS_TEST_TIMEOUT:-180}

setup() {
	mount_setup
}

teardown() {
	mount_teardown
}

# Folders, and where sanitizers write. Nothing is mounted yet.
folders_setup() {
	TMP=$BATS_TEST_TMPDIR
	MNT=$TMP/mnt
	STORE=$TMP/store
	AGENTS=$TMP/agents
	mkdir "$MNT" "$AGENTS"
	cp -R "$ROOT"/tests/fixtures/agents/. "$ROOT"/examples/agents/. "$AGENTS"
	# What the sanitizer holds back of freed memory would be taken for the daemon's.
	export ASAN_OPTIONS="quarantine_size_mb=32:${ASAN_OPTIONS:+$ASAN_OPTIONS:}log_path=$TMP/sanitizer"
	export UBSAN_OPTIONS="${UBSAN_OPTIONS:+$UBSAN_OPTIONS:}print_stacktrace=1:log_path=$TMP/sanitizer"
	# Keys of whoever runs the tests are not for them.
	# shellcheck disable=SC2046 # words, each a name
	unset $(compgen -e | grep -E '^(ANTHROPIC|AZURE|CLOUDSDK|GEMINI|GOOGLE|OLLAMA|OPENAI)_|_(API_KEY|API_BASE|BASE_URL|TOKEN|PROXY|CA_FILE|CUSTOM_HEADERS)$')
	export XDG_CONFIG_HOME=$TMP/config
	BACKGROUND=()
	PLACES=("$MNT")
}

# $DAEMON_OPTIONS is a list of options for each start.
mount_setup() {
	folders_setup
	daemon_start "${DAEMON_OPTIONS[@]}"
}

mount_teardown() {
	local failed=0 place

	cd "$TMP" || return 1
	if [ ${#BACKGROUND[@]} -gt 0 ]; then
		kill "${BACKGROUND[@]}" 2> /dev/null || :
		wait "${BACKGROUND[@]}" 2> /dev/null || :
	fi
	[ ! -e "$TMP/daemon.pid" ] || daemon_stop || failed=1
	for place in "${PLACES[@]}"; do
		! is_mounted "$place" || timeout 60 "$ADKFS" umount -z "$place" || failed=1
	done
	if compgen -G "$TMP/sanitizer.*" > /dev/null; then
		head -n 60 "$TMP"/sanitizer.*
		failed=1
	fi
	return $failed
}

# Wait for a condition: eventually SECONDS COMMAND...
eventually() {
	local end=$((SECONDS + $1 + 1))

	shift
	until "$@"; do
		if [ $SECONDS -ge $end ]; then
			echo "waited in vain for: $*"
			return 1
		fi
		sleep 0.02
	done
}

is_mounted() {
	findmnt -rn -t fuse.adkfs -M "$1" > /dev/null 2>&1
}

# Whether a process has ended, be it that nobody asked for its status yet.
gone() {
	[ ! -e "/proc/$1" ] || grep -q '^State:.*Z' "/proc/$1/status" 2> /dev/null || [ ! -e "/proc/$1" ]
}

# Run in the background until the test ends; sets $PID.
background() {
	"$@" 3>&- <&0 &
	PID=$!
	BACKGROUND+=("$PID")
}

# model_serve SCENARIO, or @FILE with one: tests/servers/model.py is there in place of a model, at $PORT,
# as the process $SERVER; what it is asked lies in $TMP/asked.
model_serve() {
	case $1 in
	@*) cp "${1#@}" "$TMP/scenario.json" ;;
	*) printf '%s\n' "$1" > "$TMP/scenario.json" ;;
	esac
	rm -f "$TMP/port"
	background python3 "$ROOT/tests/servers/model.py" --port-file "$TMP/port" --save "$TMP/asked" \
		"$TMP/scenario.json" > "$TMP/server.log" 2>&1
	SERVER=$PID
	eventually 20 test -s "$TMP/port"
	PORT=$(cat "$TMP/port")
}

# Whether the daemon holds a connection to the server at $PORT.
connected() {
	awk -v port=":$(printf %04X "$PORT")\$" '$3 ~ port && $4 == "01" { found = 1 } END { exit !found }' \
		/proc/net/tcp
}

# The daemon in the foreground of a background process, which keeps its exit status.
# daemon_start [OPTION OF adkfs mount]...
daemon_start() {
	rm -f "$TMP/daemon.status" "$TMP/daemon.pid"
	(
		trap '' TERM
		set +e
		"$ADKFS" mount -f --store "$STORE" --agents "$AGENTS" "$@" "$MNT" \
			> "$TMP/daemon.out" 2>> "$TMP/daemon.log" &
		echo $! > "$TMP/daemon.pid.new"
		mv "$TMP/daemon.pid.new" "$TMP/daemon.pid"
		wait $!
		echo $? > "$TMP/daemon.status.new"
		mv "$TMP/daemon.status.new" "$TMP/daemon.status"
	) 3>&- < /dev/null &
	eventually 10 test -e "$TMP/daemon.pid"
	eventually 60 daemon_is_up_or_gone
	if [ -e "$TMP/daemon.status" ]; then
		echo "adkfs mount ended with $(cat "$TMP/daemon.status"):"
		cat "$TMP/daemon.log"
		return 1
	fi
	DAEMON=$(cat "$TMP/daemon.pid")
}

# The kernel may know names of a daemon that died: only what this one says counts.
daemon_is_up_or_gone() {
	[ -e "$TMP/daemon.status" ] ||
		grep -q "\"pid\":$(cat "$TMP/daemon.pid")," "$MNT/.adkfs/stats.json" 2> /dev/null
}

# Unmount; the daemon has to end well.
daemon_stop() {
	local failed=0

	if is_mounted "$MNT" && ! timeout 90 "$ADKFS" umount "$MNT"; then
		failed=1
		timeout 90 "$ADKFS" umount -z "$MNT" || kill -9 "$DAEMON"
	fi
	daemon_ended 0 || failed=1
	rm -f "$TMP/daemon.pid"
	return $failed
}

# The daemon ends by itself, with this exit status.
daemon_ended() {
	local status

	eventually 90 test -e "$TMP/daemon.status" || return 1
	status=$(cat "$TMP/daemon.status")
	if [ "$status" != "$1" ]; then
		echo "the daemon ended with $status, not $1:"
		cat "$TMP/daemon.log"
		return 1
	fi
}

# As a crash would do it.
daemon_kill() {
	kill -9 "$DAEMON"
	daemon_ended 137
	rm -f "$TMP/daemon.pid"
}

daemon_restart() {
	cd "$TMP" || return 1
	daemon_stop
	daemon_start "${DAEMON_OPTIONS[@]}"
}

# session [APP [USER [SESSION]]]: make it and go there. $S is its directory.
session() {
	S=$MNT/apps/${1:-echo}/users/${2:-ann}/sessions/${3:-s1}
	mkdir -p "$S"
	cd "$S" || return 1
}

# parked N: at least so many readers wait in the daemon.
parked() {
	[ "$(jq .parked "$MNT/.adkfs/stats.json")" -ge "$1" ]
}

# Back to the session after a restart.
back() {
	cd "$S" || return 1
}

# Say something and wait for the answer's end.
say() {
	printf '%s\n' "$1" > input
	timeout 60 cat wait > /dev/null
}

# refused ERRNAME COMMAND...: it fails, and names the reason on standard error or
# standard output, as any program would print it.
refused() {
	local why=$1 text

	shift
	case $why in
	EINVAL) text='Invalid argument' ;;
	EPERM) text='Operation not permitted' ;;
	EACCES) text='Permission denied' ;;
	EEXIST) text='File exists' ;;
	ENOENT) text='No such file or directory' ;;
	ENOTEMPTY) text='Directory not empty' ;;
	EFBIG) text='File too large' ;;
	ENXIO) text='No such device or address' ;;
	EIO) text='Input/output error' ;;
	ENAMETOOLONG) text='File name too long' ;;
	EBUSY) text='Device or resource busy' ;;
	*) text=$why ;;
	esac
	run "$@"
	if [ "$status" -eq 0 ] || [[ $output != *"$text"* ]]; then
		echo "expected: $text; status $status, output: $output"
		return 1
	fi
}

# A failure that is expected; unlike "!" it ends the test when the command succeeds.
not() {
	! "$@"
}

# same EXPECTED ACTUAL
same() {
	if [ "$1" != "$2" ]; then
		printf 'expected: %s\n     got: %s\n' "$1" "$2"
		return 1
	fi
}

# size_is_true FILE: it has the size that stat says.
size_is_true() {
	local want got

	want=$(stat -c %s "$1")
	got=$(timeout 30 cat "$1" | wc -c)
	[ "$want" = "$got" ] || {
		echo "$1: stat says $want, reading gives $got"
		return 1
	}
}

# Every regular file below has the size that stat says. A file that can only be written is left
# out. The daemon's own numbers may change between the two looks, so they have a second chance.
sizes_are_true() {
	local path failed=0

	while IFS= read -r -d '' path; do
		size_is_true "$path" || { [[ $path == */.adkfs/* ]] && size_is_true "$path"; } || failed=1
	done < <(find "$1" -type f -perm -400 -print0)
	return $failed
}

# An event as a line: event TEXT [STATE DELTA]
event() {
	jq -nc --arg text "$1" --argjson delta "${2:-null}" \
		'{author: "user", content: {role: "user", parts: [{text: $text}]}}
		+ if $delta == null then {} else {actions: {stateDelta: $delta}} end'
}

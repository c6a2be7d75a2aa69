# Programs of agents in a sandbox: what they see, what they reach, how they end.
load lib/mount

setup() {
	folders_setup
	bwrap --unshare-pid --unshare-net --ro-bind / / --proc /proc true 2> "$TMP/why" ||
		skip "bwrap does not work here: $(tail -n 1 "$TMP/why")"
	# Where a program may look and not find them.
	OUTSIDE=$(mktemp -d /var/tmp/adkfs-sandbox.XXXXXX)
	SLEEP=$((RANDOM + 400000)).$((RANDOM + 100000)) # a command line of our own
}

teardown() {
	mount_teardown
	local failed=$?
	[ -z "${OUTSIDE:-}" ] || rm -r "$OUTSIDE"
	return $failed
}

# Say a command to the agent "shell"; what it printed.
run_inside() {
	printf '%s\n' "$1" > input
	timeout 60 cat output
}

sleeps() {
	pgrep -f "^sleep $SLEEP\$" > /dev/null
}

sleeps_no_more() {
	! sleeps
}

# A program with a PATH that has what tools need, and no bwrap.
without_bwrap() {
	local name

	mkdir "$TMP/bin"
	for name in sh jq cat echo fusermount3; do
		ln -s "$(command -v $name)" "$TMP/bin/$name"
	done
	printf '#!%s\nPATH=%q exec %q "$@"\n' "$BASH" "$TMP/bin" "$ADKFS" > "$TMP/adkfs"
	chmod +x "$TMP/adkfs"
	REAL=$ADKFS
	ADKFS=$TMP/adkfs
}

sandbox_is() {
	same "$1" "$(jq -r .sandbox.kind "$MNT/.adkfs/config.json")"
}

@test "a tool sees its session and the targets of its links, and no other session" {
	daemon_start
	sandbox_is bwrap
	same null "$(jq -r .sandbox.reason "$MNT/.adkfs/config.json")"
	session shell bob s1
	session shell ann s2
	session echo ann s1
	session shell ann s1
	same "$(printf 'shell\nann\nartifacts\nsessions\nstate\ns1')" "$(run_inside \
		'cd $ADKFS_SESSION; ls ../../../../..; ls ../../..; ls ../..; ls ..')"
	same "$(printf 'apps')" "$(run_inside "ls -A $MNT")"
	same "$(ls)" "$(run_inside 'ls $ADKFS_SESSION')"
	# the way through /proc of another process is not there either
	same 0 "$(run_inside 'ls -d /proc/[0-9]*/root/apps 2> /dev/null | wc -l | jq .')"
}

@test "keys in the folder's .env are not for tools" {
	echo "OPENAI_API_KEY=sk-secret" > "$AGENTS/shell/.env"
	daemon_start
	session shell
	same none "$(run_inside 'grep -rs secret . || echo none')"
	run_inside 'cat .env 2> /dev/null; env'
	! grep -r sk-secret turns events.jsonl
}

@test "a tool changes state and artifacts of all scopes" {
	daemon_start
	session shell ann s1
	same done "$(run_inside 'cd $ADKFS_SESSION/state && echo 1 > own.json && echo 2 > user:u.json && echo 3 > app:a.json && echo done')"
	same '{"own":1,"app:a":3,"user:u":2}' "$(jq -c '{own, "app:a", "user:u"}' state.json)"
	same '2 3' "$(run_inside 'cat $ADKFS_SESSION/state/user:u.json $ADKFS_SESSION/state/app:a.json | xargs')"
	run_inside 'echo one > $ADKFS_SESSION/artifacts/a.txt; echo two > $ADKFS_SESSION/artifacts/user:b.txt'
	same one "$(cat artifacts/a.txt)"
	same two "$(cat ../../artifacts/b.txt)"
	same two "$(run_inside 'cat $ADKFS_SESSION/artifacts/user:b.txt')"
	run_inside 'echo 5 > $ADKFS_SESSION/state/own.json.new && mv $ADKFS_SESSION/state/own.json.new $ADKFS_SESSION/state/own.json'
	same 5 "$(cat state/own.json)"
}

@test "a tool changes its context" {
	daemon_start
	session shell ann s1
	same shell "$(run_inside 'cd $ADK_CONTEXT && echo 4 > state/user:c.json && echo x > artifacts/c.txt && cat agent_name')"
	same 4 "$(cat state/user:c.json)"
	same x "$(cat artifacts/c.txt)"
	jq -s -e 'map(.actions.artifactDelta // empty) | any(has("c.txt"))' events.jsonl
}

@test "the files of the machine" {
	daemon_start
	session shell ann s1
	echo secret > "$OUTSIDE/file"
	echo secret > "$TMP/file"
	[[ $(run_inside "cat $OUTSIDE/file") == 'error: exit status 1: '*'No such file'* ]]
	[[ $(run_inside "cat $TMP/file") == 'error: exit status 1: '*'No such file'* ]]
	[[ $(run_inside 'echo x > made') == 'error: exit status 2: '*'Read-only file system' ]]
	[[ $(run_inside 'echo x > tools/sh') == 'error: exit status 2: '*'Read-only file system' ]]
	[[ $(run_inside 'echo x > /usr/bin/made') == 'error: exit status 2: '*'Read-only file system' ]]
	[[ $(run_inside 'echo x > /made') == 'error: exit status 2: '*'Read-only file system' ]]
	same "$AGENTS/shell" "$(run_inside pwd)"
	same "$(printf 'root_agent.yaml\nscript.yaml\ntools')" "$(run_inside ls)"
	same "/tmp x" "$(run_inside 'cd; echo x > file; echo $(pwd) $(cat file)')"
	same 0 "$(run_inside 'ls -A /tmp | grep -cv bats | jq .')"
	not test -e /tmp/file
	same "$(id -u)" "$(run_inside 'id -u | jq .')"
	for name in /home /root /var /boot /mnt /srv /run /etc/shadow /etc/fuse.conf /dev/fuse /dev/sda /sys; do
		same no "$(run_inside "[ -e $name ] && echo yes || echo no")"
	done
	# Settings of the kernel are root's whatever it may do; opening them changes nothing.
	same 'end' "$(run_inside 'for f in $(find /proc/sys /proc/sysrq-trigger -type f); do
		sh -c ": >> $f" 2> /tmp/err && echo $f; done; echo end')"
	[[ $(run_inside 'cat /proc/keys') == error:* ]]
}

@test "the kernel's keyrings are no way from one session to another" {
	daemon_start
	session shell ann s1
	cat > "$AGENTS/shell/keys.py" <<-'E'
		import ctypes, mmap, os, platform

		libc = ctypes.CDLL(None, use_errno=True)

		def native(*call):
		    return -ctypes.get_errno() if libc.syscall(*call) < 0 else 0

		# Make a call as 32-bit programs of x86 make it, with two arguments.
		def small(*call):
		    code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
		    # push rbx; mov eax, edi; mov ebx, esi; mov ecx, edx; int 0x80; pop rbx; ret
		    code.write(bytes.fromhex("53 89f8 89f3 89d1 cd80 5b c3"))
		    address = ctypes.addressof(ctypes.c_char.from_buffer(code))
		    return ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.c_int] * 3)(address)(*call)

		machine = platform.machine()
		first = {"x86_64": 248, "ppc64le": 269, "s390x": 278}.get(machine, 217)
		results = [native(first, b"user", b"adkfs-test", b"x", 1, -4),
		           native(first + 1, b"user", b"adkfs-test", None, -4), native(first + 2, 0, -4, 0)]
		if machine == "x86_64":
		    results += [native(0x40000000 + first + 2, 0, -4, 0), small(288, 0, -4)]
		print({os.strerror(-r) for r in results})
	E
	same "{'Operation not permitted'}" "$(run_inside "/usr/bin/python3 $AGENTS/shell/keys.py")"
}

@test "the network: none, unless the declaration says so" {
	model_serve '[{"text": "x"}]'
	daemon_start
	session shell ann s1
	local try="bash -c ': < /dev/tcp/127.0.0.1/$PORT' && echo reached"
	[[ $(run_inside "$try") == 'error: exit status 1: '*'Connection refused'* ]]
	same reached "$(run_inside "net $try")"
	same lo "$(run_inside 'sed -n "s/: .*//p" /proc/net/dev | xargs')"
	same 'false true' "$(jq -r '[.tools[].network | tostring] | sort | join(" ")' "$MNT/apps/shell/agent.json")"
	echo '{"description": "x", "network": "yes"}' > "$AGENTS/shell/tools/sh.json"
	eventually 5 grep -q 'tools/sh.json:1: network: must be true or false' "$MNT/apps/shell/agent.json"
}

@test "the environment holds nothing of the daemon's" {
	export MY_SECRET=of-the-daemon OPENAI_API_KEY=sk-of-the-daemon-0123456789
	daemon_start
	session shell ann s1
	same 'ADKFS_SESSION ADK_AGENT_NAME ADK_APP_NAME ADK_FUNCTION_CALL_ID ADK_INVOCATION_ID ADK_SESSION_ID ADK_USER_ID HOME LANG PATH PWD TMPDIR' \
		"$(run_inside 'env | cut -d = -f 1 | grep -vx ADK_CONTEXT | sort | xargs')"
	same '/tmp /tmp' "$(run_inside 'echo $HOME $TMPDIR')"
	same "$S" "$(run_inside 'echo $ADKFS_SESSION')"
	same 0 "$(run_inside 'cat /proc/*/environ | grep -c of-the-daemon | jq .')"
}

@test "the sandbox reports how a program ends as it is without a sandbox" {
	daemon_start
	session shell ann s1
	same 'error: exit status 3: oh' "$(run_inside 'echo oh >&2; exit 3')"
	same 'error: killed by SIGSEGV' "$(run_inside 'kill -SEGV $$')"
	same 'error: killed by SIGKILL' "$(run_inside 'kill -KILL $$')"
	same 'error: exit status 255' "$(run_inside 'exit 255')"
	printf '#!/nowhere/sh\n' > "$AGENTS/shell/tools/sh"
	same 'error: the program cannot be started: its interpreter /nowhere/sh does not exist in the sandbox' "$(run_inside true)"
	same null "$(run_inside 'net true')"
	# what it leaves behind goes with it, however far it got away
	run_inside "net setsid sleep $SLEEP < /dev/null > /dev/null 2>&1 &"
	eventually 10 sleeps_no_more
}

@test "cancel ends a program with all its descendants" {
	daemon_start
	session shell ann s1
	echo "setsid sleep $SLEEP & (setsid sleep $SLEEP &) ; trap 'echo word >&2; exit' TERM; while :; do sleep 0.1; done" > input
	eventually 20 sleeps
	echo cancel > ctl
	timeout 20 cat wait
	same 'failed 1' "$(cat status)"
	eventually 10 sleeps_no_more
	# and one that ignores TERM
	echo "trap '' TERM; setsid sleep $SLEEP & while :; do sleep 1; done" > input
	eventually 20 sleeps
	echo cancel > ctl
	timeout 20 cat wait
	eventually 10 sleeps_no_more
}

@test "a daemon that dies takes its programs with it" {
	daemon_start
	session shell ann s1
	echo "trap '' TERM; setsid sleep $SLEEP & while :; do sleep 1; done" > input
	eventually 20 sleeps
	daemon_kill
	eventually 10 sleeps_no_more
}

@test "the files of a mapped user, when root runs the daemon" {
	[ "$(id -u)" = 0 ] || skip "needs root"
	daemon_start -o allow_other --map-user ann=1234:1234
	session shell ann s1
	same 1234 "$(stat -c %u .)"
	same 7 "$(run_inside 'echo 7 > $ADKFS_SESSION/state/x.json; cat $ADKFS_SESSION/state/x.json')"
	same 7 "$(cat state/x.json)"
	same 0000000000000002 "$(run_inside 'sed -n "s/^CapEff:[[:space:]]*/x/p" /proc/self/status' | tr -d x)"
}

@test "without bwrap: auto goes on without a sandbox and says so" {
	without_bwrap
	daemon_start
	ADKFS=$REAL
	sandbox_is none
	same 'bwrap (bubblewrap) is not in PATH' "$(jq -r .sandbox.reason "$MNT/.adkfs/config.json")"
	session shell ann s1
	echo seen > "$OUTSIDE/file"
	same seen "$(run_inside "cat $OUTSIDE/file")"
}

@test "a bwrap that does not work counts as missing, and its error is reported" {
	without_bwrap
	printf '#!/bin/sh\necho "bwrap: no way" >&2\nexit 1\n' > "$TMP/bin/bwrap"
	chmod +x "$TMP/bin/bwrap"
	daemon_start
	sandbox_is none
	same "$TMP/bin/bwrap does not work here: bwrap: no way" \
		"$(jq -r .sandbox.reason "$MNT/.adkfs/config.json")"
	daemon_stop
	run "$ADKFS" mount --sandbox=bwrap --store "$STORE" "$MNT"
	same 1 "$status"
	same "adkfs mount: --sandbox: $TMP/bin/bwrap does not work here: bwrap: no way" "$output"
	not is_mounted "$MNT"
	ADKFS=$REAL
}

@test "--sandbox=bwrap fails without bwrap; none uses none; any other word is refused" {
	without_bwrap
	run "$ADKFS" mount --sandbox=bwrap --store "$STORE" "$MNT"
	same 1 "$status"
	same 'adkfs mount: --sandbox: bwrap (bubblewrap) is not in PATH' "$output"
	not is_mounted "$MNT"
	ADKFS=$REAL
	run "$ADKFS" mount --sandbox=docker "$MNT"
	same 2 "$status"
	[[ $output == *"--sandbox takes auto, bwrap or none, not 'docker'"* ]]
	daemon_start --sandbox none
	sandbox_is none
	same 'it was not asked for' "$(jq -r .sandbox.reason "$MNT/.adkfs/config.json")"
	daemon_stop
	daemon_start --sandbox=bwrap
	sandbox_is bwrap
}

@test "unmounting ends running programs, whoever unmounts" {
	local how

	for how in "$ADKFS umount" "umount" "umount -l"; do
		daemon_start
		session shell ann s1
		echo "setsid sleep $SLEEP & while :; do sleep 1; done" > input
		eventually 20 sleeps
		cd "$TMP"
		timeout 20 $how "$MNT"
		eventually 20 test -e "$TMP/daemon.status"
		daemon_ended 0
		eventually 10 sleeps_no_more
	done
	daemon_start
	session shell ann s1
	same 'failed 3' "$(cat status)"
}

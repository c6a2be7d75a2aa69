# Directories: made, listed, copied and removed by the programs that people use.
load lib/mount

setup() {
	mount_setup
	SESSIONS=$MNT/apps/echo/users/ann/sessions
}

# many COUNT: sessions with something in them.
many() {
	timeout 60 python3 "$ROOT/tests/scenarios/lib/directories_sessions.py" "$MNT" "$1"
}

# What the logs hold, and how many sessions and versions there are.
digest() {
	find "$MNT/apps" -name events.jsonl -exec cat {} + | sort | sha256sum
	find "$MNT/apps" | wc -l
	find "$MNT/apps" -path '*/artifacts/*' -type f -printf '%i %s %T@\n' | sort | sha256sum
}

# The time of a session may be told some milliseconds late.
is_newest() {
	[ "$(ls -t "$SESSIONS" | head -n 1)" = "$1" ]
}

@test "mkdir -p, rmdir -p and their errors" {
	mkdir -p "$SESSIONS/a" "$SESSIONS/b"
	mkdir -p "$SESSIONS/a"
	refused EEXIST mkdir "$SESSIONS/a"
	refused ENOENT mkdir "$SESSIONS/missing/deeper"
	refused EPERM mkdir "$SESSIONS/a/deeper"
	refused EPERM mkdir "$MNT/apps/echo/other"
	refused ENOENT rmdir "$SESSIONS/missing"
	refused ENOTEMPTY rmdir "$MNT/apps/echo/users/ann"
	refused ENOTEMPTY rmdir "$MNT/apps/echo"
	refused EPERM rmdir "$SESSIONS"
	refused EPERM mv "$SESSIONS/a" "$SESSIONS/c"
	refused EPERM mv "$MNT/apps/echo/users/ann" "$MNT/apps/echo/users/bob"
	same "a b" "$(ls "$SESSIONS" | xargs)"
	rmdir "$SESSIONS/a" "$SESSIONS/b" "$MNT/apps/echo/users/ann"
	[ ! -e "$MNT/apps/echo/users/ann" ]
}

@test "ls -t: the session that was used last comes first" {
	for s in one two three; do
		mkdir -p "$SESSIONS/$s"
	done
	same "three two one" "$(ls -t "$SESSIONS" | xargs)"
	echo 1 > "$SESSIONS/one/state/x.json"
	eventually 5 is_newest one
	(cd "$SESSIONS/two" && say hi)
	eventually 5 is_newest two
	same "two one three" "$(ls -t "$SESSIONS" | xargs)"
	same "three one two" "$(ls -tr "$SESSIONS" | xargs)"
	cat "$SESSIONS/three/events.jsonl" "$SESSIONS"/*/session.json > /dev/null
	same "two one three" "$(ls -t "$SESSIONS" | xargs)"
}

@test "10,000 sessions: a name that stays is listed once while others come and go" {
	mkdir -p "$SESSIONS/.."
	(cd "$SESSIONS" && seq -f 's%05g' 10000 | xargs mkdir)
	timeout 100 python3 "$ROOT/tests/scenarios/lib/directories_listing.py" "$SESSIONS" 5
	same 5000 "$(ls "$SESSIONS" | grep -c '[13579]$')"
}

@test "keys and artifacts that stay are listed while others come and go" {
	session
	python3 -c 'import json; json.dump({"k%d" % n: n for n in range(500)}, open("state.json", "w"))'
	mkdir artifacts/d
	touch artifacts/d/f{1..300}
	for folder in state artifacts/d; do
		timeout 60 python3 - "$folder" <<-'PY'
			import multiprocessing, os, sys, time
			folder = sys.argv[1]
			names = sorted(os.listdir(folder))
			staying, going = set(names[::2]), names[1::2]
			end = time.monotonic() + 1.5
			def churn():
			    while time.monotonic() < end:
			        for name in going:
			            os.unlink(folder + "/" + name)
			        for name in going:
			            open(folder + "/" + name, "w").write("1")
			writer = multiprocessing.Process(target=churn)
			writer.start()
			while writer.is_alive():
			    seen = [n for n in os.listdir(folder) if n in staying]
			    assert len(seen) == len(staying) == len(set(seen)), (len(seen), len(staying))
			assert writer.exitcode == 0
			assert sorted(os.listdir(folder)) == names
		PY
	done
}

# bats test_tags=foreign
@test "find, du, tar, cp, rsync, git and grep over a whole mount change nothing" {
	many 300
	cd "$MNT"
	before=$(digest)
	find . -type f -exec cat {} + > "$TMP/all"
	find . -ls > /dev/null
	du -sh . > /dev/null
	grep -r 'needle 123"' apps > "$TMP/found"
	same 2 "$(wc -l < "$TMP/found")"
	mkdir "$TMP"/{tar,cp,rsync}
	tar -cf "$TMP/apps.tar" apps
	tar -xf "$TMP/apps.tar" -C "$TMP/tar"
	cp -a apps "$TMP/cp"
	rsync -a apps "$TMP/rsync"
	for copy in tar cp rsync; do
		diff -r --no-dereference apps "$TMP/$copy/apps"
	done
	same '' "$(rsync -ai apps "$TMP/rsync")"
	same "$(find apps -printf '%p %s %y\n' | grep -v 'd$' | sort)" \
		"$(cd "$TMP/cp" && find apps -printf '%p %s %y\n' | grep -v 'd$' | sort)"
	export GIT_DIR=$TMP/git GIT_WORK_TREE=$MNT GIT_CONFIG_GLOBAL=/dev/null
	git init -q
	git add apps
	git -c user.name=t -c user.email=t@localhost commit -q -m all
	same '' "$(git status --short apps)"
	same "$(git ls-files -s | wc -l)" "$(find apps -type f -o -type l | wc -l)"
	same "$before" "$(digest)"
	sizes_are_true "$SESSIONS/../../u0"
	same '"u0"' "$(jq .userId apps/echo/users/u0/sessions/s0/session.json)"
}

@test "cp -r of a session's state and artifacts makes another one" {
	session
	echo '{"a": 1.50, "user:u": "x"}' > state.json
	mkdir artifacts/d
	seq 1000 > artifacts/d/f
	echo two > artifacts/g
	mkdir ../s2
	cp -r state/a.json ../s2/state/
	cp -r artifacts/d artifacts/g ../s2/artifacts/
	cat events.jsonl > "$TMP/log"
	cmp artifacts/d/f ../s2/artifacts/d/f
	same 1.50 "$(cat ../s2/state/a.json)"
	same '{"a":1.50,"user:u":"x"}' "$(cat ../s2/state.json)"
	cmp "$TMP/log" events.jsonl
}

@test "rm -r of a session removes that session alone" {
	session
	say hi
	echo '{"own": 1, "user:u": 2, "app:a": 3}' > state.json
	mkdir artifacts/d
	touch artifacts/d/f artifacts/g artifacts/user:shared
	cd "$SESSIONS"
	mkdir other
	rm -r s1
	[ ! -e s1 ]
	same other "$(ls)"
	same "2 3" "$(cat ../state/u.json ../../../state/a.json | xargs)"
	[ -e ../artifacts/shared ]
	[ -e other/artifacts/user:shared ]
	mkdir s1
	same '{"app:a":3,"user:u":2}' "$(cat s1/state.json)"
	same 0 "$(stat -c %s s1/events.jsonl)"
	[ ! -e s1/turns/1 ]
	same 'idle' "$(cat s1/status)"
	same 'artifacts events.jsonl input output session.json state state.json status turns wait' \
		"$(ls s1 | grep -vx -e ctl -e input.json -e attachments -e 'transcript.*' -e 'trace.json' -e usage.json | xargs)"
}

@test "rm -r of a user removes the sessions and refuses the rest" {
	many 12
	run rm -r "$MNT/apps/echo/users/u0"
	[ "$status" -ne 0 ]
	[[ $output != *'No such file'* ]]
	[[ $output == *'Operation not permitted'* ]]
	same '' "$(ls "$MNT/apps/echo/users/u0/sessions")"
	rmdir "$MNT/apps/echo/users/u0"
	[ ! -e "$MNT/apps/echo/users/u0" ]
	same 1 "$(ls "$MNT/apps/echo/users/u1/sessions" | grep -c s11)"
}

@test "a session can be removed while it has readers, writers and a turn" {
	for round in 1 2 3; do
		session slow ann gone
		touch artifacts/f
		echo 1 > state/x.json
		echo forever > input
		eventually 10 test -s output
		readers=()
		for file in output wait turns/1/stream.jsonl turns/1/output; do
			background cat $file > /dev/null
			readers+=("$PID")
		done
		background tail -n +1 -f events.jsonl > /dev/null
		eventually 20 jq -e '.parked >= 4' "$MNT/.adkfs/stats.json"
		exec 5>> events.jsonl 6> artifacts/f 7> state/x.json 8< events.jsonl 9> input
		cd "$TMP"
		if [ $round = 2 ]; then rm -r "$S"; else rmdir "$S"; fi
		for pid in "${readers[@]}"; do
			eventually 10 gone "$pid"
		done
		[ ! -e "$S" ]
		event late > "$TMP/late"
		run bash -c "cat '$TMP/late' >&5"
		[[ $output == *'Stale file handle'* ]]
		run bash -c 'echo 2 >&7; cat <&8'
		[ "$status" -ne 0 ]
		run bash -c 'head -c 70000 /dev/zero | tr "\0" x | cat >&6'
		mkdir "$S"
		same '' "$(cat "$S/events.jsonl" "$S/output")"
		same '' "$(ls "$S/artifacts" "$S/state" | grep -v : | xargs)"
		exec 5>&- 6>&- 8<&- || :
		exec 7>&- || :
		echo too late >&9 || :
		exec 9>&-
		same idle "$(cat "$S/status")"
		same 0 "$(stat -c %s "$S/events.jsonl")"
		eventually 20 jq -e '.parked == 0 and .turns.running == 0' "$MNT/.adkfs/stats.json"
		kill "${BACKGROUND[@]}" 2> /dev/null || :
		wait "${BACKGROUND[@]}" || :
		BACKGROUND=()
		rmdir "$S"
	done
}

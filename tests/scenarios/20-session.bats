# Apps, users and sessions as directories.
load lib/mount

setup() {
	mount_setup
	USERS=$MNT/apps/echo/users
}

@test "mkdir -p makes app, user and session at once" {
	mkdir -p "$MNT/apps/new/users/ann/sessions/s1"
	[ -d "$MNT/apps/new/users/ann/sessions/s1" ]
	same new "$(ls "$MNT/apps" | grep new)"
	mkdir -p "$MNT/apps/new/users/ann/sessions/s1"
}

@test "a new session has these files" {
	session
	same "artifacts attachments ctl events.jsonl input input.json output session.json state state.json status trace.json transcript.html transcript.md turns usage.json wait" \
		"$(ls | xargs)"
	same idle "$(cat status)"
	same '{}' "$(cat state.json)"
	[ ! -s events.jsonl ]
	[ ! -s output ]
	same '' "$(cat output)"
	same idle "$(cat wait)"
}

@test "mkdir of a directory that exists is EEXIST" {
	session
	refused EEXIST mkdir "$S"
	refused EEXIST mkdir "$MNT/apps/echo/users/ann"
	refused EEXIST mkdir "$MNT/apps/echo"
}

@test "nothing can be made beside apps, users and sessions" {
	session
	for place in "$MNT/x" "$MNT/apps/echo/x" "$USERS/ann/x" "$S/x" "$S/turns/7"; do
		run mkdir "$place"
		[ "$status" -ne 0 ]
		run touch "$place"
		[ "$status" -ne 0 ]
	done
	for place in "$MNT/apps/f" "$USERS/f" "$USERS/ann/sessions/f"; do
		run touch "$place"
		[ "$status" -ne 0 ]
	done
}

@test "rmdir removes a session with all it holds" {
	session
	echo 1 > state/x.json
	echo hello > artifacts/a.txt
	say hi
	cd "$USERS/ann/sessions"
	rmdir s1
	[ ! -e s1 ]
	same '' "$(ls)"
	mkdir s1
	[ ! -s s1/events.jsonl ]
	same '{}' "$(cat s1/state.json)"
	[ ! -e s1/artifacts/a.txt ]
	[ ! -e s1/turns/1 ]
}

@test "rmdir of a user with sessions or an app with users is ENOTEMPTY" {
	session
	cd "$TMP"
	refused ENOTEMPTY rmdir "$USERS/ann"
	[ -d "$S" ]
	mkdir -p "$MNT/apps/plain/users/u"
	refused ENOTEMPTY rmdir "$MNT/apps/plain"
	rmdir "$S" "$USERS/ann" "$MNT/apps/plain/users/u" "$MNT/apps/plain"
	[ ! -e "$USERS/ann" ]
	[ ! -e "$MNT/apps/plain" ]
}

@test "rm -r removes a session and nothing that others use" {
	session
	echo '"Ann"' > state/user:name.json
	echo '"blue"' > state/app:color.json
	echo '"mine"' > state/own.json
	echo report > artifacts/own.txt
	mkdir -p artifacts/deep/er
	echo deep > artifacts/deep/er/x
	echo shared > artifacts/user:shared.txt
	say hi
	cd "$USERS/ann/sessions"
	rm -r s1
	[ ! -e s1 ]
	same '"Ann"' "$(cat ../state/name.json)"
	same shared "$(cat ../artifacts/shared.txt)"
	same '"blue"' "$(cat "$MNT/apps/echo/state/color.json")"
}

@test "rm -rf of a user's sessions, with a second one beside it" {
	session echo ann s1
	say one
	session echo ann s2
	say two
	cd "$USERS/ann"
	rm -rf sessions/s1
	same s2 "$(ls sessions)"
	same 'you said two' "$(cat sessions/s2/output)"
}

@test "unlinking a file of the daemon's own hides it and destroys nothing" {
	session
	say hi
	before=$(cat events.jsonl)
	session=$(cat session.json)
	rm events.jsonl
	[ ! -e events.jsonl ]
	same "$session" "$(cat session.json)"
	echo hi > "$TMP/message"
	refused EPERM mv "$TMP/message" input # which removes it first
	same "input was removed; the name comes back within ten seconds" "$(tail -n 1 .errors | jq -r .error)"
	eventually 15 test -e events.jsonl
	same "$before" "$(cat events.jsonl)"
}

@test "ls -t lists the newest session first" {
	for id in a b c; do
		session echo ann $id
	done
	cd "$USERS/ann/sessions"
	same "c b a" "$(ls -t | xargs)"
	event one >> a/events.jsonl
	same "a c b" "$(ls -t | xargs)"
	echo 1 > b/state/x.json
	same "b a c" "$(ls -t | xargs)"
	(cd c && say hi)
	same "c b a" "$(ls -t | xargs)"
	daemon_restart
	cd "$USERS/ann/sessions"
	same "c b a" "$(ls -t | xargs)"
}

@test "a session's time is ADK's lastUpdateTime" {
	session
	event one >> events.jsonl
	same "$(jq '.lastUpdateTime | floor' session.json)" "$(stat -c %Y .)"
	same "$(jq .timestamp events.jsonl)" "$(jq .lastUpdateTime session.json)"
}

@test "file names show ids as they are, or with %XX" {
	session echo ann 'a%2Fb'
	same 'a/b' "$(jq -r .id session.json)"
	session echo ann '100%25'
	same '100%' "$(jq -r .id session.json)"
	session echo ann '%2E%2E'
	same '..' "$(jq -r .id session.json)"
	session echo ann 'with space & ünïcödé 😀'
	same 'with space & ünïcödé 😀' "$(jq -r .id session.json)"
	session echo ann.smith@example.com s
	same ann.smith@example.com "$(jq -r .userId session.json)"
	daemon_restart
	same "$(printf '%s\n' '%2E%2E' '100%25' 'a%2Fb' 'with space & ünïcödé 😀' | LC_ALL=C sort)" \
		"$(ls "$USERS/ann/sessions" | LC_ALL=C sort)"
}

@test "a session name that is not in its canonical spelling is EINVAL" {
	session
	for name in '%' '%4' '%zz' '%41' '%2f' 'a%' '%2E' $'\xff' $'a\xc3'; do
		[ "$name" != '%2E' ] || continue
		refused EINVAL mkdir "../$name"
	done
	same s1 "$(ls ..)"
}

@test "ids have up to 255 bytes" {
	session
	long=$(printf 'x%.0s' {1..255})
	mkdir "../$long"
	same "$long" "$(jq -r .id "../$long/session.json")"
	refused ENAMETOOLONG mkdir "../${long}x"
}

@test "apps, users and sessions cannot be renamed" {
	session
	cd ..
	refused EPERM mv s1 s2
	refused EPERM mv ../../ann ../../bob
	refused EPERM mv "$MNT/apps/echo" "$MNT/apps/other"
	mkdir s2
	refused EPERM python3 -c 'import os; os.rename("s1", "s2")'
	same "s1 s2" "$(ls | xargs)"
}

@test "session.json is the ADK session, and has its exact size" {
	session
	same "$(stat -c %s session.json)" "$(wc -c < session.json)"
	jq -e '.id == "s1" and .appName == "echo" and .userId == "ann" and .state == {} and .events == []' \
		session.json
	echo '{"a": [1, 2]}' > state/topic.json
	echo '"Ann"' > state/user:name.json
	echo '"x"' > state/app:x.json
	say hi
	for _ in 1 2 3; do
		say again
		same "$(stat -c %s session.json)" "$(wc -c < session.json)"
	done
	jq -e '.state == {"topic": {"a": [1, 2]}, "user:name": "Ann", "app:x": "x"}' session.json
	same "$(jq -c . events.jsonl)" "$(jq -c '.events[]' session.json)"
	same "$(tail -n 1 events.jsonl | jq .timestamp)" "$(jq .lastUpdateTime session.json)"
}

@test "session.json of 2000 events is whole" {
	session
	event 'some text' > "$TMP/line"
	yes "$(cat "$TMP/line")" | head -n 2000 > "$TMP/lines"
	cat "$TMP/lines" >> events.jsonl
	same 2000 "$(jq '.events | length' session.json)"
	same "$(stat -c %s session.json)" "$(wc -c < session.json)"
	same "$(cat session.json | md5sum)" "$(dd if=session.json bs=777 status=none | md5sum)"
}

@test "sizes are true for every file" {
	session weather
	echo '"Ann"' > state/user:name.json
	say 'What is the weather in Lima?'
	echo '{bad' > state/x.json || :
	echo x > artifacts/user:x
	session echo bob s2
	say hi
	sizes_are_true "$MNT"
	daemon_restart
	sizes_are_true "$MNT"
}

@test "reading everything changes nothing" {
	session weather
	say 'What is the weather in Lima?'
	before=$(cat session.json)
	timeout 60 find "$MNT" -type f -perm -400 -exec cat {} + > /dev/null
	timeout 60 grep -r nothing "$MNT" || :
	timeout 60 tar -C "$S" -cf - . > /dev/null 2>&1 || :
	same "$before" "$(cat session.json)"
}

@test "inode numbers are the same after a remount" {
	session weather
	say 'What is the weather in Lima?'
	echo 1 > state/x.json
	(cd "$MNT" && find . -printf '%i %p\n' | sort -k 2) > "$TMP/before"
	daemon_restart
	(cd "$MNT" && find . -printf '%i %p\n' | sort -k 2) > "$TMP/after"
	diff "$TMP/before" "$TMP/after"
}

@test "inode numbers are unique" {
	session weather
	say 'What is the weather in Lima?'
	session weather bob s2
	say 'What is the weather in Cairo?'
	same '' "$(find "$MNT" -printf '%i\n' | sort | uniq -d)"
}

@test "d_type and inode numbers of a listing are those of stat" {
	session weather
	say 'What is the weather in Lima?'
	python3 - "$S" <<-'PY'
		import os, sys
		for place, dirs, files in os.walk(sys.argv[1]):
		    for e in os.scandir(place):
		        st = os.lstat(e.path)
		        assert e.inode() == st.st_ino, e.path
		        assert e.is_dir(follow_symlinks=False) == os.path.isdir(e.path) or e.is_symlink(), e.path
		        assert e.is_symlink() == os.path.islink(e.path), e.path
	PY
}

@test "1000 sessions are listed once each" {
	mkdir -p "$USERS/ann/sessions"
	(cd "$USERS/ann/sessions" && seq -f 's%04g' 1000 | xargs mkdir)
	same 1000 "$(ls "$USERS/ann/sessions" | sort -u | wc -l)"
	same 1000 "$(ls -U "$USERS/ann/sessions" | wc -l)"
	(cd "$USERS/ann/sessions" && seq -f 's%04g' 1000 | xargs rmdir)
	same 0 "$(ls -U "$USERS/ann/sessions" | wc -l)"
}

@test "a session removed while its files are open: the files fail, nothing hangs" {
	session
	say hi
	exec 8< events.jsonl
	cd "$TMP"
	rmdir "$S"
	run timeout 10 bash -c 'cat <&8'
	[ "$status" -ne 124 ]
	exec 8<&-
	[ ! -e "$S" ]
	mkdir "$S"
	[ ! -s "$S/events.jsonl" ]
}

@test "everything survives a remount" {
	session
	echo '[1, 2]' > state/x.json
	say hi
	before=$(cat session.json)
	daemon_restart
	back
	same "$before" "$(cat session.json)"
	same 'you said hi' "$(cat output)"
	same '[1, 2]' "$(cat state/x.json)"
	same idle "$(cat status)"
	say again
	same 'you said again' "$(cat output)"
	same 2 "$(readlink turns/latest)"
}

@test "df and stat -f answer" {
	df "$MNT"
	stat -f "$MNT"
}

@test "modes: private to the daemon's user" {
	session
	same 700 "$(stat -c %a .)"
	same 700 "$(stat -c %a "$USERS/ann")"
	same 600 "$(stat -c %a events.jsonl)"
	[ -z "$(find . -perm /077 ! -type l)" ]
	same "$(id -u)" "$(stat -c %u events.jsonl)"
}

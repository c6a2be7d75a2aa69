# State: a value a file, in three scopes.
load lib/mount

setup() {
	mount_setup
	session
}

last_delta() {
	tail -n 1 events.jsonl | jq -c .actions.stateDelta
}

# refused_write TEXT: a shell's echo into state/x.json fails.
refused_write() {
	run env TEXT="$1" bash -c 'printf "%s\n" "$TEXT" > state/x.json'
	[ "$status" -ne 0 ]
}

@test "write, read and remove a value" {
	echo '"cats"' > state/topic.json
	same '"cats"' "$(cat state/topic.json)"
	same topic.json "$(ls state)"
	echo '{"a": [1, 2.50, null]}' > state/topic.json
	same '{"a": [1, 2.50, null]}' "$(cat state/topic.json)"
	rm state/topic.json
	[ ! -e state/topic.json ]
	same '' "$(ls state)"
	refused ENOENT rm state/topic.json
}

@test "a value without a newline, and one with white space around it" {
	printf 17 > state/n.json
	same 17 "$(cat state/n.json)"
	same 3 "$(stat -c %s state/n.json)"
	printf '\n\n  true \n\n' > state/b.json
	same true "$(jq . state/b.json)"
	same "$(stat -c %s state/b.json)" "$(cat state/b.json | wc -c)"
}

@test "values keep their text: numbers, white space, order of members" {
	for text in 1.0 1e400 -0 0.1000 12345678901234567890123 '{"b": 1,   "a":[ ]}' \
		'"\u00e9 \/ \n"' '"é 😀"' null false; do
		echo "$text" > state/x.json
		same "$text" "$(cat state/x.json)"
	done
	daemon_restart
	back
	same false "$(cat state/x.json)"
}

@test "a syntax error fails the write itself, keeps the old value, and is in .errors" {
	echo '"old"' > state/x.json
	run bash -c "echo '{bad' > state/x.json"
	[ "$status" -ne 0 ]
	[[ $output == *'Invalid argument'* ]]
	same '"old"' "$(cat state/x.json)"
	tail -n 1 .errors | jq -e '.name == "state/x.json" and .errno == "EINVAL" and (.error | length > 5)'
	same 1 "$(wc -l < events.jsonl)"
}

@test "a syntax error in a new file leaves no file" {
	refused_write '{bad'
	[ ! -e state/x.json ]
	same '' "$(ls state)"
	same '{}' "$(cat state.json)"
	[ ! -s events.jsonl ]
}

@test "anything but one JSON value is refused" {
	echo '"old"' > state/x.json
	for text in '{bad' "{'a': 1}" '[1,]' '1 2' '{"a":1} x' 'nul ' NaN Infinity 01 +1 .5 '"\x"' \
		'"\ud800"' '// no' '{"a":1,}' $'"\xff"' $'"\xc3("' $'"tab\there"' '{}{}'; do
		refused_write "$text"
		same '"old"' "$(cat state/x.json)"
	done
	same 1 "$(wc -l < events.jsonl)"
}

@test "an incomplete value fails the close" {
	echo '"old"' > state/x.json
	python3 - <<-'PY'
		import errno, os
		fd = os.open("state/x.json", os.O_WRONLY | os.O_TRUNC)
		assert os.write(fd, b'{"a": [1,') == 9
		try:
		    os.close(fd)
		    raise SystemExit("close worked")
		except OSError as e:
		    assert e.errno == errno.EINVAL, e
	PY
	same '"old"' "$(cat state/x.json)"
	tail -n 1 .errors | jq -e '.name == "state/x.json" and .errno == "EINVAL"'
}

@test "a value in pieces is one value and one event" {
	python3 - <<-'PY'
		import os
		fd = os.open("state/x.json", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
		for c in b'{"a": [1, 2]}\n':
		    os.write(fd, bytes([c]))
		os.close(fd)
	PY
	same '{"a": [1, 2]}' "$(cat state/x.json)"
	{ echo '['; echo '1]'; } > state/y.json
	same '[1]' "$(jq -c . state/y.json)"
	same 2 "$(wc -l < events.jsonl)"
}

@test "touch and truncation to nothing change nothing" {
	echo '"old"' > state/x.json
	: > state/x.json
	truncate -s 0 state/x.json
	same '"old"' "$(cat state/x.json)"
	touch state/new.json
	daemon_restart
	back
	[ ! -e state/new.json ]
	same '"old"' "$(cat state/x.json)"
	same 1 "$(wc -l < events.jsonl)"
}

@test "depth over 128 is refused, 128 is fine" {
	python3 -c 'print("[" * 128 + "]" * 128)' > "$TMP/fine"
	python3 -c 'print("[" * 129 + "]" * 129)' > "$TMP/deep"
	cat "$TMP/fine" > state/x.json
	same "$(cat "$TMP/fine")" "$(cat state/x.json)"
	refused EINVAL bash -c "cat '$TMP/deep' > state/x.json"
	same "$(cat "$TMP/fine")" "$(cat state/x.json)"
}

@test "a value of 1 MiB is fine, one byte more is EFBIG" {
	python3 -c 'print("\"" + "x" * (1048576 - 2) + "\"", end="")' > "$TMP/fine"
	python3 -c 'print("\"" + "x" * (1048576 - 1) + "\"", end="")' > "$TMP/large"
	cat "$TMP/fine" > state/x.json
	same 1048577 "$(stat -c %s state/x.json)"
	same 1048577 "$(cat state/x.json | wc -c)"
	refused EFBIG bash -c "cat '$TMP/large' > state/y.json"
	[ ! -e state/y.json ]
	refused EFBIG bash -c "cat '$TMP/large' > state/x.json"
	same 1048577 "$(cat state/x.json | wc -c)"
	tail -n 1 .errors | jq -e '.errno == "EFBIG"'
}

@test "keys with characters that a file name cannot hold" {
	echo 1 > state/a%2Fb.json
	echo 2 > 'state/with space.json'
	echo 3 > state/topic.json.json
	echo 4 > 'state/ünï.json'
	same '{"a/b":1,"topic.json":3,"with space":2,"ünï":4}' "$(jq -Sc . state.json)"
	refused EINVAL touch state/%zz.json
	refused EINVAL touch state/%41.json
}

@test "each change is an event with a stateDelta" {
	echo '{"a": 1}' > state/x.json
	same '{"x":{"a":1}}' "$(last_delta)"
	tail -n 1 events.jsonl | jq -e '.author == "user" and .id and .timestamp and (.content | not)'
	echo 2 > state/user:y.json
	same '{"user:y":2}' "$(last_delta)"
	echo 3 > state/app:z.json
	same '{"app:z":3}' "$(last_delta)"
	same 3 "$(wc -l < events.jsonl)"
}

@test "deleting a key appends a null and a mark; a null alone is a value" {
	echo null > state/x.json
	same '{"x":null}' "$(last_delta)"
	same null "$(cat state/x.json)"
	tail -n 1 events.jsonl | jq -e '.customMetadata | not'
	rm state/x.json
	same '{"x":null}' "$(last_delta)"
	tail -n 1 events.jsonl | jq -e '.customMetadata["adkfs.deleted"] == ["x"]'
	same '{}' "$(cat state.json)"
	daemon_restart
	back
	[ ! -e state/x.json ]
}

@test "user: and app: keys are links to where they are" {
	echo '"Ann"' > ../../state/name.json
	echo '"blue"' > "$MNT/apps/echo/state/color.json"
	same "app:color.json user:name.json" "$(ls state | xargs)"
	[ -L state/user:name.json ]
	same ../../../state/name.json "$(readlink state/user:name.json)"
	same '"Ann"' "$(cat state/user:name.json)"
	same '"blue"' "$(cat state/app:color.json)"
	same "$(readlink -f ../../state/name.json)" "$(readlink -f state/user:name.json)"
	same '{"app:color":"blue","user:name":"Ann"}' "$(jq -Sc . state.json)"
	same '{"name":"Ann"}' "$(jq -c . ../../state.json)"
	[ ! -s events.jsonl ]
}

@test "creating user: and app: names in a session writes that scope" {
	echo '"Ann"' > state/user:name.json
	echo '"blue"' > state/app:color.json
	[ -L state/user:name.json ]
	[ -L state/app:color.json ]
	same '"Ann"' "$(cat ../../state/name.json)"
	same '"blue"' "$(cat "$MNT/apps/echo/state/color.json")"
	echo '"Bob"' > state/user:name.json
	same '"Bob"' "$(cat ../../state/name.json)"
	[ -L state/user:name.json ]
}

@test "two sessions of a user share its state, two users do not" {
	first=$S
	session echo ann s2
	second=$S
	session echo bob s1
	echo '"Ann"' > "$first/state/user:name.json"
	same '"Ann"' "$(cat "$second/state/user:name.json")"
	same '"Ann"' "$(jq .state[] "$second/session.json")"
	[ ! -e "$S/state/user:name.json" ]
	echo '"Anna"' > "$second/state/user:name.json"
	same '"Anna"' "$(cat "$first/state/user:name.json")"
	same '{"user:name":"Anna"}' "$(jq -c . "$first/state.json")"
	echo 1 > "$first/state/app:n.json"
	same 1 "$(cat "$S/state/app:n.json")"
}

@test "removing a link of a session deletes nothing" {
	echo '"Ann"' > state/user:name.json
	rm state/user:name.json
	[ ! -e state/user:name.json ]
	same '"Ann"' "$(cat ../../state/name.json)"
	eventually 15 test -L state/user:name.json
	rm ../../state/name.json
	[ ! -L state/user:name.json ]
}

@test "temp: keys have no file and are never stored" {
	run bash -c 'echo 1 > state/temp:x.json'
	[ "$status" -ne 0 ]
	[ ! -e state/temp:x.json ]
	event hello '{"temp:x": 1, "y": 2}' >> events.jsonl
	same '{"y":2}' "$(last_delta)"
	same 2 "$(cat state/y.json)"
	not grep -q temp: events.jsonl session.json
}

@test "writing an object to state.json sets a key for each member, in one event" {
	echo 1 > state/kept.json
	echo '{"a": 1.0, "user:b": [2], "app:c": {"d": null}}' > state.json
	same '1.0' "$(cat state/a.json)"
	same '[2]' "$(cat ../../state/b.json)"
	jq -e '. == {"app:c": {"d": null}, "kept": 1, "a": 1, "user:b": [2]}' state.json
	same 2 "$(wc -l < events.jsonl)"
	same '["a","app:c","user:b"]' "$(tail -n 1 events.jsonl | jq -c '.actions.stateDelta | keys')"
	for bad in '[1]' '"x"' '{"a": }' '{"": 1}'; do
		echo "$bad" > "$TMP/bad"
		refused EINVAL cp "$TMP/bad" state.json
		refused EINVAL bash -c "cat '$TMP/bad' > state.json"
	done
	same 2 "$(wc -l < events.jsonl)"
}

@test "state.json: a write that cannot become an object fails at once" {
	for bad in '[1]' '"x"' 17 '{"a": }'; do
		run env TEXT="$bad" bash -c 'echo "$TEXT" > state.json'
		[ "$status" -ne 0 ]
	done
	[ ! -s events.jsonl ]
}

@test "state.json of a user or an app changes without an event" {
	echo '{"a": 1, "b": 2}' > ../../state.json
	same "a.json b.json" "$(ls ../../state | xargs)"
	echo '{"c": 3}' > "$MNT/apps/echo/state.json"
	same 3 "$(cat state/app:c.json)"
	same '{"app:c":3,"user:a":1,"user:b":2}' "$(jq -Sc . state.json)"
	[ ! -s events.jsonl ]
}

@test "an event's stateDelta is applied" {
	event one '{"a": 1, "user:b": "x", "app:c": [true]}' >> events.jsonl
	same 1 "$(cat state/a.json)"
	same '"x"' "$(cat state/user:b.json)"
	same '[true]' "$(cat "$MNT/apps/echo/state/c.json")"
}

@test "append and partial overwrite start from the old value" {
	printf '[1,2]' > state/x.json
	python3 - <<-'PY'
		import os
		fd = os.open("state/x.json", os.O_WRONLY)
		os.pwrite(fd, b"9", 1)
		os.close(fd)
	PY
	same '[9,2]' "$(cat state/x.json)"
}

@test "cached reads are never stale: each way to see a value, after each way to change it" {
	echo 0 > state/x.json
	echo 0 > state/user:u.json
	other=$MNT/apps/echo/users/ann/sessions/s2
	mkdir "$other"
	see() {
		cat state/x.json state/user:u.json ../../state/u.json "$other/state/user:u.json" | xargs
		jq -c '[.x, ."user:u"]' state.json
		jq -c '[.state.x, .state."user:u"]' session.json
		jq -c .u ../../state.json
		jq -c '.state."user:u"' "$other/session.json"
		stat -c %s state/x.json ../../state/u.json | xargs
	}
	want() {
		printf '%s\n' "$1 $2 $2 $2" "[$1,$2]" "[$1,$2]" "$2" "$2" "$((${#1} + 1)) $((${#2} + 1))"
	}
	see > /dev/null
	for n in 1 22 333 4444 5; do
		echo "$n" > state/x.json
		echo "$n" > ../../state/u.json
		same "$(want "$n" "$n")" "$(see)"
		echo "{\"x\": 1$n, \"user:u\": 2$n}" > state.json
		same "$(want "1$n" "2$n")" "$(see)"
		event t "{\"x\": 3$n, \"user:u\": 4$n}" >> events.jsonl
		same "$(want "3$n" "4$n")" "$(see)"
		echo "5$n" > "$other/state/user:u.json"
		same "$(want "3$n" "5$n")" "$(see)"
	done
}

@test "cached names are never stale: lookups that failed, and listings" {
	other=$MNT/apps/echo/users/ann/sessions/s2
	mkdir "$other"
	for n in 1 2 3 4 5; do
		[ ! -e state/k$n.json ]
		[ ! -e "$other/state/user:k$n.json" ]
		ls state "$other/state" ../../state > /dev/null
		event t "{\"k$n\": 1, \"user:k$n\": 2}" >> events.jsonl
		[ -e state/k$n.json ]
		[ -L "$other/state/user:k$n.json" ]
		same 2 "$(cat "$other/state/user:k$n.json")"
		same 1 "$(ls "$other/state" | grep -c "user:k$n")"
		same 1 "$(ls ../../state | grep -c "k$n")"
		rm "../../state/k$n.json" state/k$n.json
		[ ! -e state/k$n.json ]
		[ ! -L "$other/state/user:k$n.json" ]
		same '' "$(ls "$other/state")"
		echo 3 > "$other/state/user:k$n.json"
		same 3 "$(cat state/user:k$n.json)"
		rm "../../state/k$n.json"
	done
}

@test "a file that is open sees the new value" {
	echo 1 > state/x.json
	python3 - <<-'PY'
		import os
		fd = os.open("state/x.json", os.O_RDONLY)
		assert os.pread(fd, 100, 0) == b"1\n"
		with open("state/x.json", "w") as f:
		    f.write("[1, 2, 3]")
		assert os.pread(fd, 100, 0) == b"[1, 2, 3]\n", os.pread(fd, 100, 0)
		assert os.fstat(fd).st_size == 10
	PY
}

@test "4 writers to one key: the value is one of theirs, and the log has all" {
	for w in 1 2 3 4; do
		background bash -c "for i in {1..50}; do echo $w\$i > state/x.json; done"
	done
	wait "${BACKGROUND[@]}"
	BACKGROUND=()
	same 200 "$(wc -l < events.jsonl)"
	same "$(last_delta)" "{\"x\":$(cat state/x.json)}"
	same 200 "$(jq -r .actions.stateDelta.x events.jsonl | sort -u | wc -l)"
}

@test "500 keys" {
	seq -f '"k%g": 1' 500 | paste -sd, | sed 's/.*/{&}/' > state.json
	same 500 "$(ls state | wc -l)"
	same 500 "$(cat state/*.json | wc -l)"
	same 500 "$(jq length state.json)"
	rm state/*.json
	same '{}' "$(cat state.json)"
}

@test "tools that write a file beside and rename it" {
	echo '{"a": 1}' > state/x.json
	sed -i s/1/2/ state/x.json
	same '{"a": 2}' "$(cat state/x.json)"
	jq .a state/x.json > state/t
	mv state/t state/x.json
	same 2 "$(cat state/x.json)"
	perl -pi -e 's/2/3/' state/x.json
	same 3 "$(cat state/x.json)"
	same x.json "$(ls -A state)"
	python3 - <<-'PY'
		import os
		with open("state/x.json.lock", "x") as f:
		    f.write("4")
		    f.flush()
		    os.fsync(f.fileno())
		os.replace("state/x.json.lock", "state/x.json")
	PY
	same 4 "$(cat state/x.json)"
	same 4 "$(jq .x state.json)"
	same 5 "$(wc -l < events.jsonl)"
	same '{"x":4}' "$(last_delta)"
}

@test "a name that is no key is a scratch file: no state, no event, gone with the daemon" {
	echo 'not JSON' > state/notes
	echo more >> state/notes
	echo 1 > state/.x.json.swp
	same 'not JSON more' "$(cat state/notes | xargs)"
	same 14 "$(stat -c %s state/notes)"
	same '.x.json.swp notes' "$(ls -A state | xargs)"
	mv state/notes state/other
	same 'not JSON more' "$(cat state/other | xargs)"
	[ ! -e state/notes ]
	same '{}' "$(jq -c . state.json)"
	[ ! -s events.jsonl ]
	rm state/.x.json.swp
	same other "$(ls -A state)"
	daemon_restart
	back
	same '' "$(ls -A state)"
}

@test "a rename onto a key is refused like a write, and changes nothing" {
	echo 1 > state/x.json
	echo '{bad' > state/t
	run mv state/t state/x.json
	[ "$status" -ne 0 ]
	same 1 "$(cat state/x.json)"
	same '{bad' "$(cat state/t)"
	tail -n 1 .errors | jq -e '.errno == "EBADMSG" and .name == "state/t"'
	head -c 1100000 /dev/zero | tr '\0' 1 > state/t
	run mv state/t state/x.json
	[ "$status" -ne 0 ]
	: > state/t
	run mv state/t state/x.json
	[ "$status" -ne 0 ]
	same 1 "$(cat state/x.json)"
	same 1 "$(wc -l < events.jsonl)"
}

@test "a rename of a key is a new key and a deletion" {
	echo '[1, 2]' > state/a.json
	mv state/a.json state/b.json
	same '[1, 2]' "$(cat state/b.json)"
	same b.json "$(ls state)"
	same '{"b":[1,2]}' "$(jq -c . state.json)"
	mv state/b.json state/b.bak
	same '{}' "$(jq -c . state.json)"
	same '[1, 2]' "$(cat state/b.bak)"
	mv state/b.bak state/user:b.json
	same '[1, 2]' "$(cat ../../state/b.json)"
	[ -L state/user:b.json ]
	same '{"user:b":[1,2]}' "$(last_delta)"
	refused EPERM mv state/user:b.json state/c.json
}

@test "renames that are not allowed, and what mv does then" {
	echo 1 > state/a.json
	echo 2 > state/b.json
	mv -n state/a.json state/b.json
	same 2 "$(cat state/b.json)"
	python3 - <<-'PY'
		import ctypes, errno
		libc = ctypes.CDLL(None, use_errno=True)
		def rename(flags):
		    r = libc.renameat2(-100, b"state/a.json", -100, b"state/b.json", flags)
		    return r and errno.errorcode[ctypes.get_errno()]
		assert rename(1) == "EEXIST", rename(1)
		assert rename(2) == "EINVAL", rename(2)
	PY
	session echo ann s2
	mv ../s1/state/a.json state/
	same 1 "$(cat state/a.json)"
	[ ! -e ../s1/state/a.json ]
	refused EPERM mv ../s1/state ../s1/other
}

# bats test_tags=foreign
@test "editors: the old value stays until the new one is complete" {
	command -v vim > /dev/null && command -v ed > /dev/null || skip "vim or ed is missing"
	echo '{"a": 1}' > state/x.json
	vim -u NONE -es -c '%s/1/2/' -c wq state/x.json
	same '{"a": 2}' "$(cat state/x.json)"
	printf '%s\n' ',s/2/3/' w q | ed -s state/x.json
	same '{"a": 3}' "$(cat state/x.json)"
	same x.json "$(ls -A state)"
	jq -s -e 'map(.actions.stateDelta.x.a) == [1, 2, 3]' events.jsonl
}

@test "sessions do not see each other's scratch files, and it goes with them" {
	echo mine > state/t
	session echo ann s2
	[ ! -e state/t ]
	echo other > state/t
	same mine "$(cat ../s1/state/t)"
	rmdir ../s1
	mkdir ../s1
	[ ! -e ../s1/state/t ]
	same other "$(cat state/t)"
}

@test "ten thousand new keys in one event" {
	jq -nc '{author: "user", actions: {stateDelta: ([range(10000) | {key: "k\(.)", value: .}] | from_entries)}}' \
		>> events.jsonl
	same 10000 "$(ls state | wc -l)"
	jq -c 'map_values(. + 1)' state.json > "$TMP/map"
	cp "$TMP/map" state.json
	same 10000 "$(jq .k9999 state.json)"
	same 2 "$(wc -l < events.jsonl)"
}

@test "a scratch file lies in the directory of keys, not among the artifacts of the scope" {
	session
	echo note > state/notes.txt
	echo swap > state/.a.swp
	same '.a.swp notes.txt' "$(ls -A state | xargs)"
	same '' "$(ls -A artifacts)"
	same '' "$(find artifacts -mindepth 1)"
	refused ENOENT cat artifacts/notes.txt
	echo saved > artifacts/notes.txt
	echo other > artifacts/.a.swp
	same 1 "$(jq .version artifacts/.versions/notes.txt/1.json)"
	same 'note swap' "$(cat state/notes.txt state/.a.swp | xargs)"
	same 'saved other' "$(cat artifacts/notes.txt artifacts/.a.swp | xargs)"
	rm artifacts/.a.swp
	same '.a.swp notes.txt' "$(ls -A state | xargs)"
	rm state/.a.swp state/notes.txt
	same notes.txt "$(ls -A artifacts)"
	echo "user's" > ../../state/draft
	same '' "$(ls -A ../../artifacts)"
	mv ../../state/draft ../../state/.draft
	same .draft "$(ls -A ../../state)"
}

@test "an open file whose key is removed changes nothing, nor does one opened before the key existed" {
	session
	python3 - <<-'PY'
		import errno, os
		with open("state/k.json", "w") as f:
		    f.write("1")
		    f.flush()
		    try:
		        os.rename("state/k.json", "state/l.json")
		        raise SystemExit("renamed")
		    except OSError as e:
		        assert e.errno == errno.EBUSY
		    os.unlink("state/k.json")
		    assert not os.path.exists("state/k.json")
		    try:
		        os.unlink("state/k.json")
		        raise SystemExit("removed again")
		    except FileNotFoundError:
		        pass
		    f.write("2")
		assert os.listdir("state") == []
		with open("state/k.json", "w") as f:
		    f.write("3")
		with open("state/k.json", "w") as f:
		    f.write("4")
		    f.flush()
		    os.unlink("state/k.json")
		    f.write("5")
		assert os.listdir("state") == []
		with open("state/k.json", "w") as f:
		    f.write("3")
		os.rename("state/k.json", "state/l.json")
	PY
	same '{"l":3}' "$(jq -c . state.json)"
}

# Contexts: what a tool sees and changes while it runs, and what becomes of it.
load lib/mount

DAEMON_OPTIONS=(--sandbox=none) # the programs are files of the test


# tool [NAME] < SCRIPT: the program of a call, run in its context by bash -eu.
tool() {
	cat > "$TMP/${1:-tool}"
}

# Run it in a turn.
call() {
	say "run $TMP/tool"
	same '' "$(cat turns/latest/error)"
}

# What it printed, or why it failed.
result() {
	jq -r "select(.content.parts[0].functionResponse.id == \"${1:-first}\") |
		.content.parts[0].functionResponse.response | .result // .error" \
		turns/latest/events.jsonl
}

# The event with its answer.
answer() {
	jq -c 'select(.content.parts[0].functionResponse)' turns/latest/events.jsonl
}

# A tool that runs until let_go, with CTX as its context seen from here.
hold() {
	tool <<- E
		${1:-:}
		touch "$TMP/begun"
		until [ -e "$TMP/go" ]; do sleep 0.02; done
		${2:-:}
	E
	echo "run $TMP/tool" > input
	eventually 20 test -e "$TMP/begun"
	CTX=$PWD/turns/latest/context/first
}

let_go() {
	touch "$TMP/go"
	timeout 60 cat wait > /dev/null
	same '' "$(cat turns/latest/error)"
}

@test "a context has these files" {
	session programs ann s1
	tool <<- 'E'
		ls
		cat agent_name app_name user_id session_id function_call_id args.json actions.json
		cat user_content.json
		cat invocation_id
	E
	call
	same "actions.json agent_name app_name args.json artifacts function_call_id invocation_id \
memory session_id state state.json user_content.json user_id programs programs ann s1 first \
{\"file\":\"$TMP/tool\"} {} {\"parts\":[{\"text\":\"run $TMP/tool\"}],\"role\":\"user\"} \
$(cat turns/1/invocation_id)" "$(result | xargs -d '\n')"
}

@test "the context exists while the program runs" {
	session programs
	say nothing
	not grep -x context <(ls turns/1)
	refused ENOENT ls turns/1/context
	hold
	ls turns/2 | grep -x context
	same first "$(ls turns/2/context)"
	same "run $TMP/tool" "$(jq -r .parts[0].text "$CTX/user_content.json")"
	sizes_are_true "$CTX"
	refused ENOENT ls turns/1/context
	refused ENOENT ls turns/2/context/second
	refused EPERM mkdir turns/2/context/mine
	refused EACCES bash -c 'echo x > turns/2/context/first/args.json'
	refused EPERM bash -c 'echo x > turns/2/context/first/mine'
	let_go
	not grep -x context <(ls turns/2)
	refused ENOENT ls turns/2/context
	refused ENOENT cat "$CTX/args.json"
}

@test "state: read, write, make, remove" {
	session programs
	echo '{"a": 1, "b": "two", "user:u": [3], "app:p": null}' > state.json
	tool <<- 'E'
		ls state
		cat state/*.json
		echo '{"deep": [1.50]}' > state/a.json
		echo 7 > state/user:u.json
		echo 8 > state/app:p.json
		echo 9 > state/temp:t.json
		echo 10 > state/new.json
		rm state/b.json
		[ ! -e state/b.json ]
		cat state/a.json state/user:u.json state/app:p.json state/temp:t.json state/new.json
		cat "$ADKFS_SESSION/state.json"
	E
	call
	same 'a.json app:p.json b.json user:u.json 1 null "two" [3] {"deep":[1.50]} 7 8 9 10
		{"a":1,"b":"two","app:p":null,"user:u":[3]}' "$(result | xargs -d '\n' | sed 's/ {"a/\n\t\t{"a/')"
	same '{"a":{"deep":[1.50]},"new":10,"app:p":8,"user:u":7}' "$(cat state.json)"
	answer | jq -e '.actions.stateDelta == {"a": {"deep": [1.5]}, "b": null, "new": 10, "app:p": 8,
		"user:u": 7} and .customMetadata["adkfs.deleted"] == ["b"]'
}

@test "state: writes that are refused, and the reasons" {
	session programs
	echo 1 > state/a.json
	tool <<- 'E'
		no() { if "$@" 2> /dev/null; then echo "not refused: $*"; fi; }
		no bash -c 'echo "{bad" > state/a.json'
		python3 -c 'f = open("state/a.json", "w"); f.write("[1"); f.close()' 2>&1 | tail -n 1
		printf '[1' > state/a.json
		no bash -c 'echo 1 > state/user:.json'
		no bash -c 'echo "[1]" > state.json'
		no bash -c 'echo 1 > actions.json'
		no bash -c 'echo "{\"escalate\": 1}" > actions.json'
		no bash -c 'echo "{\"transferToAgent\": true}" > actions.json'
		no bash -c 'echo "{\"unheard\": true}" > actions.json'
		no rm state/missing.json
		: > state/a.json
		: > state/empty.json
		cat state/a.json actions.json
		ls state
	E
	call
	same "OSError: [Errno 22] Invalid argument 1 {} a.json" "$(result | xargs)"
	jq -r '"\(.name) \(.errno) \(.error)"' .errors > "$TMP/errors"
	grep -F 'turns/1/context/first/state/a.json EINVAL' "$TMP/errors"
	grep -F 'actions.json EINVAL actions.json must be an object' "$TMP/errors"
	grep -F 'actions.json EINVAL escalate must be true or false' "$TMP/errors"
	grep -F "actions.json EINVAL 'unheard' is not one of" "$TMP/errors"
	answer | jq -e '.actions.stateDelta == {}'
}

@test "state: files that become values when they are renamed" {
	session programs
	echo '{"n": 1}' > state/a.json
	tool <<- 'E'
		cd state
		jq -c '.n = 2' a.json > t && mv t a.json
		cat a.json
		sed -i 's/2/3/' a.json
		cat a.json
		mv a.json b.json
		ls
		mv b.json kept
		ls
		cat kept
		echo '{bad' > u
		mv u c.json 2>&1 | sed 's/.*: //'
		mv kept .hidden
		mv .hidden temp:x.json
		ls -A
		rm u
		ls -A
	E
	call
	same '{"n":2} {"n":3} b.json kept {"n":3} Bad message temp:x.json u temp:x.json' \
		"$(result | xargs -d '\n')"
	answer | jq -e '.actions.stateDelta == {"a": null, "b": null}'
	same '{}' "$(cat state.json)"
}

@test "state: every path shows the same" {
	session programs
	echo '{"k": 0, "user:k": 0}' > state.json
	tool <<- 'E'
		exec 3< state.json
		for i in $(seq 1 50); do
			v=$(printf "%${i}s" | tr ' ' "$((i % 10))")
			echo "\"$v\"" > state/k.json
			[ "$(stat -c %s state/k.json)" = $((i + 3)) ]
			[ "$(jq -r .k state.json)" = "$v" ]
			echo "{\"k\": \"$v$v\", \"temp:k\": $i}" > state.json
			[ "$(cat state/k.json)" = "\"$v$v\"" ]
			[ "$(stat -c %s state/k.json)" = $((2 * i + 3)) ]
			[ "$(cat state/temp:k.json)" = $i ]
			rm state/k.json
			[ ! -e state/k.json ]
			[ "$(jq -c 'has("k")' state.json)" = false ]
			[ "$(stat -c %s state.json)" = "$(wc -c < state.json)" ]
			! ls state | grep -qx k.json
		done
		python3 -c 'import os; print("open:", os.pread(3, 100, 0).decode(), end="")'
	E
	call
	same 'open: {"user:k":0,"temp:k":50}' "$(result)"
	same '{"user:k":0}' "$(cat state.json)"
}

@test "changes of the session are seen, changes of the call are not" {
	session programs
	echo 1 > state/a.json
	echo one > artifacts/x
	hold 'echo 5 > state/mine.json; echo mine > artifacts/mine; echo own > artifacts/own'
	same 1 "$(cat "$CTX/state/a.json")"
	same "a.json mine.json" "$(ls "$CTX/state" | xargs)"
	echo 22 > state/a.json
	echo 3 > state/user:b.json
	same 22 "$(cat "$CTX/state/a.json")"
	same 3 "$(stat -c %s "$CTX/state/a.json")"
	same "a.json mine.json user:b.json" "$(ls "$CTX/state" | xargs)"
	same '{"a":22,"user:b":3,"mine":5}' "$(cat "$CTX/state.json")"
	rm state/a.json
	refused ENOENT cat "$CTX/state/a.json"
	same "mine.json user:b.json" "$(ls "$CTX/state" | xargs)"

	same one "$(cat "$CTX/artifacts/x")"
	echo longer > artifacts/x
	same longer "$(cat "$CTX/artifacts/x")"
	same 7 "$(stat -c %s "$CTX/artifacts/x")"
	mkdir artifacts/d
	echo below > artifacts/d/y
	echo theirs > artifacts/own
	same "d mine own x" "$(ls "$CTX/artifacts" | xargs)"
	same below "$(cat "$CTX/artifacts/d/y")"
	same own "$(cat "$CTX/artifacts/own")"
	rm artifacts/x
	refused ENOENT cat "$CTX/artifacts/x"

	refused ENOENT cat state/mine.json
	refused ENOENT cat artifacts/mine
	same "d own" "$(ls artifacts | xargs)"
	let_go
	same 5 "$(cat state/mine.json)"
	same mine "$(cat artifacts/mine)"
	same own "$(cat artifacts/own)"
	same "theirs own" "$(cat artifacts/.versions/own/{1,2} | xargs)"
}

@test "artifacts: written files become versions with the event of the call" {
	session programs
	echo old > artifacts/old
	echo keep > artifacts/kept
	echo ours > artifacts/user:u
	tool <<- 'E'
		cd artifacts
		ls
		cat old user:u
		echo more >> old
		cat old
		mkdir -p reports/2026
		echo q1 > reports/2026/q1.txt
		mkdir empty
		echo user > user:new
		echo added >> user:u
		: > nothing
		echo scratch > .scratch
		echo tmp > .t && mv .t renamed
		exec 3<> kept 3>&-
		chmod 755 renamed
		find . -type f | sort
		cat "$ADKFS_SESSION/artifacts/old"
	E
	call
	same 'kept old user:u old ours old more ./.scratch ./kept ./nothing ./old ./renamed
./reports/2026/q1.txt ./user:new ./user:u old' "$(result | xargs -d '\n' | sed 's| ./rep|\n./rep|')"
	answer | jq -e '.actions.artifactDelta == {"old": 2, "reports/2026/q1.txt": 1, "user:new": 1,
		"user:u": 2, "nothing": 1, "renamed": 1}'
	same "old more" "$(xargs < artifacts/old)"
	same q1 "$(cat artifacts/reports/2026/q1.txt)"
	same user "$(cat ../../artifacts/new)"
	same "ours added" "$(xargs < artifacts/user:u)"
	same "kept nothing old renamed reports user:new user:u" "$(ls -A artifacts | xargs)"
	same 755 "$(stat -c %a artifacts/renamed)"
	same 0 "$(stat -c %s artifacts/nothing)"
	same text/plain "$(jq -r .mimeType artifacts/.versions/old/2.json)"
	same "1 1.json" "$(ls artifacts/.versions/kept | xargs)"
}

@test "artifacts: names that change" {
	session programs
	echo 1 > artifacts/a
	mkdir artifacts/d
	tool <<- 'E'
		cd artifacts
		no() { if "$@" 2> /dev/null; then echo "not refused: $*"; fi; }
		sed -i s/1/2/ a
		cat a
		rm a
		cat a
		no rm a
		no mv a b
		no rmdir d
		no mkdir d
		no mkdir .d
		no bash -c 'echo > d'
		echo 3 > a
		no mv a b
		echo 4 > .t
		mv .t a
		cat a
		echo 5 > c
		mv c d/c
		mv d/c e
		no mv -T e d
		mkdir f
		echo 6 > f/x
		no rmdir f
		mv f g
		rm -r g
		ls -R
		mv a "50%25 and more"
		cat a "50%25 and more"
	E
	call
	same '2 1 4 .: a d e ./d: 1 4' "$(result | grep . | xargs -d '\n')"
	answer | jq -e '.actions.artifactDelta == {"50% and more": 1, "e": 1}'
	jq -r '"\(.name) \(.error)"' .errors > "$TMP/errors"
	grep -F 'turns/1/context/first/artifacts/a a is a saved artifact' "$TMP/errors"
}

@test "artifacts: any way of writing" {
	session programs
	seq 1 1000 > artifacts/n
	cp artifacts/n "$TMP/n"
	tool <<- 'E'
		cd artifacts
		python3 - <<- 'P'
			import mmap, os
			f = os.open("n", os.O_RDWR)
			os.pwrite(f, b"XX", 10)
			assert os.pread(f, 4, 9) == b"\nXX7", os.pread(f, 4, 9)
			os.ftruncate(f, 2000)
			assert os.fstat(f).st_size == 2000
			assert os.stat("n").st_size == 2000
			with mmap.mmap(f, 2000) as m:
			    m[0:4] = b"MMAP"
			    m.flush()
			os.close(f)
			assert open("n", "rb").read(4) == b"MMAP"
			with open("sparse", "wb") as s:
			    s.seek(1 << 30)
			    s.write(b"end")
			with open("app", "ab") as a:
			    a.write(b"one ")
			with open("app", "ab") as a:
			    a.write(b"two")
		P
		truncate -s 5 app
		stat -c '%s' n sparse app
		cp --reflink=auto n copy
		cmp n copy
		dd if=/dev/zero of=big bs=1M count=20 status=none
	E
	call
	same "2000 1073741827 5" "$(result | xargs)"
	head -c 2000 "$TMP/n" | python3 -c 'import sys
b = bytearray(sys.stdin.buffer.read()); b[10:12] = b"XX"; b[0:4] = b"MMAP"
sys.stdout.buffer.write(b)' | cmp - artifacts/n
	cmp artifacts/n artifacts/copy
	cmp "$TMP/n" artifacts/.versions/n/1
	same "one t" "$(cat artifacts/app)"
	same end "$(tail -c 3 artifacts/sparse)"
	same 20971520 "$(wc -c < artifacts/big)"
}

@test "a call that fails leaves nothing" {
	session programs
	echo 1 > state/a.json
	echo one > artifacts/x
	tool <<- 'E'
		echo 2 > state/a.json
		echo 3 > state/temp:b.json
		echo two >> artifacts/x
		echo new > artifacts/y
		echo '{"escalate": true}' > actions.json
		cat state/a.json artifacts/x
		exit 3
	E
	call
	same "exit status 3" "$(result)"
	same '{"a":1}' "$(cat state.json)"
	same one "$(cat artifacts/x)"
	same x "$(ls artifacts)"
	answer | jq -e '.actions.stateDelta == {} and .actions.artifactDelta == {}
		and (.actions | has("escalate") | not)'
	tool <<< 'echo next > artifacts/x'
	call
	answer | jq -e '.actions.artifactDelta == {"x": 2}'
}

@test "calls side by side have contexts of their own" {
	session programs
	echo 0 > state/n.json
	tool one <<- E
		touch "$TMP/one.begun"
		until [ -e "$TMP/two.begun" ]; do sleep 0.02; done
		echo 1 > state/one.json
		echo 1 > artifacts/one
		touch "$TMP/one.wrote"
		until [ -e "$TMP/two.wrote" ]; do sleep 0.02; done
		ls state artifacts
	E
	tool two <<- E
		touch "$TMP/two.begun"
		until [ -e "$TMP/one.wrote" ]; do sleep 0.02; done
		ls ..
		ls state artifacts
		echo 2 > state/two.json
		echo 2 > artifacts/two
		touch "$TMP/two.wrote"
		cat function_call_id
	E
	say "run $TMP/one and $TMP/two"
	same '' "$(cat turns/1/error)"
	jq -c '.content.parts[]?.functionResponse | select(.) | [.id, .response.result]' events.jsonl \
		> "$TMP/results"
	grep -F '["first","artifacts:\none\n\nstate:\nn.json\none.json"]' "$TMP/results"
	grep -F '["second","first\nsecond\nartifacts:\n\nstate:\nn.json\nsecond"]' "$TMP/results"
	same '{"n":0,"one":1,"two":2}' "$(jq -cS . state.json)"
	same "one two" "$(ls artifacts | xargs)"
}

@test "a write after the end of a call changes nothing" {
	session programs
	echo 1 > state/a.json
	echo one > artifacts/x
	hold 'echo 2 > state/a.json'
	exec 5>> "$CTX/artifacts/x" 6> "$CTX/artifacts/new" 7> "$CTX/state/b.json" 8> "$CTX/actions.json"
	echo more >&5
	cat > "$TMP/late.py" <<- 'P'
		import errno, os, sys
		os.chdir(sys.argv[1] + "/artifacts")
		d = os.open(".", os.O_RDONLY)
		print("ready", flush=True)
		sys.stdin.readline()
		for fd, text in ((5, b"x"), (6, b"x"), (7, b"1"), (8, b"{}")):
		    try:
		        os.write(fd, text)
		        print("written", fd)
		    except OSError as e:
		        print(errno.errorcode[e.errno])
		for path in ("x", "late", "../state/a.json", "../args.json", "."):
		    for how in (os.stat, lambda p: os.open(p, os.O_RDWR | os.O_CREAT)):
		        try:
		            how(path)
		            print("found", path)
		        except OSError as e:
		            assert e.errno in (errno.ESTALE, errno.ENOENT, errno.EISDIR), e
	P
	mkfifo "$TMP/late.in"
	python3 "$TMP/late.py" "$CTX" < "$TMP/late.in" > "$TMP/late.out" &
	exec 9> "$TMP/late.in"
	eventually 20 grep -q ready "$TMP/late.out"
	let_go
	echo go >&9
	wait $!
	exec 5>&- 6>&- 7>&- 8>&- 9>&-
	same "ready ESTALE ESTALE ESTALE ESTALE" "$(xargs < "$TMP/late.out")"
	same "one more" "$(xargs < artifacts/x)"
	same 0 "$(stat -c %s artifacts/new)"
	same '{"a":2}' "$(cat state.json)"
}

@test "the user's memory can be asked" {
	session programs ann other
	event "the keys of the car are in the kitchen" >> events.jsonl
	ln -s ../../sessions/other ../../memory/sessions/
	session programs ann s1
	tool <<- 'E'
		ls -A memory memory/search
		jq -r .content.parts[0].text "memory/search/where are the keys"
		cat memory/search/nothing
	E
	call
	same "memory: search memory/search: the keys of the car are in the kitchen" \
		"$(result | grep . | xargs -d '\n')"
}

@test "many keys and many artifacts are listed once each" {
	session programs
	seq 1 300 | jq -nc '[inputs | {key: "key-\(.)", value: .}] | from_entries' > state.json
	mkdir artifacts/many
	for i in $(seq 1 300); do echo $i > "artifacts/many/$i"; done
	tool <<- 'E'
		for i in $(seq 301 400); do
			echo $i > state/key-$i.json
			echo $i > artifacts/many/$i
		done
		seq 1 2 300 | while read i; do echo new > artifacts/many/$i; done
		ls state | sort | uniq -d
		ls state | wc -l
		ls -l artifacts/many | awk 'NR > 1 { print $NF }' | sort | uniq -d
		ls artifacts/many | wc -l
		cat artifacts/many/* | grep -c new
		jq length state.json
	E
	call
	same "400 400 150 400" "$(result | xargs)"
	same 250 "$(answer | jq '.actions.artifactDelta | length')"
	same 400 "$(jq length state.json)"
}

@test "a file is in the way of an artifact that a call saves" {
	session programs
	hold 'mkdir artifacts/d; echo 1 > artifacts/d/x; echo 2 > artifacts/fine; echo 3 > state/k.json'
	echo file > artifacts/d
	touch "$TMP/go"
	timeout 60 cat wait > /dev/null
	same d "$(ls artifacts)"
	same '{}' "$(cat state.json)"
}

@test "rm -r removes a session whose program runs; a cancelled program leaves nothing" {
	session programs
	mkdir artifacts/d
	echo 1 > artifacts/d/x
	echo 1 > artifacts/user:u
	hold 'echo 2 > artifacts/user:u; echo 2 > artifacts/new; echo 2 > state/k.json; cd /'
	echo cancel > ctl
	same "failed 1" "$(timeout 60 cat wait)"
	same "d user:u" "$(ls artifacts | xargs)"
	same '{}' "$(cat state.json)"
	rm "$TMP/begun"
	hold 'echo 2 > artifacts/new; cd /'
	cd ..
	rm -r s1
	same '' "$(ls)"
	same 1 "$(cat ../artifacts/u)"
}

@test "everything a program can open can be read, and rm -r of its own files works" {
	session programs
	mkdir -p artifacts/a/b
	echo 1 > artifacts/a/b/c
	tool <<- 'E'
		mkdir -p artifacts/x/y
		echo 1 > artifacts/x/y/z
		grep -r . . > /dev/null
		find . -type f -exec cat {} + > /dev/null
		tar -cf /dev/null .
		rm -r artifacts/x
		find artifacts | sort
	E
	call
	same "artifacts artifacts/a artifacts/a/b artifacts/a/b/c" "$(result | xargs)"
	answer | jq -e '.actions.artifactDelta == {}'
}

@test "calls whose ids are too long for names, alone and twice" {
	local long=$(printf 'c%.0s' {1..255}) slashes=$(printf '/%.0s' {1..100})

	mkdir -p "$AGENTS/long/tools"
	cat > "$AGENTS/long/root_agent.yaml" <<-'Y'
		name: long
		model: script/rules.yaml
		instruction: Go.
		tools: [{name: tools/where}]
	Y
	cat > "$AGENTS/long/rules.yaml" <<-Y
		- when: {tool: .}
		  text: Done.
		- calls:
		    - {name: where, id: $long}
		    - {name: where, id: $long}
		    - {name: where, id: "$slashes"}
		    - {name: where, id: short}
	Y
	echo '{"description": "where"}' > "$AGENTS/long/tools/where.json"
	printf '#!/bin/sh\ncd "$ADK_CONTEXT" && [ -s function_call_id ] && basename "$PWD"\n' > "$AGENTS/long/tools/where"
	chmod +x "$AGENTS/long/tools/where"
	session long
	say go
	same Done. "$(cat output)"
	same 'adk call call.2 short' "$(jq -r '.content.parts[].functionResponse.response.result // empty' events.jsonl |
		sed 's/^adk-.*/adk/' | sort | xargs)" # an id that is there twice is replaced
	same "$long" "$(ls turns/1/calls | grep ccc)"
}

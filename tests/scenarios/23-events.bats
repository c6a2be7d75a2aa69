# events.jsonl: the log, which only grows.
load lib/mount

setup() {
	mount_setup
	session
}

# append_once TEXT: one write(2); prints how many bytes went in, or the error.
append_once() {
	python3 - "$1" <<-'PY'
		import errno, os, sys
		fd = os.open("events.jsonl", os.O_WRONLY | os.O_APPEND)
		try:
		    print(os.write(fd, os.fsencode(sys.argv[1])))
		except OSError as e:
		    print(errno.errorcode[e.errno])
		os.close(fd)
	PY
}

@test "append one event" {
	event hello >> events.jsonl
	same 1 "$(wc -l < events.jsonl)"
	jq -e '.author == "user" and .content.parts[0].text == "hello" and (.id | length > 5)
		and .timestamp > 1000000000 and .actions.stateDelta == {}' events.jsonl
	same "$(stat -c %s events.jsonl)" "$(cat events.jsonl | wc -c)"
	same idle "$(cat status)"
	[ ! -e turns/1 ]
}

@test "id and timestamp are kept when they are given" {
	echo '{"id":"e1","timestamp":1700000000.25,"author":"bot","content":{"role":"model","parts":[{"text":"x"}]}}' \
		>> events.jsonl
	jq -e '.id == "e1" and .timestamp == 1700000000.25 and .author == "bot"' events.jsonl
}

@test "snake_case, standard base64 and unknown order are accepted, and come out as ADK's" {
	echo '{"author":"bot","invocation_id":"i1","error_code":"X","turn_complete":true,"actions":{"state_delta":{"k":1},"transfer_to_agent":"a"},"content":{"parts":[{"inline_data":{"mime_type":"image/png","data":"+/+/"}}],"role":"model"}}' \
		>> events.jsonl
	jq -e '.invocationId == "i1" and .errorCode == "X" and .turnComplete == true
		and .actions.stateDelta == {"k": 1} and .actions.transferToAgent == "a"
		and .content.parts[0].inlineData == {"mimeType": "image/png", "data": "-_-_"}' events.jsonl
	not grep -q _delta events.jsonl
	same 1 "$(cat state/k.json)"
}

@test "several lines in one write, with blank ones between" {
	{ event a; echo; event b; event c; } > "$TMP/lines"
	cat "$TMP/lines" >> events.jsonl
	same "a b c" "$(jq -r .content.parts[0].text events.jsonl | xargs)"
	same 3 "$(wc -l < events.jsonl)"
}

@test "a line without a newline is appended at the close" {
	printf %s "$(event a)" >> events.jsonl
	same 1 "$(wc -l < events.jsonl)"
	same a "$(jq -r .content.parts[0].text events.jsonl)"
}

@test "a line in pieces is one event" {
	python3 - "$(event pieces)" <<-'PY'
		import os, sys
		fd = os.open("events.jsonl", os.O_WRONLY | os.O_APPEND)
		for c in sys.argv[1].encode() + b"\n":
		    os.write(fd, bytes([c]))
		assert open("events.jsonl").read().count("\n") == 1
		os.close(fd)
	PY
	same 1 "$(wc -l < events.jsonl)"
}

@test "a bad line is EINVAL, and its reason is in .errors" {
	event a >> events.jsonl
	for line in '{bad' '[]' '7' '"x"' '{"author":5}' '{"content":"x","author":"u"}' $'{"author":"\xff"}' \
		'{"author":"u","content":{"parts":[{"text":"\ud800"}]}}'; do
		same EINVAL "$(append_once "$line"$'\n')"
		tail -n 1 .errors | jq -e '.name == "events.jsonl" and .errno == "EINVAL"'
	done
	run bash -c "echo '{bad' >> events.jsonl"
	[ "$status" -ne 0 ]
	same 1 "$(wc -l < events.jsonl)"
}

@test "lines before a bad one are stored, and the count says so" {
	good="$(event a)"$'\n'"$(event b)"$'\n'
	same ${#good} "$(append_once "$good{bad"$'\n'"$(event c)"$'\n')"
	same "a b" "$(jq -r .content.parts[0].text events.jsonl | xargs)"
	printf '%s{bad\n%s\n' "$good" "$(event c)" > "$TMP/lines"
	refused EINVAL bash -c "cat '$TMP/lines' >> events.jsonl"
	same "a b a b" "$(jq -r .content.parts[0].text events.jsonl | xargs)"
}

@test "an id that is there already is EEXIST, nothing is stored" {
	event a '{"n": 1}' | jq -c '. + {id: "same"}' >> events.jsonl
	same EEXIST "$(append_once "$(event b '{"n": 2}' | jq -c '. + {id: "same"}')"$'\n')"
	same 1 "$(wc -l < events.jsonl)"
	same 1 "$(cat state/n.json)"
	line=$(event c | jq -c '. + {id: "twice"}')$'\n'
	same ${#line} "$(append_once "$line$line")"
	same 2 "$(wc -l < events.jsonl)"
	session echo ann other
	event a | jq -c '. + {id: "same"}' >> events.jsonl
	same 1 "$(wc -l < events.jsonl)"
}

@test "> and truncate are EPERM, the log stays" {
	event a >> events.jsonl
	before=$(cat events.jsonl)
	refused EPERM bash -c 'echo x > events.jsonl'
	refused EPERM bash -c ': > events.jsonl'
	refused EPERM truncate -s 0 events.jsonl
	refused EPERM truncate -s 5 events.jsonl
	refused EPERM python3 -c 'import os; os.open("events.jsonl", os.O_RDWR)'
	refused EPERM mv events.jsonl other.jsonl
	refused EPERM python3 -c 'import os; os.ftruncate(os.open("events.jsonl", os.O_WRONLY | os.O_APPEND), 0)'
	same "$before" "$(cat events.jsonl)"
}

@test "stateDelta is applied with the event, or not at all" {
	event a '{"x": {"deep": [1]}, "user:y": 2.5, "app:z": null}' >> events.jsonl
	same '{"deep":[1]}' "$(jq -c . state/x.json)"
	same 2.5 "$(cat ../../state/y.json)"
	same null "$(cat "$MNT/apps/echo/state/z.json")"
	refused EINVAL bash -c "echo '{\"author\":\"u\",\"actions\":{\"stateDelta\":{\"x\":}}}' | cat >> events.jsonl"
	same '{"deep":[1]}' "$(jq -c . state/x.json)"
}

@test "temp: keys are never stored" {
	event a '{"temp:t": "secret", "k": 1}' >> events.jsonl
	same '{"k":1}' "$(jq -c .actions.stateDelta events.jsonl)"
	not grep -rq 'temp:' events.jsonl session.json state.json
	daemon_restart
	not grep -rq 'temp:t' "$STORE" "$S/session.json"
}

@test "partial events are not stored" {
	event a | jq -c '. + {partial: true}' >> events.jsonl || :
	event b >> events.jsonl
	same b "$(jq -r .content.parts[0].text events.jsonl)"
	not grep -q '"partial":true' events.jsonl
}

@test "offsets are stable: bytes never change once they are readable" {
	for n in {1..50}; do
		event "event $n" >> events.jsonl
	done
	cp events.jsonl "$TMP/before"
	for n in {51..100}; do
		event "event $n" >> events.jsonl
	done
	cmp -n "$(stat -c %s "$TMP/before")" "$TMP/before" events.jsonl
	size=$(stat -c %s "$TMP/before")
	same 51 "$(dd if=events.jsonl bs=1 skip="$size" status=none | head -n 1 | jq -r '.content.parts[0].text[6:]')"
	cmp <(cat events.jsonl) <(dd if=events.jsonl bs=333 status=none)
	python3 - <<-'PY'
		import mmap, os
		whole = open("events.jsonl", "rb").read()
		fd = os.open("events.jsonl", os.O_RDONLY)
		assert mmap.mmap(fd, len(whole), prot=mmap.PROT_READ)[:] == whole
		for at in (0, 1, 1000, len(whole) - 1, len(whole), len(whole) + 5):
		    assert os.pread(fd, 100, at) == whole[at:at + 100], at
		assert os.lseek(fd, 0, os.SEEK_END) == len(whole)
	PY
	daemon_restart
	back
	cmp -n "$size" "$TMP/before" events.jsonl
}

@test "an open file sees what is appended" {
	event a >> events.jsonl
	exec 8< events.jsonl
	same 1 "$(wc -l <&8)"
	event b >> events.jsonl
	same b "$(jq -r .content.parts[0].text <&8)"
	exec 8<&-
}

@test "a copy of an export is the same text again" {
	say hi
	echo '{"author":"u","actions":{"stateDelta":{"a":1.50}}}' >> events.jsonl
	first=$S
	session echo ann copy
	cat "$first/events.jsonl" >> events.jsonl
	cmp "$first/events.jsonl" events.jsonl
	same 1.50 "$(cat state/a.json)"
}

@test "tail -f sees a turn as it runs" {
	session slow
	background bash -c "exec tail -n +1 -f events.jsonl > '$TMP/seen'"
	echo x > input
	eventually 20 grep -q 'one two three x' "$TMP/seen"
	cat wait > /dev/null
	same "$(cat events.jsonl)" "$(cat "$TMP/seen")"
}

# bats test_tags=foreign
@test "tail -n, grep, wc and less of a log" {
	for n in {1..30}; do
		event "event $n"
	done > "$TMP/lines"
	cat "$TMP/lines" >> events.jsonl
	same 'event 29 event 30' "$(tail -n 2 events.jsonl | jq -r .content.parts[0].text | xargs)"
	same 1 "$(grep -c '"event 17"' events.jsonl)"
	same "$(wc -c < events.jsonl)" "$(stat -c %s events.jsonl)"
	same 30 "$(tac events.jsonl | wc -l)"
}

@test "20,000 lines through one cat" {
	for n in {1..200}; do
		printf '{"id":"@%03d","author":"user","timestamp":1700000000.5,"content":{"role":"user","parts":[{"text":"line"}]},"invocationId":"i"}\n' "$n"
	done > "$TMP/some"
	for n in {1..100}; do
		sed "s/@/$n-/" "$TMP/some"
	done > "$TMP/lines"
	timeout 100 cat "$TMP/lines" >> events.jsonl
	same 20000 "$(wc -l < events.jsonl)"
	same "$(stat -c %s events.jsonl)" "$(cat events.jsonl | wc -c)"
	cmp <(jq -r .id "$TMP/lines" | head -n 100) <(head -n 100 events.jsonl | jq -r .id)
	cmp <(jq -r .id "$TMP/lines" | tail -n 100) <(tail -n 100 events.jsonl | jq -r .id)
	cmp <(jq -r .id "$TMP/lines") <(jq -r .id events.jsonl)
	cp events.jsonl "$TMP/before"
	daemon_restart
	back
	cmp "$TMP/before" events.jsonl
}

@test "a line of 2 MiB" {
	python3 -c 'import json; print(json.dumps({"author": "u", "content": {"role": "user", "parts": [{"text": "x" * 2000000}]}}))' > "$TMP/line"
	cat "$TMP/line" >> events.jsonl
	same 1 "$(wc -l < events.jsonl)"
	same 2000000 "$(jq '.content.parts[0].text | length' events.jsonl)"
	same "$(stat -c %s events.jsonl)" "$(cat events.jsonl | wc -c)"
}

@test "appending while a turn runs" {
	session slow
	echo x > input
	for n in 1 2 3; do
		event "aside $n" >> events.jsonl
	done
	cat wait > /dev/null
	same idle "$(cat status)"
	same 5 "$(wc -l < events.jsonl)"
	grep -q 'one two three x' output
}

# write_once BYTES...: one write(2) each through one descriptor; what each returned.
write_once() {
	python3 - "$@" <<-'PY'
		import errno, os, sys
		fd = os.open("events.jsonl", os.O_WRONLY | os.O_APPEND)
		def call(f, *args):
		    try:
		        return str(f(*args))
		    except OSError as e:
		        return errno.errorcode[e.errno]
		print(*[call(os.write, fd, a.encode()) for a in sys.argv[1:]], call(os.close, fd))
	PY
}

# The texts of the log.
all_texts() {
	jq -r '.content.parts[0].text' events.jsonl | xargs
}

@test "each write returns how many bytes it took, up to a bad line" {
	a=$(event a)$'\n' b=$(event b)$'\n' c=$(event c)$'\n'
	same "${#a} 0 None" "$(write_once "$a" '')"
	same "$((${#a} + ${#b} + 5)) None" "$(write_once $'\n'"$a"$' \t\n\n'"$b")"
	same "a a b" "$(all_texts)"
	same "$((${#a} + ${#b})) EINVAL ${#c} None" "$(write_once "$a$b"$'{no}\n'"$c" $'{no}\n'"$c" "$c")"
	same "a a b a b c" "$(all_texts)"
	same "10 $((${#b} - 10)) None" "$(write_once "${b:0:10}" "${b:10}")"
	same "10 $((${#b} - 10 + ${#c})) None" "$(write_once "${b:0:10}" "${b:10}$c")"
	same "10 $((${#b} - 10)) EINVAL None" "$(write_once "${b:0:10}" "${b:10}{no}"$'\n' $'{no}\n')"
	same "a a b a b c b b c b" "$(all_texts)"
	same "10 EINVAL None" "$(write_once "${b:0:10}" $'no\n')"
	same "10 EINVAL" "$(write_once "${b:0:10}")"
	same "$((${#c} - 1)) None" "$(write_once "${c%?}")"
	same "a a b a b c b b c b c" "$(all_texts)"
	same "EINVAL ${#a} None" "$(write_once $'{no}\n' "$a")"
	same "1 1 1 None" "$(write_once $'\n' ' ' $'\n')"
	same 12 "$(wc -l < events.jsonl)"
	jq -c . events.jsonl > /dev/null
}

@test "a repeated id is refused at the start, in the middle and at the end of a write" {
	line() {
		printf '{"author":"u","id":"%s"}\n' "$1"
	}
	line a >> events.jsonl
	n=$(line a | wc -c)
	same "EEXIST None" "$(write_once "$(line a)"$'\n'"$(line b)"$'\n')"
	same "$n EEXIST None" "$(write_once "$(line b)"$'\n'"$(line a)"$'\n'"$(line c)"$'\n' "$(line a)"$'\n')"
	same "$((2 * n + 1)) None" "$(write_once "$(line c)"$'\n\n'"$(line d)"$'\n'"$(line c)"$'\n')"
	same "a b c d" "$(jq -r .id events.jsonl | xargs)"
}

@test "the log refuses writing elsewhere, truncating, renaming, linking, writing by a mapping" {
	event a >> events.jsonl
	before=$(cat events.jsonl)
	event b > "$TMP/b"
	refused EPERM bash -c "cat '$TMP/b' 1<> events.jsonl"
	refused EPERM dd if="$TMP/b" of=events.jsonl conv=notrunc status=none
	refused EPERM truncate -s +10 events.jsonl
	refused EPERM mv events.jsonl state/
	refused EPERM ln events.jsonl other
	refused EPERM ln -s events.jsonl other
	run fallocate -l 1M events.jsonl
	[ "$status" -ne 0 ]
	run sed -i s/a/b/ events.jsonl
	[ "$status" -ne 0 ]
	python3 - <<-'PY'
		import mmap, os
		fd = os.open("events.jsonl", os.O_WRONLY | os.O_APPEND)
		try:
		    mmap.mmap(fd, 10, prot=mmap.PROT_WRITE)
		    raise SystemExit("a log that can be written through a map")
		except OSError:
		    pass
		assert os.pwrite(fd, b'{"author":"p"}\n', 3) == 15 # O_APPEND: the offset means nothing
	PY
	dd if="$TMP/b" of=events.jsonl oflag=append conv=notrunc status=none
	tee -a events.jsonl < "$TMP/b" > /dev/null
	same "$before" "$(head -n 1 events.jsonl)"
	same 4 "$(wc -l < events.jsonl)"
	chmod 644 events.jsonl
	touch events.jsonl
	same 4 "$(wc -l < events.jsonl)"
}

@test "a session that is removed under an open log: ESTALE, and nothing comes back" {
	exec 5>> events.jsonl
	event a >&5
	rmdir "$S"
	run bash -c "printf '%s\n' '$(event b)' >&5"
	[ "$status" -ne 0 ]
	[[ $output == *'Stale file handle'* ]]
	mkdir "$S"
	run bash -c "printf '%s\n' '$(event c)' >&5"
	[ "$status" -ne 0 ]
	exec 5>&-
	same '' "$(cat "$S/events.jsonl")"
	same '{}' "$(cat "$S/state.json")"
}

@test "lines of ADK for Python and JavaScript become ours, and their state is set" {
	for log in python python-2 js; do
		session echo ann "$log"
		cat "$ROOT/tests/fixtures/foreign/$log.jsonl" >> events.jsonl
		cmp events.jsonl "$ROOT/tests/fixtures/foreign/$log.expect"
		session echo ann "$log-again"
		cat "../$log/events.jsonl" >> events.jsonl
		cmp events.jsonl "../$log/events.jsonl"
	done
	same '"Köln"' "$(cat ../python/state/user:last_city.json)"
	same 1e2 "$(cat ../python/state/visits.json)"
	same 9007199254740993 "$(cat ../js/state/n.json)"
	same '{"snake_key":{"a_b":1},"user:last_city":"Köln"}' "$(cat ../python-2/state.json)"
}

@test "lines that no version of ADK writes are refused, each with its reason" {
	while IFS= read -r line; do
		refused EINVAL bash -c "cat >> events.jsonl" <<< "$line"
		tail -n 1 .errors | jq -e '.name == "events.jsonl" and .errno == "EINVAL" and (.error | length > 5)'
	done <<-'LINES'
		{}
		{"author":""}
		{"author":null}
		{"author":"u","id":null}
		{"author":"u","actions":null}
		{"author":"u","actions":{"stateDelta":[]}}
		{"author":"u","actions":{"stateDelta":null}}
		{"author":"u","actions":{"stateDelta":{"":1}}}
		{"author":"u","actions":{"stateDelta":{"user:":1}}}
		{"author":"u","actions":{"unknown":1}}
		{"author":"u","unknown":1}
		{"author":"u","timestamp":"2025-01-01T00:00:00Z"}
		{"author":"u","timestamp":-1}
		{"author":"u","timestamp":NaN}
		{"author":"u","turnComplete":"yes"}
		{"author":"u","content":{"parts":[{"text":1}]}}
		{"author":"u","content":{"parts":[{"inlineData":{"data":"-+","mimeType":"a/b"}}]}}
		{"author":"u","content":{"parts":[{"functionCall":{"name":"f","args":[1]}}]}}
		{"author":"u","customMetadata":{"adkfs.deleted":["x"]}}
		{"author":"u"} {"author":"u"}
		{"author":"u",}
		{'author':'u'}
		{"author":"\ud800"}
	LINES
	same 0 "$(wc -c < events.jsonl)"
	same '{}' "$(cat state.json)"
}

# events.jsonl under hard use: many writers, foreign lines, programs that read while it grows.
load lib/mount

setup() {
	mount_setup
	session
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

texts() {
	jq -r '.content.parts[0].text' events.jsonl | xargs
}

@test "32 processes append at once, in all manners, while two read every byte again and again" {
	event first >> events.jsonl
	for seed in 1 2; do
		background timeout 100 python3 "$ROOT/tests/scenarios/lib/events_crowd_watch.py" events.jsonl "$TMP/stop" $seed
	done
	mkdir ../many
	background timeout 100 python3 "$ROOT/tests/scenarios/lib/events_crowd_watch.py" ../many/events.jsonl "$TMP/stop" 3
	timeout 100 python3 "$ROOT/tests/scenarios/lib/events_crowd_append.py" ../many/events.jsonl 32 100
	for n in {1..6}; do
		cat ../many/events.jsonl | jq -c 'del(.id)' >> events.jsonl
	done
	touch "$TMP/stop"
	for pid in "${BACKGROUND[@]}"; do
		wait "$pid"
	done
	BACKGROUND=()
	same 19201 "$(jq -r .id events.jsonl | sort -u | wc -l)"
	cp events.jsonl "$TMP/before"
	daemon_restart
	back
	cmp "$TMP/before" events.jsonl
}

@test "what one write returns, line by line" {
	a=$(event a)$'\n' b=$(event b)$'\n' c=$(event c)$'\n'
	same "${#a} 0 None" "$(write_once "$a" '')"
	same "$((${#a} + ${#b} + 5)) None" "$(write_once $'\n'"$a"$' \t\n\n'"$b")"
	same "a a b" "$(texts)"
	same "$((${#a} + ${#b})) EINVAL ${#c} None" "$(write_once "$a$b"$'{no}\n'"$c" $'{no}\n'"$c" "$c")"
	same "a a b a b c" "$(texts)"
	same "10 $((${#b} - 10)) None" "$(write_once "${b:0:10}" "${b:10}")"
	same "10 $((${#b} - 10 + ${#c})) None" "$(write_once "${b:0:10}" "${b:10}$c")"
	same "10 $((${#b} - 10)) EINVAL None" "$(write_once "${b:0:10}" "${b:10}{no}"$'\n' $'{no}\n')"
	same "a a b a b c b b c b" "$(texts)"
	same "10 EINVAL None" "$(write_once "${b:0:10}" $'no\n')"
	same "10 EINVAL" "$(write_once "${b:0:10}")"
	same "$((${#c} - 1)) None" "$(write_once "${c%?}")"
	same "a a b a b c b b c b c" "$(texts)"
	same "EINVAL ${#a} None" "$(write_once $'{no}\n' "$a")"
	same "1 1 1 None" "$(write_once $'\n' ' ' $'\n')"
	same 12 "$(wc -l < events.jsonl)"
	jq -c . events.jsonl > /dev/null
}

@test "the same id again, first, in the middle and last in a write" {
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

@test "what a log refuses: writing elsewhere, truncating, renaming, linking, writing maps" {
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

@test "lines of Google's Python and JavaScript become ours, and their state is there" {
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

@test "tail -f, less +F, grep, split and dd of a log while it grows" {
	for n in {1..300}; do
		event "event $n"
	done > "$TMP/lines"
	head -n 100 "$TMP/lines" >> events.jsonl
	background bash -c "exec tail -s 0.05 -n +1 -f events.jsonl > '$TMP/followed'"
	background bash -c "exec tail -s 0.05 -c +1 -F events.jsonl > '$TMP/followed2'"
	TERM=xterm timeout 60 python3 "$ROOT/tests/scenarios/lib/events_crowd_less.py" events.jsonl \
		"sed -n 101,200p '$TMP/lines' >> events.jsonl; printf '%s\n' '$(event last)' >> events.jsonl"
	sed -n 201,300p "$TMP/lines" | while IFS= read -r line; do
		printf '%s\n' "$line" >> events.jsonl
	done
	same 301 "$(grep -c author events.jsonl)"
	eventually 10 cmp -s events.jsonl "$TMP/followed"
	eventually 10 cmp -s events.jsonl "$TMP/followed2"
	split -b 1000 -d -a 4 events.jsonl "$TMP/piece."
	cat "$TMP"/piece.* | cmp - events.jsonl
	size=$(stat -c %s events.jsonl)
	for skip in 0 1 999 4095 4096 4097 $((size - 1)) "$size" $((size + 100)); do
		cmp <(dd if=events.jsonl bs=1 skip="$skip" count=5000 status=none) <(tail -c +$((skip + 1)) events.jsonl | head -c 5000)
	done
	cmp <(tac events.jsonl | tac) events.jsonl
	same "event 300" "$(tail -n 1 events.jsonl | jq -r '.content.parts[0].text')"
	same 301 "$(awk 'END {print NR}' events.jsonl)"
}

# reads COMMAND...: sets $READS to the requests to read that the command costs
# when nothing is cached.
reads() {
	daemon_restart
	"$@" > /dev/null
	eventually 10 jq -e '.uptimeSeconds >= 1' "$MNT/.adkfs/stats.json"
	READS=$(jq .requests.read "$MNT/.adkfs/stats.json")
}

@test "a million events: the end is read as it is with ten, and the whole is right" {
	for n in {0..9}; do
		printf '{"author":"u","id":"%d"}\n' "$n"
	done >> events.jsonl
	reads tail -n 5 "$S/events.jsonl"
	few=$READS
	back
	python3 - > "$TMP/lines" <<-'PY'
		import sys
		for n in range(10, 1000010):
		    sys.stdout.write('{"author":"u","id":"%d"}\n' % n)
	PY
	cat "$TMP/lines" >> events.jsonl
	tail -n 5 events.jsonl > "$TMP/end"
	same "1000005 1000006 1000007 1000008 1000009" "$(jq -r .id "$TMP/end" | xargs)"
	reads tail -n 5 "$S/events.jsonl"
	echo "requests to read: $few with ten events, $READS with a million"
	[ "$READS" -le $((few + 4)) ]
	back
	same 1000010 "$(wc -l < events.jsonl)"
	same "$(stat -c %s events.jsonl)" "$(wc -c < events.jsonl)"
	cmp <(grep -o '"id":"[0-9]*"' events.jsonl | tr -dc '0-9\n') <(seq 0 1000009)
	event one-more >> events.jsonl
	same one-more "$(tail -n 1 events.jsonl | jq -r '.content.parts[0].text')"
	python3 - <<-'PY'
		import json, mmap, os, random
		fd = os.open("events.jsonl", os.O_RDONLY)
		size = os.fstat(fd).st_size
		whole = mmap.mmap(fd, size, prot=mmap.PROT_READ)
		for n in range(200):
		    at = random.randrange(size - 3000)
		    assert whole[at:at + 3000] == os.pread(fd, 3000, at)
	PY
}

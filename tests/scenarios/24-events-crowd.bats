# events.jsonl with many writers, long logs, and programs that read it while it grows.
load lib/mount

setup() {
	mount_setup
	session
}

@test "4 writers at once lose nothing" {
	for w in 1 2 3 4; do
		for n in {1..100}; do
			event "$w-$n" "{\"w$w\": $n}"
		done > "$TMP/lines$w"
		background bash -c "while IFS= read -r line; do printf '%s\n' \"\$line\" >> events.jsonl; done < '$TMP/lines$w'"
	done
	wait "${BACKGROUND[@]}"
	BACKGROUND=()
	same 400 "$(wc -l < events.jsonl)"
	same 400 "$(jq -r .id events.jsonl | sort -u | wc -l)"
	for w in 1 2 3 4; do
		same "$(seq -f "$w-%g" 100)" "$(jq -r .content.parts[0].text events.jsonl | grep "^$w-")"
		same 100 "$(cat state/w$w.json)"
	done
	same 400 "$(jq '.events | length' session.json)"
}

@test "4 writers, one open each, and a reader who never sees half a line" {
	for w in 1 2 3 4; do
		for n in {1..500}; do
			echo "{\"author\":\"u\",\"id\":\"$w-$n\"}"
		done > "$TMP/lines$w"
		background bash -c "cat '$TMP/lines$w' >> events.jsonl"
	done
	while kill -0 "${BACKGROUND[@]}" 2> /dev/null; do
		jq -c .id events.jsonl > /dev/null
		jq -e '.events | length >= 0' session.json > /dev/null
	done
	wait "${BACKGROUND[@]}"
	BACKGROUND=()
	same 2000 "$(jq -r .id events.jsonl | sort -u | wc -l)"
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

# bats test_tags=foreign
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

# The requests to read so far. The file is 0.2 seconds old at most.
reads_so_far() {
	sleep 0.3
	jq .requests.read "$MNT/.adkfs/stats.json"
}

# reads COMMAND...: sets $READS to the requests to read that the command costs
# when nothing is cached.
reads() {
	local before

	daemon_restart
	before=$(reads_so_far)
	"$@" > /dev/null
	READS=$(($(reads_so_far) - before))
}

@test "a log of a million events: reading its end costs as much as with ten" {
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

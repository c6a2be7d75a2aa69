# Stores of an older program are converted when they are mounted.
load lib/mount

OLD=$ROOT/tests/fixtures/store-1

setup() {
	folders_setup
	rm -r "$AGENTS"
	mkdir "$AGENTS"
}

unpack() {
	tar -C "$TMP" -xJf "$OLD/$1.tar.xz"
}

# What a start that aborts a turn writes differs each time.
stable() {
	grep -v -e ' \./tales/users/ada/sessions/main/\(events.jsonl\|status\)$' \
		-e ' \./tales/users/ada/sessions/main/turns/[45]/' "$1"
}

@test "a store of format 1 shows the same files and bytes" {
	unpack clean
	daemon_start
	"$OLD/list" "$MNT" > "$TMP/list"
	diff "$OLD/clean.list" "$TMP/list"
	daemon_stop
	daemon_start
	"$OLD/list" "$MNT" > "$TMP/list"
	diff "$OLD/clean.list" "$TMP/list"
}

@test "a store of format 1 whose daemon was killed is recovered" {
	unpack killed
	daemon_start
	session tales ada main
	timeout 60 cat wait > /dev/null
	same "failed" "$(cat turns/4/status)"
	same "closed" "$(cat artifacts/closed.txt)"
	same "next" "$(cat turns/5/input)"
	cd "$TMP"
	"$OLD/list" "$MNT" > "$TMP/list"
	diff <(stable "$OLD/killed.list") <(stable "$TMP/list")
}

@test "a conversion says what it does, and continues when it was killed" {
	unpack clean
	for delay in 0.01 0.02 0.03 0.04 0.05 0.06; do
		(timeout -s KILL "$delay" "$ADKFS" mount -f --store "$STORE" --agents "$AGENTS" "$MNT" || :) 2>> "$TMP/log"
		fusermount3 -u -z "$MNT" 2> /dev/null || :
	done
	daemon_start
	"$OLD/list" "$MNT" > "$TMP/list"
	diff "$OLD/clean.list" "$TMP/list"
	cat "$TMP/log" "$TMP/daemon.log" | grep 'is converted: checksums'
}

@test "what was stored before can be written to, forked and removed after the conversion" {
	unpack clean
	daemon_start
	session tales ada main
	echo more >> artifacts/numbers.txt
	same "200005" "$(stat -c %s artifacts/numbers.txt)"
	cmp -n 200000 artifacts/numbers.txt artifacts/.versions/numbers.txt/5
	echo "fork again" > ctl
	cmp artifacts/numbers.txt ../again/artifacts/numbers.txt
	cd ..
	rmdir main copy long
	same "again" "$(ls)"
	same "more" "$(tail -c 5 again/artifacts/numbers.txt)"
	cd "$TMP"
}

@test "damaged bytes of an artifact are not read" {
	local file

	daemon_start
	session
	head -c 300000 /dev/zero | tr '\0' 'x' > artifacts/f
	cd "$TMP"
	daemon_stop
	file=$(find "$STORE/bulk" -type f)
	printf 'y' | dd of="$file" bs=1 seek=200000 conv=notrunc status=none
	daemon_start
	back
	run cat artifacts/f
	same 1 "$status"
	[[ $output == *"Input/output error"* ]]
	same "$(head -c 100000 /dev/zero | tr '\0' 'x')" "$(head -c 100000 artifacts/f)"
	jq -e 'select(.errno == "EIO") | .error | test("damaged.*wrong checksum")' .errors
}

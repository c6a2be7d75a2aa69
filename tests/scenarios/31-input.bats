# Messages in all the forms that shells and programs give them, and many readers.
load lib/mount

setup() {
	mount_setup
	session
}

# The next message is this, and it is one turn.
said() {
	TURN=$((TURN + 1))
	timeout 30 cat wait > /dev/null
	same $TURN "$(readlink turns/latest)"
	same "$1" "$(cat turns/$TURN/input)"
}

parked() {
	[ "$(jq .parked "$MNT/.adkfs/stats.json")" -ge "$1" ]
}

@test "one open is one message: shells" {
	TURN=0
	echo hi > input
	said hi
	cat <<-'EOF' > input
		two
		lines
	EOF
	said $'two\nlines'
	cat > input <<< here
	said here
	{ echo a; echo b; } > input
	said $'a\nb'
	(echo a; /bin/echo b; echo c) > input
	said $'a\nb\nc'
	exec 5> input
	echo one >&5
	/bin/echo two >&5
	sh -c 'echo three' >&5
	exec 5>&-
	said $'one\ntwo\nthree'
	echo tee | tee input > /dev/null
	said tee
	printf 'no newline' > input
	said 'no newline'
	printf 'two newlines\n\n' > input
	said 'two newlines'
	echo append >> input
	said append
	exec 5<> input
	echo both >&5
	exec 5>&-
	said both
	for n in 1 2 3; do echo $n; done > input
	said $'1\n2\n3'
	sh -c 'echo dash > input'
	said dash
	seq 3 | while read -r n; do echo "n$n"; done > input
	said $'n1\nn2\nn3'
	echo ümläut 🐝 > input
	said 'ümläut 🐝'
	printf 'crlf\r\n' > input
	said crlf
	printf '%s' '{"looks": "like json"}' > input
	said '{"looks": "like json"}'
}

@test "one open is one message: programs" {
	TURN=0
	seq 1000 > "$TMP/thousand"
	dd if="$TMP/thousand" of=input bs=7 status=none
	said "$(seq 1000)"
	dd if="$TMP/thousand" of=input bs=100 oflag=append conv=notrunc status=none
	said "$(seq 1000)"
	cp "$TMP/thousand" input
	said "$(seq 1000)"
	cat "$TMP/thousand" - <<< end > input
	said "$(seq 1000)"$'\nend'
	sort -rn "$TMP/thousand" -o input
	said "$(seq 1000 -1 1)"
	awk 'BEGIN { print "awk" > "input" }'
	said awk
	curl -s -o input "file://$TMP/thousand"
	said "$(seq 1000)"
	python3 -c 'open("input", "w").write("python")'
	said python
	python3 -c 'import os; fd = os.open("input", os.O_WRONLY); os.write(fd, b"os"); os.lseek(fd, 0, 0) if 0 else None; os.write(fd, b".write"); os.close(fd)'
	said os.write
	python3 - <<-'PY'
		import os
		fd = os.open("input", os.O_WRONLY)
		os.writev(fd, [b"a", b"b", b"c"])
		for n in range(3):
		    if os.fork() == 0:
		        os.write(fd, b" child")
		        os._exit(0)
		    os.wait()
		os.fsync(fd)
		os.write(fd, b" parent")
		os.close(os.dup(fd))
		os.write(fd, b" after")
		os.close(fd)
	PY
	said 'abc child child child parent after'
	python3 -c 'import os; os.write(os.open("input", os.O_WRONLY), b"killed"); os.kill(os.getpid(), 9)' || :
	said killed
	perl -e 'open(F, ">", "input"); print F "perl"; close(F) or die' 
	said perl
}

@test "no message: nothing written, and what is refused" {
	: > input
	true > input
	cat /dev/null > input
	printf '\n' > input
	exec 5> input
	exec 5>&-
	python3 -c 'import os; os.ftruncate(os.open("input", os.O_WRONLY | os.O_TRUNC), 100)'
	for bytes in '\xff' 'a\xc3(' '\xed\xa0\x80' 'ok\xf5'; do
		run bash -c "printf '$bytes' > input"
		[ "$status" -ne 0 ]
		refused EINVAL bash -c "printf '$bytes' | cat > input"
	done
	refused EINVAL bash -c "printf 'cut \xf0\x9f' | cat > input"
	refused EINVAL bash -c "head -c 100000 /dev/urandom | cat > input"
	refused EINVAL bash -c "{ printf 'fine '; printf '\xff'; printf ' fine'; } | dd of=input bs=5 status=none"
	same idle "$(cat wait)"
	[ ! -e turns/1 ]
	same 0 "$(wc -l < events.jsonl)"
	echo fine > input
	TURN=0
	said fine
}

@test "characters that writes cut anywhere" {
	python3 - <<-'PY'
		import os
		text = "é€🐝日本" * 50
		for size in range(1, 8):
		    fd = os.open("input", os.O_WRONLY)
		    data = text.encode()
		    for at in range(0, len(data), size):
		        os.write(fd, data[at:at + size])
		    os.close(fd)
		with open("wait") as f:
		    f.read()
		for n in range(1, 8):
		    assert open("turns/%d/input" % n).read() == text + "\n"
	PY
}

@test "16 MiB is a message, one byte more is EFBIG" {
	head -c $((16 * 1024 * 1024)) /dev/zero | tr '\0' m > "$TMP/most"
	cat "$TMP/most" > input
	timeout 60 cat wait > /dev/null
	cmp -n $((16 * 1024 * 1024)) "$TMP/most" turns/1/input
	echo x >> "$TMP/most"
	refused EFBIG bash -c "cat '$TMP/most' > input"
	refused EFBIG cp "$TMP/most" input
	same idle "$(timeout 60 cat wait)"
	[ ! -e turns/2 ]
	jq -e -s 'last.errno == "EFBIG"' .errors
}

@test "100 messages wait their turn and are answered in order" {
	session slow
	echo forever > input
	session echo
	for n in {1..100}; do
		echo "m$n" > input
	done
	same "you said m100" "$(timeout 60 cat output)"
	timeout 60 cat wait > /dev/null
	same "$(seq -f 'm%g' 100)" "$(jq -r 'select(.author == "user") | .content.parts[0].text' events.jsonl)"
	same "$(seq -f 'you said m%g' 100)" "$(jq -r 'select(.author == "echo") | .content.parts[0].text' events.jsonl)"
	for n in 1 17 100; do
		same "m$n" "$(cat turns/$n/input)"
	done
}

@test "100 messages of 10 processes: none is lost, none is mixed" {
	for p in {0..9}; do
		background bash -c "for n in {0..9}; do { printf '%s' 'from $p '; echo \"n\$n\"; } > input; done"
	done
	wait "${BACKGROUND[@]}"
	BACKGROUND=()
	same idle "$(timeout 100 cat wait)"
	same 100 "$(readlink turns/latest)"
	cat turns/*/input | grep -v latest | sort -u > "$TMP/all"
	same "$(for p in {0..9}; do for n in {0..9}; do echo "from $p n$n"; done; done)" "$(cat "$TMP/all")"
	for p in {0..9}; do
		same "$(seq -f "from $p n%g" 0 9)" \
			"$(jq -r 'select(.author == "user") | .content.parts[0].text' events.jsonl | grep "^from $p ")"
	done
}

@test "1,000 readers of one turn: all get the same, and the session stays quick" {
	session slow
	echo forever > input
	eventually 10 test -s output
	background python3 "$ROOT/tests/scenarios/lib/output_readers.py" "$S" 1000 > "$TMP/readers"
	eventually 60 parked 1000
	timeout 20 python3 - <<-'PY'
		import os, time
		began = time.monotonic()
		for n in range(100):
		    os.listdir("turns")
		    for name in os.listdir("."):
		        os.stat(name)
		    open("status").read()
		    open("events.jsonl").read()
		assert time.monotonic() - began < 5, time.monotonic() - began
	PY
	echo 1 > state/x.json
	same 1 "$(cat state/x.json)"
	(session echo ann other && say hi && same 'you said hi' "$(cat output)")
	kill -s TERM "$DAEMON"
	timeout 60 bash -c "while kill -0 $PID 2> /dev/null; do sleep 0.05; done"
	BACKGROUND=()
	cd "$TMP"
	daemon_ended 0
	rm "$TMP/daemon.pid"
	not is_mounted "$MNT"
}

@test "1,000 readers of a turn that ends" {
	session slow
	echo "$(printf 'word %.0s' {1..40})" > input
	timeout 100 python3 "$ROOT/tests/scenarios/lib/output_readers.py" "$S" 1000 > "$TMP/readers"
	tail -n 1 "$TMP/readers" | jq -e '(.[0] | startswith("one two three word word")) and .[1] == "idle\n"'
	eventually 10 not parked 1
}

@test "Ctrl-C, a timeout and a killed pipe end a reader at once" {
	session slow
	echo forever > input
	eventually 10 test -s output
	for file in output wait turns/1/output turns/1/stream.jsonl; do
		run timeout -s INT 0.3 cat $file
		[ "$status" -eq 124 ]
		run timeout -s KILL 0.3 cat $file
		[ "$status" -eq 137 ]
		eventually 10 not parked 1
	done
	same begun "$(head -c 5 output)"
	run timeout 0.3 bash -c 'read -r line < output; echo "$line"'
	eventually 10 not parked 1
	same 'running 1' "$(cat status)"
}

@test "select and poll with a timeout, and reads that have something at once" {
	session slow
	echo forever > input
	eventually 10 test -s output
	timeout 20 python3 - <<-'PY'
		import os, select
		out = os.open("output", os.O_RDONLY)
		wait = os.open("wait", os.O_RDONLY)
		assert select.select([out, wait], [], [], 5)[0] == [out]
		assert os.read(out, 1) == b"b"
		assert select.select([out], [], [], 5)[0] == [out]
		assert os.read(out, 100) == b"egun "
		assert select.select([out, wait], [], [], 0.2)[0] == []
		assert os.pread(out, 3, 0) == b"beg"
		os.lseek(out, 2, 0)
		assert os.read(out, 2) == b"gu"
	PY
}

@test "who polled and closed leaves nothing behind" {
	session slow
	echo forever > input
	eventually 10 test -s output
	python3 - <<-'PY'
		import os, select
		for n in range(300):
		    fds = [os.open(f, os.O_RDONLY | os.O_NONBLOCK) for f in ("output", "wait")]
		    select.select(fds, [], [], 0)
		    e = select.epoll()
		    for fd in fds:
		        e.register(fd, select.EPOLLIN)
		    e.poll(0)
		    e.close()
		    for fd in fds:
		        os.close(fd)
	PY
	eventually 10 not parked 1
}

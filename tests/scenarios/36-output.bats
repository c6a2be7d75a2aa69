# output, wait and the streams of a turn: many readers, reads that wait, poll.
load lib/mount

@test "output comes as it is produced" {
	session slow
	echo a b c d e f g h i j k l m n o p q r s t u v w x > input
	timeout 30 python3 - <<-'PY'
		import os
		fd = os.open("output", os.O_RDONLY)
		pieces = []
		while True:
		    piece = os.read(fd, 4096)
		    if not piece:
		        break
		    pieces.append(piece.decode())
		assert "".join(pieces).rstrip("\n") == "one two three a b c d e f g h i j k l m n o p q r s t u v w x", pieces
		assert len(pieces) >= 3, pieces
	PY
}

@test "several readers get the whole answer each" {
	session echo
	echo "slow $(printf 'word %.0s' {1..10})" > input
	for n in 1 2 3 4 5; do
		background bash -c "cat output > '$TMP/out$n'"
	done
	wait "${BACKGROUND[@]}"
	BACKGROUND=()
	for n in 1 2 3 4 5; do
		same "$(cat output)" "$(cat "$TMP/out$n")"
	done
	same 'you said word word word' "$(head -c 23 output)"
}

@test "the size of a stream is what can be read, also for wc on standard input" {
	session
	say hi
	for file in output wait turns/1/output turns/1/stream.jsonl; do
		want=$(cat "$file" | wc -c)
		same "$want" "$(stat -c %s "$file")"
		same "$want" "$(wc -c < "$file")"
	done
}

@test "O_NONBLOCK: EAGAIN while nothing is there, then text, then the end" {
	session slow
	echo forever > input
	eventually 10 test -s output
	timeout 30 python3 - <<-'PY'
		import errno, os
		fd = os.open("output", os.O_RDONLY | os.O_NONBLOCK)
		got = b""
		try:
		    while True:
		        piece = os.read(fd, 100)
		        assert piece, "the end, while the turn runs"
		        got += piece
		except OSError as e:
		    assert e.errno == errno.EAGAIN, e
		assert got == b"begun ", got
	PY
}

@test "poll says when there is something to read" {
	session slow
	echo 'a b c' > input
	timeout 30 python3 - <<-'PY'
		import os, select
		fd = os.open("output", os.O_RDONLY | os.O_NONBLOCK)
		p = select.poll()
		p.register(fd, select.POLLIN)
		got = b""
		idle = 0
		while True:
		    assert p.poll(20000), "poll timed out"
		    try:
		        piece = os.read(fd, 100)
		    except BlockingIOError:
		        idle += 1
		        assert idle < 50, "poll says ready again and again, and read has nothing"
		        continue
		    if not piece:
		        break
		    got += piece
		assert got.rstrip(b"\n") == b"one two three a b c", got
	PY
}

@test "poll does not say ready while nothing is there" {
	session slow
	echo forever > input
	eventually 10 test -s output
	timeout 30 python3 - <<-'PY'
		import os, select
		fd = os.open("output", os.O_RDONLY | os.O_NONBLOCK)
		assert os.read(fd, 100) == b"begun "
		p = select.poll()
		p.register(fd, select.POLLIN)
		assert p.poll(300) == []
		w = os.open("wait", os.O_RDONLY | os.O_NONBLOCK)
		p = select.poll()
		p.register(w, select.POLLIN)
		assert p.poll(300) == []
	PY
}

@test "Ctrl-C on a blocked reader returns at once" {
	session slow
	echo forever > input
	eventually 10 test -s output
	for file in output wait turns/1/stream.jsonl; do
		timeout 20 python3 - "$file" <<-'PY'
			import os, signal, subprocess, sys, time, json
			stats = os.path.join(os.getcwd().split("/apps/")[0], ".adkfs/stats.json")
			reader = subprocess.Popen(["cat", sys.argv[1]], stdout=subprocess.DEVNULL)
			while json.load(open(stats))["parked"] < 1:
			    time.sleep(0.01)
			began = time.monotonic()
			reader.send_signal(signal.SIGINT)
			assert reader.wait() == -signal.SIGINT
			assert time.monotonic() - began < 1, time.monotonic() - began
			while json.load(open(stats))["parked"] > 0:
			    time.sleep(0.01)
		PY
	done
	same 'running 1' "$(cat status)"
}

@test "everything stays quick with 50 parked readers" {
	session slow
	echo forever > input
	for n in {1..25}; do
		background cat output > /dev/null
		background cat wait > /dev/null
	done
	eventually 20 parked 50
	timeout 20 python3 - <<-'PY'
		import os, subprocess, time
		began = time.monotonic()
		for n in range(20):
		    os.listdir(".")
		    os.stat("output")
		    open("status").read()
		    open("session.json").read()
		assert time.monotonic() - began < 2, time.monotonic() - began
	PY
	timeout 10 ls -lR "$MNT" > /dev/null
	echo 1 > state/x.json
	same 1 "$(cat state/x.json)"
	session echo
	say hi
	same 'you said hi' "$(cat output)"
	kill "${BACKGROUND[@]}"
	wait "${BACKGROUND[@]}" || :
	BACKGROUND=()
	eventually 10 not parked 1
}

@test "a reader that waits when the daemon ends gets an error" {
	session slow
	echo forever > input
	eventually 10 test -s output
	echo hi > input
	for file in turns/2/output wait turns/2/stream.jsonl; do
		background bash -c 'cat "$0" > "$1"; echo $? > "$1.status"' "$file" "$TMP/${file//\//-}"
	done
	eventually 10 parked 3
	cd "$TMP"
	kill -TERM "$DAEMON"
	daemon_ended 0
	for file in turns-2-output wait turns-2-stream.jsonl; do
		eventually 10 test -s "$file.status"
		same '1 0' "$(cat "$file.status" | xargs) $(stat -c %s "$file")"
	done
	daemon_start "${DAEMON_OPTIONS[@]}"
	back
	same 'one two three hi' "$(cat output)"
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

@test "a reader that polled and closed leaves nothing in the daemon" {
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

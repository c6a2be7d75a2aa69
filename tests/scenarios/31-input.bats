# input: messages, in all the forms that shells and programs give them.
load lib/mount

setup() {
	mount_setup
	session
}

# message_is TEXT: the next message is this, and it is one turn.
message_is() {
	TURN=$((TURN + 1))
	timeout 30 cat wait > /dev/null
	same $TURN "$(readlink turns/latest)"
	same "$1" "$(cat turns/$TURN/input)"
}

@test "a message in pieces is one message" {
	echo first > "$TMP/a"
	echo second > "$TMP/b"
	{ cat "$TMP/a"; cat "$TMP/b"; } > input
	same 'you said first
second' "$(cat output)"
	same 1 "$(readlink turns/latest)"
	exec 7> input
	printf 'by ' >&7
	printf 'descriptor' >&7
	same 1 "$(readlink turns/latest)"
	exec 7>&-
	same 'you said by descriptor' "$(cat output)"
	same 2 "$(readlink turns/latest)"
}

@test "two writers at once make two messages" {
	exec 7> input
	exec 6> input
	printf one >&7
	printf two >&6
	exec 7>&- 6>&-
	cat wait > /dev/null
	same 'one two' "$(cat turns/1/input turns/2/input | sort | xargs)"
}

@test "a dead child's copy of the descriptor does not end the message" {
	exec 7> input
	printf 'one ' >&7
	(: child holds 7)
	bash -c 'printf "two " >&7'
	printf 'three' >&7
	exec 7>&-
	same 'you said one two three' "$(cat output)"
	same 1 "$(readlink turns/latest)"
}

@test ">> is a message too, and a large one comes through whole" {
	echo appended >> input
	same 'you said appended' "$(cat output)"
	seq 200000 > "$TMP/large"
	cat "$TMP/large" > input
	cat wait > /dev/null
	cmp "$TMP/large" turns/2/input
}

@test "UTF-8 in pieces is fine, what is not UTF-8 is EINVAL" {
	{ printf '\xc3'; printf '\xa9'; } > input
	same 'you said é' "$(cat output)"
	run bash -c "printf 'bad \xff bytes' > input"
	[ "$status" -ne 0 ]
	[[ $output == *'Invalid argument'* ]]
	tail -n 1 .errors | jq -e '.name == "input" and .errno == "EINVAL"'
	python3 - <<-'PY'
		import errno, os
		fd = os.open("input", os.O_WRONLY)
		os.write(fd, b"cut \xc3")
		try:
		    os.close(fd)
		    raise SystemExit("close worked")
		except OSError as e:
		    assert e.errno == errno.EINVAL, e
	PY
	cat wait > /dev/null
	same 1 "$(readlink turns/latest)"
	same 2 "$(wc -l < events.jsonl)"
}

@test "an empty message starts nothing" {
	: > input
	touch input
	printf '' > input
	truncate -s 0 input
	same idle "$(cat status)"
	[ ! -e turns/1 ]
	[ ! -e turns/latest ]
	[ ! -s events.jsonl ]
}

@test "over 16 MiB is EFBIG and starts nothing" {
	head -c $((16 * 1024 * 1024 + 1)) /dev/zero | tr '\0' x > "$TMP/large"
	refused EFBIG bash -c "cat '$TMP/large' > input"
	tail -n 1 .errors | jq -e '.errno == "EFBIG"'
}

@test "each open for writing by a shell is one message" {
	TURN=0
	echo hi > input
	message_is hi
	cat <<-'EOF' > input
		two
		lines
	EOF
	message_is $'two\nlines'
	cat > input <<< here
	message_is here
	{ echo a; echo b; } > input
	message_is $'a\nb'
	(echo a; /bin/echo b; echo c) > input
	message_is $'a\nb\nc'
	exec 5> input
	echo one >&5
	/bin/echo two >&5
	sh -c 'echo three' >&5
	exec 5>&-
	message_is $'one\ntwo\nthree'
	echo tee | tee input > /dev/null
	message_is tee
	printf 'no newline' > input
	message_is 'no newline'
	printf 'two newlines\n\n' > input
	message_is 'two newlines'
	echo append >> input
	message_is append
	exec 5<> input
	echo both >&5
	exec 5>&-
	message_is both
	for n in 1 2 3; do echo $n; done > input
	message_is $'1\n2\n3'
	sh -c 'echo dash > input'
	message_is dash
	seq 3 | while read -r n; do echo "n$n"; done > input
	message_is $'n1\nn2\nn3'
	echo ümläut 🐝 > input
	message_is 'ümläut 🐝'
	printf 'crlf\r\n' > input
	message_is crlf
	printf '%s' '{"looks": "like json"}' > input
	message_is '{"looks": "like json"}'
}

@test "each open for writing by a program is one message" {
	TURN=0
	seq 1000 > "$TMP/thousand"
	dd if="$TMP/thousand" of=input bs=7 status=none
	message_is "$(seq 1000)"
	dd if="$TMP/thousand" of=input bs=100 oflag=append conv=notrunc status=none
	message_is "$(seq 1000)"
	cp "$TMP/thousand" input
	message_is "$(seq 1000)"
	cat "$TMP/thousand" - <<< end > input
	message_is "$(seq 1000)"$'\nend'
	sort -rn "$TMP/thousand" -o input
	message_is "$(seq 1000 -1 1)"
	awk 'BEGIN { print "awk" > "input" }'
	message_is awk
	curl -s -o input "file://$TMP/thousand"
	message_is "$(seq 1000)"
	python3 -c 'open("input", "w").write("python")'
	message_is python
	python3 -c 'import os; fd = os.open("input", os.O_WRONLY); os.write(fd, b"os"); os.lseek(fd, 0, 0) if 0 else None; os.write(fd, b".write"); os.close(fd)'
	message_is os.write
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
	message_is 'abc child child child parent after'
	python3 -c 'import os; os.write(os.open("input", os.O_WRONLY), b"killed"); os.kill(os.getpid(), 9)' || :
	message_is killed
	perl -e 'open(F, ">", "input"); print F "perl"; close(F) or die' 
	message_is perl
}

@test "an open without a write starts nothing, and bytes that are not UTF-8 are refused" {
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
	message_is fine
}

@test "writes may cut a character anywhere" {
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

# attachments/: files that ride along with the next message.
load lib/mount

# Every byte, as no type of file begins.
bytes() {
	python3 -c 'import sys; sys.stdout.buffer.write(bytes(range(255, -1, -1)) * int(sys.argv[1]))' "${1:-1}"
}

# The parts of the message of turn N, as JSON.
parts() {
	head -n 1 "turns/$1/events.jsonl" | jq -c .content.parts
}

# The bytes of part I of turn N.
part_bytes() {
	parts "$1" | jq -r ".[$2].inlineData.data" | tr -- '-_' '+/' | base64 -d
}

names() {
	find attachments -mindepth 1 -maxdepth 1 -printf '%f\n' | LC_ALL=C sort | xargs
}

@test "attachments go with the next message, after its text, in the order of names" {
	session
	same '' "$(ls -A attachments)"
	printf '\211PNG\r\n\032\n\0\0\0\rIHDR\0\0\0\001\0\0\0\001' > "$TMP/b.png"
	cp "$TMP/b.png" attachments/
	bytes > attachments/c.bin
	echo '{"a": 1}' > attachments/a.json
	same 'a.json b.png c.bin' "$(names)"
	cmp "$TMP/b.png" attachments/b.png
	same 256 "$(stat -c %s attachments/c.bin)"
	sizes_are_true .
	say 'look at these'
	same 'you said look at these' "$(cat output)"
	same 'look at these' "$(cat turns/1/input)"
	parts 1 | jq -e '.[0] == {text: "look at these"} and length == 4
		and ([.[1:][].inlineData | [.displayName, .mimeType]] ) ==
		[["a.json", "application/json"], ["b.png", "image/png"], ["c.bin", "application/octet-stream"]]'
	part_bytes 1 1 | cmp - <(echo '{"a": 1}')
	part_bytes 1 2 | cmp - "$TMP/b.png"
	part_bytes 1 3 | cmp - <(bytes)
	parts 1 | jq -e '.[3].inlineData.data | test("^[A-Za-z0-9_-]*=*$") and test("_") and test("-")'
	# They went with it.
	same '' "$(ls -A attachments)"
	refused ENOENT cat attachments/a.json
	not [ -e attachments/b.png ]
	say again
	same '[{"text":"again"}]' "$(parts 2)"
	same '' "$(jq -r .error .errors)"
}

@test "attachments go with input.json, after its own parts" {
	session
	echo note > attachments/n.txt
	echo '{"parts": [{"text": "x"}, {"inlineData": {"mimeType": "image/png", "data": "AAAA"}}]}' > input.json
	timeout 60 cat wait
	parts 1 | jq -e '[.[].inlineData.mimeType] == [null, "image/png", "text/plain"]'
	same note "$(part_bytes 1 2)"
	same '' "$(names)"
}

@test "an empty message and a refused message leave the attachments" {
	session
	echo keep > attachments/k
	: > input
	echo > input
	echo '  ' > input.json
	refused EINVAL bash -c 'printf "\xff" > input'
	refused EINVAL bash -c 'echo "{}" > input.json'
	same k "$(names)"
	same keep "$(cat attachments/k)"
	not [ -e turns/1 ]
	say go
	same keep "$(part_bytes 1 1)"
}

# Write a file, say so, and close it when told to.
write_slowly() {
	python3 - "$1" "$TMP" <<-'PY'
		import os, sys, time
		with open(sys.argv[1], "wb") as f:
		    f.write(b"newer\n")
		    f.flush()
		    open(sys.argv[2] + "/written", "w").close()
		    while not os.path.exists(sys.argv[2] + "/go"):
		        time.sleep(0.01)
	PY
}

@test "a file is replaced by the close, and readers have the old bytes until then" {
	session
	echo old > attachments/f
	background write_slowly attachments/f
	eventually 10 test -e "$TMP/written"
	same old "$(cat attachments/f)"
	same 4 "$(stat -c %s attachments/f)"
	touch "$TMP/go"
	wait "$PID"
	same newer "$(cat attachments/f)"
	same 6 "$(stat -c %s attachments/f)"
	echo longer >> attachments/f
	same 'newer longer' "$(xargs < attachments/f)"
	same 13 "$(stat -c %s attachments/f)"
	printf X | dd of=attachments/f bs=1 seek=1 conv=notrunc status=none
	same 'nXwer longer' "$(xargs < attachments/f)"
	truncate -s 2 attachments/f
	same nX "$(cat attachments/f)"
	truncate -s 4 attachments/f
	same ' 6e 58 00 00' "$(od -An -tx1 attachments/f)"
	same 1 "$(find attachments -type f | wc -l)"
	rm attachments/f
	refused ENOENT cat attachments/f
	same '' "$(names)"
	say go
	same '[{"text":"go"}]' "$(parts 1)"
}

@test "a program that writes sees its own bytes and their size" {
	session
	echo 0123456789 > attachments/f
	python3 - attachments/f <<-'PY'
		import os, sys, mmap
		with open(sys.argv[1], "r+b") as f:
		    f.seek(0, 2)
		    assert f.tell() == 11, f.tell()
		    f.write(b"abc")
		    f.flush()
		    assert os.fstat(f.fileno()).st_size == 14
		    f.seek(9)
		    assert f.read() == b"9\nabc"
		    assert open(sys.argv[1], "rb").read() == b"0123456789\n"
		    f.truncate(5)
		    f.seek(0)
		    assert f.read() == b"01234"
		assert open(sys.argv[1], "rb").read() == b"01234"
	PY
}

@test "a file that is made and left empty is an attachment too" {
	session
	: > attachments/e
	say go
	parts 1 | jq -e '.[1].inlineData.displayName == "e" and .[1].inlineData.data == ""'
	touch attachments/t
	eventually 5 test "$(names)" = t
	echo full > attachments/f
	: > attachments/f
	same 0 "$(stat -c %s attachments/f)"
	say more
	parts 2 | jq -e '[.[1:][].inlineData | [.displayName, .data]] == [["f", ""], ["t", ""]]'
	same '' "$(names)"
}

@test "a file that was just made can be removed and renamed, closed or not" {
	session
	python3 - <<-'PY'
		import errno, os
		def names():
		    return os.listdir("attachments")
		def make(name):
		    os.close(os.open("attachments/" + name, os.O_CREAT | os.O_WRONLY))
		# The kernel tells of the last close after close(2) has returned.
		for i in range(500):
		    make("f%d" % i)
		    os.unlink("attachments/f%d" % i)
		assert names() == []
		for i in range(100):
		    make("f%d" % i)
		    os.rename("attachments/f%d" % i, "attachments/g")
		assert names() == ["g"]
		os.unlink("attachments/g")
		with open("attachments/f", "w") as f:
		    os.unlink("attachments/f")
		    assert not os.path.exists("attachments/f")
		    f.write("lost")
		assert names() == []
		open("attachments/kept", "w").write("old")
		for replaced in ("kept", "being made", "new"):
		    with open("attachments/f", "w") as f:
		        other = open("attachments/being made", "w") if replaced == "being made" else None
		        f.write("told")
		        os.rename("attachments/f", "attachments/" + replaced)
		        f.write(" more")
		        if other:
		            other.write("lost")
		            other.close()
		    assert open("attachments/" + replaced).read() == "told more", replaced
		assert sorted(names()) == ["being made", "kept", "new"]
		with open("attachments/f", "w"):
		    try:
		        os.rename("attachments/f", "attachments/.f")
		        raise SystemExit("renamed")
		    except OSError as e:
		        assert e.errno == errno.EBUSY
		os.unlink("attachments/f")
	PY
	say go
	parts 1 | jq -e '[.[1:][].inlineData | [.displayName, (.data | @base64d)]]
		== [["being made", "told more"], ["kept", "told more"], ["new", "told more"]]'
}

@test "attachments: names that are allowed, and names that are refused" {
	session
	echo 1 > 'attachments/with space and ü.txt'
	echo 2 > 'attachments/%2Edot'
	echo 3 > 'attachments/a%2Fb'
	refused EINVAL touch 'attachments/100%'
	refused EINVAL touch 'attachments/a%00b'
	refused EINVAL touch "$(printf 'attachments/\xff')"
	refused EPERM mkdir attachments/sub
	refused EPERM ln -s x attachments/link
	refused EPERM ln attachments/a%2Fb attachments/other
	refused EPERM mkfifo attachments/fifo
	refused ENAMETOOLONG touch "attachments/$(printf 'x%.0s' {1..256})"
	long=$(printf 'ü%.0s' {1..127})
	echo 4 > "attachments/$long"
	same "$(printf '%s\n' '%2Edot' 'a%2Fb' "with space and ü.txt" "$long" | LC_ALL=C sort)" \
		"$(ls attachments | LC_ALL=C sort)"
	say go
	parts 1 | jq -e --arg long "$long" '[.[1:][].inlineData.displayName] ==
		[".dot", "a/b", "with space and ü.txt", $long]'
}

@test "a scratch file stays, and a rename makes an attachment of it" {
	session
	echo draft > attachments/.tmp
	same .tmp "$(ls -A attachments)"
	not [ -e state/.tmp ]
	not [ -e artifacts/.tmp ]
	say one
	same '[{"text":"one"}]' "$(parts 1)"
	same draft "$(cat attachments/.tmp)"
	mv attachments/.tmp attachments/.other
	mv attachments/.other attachments/f.md
	same f.md "$(ls -A attachments)"
	same draft "$(cat attachments/f.md)"
	mv attachments/f.md attachments/f.json
	same f.json "$(ls -A attachments)"
	echo second > attachments/g
	mv attachments/g attachments/f.json
	same f.json "$(ls -A attachments)"
	same second "$(cat attachments/f.json)"
	mv attachments/f.json attachments/.held
	echo third > attachments/h.png
	mv -n attachments/.held attachments/h.png || :
	same third "$(cat attachments/h.png)"
	mv attachments/h.png attachments/i.png
	mv -n attachments/i.png attachments/.held || :
	mv attachments/i.png attachments/h.png
	say two
	parts 2 | jq -e '[.[1:][].inlineData.displayName] == ["h.png"]'
	same second "$(cat attachments/.held)"
	echo x > attachments/name.txt
	sed -i s/x/y/ attachments/name.txt
	same y "$(cat attachments/name.txt)"
	same 'name.txt' "$(ls attachments)"
	mkdir ../s2
	echo z > attachments/z
	mv attachments/z ../s2/attachments/
	same z "$(cat ../s2/attachments/z)"
	same 'name.txt' "$(ls attachments)"
	echo mine > artifacts/z
	refused EXDEV python3 -c 'import os; os.rename("artifacts/z", "attachments/z")' ||
		[[ $output == *'Invalid cross-device link'* ]]
	mv artifacts/z attachments/z
	rm attachments/z
	rm attachments/.held
	same 'name.txt' "$(ls -A attachments)"
}

@test "all attachments together have the limit of a message" {
	session
	head -c 8388608 /dev/zero > attachments/a
	refused EFBIG bash -c 'head -c 8388608 /dev/zero > attachments/b'
	jq -e 'select(.name == "attachments/b") | .error | test("12582912")' .errors > /dev/null
	same a "$(names)"
	head -c 4194304 /dev/zero > attachments/b
	refused EFBIG bash -c 'echo > attachments/c'
	refused EFBIG truncate -s 4194305 attachments/b
	refused EFBIG bash -c 'echo x >> attachments/b'
	same 4194304 "$(stat -c %s attachments/b)"
	refused EFBIG bash -c 'head -c 9000000 /dev/zero > attachments/a'
	python3 - <<-'PY' # what was written before a refused truncation counts
		import os
		fd = os.open("attachments/b", os.O_RDWR)
		os.pwrite(fd, b"x", 0)
		try:
		    os.ftruncate(fd, 4194305)
		    raise SystemExit("not refused")
		except OSError:
		    pass
		assert os.fstat(fd).st_size == 4194304
		os.close(fd)
	PY
	same x "$(head -c 1 attachments/b)"
	same 8388608 "$(stat -c %s attachments/a)"
	# A file takes its own place.
	head -c 8388608 /dev/urandom > "$TMP/a"
	cp "$TMP/a" attachments/a
	cmp "$TMP/a" attachments/a
	head -c 13000000 /dev/zero > attachments/.big
	refused EFBIG mv attachments/.big attachments/big
	say go
	part_bytes 1 1 | cmp - "$TMP/a"
	same 4194304 "$(part_bytes 1 2 | wc -c)"
	same 'you said go' "$(cat output)"
	head -c 12582912 /dev/zero > attachments/a
	same '.big a' "$(names)"
}

@test "attachments survive kill -9, and go with a message that survived" {
	session
	bytes 8 > attachments/b
	echo keep > attachments/k
	rm attachments/k
	exec 4> input
	echo waiting >&4
	exec 5>&4 5>&- # a close: the message is in the store
	daemon_kill
	exec 4>&- || :
	cd "$TMP"
	daemon_start
	back
	timeout 30 cat wait
	same 'you said waiting' "$(cat output)"
	part_bytes 1 1 | cmp - <(bytes 8)
	same '' "$(names)"
	echo next > attachments/n
	echo gone > attachments/.scratch
	daemon_kill
	cd "$TMP"
	daemon_start
	back
	same n "$(ls -A attachments)"
	same next "$(cat attachments/n)"
	say two
	same next "$(part_bytes 2 1)"
}

@test "a fork has no attachments, and removing a session removes them" {
	session
	say hello
	echo mine > attachments/m
	echo 'fork s2' > ctl
	same '' "$(ls -A ../s2/attachments)"
	same m "$(names)"
	cd ..
	rm -r s1
	mkdir s1
	same '' "$(ls -A s1/attachments)"
	echo x > s1/attachments/x
	rmdir s1
	mkdir s1
	same '' "$(ls -A s1/attachments)"
}

@test "an attachment that is written while a message goes is for the next message" {
	session
	echo old > attachments/f
	python3 - <<-'PY'
		import os
		with open("attachments/f", "ab") as f:
		    f.write(b"more\n")
		    f.flush()
		    with open("input", "w") as message:
		        message.write("one")
		    open("wait").read()
		    assert os.listdir("attachments") == []
	PY
	same old "$(part_bytes 1 1)"
	same f "$(names)"
	same 'old more' "$(xargs < attachments/f)"
	# But nothing comes of a file that was removed, or replaced.
	echo other > attachments/other
	python3 - <<-'PY'
		import os
		with open("attachments/f", "ab") as f:
		    f.write(b"lost\n")
		    f.flush()
		    os.unlink("attachments/f")
		with open("attachments/other", "ab") as f:
		    open("attachments/new", "w").write("new")
		    f.write(b"lost\n")
		    f.flush()
		    os.rename("attachments/new", "attachments/other")
	PY
	same other "$(names)"
	same new "$(cat attachments/other)"
	# One that is renamed while it is open is saved under its new name.
	python3 - <<-'PY'
		import os
		with open("attachments/other", "ab") as f:
		    f.write(b" end")
		    f.flush()
		    os.rename("attachments/other", "attachments/renamed")
	PY
	same renamed "$(names)"
	same 'new end' "$(cat attachments/renamed)"
	rm attachments/renamed
	# Who reads one keeps it.
	bytes 4000 > attachments/r
	exec 4< attachments/r
	head -c 10 <&4 > /dev/null
	say two
	same '' "$(names)"
	same 1023990 "$(wc -c <&4)"
	exec 4<&-
}

# So that many messages take some.
few_files() {
	[ "$(ls attachments | wc -l)" -lt 8 ]
}

# Put files there until the end; each of them has to be in one message, whole.
put_files() {
	local n

	for n in $(seq "$1"); do
		eventually 30 few_files
		echo "$n $n $n" > "attachments/f$n"
	done
}

@test "many writers and many messages: each file goes once, and whole" {
	session
	background put_files 150
	n=0
	until gone "$PID"; do
		n=$((n + 1))
		echo "m$n" > input
	done
	wait "$PID"
	say last
	same '' "$(names)"
	same "$(seq 150 | sed 's/.*/& & &/' | sort)" \
		"$(jq -r '.content.parts[]? | .inlineData.data // empty' events.jsonl | tr -- '-_' '+/' |
			base64 -di | sort)"
	same $((n + 1)) "$(jq -r 'select(.author == "user") | .id' events.jsonl | wc -l)"
}

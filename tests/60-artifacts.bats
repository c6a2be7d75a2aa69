# Artifacts: files that are kept in versions.
load lib/mount

setup() {
	mount_setup
	session
}

versions() {
	ls artifacts/.versions/"$1" | grep -v json | sort -n | xargs
}

@test "cp in and out, of text and of any bytes" {
	head -c 300000 /dev/urandom > "$TMP/data"
	cp "$TMP/data" artifacts/data.bin
	cmp "$TMP/data" artifacts/data.bin
	cp artifacts/data.bin "$TMP/back"
	cmp "$TMP/data" "$TMP/back"
	echo text > artifacts/a.txt
	same text "$(cat artifacts/a.txt)"
	same "a.txt data.bin" "$(ls artifacts | xargs)"
	same 300000 "$(stat -c %s artifacts/data.bin)"
}

@test "each save is a version, from 1 up" {
	for n in one two three; do
		echo $n > artifacts/a.txt
	done
	same "1 2 3" "$(versions a.txt)"
	same "one two three" "$(cat artifacts/.versions/a.txt/[123] | xargs)"
	same three "$(cat artifacts/a.txt)"
	daemon_restart
	back
	same "1 2 3" "$(versions a.txt)"
	same "one two three" "$(cat artifacts/.versions/a.txt/[123] | xargs)"
}

@test "what is known about a version" {
	echo hello > artifacts/a.txt
	printf '\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\1\0\0\0\1\10\2\0\0\0' > artifacts/chart.png
	jq -e '.version == 1 and (.mimeType | startswith("text/plain")) and .size == 6 and .createTime
		and (.canonicalUri | length > 5)' artifacts/.versions/a.txt/1.json
	same image/png "$(jq -r .mimeType artifacts/.versions/chart.png/1.json)"
	same "$(stat -c %s artifacts/.versions/a.txt/1.json)" "$(cat artifacts/.versions/a.txt/1.json | wc -c)"
}

@test "versions cannot be written" {
	echo one > artifacts/a.txt
	run bash -c 'echo x > artifacts/.versions/a.txt/1'
	[ "$status" -ne 0 ]
	run truncate -s 0 artifacts/.versions/a.txt/1
	[ "$status" -ne 0 ]
	same one "$(cat artifacts/.versions/a.txt/1)"
}

@test "directories, and names in them" {
	mkdir -p artifacts/reports/2024
	echo q1 > artifacts/reports/2024/q1.txt
	echo q2 > artifacts/reports/2024/q1.txt
	same q2 "$(cat artifacts/reports/2024/q1.txt)"
	same q1 "$(cat artifacts/.versions/reports/2024/q1.txt/1)"
	jq -s -e 'last.actions.artifactDelta == {"reports/2024/q1.txt": 2}' events.jsonl
	run rmdir artifacts/reports
	[ "$status" -ne 0 ]
	rm -r artifacts/reports
	[ ! -e artifacts/reports ]
	[ ! -e artifacts/.versions/reports ]
}

@test "cp -r, diff -r" {
	mkdir -p "$TMP/tree/a/b" "$TMP/tree/c"
	for f in x a/x a/b/x c/x; do
		seq 1000 > "$TMP/tree/$f"
	done
	cp -r "$TMP/tree" artifacts/
	diff -r "$TMP/tree" artifacts/tree
}

@test "rm of a version leaves the others" {
	for n in one two three; do
		echo $n > artifacts/a.txt
	done
	rm artifacts/.versions/a.txt/2
	same "1 3" "$(versions a.txt)"
	same three "$(cat artifacts/a.txt)"
	rm artifacts/.versions/a.txt/3
	same one "$(cat artifacts/a.txt)"
	same 1 "$(versions a.txt)"
}

@test "rm of the name removes all versions, and numbers are not used again" {
	echo one > artifacts/a.txt
	echo two > artifacts/a.txt
	rm artifacts/a.txt
	[ ! -e artifacts/a.txt ]
	[ ! -e artifacts/.versions/a.txt ]
	echo three > artifacts/a.txt
	same 3 "$(versions a.txt)"
	rm artifacts/.versions/a.txt/3
	[ ! -e artifacts/a.txt ]
	daemon_restart
	back
	echo four > artifacts/a.txt
	same 4 "$(versions a.txt)"
}

@test "a save is an event with artifactDelta" {
	echo one > artifacts/a.txt
	echo two > artifacts/a.txt
	same 2 "$(wc -l < events.jsonl)"
	same '[{"a.txt":1},{"a.txt":2}]' "$(jq -sc 'map(.actions.artifactDelta)' events.jsonl)"
	jq -s -e 'all(.author == "user")' events.jsonl
}

@test "an open for reading, or without a change, is no version" {
	echo one > artifacts/a.txt
	cat artifacts/a.txt > /dev/null
	touch artifacts/a.txt
	: >> artifacts/a.txt
	exec 8<> artifacts/a.txt
	exec 8<&-
	same 1 "$(versions a.txt)"
}

@test "an empty file is a version" {
	: > artifacts/empty
	[ -e artifacts/empty ]
	same 1 "$(versions empty)"
	same 0 "$(stat -c %s artifacts/empty)"
	echo one > artifacts/a.txt
	: > artifacts/a.txt
	same "1 2" "$(versions a.txt)"
	same '' "$(cat artifacts/a.txt)"
	touch artifacts/touched
	same 1 "$(versions touched)"
	same 0 "$(jq .size artifacts/.versions/touched/1.json)"
}

@test "{ cat a; cat b; } > artifacts/x is one version" {
	echo one > "$TMP/a"
	echo two > "$TMP/b"
	{ cat "$TMP/a"; cat "$TMP/b"; } > artifacts/x
	same "one two" "$(cat artifacts/x | xargs)"
	same 1 "$(versions x)"
	same 1 "$(wc -l < events.jsonl)"
}

@test "append and write in the middle" {
	echo one > artifacts/a.txt
	echo two >> artifacts/a.txt
	same "one two" "$(cat artifacts/a.txt | xargs)"
	same "1 2" "$(versions a.txt)"
	printf X | dd of=artifacts/a.txt bs=1 seek=1 conv=notrunc status=none
	same "oXe two" "$(cat artifacts/a.txt | xargs)"
	same one "$(cat artifacts/.versions/a.txt/1)"
	seq 10000 > artifacts/seq
	echo end >> artifacts/seq
	cmp <(seq 10000; echo end) artifacts/seq
}

@test "truncate, shorter and longer, by name and by descriptor" {
	echo hello > artifacts/a.txt
	truncate -s 3 artifacts/a.txt
	same hel "$(cat artifacts/a.txt)"
	same 3 "$(stat -c %s artifacts/a.txt)"
	truncate -s 5 artifacts/a.txt
	same '68656c0000' "$(od -An -tx1 artifacts/a.txt | tr -d ' \n')"
	same hello "$(cat artifacts/.versions/a.txt/1)"
	python3 - <<-'PY'
		import os
		fd = os.open("artifacts/a.txt", os.O_RDWR)
		os.ftruncate(fd, 1)
		os.pwrite(fd, b"ey", 1)
		assert os.pread(fd, 10, 0) == b"hey", os.pread(fd, 10, 0)
		os.close(fd)
	PY
	same hey "$(cat artifacts/a.txt)"
}

@test "a private and a read-only mapping" {
	seq 5000 > artifacts/m
	python3 - <<-'PY'
		import mmap, os
		want = b"".join(b"%d\n" % n for n in range(1, 5001))
		fd = os.open("artifacts/m", os.O_RDONLY)
		assert mmap.mmap(fd, 0, prot=mmap.PROT_READ)[:] == want
		m = mmap.mmap(fd, 0, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ | mmap.PROT_WRITE)
		m[0:4] = b"ABCD"
		m.close()
	PY
	same 1 "$(versions m)"
}

# A child of the shell would close its copy of the descriptor, which saves: so without children.
@test "an overwrite is atomic: readers see the old version until the close" {
	echo old > artifacts/a.txt
	python3 - <<-'PY'
		import os
		def now():
		    fd = os.open("artifacts/a.txt", os.O_RDONLY)
		    text = os.read(fd, 1000)
		    os.close(fd)
		    return text
		reader = os.open("artifacts/a.txt", os.O_RDONLY)
		fd = os.open("artifacts/a.txt", os.O_WRONLY | os.O_TRUNC)
		assert now() == b"old\n", now()
		os.write(fd, b"a longer text\n")
		assert now() == b"old\n", now()
		assert os.pread(reader, 1000, 0) == b"old\n", os.pread(reader, 1000, 0)
		assert [n for n in os.listdir("artifacts/.versions/a.txt") if "json" not in n] == ["1"]
		os.close(fd)
		assert now() == b"a longer text\n", now()
		assert os.stat("artifacts/a.txt").st_size == 14
		fd = os.open("artifacts/fresh", os.O_WRONLY | os.O_CREAT)
		os.write(fd, b"half")
		assert not os.path.exists("artifacts/.versions/fresh")
		os.close(fd)
	PY
	same "1 2" "$(versions a.txt)"
	same half "$(cat artifacts/fresh)"
}

@test "others see the old size until the close, who writes the new one" {
	echo old > artifacts/a.txt
	python3 - <<-'PY'
		import os, subprocess
		# Started before the file is open: a child that has it and ends closes it.
		other = subprocess.Popen(["sh", "-c", "read _; stat -c %s artifacts/a.txt; cat artifacts/a.txt"],
			stdin=subprocess.PIPE, stdout=subprocess.PIPE)
		fd = os.open("artifacts/a.txt", os.O_WRONLY | os.O_TRUNC)
		os.write(fd, b"a longer text\n")
		assert os.fstat(fd).st_size == 14, os.fstat(fd).st_size
		seen = other.communicate(b"\n")[0]
		assert seen == b"4\nold\n", seen
		assert os.fstat(fd).st_size == 14, os.fstat(fd).st_size
		os.close(fd)
		assert os.stat("artifacts/a.txt").st_size == 14
	PY
}

@test "a user's artifacts are links in its sessions" {
	echo shared > ../../artifacts/s.txt
	[ -L artifacts/user:s.txt ]
	same ../../../artifacts/s.txt "$(readlink artifacts/user:s.txt)"
	same shared "$(cat artifacts/user:s.txt)"
	[ ! -s events.jsonl ]
	echo again > artifacts/user:s.txt
	same again "$(cat ../../artifacts/s.txt)"
	echo new > artifacts/user:n.txt
	[ -L artifacts/user:n.txt ]
	same new "$(cat ../../artifacts/n.txt)"
	jq -s -e 'last.actions.artifactDelta == {"user:n.txt": 1}' events.jsonl
	session echo ann s2
	same new "$(cat artifacts/user:n.txt)"
	rm artifacts/user:n.txt
	same new "$(cat ../../artifacts/n.txt)"
	rm ../../artifacts/s.txt
	[ ! -L artifacts/user:s.txt ]
}

@test "names with %, spaces, dots and any script" {
	for name in '100%25.txt' 'with space' '%2Ehidden' 'ünï 😀.txt'; do
		echo "$name" > "artifacts/$name"
		same "$name" "$(cat "artifacts/$name")"
	done
	jq -s -e 'map(.actions.artifactDelta | keys[]) ==
		["100%.txt", "with space", ".hidden", "ünï 😀.txt"]' events.jsonl
	refused EINVAL touch artifacts/%zz
	long=$(printf 'x%.0s' {1..255})
	echo x > "artifacts/$long"
	same x "$(cat "artifacts/$long")"
}

@test "listings and lookups of artifacts are never stale" {
	for n in 1 2 3 4 5; do
		[ ! -e artifacts/f$n ]
		ls artifacts artifacts/.versions > /dev/null
		echo $n > artifacts/f$n
		same $n "$(ls artifacts | wc -l)"
		same $n "$(ls artifacts/.versions | wc -l)"
		same $n "$(cat artifacts/f$n)"
		echo again $n > artifacts/f$n
		same "again $n" "$(cat artifacts/f$n)"
		same "1 2" "$(versions f$n)"
	done
	rm artifacts/f3
	same "f1 f2 f4 f5" "$(ls artifacts | xargs)"
}

@test "an open of an old version stays what it was" {
	seq 1000 > artifacts/a
	exec 8< artifacts/.versions/a/1
	seq 2000 > artifacts/a
	cmp <(seq 1000) - <&8
	exec 8<&-
}

@test "4 writers to one name: each save is a version, none is mixed" {
	for w in 1 2 3 4; do
		background bash -c "for i in {1..10}; do yes $w | head -c 5000 > artifacts/x; done"
	done
	wait "${BACKGROUND[@]}"
	BACKGROUND=()
	same "$(seq 40 | xargs)" "$(versions x)"
	for v in {1..40}; do
		same 1 "$(sort -u "artifacts/.versions/x/$v" | grep -c .)"
	done
	same "$(seq 40 | xargs)" "$(jq -r '.actions.artifactDelta.x' events.jsonl | xargs)"
}

@test "a copy of 64 MiB, in and out" {
	head -c 67108864 /dev/urandom > "$TMP/large"
	cp "$TMP/large" artifacts/large
	same 67108864 "$(stat -c %s artifacts/large)"
	cmp "$TMP/large" artifacts/large
	dd if=artifacts/large bs=1M skip=40 count=2 status=none | cmp - <(dd if="$TMP/large" bs=1M skip=40 count=2 status=none)
	[ "$(awk '/VmHWM/ {print $2}' "/proc/$DAEMON/status")" -lt 600000 ]
	daemon_restart
	back
	cmp "$TMP/large" artifacts/large
}

@test "a sparse file of 1 GiB" {
	truncate -s 1G artifacts/sparse
	printf end | dd of=artifacts/sparse bs=1 seek=1073741820 conv=notrunc status=none
	same 1073741824 "$(stat -c %s artifacts/sparse)"
	same end "$(tail -c 4 artifacts/sparse | tr -d '\0')"
	same 0 "$(head -c 100000 artifacts/sparse | tr -d '\0' | wc -c)"
}

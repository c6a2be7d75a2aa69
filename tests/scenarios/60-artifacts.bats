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

@test "a version's .json shows what is known about it" {
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

@test "other processes see the old size until the close, the writer sees the new one" {
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

# Bytes that the files beside the engine take on the disk.
stored() {
	du -s --block-size=1 "$STORE/bulk" | cut -f 1
}

@test "a change in a large artifact stores only what changed" {
	head -c 64M /dev/urandom > "$TMP/big"
	cp "$TMP/big" artifacts/big
	before=$(stored)
	for at in 1000000 33554432 67108860; do
		printf change | dd of=artifacts/big bs=1 seek=$at conv=notrunc status=none
		printf change | dd of="$TMP/big" bs=1 seek=$at conv=notrunc status=none
	done
	cmp artifacts/big "$TMP/big"
	same "1 2 3 4" "$(versions big)"
	[ $(($(stored) - before)) -lt 200000 ]
	echo tail >> artifacts/big
	echo tail >> "$TMP/big"
	cmp artifacts/big "$TMP/big"
	truncate -s 40M artifacts/big
	truncate -s 40M "$TMP/big"
	cmp artifacts/big "$TMP/big"
	[ $(($(stored) - before)) -lt 300000 ]
	rm artifacts/.versions/big/1
	cmp artifacts/big "$TMP/big"
	daemon_restart
	back
	cmp artifacts/big "$TMP/big"
	rm artifacts/big
	eventually 10 eval '[ "$(find "$STORE/bulk" -type f | wc -l)" = 0 ]'
}

@test "many small changes: the old versions stay, the files stay few" {
	head -c 300000 /dev/urandom > "$TMP/v0"
	cp "$TMP/v0" artifacts/f
	python3 - "$TMP" <<-'PY'
		import os, random, sys
		random.seed(7)
		data = bytearray(open("artifacts/f", "rb").read())
		for n in range(2, 202):
		    at = random.randrange(len(data) - 100)
		    piece = random.randbytes(random.randrange(1, 100))
		    data[at:at + len(piece)] = piece
		    fd = os.open("artifacts/f", os.O_RDWR)
		    os.pwrite(fd, piece, at)
		    os.close(fd)
		    if n % 50 == 0:
		        open(f"{sys.argv[1]}/v{n}", "wb").write(data)
		assert open("artifacts/f", "rb").read() == data
	PY
	for n in 50 100 150 200; do
		cmp "$TMP/v$n" artifacts/.versions/f/$n
	done
	cmp "$TMP/v0" artifacts/.versions/f/1
	for n in $(seq 1 2 199); do
		rm artifacts/.versions/f/$n
	done
	for n in 50 100 150 200; do
		cmp "$TMP/v$n" artifacts/.versions/f/$n
	done
}

@test "a copy within the mount shares the bytes" {
	head -c 32M /dev/urandom > "$TMP/big"
	cp "$TMP/big" artifacts/a
	before=$(stored)
	cp artifacts/a artifacts/b
	cp artifacts/a ../../artifacts/c
	session echo ann s2
	cp ../s1/artifacts/a artifacts/d
	[ $(($(stored) - before)) -lt 1000000 ]
	rm ../s1/artifacts/a
	cmp "$TMP/big" ../s1/artifacts/b
	cmp "$TMP/big" artifacts/user:c
	cmp "$TMP/big" artifacts/d
	printf x | dd of=artifacts/d bs=1 conv=notrunc status=none
	cmp "$TMP/big" artifacts/user:c
	daemon_restart
	back
	cmp "$TMP/big" artifacts/user:c
}

@test "mmap: what is written through a shared mapping is the version" {
	head -c 20000 /dev/zero > artifacts/m
	python3 - <<-'PY'
		import mmap, os
		with open("artifacts/m", "r+b") as f:
		    m = mmap.mmap(f.fileno(), 0)
		    m[5000:5005] = b"hello"
		    m.flush()
		    assert os.pread(f.fileno(), 5, 5000) == b"hello"
		    os.pwrite(f.fileno(), b"HELLO", 15000)
		    assert m[15000:15005] == b"HELLO"
		    m[19995:20000] = b"tail!"
		    m.close()
		data = open("artifacts/m", "rb").read()
		assert data[5000:5005] + data[15000:15005] + data[19995:] == b"helloHELLOtail!", data
		with open("artifacts/new", "w+b") as f:
		    f.truncate(10000)
		    m = mmap.mmap(f.fileno(), 0)
		    m[9000:9003] = b"new"
		    m.close()
		assert open("artifacts/new", "rb").read() == bytes(9000) + b"new" + bytes(997)
		with open("artifacts/new", "rb") as f:
		    m = mmap.mmap(f.fileno(), 0, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_WRITE)
		    m[0:3] = b"own"
		    assert m[9000:9003] == b"new"
		    m.close()
		assert open("artifacts/new", "rb").read(3) == bytes(3)
	PY
	same "1 2" "$(versions m)"
	same 1 "$(versions new)"
}

@test "scratch files: a name with a dot, and its rename that publishes" {
	echo one > artifacts/a.txt
	echo two > artifacts/.a.txt.tmp
	same '.a.txt.tmp a.txt' "$(ls -A artifacts | xargs)"
	same 1 "$(wc -l < events.jsonl)"
	[ ! -e artifacts/.versions/.a.txt.tmp ]
	inode=$(stat -c %i artifacts/.a.txt.tmp)
	mv artifacts/.a.txt.tmp artifacts/a.txt
	same two "$(cat artifacts/a.txt)"
	same "$inode" "$(stat -c %i artifacts/a.txt)"
	same "1 2" "$(versions a.txt)"
	same one "$(cat artifacts/.versions/a.txt/1)"
	jq -s -e 'last.actions.artifactDelta == {"a.txt": 2}' events.jsonl
	echo three > artifacts/.t
	mv artifacts/.t artifacts/user:u.txt
	[ -L artifacts/user:u.txt ]
	same three "$(cat ../../artifacts/u.txt)"
	echo gone > artifacts/.g
	mv artifacts/a.txt artifacts/.b
	same two "$(cat artifacts/.b)"
	[ ! -e artifacts/.versions/a.txt ]
	daemon_restart
	back
	same 'user:u.txt' "$(ls -A artifacts)"
	eventually 10 eval '[ "$(find "$STORE/bulk" -type f | wc -l)" = 1 ]'
}

@test "rename: a new version of the new name, the old one goes" {
	echo a1 > artifacts/a
	echo a2 > artifacts/a
	echo b1 > artifacts/b
	mv artifacts/a artifacts/b
	same a2 "$(cat artifacts/b)"
	same b1 "$(cat artifacts/.versions/b/1)"
	same "1 2" "$(versions b)"
	[ ! -e artifacts/a ]
	[ ! -e artifacts/.versions/a ]
	jq -s -e 'last.actions.artifactDelta == {"b": 2}' events.jsonl
	echo again > artifacts/a
	same 3 "$(versions a)"
	mkdir artifacts/d
	mv artifacts/b artifacts/d/c.png
	same a2 "$(cat artifacts/d/c.png)"
	same '"d/c.png"' "$(jq -c 'select(.actions.artifactDelta["d/c.png"]) | .actions.artifactDelta | keys[0]' events.jsonl)"
	same image/png "$(jq -r .mimeType artifacts/.versions/d/c.png/1.json)"
	# A directory that holds something is copied by mv, name by name.
	mv artifacts/d artifacts/e
	same a2 "$(cat artifacts/e/c.png)"
	[ ! -e artifacts/d ]
	mkdir artifacts/empty
	mv artifacts/empty artifacts/moved
	[ -d artifacts/moved ]
	[ ! -e artifacts/empty ]
	refused EPERM mv artifacts/.versions/e artifacts/x
	daemon_restart
	back
	same a2 "$(cat artifacts/e/c.png)"
}

@test "an open file keeps its bytes when its name is removed or replaced" {
	echo one > artifacts/a
	echo two > artifacts/b
	python3 - <<-'PY'
		import os
		a = open("artifacts/a", "r+")
		os.rename("artifacts/a", "artifacts/c")
		assert a.read() == "one\n"
		a.write("more\n")
		a.close()
		assert open("artifacts/c").read() == "one\nmore\n"
		b = open("artifacts/b", "r+")
		os.unlink("artifacts/b")
		assert os.fstat(b.fileno()).st_nlink == 0
		assert b.read() == "two\n"
		b.write("lost")
		b.flush()
		b.seek(0)
		assert b.read() == "two\nlost"
		b.close()
		assert not os.path.exists("artifacts/b")
	PY
	same "1 2" "$(versions c)"
	echo old > artifacts/d
	exec 8< artifacts/d
	echo newer > artifacts/d
	rm artifacts/d
	same newer "$(cat <&8)"
	echo old > artifacts/d
	exec 8< artifacts/d
	echo newer > artifacts/d
	echo other > artifacts/e
	mv artifacts/e artifacts/d
	same newer "$(cat <&8)"
	exec 8<&-
}

@test "a version of a given number, once" {
	echo one > artifacts/a
	echo ten > artifacts/.versions/a/10
	same ten "$(cat artifacts/a)"
	echo five > artifacts/.versions/a/5
	same ten "$(cat artifacts/a)"
	same five "$(cat artifacts/.versions/a/5)"
	same "1 5 10" "$(versions a)"
	jq -s -e 'last.actions.artifactDelta == {"a": 5}' events.jsonl
	refused EACCES bash -c 'echo x > artifacts/.versions/a/5'
	rm artifacts/.versions/a/5
	refused EEXIST bash -c 'echo x > artifacts/.versions/a/5'
	refused EINVAL touch artifacts/.versions/a/x
	refused EINVAL touch artifacts/.versions/a/07
	echo next > artifacts/a
	same "1 10 11" "$(versions a)"
}

@test "a version's .json can be set" {
	echo one > artifacts/a
	echo '{"mimeType": "text/x-one", "customMetadata": {"by": ["me", 1.50]}}' > artifacts/.versions/a/1.json
	jq -e '.mimeType == "text/x-one" and .customMetadata == {"by": ["me", 1.5]} and .size == 4' \
		artifacts/.versions/a/1.json
	same "$(stat -c %s artifacts/.versions/a/1.json)" "$(wc -c < artifacts/.versions/a/1.json)"
	refused EINVAL bash -c 'echo "{bad" > artifacts/.versions/a/1.json'
	refused EINVAL bash -c 'echo "{\"nonsense\": 1}" > artifacts/.versions/a/1.json'
	refused EINVAL bash -c 'echo "{\"mimeType\": 1}" > artifacts/.versions/a/1.json'
	refused EINVAL bash -c 'echo "{\"mimeType\": \"text\"}" > artifacts/.versions/a/1.json'
	# What was read can be written back, changed.
	jq '.customMetadata.more = true' artifacts/.versions/a/1.json > "$TMP/j"
	cp "$TMP/j" artifacts/.versions/a/1.json
	daemon_restart
	back
	jq -e '.mimeType == "text/x-one" and .customMetadata.more' artifacts/.versions/a/1.json
	echo two > artifacts/a
	jq -e '.customMetadata == {} and (.mimeType | startswith("text/plain"))' artifacts/.versions/a/2.json
}

@test "modes and times of artifacts are kept" {
	(umask 022 && echo '#!/bin/sh' > artifacts/run)
	same 644 "$(stat -c %a artifacts/run)"
	chmod 755 artifacts/run
	touch -d '2001-02-03 04:05:06.789 UTC' artifacts/run
	mkdir artifacts/d
	touch -d '1999-01-01 UTC' artifacts/d
	chmod 750 artifacts/d
	for try in 1 2; do
		same '755 2001-02-03 04:05:06.789000000' "$(TZ=UTC stat -c '%a %y' artifacts/run | cut -c 1-33)"
		same '750 1999-01-01' "$(TZ=UTC stat -c '%a %y' artifacts/d | cut -c 1-14)"
		daemon_restart
		back
	done
	echo more >> artifacts/run
	same 755 "$(stat -c %a artifacts/run)"
	[ "$(stat -c %Y artifacts/run)" -gt 1700000000 ]
	echo x > artifacts/d/x
	[ "$(stat -c %Y artifacts/d)" -gt 1700000000 ]
	cp -p artifacts/run "$TMP/copy"
	echo other > "$TMP/copy"
	touch -d '2002-02-02 UTC' "$TMP/copy" artifacts/run
	cat artifacts/run > /dev/null
	cp -p "$TMP/copy" artifacts/run # the same time as before, the same size or not
	same other "$(cat artifacts/run)"
	same '2002-02-02' "$(TZ=UTC stat -c %y artifacts/run | cut -c 1-10)"
}

# bats test_tags=foreign
@test "rsync -a and tar into artifacts, and nothing to do the second time" {
	command -v rsync > /dev/null || skip "rsync is missing"
	mkdir -p "$TMP/tree/a/b"
	seq 1000 > "$TMP/tree/a/x"
	seq 2000 > "$TMP/tree/a/b/y"
	touch -d '2001-01-01 UTC' "$TMP"/tree/a/x "$TMP"/tree/a
	rsync -a "$TMP/tree/" artifacts/
	diff -r "$TMP/tree" artifacts
	n=$(wc -l < events.jsonl)
	same '' "$(rsync -ai "$TMP/tree/" artifacts/ | grep -v '^\.d' || :)"
	same "$n" "$(wc -l < events.jsonl)"
	echo changed >> "$TMP/tree/a/x"
	rsync -a "$TMP/tree/" artifacts/
	diff -r "$TMP/tree" artifacts
	same "1 2" "$(versions a/x)"
	tar -C "$TMP/tree" -cf "$TMP/t.tar" .
	mkdir artifacts/t
	tar -C artifacts/t -xf "$TMP/t.tar"
	diff -r "$TMP/tree" artifacts/t
}

@test "holes: fallocate, SEEK_HOLE, and no bytes for them" {
	truncate -s 1G artifacts/sparse
	printf x | dd of=artifacts/sparse bs=1 seek=500000000 conv=notrunc status=none
	[ "$(stored)" -lt 200000 ]
	python3 - <<-'PY'
		import os
		fd = os.open("artifacts/sparse", os.O_RDWR)
		assert os.lseek(fd, 0, os.SEEK_DATA) == 500000000
		assert os.lseek(fd, 0, os.SEEK_HOLE) == 0
		assert os.lseek(fd, 500000000, os.SEEK_HOLE) == 500000001
		os.posix_fallocate(fd, 0, 2**30 + 5)
		assert os.fstat(fd).st_size == 2**30 + 5
		os.close(fd)
	PY
	fallocate -p -o 499999000 -l 4096 artifacts/sparse
	same 0 "$(dd if=artifacts/sparse bs=1 skip=500000000 count=1 status=none | tr -d '\0' | wc -c)"
}

@test "a directory of the user is not made in a session, and nothing is left of the try" {
	session
	refused EPERM mkdir artifacts/user:d
	refused EPERM mkdir -p artifacts/user:d/e
	[[ $(tail -n 1 .errors | jq -r .error) == *"the user's artifacts/" ]]
	same '' "$(ls -A artifacts)$(ls -A ../../artifacts)"
	mkdir ../../artifacts/d
	echo x > artifacts/user:d/f
	same x "$(cat ../../artifacts/d/f)"
	same user:d "$(ls -A artifacts)"
	mkdir artifacts/user: artifacts/d artifacts/d/user:e
	same 'd user: user:d' "$(ls -A artifacts | xargs)"
}

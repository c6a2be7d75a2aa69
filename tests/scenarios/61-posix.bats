# artifacts/ is a file system as POSIX has them, but for what adkfs.5 leaves out.
# The rules are true of any: ARTIFACTS_DIR=/tmp bats tests/scenarios/61-posix.bats looks at a plain directory.
load lib/mount

setup() {
	if [ -n "${ARTIFACTS_DIR:-}" ]; then
		A=$(mktemp -d "$ARTIFACTS_DIR/posix.XXXXXX")
		cd "$A"
	else
		mount_setup
		session
		A=$S/artifacts
		cd "$A"
	fi
}

teardown() {
	if [ -n "${ARTIFACTS_DIR:-}" ]; then
		cd /
		rm -rf "$A"
	else
		mount_teardown
	fi
}

# A program for python3, with tests/scenarios/lib/posix_calls.py at hand.
py() {
	{
		echo 'from posix_calls import *'
		cat
	} | PYTHONPATH=$ROOT/tests/scenarios/lib PYTHONDONTWRITEBYTECODE=1 python3 -
}

# What a contract of adkfs alone says.
only_adkfs() {
	[ -z "${ARTIFACTS_DIR:-}" ] || skip "a plain directory"
}

@test "open: flags, and what they refuse" {
	py <<-'PY'
		refused(errno.ENOENT, open, "f", O_RDWR)
		put("f", b"text", O_WRONLY | O_CREAT | O_EXCL)
		refused(errno.EEXIST, open, "f", O_RDWR | O_CREAT | O_EXCL)
		refused(errno.ENOTDIR, open, "f", O_RDONLY | O_DIRECTORY)
		refused(errno.ENOTDIR, open, "f/", O_RDONLY)
		refused(errno.EISDIR, open, "new/", O_WRONLY | O_CREAT)
		close(open("f", O_RDONLY | O_CREAT | O_NOFOLLOW))
		same(b"text", get("f"))
		mkdir("d")
		for flags in O_WRONLY, O_RDWR, O_RDONLY | O_TRUNC, O_WRONLY | O_CREAT:
		    refused(errno.EISDIR, open, "d", flags)
		refused(errno.EEXIST, open, "d", O_RDONLY | O_CREAT | O_EXCL)
		with opened("d", O_RDONLY | O_DIRECTORY) as fd:
		    refused(errno.EISDIR, read, fd, 10)
		    fsync(fd)
		with opened("f", O_WRONLY) as fd:
		    refused(errno.EBADF, read, fd, 10)
		with opened("f", O_RDONLY) as fd:
		    refused(errno.EBADF, write, fd, b"x")
		    refused(errno.EINVAL, ftruncate, fd, 0)
		put("f", b"", O_WRONLY | O_TRUNC)
		same(0, stat("f").st_size)
		put("f", b"text")
		with opened("f", O_RDONLY | O_TRUNC) as fd:
		    same(b"", read(fd, 10))
		same(0, stat("f").st_size)
		same(b"", get("f"))
	PY
}

@test "paths through a file, or through a missing directory" {
	py <<-'PY'
		put("f", b"x")
		calls = (lambda p: close(open(p, O_RDONLY)), lambda p: close(open(p, O_WRONLY | O_CREAT)),
		    mkdir, rmdir, unlink, lstat, lambda p: truncate(p, 0), lambda p: chmod(p, 0o600),
		    lambda p: utime(p), lambda p: rename(p, "g"), lambda p: rename("f", p), listdir)
		for call_it in calls:
		    refused(errno.ENOTDIR, call_it, "f/x")
		    refused(errno.ENOENT, call_it, "none/x")
		    refused(errno.ENAMETOOLONG, call_it, "n" * 256)
		    refused(errno.ENAMETOOLONG, call_it, "n/" * 2100)
		same(["f"], sorted(n for n in listdir() if n[0] != "."))
	PY
}

@test "names of 255 bytes" {
	py <<-'PY'
		name = "n" * 255
		put(name, b"x")
		same(b"x", get(name))
		rename(name, "m" * 255)
		refused(errno.ENOENT, stat, name)
		unlink("m" * 255)
		mkdir(name)
		put(name + "/" + name, b"y")
		same([name], listdir(name))
		unlink(name + "/" + name)
		rmdir(name)
		assert statvfs(".").f_namemax == 255
	PY
}

@test "names of any kind are listed as they are" {
	py <<-'PY'
		names = ["a b", "tab\there", "line\nbreak", "%25", "ünï", "😀", "-rf", "*", "'\"", "a" * 200]
		for name in names:
		    put(name, name.encode())
		    mkdir(name + ".d")
		same(sorted(names + [n + ".d" for n in names]),
		    sorted(n for n in listdir() if n[0] != "."))
		for name in names:
		    same(name.encode(), get(name))
		    unlink(name)
		    rmdir(name + ".d")
		same([], [n for n in listdir() if n[0] != "."])
	PY
}

@test "mkdir, rmdir, unlink: what they refuse" {
	py <<-'PY'
		mkdir("d")
		put("f", b"x")
		put("d/f", b"x")
		refused(errno.EEXIST, mkdir, "d")
		refused(errno.EEXIST, mkdir, "f")
		refused(errno.ENOTDIR, rmdir, "f")
		refused((errno.ENOTEMPTY, errno.EEXIST), rmdir, "d")
		refused(errno.ENOENT, rmdir, "none")
		refused(errno.EINVAL, rmdir, "d/.")
		refused((errno.ENOTEMPTY, errno.EEXIST), rmdir, "d/..")
		refused((errno.EISDIR, errno.EPERM), unlink, "d")
		refused(errno.ENOENT, unlink, "none")
		unlink("d/f")
		rmdir("d")
		refused(errno.ENOENT, stat, "d")
		mkdir("d")
		same([], listdir("d"))
	PY
}

@test "rename of a file" {
	py <<-'PY'
		put("a", b"aaa")
		put("b", b"b")
		mkdir("d")
		inode = stat("a").st_ino
		rename("a", "d/c")
		refused(errno.ENOENT, stat, "a")
		same(b"aaa", get("d/c"))
		same(inode, stat("d/c").st_ino)
		rename("d/c", "b")
		same(b"aaa", get("b"))
		same(3, stat("b").st_size)
		same([], listdir("d"))
		rename("b", "b")
		same(b"aaa", get("b"))
		refused(errno.EISDIR, rename, "b", "d")
		refused(errno.ENOENT, rename, "none", "b")
		refused(errno.ENOENT, rename, "b", "none/b")
		refused(errno.ENOTDIR, rename, "b", "b/c")
		refused(errno.ENOTDIR, rename, "b", "c/")
		same(b"aaa", get("b"))
	PY
}

@test "rename of a directory" {
	py <<-'PY'
		mkdir("d")
		mkdir("e")
		put("f", b"x")
		rename("d", "g")
		refused(errno.ENOENT, stat, "d")
		rename("g", "e")
		same(["e", "f"], sorted(n for n in listdir() if n[0] != "."))
		refused(errno.ENOTDIR, rename, "e", "f")
		refused(errno.EINVAL, rename, "e", "e/x")
		mkdir("full")
		put("full/x", b"x")
		refused((errno.ENOTEMPTY, errno.EEXIST), rename, "e", "full")
		mkdir("e/below")
		rename("e/below", "below")
		same([], listdir("e"))
		refused((errno.EBUSY, errno.EINVAL), rename, "e/.", "x")
		refused((errno.EBUSY, errno.EINVAL), rename, "e", "full/..")
	PY
}

@test "a directory that is not empty does not move, and mv copies it" {
	only_adkfs
	py <<-'PY'
		mkdir("d")
		put("d/f", b"text")
		refused(errno.EXDEV, rename, "d", "e")
		refused(errno.ENOENT, stat, "e")
		same(b"text", get("d/f"))
	PY
	mkdir -p d/sub
	seq 100 > d/sub/seq
	mv d e
	[ ! -e d ]
	same text "$(cat e/f)"
	cmp <(seq 100) e/sub/seq
}

@test "rename: RENAME_NOREPLACE, and no exchange" {
	py <<-'PY'
		put("a", b"a")
		put("b", b"b")
		mkdir("d")
		for name in "b", "d", "a":
		    refused(errno.EEXIST, renameat2, "a", name, RENAME_NOREPLACE)
		refused(errno.EEXIST, renameat2, "d", "b", RENAME_NOREPLACE)
		renameat2("a", "c", RENAME_NOREPLACE)
		same(b"a", get("c"))
		same(b"b", get("b"))
		renameat2("d", "e", RENAME_NOREPLACE)
		refused(errno.ENOENT, stat, "d")
		if ADKFS:
		    refused(errno.EINVAL, renameat2, "b", "c", RENAME_EXCHANGE)
		    same(b"b", get("b"))
	PY
}

@test "an unlinked file lives on for the process that has it open" {
	py <<-'PY'
		put("f", b"old text")
		reader = open("f", O_RDONLY)
		writer = open("f", O_RDWR)
		unlink("f")
		refused(errno.ENOENT, stat, "f")
		same([], [n for n in listdir() if n[0] != "."])
		same(b"old text", read(reader, 100))
		same(0, fstat(reader).st_nlink)
		same(4, pwrite(writer, b"new!", 20))
		same(24, fstat(writer).st_size)
		same(b"old text" + bytes(12) + b"new!", pread(writer, 100, 0))
		ftruncate(writer, 3)
		fsync(writer)
		same(b"old", pread(writer, 100, 0))
		put("f", b"another")
		same(b"old", pread(writer, 100, 0))
		close(writer)
		close(reader)
		same(b"another", get("f"))
		unlink("f")
		refused(errno.ENOENT, open, "f", O_RDONLY)
	PY
}

@test "a file that is made, unlinked and only then written" {
	py <<-'PY'
		fd = open("tmp", O_RDWR | O_CREAT | O_EXCL)
		unlink("tmp")
		same(5, write(fd, b"hello"))
		same(b"hello", pread(fd, 10, 0))
		same(5, fstat(fd).st_size)
		close(fd)
		refused(errno.ENOENT, stat, "tmp")
		same([], [n for n in listdir() if n[0] != "."])
	PY
}

@test "a file that is replaced by a rename" {
	py <<-'PY'
		put("f", b"old")
		put("g", b"new bytes")
		old = open("f", O_RDWR)
		rename("g", "f")
		same(b"old", pread(old, 100, 0))
		same(3, fstat(old).st_size)
		pwrite(old, b"!", 3)
		close(old)
		same(b"new bytes", get("f"))
		moving = open("f", O_RDWR)
		rename("f", "h")
		pwrite(moving, b"NEW", 0)
		close(moving)
		same(b"NEW bytes", get("h"))
		refused(errno.ENOENT, stat, "f")
	PY
}

@test "a directory that is removed while it is open" {
	py <<-'PY'
		mkdir("d")
		with opened("d", O_RDONLY | O_DIRECTORY) as fd:
		    rmdir("d")
		    refused((errno.ENOENT, errno.ESTALE), open, "x", O_WRONLY | O_CREAT, dir_fd=fd)
		    refused((errno.ENOENT, errno.ESTALE), mkdir, "x", dir_fd=fd)
		    mkdir("d")
		    refused((errno.ENOENT, errno.ESTALE, errno.EIO), mkdir, "x", dir_fd=fd)
		    same([], listdir("d"))
	PY
}

@test "a directory that is made again while a process is in the old one" {
	py <<-'PY'
		for n in range(3):
		    mkdir("d")
		    old = open("d", O_RDONLY | O_DIRECTORY)
		    put("d/f", b"x")
		    unlink("d/f")
		    rmdir("d")
		    mkdir("d")
		    put("d/f", b"again")
		    mkdir("d/e")
		    same(["e", "f"], sorted(listdir("d")))
		    rename("d/f", "d/g")
		    same(b"again", get("d/g"))
		    unlink("d/g")
		    rmdir("d/e")
		    rmdir("d")
		    close(old)
	PY
	mkdir d
	(
		cd d
		rmdir "$A/d"
		mkdir "$A/d"
		echo new > "$A/d/f"
	)
	same new "$(cat d/f)"
}

@test "a file that is made, closed and renamed at once is a version of the new name" {
	only_adkfs
	py <<-'PY'
		def versions(name):
		    return sorted(n for n in listdir(".versions/" + name) if "json" not in n)
		for n in range(300):
		    name = f"f{n}"
		    refused(errno.ENOENT, stat, ".versions/" + name)
		    put(name + "-new", b"")
		    rename(name + "-new", name)
		    same(["1"], versions(name))
		    put("other", b"more")
		    rename("other", name)
		    same(["1", "2"], versions(name))
		    same(b"more", get(f".versions/{name}/2"))
		    put("other", b"")
		    rename("other", name)
		    same(["1", "2", "3"], versions(name))
		    same(b"", get(name))
		    refused(errno.ENOENT, stat, ".versions/other")
	PY
}

@test "a writer sees its own size, end and bytes before the close" {
	py <<-'PY'
		with opened("f", O_RDWR | O_CREAT) as fd:
		    same(0, fstat(fd).st_size)
		    write(fd, b"hello")
		    same(5, fstat(fd).st_size)
		    same(5, lseek(fd, 0, SEEK_END))
		    same(b"ell", pread(fd, 3, 1))
		    ftruncate(fd, 2)
		    same(2, fstat(fd).st_size)
		    same(2, lseek(fd, 0, SEEK_END))
		    same(b"he", pread(fd, 100, 0))
		    same(b"", pread(fd, 100, 2))
		    write(fd, b"y")
		same(b"hey", get("f"))
		with opened("f", O_RDWR | O_TRUNC) as fd:
		    same(b"", read(fd, 100))
		    same(0, lseek(fd, 0, SEEK_END))
	PY
}

@test "O_APPEND writes at the end, whatever the offset" {
	py <<-'PY'
		put("f", b"one")
		with opened("f", O_RDWR | O_APPEND) as fd:
		    same(0, lseek(fd, 0, SEEK_SET))
		    write(fd, b"two")
		    same(6, lseek(fd, 0, SEEK_CUR))
		    pwrite(fd, b"three", 0)
		    ftruncate(fd, 4)
		    write(fd, b"!")
		    same(b"onet!", pread(fd, 100, 0))
		same(b"onet!", get("f"))
		for n in range(50):
		    put("log", b"%d\n" % n, O_WRONLY | O_CREAT | O_APPEND)
		same(b"".join(b"%d\n" % n for n in range(50)), get("log"))
	PY
}

@test "truncate: sizes that work, and sizes that are refused" {
	py <<-'PY'
		put("f", b"hello")
		mkdir("d")
		truncate("f", 8)
		same(b"hello\0\0\0", get("f"))
		truncate("f", 2)
		truncate("f", 4)
		same(b"he\0\0", get("f"))
		refused(errno.EINVAL, truncate, "f", -1)
		refused(errno.EISDIR, truncate, "d", 0)
		refused(errno.ENOENT, truncate, "none", 0)
		refused(errno.ENOTDIR, truncate, "f/x", 0)
		with opened("f", O_WRONLY) as fd:
		    refused(errno.EINVAL, ftruncate, fd, -1)
		if ADKFS:
		    refused(errno.EFBIG, truncate, "f", (1 << 40) + 1)
		same(4, stat("f").st_size)
		truncate("f", 0)
		same(b"", get("f"))
	PY
}

@test "lseek and reads at and after the end" {
	py <<-'PY'
		put("f", b"0123456789")
		with opened("f", O_RDWR) as fd:
		    refused(errno.EINVAL, lseek, fd, -1, SEEK_SET)
		    same(20, lseek(fd, 20, SEEK_SET))
		    same(b"", read(fd, 10))
		    same(0, write(fd, b""))
		    same(10, lseek(fd, 0, SEEK_END))
		    same(8, lseek(fd, -2, SEEK_CUR))
		    same(b"89", read(fd, 10))
		    lseek(fd, 20, SEEK_SET)
		    same(1, write(fd, b"x"))
		    same(b"0123456789" + bytes(10) + b"x", pread(fd, 100, 0))
		same(21, stat("f").st_size)
	PY
}

@test "offsets over 2 and over 4 GiB" {
	py <<-'PY'
		far = (1 << 32) + 12345
		with opened("f", O_RDWR | O_CREAT) as fd:
		    pwrite(fd, b"two", (1 << 31) + 1)
		    pwrite(fd, b"four", far)
		    same(b"two", pread(fd, 3, (1 << 31) + 1))
		    same(b"\0four", pread(fd, 100, far - 1))
		same(far + 4, stat("f").st_size)
		with opened("f") as fd:
		    same(b"two", pread(fd, 3, (1 << 31) + 1))
		    same(b"four", pread(fd, 100, far))
		    same(bytes(4096), pread(fd, 4096, 1 << 30))
	PY
}

@test "SEEK_DATA and SEEK_HOLE" {
	py <<-'PY'
		with opened("f", O_RDWR | O_CREAT) as fd:
		    pwrite(fd, b"x", 1 << 20)
		    size = (1 << 20) + 1
		    assert 0 <= lseek(fd, 0, SEEK_DATA) <= 1 << 20
		    same(1 << 20, lseek(fd, 1 << 20, SEEK_DATA))
		    same(size, lseek(fd, 1 << 20, SEEK_HOLE))
		    refused(errno.ENXIO, lseek, fd, size, SEEK_DATA)
		    refused(errno.ENXIO, lseek, fd, size, SEEK_HOLE)
	PY
	truncate -s 3M sparse
	printf x | dd of=sparse bs=1 seek=1048576 conv=notrunc status=none
	cp --sparse=always sparse copy
	cmp sparse copy
}

@test "fallocate" {
	py <<-'PY'
		put("f", b"x" * 10000)
		with opened("f", O_RDWR) as fd:
		    fallocate(fd, 0, 5000, 20000)
		    same(25000, fstat(fd).st_size)
		    same(b"x" * 10000 + bytes(15000), pread(fd, 30000, 0))
		    fallocate(fd, FALLOC_KEEP_SIZE, 0, 100000)
		    same(25000, fstat(fd).st_size)
		    fallocate(fd, FALLOC_PUNCH_HOLE | FALLOC_KEEP_SIZE, 100, 5000)
		    same(b"x" * 100 + bytes(5000) + b"x" * 4900, pread(fd, 10000, 0))
		    refused(errno.EINVAL, fallocate, fd, 0, 0, 0)
		    refused(errno.EINVAL, fallocate, fd, 0, -1, 10)
		    posix_fallocate(fd, 0, 30000)
		    same(30000, fstat(fd).st_size)
		same(30000, stat("f").st_size)
		same(bytes(100), get("f")[100:200])
		with opened("f", O_RDONLY) as fd:
		    refused(errno.EBADF, fallocate, fd, 0, 0, 10)
	PY
	fallocate -l 1M g
	same 1048576 "$(stat -c %s g)"
}

@test "a shared mapping" {
	py <<-'PY'
		put("f", b"a" * 10000)
		with opened("f", O_RDWR) as fd:
		    with mmap.mmap(fd, 0) as m:
		        same(b"a" * 10000, m[:])
		        m[5000:5005] = b"hello"
		        m.flush()
		        same(b"hello", pread(fd, 5, 5000))
		        pwrite(fd, b"there", 0)
		        same(b"there", m[0:5])
		same(b"there" + b"a" * 4995 + b"hello" + b"a" * 4995, get("f"))
	PY
}

@test "copies within the kernel: copy_file_range, sendfile" {
	py <<-'PY'
		data = bytes(range(256)) * 1000
		put("f", data)
		with opened("f") as source, opened("g", O_RDWR | O_CREAT) as to:
		    left = len(data)
		    while left:
		        left -= copy_file_range(source, to, left)
		same(data, get("g"))
		with opened("f") as source, opened("h", O_RDWR | O_CREAT) as to:
		    at = 0
		    while at < len(data):
		        at += sendfile(to, source, at, len(data) - at)
		same(data, get("h"))
	PY
}

@test "the times of files and directories move when they should" {
	py <<-'PY'
		mkdir("d")
		mkdir("e")
		with changes("mc", "d"):
		    put("d/f", b"one")
		with changes("mc", "d/f"), changes("", "d"):
		    put("d/f", b"two!")
		with changes("mc", "d/f"), changes("", "d"):
		    truncate("d/f", 1)
		with changes("mc", "d/f"), changes("", "d"):
		    put("d/f", b"x", O_WRONLY | O_APPEND)
		with changes("", "d/f", "d"):
		    get("d/f")
		    listdir("d")
		    stat("d/f")
		    close(open("d/f", O_RDWR))
		with changes("c", "d/f"), changes("", "d"):
		    chmod("d/f", 0o600)
		with changes("mc", "d", "e"):
		    rename("d/f", "e/f")
		with changes("mc", "e"):
		    unlink("e/f")
		with changes("mc", "d"):
		    mkdir("d/g")
		with changes("mc", "d"):
		    rmdir("d/g")
		with changes("c", "d"), changes("", "e"):
		    chmod("d", 0o750)
	PY
}

@test "times that are set, in ns and of any year" {
	py <<-'PY'
		put("f", b"x")
		mkdir("d")
		now = 1700000000123456789
		for name in "f", "d":
		    for ns in now, 1, 0, 2147483648 * 10**9 + 5, 4294967296 * 10**9:
		        utime(name, ns=(ns + 1000, ns))
		        same(ns, stat(name).st_mtime_ns, name)
		        same(ns + 1000, stat(name).st_atime_ns, name)
		utime("f", ns=(now, now))
		with changes("c", "f"):
		    chmod("f", 0o640)
		same(now, stat("f").st_mtime_ns)
		with opened("f", O_RDWR) as fd:
		    utime(fd, ns=(now, now + 1))
		same(now + 1, stat("f").st_mtime_ns)
		rename("f", "g")
		same(now + 1, stat("g").st_mtime_ns)
		put("g", b"longer")
		assert stat("g").st_mtime_ns > now + 1
		utime("g")
		assert stat("g").st_mtime > now / 10**9 + 1
		for size in 6, 3: # also when it has that size
		    utime("g", ns=(now, now))
		    truncate("g", size)
		    assert stat("g").st_mtime > now / 10**9 + 1, size
	PY
	py <<-'PY'
		for n in range(200):
		    for flags in O_WRONLY | O_CREAT | O_EXCL, O_RDONLY | O_TRUNC, O_WRONLY | O_TRUNC:
		        close(open(f"n{n}", flags))
		        utime(f"n{n}", ns=(n, n))
		        same(n, stat(f"n{n}").st_mtime_ns, f"n{n} {flags}")
		        put(f"n{n}", b"x")
	PY
	touch -d 2001-02-03 g
	touch -a g
	same 2001-02-03 "$(date -r g +%F)"
}

@test "times that are set while the file is written" {
	py <<-'PY'
		old = 1000000000 * 10**9
		with opened("f", O_WRONLY | O_CREAT) as fd:
		    write(fd, b"text")
		    utime(fd, ns=(old, old))
		    fchmod(fd, 0o640)
		same(old, stat("f").st_mtime_ns)
		same(0o640, stat("f").st_mode & 0o777)
		same(b"text", get("f"))
	PY
	touch -d 2001-02-03 g
	cp -p g h
	same 2001-02-03 "$(date -r h +%F)"
	install -m 600 -p g i
	same "600 2001-02-03" "$(stat -c %a i) $(date -r i +%F)"
}

@test "modes: as they were made, as they were set" {
	py <<-'PY'
		umask(0o027)
		put("f", b"x", mode=0o666)
		same(0o640, stat("f").st_mode & 0o7777)
		mkdir("d", 0o777)
		same(0o750, stat("d").st_mode & 0o7777)
		umask(0)
		put("g", b"secret", mode=0)
		same(0, stat("g").st_mode & 0o7777)
		same(6, stat("g").st_size)
		for mode in 0o777, 0o400, 0o000, 0o644:
		    chmod("f", mode)
		    same(mode, stat("f").st_mode & 0o7777)
		chmod("f", 0o755)
		put("f", b"a new text")
		same(0o755, stat("f").st_mode & 0o7777)
		rename("f", "h")
		same(0o755, stat("h").st_mode & 0o7777)
		with opened("h") as fd:
		    fchmod(fd, 0o711)
		    same(0o711, fstat(fd).st_mode & 0o7777)
		same(0o711, stat("h").st_mode & 0o7777)
		chmod("d", 0o700)
		same(0o700, stat("d").st_mode & 0o7777)
	PY
}

@test "a script that is made executable runs" {
	printf '#!/bin/sh\necho "ran $1"\n' > run
	chmod 644 run
	[ ! -x run ]
	chmod +x run
	[ -x run ]
	same "ran well" "$(./run well)"
	cp /bin/true binary
	./binary
	cp --remove-destination /bin/false binary
	not ./binary
}

@test "modes and times outlive the daemon" {
	only_adkfs
	echo x > f
	mkdir d
	chmod 751 d
	chmod 604 f
	touch -d 2001-02-03T04:05:06.123456789 f
	touch -d 2002-03-04T05:06:07.987654321 d
	before=$(stat -c '%n %a %Y %y %i %s' f d)
	daemon_restart
	cd "$A"
	same "$before" "$(stat -c '%n %a %Y %y %i %s' f d)"
}

@test "links, FIFOs and sockets are refused" {
	only_adkfs
	py <<-'PY'
		import socket
		put("f", b"x")
		refused(errno.EPERM, symlink, "f", "l")
		refused(errno.EPERM, link, "f", "l")
		refused(errno.EPERM, mkfifo, "l")
		refused(errno.EPERM, mknod, "l", 0o020000 | 0o600, makedev(1, 3))
		refused(errno.EPERM, socket.socket(socket.AF_UNIX).bind, "l")
		refused(errno.EEXIST, symlink, "f", "f")
		refused(errno.ENOENT, stat, "l")
		same(1, stat("f").st_nlink)
	PY
}

@test "a listing while its files go away misses none" {
	py <<-'PY'
		names = {f"file{n}" for n in range(700)}
		mkdir("d")
		for name in names:
		    put(f"d/{name}", b"")
		seen = set()
		for entry in scandir("d"):
		    seen.add(entry.name)
		    assert entry.is_file()
		    unlink(f"d/{entry.name}")
		same(names, seen)
		rmdir("d")
	PY
}

@test "a new file is listed once, from its creation on" {
	py <<-'PY'
		for n in range(3000):
		    close(open("f", O_RDONLY | O_CREAT))
		    same(["f"], [name for name in listdir() if name[0] != "."], n)
		    unlink("f")
		    same([], [name for name in listdir() if name[0] != "."], n)
	PY
}

@test "a file has one inode number of its own" {
	py <<-'PY'
		for n in range(20):
		    put(f"f{n}", b"x")
		    mkdir(f"d{n}")
		inodes = {e.name: e.inode() for e in scandir(".") if e.name[0] != "."}
		same(40, len(set(inodes.values())))
		for name, inode in inodes.items():
		    same(inode, stat(name).st_ino, name)
		same(stat(".").st_ino, stat("d1/..").st_ino)
		put("f1", b"again")
		same(inodes["f1"], stat("f1").st_ino)
		same(stat("f1").st_dev, stat("d1").st_dev)
	PY
}

@test "locks keep other processes out" {
	py <<-'PY'
		put("f", b"x")
		for lock in fcntl.flock, fcntl.lockf:
		    with opened("f", O_RDWR) as fd:
		        lock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
		        child = fork()
		        if child == 0:
		            with opened("f", O_RDWR) as other:
		                try:
		                    lock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
		                except OSError as e:
		                    leave(0 if e.errno in (errno.EAGAIN, errno.EACCES) else 2)
		                leave(1)
		        same(0, waitpid(child, 0)[1], lock.__name__)
	PY
}

@test "fsync, fdatasync, O_SYNC, sync of a directory" {
	py <<-'PY'
		for flags in 0, O_SYNC, O_DSYNC:
		    with opened("f", O_WRONLY | O_CREAT | O_TRUNC | flags) as fd:
		        write(fd, b"x" * 5000)
		        fsync(fd)
		        fdatasync(fd)
		    same(5000, stat("f").st_size)
		with opened(".", O_RDONLY | O_DIRECTORY) as fd:
		    fsync(fd)
	PY
	sync f .
	dd if=/dev/zero of=g bs=64k count=4 conv=fsync status=none
	same 262144 "$(stat -c %s g)"
}

# bats test_tags=foreign
@test "editors and copiers can replace a file in their ways" {
	seq 10 > f
	sed -i s/5/five/ f
	same five "$(sed -n 5p f)"
	perl -pi -e 's/7/seven/' f
	same seven "$(sed -n 7p f)"
	sort -r -o f f
	same seven "$(head -n 1 f)"
	tar cf all.tar f
	mkdir x
	tar xf all.tar -C x
	cmp f x/f
	mkdir y
	tar cf - -C x . | tar xpf - -C y
	diff -r x y
	if command -v rsync > /dev/null; then
		rsync -a x/ z/
		diff -r x z
		same "$(stat -c '%a %Y' x/f)" "$(stat -c '%a %Y' z/f)"
	fi
}

# bats test_tags=foreign
@test "a database and a repository" {
	py <<-'PY'
		import sqlite3
		with contextlib.closing(sqlite3.connect("db")) as db:
		    db.execute("create table t (n integer)")
		    for n in range(5):
		        with db:
		            db.executemany("insert into t values (?)", [(n * 100 + i,) for i in range(100)])
		with contextlib.closing(sqlite3.connect("db")) as db:
		    same([(500, 499)], db.execute("select count(*), max(n) from t").fetchall())
		    same([("ok",)], db.execute("pragma integrity_check").fetchall())
	PY
	# Not .git: a directory whose name begins with a dot cannot be made.
	export GIT_DIR=$A/repository GIT_WORK_TREE=$A/work
	export GIT_CONFIG_GLOBAL=$BATS_TEST_TMPDIR/gitconfig GIT_CONFIG_NOSYSTEM=1
	printf '[user]\n\tname = a\n\temail = a@example.com\n' > "$GIT_CONFIG_GLOBAL"
	git init -q
	mkdir work
	cd work
	seq 100 > a
	git add a
	git commit -q -m one
	seq 200 > a
	git commit -q -a -m two
	git checkout -q HEAD^
	cmp <(seq 100) a
	git fsck --no-progress
	same '' "$(git status --porcelain)"
}

@test "a file that is emptied, then removed or renamed: no reader sees the old bytes" {
	python3 - <<-'PY'
		import os
		def emptied(name):
		    with open(name, "w") as f:
		        f.write("before")
		    reader = os.open(name, os.O_RDONLY)
		    assert os.read(reader, 10) == b"before"
		    # A copy of the descriptor is closed: the kernel tells it, and not that it was the last.
		    writer = os.open(name, os.O_WRONLY | os.O_TRUNC)
		    os.close(os.dup(writer))
		    return reader, writer
		def empty(fd):
		    assert os.fstat(fd).st_size == 0, os.fstat(fd).st_size
		    assert os.pread(fd, 10, 0) == b""
		reader, writer = emptied("removed")
		os.unlink("removed")
		empty(reader)
		os.close(writer)
		reader, writer = emptied("hidden")
		os.rename("hidden", ".hidden")
		assert open(".hidden").read() == ""
		empty(reader)
		os.close(writer)
		reader, writer = emptied("old")
		os.rename("old", "new")
		assert open("new").read() == ""
		empty(reader)
		os.close(writer)
		reader, writer = emptied("below")
		with open("above", "w") as f:
		    f.write("above")
		os.rename("above", "below")
		empty(reader)
		os.close(writer)
		assert open("below").read() == "above"
	PY
}

@test "a removed directory is empty for the process that is in it" {
	session
	mkdir "$S-2"
	cd "$S-2"
	rmdir "$S-2"
	same '' "$(ls -A)"
	same 0 "$(stat -c %h .)"
	same "${S##*/}" "$(ls ..)"
	run touch state/x.json
	[[ $output == *'No such file or directory'* ]]
	cd ..
	same "${S%/*}" "$PWD"
}

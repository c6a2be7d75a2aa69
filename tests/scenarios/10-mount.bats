# The program: commands, options, exit codes, mounting and unmounting.
load lib/mount

setup() {
	folders_setup
}

mount_here() {
	"$ADKFS" mount --store "$STORE" --agents "$AGENTS" "$@" "$MNT" 3>&-
}

pid_of_mount() {
	jq .pid "$MNT/.adkfs/stats.json"
}

# fails_with STATUS TEXT COMMAND...
fails_with() {
	local want=$1 text=$2

	shift 2
	run "$@"
	echo "status $status: $output"
	[ "$status" -eq "$want" ]
	[[ $output == *"$text"* ]]
}

@test "version" {
	run "$ADKFS" version
	[ "$status" -eq 0 ]
	[[ $output =~ ^adkfs\ [0-9]+\.[0-9]+\.[0-9]+$ ]]
	same "$output" "$("$ADKFS" --version)"
}

@test "--help of the program and of each command goes to standard output" {
	for command in '' mount umount check-agent version; do
		# shellcheck disable=SC2086
		text=$("$ADKFS" $command --help 2> "$TMP/err")
		[[ $text == usage:* ]]
		[ ! -s "$TMP/err" ]
	done
	text=$("$ADKFS" mount --help)
	for option in --agents --store --engine --durability --max-turns --threads -o --map-user --map-users -f -v; do
		[[ $text == *"$option"* ]]
	done
}

@test "the help text of mount is made from its options" {
	"$ADKFS" mount --help > "$TMP/help"
	diff "$ROOT/tests/fixtures/mount-help.txt" "$TMP/help"
}

@test "usage errors end with 2 and say what is wrong" {
	fails_with 2 "usage:" "$ADKFS"
	fails_with 2 "frobnicate" "$ADKFS" frobnicate
	fails_with 2 "--no-such" "$ADKFS" mount --no-such "$MNT"
	fails_with 2 "-x" "$ADKFS" mount -x "$MNT"
	fails_with 2 "mount point is missing" "$ADKFS" mount
	fails_with 2 "extra" "$ADKFS" mount "$MNT" extra
	fails_with 2 "--store" "$ADKFS" mount --store
	fails_with 2 "nosuchengine" mount_here --engine nosuchengine
	fails_with 2 "forever" mount_here --durability forever
	fails_with 2 "many" mount_here --max-turns many
	fails_with 2 "--threads takes a number from 1 to 100000, not '0'" mount_here --threads 0
	fails_with 2 "-x" "$ADKFS" umount -x "$MNT"
	fails_with 2 "mount point is missing" "$ADKFS" umount
	fails_with 2 "" "$ADKFS" umount "$MNT" "$MNT"
	fails_with 2 "extra" "$ADKFS" version extra
	not is_mounted "$MNT"
}

@test "a bad mount point ends with 4" {
	fails_with 4 "does not exist" "$ADKFS" mount --store "$STORE" "$TMP/nowhere"
	fails_with 4 "does not exist" "$ADKFS" mount --store "$STORE" "$TMP/nowhere/deeper"
	touch "$TMP/file"
	fails_with 4 "not a directory" "$ADKFS" mount --store "$STORE" "$TMP/file"
	touch "$MNT/something"
	fails_with 4 "not empty" mount_here
	[ ! -e "$STORE" ]
}

@test "a bad agents folder ends with 7 and is named" {
	fails_with 7 "$TMP/no-agents" "$ADKFS" mount --store "$STORE" --agents "$TMP/no-agents" "$MNT"
	touch "$TMP/file"
	fails_with 7 "$TMP/file" "$ADKFS" mount --store "$STORE" --agents "$TMP/file" "$MNT"
	not is_mounted "$MNT"
}

@test "a store that cannot be opened ends with 5" {
	touch "$TMP/file"
	fails_with 5 "$TMP/file" "$ADKFS" mount --store "$TMP/file" --agents "$AGENTS" "$MNT"
	fails_with 5 "" "$ADKFS" mount --store "$TMP/file/below" --agents "$AGENTS" "$MNT"
	not is_mounted "$MNT"
}

@test "mount returns when the mount is there, umount when the daemon has gone" {
	mount_here
	[ -d "$MNT/apps" ]
	pid=$(pid_of_mount)
	kill -0 "$pid"
	"$ADKFS" umount "$MNT"
	gone "$pid"
	not is_mounted "$MNT"
	[ -z "$(ls -A "$MNT")" ]
}

@test "the daemon holds no terminal, no directory and no descriptor of the caller" {
	cd "$TMP"
	mount_here
	pid=$(pid_of_mount)
	same / "$(readlink "/proc/$pid/cwd")"
	for n in 0 1 2; do
		same /dev/null "$(readlink "/proc/$pid/fd/$n")"
	done
	"$ADKFS" umount "$MNT"
}

@test "a place that is mounted already ends with 4 and names the process" {
	mount_here
	fails_with 4 "$(pid_of_mount)" mount_here
	"$ADKFS" umount "$MNT"
}

@test "a store that is in use ends with 6 and names the process" {
	mkdir "$TMP/other"
	PLACES+=("$TMP/other")
	mount_here
	fails_with 6 "$(pid_of_mount)" "$ADKFS" mount --store "$STORE" --agents "$AGENTS" "$TMP/other"
	"$ADKFS" umount "$MNT"
	"$ADKFS" mount --store "$STORE" --agents "$AGENTS" "$TMP/other" 3>&-
	"$ADKFS" umount "$TMP/other"
}

@test "two stores can be mounted side by side" {
	mkdir "$TMP/other"
	PLACES+=("$TMP/other")
	mount_here
	"$ADKFS" mount --store "$TMP/store2" --agents "$AGENTS" "$TMP/other" 3>&-
	mkdir -p "$MNT/apps/one" "$TMP/other/apps/two"
	[ ! -e "$MNT/apps/two" ]
	[ ! -e "$TMP/other/apps/one" ]
	"$ADKFS" umount "$TMP/other"
	[ -d "$MNT/apps/one" ]
	"$ADKFS" umount "$MNT"
}

@test "umount of anything but a mount of adkfs ends with 4" {
	fails_with 4 "not an adkfs mount" "$ADKFS" umount "$MNT"
	fails_with 4 "not an adkfs mount" "$ADKFS" umount /proc
	fails_with 4 "" "$ADKFS" umount "$TMP/nowhere"
	[ -e /proc/self ]
}

@test "umount while a file is open ends with 4, -z unmounts anyway" {
	mount_here
	pid=$(pid_of_mount)
	exec 8< "$MNT/README.md"
	fails_with 4 "in use" "$ADKFS" umount "$MNT"
	[ -d "$MNT/apps" ]
	"$ADKFS" umount -z "$MNT"
	exec 8<&-
	not is_mounted "$MNT"
	gone "$pid"
}

@test "umount while somebody's working directory is inside ends with 4, -z unmounts anyway" {
	mount_here
	pid=$(pid_of_mount)
	cd "$MNT/apps"
	fails_with 4 "in use" "$ADKFS" umount "$MNT"
	"$ADKFS" umount --lazy "$MNT"
	cd "$TMP"
	not is_mounted "$MNT"
	gone "$pid"
}

@test "SIGTERM, SIGINT and SIGHUP unmount and end with 0" {
	for signal in TERM INT HUP; do
		daemon_start
		kill -s "$signal" "$DAEMON"
		daemon_ended 0
		not is_mounted "$MNT"
		rm "$TMP/daemon.pid"
	done
}

@test "SIGTERM ends a daemon with open files and blocked readers" {
	daemon_start
	session slow
	echo forever > input
	background cat output
	eventually 10 test -s output
	cd "$TMP"
	kill "$DAEMON"
	daemon_ended 0
	not is_mounted "$MNT"
}

@test "-f stays in the foreground" {
	daemon_start
	kill -0 "$DAEMON"
	[ ! -e "$TMP/daemon.status" ]
	same "$DAEMON" "$(pid_of_mount)"
}

@test "-v logs where it mounted" {
	daemon_start -v
	grep -q "$MNT" "$TMP/daemon.log"
}

@test "a dead mount is recovered by the next mount" {
	mount_here
	pid=$(pid_of_mount)
	mkdir -p "$MNT/apps/kept"
	kill -9 "$pid"
	eventually 10 gone "$pid"
	run ls "$MNT"
	[ "$status" -ne 0 ]
	mount_here
	[ -d "$MNT/apps/kept" ]
	"$ADKFS" umount "$MNT"
	not is_mounted "$MNT"
}

@test "umount removes a dead mount" {
	mount_here
	pid=$(pid_of_mount)
	kill -9 "$pid"
	eventually 10 gone "$pid"
	"$ADKFS" umount "$MNT"
	not is_mounted "$MNT"
}

@test "relative paths and names with spaces" {
	mkdir "$TMP/a place"
	PLACES+=("$TMP/a place")
	cd "$TMP"
	"$ADKFS" mount --store "my store" --agents agents "a place" 3>&-
	mkdir -p "a place/apps/x"
	[ -d "$TMP/my store" ]
	run "$ADKFS" mount --store "my store" "a place"
	[ "$status" -eq 4 ]
	"$ADKFS" umount "a place"
	[ -z "$(ls -A "a place")" ]
}

@test "the default folders are those of XDG" {
	export XDG_DATA_HOME=$TMP/data XDG_CONFIG_HOME=$TMP/config
	mkdir -p "$TMP/config/adkfs"
	cp -R "$AGENTS" "$TMP/config/adkfs/agents"
	"$ADKFS" mount "$MNT" 3>&-
	[ -d "$MNT/apps/echo" ]
	"$ADKFS" umount "$MNT"
	[ -d "$TMP/data/adkfs/store" ]
}

@test "--engine memory keeps nothing and makes no store folder" {
	mount_here --engine memory
	same '"memory"' "$(jq .engine "$MNT/.adkfs/stats.json")"
	mkdir -p "$MNT/apps/x/users/y/sessions/z"
	"$ADKFS" umount "$MNT"
	mount_here --engine memory
	[ ! -e "$MNT/apps/x" ]
	"$ADKFS" umount "$MNT"
}

@test "--durability disk works like the default" {
	mount_here --durability disk
	mkdir -p "$MNT/apps/echo/users/u/sessions/s"
	cd "$MNT/apps/echo/users/u/sessions/s"
	echo 1 > state/x.json
	echo hi > input
	same "you said hi" "$(timeout 30 cat output)"
	cd "$TMP"
	"$ADKFS" umount "$MNT"
}

@test "README.md names every file of the root" {
	mount_here
	cd "$MNT"
	mkdir -p apps/echo/users/ann/sessions/s1
	(cd apps/echo/users/ann/sessions/s1 && say hi)
	for name in $(ls apps/echo apps/echo/users/ann apps/echo/users/ann/sessions/s1 \
		apps/echo/users/ann/sessions/s1/turns/1 | grep -v -e : -e '^$'); do
		grep -qF "    $name" README.md || {
			echo "README.md does not name $name"
			return 1
		}
	done
	cd "$TMP"
	"$ADKFS" umount "$MNT"
}

@test "the root: version, statistics, and nothing that can be changed" {
	mount_here
	cd "$MNT"
	same "$("$ADKFS" version)" "adkfs $(cat .adkfs/version)"
	jq -e '.pid > 0 and .engine == "rocksdb" and .turns.running == 0' .adkfs/stats.json
	run mkdir here
	[ "$status" -ne 0 ]
	run touch here
	[ "$status" -ne 0 ]
	run bash -c 'echo x > README.md'
	[ "$status" -ne 0 ]
	run rm -f .adkfs/version
	[ -e .adkfs/version ]
	cd "$TMP"
	"$ADKFS" umount "$MNT"
}

@test "umount ends the daemon although another process has a copy of the mount" {
	unshare -m --propagation private true 2> /dev/null || skip "mount namespaces cannot be made here"
	daemon_start
	background unshare -m --propagation private sh -c 'touch "$1"; exec sleep 1000' - "$TMP/copied"
	eventually 10 test -e "$TMP/copied"
	"$ADKFS" umount "$MNT"
	daemon_ended 0
	rm "$TMP/daemon.pid"
}

@test "options of FUSE: max_read limits a read, subtype leaves the type alone" {
	mount_here -o max_read=8192 -o subtype=other,fsname=mine
	same "mine fuse.adkfs" "$(findmnt -rn -o SOURCE,FSTYPE -M "$MNT")"
	findmnt -rn -o OPTIONS -M "$MNT" | grep -q max_read=8192
	mkdir -p "$MNT/apps/a/users/u/artifacts"
	head -c 100000 /dev/urandom > "$TMP/bytes"
	cp "$TMP/bytes" "$MNT/apps/a/users/u/artifacts/bytes"
	cmp "$TMP/bytes" "$MNT/apps/a/users/u/artifacts/bytes"
	"$ADKFS" umount "$MNT"
}

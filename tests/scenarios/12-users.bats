# Several users of one mount: allow_other, --map-user, --map-users.
load lib/mount
load lib/agents

ANN=4001
BOB=4002

# Other users must get as far as the mount point, and TMPDIR may be closed to them.
setup() {
	BATS_TEST_TMPDIR=$(mktemp -d /var/tmp/adkfs-users.XXXXXX)
	folders_setup
	[ "$(id -u)" -eq 0 ] || skip "needs root, to be several users"
	chmod 755 "$TMP"
	as $ANN test -x "$TMP" || skip "other users may not enter /var/tmp"
}

teardown() {
	mount_teardown
	local failed=$?
	rm -r --one-file-system "$TMP"
	return $failed
}

# Another user of the host: as UID COMMAND...
as() {
	local uid=$1

	shift
	setpriv --reuid "$uid" --regid "$uid" --clear-groups "$@"
}

mount_for_all() {
	daemon_start -o allow_other --map-user "ann=$ANN:$ANN" --map-user "bob=$BOB:$BOB" "$@"
	USERS=$MNT/apps/echo/users
	as $ANN mkdir -p "$USERS/ann/sessions/s1"
	as $BOB mkdir -p "$USERS/bob/sessions/s1"
	S=$USERS/ann/sessions/s1
}

# owner MODE UID:GID PATH
owner() {
	same "$1 $2" "$(stat -c '%a %u:%g' "$3")"
}

@test "without allow_other nothing changes and nobody else gets in" {
	daemon_start
	session
	echo 1 > ../../../../state/limit.json
	owner 700 0:0 "$MNT/apps/echo"
	owner 700 0:0 "$MNT/apps/echo/users"
	owner 600 0:0 "$MNT/apps/echo/state/limit.json"
	owner 700 0:0 "$S"
	refused EACCES as $ANN ls "$MNT"
}

@test "everything below a user belongs to that user, with private modes" {
	mount_for_all
	as $ANN sh -c 'cd "$1"; echo hi > input; cat wait; echo 1 > state/k.json
		echo 2 > state/user:u.json; echo a > artifacts/f; mkdir artifacts/d' - "$S"
	owner 700 $ANN:$ANN "$USERS/ann"
	owner 700 $BOB:$BOB "$USERS/bob"
	while IFS= read -r -d '' path; do
		same $ANN:$ANN "$(stat -c %u:%g "$path")"
		case ${path##*/}-$(stat -c %F-%a "$path") in
		f-regular*-644 | d-directory-755 | *directory-700 | *regular*-400 | *regular*-600 | *symbolic*) ;;
		*) stat "$path" && return 1 ;;
		esac
	done < <(find "$USERS/ann" -print0)
	owner 600 $ANN:$ANN "$USERS/ann/state/u.json"
	owner 400 $ANN:$ANN "$S/turns/1/output"
}

@test "the new owner of a directory of artifacts can make files in it" {
	mount_for_all
	cd "$S/artifacts"
	as $ANN mkdir given
	chown $BOB:$BOB given
	cd given
	as $BOB sh -c 'echo a > f && echo b >> f && mkdir d'
	owner 644 $BOB:$BOB f
	same "a b" "$(as $BOB cat f | xargs)"
	cd ..
	refused EACCES as $BOB touch f
	refused EACCES as $BOB touch user:f
}

@test "everything above the users can be read by all, and changed by the daemon's user" {
	mount_for_all
	echo 1 > "$MNT/apps/echo/state/limit.json"
	owner 755 0:0 "$MNT"
	owner 755 0:0 "$MNT/apps"
	owner 755 0:0 "$MNT/apps/echo"
	owner 755 0:0 "$MNT/apps/echo/state"
	owner 644 0:0 "$MNT/apps/echo/state/limit.json"
	owner 644 0:0 "$MNT/apps/echo/state.json"
	owner 444 0:0 "$MNT/apps/echo/agent.json"
	owner 444 0:0 "$MNT/README.md"
	cd "$MNT"
	as $ANN ls . apps apps/echo apps/echo/state > /dev/null
	as $ANN cat README.md apps/echo/agent.json apps/echo/state.json > /dev/null
	same 1 "$(as $ANN cat apps/echo/state/limit.json)"
	refused EACCES as $ANN mkdir apps/mine
	refused EPERM as $ANN rmdir apps/echo || refused EACCES as $ANN rmdir apps/echo
	refused EACCES as $ANN rm apps/echo/state/limit.json
	refused EACCES as $ANN tee apps/echo/state/limit.json < /dev/null
	refused EACCES as $ANN tee apps/echo/state/mine.json < /dev/null
	refused EACCES as $ANN tee apps/echo/state.json < /dev/null
}

@test "a user sees nothing of another user, not even the name" {
	mount_for_all
	as $ANN sh -c 'cd "$1"; echo secret > input; cat wait; echo 1 > state/k.json' - "$S"
	refused EACCES as $BOB ls "$USERS"
	refused EACCES as $BOB ls "$USERS/ann"
	for name in input output status wait events.jsonl session.json state.json .errors \
		state/k.json turns/1/output artifacts/f; do
		refused EACCES as $BOB cat "$S/$name"
		refused EACCES as $BOB tee "$S/$name" < /dev/null
	done
	refused EACCES as $BOB mkdir "$USERS/ann/sessions/s2"
	refused EACCES as $BOB rmdir "$S"
	refused EPERM as $BOB rmdir "$USERS/ann"
	same 'you said secret' "$(as $ANN cat "$S/output")"
	# The same when the kernel has just seen it for somebody who may.
	refused EACCES as $BOB cat "$S/output"
}

@test "files of the daemon and .errors of an app can be read by the daemon's user alone" {
	mount_for_all
	run as $ANN mkdir "$USERS/carl"
	grep -q '"name":"users/carl","errno":"EACCES"' "$MNT/apps/echo/.errors"
	for name in .adkfs/stats.json apps/echo/.errors; do
		[ -s "$MNT/$name" ]
		refused EACCES as $BOB cat "$MNT/$name"
	done
	as $BOB cat "$MNT/.adkfs/version"
}

@test "a user can make the user's own directory in an app, and no other" {
	mount_for_all --map-users=system
	owner 1733 0:0 "$USERS"
	for name in carl nobody root 'an%n' . ..; do
		not as $ANN mkdir "$USERS/$name"
	done
	refused EACCES as $ANN mkdir "$MNT/apps/weather/users/bob"
	as $ANN mkdir "$MNT/apps/weather/users/ann"
	owner 700 $ANN:$ANN "$MNT/apps/weather/users/ann"
	as 65534 mkdir "$USERS/nobody"
	owner 700 65534:65534 "$USERS/nobody"
	refused EPERM as $ANN touch "$USERS/file"
	refused EPERM as $ANN ln -s / "$USERS/link"
	refused ENOTEMPTY as $ANN rmdir "$USERS/ann"
	as $ANN rmdir "$S" "$USERS/ann"
	mkdir "$USERS/carl"
	owner 700 0:0 "$USERS/carl"
}

@test "without a map everything belongs to the daemon's user, who makes all directories" {
	daemon_start -o allow_other
	session
	owner 711 0:0 "$MNT/apps/echo/users"
	owner 700 0:0 "$MNT/apps/echo/users/ann"
	same 5 "$(as $ANN ls "$MNT/apps/echo" | wc -l)"
	refused EACCES as $ANN mkdir "$MNT/apps/echo/users/bob"
	refused EACCES as $ANN ls "$S"
}

@test "a session's user can write the user's state, and only read the app's" {
	mount_for_all
	echo 1 > "$MNT/apps/echo/state/limit.json"
	cd "$S"
	as $ANN sh -c 'echo 2 > state/user:name.json; echo 3 > state/user:name.json'
	same 3 "$(cat ../../state/name.json)"
	same 1 "$(as $ANN cat state/app:limit.json)"
	refused EACCES as $ANN tee state/app:limit.json <<< 2
	refused EACCES as $ANN tee state/app:new.json <<< 2
	refused EACCES as $ANN tee state.json <<< '{"a": 1, "app:limit": 2}'
	refused EACCES as $ANN tee state.json <<< ' {"\u0061pp:new": 2}'
	refused EACCES as $ANN tee -a events.jsonl < <(event hi '{"app:limit": 2}')
	refused EACCES as $ANN tee -a events.jsonl < <(event hi '{"app:limit": null}')
	not as $ANN tee -a events.jsonl < <(event hi '{"app:limit": 2}' | tr -d '\n')
	same '{"limit":1}' "$(cat "$MNT/apps/echo/state.json")"
	same 6 "$(grep -c EACCES .errors)"
	as $ANN tee state.json <<< '{"a": 1, "user:b": 2}'
	as $ANN tee -a events.jsonl < <(event hi '{"c": 1, "user:d": 2}')
	same '{"a":1,"app:limit":1,"c":1,"user:b":2,"user:d":2,"user:name":3}' "$(jq -cS . state.json)"
	# Root may.
	echo 5 > state/app:new.json
	echo '{"app:limit": 6}' > state.json
	same '{"limit":6,"new":5}' "$(cat "$MNT/apps/echo/state.json")"
}

@test "each user runs turns of that user's sessions" {
	mount_for_all
	as $ANN sh -c 'cd "$1"; echo from ann > input; cat output' - "$S" > "$TMP/ann"
	as $BOB sh -c 'cd "$1"; echo from bob > input; cat output' - "$USERS/bob/sessions/s1" > "$TMP/bob"
	same 'you said from ann' "$(cat "$TMP/ann")"
	same 'you said from bob' "$(cat "$TMP/bob")"
	refused EACCES as $BOB tee "$S/input" <<< hi
	[ ! -e "$S/turns/2" ]
	as $ANN rm -r "$S"
	[ ! -e "$S" ]
}

@test "a map may have names with equals signs and names that need encoding" {
	daemon_start -o allow_other --map-user "a=b=$ANN:$ANN" --map-user "x/y=$BOB:root"
	as $ANN mkdir "$MNT/apps/echo/users/a=b"
	as $BOB mkdir "$MNT/apps/echo/users/x%2Fy"
	owner 700 $ANN:$ANN "$MNT/apps/echo/users/a=b"
	owner 700 $BOB:0 "$MNT/apps/echo/users/x%2Fy"
}

@test "a mount is always nosuid and nodev" {
	daemon_start -o suid,dev -o allow_other
	for option in nosuid nodev allow_other default_permissions; do
		[[ ,$(findmnt -no OPTIONS "$MNT"), == *,$option,* ]]
	done
}

@test "a bad map is refused at the start, with 2" {
	bad() {
		local text=$1

		shift
		run "$ADKFS" mount --store "$STORE" "$@" "$MNT"
		echo "status $status: $output"
		[ "$status" -eq 2 ]
		[[ $output == *"$text"* ]]
	}
	bad "need -o allow_other" --map-user ann=0
	bad "need -o allow_other" --map-users=system
	bad "expected NAME=UID" -o allow_other --map-user ann
	bad "no login 'nosuchlogin'" -o allow_other --map-user ann=nosuchlogin
	bad "no login ''" -o allow_other --map-user ann=
	bad "no login '-1'" -o allow_other --map-user ann=-1
	bad "no login '4294967295'" -o allow_other --map-user ann=4294967295:0
	bad "user id 3999999999 is not in the user database" -o allow_other --map-user ann=3999999999
	bad "no group 'nosuchgroup'" -o allow_other --map-user ann=0:nosuchgroup
	bad "mapped twice" -o allow_other --map-user ann=0 --map-user ann=nobody
	bad "the name is empty" -o allow_other --map-user =0
	bad "takes system" -o allow_other --map-users=ldap
	not is_mounted "$MNT"
}

# Run the script on standard input in a mount namespace of its own, for a daemon of an ordinary user: with
# $TMP/fuse.conf as /etc/fuse.conf, and a /dev/fuse that everybody may open, which a machine without udev lacks.
ordinary_mount() {
	cp "$ADKFS" "$TMP/adkfs"
	install -d -o 65534 "$TMP/theirs" "$TMP/theirs/mnt"
	install -d "$TMP/dev"
	{
		cat <<- 'END'
			mount -t tmpfs -o mode=755 tmpfs "$1/dev"
			mknod -m 666 "$1/dev/fuse" c 10 229
			mount --bind "$1/dev/fuse" /dev/fuse
			mount --bind "$1/fuse.conf" /etc/fuse.conf
		END
		cat
	} > "$TMP/run"
	unshare -m bash -eu "$TMP/run" "$TMP"
}

@test "an ordinary user is told which line of /etc/fuse.conf is missing" {
	echo '# nothing' > "$TMP/fuse.conf"
	ordinary_mount <<- 'END' > "$TMP/out" 2>&1 || status=$?
		cd "$1/theirs"
		setpriv --reuid 65534 --regid 65534 --clear-groups \
			"$1/adkfs" mount --store store -o allow_other mnt
	END
	cat "$TMP/out"
	same 1 "$status"
	grep -q 'only root may use allow_other: /etc/fuse.conf lacks the line user_allow_other' "$TMP/out"
}

@test "a daemon of an ordinary user maps other users too" {
	echo user_allow_other > "$TMP/fuse.conf"
	ordinary_mount <<- 'END'
		as() { local uid=$1; shift; setpriv --reuid "$uid" --regid "$uid" --clear-groups "$@"; }
		cd "$1/theirs"
		as 65534 "$1/adkfs" mount --store store -o allow_other --map-user ann=4001:4001 mnt
		trap 'cd /; "$1/adkfs" umount -z "$1/theirs/mnt"' EXIT
		as 65534 mkdir -p mnt/apps/echo/users/carl/sessions/s1
		as 4001 mkdir -p mnt/apps/echo/users/ann/sessions/s1
		test 65534 = "$(stat -c %u mnt/apps/echo/users/carl)"
		test 4001 = "$(stat -c %u mnt/apps/echo/users/ann)"
		as 4001 sh -c 'echo 1 > mnt/apps/echo/users/ann/sessions/s1/state/user:k.json'
		if as 4002 ls mnt/apps/echo/users/ann; then exit 7; fi
		if as 4001 ls mnt/apps/echo/users/carl; then exit 8; fi
		if as 65534 ls mnt/apps/echo/users/ann; then exit 9; fi
		as 0 ls mnt/apps/echo/users/ann/sessions/s1
	END
}

@test "a daemon that is not root says that programs of other logins cannot enter sessions" {
	echo user_allow_other > "$TMP/fuse.conf"
	llm reader root_agent.yaml reader "tools: [{name: tools/read}, {name: tools/fine}]" \
		"after_model_callbacks: [{name: guard}]"
	rules reader reader <<-'E'
		- when: {tool: .}
		  text: "${result}"
		- when: {user: read}
		  calls: [{name: read}]
		- calls: [{name: fine}]
	E
	tool reader read '{"description":"r"}' <<< $'#!/bin/sh\ncat "$ADK_CONTEXT/args.json"'
	tool reader fine '{"description":"f"}' <<< $'#!/bin/sh\necho fine'
	agent_file reader guard <<< $'#!/bin/sh\ncat > /dev/null'
	install -d -o 65534 "$TMP/theirs"
	cp -R "$AGENTS" "$TMP/theirs/agents"
	chmod -R a+rX "$TMP/theirs/agents"
	for sandbox in none auto; do
		ordinary_mount <<- END > "$TMP/out" 2>&1
			as() { local uid=\$1; shift; setpriv --reuid "\$uid" --regid "\$uid" --clear-groups "\$@"; }
			cd "\$1/theirs"
			as 65534 "\$1/adkfs" mount --store store --agents agents --sandbox $sandbox -o allow_other \\
				--map-user ann=4001:4001 mnt
			trap 'cd /; "\$1/adkfs" umount "\$1/theirs/mnt"' EXIT
			for who in 4001:ann 65534:own; do
				as \${who%:*} mkdir -p mnt/apps/reader/users/\${who#*:}/sessions/s-$sandbox
				for what in fine read; do
					as \${who%:*} sh -c 'cd mnt/apps/reader/users/'\${who#*:}'/sessions/s-$sandbox; echo '\$what' > input; cat output || cat turns/latest/error'
				done
			done
		END
		grep -q 'programs of agents cannot enter sessions and contexts of other logins' "$TMP/out"
		same 2 "$(grep -c '^{"result":"fine"}$' "$TMP/out")"
		same 1 "$(grep -c '^{}$' "$TMP/out")" # of the daemon's own user
		grep -q 'args.json: .* (the directories of this user belong to another login: programs can enter them only when the daemon is root)"}$' "$TMP/out"
	done
}

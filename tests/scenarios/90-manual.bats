# adkfs(5) lists the names of the mount, all of them and no others.
load lib/mount

DAEMON_OPTIONS=(--sandbox=none) # a program is a file of the test

# A session in which everything has happened that makes names.
busy_session() {
	session weather ann s1
	say 'What is the weather in Lima?'
	say 'Thanks'
	echo 1 > state/own.json
	echo 2 > state/user:name.json
	echo 3 > ../../../../state/limit.json
	mkdir artifacts/reports
	echo a > artifacts/reports/q1.md
	echo a > artifacts/plan.md
	echo b > artifacts/plan.md
	echo c > artifacts/user:letter.md
	ln -s ../../sessions/s1 ../../memory/sessions/
	session programs
	printf 'cd /; touch %s/begun\nsleep 1000\n' "$TMP" > "$TMP/tool"
	echo "run $TMP/tool" > input # a program that is waited for has a context
	eventually 20 test -e "$TMP/begun"
	cd "$MNT" || return 1
}

compare() {
	python3 "$ROOT/tests/scenarios/90-manual.py" "$1" "$MNT"
}

@test "every name in the mount is in the manual, and every name in the manual in the mount" {
	busy_session
	compare "$ROOT/docs/adkfs.5"
}

@test "the comparison notices each name that is missing on either side" {
	local page=$TMP/page.5 line lines

	busy_session
	mapfile -t lines < <(grep -n '^\.It Pa' "$ROOT/docs/adkfs.5" | cut -d : -f 1)
	[ ${#lines[@]} -gt 30 ]
	for line in "${lines[@]}"; do
		sed "$line d" "$ROOT/docs/adkfs.5" > "$page"
		if compare "$page" > "$TMP/out"; then
			echo "line $line is not needed: $(sed -n "$line p" "$ROOT/docs/adkfs.5")"
			return 1
		fi
	done
	sed '/^\.It Pa status/ s/$/ , Pa no_such_name/' "$ROOT/docs/adkfs.5" > "$page"
	run compare "$page"
	same 1 "$status"
	[[ $output == *"not in the mount: no_such_name (section A SESSION)"* ]]
}

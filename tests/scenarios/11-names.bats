# Names: ids and keys as file names and back, one to one.
load lib/mount

names() {
	timeout 60 python3 "$ROOT/tests/scenarios/lib/names.py" "$@"
}

@test "apps, users and sessions may have any name" {
	names scopes "$MNT"
}

@test "keys may have any name, in each scope, by a delta and by their files" {
	session
	names state "$S"
}

@test "some keys have no file name, and some file names no key" {
	session
	names keys "$S"
}

@test "ids of events may be any text" {
	session
	names events "$S"
}

@test "a name that is not in its canonical spelling is refused with EINVAL" {
	names refused "$MNT"
}

@test ".errors says why a name is refused" {
	session
	while IFS='|' read -r name why; do
		for file in "artifacts/$name" "state/$name.json" "attachments/$name"; do
			refused EINVAL bash -c 'echo 1 > "$1"' - "$file"
			same "$file: $why" "$(tail -n 1 .errors | jq -r '.name + ": " + .error')"
		done
	done <<-'E'
		a%b|'%' is not followed by two upper-case hex digits (write '%25' for a percent sign)
		100%|'%' is not followed by two upper-case hex digits (write '%25' for a percent sign)
	E
	refused EINVAL cat artifacts/x%41
	same "the name must be spelled 'xA'" "$(tail -n 1 .errors | jq -r .error)"
	refused EINVAL mkdir ../50%
	same 'sessions/50%' "$(tail -n 1 ../../.errors | jq -r .name)"
	before=$(cat .errors)
	refused ENOENT cat artifacts/none
	same "$before" "$(cat .errors)" # what is not there is no refusal
}

@test "names outlive the daemon" {
	session $'a\nb' '100%25' '%2E%2E'
	echo '{"a/b": 1, "user:.": 2, "app:%": 3}' > state.json
	inodes=$(find . -printf '%i %p\0' | sort -z | base64 -w 0)
	daemon_restart
	back
	same "$inodes" "$(find . -printf '%i %p\0' | sort -z | base64 -w 0)"
	same 1 "$(cat state/a%2Fb.json)"
	same ../../../state/%2E.json "$(readlink state/user:..json)"
	same 2 "$(cat state/user:..json)"
	same 3 "$(cat state/app:%25.json)"
	jq -e '.id == ".." and .userId == "100%" and .appName == "a\nb"' session.json
}

@test "cat, stat and rm accept every path that find prints" {
	for name in $'line\nbreak' 'sp ace' '*' '%25' '%2E%2E' '-rf' '🐝' $'\e[31m'; do
		session names ann "$name"
		printf '{"%s": 1}' "${name//[$'\n\e']/-}" > state.json
	done
	cd "$MNT/apps/names"
	same 16 "$(find . -path '*/sessions/*/state*.json' -type f -print0 | xargs -0 cat | grep -c .)"
	find . -print0 | xargs -0 stat -c %i > "$TMP/inodes"
	same "$(wc -l < "$TMP/inodes")" "$(sort -u "$TMP/inodes" | wc -l)"
	find users/ann/sessions -mindepth 1 -maxdepth 1 -print0 | xargs -0 rm -r
	same '' "$(ls users/ann/sessions)"
}

@test "a name of over 255 bytes is refused everywhere, and never cut" {
	local long=$(printf 'n%.0s' {1..256}) dir

	session
	for dir in . state artifacts attachments turns .. ../../state ../../memory/search "$MNT" "$MNT/apps"; do
		refused ENAMETOOLONG cat "$dir/$long"
		refused ENAMETOOLONG cat "$dir/.${long:1}"
	done
	echo 1 > state/k.json
	echo 1 > artifacts/a
	for dir in state artifacts attachments; do
		refused ENAMETOOLONG bash -c "echo 1 > '$dir/$long'"
		refused ENAMETOOLONG bash -c "echo 1 > '$dir/.${long:1}'"
	done
	refused ENAMETOOLONG bash -c "echo 1 > 'state/${long:5}.json'"
	refused ENAMETOOLONG mv -T state/k.json "state/$long"
	refused ENAMETOOLONG mv -T artifacts/a "artifacts/.${long:1}"
	same k.json "$(ls -A state)"
	same a "$(ls -A artifacts)"
	same '' "$(ls -A attachments)"
	echo 1 > "state/${long:1}"
	echo 1 > "artifacts/.${long:2}"
	same "${long:1}" "$(ls -A state | grep nn)"
	same ".${long:2}" "$(ls -A artifacts | grep nn)"
}

# memory/ of a user: sessions that are remembered, and searching in them.
load lib/mount

# A user with two sessions; goes to the user's directory. $S is s1.
two_sessions() {
	session echo ann s2
	session echo ann s1
	cd ../..
}

# tell SESSION TEXT...: an event each.
tell() {
	local session=$1 text

	shift
	for text; do
		event "$text"
	done >> "sessions/$session/events.jsonl"
}

remember() {
	ln -s "../../sessions/$1" memory/sessions/
}

# What a query finds: the texts, one a line.
found() {
	jq -r '.content.parts | map(.text) | join(" ")' "memory/search/$1"
}

# The reason why the last operation was refused.
why() {
	tail -n 1 .errors | jq -r .error
}

@test "ln -s remembers a session, rm forgets it" {
	two_sessions
	tell s1 'The quick brown fox'
	tell s2 'another fox'
	same '' "$(cat memory/search/fox)"
	ln -s ../../sessions/s1 memory/sessions/
	same s1 "$(ls memory/sessions)"
	same '../../sessions/s1' "$(readlink memory/sessions/s1)"
	same 17 "$(stat -c %s memory/sessions/s1)"
	cmp memory/sessions/s1/events.jsonl sessions/s1/events.jsonl
	same 'The quick brown fox' "$(found fox)"
	remember s2
	same 's1 s2' "$(ls memory/sessions | xargs)"
	same $'another fox\nThe quick brown fox' "$(found fox)"
	rm memory/sessions/s1
	same 'another fox' "$(found fox)"
	same s2 "$(ls memory/sessions)"
	refused ENOENT rm memory/sessions/s1
	refused ENOENT readlink -v memory/sessions/s1
	remember s1
	same $'another fox\nThe quick brown fox' "$(found fox)"
	same '' "$(jq -r .error .errors)"
}

@test "a match is an entry of ADK, with its session" {
	two_sessions
	remember s1
	echo '{"author": "me", "id": "i-1", "timestamp": 1795217882.9, "content": {"role": "model", "parts": [
		{"text": "why", "thought": true}, {"text": "because of fish"},
		{"inlineData": {"mimeType": "text/plain", "data": "AAAA"}}]}}' | jq -c . >> sessions/s1/events.jsonl
	same '{"content":{"parts":[{"text":"because of fish"}],"role":"model"},"author":"me","timestamp":"2026-11-20T23:38:02.900000Z","id":"i-1","customMetadata":{"adkfs.session":"s1"}}' \
		"$(cat memory/search/fish)"
	same '' "$(cat memory/search/why)"
	same '' "$(cat memory/search/plain)"
}

@test "most shared words first, then the latest, ten at most" {
	two_sessions
	remember s1
	remember s2
	for i in $(seq 1 9); do
		tell s1 "apple $i"
		tell s2 "pear $i"
	done
	tell s1 'a pear and an apple'
	tell s2 'a plum'
	same 'a pear and an apple' "$(found 'APPLE pear' | head -n 1)"
	same 10 "$(found 'apple pear' | wc -l)"
	same 'pear 9' "$(found 'apple pear' | sed -n 2p)"
	same 'apple 9' "$(found 'apple pear' | sed -n 3p)"
	same 'a plum' "$(found 'plum')"
	same '' "$(found 'plu')"
}

@test "words know no case, and need no blanks in Chinese and Japanese" {
	two_sessions
	remember s1
	tell s1 'Über ΣΊΣΥΦΟΣ und die ЖИЗНЬ' '東京タワーに行く' "don't e-mail; \"quote\""
	same 'Über ΣΊΣΥΦΟΣ und die ЖИЗНЬ' "$(found 'über')"
	same 'Über ΣΊΣΥΦΟΣ und die ЖИЗНЬ' "$(found 'σίσυφος, жизнь!')"
	same '東京タワーに行く' "$(found 京)"
	same '東京タワーに行く' "$(found タワー)"
	same "don't e-mail; \"quote\"" "$(found '"Quote"')"
	same "don't e-mail; \"quote\"" "$(found 'mail%2Fquote')"
}

@test "any name is a query, and the directory lists none" {
	two_sessions
	remember s1
	tell s1 'one 100%'
	same '' "$(ls -A memory/search)"
	for name in a '...' '.hidden' '%2E' '%25' ' ' $'a\nb' 'ü' "$(printf 'x%.0s' {1..255})"; do
		[ -f "memory/search/$name" ]
		same 0 "$(stat -c %s "memory/search/$name")"
		same '' "$(cat "memory/search/$name")"
	done
	same 'one 100%' "$(found '100%25')"
	refused EINVAL cat 'memory/search/100%'
	refused EINVAL cat 'memory/search/a%00b'
	refused EINVAL cat "$(printf 'memory/search/\xff')"
	refused ENAMETOOLONG cat "memory/search/$(printf 'x%.0s' {1..256})"
	[ -d memory/search/.. ]
	same '' "$(ls -A memory/search)"
	same '400' "$(stat -c %a memory/search/one)"
	refused EACCES bash -c 'echo x > memory/search/one'
	refused EPERM rm memory/search/one
	refused EEXIST mkdir memory/search/one
	refused 'Not a directory' cat memory/search/one/two
	same 'one 100%' "$(found one)"
}

@test "a change is found at once, even by a process that asked before" {
	two_sessions
	remember s1
	for i in $(seq 1 30); do
		[ "$(stat -c %s memory/search/word)" = "$(cat memory/search/word | wc -c)" ]
		tell s1 "word $i"
		same "word $i" "$(found word | head -n 1)"
	done
	exec 5< memory/search/word
	same 'word 30' "$(head -n 1 <&5 | jq -r '.content.parts[0].text')"
	exec 5<&-
	same "$(stat -c %s memory/search/word)" "$(cat memory/search/word | wc -c)"
	rm memory/sessions/s1
	same 0 "$(stat -c %s memory/search/word)"
	same '' "$(cat memory/search/word)"
	remember s1
	same 10 "$(found word | wc -l)"
}

@test "turns are found, the user's words and the answer" {
	two_sessions
	remember s1
	cd sessions/s1
	say 'where are the keys'
	cd ../..
	same $'you said where are the keys\nwhere are the keys' "$(found keys)"
	same '["echo","user"]' "$(jq -sc 'map(.author)' memory/search/keys)"
	cd sessions/s1
	say 'something else'
	invocation=$(cat turns/1/invocation_id)
	echo "rewind $invocation" > ctl
	cd ../..
	same '' "$(found keys)"
	same '' "$(found something)"
}

@test "arguments and results of tools are not searched" {
	session weather ann s1
	say 'What is the weather in Lima?'
	cd ../..
	remember s1
	grep -q '"functionResponse":.*wind_kmh' sessions/s1/events.jsonl
	same '' "$(cat 'memory/search/get celsius sky')"
	same 'What is the weather in Lima?' "$(found lima | tail -n 1)"
}

@test "memory takes only links to a session of the same user, by its name" {
	session echo bob s1
	session echo ann "odd %25 name"
	two_sessions
	refused EINVAL ln -s ../../sessions/s1 memory/sessions/other
	same "the link must have the name of the session: 's1'" "$(why)"
	refused EINVAL ln -s ../../../bob/sessions/s1 memory/sessions/s1
	[[ $(why) == "the link must lead to a session of this user, "* ]]
	refused EINVAL ln -s "$MNT/apps/echo/users/bob/sessions/s1" memory/sessions/s1
	for target in /etc s1 sessions/s1 ../sessions/s1 ../../sessions ../../sessions/ ../../sessions/.. \
		../../sessions/s1/input ../../../../../.. /; do
		refused EINVAL ln -sT "$target" memory/sessions/s1
	done
	refused ENOENT ln -s ../../sessions/nope memory/sessions/
	same "there is no session 'nope'" "$(why)"
	same '' "$(ls memory/sessions)"

	ln -s "$MNT/apps/echo/users/ann/sessions/s1" memory/sessions/
	same ../../sessions/s1 "$(readlink memory/sessions/s1)"
	refused EEXIST ln -s ../../sessions/s1 memory/sessions/
	ln -sT ../.././users/../../ann/sessions//s2/ memory/sessions/s2
	same ../../sessions/s2 "$(readlink memory/sessions/s2)"
	remember 'odd %25 name'
	same '../../sessions/odd %25 name' "$(readlink 'memory/sessions/odd %25 name')"
	[ -d 'memory/sessions/odd %25 name/state' ]
	refused EPERM mv memory/sessions/s1 memory/sessions/s3
	refused EPERM touch memory/sessions/file
	refused EPERM mkdir memory/sessions/dir
	refused EPERM ln -s ../sessions/s1 memory/x
	refused EPERM ln -s s1 sessions/x
	refused EPERM ln -s ../sessions/s1 sessions/s1/artifacts/x
}

@test "a user does not find sessions of another user" {
	session echo bob s1
	cd ../..
	tell s1 'secret of bob'
	remember s1
	two_sessions
	tell s1 'secret of ann'
	remember s1
	same 'secret of ann' "$(found secret)"
	cd "$MNT/apps/echo/users/bob"
	same 'secret of bob' "$(found secret)"
}

@test "a removed session is forgotten, and a fork is not remembered" {
	two_sessions
	tell s1 'word'
	remember s1
	echo 'fork s3' > sessions/s1/ctl
	same word "$(found word)"
	same s1 "$(ls memory/sessions)"
	ls -l memory/sessions/s1
	rmdir sessions/s1
	same '' "$(ls -A memory/sessions)"
	refused ENOENT readlink -v memory/sessions/s1
	refused ENOENT cat memory/sessions/s1/status
	same '' "$(cat memory/search/word)"
	mkdir sessions/s1
	not [ -L memory/sessions/s1 ]
	remember s1
	same '' "$(cat memory/search/word)"
	same idle "$(cat memory/sessions/s1/status)"
}

@test "rm -r forgets all, and leaves the directories" {
	two_sessions
	tell s1 word
	remember s1
	remember s2
	refused EPERM rm -r memory/sessions
	same '' "$(ls -A memory/sessions)"
	refused EPERM rm -r memory
	same 'search sessions' "$(ls memory | xargs)"
	same 's1 s2' "$(ls sessions | xargs)"
	same '' "$(cat memory/search/word)"
	remember s1
	same word "$(found word)"
}

@test "many links are listed, and removed while they are" {
	session echo ann s0
	cd ../..
	(cd sessions && seq -f 'm%g' 1 300 | xargs mkdir)
	for i in $(seq 1 300); do
		ln -s "../../sessions/m$i" "memory/sessions/m$i"
	done
	same 300 "$(ls memory/sessions | wc -l)"
	find memory/sessions -type l -delete
	same 0 "$(ls memory/sessions | wc -l)"
	same 301 "$(ls sessions | wc -l)"
}

@test "the mount is walked and copied as before" {
	two_sessions
	tell s1 word
	remember s1
	same 'search sessions' "$(ls memory | xargs)"
	sizes_are_true .
	find . -type f -perm -400 -exec cat {} + > /dev/null
	cp -R memory "$TMP/copy"
	same '../../sessions/s1' "$(readlink "$TMP/copy/sessions/s1")"
	same '' "$(ls -A "$TMP/copy/search")"
	tar cf "$TMP/memory.tar" memory
	cp memory/search/word "$TMP/word"
	cmp "$TMP/word" memory/search/word
}

@test "remembered sessions are found after a restart, and after a crash" {
	two_sessions
	tell s1 'old word'
	remember s1
	daemon_restart
	cd "$S/../.."
	same s1 "$(ls memory/sessions)"
	same 'old word' "$(found word)"
	tell s1 'new word'
	cd "$TMP"
	daemon_kill
	daemon_start
	cd "$S/../.."
	same $'new word\nold word' "$(found word)"
	same ../../sessions/s1 "$(readlink memory/sessions/s1)"
}

@test "a long session is indexed and forgotten in steps, even over a crash" {
	two_sessions
	python3 - > "$TMP/lines" <<-'PY'
		import json
		for i in range(25000):
		    print(json.dumps({"author": "user", "timestamp": 1000 + i, "content": {"role": "user", "parts": [
		        {"text": f"line number n{i} of a session that is long enough " + "to take a while " * 30}]}}))
	PY
	cat "$TMP/lines" >> sessions/s1/events.jsonl
	remember s1
	cd "$TMP"
	daemon_kill
	daemon_start
	cd "$S/../.."
	same s1 "$(ls memory/sessions)"
	tell s1 'n0 again'
	same 'n0 again' "$(found n0 | head -n 1)"
	eventually 60 test -s memory/search/n24999
	same 2 "$(found n0 | wc -l)"
	same 'line number n14159 of' "$(found n14159 | cut -d ' ' -f 1-4)"
	rm memory/sessions/s1
	same '' "$(cat memory/search/line)"
	remember s1
	cd "$TMP"
	daemon_restart
	cd "$S/../.."
	eventually 60 test -s memory/search/n24999
	same 'line number n0 of' "$(found n0 | tail -n 1 | cut -d ' ' -f 1-4)"
}

@test "owners and modes are those of the user's files" {
	daemon_stop
	daemon_start -o allow_other --map-user ann=1234:1235
	two_sessions
	remember s1
	same '700 700 700 777 400' "$(stat -c %a memory memory/search memory/sessions memory/sessions/s1 memory/search/x | xargs)"
	same 1234:1235 "$(stat -c %u:%g . memory memory/search memory/sessions memory/sessions/s1 memory/search/x | sort -u)"
}

@test "sessions are written, remembered, forgotten and searched at once" {
	session echo ann s1
	python3 "$ROOT/tests/scenarios/lib/memory_crowd.py" "$PWD/../.." 2
}

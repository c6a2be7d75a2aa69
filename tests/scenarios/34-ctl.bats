# ctl: verbs that stop, undo and copy.
load lib/mount

# The turn that runs has said TEXT.
has_said() {
	[[ $(timeout 5 head -c "${#1}" turns/latest/output) == "$1" ]]
}

begin() {
	echo forever > input
	eventually 10 has_said begun
}

@test "ctl is only written, and is one line a verb" {
	session
	same '' "$(cat ctl)"
	same 0 "$(stat -c %s ctl)"
	refused EINVAL bash -c 'echo dance > ctl'
	tail -n 1 .errors | jq -e '.name == "ctl" and .errno == "EINVAL"
		and (.error | contains("dance") and contains("cancel"))'
	refused EINVAL bash -c 'echo cancel now > ctl'
	refused EINVAL bash -c 'head -c 10000 /dev/zero | tr "\0" x > ctl'
	printf '\n  \t\ncancel\n\n cancel \r\n' > ctl
	printf cancel > ctl
	echo cancel >> ctl
	# Without its newline a line counts at the close, which says what it thinks of it.
	python3 - <<-'PY'
		import errno, os
		fd = os.open("ctl", os.O_WRONLY)
		assert os.write(fd, b"cancel\ndan") == 10
		assert os.write(fd, b"ce") == 2
		try:
		    os.close(fd)
		    raise SystemExit("the close succeeded")
		except OSError as e:
		    assert e.errno == errno.EINVAL, e
		# Lines before a bad one are done, and the count says so.
		fd = os.open("ctl", os.O_WRONLY)
		assert os.write(fd, b"cancel\ndance\ncancel\n") == 7
		try:
		    os.write(fd, b"dance\ncancel\n")
		    raise SystemExit("the write succeeded")
		except OSError as e:
		    assert e.errno == errno.EINVAL, e
		os.close(fd)
	PY
}

@test "cancel without a turn does nothing" {
	session
	echo cancel > ctl
	same 0 "$(wc -l < events.jsonl)"
	say hi
	echo cancel > ctl
	same idle "$(cat status)"
	same 2 "$(wc -l < events.jsonl)"
}

@test "cancel ends the turn, and what was said stays" {
	session slow
	begin
	background bash -c "cat output > '$TMP/out'; echo \$? > '$TMP/status'"
	echo cancel > ctl
	same 'failed 1' "$(timeout 10 cat wait)"
	wait "$PID"
	BACKGROUND=()
	same 1 "$(cat "$TMP/status")"
	same 'begun ' "$(cat "$TMP/out")"
	same failed "$(cat turns/1/status)"
	[[ $(cat turns/1/error) == *cancelled* ]]
	refused EIO cat output
	same 2 "$(wc -l < events.jsonl)"
	tail -n 1 events.jsonl | jq -e '.errorCode == "CANCELLED" and .interrupted == true
		and .author == "slow" and .content.parts == [{"text": "begun "}]'
	sizes_are_true .
}

@test "a turn that said nothing yet leaves an event without content" {
	cp -R "$AGENTS/slow" "$AGENTS/mute"
	cat > "$AGENTS/mute/script.yaml" <<-'YAML'
		- when: {user: '.'}
		  text: "at last"
		  delay_ms: 600000
	YAML
	sed -i 's/^name:.*/name: mute/' "$AGENTS/mute/root_agent.yaml"
	session mute
	echo hi > input
	echo cancel > ctl
	same 'failed 1' "$(timeout 10 cat wait)"
	tail -n 1 events.jsonl | jq -e '.errorCode == "CANCELLED" and .interrupted == true'
}

@test "turns behind a cancelled one go on" {
	session slow
	begin
	echo two > input
	echo three > input
	same 'running 1' "$(cat status)"
	echo cancel > ctl
	same idle "$(timeout 30 cat wait)"
	same failed "$(cat turns/1/status)"
	same 'one two three two' "$(cat turns/2/output)"
	same 'one two three three' "$(cat turns/3/output)"
}

@test "cancel ends a tool and all that it started" {
	mkdir -p "$AGENTS/tool/tools"
	cat > "$AGENTS/tool/root_agent.yaml" <<-'YAML'
		name: tool
		model: script/script.yaml
		instruction: Call.
		tools: [{name: tools/hang}]
	YAML
	cat > "$AGENTS/tool/script.yaml" <<-'YAML'
		- when: {user: '.'}
		  calls: [{name: hang}]
	YAML
	echo '{"description": "hangs"}' > "$AGENTS/tool/tools/hang.json"
	cat > "$AGENTS/tool/tools/hang" <<-SH
		#!/bin/sh
		sleep 600 & echo \$! > "$TMP/child"
		echo \$\$ > "$TMP/tool"
		wait
	SH
	chmod +x "$AGENTS/tool/tools/hang"
	daemon_stop
	daemon_start --sandbox none # where the tool could not write to $TMP; 72-sandbox.bats has one
	session tool
	echo hi > input
	eventually 10 test -s "$TMP/tool"
	echo cancel > ctl
	same 'failed 1' "$(timeout 30 cat wait)"
	eventually 10 gone "$(cat "$TMP/tool")"
	eventually 10 gone "$(cat "$TMP/child")"
	# The call got an answer, and the turn its end.
	jq -e -s '.[2].content.parts[0].functionResponse.response.error
		and .[3].errorCode == "CANCELLED" and length == 4' events.jsonl
}

# The invocation id of turn N.
invocation() {
	cat "turns/$1/invocation_id"
}

@test "rewind takes state back and leaves the lines" {
	session
	echo '{"a": 1, "user:u": 1}' > state.json
	say one
	echo 2 > state/a.json
	echo true > state/new.json
	say two
	rm state/a.json
	echo 2 > state/user:u.json
	cp events.jsonl "$TMP/before"
	echo "rewind $(invocation 2)" > ctl
	same '{"a":2,"new":true,"user:u":2}' "$(cat state.json)"
	same 2 "$(cat state/a.json)"
	echo "rewind $(invocation 1)" > ctl
	same '{"a":1,"user:u":2}' "$(cat state.json)"
	[ ! -e state/new.json ]
	same 'a.json user:u.json' "$(ls state | sort | xargs)"
	cmp "$TMP/before" <(head -c "$(stat -c %s "$TMP/before")" events.jsonl)
	tail -n 1 events.jsonl | jq -e --arg id "$(invocation 1)" '.author == "user"
		and .actions.rewindBeforeInvocationId == $id and .actions.stateDelta == {a: 1, new: null}
		and .customMetadata["adkfs.deleted"] == ["new"] and (.invocationId | startswith("e-"))'
	same 'you said two' "$(cat turns/2/output)"
}

@test "rewind refuses a turn that does not exist, and any turn while one runs" {
	session slow
	refused EINVAL bash -c 'echo rewind > ctl'
	refused ENOENT bash -c 'echo rewind e-1 > ctl'
	say hi
	begin
	refused EBUSY bash -c 'echo "rewind $(cat turns/1/invocation_id)" > ctl'
	tail -n 1 .errors | jq -e '.errno == "EBUSY" and (.error | contains("turn 2"))'
	echo cancel > ctl
	timeout 10 cat wait
	echo "rewind $(invocation 1)" > ctl
	refused ENOENT bash -c 'echo "rewind $(cat turns/1/invocation_id)" > ctl'
	refused ENOENT bash -c 'echo "rewind $(cat turns/2/invocation_id)" > ctl'
}

@test "a rewind is still in effect after a restart" {
	session
	say one
	say two
	echo "rewind $(invocation 2)" > ctl
	daemon_kill
	daemon_start
	back
	refused ENOENT bash -c 'echo "rewind $(cat turns/2/invocation_id)" > ctl'
	echo "rewind $(invocation 1)" > ctl
}

# same_session A B: what two sessions show of their past is equal.
same_session() {
	local file

	cmp "$1/events.jsonl" "$2/events.jsonl"
	same "$(cat "$1/state.json")" "$(cat "$2/state.json")"
	same "$(jq .lastUpdateTime "$1/session.json")" "$(jq .lastUpdateTime "$2/session.json")"
	same "$(ls "$1/turns")" "$(ls "$2/turns")"
	while IFS= read -r file; do
		same "$(cat "$file")" "$(cat "$2${file#"$1"}")"
	done < <(find "$1"/turns/[0-9]* -type f)
}

# The compactions of the log, one JSON object.
compactions() {
	jq -s '[.[] | select(.actions.compaction)]' events.jsonl
}

count_compactions() {
	compactions | jq length
}

@test "compact appends a summary of the turns that ended" {
	session compact
	echo compact > ctl
	same idle "$(timeout 30 cat wait)"
	[ ! -s events.jsonl ]
	say one
	echo 1 > state/k.json
	say two
	echo compact > ctl
	same idle "$(timeout 30 cat wait)"
	tail -n 1 events.jsonl | jq -e --arg from "$(invocation 1)" --arg to "$(invocation 2)" '
		.author == "user" and (.invocationId | startswith("e-")) and (has("content") | not)
		and .customMetadata == {"adkfs.compacted": {from: $from, to: $to}}
		and .actions.compaction.compactedContent
			== {"parts": [{"text": "once upon a time"}], "role": "model"}'
	compactions | jq -e --argjson first "$(head -n 1 events.jsonl | jq .timestamp)" \
		--argjson last "$(tail -n 2 events.jsonl | head -n 1 | jq .timestamp)" '
		.[0].actions.compaction | .startTimestamp == $first and .endTimestamp == $last'
	# It is no turn, and there is nothing left to do.
	same '1 2 latest' "$(ls turns | xargs)"
	same 'you said two' "$(cat output)"
	cp events.jsonl "$TMP/before"
	printf 'compact\ncompact\n' > ctl
	timeout 30 cat wait
	cmp events.jsonl "$TMP/before"
	[ ! -s .errors ]
	# People see that it happened, and all that was said.
	grep -q 'what was said before was summarised' transcript.md
	grep -q 'what was said before was summarised' transcript.html
	grep -q 'you said one' transcript.md
	sizes_are_true .
	say three
	echo compact > ctl
	timeout 30 cat wait
	compactions | jq -e --arg from "$(invocation 3)" 'length == 2
		and .[1].customMetadata["adkfs.compacted"] == {from: $from, to: $from}'
}

@test "compact takes no arguments, and needs an agent" {
	session compact
	refused EINVAL bash -c 'echo compact now > ctl'
	session nobody
	refused ENXIO bash -c 'echo compact > ctl'
	session broken
	refused ENXIO bash -c 'echo compact > ctl'
}

@test "a root without a model lets another agent summarise" {
	session compact
	say one
	mv "$AGENTS/compact/root_agent.yaml" "$AGENTS/compact/teller.yaml"
	printf '%s\n' 'agent_class: SequentialAgent' 'name: root' > "$AGENTS/compact/root_agent.yaml"
	echo compact > ctl
	timeout 30 cat wait
	same 0 "$(count_compactions)"
	tail -n 1 .errors | jq -e '.errno == "ENXIO" and (.error | contains("no agent of the app"))'
	echo 'sub_agents: [{config_path: teller.yaml}]' >> "$AGENTS/compact/root_agent.yaml"
	echo compact > ctl
	timeout 30 cat wait
	same 1 "$(count_compactions)"
}

@test "a compaction waits for the turns before it, and later turns wait for it" {
	session compact
	echo 'slow one' > input
	echo 'slow two' > input
	echo compact > ctl
	echo compact > ctl
	echo three > input
	same idle "$(timeout 30 cat wait)"
	compactions | jq -e --arg from "$(invocation 1)" --arg to "$(invocation 2)" 'length == 1
		and .[0].customMetadata["adkfs.compacted"] == {from: $from, to: $to}'
	# The third turn's message was there before, its answer was not.
	jq -se --arg two "$(invocation 2)" --arg three "$(invocation 3)" '
		map(.invocationId) as $ids | (map(.actions.compaction != null) | index(true)) as $at
		| $at > ($ids | rindex($two)) and $at < ($ids | rindex($three))
			and $at > ($ids | index($three))' events.jsonl
}

@test "a compaction that fails says so in .errors, and changes nothing" {
	session compact
	say 'fail one'
	cp events.jsonl "$TMP/before"
	echo compact > ctl
	timeout 30 cat wait
	cmp events.jsonl "$TMP/before"
	tail -n 1 .errors | jq -e '.name == "ctl" and .errno == "EIO"
		and (.error | contains("not compacted") and contains("not this one"))'
	same idle "$(cat status)"
	# The session goes on.
	say two
	same 'you said two' "$(cat output)"
	sizes_are_true .
}

@test "cancel ends a compaction, and so does the daemon" {
	session compact
	say forever
	echo compact > ctl
	background timeout 60 cat wait
	echo two > input
	echo cancel > ctl
	eventually 20 grep -q ECANCELED .errors
	wait "$PID"
	same 'you said two' "$(cat output)"
	same done "$(cat turns/2/status)"
	same 0 "$(count_compactions)"
	# One that runs when the daemon ends is made anew behind its start.
	echo compact > ctl
	daemon_restart
	back
	echo cancel > ctl
	eventually 20 grep -q ECANCELED .errors
	same idle "$(timeout 10 cat wait)"
	same 0 "$(count_compactions)"
	daemon_restart # and is over when it was cancelled
	back
	same idle "$(timeout 10 cat wait)"
	# So is one that waits, behind the turn that it waits for.
	sed -i s/forever/never/ "$AGENTS/compact/script.yaml"
	echo slow $(seq 200) > input
	echo compact > ctl
	eventually 20 grep -q 'running 3' status
	cd "$TMP"
	daemon_kill
	"$ADKFS" umount -z "$MNT"
	daemon_start
	back
	same 'failed 3' "$(timeout 30 cat wait)"
	compactions | jq -e --arg to "$(invocation 3)" 'length == 1
		and .[0].customMetadata["adkfs.compacted"].to == $to'
	daemon_restart
	back
	same 1 "$(count_compactions)"
	sed -i s/never/forever/ "$AGENTS/compact/script.yaml"
	say forever
	# A session that goes away takes it along.
	echo compact > ctl
	cd ..
	timeout 30 rmdir s1
	session compact ann s1
	say again
	same 'you said again' "$(cat output)"
}

@test "a session compacts itself" {
	printf 'ADKFS_COMPACTION_INTERVAL=2\nADKFS_COMPACTION_OVERLAP=1\n' > "$AGENTS/compact/.env"
	session compact
	say one
	same 0 "$(count_compactions)"
	say two
	same 1 "$(count_compactions)"
	say three
	same 1 "$(count_compactions)"
	# Only behind a turn that did not fail.
	say break
	same 'failed 4' "$(cat status)"
	same 1 "$(count_compactions)"
	say five
	compactions | jq -e --arg a "$(invocation 1)" --arg b "$(invocation 2)" --arg e "$(invocation 5)" '
		[.[].customMetadata["adkfs.compacted"]] == [{from: $a, to: $b}, {from: $b, to: $e}]'
	# Asked for, it does not wait until there are enough.
	say six
	same 2 "$(count_compactions)"
	echo compact > ctl
	timeout 30 cat wait
	same 3 "$(count_compactions)"
}

@test "compactions of many sessions at once" {
	for n in 1 2 3 4 5 6; do
		session compact ann "s$n"
		for word in a b c; do echo "$word" > input; done
		echo compact > ctl
		echo d > input
	done
	for n in 1 2 3 4 5 6; do
		session compact ann "s$n"
		same idle "$(timeout 60 cat wait)"
		compactions | jq -e --arg to "$(invocation 3)" 'length == 1
			and .[0].customMetadata["adkfs.compacted"].to == $to'
		same 'you said d' "$(cat output)"
	done
}

@test "a rewind undoes a later compaction" {
	session compact
	say one
	say two
	echo compact > ctl
	timeout 30 cat wait
	echo "rewind $(invocation 2)" > ctl
	say three
	echo compact > ctl
	timeout 30 cat wait
	compactions | jq -e --arg from "$(invocation 1)" --arg to "$(invocation 3)" '
		.[1].customMetadata["adkfs.compacted"] == {from: $from, to: $to}'
	# A fork knows of it too.
	echo 'fork s2' > ctl
	cd ../s2
	echo compact > ctl
	timeout 30 cat wait
	same 2 "$(count_compactions)"
}

@test "fork copies the session, and both go on by themselves" {
	session
	echo '{"a": {"b": [1.50]}, "user:u": 1}' > state.json
	say one
	echo 2 > state/x.json
	say two
	[ ! -e ../s2 ]
	echo 'fork s2' > ctl
	[ -e ../s2 ]
	same 's1 s2' "$(ls .. | xargs)"
	same_session . ../s2
	same 2 "$(readlink ../s2/turns/latest)"
	sizes_are_true ../s2
	cp events.jsonl "$TMP/before"
	cd ../s2
	say three
	echo 3 > state/x.json
	same 'you said three' "$(cat turns/3/output)"
	same 2 "$(cat ../s1/state/x.json)"
	cmp ../s1/events.jsonl "$TMP/before"
	same 1 "$(cat state/user:u.json)"
	# The log of the copy is one like any other.
	refused EEXIST bash -c 'head -n 1 events.jsonl >> events.jsonl'
	echo "rewind $(invocation 2)" > ctl
	same '{"a":{"b":[1.50]},"x":2,"user:u":1}' "$(cat state.json)"
	rmdir ../s1
	same 'you said one' "$(cat turns/1/output)"
}

@test "fork at an event" {
	session
	echo '{"a": 1, "b": 1}' > state.json
	say one
	echo 2 > state/a.json
	rm state/b.json
	say two
	for n in $(seq "$(wc -l < events.jsonl)"); do
		echo "fork at-$n $(sed -n "${n}p" events.jsonl | jq -r .id)" > ctl
		cmp <(head -n "$n" events.jsonl) "../at-$n/events.jsonl"
		same "$(sed -n "${n}p" events.jsonl | jq .timestamp)" \
			"$(jq .lastUpdateTime "../at-$n/session.json")"
		sizes_are_true "../at-$n"
	done
	same '{"a":1,"b":1}' "$(cat ../at-3/state.json)"
	same '{"a":2,"b":1}' "$(cat ../at-4/state.json)"
	same '{"a":2}' "$(cat ../at-5/state.json)"
	same '' "$(ls ../at-1/turns)"
	# The cut goes through a turn: it ends there.
	same failed "$(cat ../at-2/turns/1/status)"
	same 'failed 1' "$(cat ../at-2/status)"
	[[ $(cat ../at-2/turns/1/error) == *forked* ]]
	same one "$(cat ../at-2/turns/1/input)"
	refused EIO cat ../at-2/output
	same done "$(cat ../at-3/turns/1/status)"
	same 'you said one' "$(cat ../at-3/turns/1/output)"
	cd ../at-2
	say again
	same 'you said again' "$(cat output)"
}

@test "fork refuses bad names, names in use and unknown events" {
	session
	say hi
	mkdir ../there
	refused EINVAL bash -c 'echo fork > ctl'
	refused EINVAL bash -c 'echo fork a b c > ctl'
	refused EEXIST bash -c 'echo fork there > ctl'
	refused EEXIST bash -c 'echo fork s1 > ctl'
	refused ENOENT bash -c 'echo fork new no-such-event > ctl'
	refused EINVAL bash -c 'echo fork .. > ctl'
	refused EINVAL bash -c 'echo fork a/b > ctl'
	refused EINVAL bash -c 'echo fork 100% > ctl'
	refused EINVAL bash -c "printf 'fork \xff\n' > ctl"
	refused EINVAL bash -c "echo fork a%00b > ctl"
	refused ENAMETOOLONG bash -c 'echo "fork $(printf %300s | tr " " x)" > ctl'
	same 's1 there' "$(ls .. | xargs)"
	# An empty session can.
	cd ../there
	echo fork 'a%2Fb' > ctl
	echo fork 'two%20words' > ctl
	same 'a/b' "$(jq -r .id '../a%2Fb/session.json')"
	same 'two words' "$(jq -r .id '../two words/session.json')"
	[ ! -s '../two words/events.jsonl' ]
	printf 'fork x\nfork y\nfork x\nfork z\n' > "$TMP/lines"
	refused EEXIST bash -c "cat '$TMP/lines' > ctl"
	same 'x y' "$(ls -d ../? | xargs -n 1 basename | xargs)"
}

@test "a session that runs can be forked" {
	session slow
	begin
	echo queued > input
	echo fork copy > ctl
	same 'running 1' "$(cat status)"
	cmp events.jsonl ../copy/events.jsonl
	same 'failed 2' "$(cat ../copy/status)"
	same 'failed failed' "$(cat ../copy/turns/[12]/status | xargs)"
	same queued "$(cat ../copy/turns/2/input)"
	same 'failed 2' "$(timeout 10 cat ../copy/wait)"
	echo cancel > ctl
	timeout 30 cat wait
	cd ../copy
	say 4
	same 'one two three 4' "$(cat output)"
	same done "$(cat ../s1/turns/2/status)"
}

@test "a large log is copied without being held in memory" {
	session
	python3 - <<-'PY'
		import json
		with open("events.jsonl", "ab", buffering=0) as f:
		    for block in range(40):
		        lines = []
		        for i in range(1000):
		            n = block * 1000 + i
		            lines.append(json.dumps({"author": "cron", "id": f"id-{n}", "content":
		                {"role": "user", "parts": [{"text": "x" * 1000}]},
		                "actions": {"stateDelta": {f"k{n % 7}": n}}}))
		        data = ("\n".join(lines) + "\n").encode()
		        assert f.write(data) == len(data)
		    f.write(json.dumps({"author": "cron", "content": {"role": "user", "parts":
		        [{"text": "y" * (3 << 20)}]}}).encode() + b"\n")
	PY
	say hi
	before=$(awk '/^VmHWM/ {print $2}' "/proc/$DAEMON/status")
	echo fork copy > ctl
	after=$(awk '/^VmHWM/ {print $2}' "/proc/$DAEMON/status")
	cmp events.jsonl ../copy/events.jsonl
	same_session . ../copy
	[ $((after - before)) -lt 150000 ] || {
		echo "from $before kB to $after kB"
		false
	}
	echo 'fork half id-20000' > ctl
	same 20001 "$(wc -l < ../half/events.jsonl)"
	cmp <(head -n 20001 events.jsonl) ../half/events.jsonl
	same 20000 "$(cat ../half/state/k1.json)"
}

@test "a fork during kill -9 is whole or does not exist" {
	session
	python3 - <<-'PY'
		import json
		line = json.dumps({"author": "cron", "content": {"role": "user", "parts": [{"text": "x" * 5000}]},
		    "actions": {"stateDelta": {"k": "v" * 1000}}}) + "\n"
		with open("events.jsonl", "ab", buffering=0) as f:
		    for i in range(20):
		        f.write((line * 100).encode())
	PY
	say hi
	cp events.jsonl "$TMP/events"
	for round in 1 2 3 4; do
		background bash -c "n=0; while echo fork r$round-\$((n++)) > ctl; do echo \$n > '$TMP/done$round'; done 2> /dev/null"
		eventually 30 test -s "$TMP/done$round"
		# Somewhere in the next one, a little later each time.
		python3 -c "import time; time.sleep(0.01 * $round)"
		daemon_kill
		wait "$PID" || :
		daemon_start
		back
		seen=0
		for copy in ../r"$round"-*; do
			cmp "$copy/events.jsonl" "$TMP/events"
			same 'you said hi' "$(cat "$copy/turns/latest/output")"
			same "$(cat state.json)" "$(cat "$copy/state.json")"
			seen=$((seen + 1))
		done
		[ "$seen" -ge "$(cat "$TMP/done$round")" ]
	done
	BACKGROUND=()
	# Names of those that did not come to be are free.
	echo "fork r1-$seen-again" > ctl
}

@test "many forks at once" {
	session
	say hi
	for n in 1 2 3 4; do
		background bash -c "for i in {1..10}; do echo fork f-\$i > ctl 2> /dev/null && echo \$i; done > '$TMP/made$n'; :"
	done
	wait "${BACKGROUND[@]}"
	BACKGROUND=()
	# Each name was made once.
	same "$(seq 10)" "$(cat "$TMP"/made? | sort -n)"
	same 11 "$(ls .. | wc -l)"
	for n in {1..10}; do
		cmp events.jsonl "../f-$n/events.jsonl"
	done
}

@test "artifacts go back with a rewind" {
	session
	mkdir artifacts/reports
	echo old > artifacts/a.txt
	echo one > artifacts/reports/b.txt
	say one
	echo newer > artifacts/a.txt
	echo newest > artifacts/a.txt
	echo new > artifacts/new.txt
	echo two > artifacts/gone.txt
	rm artifacts/gone.txt
	echo "rewind $(invocation 1)" > ctl
	same old "$(cat artifacts/a.txt)"
	same one "$(cat artifacts/reports/b.txt)"
	[ ! -e artifacts/new.txt ]
	same 'a.txt reports' "$(ls artifacts | xargs)"
	same newest "$(cat artifacts/.versions/a.txt/3)"
	tail -n 1 events.jsonl | jq -e '.actions.artifactDelta == {"a.txt": 4, "new.txt": 2}'
	echo again > artifacts/new.txt
	same 'again' "$(cat artifacts/new.txt)"
	tail -n 1 events.jsonl | jq -e '.actions.artifactDelta == {"new.txt": 3}'
	sizes_are_true .
}

@test "a fork has the artifacts in their versions of that time" {
	session
	mkdir artifacts/reports
	echo 1 > artifacts/a.txt
	echo 22 > artifacts/a.txt
	echo b > artifacts/reports/b.txt
	cut=$(tail -n 1 events.jsonl | jq -r .id)
	echo 333 > artifacts/a.txt
	echo late > artifacts/late.txt
	echo "fork copy $cut" > ctl
	echo 'fork all' > ctl
	same 22 "$(cat ../copy/artifacts/a.txt)"
	same '1 1.json 2 2.json' "$(ls ../copy/artifacts/.versions/a.txt | xargs)"
	same b "$(cat ../copy/artifacts/reports/b.txt)"
	[ ! -e ../copy/artifacts/late.txt ]
	same 333 "$(cat ../all/artifacts/a.txt)"
	same late "$(cat ../all/artifacts/late.txt)"
	# From here on each has its own.
	echo other > ../copy/artifacts/a.txt
	same 333 "$(cat artifacts/a.txt)"
	same 3 "$(tail -n 1 ../copy/events.jsonl | jq '.actions.artifactDelta["a.txt"]')"
	cd ..
	rmdir s1
	same 1 "$(cat copy/artifacts/.versions/a.txt/1)"
	daemon_restart
	cd "$(dirname "$S")"
	same other "$(cat copy/artifacts/a.txt)"
	same 333 "$(cat all/artifacts/a.txt)"
}

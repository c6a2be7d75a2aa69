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

@test "what is not there cannot be rewound, nor while a turn runs" {
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

@test "a rewind is still one after a restart" {
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

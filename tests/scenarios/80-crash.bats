# What survives when the daemon is killed.
load lib/mount
load lib/agents

setup() {
	mount_setup
}

# Append numbered events until it fails; each number that went in is noted.
append_until_dead() {
	local n=$1

	while event "n$n" "{\"n\": $n}" >> events.jsonl; do
		echo "$n" >> "$TMP/acknowledged"
		n=$((n + 1))
	done 2> /dev/null
}

enough() {
	[ "$(wc -l < "$TMP/acknowledged")" -ge "$1" ]
}

@test "kill -9 in a loop of appends: every line that was acknowledged is there" {
	session
	: > "$TMP/acknowledged"
	for round in 1 2 3; do
		background append_until_dead "${round}0000"
		eventually 60 enough $((round * 30))
		daemon_kill
		wait "$PID" || :
		cd "$TMP"
		daemon_start
		back
		jq -c . events.jsonl > /dev/null
		same "$(cat "$TMP/acknowledged")" "$(jq '.actions.stateDelta.n' events.jsonl |
			grep -Fx -f "$TMP/acknowledged")"
		same "$(tail -n 1 events.jsonl | jq .actions.stateDelta.n)" "$(cat state/n.json)"
		same "$(stat -c %s events.jsonl)" "$(cat events.jsonl | wc -c)"
		# at most the one that was on its way is there without having been acknowledged
		[ $(($(wc -l < events.jsonl) - $(wc -l < "$TMP/acknowledged"))) -le "$round" ]
	done
	event after >> events.jsonl
}

@test "kill -9 while a turn runs: it has failed, with an event ABORTED" {
	session slow
	say before
	echo forever > input
	eventually 20 test -s turns/2/output
	daemon_kill
	cd "$TMP"
	daemon_start
	back
	same 'failed 2' "$(timeout 30 cat wait)"
	same failed "$(cat turns/2/status)"
	[ -s turns/2/error ]
	tail -n 1 events.jsonl | jq -e '.errorCode == "ABORTED" and (.errorMessage | length > 5)'
	same forever "$(cat turns/2/input)"
	same 'one two three before' "$(cat turns/1/output)"
	refused EIO cat output
	say again
	same 'one two three again' "$(cat output)"
	same 3 "$(readlink turns/latest)"
	sizes_are_true "$S"
}

@test "kill -9 while turns wait: they run after the remount, in order" {
	session slow
	echo forever > input
	eventually 20 test -s output
	for n in 2 3 4; do
		echo "m$n" > input
	done
	same queued "$(cat turns/4/status)"
	daemon_kill
	cd "$TMP"
	daemon_start
	back
	same idle "$(timeout 60 cat wait)"
	same failed "$(cat turns/1/status)"
	for n in 2 3 4; do
		same "one two three m$n" "$(cat turns/$n/output)"
	done
	same 4 "$(readlink turns/latest)"
	same "forever m2 m3 m4" \
		"$(jq -r 'select(.author == "user") | .content.parts[0].text' events.jsonl | xargs)"
}

@test "kill -9 before the last descriptor of a message is closed: the messages that were closed run" {
	session
	exec 7> input
	echo staged >&7
	bash -c : # its copy of the descriptor is closed: that is a flush
	daemon_kill
	exec 7>&- || :
	cd "$TMP"
	daemon_start
	back
	same idle "$(timeout 30 cat wait)"
	same 'you said staged' "$(cat output)"
	same 1 "$(readlink turns/latest)"
}

@test "kill -9 right after a message: it is answered, once" {
	session
	for n in 1 2 3 4 5; do
		echo "message $n" > input
		daemon_kill
		cd "$TMP"
		daemon_start
		back
		timeout 30 cat wait > /dev/null
		same $n "$(readlink turns/latest)"
		same "message $n" "$(cat turns/$n/input)"
		same 1 "$(jq -r 'select(.author == "user") | .content.parts[0].text' events.jsonl |
			grep -cx "message $n")"
	done
}

@test "state, artifacts and sessions survive" {
	session
	echo '[1, 2.50]' > state/x.json
	echo '"Ann"' > state/user:name.json
	echo '"gone"' > state/gone.json
	rm state/gone.json
	seq 100000 > artifacts/a
	seq 1000 > artifacts/a
	echo user > artifacts/user:u
	mkdir ../empty ../removed
	rmdir ../removed
	say hi
	before=$(cat session.json)
	inodes=$(find . -printf '%i %p\n' | sort -k 2)
	daemon_kill
	cd "$TMP"
	daemon_start
	back
	same "$before" "$(cat session.json)"
	same "$inodes" "$(find . -printf '%i %p\n' | sort -k 2)"
	same '[1, 2.50]' "$(cat state/x.json)"
	same '"Ann"' "$(cat ../../state/name.json)"
	[ ! -e state/gone.json ]
	cmp <(seq 1000) artifacts/a
	cmp <(seq 100000) artifacts/.versions/a/1
	same user "$(cat artifacts/user:u)"
	[ -d ../empty ]
	[ ! -e ../removed ]
	same 'you said hi' "$(cat output)"
	sizes_are_true "$MNT"
}

@test "an artifact that was not closed leaves the old version" {
	session
	echo old > artifacts/a
	background python3 - "$TMP/written" <<-'PY'
		import os, sys, signal
		fd = os.open("artifacts/a", os.O_WRONLY | os.O_TRUNC)
		new = os.open("artifacts/new", os.O_WRONLY | os.O_CREAT)
		os.write(fd, b"x" * 100000)
		os.write(new, b"x" * 100000)
		open(sys.argv[1], "w").close()
		signal.pause()
	PY
	eventually 20 test -e "$TMP/written"
	daemon_kill
	cd "$TMP"
	daemon_start
	back
	same old "$(cat artifacts/a)"
	[ ! -e artifacts/new ]
	same 1 "$(ls artifacts/.versions/a | grep -cv json)"
	echo new > artifacts/a
	same new "$(cat artifacts/a)"
}

@test "a state value that was not closed leaves the old one" {
	session
	echo '"old"' > state/x.json
	exec 7> state/x.json
	printf '"new' >&7
	daemon_kill
	exec 7>&- || :
	cd "$TMP"
	daemon_start
	back
	same '"old"' "$(cat state/x.json)"
}

@test "kill -9 while the weather agent's tool runs in many sessions" {
	for n in 1 2 3 4 5 6; do
		session weather u$n
		echo 'What is the weather in Lima?' > input
	done
	daemon_kill
	cd "$TMP"
	daemon_start
	for n in 1 2 3 4 5 6; do
		session weather u$n
		[[ $(timeout 60 cat wait) =~ ^(idle|failed\ 1)$ ]]
		jq -c . events.jsonl > /dev/null
		same 1 "$(grep -c '"What is' events.jsonl)"
		say 'What is the weather in Cairo?'
		grep -q 'In Cairo' output
	done
}

@test "20 kills in a row" {
	session
	for n in {1..20}; do
		event "n$n" >> events.jsonl
		daemon_kill
		cd "$TMP"
		daemon_start
		back
		same "$n" "$(wc -l < events.jsonl)"
	done
}

# responses NAME: what its calls were answered in the log, with the author and the branch.
responses() {
	jq -r --arg name "$1" '[.author, (.branch // empty), (.content.parts[]?.functionResponse
		| select(.name == $name) | .id + " " + (.response | tojson))] | select(length > 1 and
		(.[-1] | startswith("d-"))) | join("|")' events.jsonl
}

ENDED='{"error":"the turn ended before the tool did"}'

# A tool that needs to be allowed, notes that it runs, and stays when it is told to.
deploys() {
	tool "$1" deploy '{"description":"d","requireConfirmation":true}' <<-'E'
		#!/bin/sh
		n=$(jq -r .n)
		echo run >> "$ADKFS_SESSION/artifacts/$n"
		[ "$n" != stay ] || exec tail -f /dev/null
		echo "{\"n\":\"$n\"}"
	E
}

@test "kill -9 while a confirmed tool runs: its call is closed, and is not made again" {
	llm c root_agent.yaml ops "tools: [{name: tools/deploy}]"
	rules c ops <<-'E'
		- when: {tool: deploy}
		  text: all is there
		- calls: [{name: deploy, id: d-1, args: {n: stay}}]
	E
	deploys c
	session c
	say conf
	confirm "$(requests)"
	eventually 20 test -s artifacts/stay
	daemon_kill
	cd "$TMP"
	daemon_start
	back
	same 'failed 2' "$(timeout 30 cat wait)"
	same 'ops|d-1 {"error":"confirmation required"}
ops|d-1 '"$ENDED" "$(responses deploy)"
	same ABORTED "$(tail -n 1 events.jsonl | jq -r .errorCode)"
	same "$ENDED" "$(cat turns/1/calls/d-1/response.json)"
	confirm "$(requests)"
	same idle "$(timeout 30 cat wait)"
	same 1 "$(wc -l < artifacts/stay)"
	same 2 "$(responses deploy | wc -l)"
	sizes_are_true .
}

@test "kill -9 while several confirmed tools run: calls that were answered stay answered" {
	workflow w root_agent.yaml both Parallel l r
	for name in l r; do
		llm w $name.yaml $name "tools: [{name: tools/deploy}]"
	done
	rules w l <<-'E'
		- when: {tool: deploy}
		  text: l is through
		- calls: [{name: deploy, id: d-1, args: {n: one}}, {name: deploy, id: d-2, args: {n: two}}]
	E
	rules w r <<-'E'
		- when: {tool: deploy}
		  text: r is through
		- calls: [{name: deploy, id: d-3, args: {n: stay}}, {name: deploy, id: d-4, args: {n: four}}, {name: deploy, id: d-5, args: {n: five}}]
	E
	deploys w
	session w
	say conf
	mapfile -t left < <(jq -r 'select(.author == "l") | .content.parts[]?.functionCall
		| select(.name == "adk_request_confirmation") | .id' events.jsonl)
	mapfile -t right < <(jq -r 'select(.author == "r") | .content.parts[]?.functionCall
		| select(.name == "adk_request_confirmation") | .id' events.jsonl)
	# Two of l, and of r the one that stays (asked for twice) and the next; the last waits on.
	confirm "${left[@]}" "${right[0]}" "${right[1]}" "${right[0]}"
	eventually 20 test -s artifacts/stay -a -s artifacts/four
	daemon_kill
	cd "$TMP"
	daemon_start
	back
	same 'failed 2' "$(timeout 30 cat wait)"
	same 'l|both.l|d-1 {"n":"one"}|d-2 {"n":"two"}
r|both.r|d-3 '"$ENDED|d-4 $ENDED" "$(responses deploy | tail -n 2)"
	same '{"error":"confirmation required"}' "$(cat turns/1/calls/d-5/response.json)"
	confirm "${left[@]}" "${right[@]:0:2}"
	timeout 30 cat wait
	same '1 1 1 1' "$(for n in one two stay four; do wc -l < artifacts/$n; done | xargs)"
	confirm "${right[2]}"
	timeout 30 cat wait
	same 'r|both.r|d-5 {"n":"five"}' "$(responses deploy | tail -n 1)"
	same 'r is through' "$(cat output)"
}

@test "a confirmed long-running call is pending when the daemon is killed, or the turn cancelled" {
	llm g root_agent.yaml ops "tools: [{name: tools/deploy}]"
	rules g ops <<-'E'
		- when: {tool: deploy, result: n}
		  text: "it was ${result.n}"
		- calls: [{name: deploy, id: d-1, args: {n: stay}}]
	E
	deploys g
	agent_file g tools/deploy.json <<< '{"description":"d","isLongRunning":true,"requireConfirmation":true}'
	for how in cancel kill; do
		session g ann $how
		say conf
		confirm "$(requests)"
		eventually 20 test -s artifacts/stay
		if [ $how = cancel ]; then
			echo cancel > ctl
		else
			daemon_kill
			cd "$TMP"
			daemon_start
			back
		fi
		same 'failed 2' "$(timeout 30 cat wait)"
		same 'ops|d-1 {"status":"pending"}' "$(responses deploy | tail -n 1)"
		same '["d-1"]' "$(jq -c 'select(.content.parts[0].functionResponse.id == "d-1") | .longRunningToolIds // empty' events.jsonl)"
		confirm "$(requests)"
		same idle "$(timeout 30 cat wait)"
		same 1 "$(wc -l < artifacts/stay)"
		answer d-1 deploy '{"n":"there"}'
		same 'it was there' "$(cat output)"
	done
}

# Which came first in the log: the message, answer or summary.
order() {
	jq -r 'if .actions.compaction then "summary" else select(.author != "user")
		| .content.parts[0].text end' events.jsonl
}

@test "kill -9 while a compaction runs or waits: later turns wait for it" {
	session compact
	say forever
	echo compact > ctl
	echo two > input
	echo 'slow three' > input
	echo compact > ctl
	echo four > input
	same 'queued' "$(cat turns/2/status)"
	daemon_kill
	sed -i 's/forever/never/' "$AGENTS/compact/script.yaml"
	cd "$TMP"
	daemon_start
	back
	same idle "$(timeout 60 cat wait)"
	same 'you said forever
summary
you said two
you said three
summary
you said four' "$(order)"
	[ ! -s .errors ]
}

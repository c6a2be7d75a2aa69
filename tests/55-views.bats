# Views: what is derived from the log for people to look at, and the calls of a turn.
load lib/mount

# Whether the first turn has so many calls.
has_calls() {
	[ "$(ls turns/1/calls 2> /dev/null | wc -l)" -eq "$1" ]
}

# The directory of the only call of a turn.
only_call() {
	same 1 "$(ls "turns/$1/calls" | wc -l)"
	CALL=turns/$1/calls/$(ls "turns/$1/calls")
}

@test "a call: name, arguments, response, standard error, duration" {
	session views
	say noisy
	only_call 1
	same "args.json duration_ms response.json stderr tool" "$(ls "$CALL" | xargs)"
	same noisy "$(cat "$CALL/tool")"
	same '{"text":"a ``` b <script>alert(1)</script>","n":12345678901234567890.50}' "$(cat "$CALL/args.json")"
	same '{"ok":true,"text":"```"}' "$(cat "$CALL/response.json")"
	same 2 "$(wc -l < "$CALL/stderr")"
	same 'first line' "$(head -n 1 "$CALL/stderr")"
	[[ $(cat "$CALL/duration_ms") =~ ^[0-9]+$ ]]
	same "${CALL##*/}" "$(jq -r '.content.parts[]?.functionCall.id // empty' events.jsonl)"
	refused EACCES bash -c "echo x > $CALL/tool"
	refused ENOENT cat turns/1/calls/other/tool
	sizes_are_true turns/1
	say 'say hello'
	same '' "$(ls turns/2/calls)"
}

@test "calls that run side by side, and one of a tool that is not there" {
	session views
	say both
	same 3 "$(ls turns/1/calls | wc -l)"
	same 'missing noisy noisy' "$(cat turns/1/calls/*/tool | sort | xargs)"
	for call in turns/1/calls/*; do
		id=${call##*/}
		same "$(jq -c --arg id "$id" '.content.parts[]?.functionResponse // empty |
			select(.id == $id).response' events.jsonl)" "$(cat "$call/response.json")"
		same "$(jq -c --arg id "$id" '.content.parts[]?.functionCall // empty |
			select(.id == $id).args' events.jsonl)" "$(cat "$call/args.json")"
		[ -s "$call/duration_ms" ]
	done
	grep -l 'not found' turns/1/calls/*/response.json
	sizes_are_true turns/1/calls
}

@test "a call that runs: arguments at once, the rest when it has ended" {
	session views
	[ ! -e turns/1/calls ]
	echo hold > input
	eventually 10 has_calls 1
	only_call 1
	same held "$(cat "$CALL/tool")"
	same '{}' "$(cat "$CALL/args.json")"
	same '' "$(cat "$CALL/response.json" "$CALL/stderr" "$CALL/duration_ms")"
	same 0 "$(stat -c %s "$CALL/response.json")"
	echo 1 > state/go.json
	cat wait > /dev/null
	same '{"held":true}' "$(cat "$CALL/response.json")"
	same begun "$(cat "$CALL/stderr")"
	[ "$(cat "$CALL/duration_ms")" -gt 0 ]
	sizes_are_true turns/1
}

@test "calls survive a restart, and go with their session" {
	session views
	say noisy
	before=$(cat turns/1/calls/*/*)
	daemon_restart
	back
	same "$before" "$(cat turns/1/calls/*/*)"
	cd "$TMP"
	rmdir "$S"
	mkdir "$S"
	cd "$S"
	[ ! -e turns/1 ]
}

@test "a daemon that died while a call ran: the call is answered" {
	session views
	echo hold > input
	eventually 10 has_calls 1
	cd "$TMP"
	daemon_kill
	daemon_start
	back
	only_call 1
	jq -e .error "$CALL/response.json"
	same '' "$(cat "$CALL/stderr")"
}

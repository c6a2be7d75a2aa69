# .adkfs: how the daemon was started, what it counts, which turns there are.
load lib/mount

setup() {
	folders_setup
}

# One value of .adkfs/metrics.
metric() {
	awk -v name="$1" '$1 == name { print $2 }' "$MNT/.adkfs/metrics"
}

# A volatile file is 0.2 seconds old at most: metric_is NAME VALUE
metric_is() {
	[ "$(metric "$1")" = "$2" ]
}

turns_are() {
	[ "$(jq -r '"\(.session) \(.turn) \(.status)"' "$MNT/.adkfs/turns.jsonl")" = "$1" ]
}

@test "config.json shows how the daemon was started" {
	daemon_start --max-turns 7 --threads 5 --durability disk -o noatime
	cd "$MNT/.adkfs"
	jq -e --arg store "$STORE" --arg agents "$AGENTS" --arg mnt "$MNT" '.store == $store
		and .agents == $agents and .mountpoint == $mnt and .engine == "rocksdb"
		and .durability == "disk" and .mountOptions == "noatime" and .threads == 5
		and .limits.turnsRunning == 7 and .limits.messageBytes == 16777216
		and .users == {"others": false, "logins": false, "mapped": 0}
		and .settings.values.ADKFS_MODEL_RETRIES == {"value": 2, "from": "default"}
		and .settings.values.OPENAI_API_KEY == null' config.json
	cd "$TMP"
	daemon_stop
	ADKFS_MODEL_RETRIES=4 daemon_start --engine memory -o allow_other --map-user ann=0:0 --map-users=system
	jq -e '.engine == "memory" and .limits.turnsRunning == 1024
		and .settings.values.ADKFS_MODEL_RETRIES == {"value": 4, "from": "environment"}
		and .users == {"others": true, "logins": true, "mapped": 1}' "$MNT/.adkfs/config.json"
}

@test "config.json shows a folder whose name is not UTF-8" {
	STORE=$TMP/$'st\xffore'
	daemon_start
	same "$TMP/st�ore" "$(jq -r .store "$MNT/.adkfs/config.json")"
}

@test "config.json shows that a secret setting exists, and never its value" {
	OPENAI_API_KEY=sk-0123456789 OPENAI_BASE_URL=http://me:pass@127.0.0.1:9/v1 \
		OPENAI_PROJECT=proj OPENAI_ORG_ID=x-sk-0123456789 daemon_start
	same '["[key]","[key]","[key]","proj"]' "$(jq -c '.settings.values |
		[.OPENAI_API_KEY, .OPENAI_BASE_URL, .OPENAI_ORG_ID, .OPENAI_PROJECT] | map(.value)' "$MNT/.adkfs/config.json")"
}

@test "only the daemon's user reads the files about all users, and nobody writes them" {
	daemon_start
	cd "$MNT/.adkfs"
	for name in config.json stats.json metrics turns.jsonl; do
		same "400 $(id -u)" "$(stat -c '%a %u' "$name")"
		cat "$name" > /dev/null
	done
	same 444 "$(stat -c %a version)"
	refused EPERM touch new
	refused EPERM rm metrics
	refused EACCES python3 -c 'open("metrics", "r+")'
}

@test "metrics are in the text format of Prometheus, and the numbers grow" {
	daemon_start
	session
	same 0 "$(metric 'adkfs_turns_ended_total{status="done"}')"
	say hi
	say hi
	session cut
	say hi
	eventually 5 metric_is 'adkfs_turns_ended_total{status="done"}' 2
	eventually 5 metric_is 'adkfs_turns_ended_total{status="failed"}' 1
	[ "$(metric adkfs_model_calls_total)" -ge 3 ]
	same 0 "$(metric 'adkfs_turns{status="running"}')"
	[ "$(metric adkfs_inodes)" -gt 3 ]
	[ "$(metric adkfs_store_free_bytes)" -gt 1000 ]
	python3 - "$MNT/.adkfs/metrics" <<- 'END'
		import re, sys
		said, last = set(), ""
		for line in open(sys.argv[1]):
		    m = re.fullmatch(r'# (HELP|TYPE) (adkfs_[a-z_]+) (.*)\n', line)
		    if m:
		        assert (m[1], m[2]) not in said, line
		        assert m[1] == "HELP" or m[3] == ("counter" if m[2].endswith("_total") else "gauge"), line
		        said.add((m[1], m[2]))
		        last = m[2]
		        continue
		    m = re.fullmatch(r'(adkfs_[a-z_]+)(\{[a-z]+="[^"\\]*"\})? \d+\n', line)
		    assert m and m[1] == last and ("TYPE", last) in said and ("HELP", last) in said, line
	END
}

@test "turns.jsonl lists turns that ended, turns that run and turns that wait" {
	daemon_start --max-turns 1
	same '' "$(cat "$MNT/.adkfs/turns.jsonl")"
	session cut ann bad
	say hi
	session slow 'a"b' long
	echo forever > input
	echo two > input
	session echo ann s2
	echo hi > input
	eventually 5 turns_are $'bad 1 failed\nlong 1 running\nlong 2 queued\ns2 1 queued' ||
		eventually 5 turns_are $'bad 1 failed\nlong 1 running\ns2 1 queued\nlong 2 queued'
	jq -se '.[0] | .app == "cut" and .user == "ann" and .agent == "cut"
		and (.error | length > 5) and .durationMs >= 0 and .started > 1e9' "$MNT/.adkfs/turns.jsonl"
	jq -se '.[1] | .app == "slow" and .user == "a\"b" and .agent == "slow" and .error == null
		and .started > 1e9' "$MNT/.adkfs/turns.jsonl"
	jq -se '.[2] | .agent == null and .started == null and .durationMs == null' "$MNT/.adkfs/turns.jsonl"
	longer() { [ "$(jq -s '.[1].durationMs' "$MNT/.adkfs/turns.jsonl")" -gt 400 ]; }
	eventually 10 longer
	cd "$MNT"
	rmdir "apps/slow/users/a\"b/sessions/long"
	eventually 10 turns_are $'bad 1 failed\ns2 1 done'
}

@test "turns.jsonl lists a turn that a crash cut off as ended" {
	daemon_start
	session slow ann s1
	echo forever > input
	eventually 10 grep -q running status
	cd "$TMP"
	daemon_kill
	daemon_start
	turns_are 's1 1 failed'
}

@test "no key appears in the mount or in the daemon's log" {
	local key=sk-daemon-0123456789 own=sk-agents-0123456789 path

	cp -R "$AGENTS/openai" "$AGENTS/own"
	sed -i 's/^name: .*/name: own/' "$AGENTS/own/root_agent.yaml"
	model_serve '[{"status": 401, "echo_key": true}, {"status": 401, "echo_key": true}]'
	printf 'OPENAI_API_KEY=%s\nADKFS_MODEL_RETRIES=0\n' $own > "$AGENTS/own/.env"
	OPENAI_API_KEY=$key OPENAI_BASE_URL=http://127.0.0.1:$PORT/v1 daemon_start -v
	session openai
	say hi
	session own
	say hi
	grep -q 'Incorrect API key provided' turns/1/error
	cd "$MNT"
	path=$(grep -rlaE "$key|$own" . || :)
	same '' "$path"
	same '' "$(grep -alE "$key|$own" "$TMP/daemon.log" "$TMP/daemon.out" || :)"
	# That nothing was missed: the same search finds what is there.
	grep -rlaq 'Incorrect API key' .
}

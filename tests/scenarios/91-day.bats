# A day in the life: what an ordinary user types, in order, and nothing surprises.
load lib/mount

@test "fifty commands of a day" {
	cd "$MNT"
	# 1-10: looking around, starting.
	grep -q 'echo hello > input' README.md
	ls apps | grep -qx echo
	mkdir -p apps/echo/users/ann/sessions/monday
	cd apps/echo/users/ann/sessions/monday
	same idle "$(cat status)"
	echo 'good morning' > input
	same 'you said good morning' "$(cat output)"
	same 'you said good morning' "$(cat turns/latest/output)"
	ls -l | grep -q events.jsonl
	same 2 "$(wc -l < events.jsonl)"
	same user "$(head -n 1 events.jsonl | jq -r .author)"

	# 11-20: state.
	echo '"bees"' > state/topic.json
	same bees "$(jq -r . state/topic.json)"
	echo '"Ann"' > state/user:name.json
	same '"Ann"' "$(cat ../../state/name.json)"
	ls -l state | grep -q 'user:name.json -> ../../../state/name.json'
	jq -n '{count: 1, list: [1, 2]}' > state.json
	same 1 "$(jq .state.count session.json)"
	jq '. + 1' state/count.json > "$TMP/count"
	cp "$TMP/count" state/count.json
	same 2 "$(cat state/count.json)"
	run bash -c 'echo "not json" > state/topic.json'
	[ "$status" -ne 0 ]
	same '"bees"' "$(cat state/topic.json)"
	tail -n 1 .errors | jq -e '.name == "state/topic.json"'
	sed -i s/bees/wasps/ state/topic.json
	same '"wasps"' "$(cat state/topic.json)"
	jq '.[0] = 9' state/list.json > state/list.tmp && mv state/list.tmp state/list.json
	same '[9,2]' "$(jq -c . state/list.json)"
	rm state/count.json
	[ ! -e state/count.json ]
	same '["list","topic","user:name"]' "$(jq -c keys state.json)"

	# 21-32: artifacts.
	echo 'draft one' > artifacts/report.md
	echo 'draft two' > artifacts/report.md
	same 'draft two' "$(cat artifacts/report.md)"
	same 'draft one' "$(cat artifacts/.versions/report.md/1)"
	diff artifacts/.versions/report.md/{1,2} > "$TMP/diff" || :
	grep -q 'draft two' "$TMP/diff"
	mkdir -p artifacts/charts
	head -c 100000 /dev/urandom > "$TMP/chart.png"
	cp "$TMP/chart.png" artifacts/charts/
	cmp "$TMP/chart.png" artifacts/charts/chart.png
	mv artifacts/report.md artifacts/final.md
	same 'draft two' "$(cat artifacts/final.md)"
	[ ! -e artifacts/report.md ]
	sed -i s/draft/final/ artifacts/final.md
	same 'final two' "$(cat artifacts/final.md)"
	echo 'a line' >> artifacts/final.md
	same 2 "$(wc -l < artifacts/final.md)"
	rsync -a "$TMP/chart.png" artifacts/copy.png
	cmp "$TMP/chart.png" artifacts/copy.png
	tar -cf "$TMP/artifacts.tar" artifacts
	same "$(find artifacts -type f | wc -l)" "$(tar -tf "$TMP/artifacts.tar" | grep -vc '/$')"
	rm artifacts/copy.png
	[ ! -e artifacts/copy.png ]

	# 33-42: talking on, watching, searching.
	{ echo 'please read:'; cat artifacts/final.md; } > input
	grep -q 'a line' output
	for n in 1 2 3; do echo "question $n" > input; done
	same 'you said question 3' "$(cat output)"
	same idle "$(cat wait)"
	same 5 "$(ls turns | grep -cx '[0-9]*')"
	grep -rl 'question 2' turns | sort | head -n 1 | grep -q turns/4
	same 1 "$(jq -r 'select(.author == "user") | .content.parts[0].text?' events.jsonl | grep -cx 'question 2')"
	same "$(tail -n 1 events.jsonl)" "$(tail -n 1 turns/latest/events.jsonl)"
	same "$(stat -c %s events.jsonl)" "$(wc -c < events.jsonl)"
	find . -name '*.json' -exec jq -e . {} + > /dev/null
	find . -type f -perm -400 -exec cat {} + > /dev/null

	# 43-50: another session, an import, tidying up, a restart.
	mkdir ../tuesday
	same '"Ann"' "$(cat ../tuesday/state/user:name.json)"
	cat events.jsonl >> ../tuesday/events.jsonl
	cmp events.jsonl ../tuesday/events.jsonl
	same '"wasps"' "$(cat ../tuesday/state/topic.json)"
	cp -r artifacts/charts ../tuesday/artifacts/
	cmp "$TMP/chart.png" ../tuesday/artifacts/charts/chart.png
	before=$(sha256sum events.jsonl session.json state.json artifacts/final.md turns/2/output)
	S=$PWD
	daemon_restart
	back
	same "$before" "$(sha256sum events.jsonl session.json state.json artifacts/final.md turns/2/output)"
	say 'still there?'
	same 'you said still there?' "$(cat output)"
	cd ..
	rm -r tuesday
	rmdir monday
	same '' "$(ls)"
	cd "$MNT"
	rmdir apps/echo/users/ann
	same '' "$(ls apps/echo/users)"
}

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

@test "a running call has its arguments at once, the rest when it has ended" {
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

VIEWS=(transcript.md transcript.html trace.json usage.json)

# What only a careful page survives, as events that an agent and a user append.
nasty_events() {
	local text='<script>document.title="pwned"</script><img src=x onerror=alert(1)>"'"'"'&amp;
# heading
```unclosed
</div></section></main><!-- [a](javascript:alert(1)) ![b](https://example.invalid/x.png)
'
	event "$text"
	jq -nc --arg text "$text" '{author: $text, content: {role: "model", parts: [
		{text: $text}, {text: $text, thought: true},
		{functionCall: {id: "c1", name: $text, args: {a: $text}}}]}}'
	jq -nc --arg text "$text" '{author: "agent", content: {role: "user", parts: [
		{functionResponse: {id: "c1", name: $text, response: {error: $text, ticks: "`````"}}}]}}'
	jq -nc --arg text "$text" '{author: "agent", errorCode: $text, errorMessage: $text,
		actions: {stateDelta: {($text): $text}, transferToAgent: $text,
			artifactDelta: {($text): 1, "a\nb.png": 2}}}'
	jq -nc --arg text "$text" '{author: "agent", modelVersion: $text,
		usageMetadata: {promptTokenCount: 7, totalTokenCount: 7},
		content: {role: "model", parts: [
		{inlineData: {mimeType: "image/png\" onload=\"alert(1)", data: "AAAA", displayName: $text}},
		{inlineData: {mimeType: "image/png", data: "-_8="}},
		{fileData: {mimeType: $text, fileUri: "javascript:alert(1)"}},
		{executableCode: {code: $text, language: $text}},
		{codeExecutionResult: {outcome: "OUTCOME_OK", output: $text}}]}}'
}

# Checks a page on standard input: our tags only, balanced, nothing that runs or is fetched.
check_page() {
	python3 - "$@" <<-'PY'
		import html.parser, os, sys, urllib.parse
		tags = set("""html head meta title style body header h1 h2 h3 h4 h5 h6 p br main section a span time
			div details summary b code pre figure figcaption img table tr th td ul ol li blockquote
			hr strong em del""".split())
		empty = {"meta", "br", "img", "hr"}
		class Page(html.parser.HTMLParser):
		    open = []
		    def handle_starttag(self, tag, attrs):
		        assert tag in tags, tag
		        for name, value in attrs:
		            assert name in ("lang", "charset", "http-equiv", "content", "name", "class", "id",
		                            "href", "src", "alt", "loading", "rel", "dir", "start"), name
		            if name in ("href", "src"):
		                self.link(tag, value)
		        if tag not in empty:
		            self.open.append(tag)
		    def link(self, tag, value):
		        if value.startswith("#") or value.startswith("data:image/") and tag == "img":
		            return
		        if tag == "a" and value.startswith(("https://", "http://", "mailto:")):
		            return
		        assert ":" not in value.split("/")[0], value
		        if "exist" in sys.argv:
		            assert os.path.exists(urllib.parse.unquote(value)), value
		    def handle_endtag(self, tag):
		        assert self.open and self.open[-1] == tag, (tag, self.open)
		        self.open.pop()
		page = Page(convert_charrefs=True)
		page.feed(open("transcript.html", encoding="utf-8").read())
		page.close()
		assert not page.open, page.open
	PY
}

@test "views of a session in which nothing was said" {
	session views
	grep -q '^# s1$' transcript.md
	check_page
	jq -e '.traceEvents | length == 2' trace.json
	jq -e '.total.totalTokenCount == 0 and .models == {} and .turns == []' usage.json
	for view in "${VIEWS[@]}"; do
		refused EACCES bash -c "echo x > $view"
		same 400 "$(stat -c %a "$view")"
	done
	sizes_are_true .
}

@test "views follow the session at once, although they were cached" {
	session views
	for n in {1..10}; do
		cat "${VIEWS[@]}" > /dev/null
		ls -l > /dev/null
		before=$(stat -c %y "${VIEWS[@]}")
		say "say hello number $n"
		grep -q "^> hello number $n$" transcript.md
		grep -q " UTC: $n turn$([ "$n" = 1 ] || echo s), $((2 * n)) events\.$" transcript.md
		grep -q "hello number $n" transcript.html
		same "$n" "$(jq '.turns | length' usage.json)"
		same "$n" "$(jq '[.traceEvents[] | select(.cat == "turn")] | length' trace.json)"
		sizes_are_true .
		not same "$before" "$(stat -c %y "${VIEWS[@]}")"
	done
	event 'by another way' >> events.jsonl
	grep -q 'by another way' transcript.md
	grep -q 'by another way' transcript.html
	echo '"seven"' > state/topic.json
	grep -q 'state `topic` = `"seven"`' transcript.md
	rm state/topic.json
	grep -q 'state `topic` deleted' transcript.md
	before=$(cat transcript.md usage.json trace.json)
	daemon_restart
	back
	same "$before" "$(cat transcript.md usage.json trace.json)"
}

@test "views of a turn that runs" {
	session views
	echo hold > input
	eventually 10 has_calls 1
	jq -e '[.traceEvents[] | select(.ph == "B") | .cat] == ["turn", "tool"]' trace.json
	grep -q 'no answer yet' transcript.md
	grep -q 'no answer yet' transcript.html
	check_page
	for view in "${VIEWS[@]}"; do
		same "$(stat -c %s "$view")" "$(wc -c < "$view")"
	done
	echo 1 > state/go.json
	cat wait > /dev/null
	jq -e '[.traceEvents[] | select(.ph == "B")] == []' trace.json
	not grep 'no answer yet' transcript.md transcript.html
}

@test "a call that is answered in a later turn, and one that has to be confirmed" {
	mkdir "$AGENTS/asks"
	cat > "$AGENTS/asks/root_agent.yaml" <<-'E'
		name: asks
		model: script/rules.yaml
		instruction: Ask.
		tools: [{name: later}, {name: sure}]
	E
	cat > "$AGENTS/asks/rules.yaml" <<-'E'
		- when: {user: later}
		  calls: [{name: later, id: c1, args: {n: 1}}]
		- when: {user: sure}
		  calls: [{name: sure, id: c2, args: {n: 2}}]
		- text: Fine.
	E
	printf '#!/bin/sh\n' | tee "$AGENTS/asks/later" > "$AGENTS/asks/sure"
	chmod +x "$AGENTS"/asks/{later,sure}
	echo '{"description": "waits", "isLongRunning": true}' > "$AGENTS/asks/later.json"
	echo '{"description": "asks", "requireConfirmation": true}' > "$AGENTS/asks/sure.json"
	session asks
	say later
	grep -q '^\*\*Tool\*\* `later` `{"n":1}` .* no answer yet$' transcript.md
	echo '{"parts": [{"functionResponse": {"id": "c1", "name": "later", "response": {"r": 1}}}]}' > input.json
	cat wait
	grep -q '^\*\*Tool\*\* `later` `{"n":1}` .* answered later$' transcript.md
	say sure
	grep -q '^\*\*Tool\*\* `sure` `{"n":2}` .* answered later$' transcript.md
	grep -q '^\*\*Tool\*\* `adk_request_confirmation` .* no answer yet$' transcript.md
	id=$(tail -n 2 events.jsonl | jq -r '.longRunningToolIds[0] // empty')
	echo "{\"parts\": [{\"functionResponse\": {\"id\": \"$id\", \"name\": \"adk_request_confirmation\",
		\"response\": {\"confirmed\": true}}}]}" > input.json
	cat wait
	not grep 'no answer yet' transcript.md transcript.html
	same 3 "$(grep -o 'answered later' transcript.html | wc -l)"
}

@test "usage: by model and by turn, in the session and in the turn" {
	session views
	say noisy
	say both
	say 'say nothing'
	jq -nc '{author: "x", modelVersion: "gpt-9", usageMetadata: {promptTokenCount: 1, totalTokenCount: 2}}' \
		>> events.jsonl
	jq -e '.total == {modelCalls: 6, promptTokenCount: 2111, candidatesTokenCount: 1055,
		cachedContentTokenCount: 3, thoughtsTokenCount: 2, toolUsePromptTokenCount: 0, totalTokenCount: 3169}' \
		usage.json
	jq -e '.models | keys == ["gpt-9", "script/script.yaml"]' usage.json
	jq -e '.models["gpt-9"].totalTokenCount == 2' usage.json
	jq -e '.turns | map([.turn, .modelCalls, .totalTokenCount]) == [[1, 2, 1517], [2, 2, 1650], [3, 1, 0]]' usage.json
	jq -e '.total.totalTokenCount == 1517 and .models["script/script.yaml"].cachedContentTokenCount == 3' \
		turns/1/usage.json
	jq -e '.total.modelCalls == 1' turns/3/usage.json
	jq -e '.summaries.modelCalls == 0' usage.json
	jq -e 'has("summaries") | not' turns/3/usage.json
}

@test "usage: tokens of summaries count in the total, and are listed apart" {
	echo '- {text: short, usage: {prompt: 10, candidates: 2, total: 12}}' > "$AGENTS/compact/script.yaml"
	session compact
	say one
	echo compact > ctl
	timeout 30 cat wait
	jq -e '.total.modelCalls == 2 and .total.totalTokenCount == 24
		and .models["script/script.yaml"].totalTokenCount == 24
		and (.turns | map(.totalTokenCount)) == [12]' usage.json
	jq -e '.summaries == {modelCalls: 1, promptTokenCount: 10, candidatesTokenCount: 2,
		cachedContentTokenCount: 0, thoughtsTokenCount: 0, toolUsePromptTokenCount: 0, totalTokenCount: 12}' usage.json
}

@test "trace.json: turns hold their models, and tools are beside them" {
	session views
	say both
	say noisy
	jq -e 'has("traceEvents") and ([.traceEvents[].ph] | unique == ["M", "X"])' trace.json
	jq -e '[.traceEvents[] | select(.cat == "tool")] | length == 4' trace.json
	jq -e '[.traceEvents[] | select(.cat == "model")] | length == 4
		and all(.args.agent == "views" and .dur >= 0)' trace.json
	jq -e '.traceEvents as $all | [$all[] | select(.cat == "turn")] as $turns
		| [$all[] | select(.cat == "model" or .cat == "tool")]
		| all(. as $x | any($turns[]; .ts <= $x.ts and .ts + .dur >= $x.ts + $x.dur - 2000))' trace.json
	# Of those on one line none overlap.
	jq -e '[.traceEvents[] | select(.cat == "tool")] | group_by(.tid)
		| all(sort_by(.ts) | . as $l | all(range(1; length); $l[. - 1].ts + $l[. - 1].dur <= $l[.].ts))' trace.json
}

@test "transcript.md: calls, responses and what was changed, in order" {
	session weather
	say 'What is the weather in New York?'
	say 'What is the weather in Atlantis?'
	same '## Turn 1,## Turn 2' "$(grep '^## ' transcript.md | paste -sd,)"
	same '### user,### weather,### user,### weather' "$(grep '^### ' transcript.md | paste -sd,)"
	same '> What is the weather in New York?
**Tool** `get_weather` `{"city":"New York"}`
- state `user:last_city` = `"New York"`
> In New York there is a clear sky at 4 °C, with wind of 31 km/h.' "$(grep -e 'What is .* New York' \
		-e '^\*\*Tool\*\*.*New' -e '^- state `user:' -e '^> In New' transcript.md | sed 's/ · .*//')"
	grep -q '\[stderr\](turns/2/calls/adk-[-0-9a-f]*/stderr)' transcript.md
	[ -s "$(sed -n 's/.*\[stderr\](\(.*\))$/\1/p' transcript.md)" ]
}

@test "transcripts: no text of a session can break out of its place" {
	session
	nasty_events >> events.jsonl
	check_page
	# Outside of fences only quotes hold what was said.
	python3 - <<-'PY'
		import re
		fence = None
		for line in open("transcript.md", encoding="utf-8"):
		    line = line.rstrip("\n")
		    if fence:
		        if re.fullmatch("`{%d,}" % len(fence), line):
		            fence = None
		        continue
		    opening = re.match("(`{3,})[a-z]*$", line)
		    if opening:
		        fence = opening[1]
		        continue
		    assert re.match(r"$|# s1$|A session|### |> |>$|- |\*\*|\*A thought", line), line
		    if line.startswith(">"):
		        assert not re.search(r"(?<!\\)<[a-zA-Z/!]", line) or "unclosed" not in line, line
		    else:
		        assert "<script" not in re.sub("(`+).*?\\1", "", line).replace("\\<", ""), line
		assert not fence
	PY
	jq -e . trace.json usage.json > /dev/null
	sizes_are_true .
}

@test "transcripts: links lead somewhere, to the version that was saved" {
	session
	mkdir artifacts/reports
	printf one > artifacts/chart.png
	printf two > artifacts/chart.png
	printf x > 'artifacts/reports/a b%25 "q" <i>.gif'
	printf x > 'artifacts/notes.txt'
	printf x > 'artifacts/user:photo.jpg'
	printf y > 'artifacts/user:photo.jpg'
	check_page exist
	same 'artifacts/.versions/chart.png/1 artifacts/chart.png' \
		"$(grep -o 'src="[^"]*chart[^"]*"' transcript.html | cut -d'"' -f2 | xargs)"
	same 'artifacts/.versions/chart.png/1 artifacts/chart.png' \
		"$(grep -o '(artifacts[^)]*chart[^)]*)' transcript.md | tr -d '()' | xargs)"
	same 4 "$(grep -c '<img' transcript.html)"
}

@test "a message that waited is shown with its answer" {
	session slow
	for n in 1 2 3; do
		echo "m$n" > input
	done
	cat wait > /dev/null
	same '> m1,> one two three m1,> m2,> one two three m2,> m3,> one two three m3' \
		"$(grep '^> ' transcript.md | paste -sd,)"
}

# bats test_tags=foreign
@test "transcript.html in a browser: no script runs, nothing is fetched" {
	command -v chromium > /dev/null || skip "there is no chromium"
	session
	nasty_events >> events.jsonl
	event 'the last words' >> events.jsonl
	timeout 120 chromium --headless --no-sandbox --disable-gpu --disable-quic --no-first-run \
		--disable-background-networking --disable-component-update --disable-sync \
		--user-data-dir="$TMP/chromium" --dump-dom "file://$S/transcript.html" \
		> "$TMP/dom" 2> "$TMP/chromium.log"
	grep -q 'the last words' "$TMP/dom"
	grep -q '<title>s1</title>' "$TMP/dom"
	not grep -i '<script\|onerror="' "$TMP/dom"
}

@test "a long session: listing it costs nothing, views are dropped and come again" {
	session
	for n in {1..200}; do
		event "$(printf '%05000d' "$n")"
	done > "$TMP/lines"
	for n in {1..20}; do
		cat "$TMP/lines"
	done >> events.jsonl
	same 4000 "$(grep -c '^> 0' transcript.md)"
	sizes_are_true .
	event last >> events.jsonl
	timeout 5 bash -c 'for n in {1..200}; do ls > /dev/null; echo "{\"author\":\"a\"}" >> events.jsonl; done'
	same 1 "$(grep -c '^> last' transcript.md)"
}

@test "a view of a session that is removed meanwhile" {
	session
	event one >> events.jsonl
	exec 7< transcript.md
	rmdir "$S"
	run cat <&7
	exec 7<&-
	[ "$status" -ne 0 ]
	[ -z "${output##*Stale*}" ]
	cd "$TMP"
	mkdir "$S"
	not grep one "$S/transcript.md"
}

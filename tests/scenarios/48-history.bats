# What a model is told of a session that changes between its turns: the daemon keeps what it
# read, a fork of the session is read anew, and both are told the same.
load lib/mount
load lib/agents

# An agent that calls a tool when it is to add, and whose requests are artifacts/request.json.
adder() {
	llm h root_agent.yaml me "tools: [{name: tools/add}]" "before_model_callbacks: [{name: dump}]"
	agent_file h dump <<< $'#!/bin/sh\ncat > "$ADKFS_SESSION/artifacts/request.json"'
	tool h add '{"description":"adds"}' <<< $'#!/bin/sh\necho \'{"sum":3}\''
	rules h me <<-'E'
		- when: {tool: add}
		  text: it is three
		- when: {user: '^add'}
		  calls: [{name: add, id: c-1}]
		- when: {user: '^(Sum|.*user:)'}
		  text: in short
		- when: {user: '^(.*)$'}
		  text: "you said ${1}"
	E
	session h
}

# The texts and calls of the last request.
told() {
	jq -r '[.contents[].parts[] | .text // (.functionCall | select(.) | "add()")
		// (.functionResponse | select(.) | "=\(.response.sum)")] | join("|")' \
		artifacts/request.json
}

# Say it here and in a fork: both models are told the same, which is TOLD.
told_alike() {
	local text=$1 want=$2 fork="fork-$((++forks))"

	echo "fork $fork" > ctl
	say "$text"
	same "$want" "$(told)"
	same "$(jq -S .contents artifacts/request.json)" "$(
		cd "../$fork"
		say "$text"
		jq -S .contents artifacts/request.json
	)"
}

turn_id() {
	cat "turns/$1/invocation_id"
}

append() {
	jq -nc "$@" >> events.jsonl
}

@test "the model gets a session as it is after a rewind, a compaction and new events" {
	adder
	told_alike one 'one'
	told_alike 'add two' 'one|you said one|add two|add()|=3'

	# Lines of others, one of them of a turn that has ended.
	append '{author: "cron", content: {role: "model", parts: [{text: "news"}]}}'
	append --arg id "$(turn_id 1)" \
		'{author: "me", invocationId: $id, content: {role: "model", parts: [{text: "late"}]}}'
	told_alike three 'one|you said one|late|add two|add()|=3|it is three|For context:|[cron] said: news|three'

	# A later response of the call that was answered takes its place.
	append --arg id "$(turn_id 2)" '{author: "me", invocationId: $id, content: {role: "user",
		parts: [{functionResponse: {id: "c-1", name: "add", response: {sum: 4}}}]}}'
	told_alike four 'one|you said one|late|add two|add()|=4|it is three|For context:|[cron] said: news|three|you said three|four'

	echo "rewind $(turn_id 3)" > ctl
	told_alike five 'one|you said one|late|add two|add()|=4|it is three|For context:|[cron] said: news|five'

	echo compact > ctl
	eventually 20 grep -q compactedContent events.jsonl
	told_alike six 'in short|six'
	told_alike 'add seven' 'in short|six|you said six|add seven|add()|=3'

	# Back to before what was summarised: the summary goes too.
	echo "rewind $(turn_id 2)" > ctl
	told_alike eight 'one|you said one|late|eight'
}

@test "a session that is made again has nothing of the old session" {
	adder
	say one
	say two
	same 'one|you said one|two' "$(told)"
	cd ..
	rmdir s1
	session h
	say three
	same three "$(told)"
	daemon_restart
	back
	say four
	same 'three|you said three|four' "$(told)"
}

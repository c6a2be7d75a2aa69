# Workflow agents: a sequence, a loop, agents side by side.
load lib/mount
load lib/agents

@test "a sequence: each agent after the other, with what the one before it left" {
	agent_file seq root_agent.yaml <<-'E'
		agent_class: SequentialAgent
		name: chain
		sub_agents:
		  - config_path: first.yaml
		  - config_path: second.yaml
	E
	llm seq first.yaml first "output_key: draft"
	llm seq second.yaml second
	sed -i 's/^instruction:.*/instruction: "Polish {draft}"/' "$AGENTS/seq/second.yaml"
	rules seq first <<< '[{text: rough}]'
	rules seq second <<< '[{text: polished}]'
	agent_file seq seen <<-'E'
		#!/bin/sh
		jq -c '.config.systemInstruction' > "$ADKFS_SESSION/artifacts/seen.json"
	E
	echo 'before_model_callbacks: [{name: seen}]' >> "$AGENTS/seq/second.yaml"
	session seq
	say hi
	same "user|hi
first|rough
second|polished" "$(story | grep -v '^user$')"
	same "rough
polished" "$(cat output)"
	[[ $(cat artifacts/seen.json) == '"Polish rough'* ]]
	same done "$(cat turns/1/status)"
	same chain "$(cat turns/1/agent)"
}

@test "a loop ends by exit_loop, and by max_iterations; the outer one goes on" {
	agent_file loop root_agent.yaml <<-'E'
		agent_class: LoopAgent
		name: outer
		max_iterations: 2
		sub_agents: [{config_path: inner.yaml}, {config_path: after.yaml}]
	E
	agent_file loop inner.yaml <<-'E'
		agent_class: LoopAgent
		name: inner
		max_iterations: 5
		sub_agents: [{config_path: worker.yaml}, {config_path: judge.yaml}]
	E
	llm loop worker.yaml worker
	llm loop judge.yaml judge "tools: [{name: exit_loop}]"
	llm loop after.yaml after
	rules loop worker <<< '[{text: work}]'
	rules loop judge <<-'E'
		- calls: [{name: exit_loop}]
	E
	rules loop after <<< '[{text: and on}]'
	session loop
	say go
	same "user|go
worker|work
judge|calls exit_loop
judge|gets {\"result\":null}
after|and on
worker|work
judge|calls exit_loop
judge|gets {\"result\":null}
after|and on" "$(story)"
	grep -q '"escalate":true' events.jsonl
}

@test "parallel agents have branches, and none sees what another said" {
	agent_file par root_agent.yaml <<-'E'
		agent_class: SequentialAgent
		name: root
		sub_agents: [{config_path: both.yaml}, {config_path: sum.yaml}]
	E
	agent_file par both.yaml <<-'E'
		agent_class: ParallelAgent
		name: both
		sub_agents: [{config_path: left.yaml}, {config_path: right.yaml}]
	E
	llm par left.yaml left "output_key: l"
	llm par right.yaml right "output_key: r"
	llm par sum.yaml sum
	sed -i 's/^instruction:.*/instruction: "{l} and {r}"/' "$AGENTS/par/sum.yaml"
	rules par left <<-'E'
		- when: {user: right}
		  text: I saw it
		- text: left
		  delay_ms: 50
	E
	rules par right <<-'E'
		- when: {user: left}
		  text: I saw it
		- text: right
		  delay_ms: 50
	E
	rules par sum <<-'E'
		- when: {user: '\[(left|right)\] said: (left|right)'}
		  text: both seen
		- text: nothing seen
	E
	session par
	say go
	same "left|both.left|left
right|both.right|right" "$(story | grep '|both[.]' | sort)"
	same "sum|both seen" "$(story | tail -n 1)"
	same '"left"
"right"' "$(cat state/l.json state/r.json)"
	jq -e 'select(.author == "sum") | has("branch") | not' events.jsonl
}

@test "a parallel agent that fails ends the others, and the turn fails with its error" {
	agent_file parfail root_agent.yaml <<-'E'
		agent_class: ParallelAgent
		name: both
		sub_agents: [{config_path: left.yaml}, {config_path: right.yaml}]
	E
	llm parfail left.yaml left
	llm parfail right.yaml right
	rules parfail left <<< '[{error: {code: SAFETY, message: not this}}]'
	rules parfail right <<< '[{text: slow but sure, delay_ms: 100}]'
	session parfail
	say go
	same "failed 1" "$(cat status)"
	same "not this" "$(cat turns/1/error)"
	same "right|both.right|slow but sure" "$(story | grep right)"
	same '["SAFETY","left","both.left"]' \
		"$(jq -c 'select(.errorCode) | [.errorCode, .author, .branch]' events.jsonl)"
	same 1 "$(grep -c errorCode events.jsonl)"
}

@test "loops in loops, a sequence in a loop, and parallel agents in it" {
	workflow n root_agent.yaml outer Loop mid end
	echo "max_iterations: 2" >> "$AGENTS/n/root_agent.yaml"
	workflow n mid.yaml mid Sequential pair judge tail
	workflow n pair.yaml pair Parallel l r
	talker n l
	talker n r
	llm n judge.yaml judge "tools: [{name: exit_loop}]"
	talker n tail
	talker n end
	rules n judge <<< '[{text: on}]'
	session n
	say go
	same 2 "$(texts 1 | grep -c '^end|end here')"
	same "l|pair.l|l here
r|pair.r|r here" "$(texts 1 | head -n 2 | sort)"
	same 4 "$(texts 1 | grep -c '|pair[.]')"
	rules n judge <<< '[{calls: [{name: exit_loop}]}]'
	say stop
	# The sequence runs to its end, the loop starts nothing more.
	same "judge
tail" "$(jq -r 'select(.branch | not) | .author' turns/2/events.jsonl | grep -v user | uniq)"
	same "tail|tail here" "$(texts 2 | tail -n 1)"
	not grep -q '"end"' turns/2/events.jsonl
}

@test "a loop without max_iterations runs until an agent ends it; empty workflow agents end at once" {
	workflow z root_agent.yaml all Sequential none noloop nopar loop after
	for k in none:Sequential noloop:Loop nopar:Parallel; do
		printf 'agent_class: %sAgent\nname: %s\n' "${k#*:}" "${k%:*}" | agent_file z "${k%:*}.yaml"
	done
	workflow z loop.yaml loop Loop count
	echo "max_iterations: 0" >> "$AGENTS/z/loop.yaml"
	llm z count.yaml count "tools: [{name: exit_loop}]" "before_model_callbacks: [{name: third}]"
	agent_file z third <<-'E'
		#!/bin/sh
		n=$(jq '[.contents[].parts[] | select(.text == "again")] | length')
		[ "$n" -lt 3 ] || echo '{"content":{"role":"model","parts":[{"functionCall":{"name":"exit_loop","args":{}}}]}}'
	E
	rules z count <<< '[{text: again}]'
	talker z after
	session z
	say go
	same "count|again
count|again
count|again
after|after here" "$(texts 1)"
}

@test "a loop of agents that say nothing can be cancelled" {
	workflow z root_agent.yaml loop Loop none
	printf 'agent_class: SequentialAgent\nname: none\n' | agent_file z none.yaml
	session z
	echo go > input
	eventually 10 grep -q running status
	echo cancel > ctl
	timeout 20 cat wait > /dev/null
	same "failed 1" "$(cat status)"
}

@test "parallel agents: the stream has the events in the order of the log" {
	workflow o root_agent.yaml both Parallel a b c d e f
	for x in a b c d e f; do
		agent_file o "$x.yaml" <<< "agent_class: ./talk
name: $x"
	done
	agent_file o talk <<-'E'
		#!/bin/sh
		for i in $(seq 300); do
			echo "{\"content\":{\"role\":\"model\",\"parts\":[{\"text\":\"$ADK_AGENT_NAME$i\"}]}}"
		done
	E
	session o
	say go
	same 1801 "$(wc -l < turns/1/events.jsonl)"
	cp turns/1/stream.jsonl "$TMP/after"
	echo go > input
	timeout 60 cat turns/2/stream.jsonl > "$TMP/live"
	cmp <(grep -v '"author":"user"' turns/2/events.jsonl | jq -r .id) <(jq -r .id "$TMP/live")
	cmp <(grep -v '"author":"user"' turns/2/events.jsonl | jq -r '.content.parts[0].text') turns/2/output
}

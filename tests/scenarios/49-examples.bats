# What the READMEs of the example folders show.
load lib/mount

# ask TEXT: say it, and print the answer.
ask() {
	printf '%s\n' "$1" > input
	timeout 60 cat output
}

@test "office: administrators have more tools, and confirm what they do" {
	mkdir -p "$MNT/apps/office"
	cd "$MNT/apps/office"
	echo '{"7": "a contract", "8": "an invoice"}' > state/records.json
	session office ann
	same "I could not delete it: Tool 'delete_record' not found. Available tools: look_up" "$(ask 'delete 7')"
	same 'Record 7: a contract' "$(ask 'show 7')"
	session office root
	echo '"admin"' > ../../state/role.json
	same '' "$(ask 'delete 7')"
	same '{"7": "a contract", "8": "an invoice"}' "$(cat "$MNT/apps/office/state/records.json")"
	id=$(jq -r '.longRunningToolIds[0] // empty' events.jsonl | tail -n 1)
	printf '{"parts": [{"functionResponse": {"id": "%s", "name": "adk_request_confirmation", "response": {"confirmed": true}}}]}' \
		"$id" > input.json
	same 'Record 7 is gone.' "$(timeout 60 cat output)"
	same '{"8":"an invoice"}' "$(cat "$MNT/apps/office/state/records.json")"
}

@test "gallery: a callback answers itself, or puts a picture into the request" {
	session gallery
	same 'There is no photo.png yet: copy one into artifacts/.' "$(ask 'what is on it?')"
	printf '\x89PNG\r\n\x1a\n' > artifacts/photo.png
	same 'I see photo.png, a picture of 8 bytes.' "$(ask 'and now?')"
	same '{"name":"photo.png","bytes":8}' "$(cat state/last_photo.json)"
	same photo.png "$(tail -n 1 events.jsonl | jq -r .actions.stateDelta.last_photo.name)"
	truncate -s 2M artifacts/photo.png
	same 'photo.png has more than 1000000 bytes.' "$(ask 'and now?')"
}

@test "toolbox: tools in sh, Python and C, with files alone" {
	session toolbox
	same 'The list is [3].' "$(ask 'add 3')"
	same 'The list is [3,5].' "$(ask 'add 5')"
	say 'a chart please'
	same 2 "$(grep -o '<rect' artifacts/charts/numbers.svg | wc -l)"
	same '{"charts/numbers.svg":1}' "$(tail -n 1 events.jsonl | jq -c .actions.artifactDelta)"
	same true "$(tail -n 1 events.jsonl | jq .actions.skipSummarization)"
	command -v cc > /dev/null || skip "the tool in C needs cc"
	same '3 words, 3 in all.' "$(ask 'count these words')"
	same '2 words, 5 in all.' "$(ask 'count these')"
	[ ! -e turns/latest/context ]
}

@test "desk: handing over, an agent as a tool, and a loop that ends when it is good" {
	session desk
	same 'Your bill is 240, breakfast included.' "$(ask 'my bill please')"
	say 'and in euros?'
	same billing "$(cat turns/latest/agent)"
	same 'Good day. Bills, complaints, and a word in Spanish?' "$(ask 'thank you')"
	same 'In Spanish: buenos días' "$(ask 'in Spanish: good morning')"
	say 'a complaint about noise'
	same '"Dear guest, we are truly sorry about the noise. With our best wishes, the desk."' \
		"$(cat state/letter.json)"
	same 3 "$(wc -l < output)"
}

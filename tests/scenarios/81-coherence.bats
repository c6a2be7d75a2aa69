# What is seen after a change, by every path, with the kernel's caches full.
load lib/mount

coherence() {
	[ "$(id -u)" = 0 ] || skip "only root can have a mount's caches dropped"
	timeout 120 python3 "$ROOT/tests/scenarios/lib/coherence.py" "$MNT" "$@"
}

@test "each change is seen at once by each path, also by files that are kept open" {
	coherence 3 1
}

@test "each change is seen at once by each path, in another order" {
	coherence 3 2
}

@test "a change by an open descriptor makes its names before write(2) returns" {
	session
	mkdir ../s2
	timeout 60 python3 - <<-'PY'
		import json, os
		log = os.open("events.jsonl", os.O_WRONLY | os.O_APPEND)
		for n in range(1000):
		    names = [d % ("k%d.json" % n) for d in ("state/%s", "state/user:%s", "../s2/state/user:%s", "../../state/%s")]
		    assert not any(map(os.path.lexists, names))
		    delta = {"k%d" % n: 1, "user:k%d" % n: 2}
		    os.write(log, json.dumps({"author": "user", "actions": {"stateDelta": delta}}).encode() + b"\n")
		    seen = list(map(os.path.lexists, names))
		    assert all(seen), (n, seen)
	PY
}

@test "each session has links to all artifacts of its user" {
	session
	mkdir ../s2
	for n in {1..20}; do
		for there in . ../s2; do
			[ ! -L $there/artifacts/user:f$n ]
			[ ! -L $there/artifacts/user:d$n ]
			same '' "$(ls $there/artifacts)"
		done
		mkdir ../../artifacts/d$n
		same "user:d$n" "$(ls artifacts)"
		[ -d ../s2/artifacts/user:d$n ]
		echo x > artifacts/user:f$n
		same x "$(cat ../s2/artifacts/user:f$n)"
		same "user:d$n user:f$n" "$(ls ../s2/artifacts | xargs)"
		rmdir ../../artifacts/d$n
		rm ../../artifacts/f$n
	done
}

@test "a text that is replaced again and again is read whole, and without zeros" {
	session
	timeout 60 python3 "$ROOT/tests/scenarios/lib/coherence_text.py" "$S" 3
}

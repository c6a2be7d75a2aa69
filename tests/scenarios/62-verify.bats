# Random operations on artifacts, compared with what a file or a directory must be (tests/verify).
# A failure prints its seed; the same command with --seed replays it.
load lib/mount

VERIFY=${VERIFY:-$ROOT/build/tests}
STEPS=${VERIFY_STEPS:-6000}

setup() {
	mount_setup
	session
	mkdir "$TMP/plain"
}

# verify_file SEED...: with each seed; "new" is one that nobody had.
verify_file() {
	local seed

	for seed in "$@"; do
		[ "$seed" = new ] && seed=$((RANDOM * 32768 + RANDOM))
		echo "seed $seed"
		"$VERIFY/fsverify" --seed $seed --steps "$STEPS" --versions "artifacts/.versions/f$seed" \
			"artifacts/f$seed"
	done
}

verify_tree() {
	local seed

	for seed in "$@"; do
		[ "$seed" = new ] && seed=$((RANDOM * 32768 + RANDOM))
		echo "seed $seed"
		mkdir "$TMP/plain/t$seed" "artifacts/t$seed"
		"$VERIFY/treeverify" --seed $seed --steps "$STEPS" --late --ignore nlink \
			--policy symlink,link,mkfifo,exchange,full "$TMP/plain/t$seed" "artifacts/t$seed"
	done
}

# flawed FLAW TEXT: the verifier finds it on a directory that is right.
flawed() {
	run env FLAW="$1" LD_PRELOAD="$VERIFY/libflaw.so" "$VERIFY/fsverify" --seed 5 --steps 20000 \
		"$TMP/plain/${1%:*}"
	echo "$output"
	[ "$status" = 1 ]
	[[ $output == *"seed 5, step "*"$2"* ]]
}

@test "the verifiers find nothing on a directory of the host" {
	"$VERIFY/fsverify" --steps 20000 "$TMP/plain/f"
	mkdir "$TMP/plain/a" "$TMP/plain/b"
	"$VERIFY/treeverify" --steps 20000 "$TMP/plain/a" "$TMP/plain/b"
}

@test "the verifiers find a flipped bit, a lost write, a stale byte, a lost end" {
	flawed flip:500 "bytes at"
	flawed lose:500 ""
	flawed stale:20 "0xff and not"
	flawed close:50 "it ends at"
	mkdir "$TMP/plain/a" "$TMP/plain/b"
	run env FLAW=close:50 LD_PRELOAD="$VERIFY/libflaw.so" \
		"$VERIFY/treeverify" --seed 5 --steps 20000 "$TMP/plain/a" "$TMP/plain/b"
	[ "$status" = 1 ]
	[[ $output == *"the directory says"* ]]
}

@test "one file: reads give what was written, and versions stay what they were" {
	verify_file 1 2 3 new
}

@test "a tree of files behaves as a directory of the host" {
	verify_tree 1 2 3 new
}

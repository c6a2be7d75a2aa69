"""Reads give one text, whole, while it is replaced: coherence_text.py SESSION SECONDS

A writer gives a key values of very different lengths; readers of its file, of
state.json and of session.json have to get JSON, and of the file one of the values.
"""
import json
import multiprocessing
import os
import sys
import time

VALUES = [json.dumps("x" * n) for n in (1, 50, 3000, 9000, 20, 60000)]


def write(path, end):
    n = 0
    while time.monotonic() < end:
        with open(path, "w") as f:
            f.write(VALUES[n % len(VALUES)])
        n += 1


def read(path, end, result):
    known = {v + "\n" for v in VALUES}
    bad = None
    while time.monotonic() < end and not bad:
        with open(path, "rb") as f:
            text = f.read().decode()
        try:
            value = json.loads(text)
            if not isinstance(value, dict) and text not in known:
                bad = "not a value that was written"
        except ValueError as e:
            bad = str(e)
        if bad:
            bad = "%s: %s (%d bytes, %d of them NUL)" % (path, bad, len(text), text.count("\0"))
    result.put(bad)


def main(session, seconds):
    end = time.monotonic() + seconds
    path = session + "/state/key.json"
    with open(path, "w") as f:
        f.write(VALUES[0])
    result = multiprocessing.Queue()
    names = ["state/key.json", "state/key.json", "state.json", "session.json"]
    all_of_them = [multiprocessing.Process(target=write, args=(path, end))]
    all_of_them += [multiprocessing.Process(target=read, args=(session + "/" + n, end, result)) for n in names]
    for p in all_of_them:
        p.start()
    bad = [b for b in (result.get(timeout=60) for _ in names) if b]
    for p in all_of_them:
        p.join()
        assert p.exitcode == 0, p.exitcode
    if bad:
        sys.exit("\n".join(bad))


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]))

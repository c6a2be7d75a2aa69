"""Many processes append to one log at once: events_crowd_append.py FILE PROCESSES LINES

Each appends its lines in one of several manners. In the end all lines are there,
whole and once, those of each process in the order in which it wrote them.
"""
import json
import multiprocessing
import os
import sys


def line(who, n):
    return json.dumps({"author": "w%d" % who, "invocationId": str(n),
                       "content": {"role": "user", "parts": [{"text": "x" * (n * 37 % 1500)}]}},
                      ensure_ascii=False).encode() + b"\n"


def append_open(path, who, count):
    for n in range(count):
        fd = os.open(path, os.O_WRONLY | os.O_APPEND)
        assert os.write(fd, line(who, n)) == len(line(who, n))
        os.close(fd)


def append_kept(path, who, count):
    fd = os.open(path, os.O_WRONLY | os.O_APPEND)
    for n in range(count):
        assert os.write(fd, line(who, n)) == len(line(who, n))
    os.close(fd)


def append_several(path, who, count):
    fd = os.open(path, os.O_WRONLY | os.O_APPEND)
    for n in range(0, count, 7):
        text = b"".join(line(who, k) for k in range(n, min(n + 7, count)))
        assert os.write(fd, text) == len(text)
    os.close(fd)


def append_torn(path, who, count):
    """Lines cut anywhere, as a program with a buffer of its own writes them."""
    fd = os.open(path, os.O_WRONLY | os.O_APPEND)
    text = b"".join(line(who, n) for n in range(count))
    for at in range(0, len(text), 1009):
        piece = text[at:at + 1009]
        assert os.write(fd, piece) == len(piece)
    os.close(fd)


MANNERS = [append_open, append_kept, append_several, append_torn]


def main(path, processes, count):
    workers = [multiprocessing.Process(target=MANNERS[who % len(MANNERS)], args=(path, who, count))
               for who in range(processes)]
    for w in workers:
        w.start()
    for w in workers:
        w.join()
        assert w.exitcode == 0, w.exitcode
    seen = [[] for _ in range(processes)]
    ids = set()
    latest = 0
    with open(path, "rb") as f:
        for text in f:
            e = json.loads(text)
            assert text.endswith(b"\n")
            ids.add(e["id"])
            seen[int(e["author"][1:])].append(int(e["invocationId"]))
            assert len(e["content"]["parts"][0]["text"]) == int(e["invocationId"]) * 37 % 1500
            assert e["timestamp"] > latest, (e["timestamp"], latest)
            latest = e["timestamp"]
    assert len(ids) == processes * count, (len(ids), processes * count)
    for who in range(processes):
        assert seen[who] == list(range(count)), (who, seen[who])


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))

"""No byte of a growing log ever changes, and none is NUL: events_crowd_watch.py FILE STOP SEED

Reads at random offsets, in odd sizes, with pread, read, mmap and a fresh open,
until STOP exists; what was read once has to stay. A mapping is kept for long.
Maps end where the log ended half a second ago: a fault does not ask for the size,
and the kernel may drop the answer that fstat(2) gave while the log is appended to.
"""
import mmap
import os
import random
import sys
import time


def fresh(path, _, at, size):
    with open(path, "rb", 0) as f:
        f.seek(at)
        return f.read(size)


def mapped(_, fd, at, size):
    base = at & ~(mmap.PAGESIZE - 1)
    with mmap.mmap(fd, at + size - base, prot=mmap.PROT_READ, offset=base) as m:
        return m[at - base:]


def positioned(_, fd, at, size):
    return os.pread(fd, size, at)


def seeked(_, fd, at, size):
    os.lseek(fd, at, os.SEEK_SET)
    return os.read(fd, size)


WAYS = [fresh, positioned, seeked]
SETTLED_S = 0.5


class Settled:
    """How long the log was some time ago."""

    def __init__(self):
        self.seen = []
        self.length = 0

    def note(self, length):
        now = time.monotonic()
        self.seen.append((now, length))
        while self.seen[0][0] < now - SETTLED_S:
            self.length = self.seen.pop(0)[1]
        return self.length


def main(path, stop, seed):
    rng = random.Random(seed)
    fd = os.open(path, os.O_RDONLY)
    known = bytearray()
    memory = None
    rounds = 0
    settled = Settled()
    ending = False
    while not ending:
        ending = os.path.exists(stop)
        size = os.fstat(fd).st_size
        assert size >= len(known), ("it shrank", size, len(known))
        while len(known) < size:
            way = rng.choice(WAYS)
            want = min(size - len(known), rng.choice((1, 100, 4095, 4096, 4097, 70000, 1 << 20)))
            got = way(path, fd, len(known), want)
            assert 0 < len(got) <= want, (way.__name__, len(known), want, len(got))
            assert b"\0" not in got, (way.__name__, "NUL at", len(known) + got.index(b"\0"))
            known += got
        still = settled.note(len(known))
        if known:
            for _ in range(20):
                way = rng.choice(WAYS + [mapped])
                limit = still if way is mapped else len(known)
                if not limit:
                    continue
                at = rng.randrange(limit)
                want = bytes(known[at:min(at + rng.randrange(1, 200000), limit)])
                got = way(path, fd, at, len(want))
                assert got == want, (way.__name__, at, len(want), len(got))
        if still and (memory is None or rng.random() < 0.05):
            memory = mmap.mmap(fd, still, prot=mmap.PROT_READ)
        if memory:
            at = rng.randrange(len(memory))
            assert memory[at:at + 50000] == known[at:min(at + 50000, len(memory))], ("mapping", at)
        rounds += 1
    whole = open(path, "rb").read()
    assert whole == known, "the whole is not the sum of its parts"
    assert rounds > 3, rounds


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))

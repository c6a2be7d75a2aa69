"""Listings that stay right while names come and go, for tests/scenarios/21-directories.bats.

usage: directories_listing.py FOLDER SECONDS

Every second name of FOLDER stays; the others are removed and made again by two
processes as fast as they can. Meanwhile readers with buffers of several sizes
list it, some slowly, one seeking back to where it was: a name that stays has
to appear exactly once in each listing.
"""
import ctypes
import multiprocessing
import os
import platform
import random
import struct
import sys
import time

GETDENTS64 = {"x86_64": 217, "aarch64": 61}[platform.machine()]
libc = ctypes.CDLL(None, use_errno=True)


def getdents(fd, size):
    buffer = ctypes.create_string_buffer(size)
    n = libc.syscall(GETDENTS64, fd, buffer, size)
    if n < 0:
        raise OSError(ctypes.get_errno(), "getdents64")
    at = 0
    while at < n:
        _, offset, length = struct.unpack_from("<QqH", buffer, at)
        yield offset, buffer.raw[at + 19:at + length].split(b"\0")[0]
        at += length


def read_all(folder, size, pause, seek):
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    names = []
    while True:
        found = list(getdents(fd, size))
        if not found:
            break
        if seek and len(found) > 1 and random.random() < 0.3:
            found = found[:random.randrange(1, len(found))]
            os.lseek(fd, found[-1][0], os.SEEK_SET)
        names += [name for _, name in found if name not in (b".", b"..")]
        time.sleep(pause)
    os.close(fd)
    return names


def reader(folder, staying, size, pause, seek, end, result):
    rounds = 0
    try:
        while time.monotonic() < end or not rounds:
            names = [name for name in read_all(folder, size, pause, seek) if name in staying]
            if len(names) != len(set(names)):
                raise AssertionError("a name twice")
            missing = staying - set(names)
            if missing:
                raise AssertionError("%d of %d names are missing, buffer of %d, after %d rounds" %
                                     (len(missing), len(staying), size, rounds))
            rounds += 1
        result.put(None)
    except BaseException as e:
        result.put(repr(e))


def churn(folder, names, end):
    there = dict.fromkeys(names, True)
    while time.monotonic() < end:
        name = random.choice(names)
        (os.rmdir if there[name] else os.mkdir)(folder + b"/" + name)
        there[name] = not there[name]


def main(folder, seconds):
    names = sorted(os.listdir(folder))
    staying = set(names[::2])
    going = names[1::2]
    end = time.monotonic() + seconds
    result = multiprocessing.Queue()
    readers = [multiprocessing.Process(target=reader, args=(folder, staying, size, pause, seek, end, result))
               for size, pause, seek in ((300, 0, False), (1000, 0.0005, False), (4096, 0.001, False),
                                         (32768, 0, False), (32768, 0.01, False), (2000, 0.0002, True))]
    writers = [multiprocessing.Process(target=churn, args=(folder, going[i::2], end)) for i in range(2)]
    for p in readers + writers:
        p.start()
    bad = [r for r in (result.get(timeout=120) for _ in readers) if r]
    for p in readers + writers:
        p.join()
    if bad:
        sys.exit("\n".join(bad))


if __name__ == "__main__":
    main(os.fsencode(sys.argv[1]), float(sys.argv[2]))

"""A thousand readers of one turn: output_readers.py SESSION COUNT

Opens output, wait and stream.jsonl many times, half of them read by threads that
block, half by one epoll loop. While they wait, listing and describing the
session stays quick. Prints "waiting" when all wait, then ends when they have
ended; those of one file must have got the same.
"""
import json
import os
import select
import sys
import threading

FILES = ("output", "wait", "turns/1/stream.jsonl")


def read_blocking(fd, got, n):
    text = b""
    while True:
        try:
            piece = os.read(fd, 65536)
        except OSError as e:
            text += b" " + e.strerror.encode()
            break
        if not piece:
            break
        text += piece
    got[n] = text


def read_all_by_epoll(fds, got):
    poll = select.epoll()
    texts = {fd: b"" for fd in fds}
    for fd in fds:
        poll.register(fd, select.EPOLLIN)
    idle = 0
    while fds:
        for fd, _ in poll.poll(60):
            try:
                piece = os.read(fd, 65536)
            except BlockingIOError:
                idle += 1
                assert idle < 100 * len(texts), "ready again and again, with nothing to read"
                continue
            except OSError as e:
                texts[fd] += b" " + e.strerror.encode()
                piece = b""
            texts[fd] += piece
            if not piece:
                poll.unregister(fd)
                got[fds.pop(fd)] = texts[fd]


def main(session, count):
    os.chdir(session)
    threading.stack_size(256 * 1024)
    got = [None] * count
    nonblocking = {}
    threads = []
    for n in range(count):
        if n % 2:
            fd = os.open(FILES[n % 3], os.O_RDONLY)
            threads.append(threading.Thread(target=read_blocking, args=(fd, got, n)))
        else:
            nonblocking[os.open(FILES[n % 3], os.O_RDONLY | os.O_NONBLOCK)] = n
    threads.append(threading.Thread(target=read_all_by_epoll, args=(nonblocking, got)))
    for t in threads:
        t.start()
    print("waiting", flush=True)
    for t in threads:
        t.join(60)
        assert not t.is_alive(), "a reader does not end"
    for which in range(3):
        texts = set(got[which::3])
        assert len(texts) == 1, [t[-80:] if t else t for t in list(texts)[:3]]
    print(json.dumps([t.decode() for t in got[:2]]), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))

"""Turns that wait for tests/servers/slow.py: many_turns.py MNT PORT COUNT VERB...

start           a turn in each of COUNT sessions; until the model has all their questions
quick SESSION   how long another session takes for this and that, before and after start
cancel          each turn by its ctl, and until it is over
release         let the model answer all, and wait for the ends
"""
import os
import statistics
import sys
import time
import urllib.request

mnt, port, count, verb = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
sessions = [mnt + "/apps/slow/users/ann/sessions/s%04d" % n for n in range(count)]


def ask(path):
    with urllib.request.urlopen("http://127.0.0.1:%s/%s" % (port, path), timeout=30) as reply:
        return int(reply.read())


def write(path, text):
    with open(path, "w") as file:
        file.write(text)


def read(path):
    with open(path) as file:
        return file.read()


def start():
    for session in sessions:
        os.makedirs(session)
        write(session + "/input", "hello\n")
    end = time.monotonic() + 60
    while ask("waiting") < count:
        assert time.monotonic() < end, "%d of %d ask the model" % (ask("waiting"), count)
        time.sleep(0.02)


def end_all():
    for session in sessions:
        status = read(session + "/wait")
        assert status in ("idle\n", "failed 1\n"), status
    assert ask("waiting") == 0


def cancel():
    took = []
    for session in sessions:
        begin = time.monotonic()
        write(session + "/ctl", "cancel\n")
        assert read(session + "/wait") == "failed 1\n"
        took.append(time.monotonic() - begin)
    print("cancel: median %.1f ms, at most %.1f ms" % (statistics.median(took) * 1e3, max(took) * 1e3))
    assert statistics.median(took) < 0.1
    end_all()


def release():
    ask("release")
    end_all()


def turn(session):
    write(session + "/input", "hello\n")
    read(session + "/output")


def times(session):
    """Medians, in seconds, of what a person would do there."""
    works = {"stat": lambda: os.stat(session + "/status"),
             "ls": lambda: [os.lstat(session + "/" + name) for name in os.listdir(session)],
             "cat": lambda: read(session + "/status"),
             "turn": lambda: turn(session)}
    medians = {}
    for name, work in works.items():
        took = []
        for _ in range(30):
            begin = time.monotonic()
            work()
            took.append(time.monotonic() - begin)
        medians[name] = statistics.median(took)
    return medians


def quick():
    before = times(sys.argv[5])
    start()
    after = times(sys.argv[5])
    for name, took in after.items():
        print("%s: %.2f ms, %.2f ms before" % (name, took * 1e3, before[name] * 1e3))
        assert took < 5 * before[name] + 0.02, name


{"start": start, "quick": quick, "cancel": cancel, "release": release}[verb]()

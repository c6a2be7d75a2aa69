"""Sessions that are written, remembered, forgotten and searched at once: memory_crowd.py USER SECONDS

At the end each event is found if its session is remembered, and only then.
"""
import json
import os
import random
import sys
import threading
import time

SESSIONS = ["m%d" % n for n in range(4)]


class World:
    def __init__(self, user, seconds):
        self.user = user
        self.end = time.monotonic() + seconds
        self.said = {s: [] for s in SESSIONS}
        self.failed = []
        for s in SESSIONS:
            os.mkdir("%s/sessions/%s" % (user, s))

    def link(self, session):
        return "%s/memory/sessions/%s" % (self.user, session)

    def remember(self, session):
        os.symlink("../../sessions/" + session, self.link(session))

    def found(self, query):
        with open("%s/memory/search/%s" % (self.user, query), encoding="utf-8") as f:
            return [json.loads(line) for line in f]

    def write(self, dice, words):
        session = dice.choice(SESSIONS)
        own = [next(words) for _ in range(dice.randrange(1, 20))]
        lines = [json.dumps({"author": "user", "content": {"parts": [{"text": "all %s %s" % (
            word, " ".join("f%d" % dice.randrange(500) for _ in range(20)))}]}}) + "\n" for word in own]
        log = os.open("%s/sessions/%s/events.jsonl" % (self.user, session), os.O_WRONLY | os.O_APPEND)
        os.write(log, "".join(lines).encode())
        os.close(log)
        self.said[session] += own

    def toggle(self, dice, _words):
        session = dice.choice(SESSIONS)
        try:
            if os.path.lexists(self.link(session)):
                os.remove(self.link(session))
            else:
                self.remember(session)
        except (FileExistsError, FileNotFoundError):
            pass  # the other one was faster
        time.sleep(dice.random() * 0.05)

    def search(self, dice, _words):
        self.found(dice.choice(["all", "f1 f2 f3", "f%d" % dice.randrange(500), "w0x%d" % dice.randrange(1000)]))
        os.listdir(self.user + "/memory/sessions")

    def repeat(self, step, number):
        dice = random.Random(number)
        words = ("w%dx%d" % (number, n) for n in range(1 << 40))
        try:
            while time.monotonic() < self.end:
                step(self, dice, words)
        except Exception as e:  # told at the end
            self.failed.append("%s: %r" % (step.__name__, e))

    def check(self, when, remembered):
        for session, words in self.said.items():
            for word in words:
                want = [session] if session in remembered else []
                got = [m["customMetadata"]["adkfs.session"] for m in self.found(word)]
                if got != want:
                    self.failed.append("%s: '%s' is in %s, not in %s" % (when, word, got, want))


def main(user, seconds):
    w = World(user, seconds)
    steps = [World.write, World.write, World.write, World.toggle, World.toggle, World.search, World.search]
    threads = [threading.Thread(target=w.repeat, args=(step, i)) for i, step in enumerate(steps)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    remembered = os.listdir(user + "/memory/sessions")
    w.check("at the end", remembered)
    for session in remembered:
        os.remove(w.link(session))
    w.check("forgotten", [])
    for session in SESSIONS:
        w.remember(session)
    w.check("remembered", SESSIONS)
    if w.failed:
        sys.exit("\n".join(w.failed[:20]))
    print("%d events" % sum(map(len, w.said.values())))


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]))

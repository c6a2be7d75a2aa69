"""What is seen right after a change, with all caches full: coherence.py MNT ROUNDS SEED

Before each change everything below apps/ is listed, described, read and mapped,
and so are names that are not there. After it the same is done at once, and then
again after the kernel has forgotten what it knew (a remount drops names and
attributes, and a second look must not differ from the first one). A second
process keeps each file open and mapped all the time and is compared too.
"""
import ctypes
import json
import mmap
import os
import random
import stat
import subprocess
import sys
import time

MS_NOSUID, MS_NODEV, MS_REMOUNT = 2, 4, 32 # as in <sys/mount.h>
STREAMS = {"output", "wait", "stream.jsonl", "input"}
ABSENT = ["state/%s.json" % (p + k) for p in ("", "user:", "app:") for k in "abc"] + \
    ["artifacts/%s" % n for n in ("f1", "f2", "user:f1", "user:f2", "%2Ehidden", "user:.hidden", "user:d", "d", "d/f1")] + \
    ["artifacts/.versions/f1/%d" % n for n in (1, 2, 3, 9)] + ["artifacts/.versions/%s" % n for n in ("f1", "f2")] + \
    ["turns/latest", "turns/1", "turns/2", "turns/3"] + ["sessions/%s" % n for n in ("s1", "s2", "new")] + \
    ["users/%s" % n for n in ("ann", "bob", "new")] + ["new"] + \
    ["memory/%s" % n for n in ("sessions/s1", "sessions/s2", "search/turn", "search/you said keys", "search/none", "search/")]


def describe(path):
    """What one name shows, or why it does not."""
    try:
        st = os.lstat(path)
        name = os.path.basename(path)
        late = name == "agent.json" or os.path.basename(os.path.dirname(path)) in ("sessions", "users", "apps")
        seen = [st.st_ino, stat.filemode(st.st_mode), st.st_size, st.st_nlink, None if late else st.st_mtime_ns]
        if stat.S_ISLNK(st.st_mode):
            seen.append(os.readlink(path))
        elif stat.S_ISDIR(st.st_mode):
            seen.append(sorted(os.listdir(path)))
        elif name not in STREAMS and name != "agent.json":
            with open(path, "rb") as f:
                seen.append(f.read())
        return seen
    except OSError as e:
        return e.strerror


def walk(root):
    seen = {}
    todo = [root]
    while todo:
        path = todo.pop()
        seen[path] = describe(path)
        if os.path.islink(path) or not os.path.isdir(path):
            continue
        base = os.path.basename(path)
        names = seen[path][-1] if isinstance(seen[path], list) else []
        todo += [path + "/" + n for n in names if (base, n) != ("artifacts", ".versions")]
        if "artifacts" in names:
            todo.append(path + "/artifacts/.versions")
        for name in ABSENT:
            if path.count("/") - root.count("/") in (0, 1, 3, 5) and path + "/" + name not in seen:
                seen[path + "/" + name] = describe(path + "/" + name)
    return seen


class Keeper:
    """Files that stay open and mapped."""

    def __init__(self):
        self.files = {}

    def keep(self, paths):
        for path in paths:
            if path in self.files:
                continue
            try:
                fd = os.open(path, os.O_RDONLY)
            except OSError:
                continue
            size = os.fstat(fd).st_size
            self.files[path] = (fd, mmap.mmap(fd, size, prot=mmap.PROT_READ) if size else None, size)

    def look(self, path):
        fd, memory, size = self.files[path]
        try:
            now = os.fstat(fd).st_size
            text = os.pread(fd, 1 << 24, 0)
            ino = os.fstat(fd).st_ino
        except OSError as e:
            os.close(fd)
            del self.files[path]
            return [e.strerror]
        mapped = memory[:min(size, now)] if memory and now else None
        return [ino, now, text.hex(), mapped.hex() if mapped is not None else None]

    def serve(self):
        for line in sys.stdin:
            command = json.loads(line)
            self.keep(command)
            print(json.dumps({p: self.look(p) for p in list(self.files)}), flush=True)


class World:
    def __init__(self, mnt, seed):
        self.random = random.Random(seed)
        self.apps = mnt + "/apps"
        self.mnt = mnt
        self.app = self.apps + "/echo"
        self.user = self.app + "/users/ann"
        self.s1 = self.user + "/sessions/s1"
        self.s2 = self.user + "/sessions/s2"
        self.bob = self.app + "/users/bob/sessions/s1"
        for session in (self.s1, self.s2, self.bob):
            os.makedirs(session)
        self.keeper = subprocess.Popen([sys.executable, __file__, "--keeper"], stdin=subprocess.PIPE,
                                       stdout=subprocess.PIPE, text=True)
        self.count = 0
        self.log = None

    def kept(self, paths):
        self.keeper.stdin.write(json.dumps(paths) + "\n")
        self.keeper.stdin.flush()
        return json.loads(self.keeper.stdout.readline())

    def value(self):
        self.count += 1
        return self.random.choice(["%d", '"%d"', "[%d, 1]", '{"x": %d}']) % self.count * self.random.choice([1, 1, 1]) \
            if self.count % 3 else '"%s%d"' % ("y" * self.random.randrange(5000), self.count)

    def key(self):
        return self.random.choice("abc")


def put(path, text):
    with open(path, "w") as f:
        f.write(text)


def remove(path):
    if os.path.lexists(path):
        os.remove(path)
        return
    put(path, "1")


def swap(folder):
    """What one name had is a version of the other."""
    one, other = (folder + "/f1", folder + "/f2")
    if not os.path.exists(one):
        one, other = other, one
    if not os.path.exists(one):
        put(one, "made")
    else:
        os.rename(one, other)


def toggle(path):
    if os.path.isdir(path):
        os.rmdir(path)
    else:
        os.mkdir(path)


def say(session, text):
    put(session + "/input", text)
    with open(session + "/wait") as f:
        f.read()


def run_forever(w):
    session = w.apps + "/slow/users/ann/sessions/new"
    if os.path.isdir(session):
        os.rmdir(session)
        return
    os.makedirs(os.path.dirname(session), exist_ok=True)
    os.mkdir(session)
    walk(w.apps)
    put(session + "/input", "forever")
    while os.stat(session + "/output").st_size < len("begun "):
        time.sleep(0.01)


def append_and_stay(w):
    """The descriptor stays open: nothing but write(2) can have told others."""
    if w.log is None:
        w.log = os.open(w.s1 + "/events.jsonl", os.O_WRONLY | os.O_APPEND)
    key = w.key()
    delete = os.path.lexists(w.s1 + "/state/user:%s.json" % key)
    event = {"author": "user", "actions": {"stateDelta": {"user:" + key: None if delete else w.count}}}
    if delete:
        event["customMetadata"] = {"adkfs.deleted": ["user:" + key]}
    os.write(w.log, json.dumps(event).encode() + b"\n")
    seen = [os.path.lexists(s + "/state/user:%s.json" % key) for s in (w.s1, w.s2)]
    seen.append(os.path.exists(w.user + "/state/%s.json" % key))
    assert seen == [not delete] * 3, (key, delete, seen)


CHANGES = {
    "value by its file": lambda w: put(w.s1 + "/state/%s.json" % w.key(), w.value()),
    "value of the user by its file": lambda w: put(w.user + "/state/%s.json" % w.key(), w.value()),
    "value of the app by its file": lambda w: put(w.app + "/state/%s.json" % w.key(), w.value()),
    "value of the user by another session": lambda w: put(w.s2 + "/state/user:%s.json" % w.key(), w.value()),
    "value of the app by another user": lambda w: put(w.bob + "/state/app:%s.json" % w.key(), w.value()),
    "values by state.json": lambda w: put(w.s1 + "/state.json", '{"a": %s, "user:b": %s, "app:c": %s}' % (
        w.value(), w.value(), w.value())),
    "values by state.json of the user": lambda w: put(w.user + "/state.json", '{"a": %s, "b": %s}' % (
        w.value(), w.value())),
    "values by state.json of the app": lambda w: put(w.app + "/state.json", '{"c": %s}' % w.value()),
    "values by an event": lambda w: append(w.s1, {"a": 1, "user:b": w.count, "app:a": [w.count]}),
    "values deleted by an event": lambda w: append(w.s1, {"a": None, "user:b": None, "app:a": None}, True),
    "an event by a descriptor that stays open": append_and_stay,
    "directory of the user made or removed": lambda w: toggle(w.user + "/artifacts/d"),
    "an event of another session": lambda w: append(w.s2, {"user:a": "from s2"}),
    "value removed or made": lambda w: remove(w.s1 + "/state/%s.json" % w.key()),
    "value of the user removed or made": lambda w: remove(w.user + "/state/%s.json" % w.key()),
    "value of the app removed or made": lambda w: remove(w.app + "/state/%s.json" % w.key()),
    "a turn": lambda w: say(w.s1, "turn %d" % w.count),
    "a turn that goes on, or its session's end": run_forever,
    "artifact saved": lambda w: put(w.s1 + "/artifacts/f%d" % w.random.randrange(1, 3), w.value()),
    "artifact removed or made": lambda w: remove(w.s1 + "/artifacts/f1"),
    "artifact renamed": lambda w: swap(w.s1 + "/artifacts"),
    "artifact of the user renamed": lambda w: swap(w.user + "/artifacts"),
    "artifact in a directory": lambda w: (os.makedirs(w.s1 + "/artifacts/d", exist_ok=True),
                                          put(w.s1 + "/artifacts/d/f1", w.value())),
    "artifact of the user saved": lambda w: put(w.user + "/artifacts/f%d" % w.random.randrange(1, 3), w.value()),
    "artifact of the user saved by a session": lambda w: put(w.s2 + "/artifacts/user:f1", w.value()),
    "artifact of the user removed or made": lambda w: remove(w.user + "/artifacts/f1"),
    "artifact of the user with a dot removed or made": lambda w: remove(w.user + "/artifacts/%2Ehidden"),
    "session remembered or forgotten": lambda w: remember(w, "s%d" % w.random.randrange(1, 3)),
    "a text in a session": lambda w: append(w.random.choice((w.s1, w.s2)), {"a": w.count}, text="keys %d" % w.count),
    "session made or removed": lambda w: toggle(w.user + "/sessions/new"),
    "user made or removed": lambda w: toggle(w.app + "/users/new"),
    "app made or removed": lambda w: toggle(w.apps + "/new"),
}


def remember(w, name):
    link = w.user + "/memory/sessions/" + name
    if os.path.lexists(link):
        os.remove(link)
    else:
        os.symlink("../../sessions/" + name, link)


def append(session, delta, delete=False, text=None):
    event = {"author": "user", "actions": {"stateDelta": delta}}
    if text:
        event["content"] = {"parts": [{"text": text}]}
    if delete:
        event["customMetadata"] = {"adkfs.deleted": sorted(delta)}
    with open(session + "/events.jsonl", "a") as f:
        f.write(json.dumps(event) + "\n")


def differences(title, want, got):
    for path in sorted(set(want) | set(got)):
        if want.get(path) != got.get(path):
            yield "%s: %s\n   truth: %.300r\n    seen: %.300r" % (title, path, want.get(path), got.get(path))


def files_of(seen):
    return [p for p, d in seen.items() if isinstance(d, list) and d[1][0] == "-" and isinstance(d[-1], bytes)]


def drop_names(mnt):
    """A remount. mount(8) may ask by fsconfig(2), which FUSE refuses; mount(2) works everywhere."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mount(None, os.fsencode(mnt), None, MS_REMOUNT | MS_NOSUID | MS_NODEV, None):
        raise OSError(ctypes.get_errno(), "remount", mnt)


def one_change(w, title, change):
    before = walk(w.apps)
    w.kept(files_of(before))
    change(w)
    seen = walk(w.apps)
    kept = w.kept([])
    drop_names(w.mnt)
    truth = walk(w.apps)
    found = list(differences(title, truth, seen))
    if truth == before:
        found.append("%s: nothing changed" % title)
    for path, look in kept.items():
        now = truth.get(path)
        if not isinstance(now, list) or len(look) == 1 or look[0] != now[0]:
            continue # it is gone, or another file has its name
        want = [now[0], now[2], now[-1].hex()]
        if look[:3] != want or (look[3] is not None and not now[-1].hex().startswith(look[3])):
            found.append("%s: %s, kept open\n   truth: %.300r\n    seen: %.300r" % (title, path, want, look))
    return found


def main(mnt, rounds, seed):
    w = World(mnt, seed)
    bad = []
    for _ in range(rounds):
        titles = list(CHANGES)
        w.random.shuffle(titles)
        for title in titles:
            w.count += 1
            bad += one_change(w, title, CHANGES[title])
    w.keeper.stdin.close()
    w.keeper.wait()
    if bad:
        sys.exit("seed %d: %d differences\n%s" % (seed, len(bad), "\n".join(bad[:25])))


if __name__ == "__main__":
    if sys.argv[1] == "--keeper":
        Keeper().serve()
    else:
        main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))

"""Names that are hard to spell, for tests/scenarios/11-names.bats.

usage: names.py scopes MNT | state SESSION | events SESSION | refused MNT

Spells ids and keys as file names (%XX), makes them, lists them, and compares
each way in which the mount shows them.
"""
import errno
import json
import os
import sys

HARD = [
    "a", "a\nb", "\n", "\t", "\x01\x1f", "\x7f", "%", "100%", "%2F", "%25", "%%", "a/b", "/", "//", ".", "..", "...",
    ".hidden", "..x", "./", "../..", "-rf", "--", "~", "*", "?[a]", "\\", "\\n", "'", '"', "$(x)", "`x`", " ",
    " lead", "trail ", "a b", "é", "e\u0301", "ß", "日本語", "🐝", "🐝" * 63 + "abc", "👩‍👩‍👧", "\u2028", "\ufeff",
    "\u202ertl", "\U0010ffff", "x.json", ".json", "json", "x" * 255, "/" * 85, "%" * 85, "a" * 252 + "%",
    "app", "app:x", "user:x", "temp:x", "foo:x", "con", "state", "input", "latest", "00", "0", "A", "\x1b[31m",
]


def encode(text):
    whole_dots = text in (".", "..")
    return b"".join(
        b"%%%02X" % c if c in b"%/\0" or (whole_dots and c == 0x2E) else bytes([c]) for c in text.encode())


def decode(name):
    out = bytearray()
    at = 0
    while at < len(name):
        if name[at] == 0x25:
            out.append(int(name[at + 1:at + 3], 16))
            at += 3
        else:
            out.append(name[at])
            at += 1
    return out.decode()


def fails(code, what, *args):
    try:
        what(*args)
    except OSError as e:
        assert e.errno == code, (errno.errorcode[e.errno], args)
        return
    raise AssertionError("%s%r worked" % (what.__name__, args))


def same(want, got):
    assert want == got, "\n want: %r\n  got: %r" % (want, got)


def listed(folder):
    return sorted(os.listdir(folder))


def scopes(mnt):
    """Apps, users and sessions of all names, then gone again."""
    apps = os.fsencode(mnt) + b"/apps"
    before = listed(apps)
    names = [encode(i) for i in HARD]
    same(len(names), len(set(names)))
    for i, name in zip(HARD, names):
        same(i, decode(name))
        os.makedirs(apps + b"/" + name + b"/users/" + name + b"/sessions/" + name)
    for i, name in zip(HARD, names):
        user = apps + b"/" + name + b"/users/" + name
        session = user + b"/sessions/" + name
        same([name], os.listdir(user + b"/sessions"))
        whole = json.load(open(session + b"/session.json"))
        same([i, i, i], [whole["id"], whole["appName"], whole["userId"]])
        fails(errno.EEXIST, os.mkdir, session)
        fails(errno.ENOTEMPTY, os.rmdir, user)
    same(sorted(set(names) | set(before)), listed(apps))
    sessions = apps + b"/names/users/all/sessions"
    os.makedirs(os.path.dirname(sessions))
    for name in names:
        os.mkdir(sessions + b"/" + name)
    same(sorted(names), listed(sessions))
    same(sorted(HARD), sorted(json.load(open(sessions + b"/" + n + b"/session.json"))["id"] for n in names))
    for name in names:
        os.rmdir(sessions + b"/" + name)
        fails(errno.ENOENT, os.stat, sessions + b"/" + name)
    same([], listed(sessions))
    for name in names:
        user = apps + b"/" + name + b"/users/" + name
        os.rmdir(user + b"/sessions/" + name)
        os.rmdir(user)
        if name not in before:
            os.rmdir(apps + b"/" + name)


def append(session, event):
    with open(session + "/events.jsonl", "ab", 0) as f:
        return f.write(json.dumps(event, ensure_ascii=False).encode() + b"\n")


def delta(session, values):
    append(session, {"author": "user", "actions": {"stateDelta": values}})


def read_json(path):
    with open(path, "rb") as f:
        return json.load(f)


def keys():
    """Keys whose file name, with the longest prefix, is one."""
    return [k for k in HARD if len(encode("user:" + k)) + 5 <= 255 and not k.startswith(("app:", "user:", "temp:"))]


def state(session):
    """Keys of each scope: by a delta, seen in all places, removed by their names."""
    user = session + "/../.."
    app = user + "/../.."
    want = {}
    for n, key in enumerate(keys()):
        for prefix in ("", "app:", "user:"):
            want[prefix + key] = n
    want["app:user:x"] = want["user:app:x"] = want["foo:temp:x"] = -1
    delta(session, want)
    same(want, read_json(session + "/state.json"))
    same(want, read_json(session + "/session.json")["state"])
    folder = os.fsencode(session + "/state")
    same(sorted(encode(k) + b".json" for k in want), listed(folder))
    same(want, {decode(n[:-5]): read_json(folder + b"/" + n) for n in os.listdir(folder)})
    for key, value in want.items():
        name = folder + b"/" + encode(key) + b".json"
        same(key.startswith(("app:", "user:")), os.path.islink(name))
        with open(name, "wb") as f: # a link: where it leads
            f.write(b"%d" % (value + 1000))
        want[key] = value + 1000
    same(want, read_json(session + "/state.json"))
    for scope, prefix in ((app, "app:"), (user, "user:")):
        there = os.fsencode(scope + "/state")
        own = {k[len(prefix):]: v for k, v in want.items() if k.startswith(prefix)}
        same(own, read_json(scope + "/state.json"))
        same(sorted(encode(k) + b".json" for k in own), listed(there))
        for key in own:
            os.unlink(there + b"/" + encode(key) + b".json")
            fails(errno.ENOENT, os.lstat, folder + b"/" + encode(prefix + key) + b".json")
        same({}, read_json(scope + "/state.json"))
    own = [n for n in os.listdir(folder)]
    same(sorted(encode(k) + b".json" for k in want if not k.startswith(("app:", "user:"))), sorted(own))
    for name in own:
        os.unlink(folder + b"/" + name)
    same({}, read_json(session + "/state.json"))
    deleted = [json.loads(line)["customMetadata"]["adkfs.deleted"] for line in open(session + "/events.jsonl")
               if "adkfs.deleted" in line]
    same(sorted([decode(n[:-5])] for n in own), sorted(deleted))


def refused_keys(session):
    before = read_json(session + "/state.json")
    for key in ["", "app:", "user:", "temp:", "x" * 251, "/" * 84, "user:" + "x" * 246, "a\0b", "\0"]:
        fails(errno.EINVAL, delta, session, {"fine": 1, key: 1})
    same(before, read_json(session + "/state.json"))
    delta(session, {"x" * 250: 1, "user:" + "x" * 245: 2, "%" * 83: 3})
    same([1, 2, 3], [read_json(session + "/state/" + n + ".json") for n in ("x" * 250, "user:" + "x" * 245, "%25" * 83)])
    user = session + "/../../state/"
    fails(errno.EINVAL, open, user + "y" * 250 + ".json", "w")
    for name in ("a%00b", "%2f", "%", "a%", "%41", "..", ".", "x%2E"):
        for folder in (session + "/state/", user):
            fails(errno.EINVAL, open, folder + name + ".json", "w")
    fails(errno.EINVAL, open, os.fsencode(user) + b"\xff.json", "w")
    for name in ("temp:x", "app:", "user:"):
        fails(errno.EINVAL, open, session + "/state/" + name + ".json", "w")


def events(session):
    """Ids, authors and invocations of all names come back as they were."""
    for i in HARD:
        append(session, {"id": i, "author": i, "invocationId": i, "branch": i})
        fails(errno.EEXIST, append, session, {"id": i, "author": "again"})
    lines = [json.loads(line) for line in open(session + "/events.jsonl", "rb")]
    same([[i] * 4 for i in HARD], [[e["id"], e["author"], e["invocationId"], e["branch"]] for e in lines])
    for bad in ({"id": "x" * 256}, {"id": "a\0b"}, {"author": ""}, {"author": "a\0"}):
        fails(errno.EINVAL, append, session, dict({"author": "u"}, **bad))
    same(len(HARD), sum(1 for _ in open(session + "/events.jsonl", "rb")))


def refused(mnt):
    """What no id is spelled like, in each directory of ids."""
    user = os.fsencode(mnt) + b"/apps/names/users/u"
    os.makedirs(user + b"/sessions/s")
    for folder in (os.fsencode(mnt) + b"/apps", user + b"/..", user + b"/sessions"):
        there = os.listdir(folder)[0]
        before = listed(folder)
        for name in (b"\xff", b"a\xc3", b"\xed\xa0\x80", b"\xc0\xaf", b"%", b"a%", b"%2", b"%2f", b"%41", b"a%20b",
                     b"%FF", b"a%2E", b"%2E.", b"%00", b"x%00", there + b"%00", there + b"%00y"):
            fails(errno.EINVAL, os.mkdir, folder + b"/" + name)
            fails(errno.EINVAL, os.stat, folder + b"/" + name)
            fails(errno.EINVAL, os.rmdir, folder + b"/" + name)
        for name in (b"x" * 256, b"%2F" * 86):
            fails(errno.ENAMETOOLONG, os.mkdir, folder + b"/" + name)
        for name in (b"%2E", b"%2E%2E"):
            fails(errno.ENOENT, os.stat, folder + b"/" + name)
        same(before, listed(folder))
    for line in open(user + b"/.errors", "rb"):
        assert json.loads(line)["error"], line


if __name__ == "__main__":
    {"scopes": scopes, "state": state, "keys": refused_keys, "events": events,
     "refused": refused}[sys.argv[1]](sys.argv[2])

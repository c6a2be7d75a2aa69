"""Sessions with a bit of everything: directories_sessions.py MNT COUNT

Users u0 to u9 of the app echo; each tenth session has had a turn.
"""
import os
import sys

mnt, count = sys.argv[1], int(sys.argv[2])
for n in range(count):
    session = "%s/apps/echo/users/u%d/sessions/s%d" % (mnt, n % 10, n)
    os.makedirs(session)
    with open(session + "/events.jsonl", "a") as f:
        f.write('{"author":"user","content":{"role":"user","parts":[{"text":"needle %d"}]}}\n' % n)
    with open(session + "/state/topic.json", "w") as f:
        f.write('"topic %d"' % n)
    with open(session + "/artifacts/note.txt", "w") as f:
        f.write("note %d\n" % n * (n % 7))
    if n % 10 == 0:
        os.mkdir(session + "/artifacts/reports")
        with open(session + "/artifacts/reports/q1.bin", "wb") as f:
            f.write(bytes(range(256)) * 40)
        with open(session + "/input", "w") as f:
            f.write("say something\n")
        with open(session + "/wait") as f:
            f.read()
for n in range(10):
    with open("%s/apps/echo/users/u%d/state/name.json" % (mnt, n), "w") as f:
        f.write('"user %d"' % n)
    with open("%s/apps/echo/users/u%d/artifacts/avatar" % (mnt, n), "w") as f:
        f.write("face")
with open(mnt + "/apps/echo/state/limit.json", "w") as f:
    f.write("10")

"""less +F of a log, in a terminal: events_crowd_less.py FILE COMMAND

Follows FILE with less, runs COMMAND (which appends), waits for the text "last" to
come up on the screen, and quits as a person does: Ctrl-C, q.
"""
import os
import pty
import select
import subprocess
import sys
import time


def wait_for(fd, text, seconds):
    seen = b""
    end = time.monotonic() + seconds
    while text not in seen:
        ready, _, _ = select.select([fd], [], [], max(0, end - time.monotonic()))
        assert ready, "%r did not come up: %r" % (text, seen[-300:])
        seen += os.read(fd, 65536)


def main(path, command):
    pid, fd = pty.fork()
    if pid == 0:
        os.environ.update(TERM="xterm", LESS="-S", LESSHISTFILE="-")
        os.execvp("less", ["less", "+F", path])
    wait_for(fd, b"Waiting for data", 20)
    subprocess.run(["bash", "-c", command], check=True)
    wait_for(fd, b"last", 20)
    os.write(fd, b"\x03")
    os.write(fd, b"q")
    end = time.monotonic() + 20
    while True:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            break
        assert time.monotonic() < end, "less does not end"
        if select.select([fd], [], [], 0.1)[0]:
            try:
                os.read(fd, 65536)
            except OSError:
                pass
        else:
            os.write(fd, b"q")
    assert os.waitstatus_to_exitcode(status) == 0, status


if __name__ == "__main__":
    main(*sys.argv[1:])

"""System calls, for tests in Python: what must work, what must be refused, and with which errno."""
import contextlib
import ctypes
import errno
import fcntl
import mmap
import os
from os import *  # noqa: F403: the tests read like C
from os import _exit as leave  # noqa: F401: of a child, without its cleanups

libc = ctypes.CDLL(None, use_errno=True)

RENAME_NOREPLACE = 1
RENAME_EXCHANGE = 2
FALLOC_KEEP_SIZE = 1
FALLOC_PUNCH_HOLE = 2
AT_FDCWD = -100

# Whether this is a mount of adkfs: what its contract refuses is looked for only there.
ADKFS = environ.get("ARTIFACTS_DIR") is None


def call(name, *args):
    """A function of libc that Python does not have."""
    if getattr(libc, name)(*args) < 0:
        code = ctypes.get_errno()
        raise OSError(code, strerror(code), name)


def renameat2(old, new, flags):
    call("renameat2", AT_FDCWD, fsencode(old), AT_FDCWD, fsencode(new), flags)


def fallocate(fd, mode, offset, size):
    call("fallocate", fd, mode, ctypes.c_long(offset), ctypes.c_long(size))


def refused(codes, function, *args, **more):
    """It fails with this errno, or one of these."""
    codes = codes if isinstance(codes, tuple) else (codes,)
    names = "/".join(errno.errorcode[c] for c in codes)
    try:
        function(*args, **more)
    except OSError as e:
        text = f"{function.__name__}{args}: {errno.errorcode[e.errno]}, must be {names}"
        assert e.errno in codes, text
        return
    raise AssertionError(f"{function.__name__}{args}: succeeded, must be {names}")


@contextlib.contextmanager
def opened(name, flags=O_RDONLY, mode=0o644):
    fd = open(name, flags, mode)
    try:
        yield fd
    finally:
        close(fd)


def put(name, data, flags=O_WRONLY | O_CREAT | O_TRUNC, mode=0o644):
    with opened(name, flags, mode) as fd:
        assert write(fd, data) == len(data)


def get(name):
    with opened(name) as fd:
        return pread(fd, 1 << 26, 0)


def same(want, got, what=""):
    assert want == got, f"{what} expected: {want!r}, got: {got!r}"


def times(name):
    """When its bytes and when it itself changed, in ns."""
    st = lstat(name)
    return st.st_mtime_ns, st.st_ctime_ns


@contextlib.contextmanager
def changes(which, *names):
    """Within this the times do, or do not, move on: "mc", "c", or "" for none."""
    before = [times(name) for name in names]
    yield
    for name, old in zip(names, before):
        new = times(name)
        for kind, was, now in zip("mc", old, new):
            text = f"{kind}time of {name}: was {was}, is {now}"
            assert (now > was) if kind in which else (now == was), text

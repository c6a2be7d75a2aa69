#!/usr/bin/env python3
"""Compare the names in a mount with those that the manual page lists.

    90-manual.py PAGE MOUNT

Every name found in the mount has to be listed with `.It Pa` in the section of
its directory, or be mentioned with its path (`.Pa turns/latest`); every name
that is listed has to be in the mount. Ids, keys and file names of users count
as `*`, and so does `.Ar` in the page. Prints what is missing, a line each.
"""

import fnmatch
import os
import re
import sys

# The directories that are tables, by the glob of where they are; the section of each.
SECTIONS = {
    "": "THE ROOT",
    "apps/*": "AN APP",
    "apps/*/users/*": "A USER",
    "apps/*/users/*/sessions/*": "A SESSION",
    "apps/*/users/*/sessions/*/turns/[0-9]*": "TURNS",
    "apps/*/users/*/sessions/*/turns/[0-9]*/context/*": "CONTEXTS",
}
# Directories whose members are named by users: described, not listed.
OF_USERS = ("state", "artifacts", "attachments")
# Directories of objects: a member is a table of its own, or may be written as `*`.
OBJECTS = ("apps", "users", "sessions", "turns", "calls", "context")
VERSIONS = ".versions"


def words_of(line):
    """The names of a macro line: text after Pa is literal, after Ar it is `*`."""
    names, macro, glue = [], None, False
    for word in line.split():
        if re.fullmatch(r"[A-Z][a-z]", word):
            if word == "Ns":
                glue = True
            else:
                macro = word
            continue
        if word in (",", ";", ".", ")", "("):
            continue
        text = {"Pa": word.replace("\\&", ""), "Ar": "*"}.get(macro)
        if text is None:
            glue = False
            continue
        if glue and names:
            names[-1] += text
        else:
            names.append(text)
        glue = False
    return [name.rstrip("/") for name in names if set(name) - {"*"}]


def read_page(path):
    """Listed names by section, and every name that is mentioned."""
    listed, mentioned, section = {}, set(), ""
    with open(path, encoding="utf-8") as page:
        for line in page:
            if line.startswith(".Sh "):
                section = line[4:].strip()
            elif line.startswith(".It ") and "Pa " in line:
                listed.setdefault(section, []).extend(words_of(line[4:]))
            elif line.startswith(".Pa ") or line.startswith(".Ql "):
                mentioned.update(words_of(line[1:]))
    return listed, mentioned


def walk(mount, path=""):
    """Every path below, relative; also what is there without being listed."""
    names = sorted(os.listdir(os.path.join(mount, path)))
    if os.path.isdir(os.path.join(mount, path, VERSIONS)):
        names.append(VERSIONS)
    for name in names:
        below = os.path.join(path, name)
        yield below
        full = os.path.join(mount, below)
        if os.path.isdir(full) and not os.path.islink(full):
            yield from walk(mount, below)


def matches(path, pattern):
    """As fnmatch, a component at a time."""
    parts, globs = path.split("/"), pattern.split("/") if pattern else []
    return len(parts) == len(globs) and all(map(fnmatch.fnmatchcase, parts, globs))


def table_of(path):
    """The table that a path is in: its section, and the path from there."""
    parts = path.split("/")
    for n in range(len(parts) - 1, -1, -1):
        for glob, section in SECTIONS.items():
            above = "/".join(parts[:n])
            if (n == 0 and not glob) or (n and matches(above, glob)):
                return section, "/".join(parts[n:])
    raise AssertionError(path)


def is_listed(path, listed, mentioned):
    section, rest = table_of(path)
    own = listed.get(section, [])
    parts = rest.split("/")
    if VERSIONS in parts:
        if not re.fullmatch(r"\d+(\.json)?", parts[-1]):
            return True  # a name of users
        return any(matches(f"{VERSIONS}/*/{parts[-1]}", item) and
                   item.endswith(".json") == rest.endswith(".json")
                   for items in listed.values() for item in items)
    if any(part in OF_USERS for part in parts[:-1]):
        return True
    if any(item.startswith(rest + "/") for item in own):  # such as .adkfs: its files are listed
        return True
    if any(matches(rest, item) for item in own + [item for item in mentioned if "/" in item]):
        return True
    if len(parts) > 1 and parts[-2] in OBJECTS:  # a member; turns/latest is none
        return parts[-2] != "turns" or parts[-1].isdigit()
    # What a member has that is no table of its own, such as calls/ID/tool.
    return len(parts) > 2 and parts[-3] in OBJECTS and parts[-1] in own


def is_there(item, section, paths):
    """Whether a listed name is in the mount, in a directory that the section is about."""
    for path in paths:
        where, rest = table_of(path)
        tail = "/".join(rest.split("/")[-len(item.split("/")):])
        if where == section and (matches(rest, item) or
                                 (rest.split("/")[0] in OBJECTS and matches(tail, item))):
            return True
        if section not in SECTIONS.values() and matches(tail, item):
            return True
    return False


def main():
    page, mount = sys.argv[1:]
    listed, mentioned = read_page(page)
    paths = list(walk(mount))
    missing = 0
    for path in paths:
        if not is_listed(path, listed, mentioned):
            print(f"not in the manual: {path} (section {table_of(path)[0]})")
            missing += 1
    for section, items in listed.items():
        for item in items:
            if not is_there(item, section, paths):
                print(f"not in the mount: {item} (section {section})")
                missing += 1
    print(f"{len(paths)} names, {sum(map(len, listed.values()))} listed")
    return missing > 0


if __name__ == "__main__":
    sys.exit(main())

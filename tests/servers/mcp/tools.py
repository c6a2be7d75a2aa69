"""The tools of both test servers.

A tool is a function of (conn, message, raw). It returns a result, or None when
it has answered by itself. conn has send(object), write(bytes) for invalid
messages, ask(method) for requests to the client, and `state`.
"""

import json
import os
import subprocess
import sys
import time
import uuid

LIFE = str(uuid.uuid4())  # pids may be those of a sandbox
SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}}
LEGACY = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"]
MODERN = "2026-07-28"


class State:
    """The memory of a server, for all its conversations."""

    def __init__(self):
        self.seen = []  # methods that arrived, with the ids of what was cancelled
        self.extra = []  # names of tools that came later
        self.calls = 0


def text(value):
    return {"content": [{"type": "text", "text": value}]}


def answer(message, result):
    return {"jsonrpc": "2.0", "id": message["id"], "result": result}


def refusal(message, code, reason, data=None):
    error = {"code": code, "message": reason}
    if data is not None:
        error["data"] = data
    return {"jsonrpc": "2.0", "id": message["id"], "error": error}


def args_of(message):
    return message["params"].get("arguments", {})


def echo(conn, message, raw):
    return {
        "content": [{"type": "text", "text": json.dumps(args_of(message))}],
        "structuredContent": args_of(message),
        "_meta": {"private": 1},
    }


def raw_args(conn, message, raw):
    """Answer with the arguments as they were written."""
    start = raw.index('"arguments":') + len('"arguments":')
    _, end = json.JSONDecoder().raw_decode(raw, start)
    body = raw[start:end]
    conn.write(
        '{"result":{"content":[],"structuredContent":%s},"jsonrpc":"2.0","id":%d}\n' % (body, message["id"])
    )


def slow(conn, message, raw):
    time.sleep(args_of(message).get("ms", 300) / 1000)
    return text("slept")


def hang(conn, message, raw):
    time.sleep(3600)


def die(conn, message, raw):
    print("boom: the server dies", file=sys.stderr, flush=True)
    os._exit(3)


def big(conn, message, raw):
    return text("x" * args_of(message)["n"])


def fail(conn, message, raw):
    return {**text("no such room"), "isError": True}


def refuse(conn, message, raw):
    conn.send(refusal(message, -32602, "Unknown tool: refuse"))


def empty(conn, message, raw):
    return {"content": []}


def env(conn, message, raw):
    return {"content": [], "structuredContent": dict(os.environ)}


def where(conn, message, raw):
    return {"content": [], "structuredContent": {"cwd": os.getcwd(), "pid": os.getpid(), "argv": sys.argv[1:],
                                                 "life": LIFE}}


def shell(conn, message, raw):
    """Return the output of a command."""
    done = subprocess.run(args_of(message)["command"], shell=True, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    return {"content": [], "structuredContent": {"text": (done.stdout + done.stderr).strip()}}


def seen(conn, message, raw):
    return {"content": [], "structuredContent": {"seen": conn.state.seen}}


def count(conn, message, raw):
    conn.state.calls += 1
    return text(str(conn.state.calls))


def noise(conn, message, raw):
    conn.write("this is not JSON\n\n[1,2]\n{\"level\":\"info\",\"id\":%d}\n" % message["id"])
    conn.write('{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"x"}}\n')
    conn.write('{"jsonrpc":"2.0","method":"notifications/never/heard/of"}\n')
    conn.write('{"jsonrpc":"2.0","id":999999,"result":{"content":[]}}\n')
    conn.write('{"jsonrpc":"2.0","id":"%d","result":{"content":[]}}\n' % message["id"])
    conn.write('{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"what?"}}\n')
    return text("quiet again")


def twice(conn, message, raw):
    conn.send(answer(message, text("first")))
    return text("second")


def broken(conn, message, raw):
    """Answer with invalid JSON that still shows the id."""
    conn.write('{"jsonrpc":"2.0","id":%d,"result":{"content":[}}\n' % message["id"])


def scalar(conn, message, raw):
    conn.write('{"jsonrpc":"2.0","id":%d,"result":42}\n' % message["id"])


def neither(conn, message, raw):
    """Answer with JSON that has the right id (or `as`), but no result and no error."""
    conn.write(args_of(message).get("as", '{"jsonrpc":"2.0","id":%d}' % message["id"]) + "\n")


def deep(conn, message, raw):
    n = args_of(message).get("n", 1000)
    conn.write('{"result":%s%s,"jsonrpc":"2.0","id":%d}\n' % ('{"a":' * n, "1" + "}" * n, message["id"]))


def latin(conn, message, raw):
    conn.write(b'{"jsonrpc":"2.0","id":%d,"result":{"content":[{"type":"text","text":"caf\xe9 \\ud83d"}]}}\n' % message["id"])


def change(conn, message, raw):
    conn.state.extra.append("late%d" % len(conn.state.extra))
    conn.send({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
    return text("changed")


def change_quietly(conn, message, raw):
    conn.state.extra.append("late%d" % len(conn.state.extra))
    return text("changed")


def ask(conn, message, raw):
    """Send requests to the client, with ids that the client uses, too."""
    ping = conn.ask("ping", message["id"])
    roots = conn.ask("roots/list", "r-1")
    return {"content": [], "structuredContent": {"ping": ping, "roots": roots}}


def progress(conn, message, raw):
    token = message["params"]["_meta"]["progressToken"]
    for i in range(args_of(message)["n"]):
        time.sleep(args_of(message).get("ms", 200) / 1000)
        conn.send({"jsonrpc": "2.0", "method": "notifications/progress",
                   "params": {"progressToken": token, "progress": i}})
    return text("done")


def stderr(conn, message, raw):
    for i in range(args_of(message)["n"]):
        sys.stderr.write("line %d %s\n" % (i, "." * 80))
    sys.stderr.flush()
    return text("said")


def state(conn, message, raw):
    """Ask to be called again n times."""
    round_ = int(message["params"].get("requestState", "0"))
    if round_ < args_of(message)["n"]:
        return {"resultType": "input_required", "requestState": str(round_ + 1)}
    return text("after %d" % round_)


def wants_input(conn, message, raw):
    return {"resultType": "input_required", "inputRequests": {"a": {"method": "elicitation/create"}}}


def close_out(conn, message, raw):
    """Close standard output and go on."""
    os.close(1)
    time.sleep(3600)


TOOLS = {
    f.__name__: f
    for f in (echo, raw_args, shell, slow, hang, die, big, fail, refuse, empty, env, where, seen, count, noise, twice,
              broken, scalar, neither, deep, latin, change, change_quietly, ask, progress, stderr, state, wants_input,
              close_out)
}

ODD = [
    {"name": "rooms.find all", "description": "an odd name", "inputSchema": {"type": "object"}},
    {"name": "x" * 80, "inputSchema": {"type": "object"}},
    {"name": "rooms_find_all", "inputSchema": {"type": "object"}},
    {"name": "no_schema"},
    {"name": "no_object", "inputSchema": {"type": "string"}},
    {"name": "not_only_object", "inputSchema": {"type": ["object", "null"]}},
    {"name": "bad_properties", "inputSchema": {"type": "object", "properties": []}},
    {"name": "no_type", "inputSchema": {}},
    {"name": "no_type_either", "inputSchema": {"properties": {"a": {"type": "string"}}}},
    {"inputSchema": {"type": "object"}},
    {"name": "echo", "inputSchema": {"type": "object"}},
]


def descriptions(state_):
    names = list(TOOLS) + state_.extra
    return [{"name": n, "description": "does " + n, "inputSchema": SCHEMA} for n in names]


def call(conn, message, raw):
    name = message["params"]["name"]
    if name not in TOOLS:
        conn.send(refusal(message, -32602, "Unknown tool: " + name))
        return
    result = TOOLS[name](conn, message, raw)
    if result is not None:
        if conn.modern:
            result.setdefault("resultType", "complete")
        conn.send(answer(message, result))

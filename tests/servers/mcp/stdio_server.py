#!/usr/bin/env python3
"""An MCP server on standard input and output, for tests.

    stdio_server.py [MODE ...]

    legacy      (the default) wants to be initialized; does not know server/discover
    silent      legacy, but does not answer requests that it does not know
    touchy      legacy, but ends when another request comes first
    old         legacy, and speaks only 2024-11-05
    ancient     speaks a version that nobody knows
    modern      2026-07-28, and refuses to be initialized
    late        answers nothing until it has received a second message, then is modern
    refuse      modern, but only with versions that nobody knows
    paged       lists one tool in each page; the second cursor is ""
    endless     lists pages without end; `loops`: repeats one page
    bulky       lists large pages without end; `bare`: many tools have no schema
    odd         lists tools that cannot be offered, too
    changed     says that the list changed before its first answer to tools/list
    stubborn    ends neither when its input is closed nor on TERM
    dead        ends at once with status 7
    babble      prints other lines before it starts
    listless    does not answer tools/list
"""

import itertools
import json
import signal
import sys
import threading
import time

sys.dont_write_bytecode = True
import tools  # noqa: E402

MODES = sys.argv[1:]
OUT = threading.Lock()


class Conversation:
    def __init__(self):
        self.state = tools.State()
        self.modern = bool({"modern", "late", "refuse"} & set(MODES))
        self.answers = {}
        self.answered = threading.Condition()
        self.listed = False

    def write(self, data):
        data = data.encode() if isinstance(data, str) else data
        with OUT:
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()

    def send(self, message):
        self.write(json.dumps(message) + "\n")

    def ask(self, method, number):
        self.send({"jsonrpc": "2.0", "id": number, "method": method})
        with self.answered:
            if not self.answered.wait_for(lambda: repr(number) in self.answers, 10):
                return "no answer"
            return self.answers.pop(repr(number))

    def take_answer(self, message):
        with self.answered:
            self.answers[repr(message["id"])] = message.get("result", message.get("error", {}).get("code"))
            self.answered.notify_all()

    def page(self, message):
        everything = tools.descriptions(self.state) + (tools.ODD if "odd" in MODES else [])
        cursor = message["params"].get("cursor")
        if "endless" in MODES:
            n = int(cursor or 0)
            return {"tools": [{"name": "t%d" % n, "inputSchema": tools.SCHEMA}], "nextCursor": str(n + 1)}
        if "bulky" in MODES:
            n = int(cursor or 0)
            return {"tools": [{"name": "t%d" % n, "inputSchema": tools.SCHEMA}], "nextCursor": str(n + 1),
                    "x": "x" * 6000000}
        if "bare" in MODES:
            return {"tools": everything + [{"name": "bare%d" % n} for n in range(900)]}
        if "loops" in MODES:
            return {"tools": everything if cursor is None else [], "nextCursor": "again"}
        if "paged" in MODES:
            n = 0 if cursor is None else int(cursor or 1)
            more = {} if n + 1 == len(everything) else {"nextCursor": str(n + 1) if n else ""}
            return {"tools": everything[n:n + 1], **more}
        return {"tools": everything}

    def list(self, message):
        if "listless" in MODES:
            return
        if "changed" in MODES and not self.listed:
            self.send({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
        self.listed = True
        result = self.page(message)
        if self.modern:
            result.update(resultType="complete", ttlMs=3600000, cacheScope="private")
        self.send(tools.answer(message, result))

    def initialize(self, message):
        if self.modern:
            self.send(tools.refusal(message, -32022, "Unsupported protocol version",
                                    {"supported": [tools.MODERN], "requested": "2025-11-25"}))
            return
        version = message["params"]["protocolVersion"]
        if "old" in MODES:
            version = "2024-11-05"
        if "ancient" in MODES:
            version = "1999-01-01"
        self.send(tools.answer(message, {"protocolVersion": version, "capabilities": {"tools": {}},
                                         "serverInfo": {"name": "test", "version": "1"}}))

    def discover(self, message):
        if "refuse" in MODES:
            self.send(tools.refusal(message, -32022, "Unsupported protocol version",
                                    {"supported": ["2031-01-01"], "requested": tools.MODERN}))
            return
        self.send(tools.answer(message, {"resultType": "complete", "supportedVersions": [tools.MODERN],
                                         "capabilities": {"tools": {"listChanged": True}}}))

    def request(self, message, raw):
        method = message["method"]
        if self.modern and "io.modelcontextprotocol/protocolVersion" not in message["params"].get("_meta", {}):
            if method != "initialize":
                self.send(tools.refusal(message, -32602, "_meta is missing"))
                return
        if method == "initialize":
            self.initialize(message)
        elif method == "server/discover" and self.modern:
            self.discover(message)
        elif method == "tools/list":
            self.list(message)
        elif method == "tools/call":
            threading.Thread(target=tools.call, args=(self, message, raw), daemon=True).start()
        elif method == "subscriptions/listen" and self.modern:
            self.send({"jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged"})
        elif "silent" not in MODES:
            self.send(tools.refusal(message, -32601, "Method not found"))

    def take(self, raw):
        message = json.loads(raw)
        if "method" not in message:
            self.take_answer(message)
            return
        note = message["method"]
        if "touchy" in MODES and note != "initialize" and not self.state.seen:
            print("expected initialize", file=sys.stderr)
            sys.exit(1)
        if note == "notifications/cancelled":
            note += " %d" % message["params"]["requestId"]
        if note == "tools/call":
            note += " " + message["params"]["name"]
        self.state.seen.append(note)
        if "id" in message:
            self.request(message, raw)


def main():
    if "dead" in MODES:
        print("cannot find my rooms", file=sys.stderr)
        sys.exit(7)
    if "stubborn" in MODES:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    conversation = Conversation()
    if "babble" in MODES:
        conversation.write("Welcome to the test server!\n{}\n")
    early = [sys.stdin.buffer.readline() for _ in range(2)] if "late" in MODES else []
    for line in itertools.chain(early, sys.stdin.buffer):
        conversation.take(line.decode())
    while "stubborn" in MODES:
        time.sleep(1)


main()

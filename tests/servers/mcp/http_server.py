#!/usr/bin/env python3
"""An MCP server on a port of the loopback interface, for tests.

    http_server.py          the first line on standard output is the port

The path says how the server behaves; text after a second slash keeps
conversations apart.

    /json       legacy, sessions, answers as JSON
    /sse        legacy, sessions, answers as event streams that open with an empty event
    /plain      legacy, no sessions
    /resume     as /sse; each stream breaks off, the rest comes for a GET
    /modern     2026-07-28, answers as JSON
    /events     2026-07-28, answers as event streams
    /locked     as /json, for `Authorization: Bearer open sesame` only
    /old        405 to every POST
    /html       a page
    /broken     500
    /odd        500, with a result
    /moved      307
    /mute       accepts, and says nothing
    /slow       as /json, 6 seconds later
    /cut        as /sse; each stream ends before the answer
    /push       as /json, and reports changes on the stream that a GET opens
    /listen     as /modern, and reports changes to clients that sent subscriptions/listen
    /deaf       says that it reports changes, and answers 405 to a GET
    /stuck      as /deaf, but does not answer a GET

Tools besides those of tools.py: `headers` returns the headers of the call,
`forget` makes the server forget all sessions, `hang_up` ends the streams that
report changes.
"""

import base64
import http.server
import json
import queue
import select
import sys
import threading
import time
import uuid

sys.dont_write_bytecode = True
import tools  # noqa: E402

MARKED = {
    "type": "object",
    "properties": {
        "region": {"type": "string", "x-mcp-header": "Region"},
        "level": {"type": "integer", "x-mcp-header": "Level"},
        "dry": {"type": "boolean", "x-mcp-header": "Dry"},
        "deep": {"type": "object", "properties": {"down": {"type": "string", "x-mcp-header": "Down"}}},
        "x-mcp-header": {"type": "string"},
    },
}
MORE = [
    {"name": "headers", "inputSchema": MARKED},
    {"name": "forget", "inputSchema": {"type": "object"}},
    {"name": "hang_up", "inputSchema": {"type": "object"}},
    {"name": "bad_twice", "inputSchema": {"type": "object", "properties": {
        "a": {"type": "string", "x-mcp-header": "Same"}, "b": {"type": "string", "x-mcp-header": "same"}}}},
    {"name": "bad_name", "inputSchema": {"type": "object", "properties": {
        "a": {"type": "string", "x-mcp-header": "a b"}}}},
    {"name": "bad_type", "inputSchema": {"type": "object", "properties": {
        "a": {"type": "number", "x-mcp-header": "A"}}}},
    {"name": "bad_place", "inputSchema": {"type": "object", "properties": {
        "a": {"type": "array", "items": {"type": "string", "x-mcp-header": "A"}}}}},
]


class Place:
    """One path: its sessions and the messages it received."""

    def __init__(self):
        self.state = tools.State()
        self.sessions = set()
        self.answers = {}
        self.answered = threading.Condition()
        self.rest = {}  # event id -> what was not sent
        self.listeners = []  # queues of lines; None is the end


PLACES = {}
PLACES_LOCK = threading.Lock()


class Conversation:
    """One POST: the `conn` of tools.py."""

    def __init__(self, handler, place, modern, stream):
        self.handler = handler
        self.place = place
        self.state = place.state
        self.modern = modern
        self.stream = stream
        self.written = []
        self.events = 0

    def write(self, data):
        data = data.encode() if isinstance(data, str) else data
        for line in data.split(b"\n"):
            if not line:
                continue
            if self.stream:
                self.handler.event(line)
            else:
                self.written.append(line)

    def send(self, message):
        if "result" in message or "error" in message or not self.place.listeners:
            self.write(json.dumps(message))
            return
        for listener in self.place.listeners:
            listener.put(json.dumps(message).encode())

    def ask(self, method, number):
        if not self.stream and not self.place.listeners:
            return "no stream"
        self.send({"jsonrpc": "2.0", "id": number, "method": method})
        with self.place.answered:
            key = repr(number)
            if not self.place.answered.wait_for(lambda: key in self.place.answers, 10):
                return "no answer"
            return self.place.answers.pop(key)


def decoded(value):
    if value and value.startswith("=?base64?"):
        return base64.b64decode(value[9:-2]).decode()
    return value


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    @property
    def kind(self):
        return self.path.split("/")[1]

    def place(self):
        with PLACES_LOCK:
            return PLACES.setdefault(self.path, Place())

    def reply(self, status, body=b"", content_type="application/json", headers=()):
        self.send_response(status)
        if body:
            self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def start_stream(self, headers=()):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream; charset=utf-8")
        self.send_header("Connection", "close")
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        self.close_connection = True

    def event(self, line):
        self.wfile.write(b"event: message\r\ndata: " + line + b"\r\n\r\n")
        self.wfile.flush()

    def do_DELETE(self):
        place = self.place()
        place.state.seen.append("DELETE")
        place.sessions.discard(self.headers.get("Mcp-Session-Id"))
        self.reply(200)

    def do_GET(self):
        place = self.place()
        place.state.seen.append("GET")
        rest = place.rest.pop(self.headers.get("Last-Event-ID"), None)
        if self.kind == "stuck":
            time.sleep(3600)
        if self.kind == "push":
            self.tell(place)
            return
        if rest is None:
            self.reply(405)
            return
        if self.kind == "resume" and len(rest) > 1:
            self.break_off(place, rest[1:])  # in more than one piece
            return
        self.start_stream()
        for line in rest:
            self.event(line)

    def tell(self, place, first=()):
        """Send reports until the client leaves or the stream is ended."""
        lines = queue.Queue()
        self.start_stream()
        for line in first:
            self.event(line)
        place.listeners.append(lines)
        place.state.seen.append("listener")
        while not select.select([self.connection], [], [], 0)[0]:
            try:
                line = lines.get(timeout=0.02)
            except queue.Empty:
                continue
            if line is None:
                break
            self.event(line)
        place.listeners.remove(lines)
        place.state.seen.append("no listener")

    def break_off(self, place, lines, headers=()):
        key = str(uuid.uuid4())
        place.rest[key] = lines
        self.start_stream(headers)
        self.wfile.write(("retry: 30\nid: %s\ndata:\n\n" % key).encode())

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        kind = self.kind
        if kind == "locked" and self.headers.get("Authorization") != "Bearer open sesame":
            self.reply(401, b"who are you? " + self.headers.get("Authorization", "").encode(), "text/plain")
        elif kind == "old":
            self.reply(405)
        elif kind == "html":
            self.reply(200, b"<html>Welcome</html>", "text/html")
        elif kind == "broken":
            self.reply(500, b"out of rooms", "text/plain")
        elif kind == "odd":
            self.reply(500, b'{"result":{}}')
        elif kind == "moved":
            self.reply(307, headers=[("Location", "/json")])
        elif kind == "mute":
            time.sleep(3600)
        else:
            if kind == "slow":
                time.sleep(6)
            self.take(json.loads(body), body.decode())

    def take(self, message, raw):
        place = self.place()
        modern = self.kind in ("modern", "events", "listen")
        if "method" not in message:
            with place.answered:
                place.answers[repr(message["id"])] = message.get("result", message.get("error", {}).get("code"))
                place.answered.notify_all()
            self.reply(202)
            return
        name = message.get("params", {}).get("name", "")
        place.state.seen.append((message["method"] + " " + name).strip())
        if modern:
            self.modern(place, message, raw)
        else:
            self.legacy(place, message, raw)

    def capabilities(self):
        return {"tools": {"listChanged": True} if self.kind in ("push", "listen", "deaf", "stuck") else {}}

    def legacy(self, place, message, raw):
        has_sessions = self.kind != "plain"
        session = self.headers.get("Mcp-Session-Id")
        if message["method"] == "initialize":
            headers = []
            if has_sessions:
                place.sessions.add(str(uuid.uuid4()))
                headers = [("MCP-Session-Id", list(place.sessions)[-1])]
            result = {"protocolVersion": "2025-06-18", "capabilities": self.capabilities()}
            self.finish_with(place, message, result, headers)
        elif has_sessions and session is None:
            self.reply(400, b'{"error":"no session"}')
        elif has_sessions and session not in place.sessions:
            self.reply(404, b'{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"Session not found"}}')
        elif self.headers.get("MCP-Protocol-Version") != "2025-06-18" and message["method"] != "server/discover":
            self.reply(400, b"which version?", "text/plain")
        elif "id" not in message:
            self.reply(202)
        else:
            self.answer(place, message, raw, False)

    def modern(self, place, message, raw):
        params = message["params"]
        version = self.headers.get("MCP-Protocol-Version")
        refusal = None
        if version != params["_meta"]["io.modelcontextprotocol/protocolVersion"]:
            refusal = "versions differ"
        if self.headers.get("Mcp-Method") != message["method"]:
            refusal = "methods differ"
        if decoded(self.headers.get("Mcp-Name")) != params.get("name"):
            refusal = "names differ"
        if "Mcp-Session-Id" in self.headers:
            refusal = "there are no sessions"
        if refusal:
            self.reply(400, json.dumps(tools.refusal(message, -32020, refusal)).encode())
        elif version != tools.MODERN:
            self.reply(400, json.dumps(tools.refusal(message, -32022, "?", {"supported": [tools.MODERN]})).encode())
        else:
            self.answer(place, message, raw, True)

    def finish_with(self, place, message, result, headers=()):
        line = json.dumps(tools.answer(message, result)).encode()
        if self.kind == "resume":
            self.break_off(place, [b"", line], headers)
        elif self.kind in ("sse", "events"):
            self.start_stream(headers)
            self.event(line)
        else:
            self.reply(200, line, headers=headers)

    def answer(self, place, message, raw, modern):
        method = message["method"]
        if method == "server/discover" and modern:
            self.finish_with(place, message, {"resultType": "complete", "supportedVersions": [tools.MODERN],
                                              "capabilities": self.capabilities()})
        elif method == "subscriptions/listen" and self.kind == "listen":
            wanted = message["params"]["notifications"]
            self.tell(place, [json.dumps({"jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged", "params": {
                "_meta": {"io.modelcontextprotocol/subscriptionId": message["id"]}, "notifications": wanted}}).encode()])
        elif method == "tools/list":
            result = {"tools": tools.descriptions(place.state) + MORE}
            if modern:
                result.update(resultType="complete", ttlMs=3600000 if self.kind == "listen" else 0, cacheScope="private")
            self.finish_with(place, message, result)
        elif method == "tools/call":
            self.call(place, message, raw, modern)
        else:
            self.reply(400 if not modern else 404,
                       json.dumps(tools.refusal(message, -32601, "Method not found")).encode())

    def call(self, place, message, raw, modern):
        name = message["params"]["name"]
        if name == "headers":
            sent = {k.lower(): v for k, v in self.headers.items()}
            self.finish_with(place, message, {"content": [], "structuredContent": sent})
            return
        if name == "forget":
            place.sessions.clear()
            self.finish_with(place, message, {"content": []})
            return
        if name == "hang_up":
            for listener in place.listeners:
                listener.put(None)
            self.finish_with(place, message, {"content": []})
            return
        if self.kind == "cut":
            self.start_stream()
            self.event(b'{"jsonrpc":"2.0","method":"notifications/message","params":{}}')
            return
        stream = self.kind in ("sse", "events")
        conversation = Conversation(self, place, modern, stream)
        if stream:
            self.start_stream()
            if not modern:
                self.wfile.write(b": hello\nid: e-0\ndata:\n\n")
        try:
            tools.call(conversation, message, raw)
        except OSError:
            place.state.seen.append("closed " + name)
            return
        if stream:
            return
        if self.kind == "resume":
            self.break_off(place, [b""] + conversation.written[-1:])
        else:
            self.reply(200, conversation.written[-1])


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, *args):
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(*args)


def main():
    server = Server(("127.0.0.1", 0), Handler)
    print(server.server_address[1], flush=True)
    server.serve_forever()


main()

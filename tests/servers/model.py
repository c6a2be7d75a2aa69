#!/usr/bin/env python3
"""A model service on the loopback interface, scripted by a file.

    model.py [--port N] [--port-file FILE] [--save DIR] SCENARIO.json

Speaks OpenAI chat completions and, at the paths of other services, as those do
(tests/servers/dialects): whoever asks gets the answers of the scenario in their order,
whatever the question; the last one repeats. The first line on
standard output is the port number (--port 0, the default, takes a free one).
--save stores each request as DIR/N.json and its head as DIR/N.head, N from 1,
before it is answered.

SCENARIO.json is a list of answers. What an answer says, one of:

    "text": "..."           a streamed answer, word by word
    "calls": [{"name": "f", "args": {...}, "id": "c1"}]
                            streamed tool calls; may stand beside text
    "chunks": ["...", ...]  the bytes of the body, piece by piece
    "body": "..."           the bytes of the body; an object is written as JSON
    "echo_key": true        an error body that repeats the Authorization header

and how it arrives, all optional:

    "status": 200           status code
    "headers": {"K": "V"}   added to the head
    "thought": "..."        reasoning_content before the text
    "finish": "stop"        finish_reason; null sends none
    "usage": {...}          a usage chunk; absent: made-up numbers; null: none
    "done": true            whether [DONE], or the dialect's own end, ends the stream
    "error": "..."          an error in the stream; not of OpenAI's chat completions
    "signature", "image"    Gemini: base64 of a signature, of a picture
    "split": N              bytes of each write
    "delay_ms": N           wait between two writes
    "cut": N                close after N bytes of the body
    "reset": true           with cut: reset the connection instead
    "stall": N              stop after N bytes, keep the connection open
    "wait_ms": N            wait before the head
    "drop": true            read the request and close without an answer
    "repeat": N             use this answer N times before the next

Python 3 standard library only; listens on 127.0.0.1 and nowhere else.
"""

import argparse
import http.server
import json
import os
import re
import socket
import struct
import sys
import threading
import time

from dialects import anthropic, gemini, ollama, openai, responses

HOST = "127.0.0.1"
KEY_HEADERS = ("Authorization", "x-api-key", "x-goog-api-key", "api-key")

# How paths end, and who speaks there; any other is OpenAI's chat completions.
DIALECTS = [
    (r"/v1/messages$", anthropic),
    (r"/api/chat$", ollama),
    (r"/responses$", responses),
    (gemini.PATHS, gemini),
]


class Scenario:
    """Which answer comes next, for all connections together."""

    def __init__(self, answers):
        self.answers = [a for a in answers for _ in range(a.get("repeat", 1))]
        self.lock = threading.Lock()
        self.asked = 0

    def next(self):
        with self.lock:
            self.asked += 1
            return self.asked, self.answers[min(self.asked, len(self.answers)) - 1]


def dialect_of(path):
    """The module that speaks as the service does that people ask at this path."""
    for end, dialect in DIALECTS:
        if re.search(end, path):
            return dialect
    return openai


def body_of(answer, path, headers):
    """Content type and bytes."""
    if answer.get("echo_key"):
        said = next((headers[n] for n in KEY_HEADERS if n in headers), "no key").split()[-1]
        error = {"error": {"message": "Incorrect API key provided: %s." % said}}
        return "application/json", json.dumps(error).encode()
    if "chunks" in answer:
        return "text/event-stream", "".join(answer["chunks"]).encode()
    if "body" in answer:
        body = answer["body"]
        text = body if isinstance(body, str) else json.dumps(body, ensure_ascii=False)
        return "application/json", text.encode()
    if answer.get("status", 200) != 200:
        return "application/json", b'{"error":{"message":"made for a test"}}'
    return dialect_of(path).body(answer)


def pieces(answer, body):
    """The body as it is written; chunks keep their borders unless split is set."""
    if "split" in answer:
        size = answer["split"]
    elif "chunks" in answer:
        for piece in answer["chunks"]:
            yield piece.encode()
        return
    else:
        size = len(body) or 1
        if "delay_ms" in answer:
            yield from re.findall(rb".+?(?:\r?\n\r?\n|$)", body, re.S)
            return
    for at in range(0, len(body), size):
        yield body[at:at + size]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    scenario = None
    save = None

    def log_message(self, *_):
        pass

    def do_POST(self):
        question = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        number, answer = self.scenario.next()
        if self.save:
            self.keep(number, question)
        try:
            self.answer(answer)
        except OSError:
            self.close_connection = True  # the client left

    def keep(self, number, question):
        """A reader who sees the file sees the whole of it."""
        head = "%s\n%s" % (self.requestline, self.headers)
        for end, data in (("head", head.encode()), ("json", question)):
            path = os.path.join(self.save, "%d.%s" % (number, end))
            with open(path + ".new", "wb") as out:
                out.write(data)
            os.rename(path + ".new", path)

    def answer(self, answer):
        time.sleep(answer.get("wait_ms", 0) / 1000)
        if answer.get("drop"):
            self.close_connection = True
            return
        kind, body = body_of(answer, self.path, self.headers)
        self.send_response(answer.get("status", 200))
        self.send_header("Content-Type", kind)
        self.send_header("Transfer-Encoding", "chunked")
        for name, value in answer.get("headers", {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.send_body(answer, body)

    def send_body(self, answer, body):
        left = answer.get("cut", answer.get("stall", len(body)))
        for piece in pieces(answer, body):
            piece = piece[:left]
            left -= len(piece)
            if piece:
                self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
                self.wfile.flush()
            if answer.get("delay_ms"):
                time.sleep(answer["delay_ms"] / 1000)
        if "stall" in answer:
            self.wait_for_client()
        if "cut" in answer or "stall" in answer:
            self.hang_up(answer)
        else:
            self.wfile.write(b"0\r\n\r\n")

    def wait_for_client(self):
        """Until it closes the connection."""
        while self.connection.recv(4096):
            pass

    def hang_up(self, answer):
        self.close_connection = True
        if answer.get("reset"):
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.close()


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, *_):
        pass  # a client that leaves is part of the tests


def main():
    parser = argparse.ArgumentParser(description="A scripted model service on 127.0.0.1.")
    parser.add_argument("scenario")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--port-file")
    parser.add_argument("--save", metavar="DIR")
    opt = parser.parse_args()
    with open(opt.scenario, encoding="utf-8") as file:
        Handler.scenario = Scenario(json.load(file))
    if opt.save:
        os.makedirs(opt.save, exist_ok=True)
        Handler.save = opt.save
    server = Server((HOST, opt.port), Handler)
    port = server.server_address[1]
    if opt.port_file:
        with open(opt.port_file + ".new", "w") as file:
            file.write("%d\n" % port)
        os.rename(opt.port_file + ".new", opt.port_file)
    print(port, flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        sys.exit(0)


if __name__ == "__main__":
    main()

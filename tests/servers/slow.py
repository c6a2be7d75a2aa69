#!/usr/bin/env python3
"""A model service on the loopback interface that takes its time, for thousands at once.

    slow.py [--port-file FILE] [--said TEXT] [--pieces N]

Speaks OpenAI chat completions, as tests/servers/model.py does, in one thread. Who asks
gets the head of an answer, and TEXT when there is one, and then waits until somebody

    GET /release    lets all that wait have the rest of their answers: N pieces of text

and  GET /waiting   tells how many wait now.

The first line on standard output is the port number, which is free before; it also goes
to FILE. Python 3 standard library only; listens on 127.0.0.1 and nowhere else.
"""

import argparse
import asyncio
import json
import os

HOST = "127.0.0.1"
HEAD = (b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
        b"Transfer-Encoding: chunked\r\n\r\n")
BACKLOG = 4096


def event(delta, finish=None):
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    data = json.dumps({"id": "slow", "object": "chat.completion.chunk", "created": 1,
                       "model": "slow", "choices": [choice]})
    return chunk(b"data: %s\n\n" % data.encode())


def chunk(data):
    return b"%x\r\n%s\r\n" % (len(data), data)


class Model:
    """Questions that wait for the same release."""

    def __init__(self, said, pieces):
        self.said = event({"role": "assistant", "content": said})
        self.rest = (event({"content": "word "}) * pieces + event({}, "stop") +
                     chunk(b"data: [DONE]\n\n") + chunk(b""))
        self.waiting = 0
        self.released = asyncio.Event()

    async def answer(self, reader, writer):
        """False: the client left."""
        writer.write(HEAD + self.said)
        await writer.drain()
        self.waiting += 1
        released = asyncio.ensure_future(self.released.wait())
        left = asyncio.ensure_future(reader.read(1))  # it says no more, but may go
        try:
            await asyncio.wait([released, left], return_when=asyncio.FIRST_COMPLETED)
            is_released = released.done()
        finally:
            self.waiting -= 1
            released.cancel()
            left.cancel()
            await asyncio.gather(left, return_exceptions=True)
        if is_released:
            writer.write(self.rest)
            await writer.drain()
        return is_released

    def release(self):
        self.released.set()
        self.released = asyncio.Event()

    def tell(self, path):
        if path == b"/release":
            self.release()
        text = b"%d\n" % self.waiting
        return b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(text), text)

    async def serve(self, reader, writer):
        try:
            while await self.serve_one(reader, writer):
                pass
        except (OSError, asyncio.IncompleteReadError):
            pass  # a client that leaves is part of the tests
        finally:
            writer.close()

    async def serve_one(self, reader, writer):
        head = await reader.readuntil(b"\r\n\r\n")
        lines = head.split(b"\r\n")
        method, path, _ = lines[0].split(b" ", 2)
        if method != b"POST":
            writer.write(self.tell(path))
            await writer.drain()
            return True
        for line in lines[1:]:
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                await reader.readexactly(int(value))
        return await self.answer(reader, writer)


async def main():
    parser = argparse.ArgumentParser(description="A slow model service on 127.0.0.1.")
    parser.add_argument("--port-file")
    parser.add_argument("--said", default="")
    parser.add_argument("--pieces", type=int, default=3)
    opt = parser.parse_args()
    model = Model(opt.said, opt.pieces)
    server = await asyncio.start_server(model.serve, HOST, 0, backlog=BACKLOG)
    port = server.sockets[0].getsockname()[1]
    if opt.port_file:
        with open(opt.port_file + ".new", "w", encoding="ascii") as file:
            file.write("%d\n" % port)
        os.rename(opt.port_file + ".new", opt.port_file)
    print(port, flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    try:
        asyncio.run(main())
    except KeyboardInterrupt:
        pass

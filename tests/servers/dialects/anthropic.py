"""Anthropic messages. Beside what others have:

    "signature": "..."      of the thought
    "redacted": "..."       data of a redacted_thinking block before the text
    "end": false            the last block is not ended
    "stop": {...}           stop_details
"""

import json
import re

USAGE = {"input_tokens": 11, "output_tokens": 7}


def block(index, head, *deltas):
    """A block: its head, its pieces, its end."""
    yield {"type": "content_block_start", "index": index, "content_block": head}
    for delta in deltas:
        yield {"type": "content_block_delta", "index": index, "delta": delta}
    yield {"type": "content_block_stop", "index": index}


def thinking(answer):
    deltas = []
    if answer.get("thought"):
        deltas.append({"type": "thinking_delta", "thinking": answer["thought"]})
    if answer.get("signature"):
        deltas.append({"type": "signature_delta", "signature": answer["signature"]})
    return {"type": "thinking", "thinking": "", "signature": ""}, deltas


def tool_use(index, call):
    """A call: its arguments come in two pieces, behind an empty one."""
    args = json.dumps(call.get("args", {}), ensure_ascii=False)
    pieces = ("", args[:len(args) // 2], args[len(args) // 2:])
    head = {"type": "tool_use", "id": call.get("id", "toolu_%d" % index), "name": call["name"],
            "input": {}}
    return head, [{"type": "input_json_delta", "partial_json": p} for p in pieces]


def blocks(answer):
    """Heads and pieces of all blocks."""
    if answer.get("thought") or answer.get("signature"):
        yield thinking(answer)
    if answer.get("redacted"):
        yield {"type": "redacted_thinking", "data": answer["redacted"]}, []
    if answer.get("text"):
        words = re.findall(r"\S+\s*|\s+", answer["text"])
        yield {"type": "text", "text": ""}, [{"type": "text_delta", "text": w} for w in words]
    for index, call in enumerate(answer.get("calls", [])):
        yield tool_use(index, call)


def stream(answer):
    """The events of a streamed answer."""
    usage = answer.get("usage", USAGE)
    message = {"id": "msg_test", "type": "message", "role": "assistant", "content": [],
               "model": "test-model", "stop_reason": None, "usage": usage}
    yield {"type": "message_start", "message": message}
    yield {"type": "ping"}
    events = [e for i, (head, deltas) in enumerate(blocks(answer)) for e in block(i, head, *deltas)]
    yield from events if answer.get("end", True) else events[:-1]
    finish = answer.get("finish", "tool_use" if answer.get("calls") else "end_turn")
    delta = {"stop_reason": finish, "stop_sequence": None, "stop_details": answer.get("stop")}
    yield {"type": "message_delta", "delta": delta, "usage": usage}
    if answer.get("done", True):
        yield {"type": "message_stop"}


def body(answer):
    """Content type and bytes of a streamed answer."""
    events = ["event: %s\ndata: %s\n\n" % (e["type"], json.dumps(e, ensure_ascii=False))
              for e in stream(answer)]
    return "text/event-stream", "".join(events).encode()

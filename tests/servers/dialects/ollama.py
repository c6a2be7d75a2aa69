"""Ollama's chat: a JSON object a line."""

import json
import re

USAGE = {"prompt_eval_count": 11, "eval_count": 7}


def line(message, **members):
    return dict({"model": "test-model", "created_at": "2026-01-01T00:00:00Z",
                 "message": dict({"role": "assistant", "content": ""}, **message)},
                **dict({"done": False}, **members))


def call(call):
    """Calls come whole, and without an id unless the scenario has one."""
    whole = {"function": {"name": call["name"], "arguments": call.get("args", {})}}
    return dict(whole, id=call["id"]) if "id" in call else whole


def stream(answer):
    """The objects of a streamed answer."""
    if answer.get("thought"):
        yield line({"thinking": answer["thought"]})
    for word in re.findall(r"\S+\s*|\s+", answer.get("text", "")):
        yield line({"content": word})
    if "calls" in answer:
        yield line({"tool_calls": [call(c) for c in answer["calls"]]})
    if answer.get("error"):
        yield {"error": answer["error"]}
    elif answer.get("done", True):
        yield line({}, done=True, done_reason=answer.get("finish", "stop"),
                   **(answer.get("usage", USAGE) or {}))


def body(answer):
    """Content type and bytes of a streamed answer."""
    lines = "".join(json.dumps(o, ensure_ascii=False) + "\n" for o in stream(answer))
    return "application/x-ndjson", lines.encode()

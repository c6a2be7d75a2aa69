"""OpenAI chat completions."""

import json
import re

USAGE = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}


def chunk(delta, finish=None, **members):
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return dict({"id": "chatcmpl-test", "object": "chat.completion.chunk", "created": 1,
                 "model": "test-model", "choices": [choice]}, **members)


def call_chunks(index, call):
    """A call: its head, then its arguments in two pieces."""
    args = json.dumps(call.get("args", {}), ensure_ascii=False)
    head = {"index": index, "id": call.get("id", "call_%d" % index), "type": "function",
            "function": {"name": call["name"], "arguments": ""}}
    yield chunk({"tool_calls": [head]})
    for piece in (args[:len(args) // 2], args[len(args) // 2:]):
        yield chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})


def stream(answer):
    """The events of a streamed answer."""
    yield chunk({"role": "assistant", "content": ""})
    if answer.get("thought"):
        yield chunk({"reasoning_content": answer["thought"]})
    for word in re.findall(r"\S+\s*|\s+", answer.get("text", "")):
        yield chunk({"content": word})
    calls = answer.get("calls", [])
    for index, call in enumerate(calls):
        yield from call_chunks(index, call)
    finish = answer.get("finish", "tool_calls" if calls else "stop")
    if finish is not None:
        yield chunk({}, finish)
    if answer.get("usage", USAGE) is not None:
        yield dict(chunk({}), choices=[], usage=answer.get("usage", USAGE))


def body(answer):
    """Content type and bytes of a streamed answer."""
    events = ["data: %s\n\n" % json.dumps(e, ensure_ascii=False) for e in stream(answer)]
    if answer.get("done", True):
        events.append("data: [DONE]\n\n")
    return "text/event-stream", "".join(events).encode()

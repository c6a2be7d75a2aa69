"""OpenAI Responses: typed events about items."""

import json
import re

USAGE = {"input_tokens": 11, "output_tokens": 7, "total_tokens": 18,
         "input_tokens_details": {"cached_tokens": 0},
         "output_tokens_details": {"reasoning_tokens": 2}}


def response(status, **members):
    return dict({"id": "resp_test", "object": "response", "status": status, "error": None,
                 "incomplete_details": None, "model": "test-model", "output": [], "usage": None},
                **members)


def added(index, item):
    return {"type": "response.output_item.added", "output_index": index,
            "item": dict(item, status="in_progress")}


def done(index, item):
    return {"type": "response.output_item.done", "output_index": index,
            "item": dict(item, status="completed")}


def reasoning(index, answer):
    """A summary, and what stands for the thoughts themselves."""
    summary = [{"type": "summary_text", "text": answer["thought"]}]
    item = {"type": "reasoning", "id": "rs_%d" % index, "summary": []}
    yield added(index, item)
    yield {"type": "response.reasoning_summary_text.delta", "output_index": index,
           "summary_index": 0, "delta": answer["thought"]}
    yield done(index, dict(item, summary=summary,
                           encrypted_content=answer.get("encrypted", "gAAAA+/=")))


def message(index, answer):
    item = {"type": "message", "id": "msg_%d" % index, "role": "assistant", "content": []}
    yield added(index, item)
    for word in re.findall(r"\S+\s*|\s+", answer["text"]):
        yield {"type": "response.output_text.delta", "output_index": index, "content_index": 0,
               "delta": word}
    content = [{"type": "output_text", "text": answer["text"], "annotations": []}]
    yield done(index, dict(item, content=content))


def call(index, number, call):
    """A call: its head, then its arguments in two pieces."""
    args = json.dumps(call.get("args", {}), ensure_ascii=False)
    item = {"type": "function_call", "id": "fc_%d" % index, "name": call["name"],
            "call_id": call.get("id", "call_%d" % number), "arguments": ""}
    yield added(index, item)
    for piece in (args[:len(args) // 2], args[len(args) // 2:]):
        yield {"type": "response.function_call_arguments.delta", "output_index": index,
               "delta": piece}
    yield done(index, dict(item, arguments=args))


def end(answer):
    """What the finish says: nothing, why the answer is not whole, or that it failed."""
    finish = answer.get("finish")
    usage = answer.get("usage", USAGE)
    if "error" in answer:
        failure = {"code": "server_error", "message": answer["error"]}
        return {"type": "response.failed", "response": response("failed", error=failure)}
    if finish:
        return {"type": "response.incomplete",
                "response": response("incomplete", incomplete_details={"reason": finish}, usage=usage)}
    return {"type": "response.completed", "response": response("completed", usage=usage)}


def stream(answer):
    """The events of a streamed answer."""
    yield {"type": "response.created", "response": response("in_progress")}
    index = 0
    for member, events in (("thought", reasoning), ("text", message)):
        if answer.get(member):
            yield from events(index, answer)
            index += 1
    for number, one in enumerate(answer.get("calls", [])):
        yield from call(index + number, number, one)
    if answer.get("done", True):
        yield end(answer)


def body(answer):
    """Content type and bytes of a streamed answer."""
    events = ["event: %s\ndata: %s\n\n" % (e["type"], json.dumps(e, ensure_ascii=False))
              for e in stream(answer)]
    return "text/event-stream", "".join(events).encode()

"""The Gemini API and Vertex AI: generateContent, streamed."""

import json
import re

PATHS = r":streamGenerateContent\?alt=sse$"
USAGE = {"promptTokenCount": 11, "candidatesTokenCount": 7, "totalTokenCount": 18,
         "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 11}], "serviceTier": "standard"}


def chunk(parts=None, finish=None, usage=None):
    candidate = {"index": 0}
    if parts is not None:
        candidate["content"] = {"role": "model", "parts": parts}
    if finish is not None:
        candidate["finishReason"] = finish
    event = {"candidates": [candidate], "modelVersion": "test-model", "responseId": "r-test"}
    return dict(event, usageMetadata=usage) if usage else event


def signed(part, answer):
    """The first image, call or final text of an answer carries its signature, if it has one."""
    return dict(part, thoughtSignature=answer.pop("signature")) if "signature" in answer else part


def call_part(call):
    return {"functionCall": {k: call[k] for k in ("id", "name", "args") if k in call}}


def stream(answer):
    """The events of a streamed answer."""
    answer = dict(answer)
    usage = answer.get("usage", USAGE)
    if answer.get("thought"):
        yield chunk([{"text": answer["thought"], "thought": True}])
    for word in re.findall(r"\S+\s*|\s+", answer.get("text", "")):
        yield chunk([{"text": word}])
    if answer.get("image"):
        yield chunk([signed({"inlineData": {"mimeType": "image/png", "data": answer["image"]}}, answer)])
    calls = [call_part(c) for c in answer.get("calls", [])]
    if calls:
        yield chunk([signed(calls[0], answer)] + calls[1:])
    yield chunk([signed({"text": ""}, answer)], answer.get("finish", "STOP"), usage)


def body(answer):
    """Content type and bytes of a streamed answer."""
    events = ["data: %s\r\n\r\n" % json.dumps(e, ensure_ascii=False) for e in stream(answer)]
    return "text/event-stream", "".join(events).encode()

"""A server that speaks Anthropic's messages, streamed, on the loopback."""

import json
from collections.abc import Iterator
from typing import Any

from tests.llm.loopback import FakeServer, Say, halves, words


class FakeAnthropic(FakeServer):
    """As Anthropic streams."""

    @property
    def url(self) -> str:
        """What `model.url` would be."""
        return self.address

    def events(self, say: Say, body: Any) -> Iterator[str]:
        """Events: the start, a block of text, a block for each call, the end."""
        read, said = say.usage
        message: dict[str, Any] = {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "content": [],
            "model": str((body or {}).get("model", "fake")),
            "stop_reason": None,
            "stop_sequence": None,
            "usage": {"input_tokens": read, "output_tokens": 1},
        }
        yield _event("message_start", message=message)
        index = 0
        if say.text:
            yield _event("content_block_start", index=0, content_block={"type": "text", "text": ""})
            for piece in words(say.text):
                delta = {"type": "text_delta", "text": piece}
                yield _event("content_block_delta", index=0, delta=delta)
            yield _event("content_block_stop", index=0)
            index = 1
        for number, call in enumerate(say.calls):
            name = call.id or f"toolu_{number}"
            block = {"type": "tool_use", "id": name, "name": call.name, "input": {}}
            yield _event("content_block_start", index=index, content_block=block)
            for part in halves(call.arguments):
                delta = {"type": "input_json_delta", "partial_json": part}
                yield _event("content_block_delta", index=index, delta=delta)
            yield _event("content_block_stop", index=index)
            index += 1
        if not say.no_end:
            reason = say.ending or ("tool_use" if say.calls else "end_turn")
            ended = {"stop_reason": reason, "stop_sequence": None}
            yield _event("message_delta", delta=ended, usage={"output_tokens": said})
            yield _event("message_stop")


def _event(kind: str, **fields: Any) -> str:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n"

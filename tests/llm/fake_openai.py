"""A server that speaks OpenAI's chat completions, streamed, on the loopback."""

import json
from collections.abc import Iterator
from typing import Any

from tests.llm.loopback import FakeServer, Say, halves, words


class FakeOpenAI(FakeServer):
    """As OpenAI, LM Studio, Ollama and vLLM stream."""

    @property
    def url(self) -> str:
        """What `model.url` would be."""
        return f"{self.address}/v1"

    def events(self, say: Say, body: Any) -> Iterator[str]:
        """Chunks: the text, the calls, the end, the usage, `[DONE]`."""
        model = str((body or {}).get("model", "fake"))
        yield _chunk(model, {"role": "assistant", "content": ""})
        for piece in words(say.text):
            yield _chunk(model, {"content": piece})
        for number, call in enumerate(say.calls):
            first, second = halves(call.arguments)
            name = {"name": call.name, "arguments": first}
            head = {"index": number, "id": call.id or f"call_{number}", "type": "function"}
            yield _chunk(model, {"tool_calls": [{**head, "function": name}]})
            rest = {"index": number, "function": {"arguments": second}}
            yield _chunk(model, {"tool_calls": [rest]})
        if not say.no_end:
            ending = say.ending or ("tool_calls" if say.calls else "stop")
            yield _chunk(model, {}, ending)
        read, said = say.usage
        usage = {"prompt_tokens": read, "completion_tokens": said, "total_tokens": read + said}
        yield _data({**_base(model), "choices": [], "usage": usage})
        yield "data: [DONE]\n\n"


def _chunk(model: str, delta: dict[str, Any], finish: str | None = None) -> str:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return _data({**_base(model), "choices": [choice]})


def _base(model: str) -> dict[str, Any]:
    return {"id": "chat-1", "object": "chat.completion.chunk", "created": 1, "model": model}


def _data(value: Any) -> str:
    return f"data: {json.dumps(value)}\n\n"

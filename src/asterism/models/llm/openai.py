"""Models behind OpenAI's protocol: OpenAI, LM Studio, Ollama, vLLM and many others."""

import json
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

from asterism.models.llm.options import DEFAULT_URLS, LlmOptions, at_vendor
from asterism.models.llm.protocol import ModelRequest
from asterism.models.llm.stream import StreamedReply, sound_arguments, sound_name
from asterism.models.llm.vendor_model import VendorModel
from asterism.types.chat import Ending, Message, Role, ToolSpec

_ENDINGS = {"length": Ending.length, "content_filter": Ending.refusal}

_OPTIONAL = ("temperature", "top_p", "stream_options")
"""Parameters that some models refuse; a refused one is left out and the request sent again."""
_LIMITS = ("max_tokens", "max_completion_tokens")
"""The older name of the limit for an answer, which all servers know, and the vendor's newer one."""


class OpenAiModel(VendorModel):
    """A model at an address that speaks OpenAI's chat completions."""

    provider = "openai"
    service_name = "The language model"
    client_class = "AsyncOpenAI"
    error_class = "OpenAIError"
    examples = "a model that the server has, like gpt-4.1 or qwen3:8b"

    def __init__(
        self, options: LlmOptions, sleep: Callable[[float], Awaitable[object]] | None = None
    ) -> None:
        """Nothing is sent or loaded yet; `sleep` waits between two attempts."""
        super().__init__(options, sleep)
        self._refused: set[str] = set()
        self._limit = _LIMITS[at_vendor(options)]

    def _library(self) -> Any:
        import openai

        return openai

    async def _opened(self, request: ModelRequest) -> Any:
        """The stream; a parameter that the model refuses is left out from then on."""
        completions, headers = self._client().chat.completions, self._left_out()
        refusal = self._library().BadRequestError
        while True:
            body = self._body(request)
            try:
                return await completions.create(**body, extra_headers=headers)
            except refusal as error:
                if not self._learned(body, f"{error.body} {error.message}"):
                    raise

    def _pieces(self, event: Any, reading: StreamedReply) -> Iterator[str]:
        """What an event adds to the text; those of servers that are not quite right are endured."""
        reading.model_id = str(getattr(event, "model", None) or reading.model_id)
        usage = getattr(event, "usage", None)
        reading.count(
            getattr(usage, "prompt_tokens", None), getattr(usage, "completion_tokens", None)
        )
        choices = getattr(event, "choices", None)
        for choice in choices[:1] if isinstance(choices, list) else ():
            finish = getattr(choice, "finish_reason", None)
            reading.ended = reading.ended or bool(finish)
            reading.ending = _ENDINGS.get(str(finish), reading.ending)
            delta = getattr(choice, "delta", None)
            for call in getattr(delta, "tool_calls", None) or ():
                function = getattr(call, "function", None)
                reading.calls.add(
                    getattr(call, "index", None),
                    getattr(call, "id", None),
                    getattr(function, "name", None),
                    getattr(function, "arguments", None),
                )
            text = reading.add(getattr(delta, "content", None) or getattr(delta, "refusal", None))
            if text:
                yield text

    def _left_out(self) -> dict[str, Any]:
        """Headers that the library would add.

        No key is no header, and the vendor's own are the vendor's.
        """
        absent: dict[str, Any] = {}
        omitted = self._library().Omit()
        if self._service.url.rstrip("/") != DEFAULT_URLS["openai"]:
            absent |= {"OpenAI-Organization": omitted, "OpenAI-Project": omitted}
        if not self._service.key:
            absent["Authorization"] = omitted
        return absent

    def _learned(self, body: dict[str, Any], text: str) -> bool:
        """Whether a refusal names parameters that can be written in another way."""
        refused = {name for name in _OPTIONAL if name in body and name in text}
        self._refused |= refused
        if self._limit == _LIMITS[0] and all(name in text for name in _LIMITS):
            self._limit = _LIMITS[1]
            return True
        return bool(refused)

    def _body(self, request: ModelRequest) -> dict[str, Any]:
        body: dict[str, Any] = {
            "model": self.model_id,
            "messages": [_message(message) for message in request.messages],
            "stream": True,
            self._limit: request.max_output_tokens,
        }
        wanted = {
            "temperature": request.temperature,
            "top_p": request.top_p,
            "stream_options": {"include_usage": True},
        }
        body |= {
            name: value
            for name, value in wanted.items()
            if value is not None and name not in self._refused
        }
        if request.tools:
            body["tools"] = [_tool(tool) for tool in request.tools]
            if not request.may_call:
                body["tool_choice"] = "none"
        return body


def _message(message: Message) -> dict[str, Any]:
    if message.role is Role.tool:
        return {"role": "tool", "tool_call_id": message.call_id, "content": message.text}
    written: dict[str, Any] = {"role": message.role.value, "content": message.text}
    if message.calls:
        written["content"] = message.text or None
        written["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {
                    "name": sound_name(call.name),
                    "arguments": json.dumps(sound_arguments(call.arguments)),
                },
            }
            for call in message.calls
        ]
    return written


def _tool(tool: ToolSpec) -> dict[str, Any]:
    return {
        "type": "function",
        "function": {
            "name": tool.name,
            "description": tool.description,
            "parameters": dict(tool.schema) or {"type": "object", "properties": {}},
        },
    }

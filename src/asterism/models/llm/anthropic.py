"""Anthropic's models, through their own library."""

from collections.abc import Awaitable, Callable, Iterable, Iterator
from importlib.util import find_spec
from typing import Any

from asterism.models.llm.options import LlmOptions
from asterism.models.llm.protocol import ModelRequest
from asterism.models.llm.stream import StreamedReply, sound_arguments, sound_name
from asterism.models.llm.vendor_model import VendorModel
from asterism.types.chat import Ending, Message, Role, ToolSpec
from asterism.types.errors import ProviderMissing

_ENDINGS = {
    "max_tokens": Ending.length,
    "model_context_window_exceeded": Ending.length,
    "refusal": Ending.refusal,
}

_STATUSES = {
    "overloaded_error": 529,
    "rate_limit_error": 429,
    "invalid_request_error": 400,
    "authentication_error": 401,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
}
"""What an error inside a stream would be as a status."""


class AnthropicModel(VendorModel):
    """A model of Anthropic's, or a server that speaks its protocol."""

    provider = "anthropic"
    service_name = "Anthropic"
    client_class = "AsyncAnthropic"
    error_class = "AnthropicError"
    examples = "a model of Anthropic's, like claude-sonnet-4-5"

    def __init__(
        self, options: LlmOptions, sleep: Callable[[float], Awaitable[object]] | None = None
    ) -> None:
        """Nothing is sent or loaded yet; `sleep` waits between two attempts."""
        if not is_installed():
            raise missing()
        super().__init__(options, sleep)

    def _library(self) -> Any:
        import anthropic

        return anthropic

    async def _opened(self, request: ModelRequest) -> Any:
        body, headers = self._body(request), self._left_out()
        return await self._client().messages.create(**body, extra_headers=headers)

    def _pieces(self, event: Any, reading: StreamedReply) -> Iterator[str]:
        """What an event adds to the text."""
        match getattr(event, "type", None):
            case "message_start":
                message = getattr(event, "message", None)
                reading.model_id = str(getattr(message, "model", None) or reading.model_id)
                _count(getattr(message, "usage", None), reading)
            case "content_block_start":
                block: Any = getattr(event, "content_block", None)
                if getattr(block, "type", None) == "tool_use":
                    reading.calls.add(
                        event.index, getattr(block, "id", None), getattr(block, "name", None), ""
                    )
            case "content_block_delta":
                delta = getattr(event, "delta", None)
                if text := reading.add(getattr(delta, "text", None)):
                    yield text
                partial = getattr(delta, "partial_json", None)
                if isinstance(partial, str):
                    reading.calls.add(event.index, None, None, partial)
            case "message_delta":
                reason = getattr(getattr(event, "delta", None), "stop_reason", None)
                reading.ended = reading.ended or bool(reason)
                reading.ending = _ENDINGS.get(str(reason), reading.ending)
                _count(getattr(event, "usage", None), reading)

    def _status(self, error: Any) -> int:
        """The status; an error inside a stream comes with the stream's own 200."""
        body = error.body if isinstance(error.body, dict) else {}
        inner = body.get("error")
        kind = inner.get("type") if isinstance(inner, dict) else None
        if error.status_code != 200:
            return int(error.status_code)
        return _STATUSES.get(str(kind), 500)

    def _key_headers(self) -> dict[str, str] | None:
        # Its older name too, which proxies know; logs contain the headers of requests.
        return {"X-Api-Key": self._service.key} if self._service.key else None

    def _left_out(self) -> dict[str, Any]:
        """Headers that the library would add: no key is no header."""
        if self._service.key:
            return {}
        absent = self._library().Omit()
        return {"X-Api-Key": absent, "Authorization": absent}

    def _body(self, request: ModelRequest) -> dict[str, Any]:
        """The library has no temperature and no top-p; its models decide these themselves."""
        system = [one.text for one in request.messages if one.role is Role.system and one.text]
        body: dict[str, Any] = {
            "model": self.model_id,
            "max_tokens": request.max_output_tokens,
            "messages": _conversation(request.messages),
            "stream": True,
        }
        if system:
            body["system"] = "\n\n".join(system)
        if request.tools:
            body["tools"] = [_tool(tool) for tool in request.tools]
            body["tool_choice"] = {"type": "auto" if request.may_call else "none"}
        return body


def _count(usage: object, reading: StreamedReply) -> None:
    reading.count(getattr(usage, "input_tokens", None), getattr(usage, "output_tokens", None))


def is_installed() -> bool:
    """Whether the extra is there; nothing is loaded."""
    return find_spec("anthropic") is not None


def missing() -> ProviderMissing:
    """What to do where the extra is not there."""
    return ProviderMissing(
        "Anthropic's library is not installed; install Asterism with its extra: "
        "`pip install 'asterism[anthropic]'`, or set another model.provider."
    )


def _conversation(messages: Iterable[Message]) -> list[dict[str, Any]]:
    """Messages with alternating roles: what one side says in a row is one message."""
    conversation: list[dict[str, Any]] = []
    for message in messages:
        if message.role is Role.system:
            continue
        role = "assistant" if message.role is Role.assistant else "user"
        blocks = _blocks(message)
        if conversation and conversation[-1]["role"] == role:
            conversation[-1]["content"] += blocks
        elif blocks:
            conversation.append({"role": role, "content": blocks})
    return conversation


def _blocks(message: Message) -> list[dict[str, Any]]:
    if message.role is Role.tool:
        return [
            {
                "type": "tool_result",
                "tool_use_id": message.call_id,
                "content": message.text or "(nothing)",
                "is_error": message.is_error,
            }
        ]
    # An empty text is refused.
    blocks: list[dict[str, Any]] = []
    if message.text.strip():
        blocks.append({"type": "text", "text": message.text.rstrip()})
    blocks += [
        {
            "type": "tool_use",
            "id": call.id,
            "name": sound_name(call.name),
            "input": sound_arguments(call.arguments),
        }
        for call in message.calls
    ]
    return blocks


def _tool(tool: ToolSpec) -> dict[str, Any]:
    schema = dict(tool.schema) or {"type": "object", "properties": {}}
    return {"name": tool.name, "description": tool.description, "input_schema": schema}

"""Anthropic's models, through their own library."""

from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import suppress
from importlib.util import find_spec
from typing import Any

from asterism.backends.http.batches import BatchLimits
from asterism.backends.http.connection import CONNECT_SECONDS
from asterism.backends.http.retries import PassingFailure
from asterism.backends.http.service import Service
from asterism.backends.llm.calls import sound_arguments, sound_name
from asterism.backends.llm.failures import ERRAND, status_failure
from asterism.backends.llm.options import DEFAULT_URLS, LlmOptions, key_variables, window_of
from asterism.backends.llm.protocol import ModelRequest
from asterism.backends.llm.reading import Reading, loaded
from asterism.backends.llm.streaming import Persistence, Pieces, persistently
from asterism.domain.chat import Ending, Message, Role, ToolSpec
from asterism.domain.errors import ProviderMissing, SettingError

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


class AnthropicModel:
    """A model of Anthropic's, or a server that speaks its protocol."""

    provider = "anthropic"
    calls_tools = True

    def __init__(
        self, options: LlmOptions, sleep: Callable[[float], Awaitable[object]] | None = None
    ) -> None:
        """Nothing is sent or loaded yet; `sleep` waits between two attempts."""
        if not is_installed():
            raise missing()
        if not options.model:
            raise SettingError(
                "model.name is not set; set it to a model of Anthropic's, like claude-sonnet-4-5."
            )
        self.model_id = options.model
        self.window = window_of(options)
        self._service = Service(
            name="Anthropic",
            url=options.url or DEFAULT_URLS["anthropic"],
            key_variables=key_variables(options),
            errand=ERRAND,
            limits=BatchLimits(1, 0),
            timeout_seconds=options.timeout_seconds,
            concurrency=1,
            key=options.api_key.strip(),
        )
        how = Persistence(options.attempts, options.total_seconds)
        self._how = how if sleep is None else how._replace(sleep=sleep)
        self._client: Any = None

    def reply(self, request: ModelRequest) -> Pieces:
        """Stream an answer."""
        return persistently(lambda: self._attempt(request), self._service.shown, self._how)

    async def close(self) -> None:
        """Let go of the connections; a later request opens new ones."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    async def _attempt(self, request: ModelRequest) -> Pieces:
        anthropic, stream = await loaded("anthropic", _library), None
        import httpx2

        # Causes are left out: a foreign error holds the request, and the request the key.
        try:
            if self._client is None:
                self._client = _client(self._service)
            stream = await self._client.messages.create(
                **self._body(request), extra_headers=_left_out(self._service)
            )
            reading = Reading(self.model_id)
            async for event in stream:
                for piece in _pieces(event, reading):
                    yield piece
            kind = str(stream.response.headers.get("content-type", ""))
            yield reading.reply(kind, self._service.shown)
        except anthropic.APITimeoutError:
            raise PassingFailure("it did not answer in time") from None
        except anthropic.APIConnectionError as error:
            reached = "Connect" not in type(error.__cause__).__name__
            said = "the connection broke" if reached else "nothing answers at this address"
            raise PassingFailure(said) from None
        except anthropic.APIStatusError as error:
            raise status_failure(
                _status(error), dict(error.response.headers), error.body, self._service.shown
            ) from None
        except anthropic.APIError as error:
            raise status_failure(500, {}, error.body, self._service.shown) from None
        except httpx2.TimeoutException:
            # The library maps what happens before a stream, and leaves the stream to its reader.
            raise PassingFailure("it did not answer in time") from None
        except httpx2.HTTPError:
            raise PassingFailure("the connection broke") from None
        except ValueError:
            raise PassingFailure("its answer could not be read") from None
        finally:
            if stream is not None:
                with suppress(anthropic.AnthropicError):
                    await stream.close()

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


def _pieces(event: Any, reading: Reading) -> Iterator[str]:
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


def _count(usage: object, reading: Reading) -> None:
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


def _library() -> Any:
    import anthropic

    return anthropic


def _client(service: Service) -> Any:
    """The library's client, which neither tries again itself nor takes a key from elsewhere."""
    anthropic = _library()
    timeout = anthropic.Timeout(
        service.timeout_seconds, connect=min(service.timeout_seconds, CONNECT_SECONDS)
    )
    return anthropic.AsyncAnthropic(
        api_key=service.key or "none",
        base_url=service.url,
        timeout=timeout,
        max_retries=0,
        # Its older name too, which proxies know; a header of a request would stand in a log.
        default_headers={"X-Api-Key": service.key} if service.key else None,
    )


def _left_out(service: Service) -> dict[str, Any]:
    """Headers that the library would add: no key is no header."""
    if service.key:
        return {}
    absent = _library().Omit()
    return {"X-Api-Key": absent, "Authorization": absent}


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


def _status(error: Any) -> int:
    """The status; an error inside a stream comes with the stream's own 200."""
    body = error.body if isinstance(error.body, dict) else {}
    inner = body.get("error")
    kind = inner.get("type") if isinstance(inner, dict) else None
    if error.status_code != 200:
        return int(error.status_code)
    return _STATUSES.get(str(kind), 500)

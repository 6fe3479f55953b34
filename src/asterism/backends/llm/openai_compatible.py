"""Models behind OpenAI's protocol: OpenAI, LM Studio, Ollama, vLLM and many others."""

import json
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from typing import Any

from asterism.backends.http.batches import BatchLimits
from asterism.backends.http.connection import CONNECT_SECONDS
from asterism.backends.http.retries import PassingFailure
from asterism.backends.http.service import Service
from asterism.backends.llm.calls import sound_arguments, sound_name
from asterism.backends.llm.failures import ERRAND, status_failure
from asterism.backends.llm.options import (
    DEFAULT_URLS,
    LlmOptions,
    at_vendor,
    key_variables,
    window_of,
)
from asterism.backends.llm.protocol import ModelRequest
from asterism.backends.llm.reading import Reading, loaded
from asterism.backends.llm.streaming import Persistence, Pieces, persistently
from asterism.domain.chat import Ending, Message, Role, ToolSpec
from asterism.domain.errors import SettingError

_ENDINGS = {"length": Ending.length, "content_filter": Ending.refusal}

_OPTIONAL = ("temperature", "top_p", "stream_options")
"""Parameters that some models refuse; a refused one is left out and the request sent again."""
_LIMITS = ("max_tokens", "max_completion_tokens")
"""The older name of the limit for an answer, which all servers know, and the vendor's newer one."""


class OpenAiModel:
    """A model at an address that speaks OpenAI's chat completions."""

    provider = "openai"
    calls_tools = True

    def __init__(
        self, options: LlmOptions, sleep: Callable[[float], Awaitable[object]] | None = None
    ) -> None:
        """Nothing is sent or loaded yet; `sleep` waits between two attempts."""
        if not options.model:
            raise SettingError(
                "model.name is not set; set it to a model that the server has, like gpt-4.1 or "
                "qwen3:8b."
            )
        self.model_id = options.model
        self.window = window_of(options)
        self._options = options
        self._service = Service(
            name="The language model",
            url=options.url or DEFAULT_URLS["openai"],
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
        self._refused: set[str] = set()
        self._limit = _LIMITS[at_vendor(options)]

    def reply(self, request: ModelRequest) -> Pieces:
        """Stream an answer."""
        return persistently(lambda: self._attempt(request), self._service.shown, self._how)

    async def close(self) -> None:
        """Let go of the connections; a later request opens new ones."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    async def _attempt(self, request: ModelRequest) -> Pieces:
        openai, stream = await loaded("openai", _library), None
        # Causes are left out: a foreign error holds the request, and the request the key.
        try:
            stream = await self._opened(request)
            reading = Reading(self.model_id)
            async for chunk in stream:
                for piece in _pieces(chunk, reading):
                    yield piece
            yield reading.reply(_content_type(stream), self._service.shown)
        except openai.APITimeoutError:
            raise PassingFailure("it did not answer in time") from None
        except openai.APIConnectionError as error:
            raise PassingFailure(_why(error)) from None
        except openai.APIStatusError as error:
            headers = dict(error.response.headers)
            raise status_failure(
                error.status_code, headers, error.body or error.message, self._service.shown
            ) from None
        except openai.APIError as error:
            # An error that the server sent inside the stream.
            raise status_failure(
                500, {}, error.body or error.message, self._service.shown
            ) from None
        except ValueError:
            raise PassingFailure("its answer could not be read") from None
        finally:
            if stream is not None:
                with suppress(openai.OpenAIError):
                    await stream.close()

    async def _opened(self, request: ModelRequest) -> Any:
        """The stream; a parameter that the model refuses is left out from then on."""
        openai = _library()
        if self._client is None:
            self._client = _client(self._service)
        headers = _left_out(self._service)
        while True:
            body = self._body(request)
            try:
                return await self._client.chat.completions.create(**body, extra_headers=headers)
            except openai.BadRequestError as error:
                if not self._learned(body, f"{error.body} {error.message}"):
                    raise

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


def _pieces(chunk: Any, reading: Reading) -> Iterator[str]:
    """What a chunk adds to the text; those of servers that are not quite right are endured."""
    reading.model_id = str(getattr(chunk, "model", None) or reading.model_id)
    usage = getattr(chunk, "usage", None)
    reading.count(getattr(usage, "prompt_tokens", None), getattr(usage, "completion_tokens", None))
    choices = getattr(chunk, "choices", None)
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


def _library() -> Any:
    import openai

    return openai


def _client(service: Service) -> Any:
    """The library's client, which neither tries again itself nor takes a key from elsewhere."""
    openai = _library()
    timeout = openai.Timeout(
        service.timeout_seconds, connect=min(service.timeout_seconds, CONNECT_SECONDS)
    )
    return openai.AsyncOpenAI(
        api_key=service.key or "none",
        base_url=service.url,
        timeout=timeout,
        max_retries=0,
    )


def _left_out(service: Service) -> dict[str, Any]:
    """Headers that the library would add: no key is no header, and the vendor's own are its own."""
    openai = _library()
    absent: dict[str, Any] = {}
    if service.url.rstrip("/") != DEFAULT_URLS["openai"]:
        absent |= {"OpenAI-Organization": openai.Omit(), "OpenAI-Project": openai.Omit()}
    if not service.key:
        absent["Authorization"] = openai.Omit()
    return absent


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


def _content_type(stream: Any) -> str:
    return str(stream.response.headers.get("content-type", ""))


def _why(error: Exception) -> str:
    """Whether nobody answered, or the connection broke; the library wraps both alike."""
    cause = type(error.__cause__).__name__
    return "nothing answers at this address" if "Connect" in cause else "the connection broke"

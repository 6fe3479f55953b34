"""What a tool server may take: time, and how much it may say."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from asterism.types.context import FromEnvironment, Server, Setting, Tool
from asterism.types.errors import ToolServerError, ToolServerMissing


class ServerProblem(NamedTuple):
    """A server that was skipped, and why."""

    server: str
    error: ToolServerError


class Listing(NamedTuple):
    """The tools of some servers; one that could not be asked is among the problems."""

    tools: tuple[Tool, ...] = ()
    problems: tuple[ServerProblem, ...] = ()


NOTHING_LISTED = Listing()


class CallResult(NamedTuple):
    """What a call returned."""

    text: str
    is_error: bool = False
    """Whether the tool says that it failed; that is an answer, which the model may read."""
    data: Mapping[str, object] | None = None
    """Structured content, where the tool has any."""
    left_out: int = 0
    """Characters that were cut, because the text was too long."""


def tool_of(server: str, listed: Any) -> Tool:
    """A tool as its server describes it; `listed` is the SDK's record."""
    return Tool(
        server=server,
        name=listed.name,
        description=listed.description or listed.title or "",
        schema=dict(listed.input_schema or {}),
        effects=_changes(listed.annotations),
    )


def _changes(hints: Any) -> bool:
    """Whether a server's hints say that a tool changes something."""
    return hints is not None and (hints.read_only_hint is False or bool(hints.destructive_hint))


def result_of(answer: Any, most: int) -> CallResult:
    """What a call returned as text; `answer` is the SDK's record."""
    data: Mapping[str, object] | None = answer.structured_content
    parts = [_text_of(block) for block in answer.content]
    if not parts and data is not None:
        parts = [json.dumps(data, ensure_ascii=False)]
    text = "\n".join(parts)
    cut = max(0, len(text) - most)
    if cut:
        # Structured content says the same again, at the same length.
        text, data = f"{text[:most]}\n[{cut:,} more characters were left out]", None
    return CallResult(text, bool(answer.is_error), data, cut)


def _text_of(block: Any) -> str:
    match block.type:
        case "text":
            return str(block.text)
        case "image" | "audio":
            return f"[{block.type}, {block.mime_type}, {len(block.data) * 3 // 4:,} bytes]"
        case "resource_link":
            return f"[{block.uri}]"
        case "resource":
            held = getattr(block.resource, "text", None)
            return f"[{block.resource.uri}]" if held is None else str(held)
    return f"[{block.type}]"


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerLimits:
    """How patient we are with a server."""

    connect_seconds: float = 15.0
    """To start, shake hands and list its tools; package runners need some for a first start."""
    call_seconds: float = 60.0
    """For one call, unless the caller has less time."""
    rest_seconds: float = 60.0
    """A server that failed is not tried again for so long, so that it delays one request, not
    all."""
    leaving_seconds: float = 1.0
    """To leave by itself once its input has ended."""
    said_bytes: int = 16_000_000
    """All it may say between two of our requests: 2,000 tools with large schemas take 4 MB."""
    tools: int = 5_000
    """Tools of one server; no model can choose among more."""
    result_chars: int = 100_000
    """Of what a call returns; the rest is cut, and said to be."""


class ServerSurroundings(NamedTuple):
    """Environment and directories of tool servers, supplied by the code that may read them."""

    variable: Callable[[str], str | None]
    """The value of a variable; asked when a server starts, and not kept."""
    inherited: Mapping[str, str] = {}
    """Variables that every server gets: where programs are, where home is."""
    directory: str | None = None
    """Where programs are started."""
    version: str = "0"
    """Ours, which servers are told."""


@dataclass(frozen=True, slots=True)
class PreparedServer:
    """A server with its secrets filled in; never shown, logged or stored."""

    command: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    secrets: tuple[str, ...] = field(default=(), repr=False)
    """The values themselves, to be taken out of whatever a server says."""

    def redacted(self, text: str) -> str:
        """The text without any secret."""
        for secret in self.secrets:
            text = text.replace(secret, "…")
        return text


def prepared(server: Server, around: ServerSurroundings) -> PreparedServer:
    """The server as it is started now; a variable that is not set is an error that names it."""
    secrets: list[str] = []

    def value(setting: Setting) -> str:
        if not isinstance(setting, FromEnvironment):
            return setting
        found = around.variable(setting.variable)
        if not found:
            raise ToolServerMissing(
                f"The server {server.name} needs the variable {setting.variable}, which is not "
                "set; set it in the environment and try again."
            )
        secrets.append(found)
        return f"{setting.before}{found}"

    words = (server.command, *map(value, server.args)) if server.command else ()
    own = {name: value(setting) for name, setting in server.environment.items()}
    return PreparedServer(
        command=words,
        environment={**around.inherited, **own},
        headers={name: value(setting) for name, setting in server.headers.items()},
        secrets=tuple(sorted(set(secrets), key=len, reverse=True)),
    )

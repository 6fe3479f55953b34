"""What tool servers gave: their tools, what went wrong, and what a call returned."""

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from asterism.types.context import Tool
from asterism.types.errors import ToolServerError


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

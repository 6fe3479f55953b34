"""Turns as text of a database: what every database can hold, and JSON for the evidence."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from asterism.types.chat import (
    Citation,
    Round,
    ToolCall,
    ToolResult,
    TriedSearch,
    Turn,
    Usage,
)
from asterism.types.context_json import request_from_json, request_json

Json = dict[str, Any]


def storable(text: str) -> str:
    """A text without what some database refuses: zeros, and halves of characters."""
    return text.replace("\0", "\N{REPLACEMENT CHARACTER}").encode("utf-8", "replace").decode()


def folded(*texts: str) -> str:
    """Texts as they are searched: without upper case, in any script."""
    return storable("\n".join(texts).casefold())


def evidence_text(turn: Turn) -> str:
    """Everything of a turn that has no column of its own."""
    return json_text(
        {
            "context": None if turn.context is None else request_json(turn.context),
            "grounding": turn.grounding,
            "rounds": turn.rounds,
            "citations": turn.citations,
            "searches": turn.searches,
            "usage": turn.usage,
            "notes": turn.notes,
        }
    )


def json_text(value: object) -> str:
    """JSON of records; escapes stand for what a database could not hold."""
    return json.dumps(plain(value), separators=(",", ":"))


def plain(value: object) -> object:
    """Records as mappings, all the way down."""
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return {name: plain(part) for name, part in value._asdict().items()}
    if isinstance(value, Mapping):
        return {str(key): plain(part) for key, part in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [plain(part) for part in value]
    return value if isinstance(value, str | int | float | None) else str(value)


def evidence_of(text: str) -> Json:
    """The same as parts of a turn."""
    found: Json = json.loads(text)
    return {
        "context": None if found["context"] is None else request_from_json(found["context"]),
        "grounding": tuple(ToolResult(**entry) for entry in found["grounding"]),
        "rounds": tuple(map(_round, found["rounds"])),
        "citations": tuple(Citation(**entry) for entry in found["citations"]),
        "searches": tuple(TriedSearch(**entry) for entry in found["searches"]),
        "usage": Usage(**found["usage"]),
        "notes": tuple(found["notes"]),
    }


def _round(found: Json) -> Round:
    calls = tuple(ToolCall(**entry) for entry in found["calls"])
    results = tuple(ToolResult(**entry) for entry in found["results"])
    return Round(**{**found, "calls": calls, "results": results})

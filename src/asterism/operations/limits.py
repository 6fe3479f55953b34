"""Limits of replies, measured on what is sent, and what is dropped to keep to them."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from asterism.disclosure.places import visible
from asterism.operations.json import compact, to_json
from asterism.operations.schema import Json
from asterism.search.selection.options import CEILING_CHARS, CHARS_PER_TOKEN

AROUND = 1_000
"""Characters of the ceiling that are left for what a transport puts around a result."""

MOST_CHARS = CEILING_CHARS - AROUND
"""Of a result by itself; nothing raises it."""

WINDOWS: Mapping[str, int] = {"claude-code": 10_000}
"""Tokens that clients take from a tool without complaint, by the name they give themselves: from
here on Claude Code warns its user about a long reply."""


WIDEST_TIMES: Mapping[str, float] = {"elapsed_ms": 999_999.9, "latency_ms": 999_999}
"""The time fields of a reply at their widest, so that the measured size does not depend on them."""


class TextPart(NamedTuple):
    """A text for the model; a higher priority matters more."""

    text: str
    priority: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class CallReply:
    """The reply of an operation, before MCP or HTTP writes it."""

    parts: tuple[TextPart, ...]
    structured: Json | None = None
    meta: Json = field(default_factory=dict)
    rows: str | None = None
    """Which list of the structured content may be shortened."""
    render: Callable[[Json], str] | None = None
    """How the text for the model follows from the structured content."""
    account: str | None = None
    """The key of `meta` that holds the account; None if the structured content holds it."""
    error: str | None = None
    """The code of a failure."""


def reply_of(
    found: object, rows: str | None = None, render: Callable[[Json], str] | None = None
) -> CallReply:
    """The reply that a record is; without `render` it has no text, as programs read the data."""
    structured: Json = to_json(found)
    text = "" if render is None else render(structured)
    return CallReply(parts=(TextPart(text),), structured=structured, rows=rows, render=render)


def limit_for(max_tokens: int | None, client: str | None = None) -> int:
    """Characters that a reply may have."""
    tokens = max_tokens if max_tokens is not None else WINDOWS.get(client or "")
    return MOST_CHARS if tokens is None else min(MOST_CHARS, tokens * CHARS_PER_TOKEN)


def written(reply: CallReply) -> Json:
    """The result as MCP has it."""
    result: Json = {
        "content": [
            {
                "type": "text",
                "text": part.text,
                "annotations": {"audience": ["assistant"], "priority": round(part.priority, 4)},
            }
            for part in reply.parts
        ],
        "isError": reply.error is not None,
    }
    if reply.structured is not None:
        result["structuredContent"] = reply.structured
    if reply.meta:
        result["_meta"] = reply.meta
    return result


def result_json(reply: CallReply) -> Json:
    """The result for programs: its data, and the texts where these are the answer."""
    if reply.structured is not None:
        return reply.structured
    data: Json = next(iter(reply.meta.values()), {})
    parts = [{"text": part.text, "priority": round(part.priority, 4)} for part in reply.parts]
    return {"parts": parts, **data}


def measured(reply: CallReply) -> int:
    """Characters of the reply as it is sent, its times as wide as they can be.

    Else the size, and what is left out for it, would depend on how busy the machine is.
    """
    return len(compact(written(_timeless(reply))))


def _timeless(reply: CallReply) -> CallReply:
    """The reply with the same times for every run."""
    meta = {name: _with_widest_times(part) for name, part in reply.meta.items()}
    structured = reply.structured and _with_widest_times(reply.structured)
    return replace(reply, meta=meta, structured=structured)


def _with_widest_times(part: Any) -> Any:
    if not isinstance(part, dict):
        return part
    return {**part, **{name: WIDEST_TIMES[name] for name in WIDEST_TIMES.keys() & part.keys()}}


def fitted(reply: CallReply, limit: int) -> CallReply:
    """The reply within the limit: rows go from the end, and the account says how many."""
    size = measured(reply)
    if size <= limit or reply.rows is None or reply.structured is None:
        return reply if size <= limit else _shortened(reply, limit)
    rows = reply.structured[reply.rows]
    # The largest number of rows that fits; texts beside them are the same size for any number.
    low, high = 0, len(rows)
    while low < high:
        middle = (low + high + 1) // 2
        if measured(_with_rows(reply, middle, limit)) <= limit:
            low = middle
        else:
            high = middle - 1
    return _with_rows(reply, low, limit)


def account_of(reply: CallReply) -> Json:
    """The account of what a reply left out; empty if it has no account."""
    found = reply.structured or {}
    if reply.account is not None:
        found = reply.meta.get(reply.account, {})
    return found if isinstance(found, dict) else {}


def plain_account(total: int, returned: int, limit: int) -> Json:
    """The account of a list of which nothing was left out for its size."""
    return {
        "total_count": total,
        "returned_count": returned,
        "truncated": False,
        "truncation_info": {
            "reason": None,
            "original_count": returned,
            "returned_count": returned,
            "estimated_chars": 0,
            "limit_chars": limit,
            "estimated_tokens": 0,
            "limit_tokens": limit // CHARS_PER_TOKEN,
        },
        "dropped": {"below_gate": 0, "per_file": 0, "duplicate": 0, "budget": total - returned},
        "token_method": f"characters / {CHARS_PER_TOKEN}",
    }


def with_size(reply: CallReply) -> CallReply:
    """The reply with its own size in the account, if the structured content has an account."""
    structured = reply.structured or {}
    if "truncation_info" not in structured:
        return reply
    size = measured(reply)
    sizes = {"estimated_chars": size, "estimated_tokens": -(-size // CHARS_PER_TOKEN)}
    info = {**structured["truncation_info"], **sizes}
    return replace(reply, structured={**structured, "truncation_info": info})


def _with_rows(reply: CallReply, count: int, limit: int) -> CallReply:
    structured, name = reply.structured or {}, reply.rows or ""
    rows = structured[name]
    gone = len(rows) - count
    if not gone:
        return reply
    narrower = limit < MOST_CHARS
    reason = "token_budget" if narrower else "character_limit"
    reason = reason if count else "single_result_too_large"
    info = {**structured["truncation_info"], "reason": reason, "returned_count": count}
    dropped = structured["dropped"]
    return restructured(
        reply,
        {
            **structured,
            name: rows[:count],
            "returned_count": count,
            "truncated": True,
            "truncation_info": info,
            "dropped": {**dropped, "budget": dropped["budget"] + gone},
        },
    )


def restructured(reply: CallReply, structured: Json) -> CallReply:
    """The reply with other structured content, and the text that follows from it."""
    parts = reply.parts
    if reply.render is not None:
        parts = (TextPart(visible(reply.render(structured))),)
    return replace(reply, structured=structured, parts=parts)


def _shortened(reply: CallReply, limit: int) -> CallReply:
    """A reply that has no rows, without its last parts; the best come first."""
    parts = list(reply.parts)
    while len(parts) > 1 and measured(_ending(reply, parts)) > limit:
        parts.pop()
    while (excess := measured(_ending(reply, parts)) - limit) > 0 and parts[0].text:
        text = parts[0].text
        # Some characters take two or more once they are serialised.
        surplus = max(1, excess * len(text) // len(json.dumps(text, ensure_ascii=False)))
        parts[0] = parts[0]._replace(text=text[:-surplus])
    return _ending(reply, parts)


def _ending(reply: CallReply, parts: list[TextPart]) -> CallReply:
    """The reply with these parts and a note that the others were dropped."""
    gone = len(reply.parts) - len(parts)
    note = f"[Cut: the reply was too long; {gone} more parts had no place. Ask narrower.]"
    return replace(reply, parts=(*parts, TextPart(note, 0.0)))

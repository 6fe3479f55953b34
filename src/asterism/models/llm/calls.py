"""Tool calls put together from the pieces in which they are streamed."""

import json
import re
from typing import Any

from asterism.types.chat import ToolCall


class CallPieces:
    """Collects calls; servers differ in how they number and name the pieces."""

    def __init__(self) -> None:
        """No call yet."""
        self._order: list[_Draft] = []
        self._by_index: dict[int, _Draft] = {}

    def add(self, index: object, call_id: object, name: object, arguments: object) -> None:
        """A piece: whatever is known of a call, by its number if the server gives one."""
        draft = self._draft(index, _string(call_id))
        draft.id = draft.id or _string(call_id)
        # The name comes whole; some servers repeat it with every piece.
        draft.name = draft.name or _string(name)
        draft.arguments += _written(arguments)

    def calls(self) -> tuple[ToolCall, ...]:
        """All of them, each with an id of its own."""
        seen: set[str] = set()
        calls = []
        for number, draft in enumerate(self._order, 1):
            name = draft.id if draft.id and draft.id not in seen else f"call_{number}_{draft.name}"
            seen.add(name)
            calls.append(ToolCall(name, draft.name, draft.arguments))
        return tuple(calls)

    def _draft(self, index: object, call_id: str) -> "_Draft":
        number = index if isinstance(index, int) else len(self._order) - (not call_id)
        draft = self._by_index.get(number)
        # Some servers give every call the number 0; another id is another call.
        if draft is None or (call_id and draft.id and call_id != draft.id):
            draft = _Draft()
            self._by_index[number] = draft
            self._order.append(draft)
        return draft


class _Draft:
    """A call so far."""

    def __init__(self) -> None:
        self.id = ""
        self.name = ""
        self.arguments = ""


def sound_arguments(written: str) -> dict[str, Any]:
    """The arguments of an earlier call as an object; servers refuse a history with broken ones."""
    try:
        arguments = json.loads(written or "{}")
    except ValueError:
        return {}
    return arguments if isinstance(arguments, dict) else {}


def sound_name(written: str) -> str:
    """The name of an earlier call as servers accept it."""
    return re.sub(r"[^A-Za-z0-9_-]", "_", written)[:64] or "unnamed"


def _string(value: object) -> str:
    return value if isinstance(value, str) else ""


def _written(arguments: Any) -> str:
    """Arguments as text; some servers send them as an object already."""
    if isinstance(arguments, str):
        return arguments
    return json.dumps(arguments) if isinstance(arguments, dict) else ""

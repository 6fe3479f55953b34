"""A stored request, rebuilt: the messages it had, and what has changed since."""

import json
import re
import secrets
import zlib
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple

from asterism.context.items import item_from_json, item_json
from asterism.context.messages import Contents, build_messages, request_tools
from asterism.types.chat import Message, ToolSpec
from asterism.types.context import Item, ItemKey, RequestContext, content_hash, text_hash
from asterism.types.errors import InputError

_HASH = re.compile(r"[0-9a-f]{64}")


class KeptInFiles:
    """Keeps each content in a file of its own, written once; what fails is merely not kept."""

    def __init__(self, directory: Path) -> None:
        """Nothing is written before there is something to keep."""
        self._directory = directory

    def keep(self, context: RequestContext, contents: Contents) -> None:
        """Keep what a context names."""
        with suppress(OSError):
            self._write(text_hash(contents.prompt), {"prompt": contents.prompt})
            for item in _named(context, contents):
                self._write(content_hash(item), item_json(item))

    def item(self, hash: str) -> Item | None:
        """The item that had this hash."""
        with suppress(InputError, KeyError, ValueError, TypeError):
            item = item_from_json(self._read(hash))
            return item if content_hash(item) == hash else None
        return None

    def prompt(self, hash: str) -> str | None:
        """The system prompt that had this hash."""
        with suppress(KeyError, ValueError, TypeError):
            prompt = str(self._read(hash)["prompt"])
            return prompt if text_hash(prompt) == hash else None
        return None

    def forget_all_but(self, hashes: Collection[str]) -> int:
        """Remove what no stored request names any more; says how much that was."""
        needless = [path for path in self._directory.glob("*/*") if path.name not in hashes]
        for path in needless:
            path.unlink(missing_ok=True)
        return len(needless)

    def _path(self, hash: str) -> Path:
        if not _HASH.fullmatch(hash):
            raise ValueError(f"{hash!r} is no hash.")
        return self._directory / hash[:2] / hash

    def _write(self, hash: str, wire: dict[str, Any]) -> None:
        path = self._path(hash)
        if path.exists():
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_name(f".{hash}.{secrets.token_hex(6)}.tmp")
        content = json.dumps(wire, default=str).encode()
        temporary.write_bytes(zlib.compress(content))
        temporary.replace(path)

    def _read(self, hash: str) -> dict[str, Any]:
        try:
            content = zlib.decompress(self._path(hash).read_bytes())
        except (OSError, zlib.error) as error:
            raise ValueError(str(error)) from error
        wire = json.loads(content)
        if not isinstance(wire, dict):
            raise TypeError("not an object")
        return wire


def _named(context: RequestContext, contents: Contents) -> Iterator[Item]:
    for entry in context.items:
        item = contents.items.get(entry.key)
        if item is not None:
            yield item


class ChangeKind(StrEnum):
    """What became of an item since the request."""

    changed = "changed"
    """It says something else now."""
    vanished = "vanished"
    """The agent has it no more."""


class ItemChange(NamedTuple):
    """An item, or the system prompt, that is not what it was."""

    key: ItemKey | None
    """None for the system prompt."""
    change: ChangeKind
    rebuilt: bool
    """Whether what it said then is known, so that the messages have it as it was."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayedRequest:
    """The messages and tools of a stored request."""

    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...]
    changes: tuple[ItemChange, ...]
    note: str = ""
    """What else there is to say, in a sentence."""

    @property
    def is_exact(self) -> bool:
        """Whether these are the very messages that were sent."""
        return all(change.rebuilt for change in self.changes)


def replay(
    context: RequestContext,
    now: Contents,
    kept: KeptInFiles,
    history: Sequence[Message],
    message: str,
) -> ReplayedRequest:
    """Rebuild a request from what was kept of it, and from what is there now where that is gone.

    An item that changed is given as it was then if that is known, else as it is now; one that
    vanished and is not known is left out. Either is said.
    """
    changes: list[ItemChange] = []
    items: dict[ItemKey, Item] = {}
    for entry in context.items:
        present = now.items.get(entry.key)
        if present is not None and content_hash(present) == entry.content_hash:
            items[entry.key] = present
            continue
        then = kept.item(entry.content_hash)
        is_known = then is not None and then.key == entry.key
        change = ChangeKind.vanished if present is None else ChangeKind.changed
        changes.append(ItemChange(entry.key, change, is_known))
        given = then if is_known else present
        if given is not None:
            items[entry.key] = given
    prompt = now.prompt
    if text_hash(prompt) != context.prompt_hash:
        before = kept.prompt(context.prompt_hash)
        changes.append(ItemChange(None, ChangeKind.changed, before is not None))
        prompt = prompt if before is None else before
    contents = Contents(prompt=prompt, items=items)
    return ReplayedRequest(
        messages=build_messages(context, contents, history, message),
        tools=tuple(spec for _key, spec in request_tools(context, contents).values()),
        changes=tuple(changes),
    )

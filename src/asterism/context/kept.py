"""What items said when they were sent, kept by hash, so that a request can be rebuilt later."""

import json
import re
import secrets
import zlib
from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

from asterism.context.messages import Contents
from asterism.context.wire import item_from_json, item_json
from asterism.types.context import Item, RequestContext, content_hash, text_hash
from asterism.types.errors import InputError

_HASH = re.compile(r"[0-9a-f]{64}")


class Keeper(Protocol):
    """Where the contents of earlier requests are."""

    def keep(self, context: RequestContext, contents: Contents) -> None:
        """Keep what a context names."""
        ...

    def item(self, hash: str) -> Item | None:
        """The item that had this hash."""
        ...

    def prompt(self, hash: str) -> str | None:
        """The system prompt that had this hash."""
        ...


class KeptInMemory:
    """Keeps contents for as long as it lives."""

    def __init__(self) -> None:
        self._items: dict[str, Item] = {}
        self._prompts: dict[str, str] = {}

    def keep(self, context: RequestContext, contents: Contents) -> None:
        """Keep what a context names."""
        self._prompts[text_hash(contents.prompt)] = contents.prompt
        self._items |= {content_hash(item): item for item in _named(context, contents)}

    def item(self, hash: str) -> Item | None:
        """The item that had this hash."""
        return self._items.get(hash)

    def prompt(self, hash: str) -> str | None:
        """The system prompt that had this hash."""
        return self._prompts.get(hash)


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

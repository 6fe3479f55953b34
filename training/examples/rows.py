"""One mined symbol: where it stands, what its documentation says, its code without that."""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

_SIGNS = re.compile(r"\W+")

# So much of the code tells one symbol from another.
HASHED_CHARS = 400


class Row(NamedTuple):
    """What the examples for training are made of."""

    source: str
    language: str
    path: str
    kind: str
    name: str
    head: str
    """The lines that the index writes above the code, without the purpose."""
    doc: str
    """The documentation's first sentences, or nothing."""
    code: str
    """As the index reads it, without its documentation."""
    said: tuple[str, ...]
    """What the code tells people: error messages and log lines."""
    heading: str
    """What the file says it is for, or nothing."""
    members: int
    """How many symbols it holds whose bodies its code leaves out."""


def hashed(text: str) -> bytes:
    """A short hash of the letters and digits of a text."""
    bare = _SIGNS.sub("", text[: 3 * HASHED_CHARS])[:HASHED_CHARS].lower()
    return hashlib.blake2b(bare.encode("utf-8", "replace"), digest_size=8).digest()


def write(path: Path, rows: Iterable[Row]) -> int:
    """Write rows as lines of JSON; how many there were."""
    count = 0
    with path.open("w", encoding="utf-8") as file:
        for row in rows:
            file.write(json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n")
            count += 1
    return count


def read(lines: Iterable[str]) -> Iterator[Row]:
    """The rows of lines of JSON."""
    for line in lines:
        source, language, path, kind, name, head, doc, code, said, heading, members = json.loads(
            line
        )
        yield Row(
            source, language, path, kind, name, head, doc, code, tuple(said), heading, members
        )

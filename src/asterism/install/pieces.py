"""What we leave in files: an entry, a marked block, or a whole file; into bytes and out again."""

import enum
import hashlib
import re
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any, NamedTuple, TypeAlias

from asterism.install import json_edits, toml_edits
from asterism.install import toml_edits as blocks
from asterism.install.clients import Format
from asterism.types.errors import InputError

_MARK = re.compile(
    r"^(?P<lead># |<!-- )asterism install (?P<hash>[0-9a-f]{12})(?P<tail>| -->)$", re.MULTILINE
)
# The place of the mark in the text of a file.
PLACE = "{{mark}}"
_HASH_LENGTH = 12


def marked(text: str) -> str:
    """The text with its mark, which says what the rest of it was when we wrote it."""
    lead, tail = ("<!-- ", " -->") if f"<!-- {PLACE} -->" in text else ("# ", "")
    line = f"{lead}{PLACE}{tail}"
    return text.replace(line, f"{lead}asterism install {_hash(text.replace(line, ''))}{tail}")


def is_ours(text: str) -> bool:
    """Whether `install` wrote the file, edited by hand or not."""
    return _MARK.search(text) is not None


def is_unedited(text: str) -> bool:
    """Whether the file is as one of our versions wrote it."""
    found = _MARK.search(text)
    return found is not None and _hash(text.replace(found.group(), "")) == found["hash"]


def _hash(text: str) -> str:
    plain = text.replace("\r\n", "\n")
    return hashlib.sha256(plain.encode("utf-8", "surrogateescape")).hexdigest()[:_HASH_LENGTH]


class ServerEntry(NamedTuple):
    """A server among the servers of a client's configuration."""

    format: Format
    path: tuple[str, ...]
    fields: Mapping[str, object]


class TextBlock(NamedTuple):
    """Some lines for the model, in a file of the user's."""

    body: str


class WholeFile(NamedTuple):
    """A file of our own."""

    text: str


Piece: TypeAlias = ServerEntry | TextBlock | WholeFile


class PieceState(enum.Enum):
    """What of a piece is in a file."""

    absent = "not set up"
    current = "set up"
    older = "set up differently"
    foreign = "taken by another"
    edited = "edited by hand"


def state_of(current: bytes | None, piece: Piece) -> PieceState:
    """What of the piece is there."""
    if current is None:
        return PieceState.absent
    text = _text(current, piece)
    if isinstance(piece, ServerEntry):
        return _entry_state(_entry_at(text, piece), piece.fields)
    if isinstance(piece, TextBlock):
        if not blocks.has_block(text):
            return PieceState.absent
        return (
            PieceState.current if blocks.with_block(text, piece.body) == text else PieceState.older
        )
    if text == piece.text:
        return PieceState.current
    if not is_ours(text):
        return PieceState.foreign
    return PieceState.older if is_unedited(text) else PieceState.edited


def added(current: bytes | None, piece: Piece) -> bytes:
    """The file with the piece in it; an older one is replaced where it stands."""
    if isinstance(piece, WholeFile):
        return piece.text.encode()
    text = "" if current is None else _text(current, piece)
    if isinstance(piece, TextBlock):
        return _bytes(blocks.with_block(text, piece.body))
    if piece.format is Format.toml:
        return _bytes(toml_edits.with_entry(text, piece.path, piece.fields))
    return _bytes(json_edits.with_entry(text, piece.path, piece.fields))


def taken_back(current: bytes, piece: Piece, earlier: Sequence[bytes]) -> bytes | None:
    """The file without the piece; nothing where there was no file before.

    Where adding the piece to an earlier state, or to no file, gives exactly what is there now,
    that state comes back to the byte. Else the file was edited since: only the piece goes.
    """
    text = _text(current, piece)
    if isinstance(piece, WholeFile):
        return None
    found: Piece = TextBlock(blocks.body_of(text) or "")
    if isinstance(piece, ServerEntry):
        found = piece._replace(fields=_entry_at(text, piece))
    for before in (*earlier, None):
        if _led_to(before, found, current):
            return before
    if isinstance(piece, TextBlock):
        return _bytes(blocks.without_block(text))
    if piece.format is Format.toml:
        return _bytes(toml_edits.without_entry(text, piece.path))
    parents = 0 if any(_has_parent(state, piece) for state in earlier) else len(piece.path) - 1
    return _bytes(json_edits.without_entry(text, piece.path, parents))


def is_server_of_ours(entry: object) -> bool:
    """Whether an entry starts Asterism, whatever its path and version."""
    if not isinstance(entry, Mapping):
        return False
    words: list[object] = []
    for key in ("command", "args"):
        value = entry.get(key)
        words += value if isinstance(value, list) else [value]
    names = (PurePath(word.replace("\\", "/")).name for word in words if isinstance(word, str))
    return any(name in ("asterism", "asterism.exe", "asterism.cli") for name in names)


def _entry_state(entry: Any, fields: Mapping[str, object]) -> PieceState:
    if entry is None:
        return PieceState.absent
    if not is_server_of_ours(entry):
        return PieceState.foreign
    same = all(entry.get(key) == value for key, value in fields.items())
    return PieceState.current if same else PieceState.older


def _entry_at(text: str, piece: ServerEntry) -> Any:
    edits = toml_edits if piece.format is Format.toml else json_edits
    return edits.entry_at(text, piece.path)


def _led_to(before: bytes | None, piece: Piece, now: bytes) -> bool:
    try:
        return state_of(before, piece) is PieceState.absent and added(before, piece) == now
    except InputError:
        # There is no way back to an earlier state that cannot be read.
        return False


def _has_parent(state: bytes, piece: ServerEntry) -> bool:
    try:
        return _entry_at(_text(state, piece), piece._replace(path=piece.path[:-1])) is not None
    except InputError:
        return False


def _text(current: bytes, piece: Piece) -> str:
    if isinstance(piece, ServerEntry):
        try:
            return current.decode("utf-8")
        except UnicodeDecodeError as error:
            raise InputError(f"it is not UTF-8: byte {error.start}") from None
    if b"\0" in current:
        raise InputError("it is not text")
    # Whatever its letters are, they come out again as they went in.
    return current.decode("utf-8", "surrogateescape")


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")

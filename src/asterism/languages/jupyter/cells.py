"""The cells of a notebook's view: code for its dialect, prose, and what only the kernel reads."""

import re

from asterism.analysis.syntax.parts import Part, Whole, entry_for
from asterism.analysis.syntax.text import fold
from asterism.languages.jupyter.view import MARK
from asterism.types.outline import Span

_MARK = re.compile(
    rb"^" + re.escape(MARK.encode()) + rb"(?: \[(?P<kind>[^\]\n]+)\])? (?P<name>cell \d+)$",
    re.MULTILINE,
)
_HEADING = re.compile(rb"^[ \t]*#{1,6}[ \t]([^\n]+)$|^[ \t]*<h\d[^>\n]*>(.+?)</h\d>", re.MULTILINE)
# `%%bash` at the top gives the cell to another program; `%%time` only watches it run.
_MAGIC = re.compile(rb"\s*%%(\w+)[^\n]*\n?")
_OF_PYTHON = frozenset({b"time", b"timeit", b"capture", b"prun", b"memit", b"mprun", b"debug"})
# Lines that only the kernel reads: magics, commands, and questions for help.
_KERNEL_LINE = re.compile(
    rb"^(?P<margin>[ \t]*+)(?:[%!?].*|[\w.]+\?{1,2}[ \t]*|\w+[ \t]*=[ \t]*[%!][\w(].*)$",
    re.MULTILINE,
)
# nbdev makes a module of the cells that say so.
_EXPORTED = re.compile(rb"^[ \t]*#[ \t]*\|?[ \t]*(?:export|exporti|exports)\b", re.MULTILINE)
_LABEL = 60
_PYTHON = "python"


def is_notebook(text: bytes) -> bool:
    """Whether a text is the view of a notebook; damaged ones have none and are read as text."""
    first = _MARK.search(text)
    return first is not None and not text[: first.start()].strip()


def parts(_path: str, source: bytes) -> list[Part]:
    """A part for each cell."""
    marks = list(_MARK.finditer(source))
    ends = [mark.start() for mark in marks[1:]] + [len(source)]
    return [_cell(source, mark, end) for mark, end in zip(marks, ends, strict=True)]


def _cell(source: bytes, mark: re.Match[bytes], end: int) -> Part:
    start = min(mark.end() + 1, end)
    text = source[start:end]
    kind = (mark["kind"] or b"python").decode("utf-8", "replace")
    name = mark["name"].decode("ascii")
    if kind == "markdown":
        heading = _HEADING.search(text)
        title = next((group for group in heading.groups() if group), b"") if heading else b""
        if title:
            shown = title.decode("utf-8", "replace").strip("# \t")
            name = f"{name}: {fold(shown, _LABEL)}" if shown else name
    outer = Span(mark.start(), end)
    key, skipped = _dialect(kind, text)
    return Part(
        Span(start + skipped, end),
        key,
        Whole("cell", name),
        outer,
        exports=False,
        is_public=_EXPORTED.search(text) is not None,
        masked=_masked if key == _PYTHON else None,
    )


def _dialect(kind: str, text: bytes) -> tuple[str, int]:
    """The dialect of a cell, and how much of its beginning is not in it."""
    skipped = 0
    if kind in ("markdown", "raw"):
        return "", 0
    magic = _MAGIC.match(text)
    if magic and magic[1] not in _OF_PYTHON:
        kind, skipped = magic[1].decode("ascii", "replace"), magic.end()
    entry = entry_for(kind)
    return (entry.key if entry else ""), skipped


def _masked(text: bytes) -> bytes:
    """Code in which the kernel's own lines are blank; `pass` keeps a block from being empty."""
    return _KERNEL_LINE.sub(_blank, text)


def _blank(found: re.Match[bytes]) -> bytes:
    margin, size = found["margin"], len(found[0])
    rest = size - len(margin)
    return margin + (b"pass".ljust(rest) if rest >= 4 else b" " * rest)

"""A notebook without its JSON: line for line, what its cells say, and nothing of their outputs."""

import json
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

_TOKEN = re.compile(rb'"(?:[^"\\\n]++|\\.)*+"|[{}\[\],:]|[^\s{}\[\],:"]++')
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f\x85\u2028\u2029]")

MARK = "# %%"
"""Begins the line above each cell, as in scripts that editors divide into cells."""

# The language of a notebook that does not say it.
_DEFAULT_LANGUAGE = "python"


class _Line(NamedTuple):
    start: int
    end: int
    """Of the JSON string, its quotes included."""
    text: str


class _Cell(NamedTuple):
    kind: str
    lines: list[_Line]


def view(text: bytes) -> bytes:
    """The text of a notebook's cells, each line where the file has it; other texts as they are.

    That needs a line of the file for each line of a cell, as every notebook has that Jupyter
    writes. Above a cell is a line such as `# %% cell 3`, in place of its `"source": [`.
    """
    content = _notebook(text)
    if content is None:
        return text
    language = _language(content)
    rows = text.split(b"\n")
    shown = [b""] * len(rows)
    row_of = _Rows(text)
    last = -1
    for number, cell in enumerate(_cells(text), 1):
        if not cell.lines:
            continue
        places = [row_of(line.start) for line in cell.lines]
        mark = places[0] - 1
        if mark <= last or any(a >= b for a, b in pairwise(places)):
            return text
        shown[mark] = _mark(number, cell.kind, language).encode()
        for row, line in zip(places, cell.lines, strict=True):
            shown[row] = _shown(line.text)
        last = places[-1]
    return b"\n".join(shown)


def _notebook(text: bytes) -> dict[str, object] | None:
    """What the JSON says, if it is a notebook's."""
    content: dict[str, object]
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        return None
    cells = content.get("cells") if isinstance(content, dict) else None
    if not isinstance(cells, list) or not all(isinstance(cell, dict) for cell in cells):
        return None
    return content


def _language(content: dict[str, object]) -> str:
    """The language of the code cells: the kernel's."""
    metadata = content.get("metadata")
    for key, field in (("language_info", "name"), ("kernelspec", "language")):
        part = metadata.get(key) if isinstance(metadata, dict) else None
        name = part.get(field) if isinstance(part, dict) else None
        if isinstance(name, str) and re.fullmatch(r"[\w+#.-]{1,40}", name):
            return name.lower()
    return _DEFAULT_LANGUAGE


def _mark(number: int, kind: str, language: str) -> str:
    if kind == "code":
        kind = "" if language == _DEFAULT_LANGUAGE else language
    return f"{MARK} [{kind}] cell {number}" if kind else f"{MARK} cell {number}"


def _shown(text: str) -> bytes:
    """A line without its end; other line ends inside of it are written as JSON writes them."""
    line = text.removesuffix("\n").removesuffix("\r").replace("\n", "\\n")
    return _CONTROL.sub(" ", line).encode("utf-8", "replace")


def _cells(text: bytes) -> Iterator[_Cell]:
    """The cells with the places of their lines; the text is valid JSON."""
    path: list[bytes] = []
    key = b""
    before: re.Match[bytes] | None = None
    kind = ""
    lines: list[_Line] = []
    for token in _TOKEN.finditer(text):
        sign = token[0]
        if sign == b":":
            key = before[0] if before else b""
        elif sign in (b"{", b"["):
            path.append(key)
            key = b""
            if path == [b"", b'"cells"', b""]:
                kind, lines = "", []
        elif sign in (b"}", b"]"):
            if path == [b"", b'"cells"', b""]:
                yield _Cell(kind, lines)
            path.pop()
            key = b""
        elif sign == b",":
            key = b""
        elif path[:3] == [b"", b'"cells"', b""] and sign.startswith(b'"'):
            if len(path) == 3 and key == b'"cell_type"':
                kind = json.loads(sign)
            elif (len(path) == 3 and key == b'"source"') or path[3:] == [b'"source"']:
                lines.append(_Line(token.start(), token.end(), json.loads(sign)))
        before = token


class _Rows:
    """Which row an offset is on; offsets are asked for in order."""

    def __init__(self, text: bytes) -> None:
        self._text = text
        self._at = self._row = 0

    def __call__(self, offset: int) -> int:
        self._row += self._text.count(b"\n", self._at, offset)
        self._at = offset
        return self._row

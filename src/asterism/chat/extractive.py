"""Composes an answer from hits without a model, and extracts citations from tool results."""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from asterism.languages.registry import facets_of
from asterism.types.chat import Citation, ToolResult
from asterism.types.files import display_path
from asterism.types.index import Chunk
from asterism.types.search import Hit

PER_FILE = 2
"""As in the searches that a chat makes: the nearest two of a file say enough of it."""


def cited(results: Iterable[ToolResult]) -> tuple[Citation, ...]:
    """The places in the results' rows, in the order they came.

    Of equal ones (same chunk, or same text, in one file) the nearest stays, of equally near ones
    the first; of a file the nearest two stay, those without a distance last. Rows that name no
    place are passed over.
    """
    places = [place for result in results for place in _places(result)]
    nearest = sorted(range(len(places)), key=lambda number: places[number].distance)
    seen: set[tuple[tuple[str, str], str, str]] = set()
    counts: Counter[tuple[str, str]] = Counter()
    kept = []
    for number in nearest:
        place = places[number]
        keys = place.keys()
        if seen.isdisjoint(keys) and counts[place.file] < PER_FILE:
            counts[place.file] += 1
            kept.append(number)
        seen |= keys
    return tuple(places[number].citation for number in sorted(kept))


def existing(
    citations: Iterable[Citation], exists: Callable[[Citation], bool]
) -> tuple[Citation, ...]:
    """Those whose lines are still there, by a look at the file when they are shown."""
    return tuple(citation for citation in citations if exists(citation))


class _Place(NamedTuple):
    citation: Citation
    text: str

    @property
    def file(self) -> tuple[str, str]:
        return self.citation.repo, self.citation.path

    @property
    def distance(self) -> float:
        known = self.citation.distance
        return math.inf if known is None else known

    def keys(self) -> set[tuple[tuple[str, str], str, str]]:
        """What equal places share."""
        named = [("id", self.citation.chunk_id), ("text", self.text)]
        return {(self.file, kind, value) for kind, value in named if value}


def _places(result: ToolResult) -> Iterator[_Place]:
    rows = (result.data or {}).get("results")
    if result.is_error or not isinstance(rows, Sequence) or isinstance(rows, str):
        return
    for row in rows:
        place = _place(row) if isinstance(row, Mapping) else None
        if place is not None:
            yield place


def _place(row: Mapping[str, Any]) -> _Place | None:
    """A row of a vector search inside a chat, or of a list of code; None if it is neither."""
    repo, path = row.get("repo"), row.get("relPath") or row.get("file_path")
    first = _line(row, "startLine", "start_line")
    last = _line(row, "endLine", "end_line")
    if not (isinstance(repo, str) and repo and isinstance(path, str) and path and first and last):
        return None
    if last < first:
        return None
    distance = row.get("score") if "relPath" in row else row.get("distance")
    citation = Citation(
        repo=repo,
        path=path,
        first_line=first,
        last_line=last,
        chunk_id=_text(row, "chunkId", "chunk_id"),
        distance=_number(distance),
        name=_text(row, "name"),
    )
    return _Place(citation, _text(row, "chunk", "content"))


def _line(row: Mapping[str, Any], *keys: str) -> int:
    value = next((row[key] for key in keys if key in row), 0)
    return value if isinstance(value, int) and value > 0 else 0


def _text(row: Mapping[str, Any], *keys: str) -> str:
    value = next((row[key] for key in keys if key in row), "")
    return value if isinstance(value, str) else ""


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if math.isfinite(value) else None


NAME = "extractive"
"""Shown in place of a model's name."""

SHOWN = 5
"""Hits that are described; a reader of plain text wants no more at once."""

HEAD = (
    "No language model was asked; this is put together from the code that matches best, word for "
    "word:"
)
NOTHING = (
    "Nothing in the index matches this question well enough to answer it. Ask in the words of the "
    "code, or name a symbol."
)
FAINT = (
    "No language model was asked, and nothing in the index matches this question well. What comes "
    "nearest, word for word, though it may not be what was asked for:"
)

_SENTENCE_END = re.compile(r"(?<=[.!?])\s")
_TAG_LINE = re.compile(r"^\s*(@\w|:param|:return|Args:|Returns:|Parameters|---)")
# Texts in quotes and comments, whichever begins first; one without an end goes to
# the end of its line or of the text, so that no text takes long.
_QUOTED = (
    r"""\"\"\".*?(?:\"\"\"|\Z)|\'\'\'.*?(?:\'\'\'|\Z)|"(?:\\.|[^"\\\n])*+"?|'(?:\\.|[^'\\\n])*+'?"""
)
_SLASHES = re.compile(rf"{_QUOTED}|/\*.*?(?:\*/|\Z)|//[^\n]*", re.DOTALL)
_HASH = re.compile(rf"{_QUOTED}|\#[^\n]*", re.DOTALL)
_DASHES = re.compile(rf"{_QUOTED}|--[^\n]*", re.DOTALL)
_NOT_CODE = {"slashes": _SLASHES, "hash": _HASH, "dashes": _DASHES}
_NAMELESS = frozenset(
    {
        *("comment", "control", "directive", "docstring", "export", "expression", "import"),
        *("package", "re-export", "text"),
    }
)
"""Kinds that are called by what they begin with, which their signature says again."""
_LONGEST_TITLE = 80
"""Callbacks inside callbacks are named after all around them; their end tells them apart."""
_LONGEST_SENTENCE = 240
_LONGEST_SIGNATURE = 200
_LONGEST_SOURCE = 8_000
"""Characters of a hit that names are looked for in: linear in the text, and enough of it."""


def compose(hits: Sequence[Hit], *, is_faint: bool = False) -> str:
    """The answer in Markdown; every line is quoted from the code or says where code is."""
    shown = [hit.chunk for hit in hits[:SHOWN]]
    if not shown:
        return NOTHING
    parts = [FAINT if is_faint else HEAD]
    parts += [_described(number, chunk) for number, chunk in enumerate(shown, 1)]
    connections = list(_connections(shown))
    if connections:
        parts.append("\n".join(["How they connect, by name:", *connections]))
    others = [_place_of(hit.chunk) for hit in hits[SHOWN:]]
    if others:
        parts.append(f"Also found: {', '.join(others)}.")
    return "\n\n".join(parts)


def _described(number: int, chunk: Chunk) -> str:
    """What, where, signature, and the first sentence of its documentation."""
    named = f"**{_title(chunk)}** ({chunk.node_kind}) in `{_place_of(chunk)}`"
    nameless = f"`{_place_of(chunk)}` ({chunk.node_kind})"
    lines = [f"{number}. {nameless if _is_nameless(chunk) else named}"]
    signature = _shortened(" ".join(chunk.signature.split()), _LONGEST_SIGNATURE)
    if signature and signature != _title(chunk):
        lines.append(f"   `{signature}`")
    sentence = first_sentence(chunk.docstring or chunk.jsdoc or "")
    if chunk.node_kind == "section":
        sentence = first_sentence(chunk.full_source.strip().partition("\n")[2])
    elif not sentence and not signature:
        # Without a signature, the first line says what it is.
        sentence = _shortened(_first_line(chunk.full_source), _LONGEST_SENTENCE)
    if sentence:
        lines.append(f"   {sentence}")
    return "\n".join(lines)


def first_sentence(doc: str) -> str:
    """The first sentence of a documentation comment, without the comment's own marks."""
    words: list[str] = []
    for line in doc.strip().splitlines():
        text = line.strip().strip("/*#\"'").strip()
        if _TAG_LINE.match(text) or (words and not text):
            break
        words += [text] if text else []
    sentence = _SENTENCE_END.split(" ".join(words), 1)[0]
    return _shortened(sentence, _LONGEST_SENTENCE)


def _connections(chunks: Sequence[Chunk]) -> Iterator[str]:
    """Which of them name which others, and which stand inside others."""
    for chunk in chunks:
        code = _code(chunk)
        others = [one for one in chunks if one.id != chunk.id and not _is_nameless(one)]
        inside = [
            one for one in others if one.parent_chunk_id == chunk.id and one.repo == chunk.repo
        ]
        for one in inside:
            yield f"- `{_title(one)}` is part of `{_title(chunk)}`."
        used = [one for one in others if one not in inside and _names(chunk, code, one)]
        if used:
            names = ", ".join(f"`{_title(one)}`" for one in used)
            yield f"- `{_title(chunk)}` uses {names}."


def _names(chunk: Chunk, code: str, other: Chunk) -> bool:
    """Whether the chunk's code says the other's name."""
    if len(other.name) < 3 or other.name == chunk.name or chunk.parent_chunk_id == other.id:
        return False
    if _family(chunk) != _family(other):
        return False
    name = re.escape(other.name)
    # An ordinary word, or a member's name, is only surely meant where it is used as such.
    if other.depth:
        pattern = rf"(?:\.|->|::|\?\.){name}(?!\w)"
    elif other.name.isalpha() and other.name.islower():
        pattern = rf"(?<![\w.]){name}\s*\("
    else:
        pattern = rf"(?<!\w){name}(?!\w)"
    return re.search(pattern, code) is not None


def _code(chunk: Chunk) -> str:
    """The source without comments and strings, as well as that can be told without parsing."""
    not_code = _NOT_CODE[facets_of(chunk.language).display.comments]
    return not_code.sub(" ", chunk.full_source[:_LONGEST_SOURCE])


def _family(chunk: Chunk) -> str:
    return facets_of(chunk.language).display.answers_as or chunk.language


def _is_nameless(chunk: Chunk) -> bool:
    return chunk.node_kind in _NAMELESS or not chunk.name


def _title(chunk: Chunk) -> str:
    if _is_nameless(chunk):
        return _place_of(chunk)
    title = chunk.qualified_name or chunk.name
    return title if len(title) <= _LONGEST_TITLE else f"…{title[1 - _LONGEST_TITLE :]}"


def _place_of(chunk: Chunk) -> str:
    first, last = chunk.start_line, chunk.end_line
    return f"{display_path(chunk.relative_path)}:{first}" + (f"-{last}" if last > first else "")


def _first_line(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if line.strip()), "")


def _shortened(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"


def is_faint(data: Mapping[str, object] | None) -> bool:
    """Whether the rows of a search say that none of them was near enough."""
    rows = (data or {}).get("results")
    if not isinstance(rows, Sequence) or not rows:
        return False
    return all(isinstance(row, Mapping) and row.get("below_threshold") for row in rows)

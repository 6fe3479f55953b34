"""Random symbols of a repository, and the differences between two accounts of one."""

import random
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from asterism.analysis.source.discovery import discover
from asterism.analysis.syntax.outlines import outline
from asterism.structure.positions import SourceUnits, SymbolTarget
from asterism.types.files import FoundFile
from asterism.types.outline import Item, Outline

# What can be compared by its name; signatures and what tests are passed have none.
KINDS = frozenset(
    {
        "function",
        "class",
        "method",
        "const",
        "variable",
        "interface",
        "type",
        "property",
        "enum",
        "enum_member",
    }
)

# Of a long difference this many places are shown.
FEW = 6


class Text:
    """One file, counted as compilers do and as we do."""

    def __init__(self, place: Path, path: str) -> None:
        self.path = path
        with place.open(encoding="utf-8", errors="replace", newline="") as opened:
            self.units = SourceUnits(opened.read())
        self.outline: Outline = outline(path, self.units.decoded)

    def line(self, unit: int) -> int:
        """The line of a unit, from 1."""
        return self.units.line_of(unit)

    def owner(self, unit: int) -> int | None:
        """The innermost symbol with a name around a unit, found by looking at every one.

        Without any it is the innermost of the functions that a test, say, is passed.
        """
        byte = self.units.to_bytes(unit)
        around = [
            (item.name.endswith(" callback"), item.span.end - item.span.start, -index)
            for index, item in self.outline.symbols()
            if item.span.start <= byte < item.span.end
        ]
        return -min(around)[2] if around else None

    def name_line(self, index: int | None) -> int:
        """The line of a symbol's name; the first for the file itself."""
        if index is None:
            return 1
        return 1 + self.units.decoded.count(b"\n", 0, self.outline.items[index].name_offset)


class Texts:
    """Files of one repository, each read once."""

    def __init__(self, root: str) -> None:
        self.root = root
        self._known: dict[str, Text] = {}

    def get(self, path: str) -> Text:
        """A file by its path, relative or absolute."""
        path = path.removeprefix(self.root + "/")
        if path not in self._known:
            self._known[path] = Text(Path(self.root, path), path)
        return self._known[path]


class Sample(NamedTuple):
    """One symbol to compare."""

    target: SymbolTarget
    item: int
    """In its file's outline."""
    unit: int
    """Of its name."""


class Difference(NamedTuple):
    """Edges of a symbol that one side reports and the other does not."""

    sample: Sample
    fact: str
    ours: tuple[object, ...]
    theirs: tuple[object, ...]


def listing(root: str) -> Sequence[FoundFile]:
    """The repository's files."""
    return discover(root).files


def samples(
    texts: Texts, files: Iterable[FoundFile], endings: tuple[str, ...], count: int, seed: int
) -> list[Sample]:
    """One random symbol of each of some random files."""
    chosen = random.Random(seed)
    paths = [file.path for file in files if file.path.endswith(endings)]
    found: list[Sample] = []
    for path in chosen.sample(paths, len(paths)):
        text = texts.get(path)
        symbols = [(i, item) for i, item in text.outline.symbols() if _is_comparable(item)]
        if symbols and len(found) < count:
            index, item = chosen.choice(symbols)
            target = SymbolTarget(path, item.qualified_name, item.start_line, item.name_offset)
            found.append(Sample(target, index, text.units.to_units(item.name_offset)))
    return found


def _is_comparable(item: Item) -> bool:
    return item.kind in KINDS and item.name.lstrip("#").isidentifier() and item.name != "default"


def difference(
    sample: Sample, fact: str, ours: Iterable[object], theirs: Iterable[object]
) -> list[Difference]:
    """The difference between two sets, or nothing."""
    first, second = set(ours), set(theirs)
    if first == second:
        return []
    only = tuple(sorted(first - second, key=str)), tuple(sorted(second - first, key=str))
    return [Difference(sample, fact, *only)]


def shown(found: Difference) -> str:
    """One line about a difference."""
    target = found.sample.target
    place = f"{target.path}:{target.line} {target.name}"
    return f"- {found.fact} of {place}: ours {_few(found.ours)}, theirs {_few(found.theirs)}"


def _few(found: Sequence[object]) -> str:
    if not found:
        return "nothing more"
    more = f" and {len(found) - FEW} more" if len(found) > FEW else ""
    return ", ".join(map(str, found[:FEW])) + more

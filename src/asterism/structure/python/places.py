"""Python files as the type checker and our outline see them, and the way from one to the other."""

import re
from collections import OrderedDict
from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from pathlib import PurePosixPath

from asterism.analysis.source.text import decode, read
from asterism.analysis.syntax.outlines import outline as outlined
from asterism.structure.positions import SourceUnits
from asterism.structure.repository import OutlinedFile, OutlineOf
from asterism.types.errors import InputError
from asterism.types.outline import Import
from asterism.types.structure import SymbolPlace

# Files kept with their outlines, some 50 KB each.
KEPT_FILES = 1000

_PACKAGES = re.compile(r"/(?:site|dist)-packages/([^/]+)")
_STUBS = re.compile(r"/(?:stdlib|stubs/[^/]+)/([^/]+)")
_LIBRARY = re.compile(r"/lib/python[\d.]+/([^/]+)")


class PythonFile(OutlinedFile):
    """One file as it is now on disk."""

    def __init__(self, path: str, root: str, outline_of: OutlineOf) -> None:
        """Raises InputError where it cannot be read."""
        source = SourceUnits(decode(read(path)).decode("utf-8", "replace"))
        super().__init__(path.removeprefix(root + "/"), source, outline_of)

    def offset(self, line: int, column: int) -> int:
        """The byte at a line and a UTF-16 column, both from 0."""
        return self.source.to_bytes(self.source.unit_at(line, column))

    def position(self, offset: int) -> tuple[int, int]:
        """The line and the UTF-16 column of a byte, both from 0."""
        unit = self.source.to_units(offset)
        return self.source.line_of(unit) - 1, self.source.column_of(unit)

    def around(self, offset: int) -> int | None:
        """The innermost symbol around a byte."""
        return self._enclosing.at(offset)

    def named(self, offset: int) -> int | None:
        """The symbol whose name begins at a byte."""
        return self._named.get(offset)

    def import_at(self, line: int) -> Import | None:
        """The import that covers a line, from 1."""
        found = (i for i in self.outline.imports if i.start_line <= line <= i.end_line)
        return next(found, None)

    def line(self, offset: int) -> int:
        """The line of a byte, from 1."""
        return 1 + self.source.decoded.count(b"\n", 0, offset)

    def place(self, index: int | None) -> SymbolPlace:
        """The place of a symbol, or of the module where there is none."""
        if index is None:
            return SymbolPlace(PurePosixPath(self.path).name, self.path, 1, "module")
        item = self.item(index)
        return SymbolPlace(item.qualified_name, self.path, self.line(item.name_offset), item.kind)


def read_file(path: str, root: str, outline_of: OutlineOf) -> PythonFile | None:
    """The file, or None where it is gone or cannot be read."""
    try:
        return PythonFile(path, root, outline_of)
    except InputError:
        return None


def module_of(path: str) -> str | None:
    """The top module that an installed file, a stub or one of the standard library belongs to."""
    for pattern in (_PACKAGES, _STUBS, _LIBRARY):
        if found := pattern.search(path):
            return found.group(1).partition(".")[0].removesuffix("-stubs")
    return None


class Files:
    """The repository's own files, each read once until it is said to have changed."""

    def __init__(self, root: str, outline_of: OutlineOf = outlined) -> None:
        self.root = root
        self._outline_of = outline_of
        self._own: AbstractSet[str] = frozenset()
        self._known: OrderedDict[str, PythonFile | None] = OrderedDict()

    @property
    def is_filled(self) -> bool:
        """Whether it was ever said which files there are."""
        return bool(self._own)

    def refresh(self, own: AbstractSet[str], changed: Iterable[str]) -> None:
        """Take note of which files there are and which have changed, by absolute path."""
        self._own = own
        for path in changed:
            self._known.pop(path, None)

    def get(self, path: str) -> PythonFile | None:
        """A file of the repository; None for others, and for one that cannot be read."""
        if path not in self._own:
            return None
        if path not in self._known:
            self._known[path] = read_file(path, self.root, self._outline_of)
            if len(self._known) > KEPT_FILES:
                self._known.popitem(last=False)
        self._known.move_to_end(path)
        return self._known[path]

"""Compares Python connections with those of another type checker's language server."""

import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from asterism.lsp.connection import LanguageClient, ServerConnection, standard_answers, to_path
from asterism.lsp.keeper import Keeper, KeeperOptions
from asterism.lsp.process import ServerCommand
from asterism.programs.table import Consent, Program
from asterism.structure.python.project import (
    SOURCE_ENDINGS,
    PythonOptions,
    PythonProject,
    require_checker,
)
from asterism.types.files import FoundFile
from asterism.types.structure import Connections, Edge, Known
from benchmarks.structure.samples import Difference, Sample, Texts, difference

ENDINGS = SOURCE_ENDINGS
_OTHER = Program(
    name="basedpyright",
    purpose="Compared with our checker",
    consent=Consent.command,
    arguments=("--stdio",),
    inherits=("*",),
)

# It reads the repository again for every question about a name that occurs everywhere.
SECONDS = 300.0
SETTLING_SECONDS = 5.0
MEMORY = 6_000_000_000

_CALLING = frozenset({"function", "method"})
_SETTINGS = {
    "basedpyright": {"analysis": {"diagnosticMode": "openFilesOnly", "typeCheckingMode": "off"}},
    "python": {"analysis": {"diagnosticMode": "openFilesOnly"}},
}

Site = tuple[str, int, int]


def compare(
    root: str, files: Sequence[FoundFile], chosen: Sequence[Sample], other: str
) -> list[Difference]:
    """Every difference about some symbols; `other` is an environment that has basedpyright."""
    texts = Texts(root)
    ours = _ours(root, files, chosen)
    listed = {file.path for file in files}
    server = ServerCommand(
        name="basedpyright",
        program=_OTHER,
        command=(str(Path(other, "bin", "basedpyright-langserver").absolute()),),
        memory_bytes=MEMORY,
    )

    def opened(connection: ServerConnection) -> LanguageClient:
        return LanguageClient(connection, root, seconds=SECONDS)

    options = KeeperOptions(wait_seconds=SECONDS)
    keeper = Keeper(server, opened, options, standard_answers(root, _SETTINGS))
    found: list[Difference] = []
    try:
        if chosen:
            _warm_up(_Asking(keeper, texts, chosen[0], listed))
        for sample, mine in zip(chosen, ours, strict=True):
            asking = _Asking(keeper, texts, sample, listed)
            found += difference(sample, "reference files", mine.references or (), asking.files())
            found += difference(sample, "callers", _sites(mine.callers), asking.callers())
            if texts.get(sample.target.path).outline.items[sample.item].kind in _CALLING:
                found += difference(sample, "callees", _called(mine.calls), asking.callees())
    finally:
        keeper.close()
    return found


def _ours(
    root: str, files: Sequence[FoundFile], chosen: Sequence[Sample]
) -> tuple[Connections, ...]:
    with TemporaryDirectory() as cache:
        project = PythonProject(require_checker(), root, PythonOptions(cache=cache))
        try:
            return project.connections([sample.target for sample in chosen], files)
        finally:
            project.close()


def _warm_up(asking: "_Asking") -> None:
    """Ask until the answer stays: the first come before it has found all files."""
    before, now = None, asking.files()
    while before != now:
        time.sleep(SETTLING_SECONDS)
        before, now = now, asking.files()


class _Asking:
    """The other checker's account of one symbol."""

    def __init__(
        self, keeper: Keeper[LanguageClient], texts: Texts, sample: Sample, listed: set[str]
    ) -> None:
        self._keeper = keeper
        self._texts = texts
        self._sample = sample
        self._listed = listed

    def files(self) -> set[str]:
        """The files that refer to it."""
        found = self._ask("textDocument/references", context={"includeDeclaration": False})
        paths = {path for one in found if (path := self._path(one["uri"]))}
        return paths - {self._sample.target.path}

    def callers(self) -> Iterator[Site]:
        """The file, the line of the symbol that calls, the line of the call."""
        for item in self._ask("textDocument/prepareCallHierarchy"):
            for call in self._more("callHierarchy/incomingCalls", item):
                path = self._path(call["from"]["uri"])
                for place in call["fromRanges"] if path else ():
                    text = self._texts.get(str(path))
                    owner = text.owner(_unit(text.units, place))
                    yield text.path, text.name_line(owner), place["start"]["line"] + 1

    def callees(self) -> Iterator[Site]:
        """The file, the line of what is called, the line of the call; the repository's own."""
        text = self._texts.get(self._sample.target.path)
        for item in self._ask("textDocument/prepareCallHierarchy"):
            for call in self._more("callHierarchy/outgoingCalls", item):
                path = self._path(call["to"]["uri"])
                line = call["to"]["selectionRange"]["start"]["line"] + 1
                for place in call["fromRanges"] if path else ():
                    if text.owner(_unit(text.units, place)) == self._sample.item:
                        yield str(path), line, place["start"]["line"] + 1

    def _ask(self, method: str, **more: Any) -> list[Any]:
        text = self._texts.get(self._sample.target.path)
        unit = self._sample.unit
        line, column = text.line(unit) - 1, text.units.column_of(unit)
        path = f"{self._texts.root}/{text.path}"
        return self._keeper.call(lambda it: it.at(method, path, line, column, **more)) or []

    def _more(self, method: str, item: Any) -> list[Any]:
        return self._keeper.call(lambda it: it.request(method, {"item": item})) or []

    def _path(self, uri: str) -> str | None:
        """The path of an address in the repository; None outside of what is indexed."""
        path = (to_path(uri) or "").removeprefix(self._texts.root + "/")
        return path if path in self._listed else None


def _unit(units: Any, place: Any) -> int:
    start = place["start"]
    found: int = units.unit_at(start["line"], start["character"])
    return found


def _sites(edges: Iterable[Edge]) -> Iterator[tuple[str | None, int | None, int]]:
    return ((e.target.path, e.target.line, line) for e in edges for line in e.lines)


def _called(edges: Iterable[Edge]) -> Iterator[tuple[str | None, int | None, int]]:
    own = (edge for edge in edges if edge.known is Known.resolved and edge.target.path)
    return _sites(own)

"""A repository as a language server sees it, and how one of its symbols connects."""

import json
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from asterism.analysis.resolve.candidates import Declaration
from asterism.analysis.resolve.scopes import ADDITIONS, CONTAINERS, FileScope
from asterism.lsp.connection import LanguageClient, ServerConnection, standard_answers
from asterism.lsp.keeper import KeeperOptions, ServerCondition
from asterism.lsp.process import ServerCommand
from asterism.structure.facts import Facts
from asterism.structure.positions import SymbolTarget, find_item, unknown
from asterism.structure.project import CheckerProject
from asterism.structure.repository import FileReader
from asterism.structure.servers import catalogue
from asterism.structure.servers.catalogue import (
    CLANGD,
    RUST_ANALYZER,
    ServerProfile,
    folders_of,
    rust_toolchain,
)
from asterism.structure.servers.names import ServerSense
from asterism.structure.servers.session import Loading, ServerSession
from asterism.structure.shapes import makers_of, place_of
from asterism.structure.uses import OF_USES
from asterism.types.errors import ServerMissing, ServerStarting
from asterism.types.files import FoundFile, display_path
from asterism.types.outline import Item
from asterism.types.structure import CALLABLE, Connections, Edge, Fact, Gap, Known, SymbolPlace


class LoadTimes:
    """What is remembered of one program and one repository."""

    def __init__(self, place: Path) -> None:
        """`place` is a file in Asterism's cache."""
        self._place = place

    def expected(self, estimate: float) -> float:
        """Seconds until it can answer; an estimate before the first start."""
        with suppress(OSError, ValueError, TypeError, KeyError):
            return float(json.loads(self._place.read_text(encoding="utf-8"))["seconds"])
        return estimate

    def note(self, seconds: float) -> None:
        """Remember how long the next load will take."""
        # What cannot be remembered is estimated the next time as well.
        with suppress(OSError):
            self._place.parent.mkdir(parents=True, exist_ok=True)
            self._place.write_text(json.dumps({"seconds": round(seconds, 1)}), encoding="utf-8")


_GUESSED = (
    f"the repository has no {catalogue.FILE}, so code that its build would switch on may be unseen"
)
_CREATED, _CHANGED, _DELETED = 1, 2, 3


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerOptions:
    """What a language server may use, and how long it may take."""

    memory_bytes: int = 2_000_000_000
    load_seconds: float = 1800.0
    """For reading the whole repository; a query waits no longer than its own limit."""
    request_seconds: float = 20.0
    """For one request; the first about a file reads everything that it includes."""
    question_seconds: float = 20.0
    """For everything that is asked of it for one question; what is left then is a gap."""
    keeper: KeeperOptions = field(default_factory=KeeperOptions)


class ServerProject(CheckerProject[ServerSession]):
    """One repository's code in one server's languages.

    A server that needs longer than a question waits is not started for a single question: in a
    process that stays the second question starts it, in the background.
    """

    def __init__(
        self,
        server: ServerProfile,
        program: str,
        files: FileReader,
        place: tuple[str, Path],
        options: ServerOptions | None = None,
    ) -> None:
        """`program` is where the server is, `place` the repository and a directory of Asterism."""
        root, cache = place
        self._server = server
        self._options = options or ServerOptions()
        self._files = files
        self._cache = cache / server.program
        self._loading = Loading(server.ready)
        self._times = LoadTimes(self._cache / "load.json")
        self._asked = 0
        command = ServerCommand(
            name=f"language server {server.program}",
            program=server.started,
            command=(program,),
            values={
                "root": root.rstrip("/"),
                "cache": str(self._cache),
                **({"toolchain": rust_toolchain()} if server is RUST_ANALYZER else {}),
            },
            memory_bytes=self._options.memory_bytes,
        )
        self._told = {**server.options}
        settings = {server.section: self._told} if server.section else {}
        settings |= server.options.get("settings", {})
        answers = {**standard_answers(root.rstrip("/"), settings), **self._loading.answers()}
        super().__init__(command, root, self._options.keeper, answers)

    def warm_up(self, files: Iterable[FoundFile]) -> None:
        """Begin to load the repository in the background, where that can be over in time."""
        listed = [*files]
        if self._expected(listed) <= self._options.keeper.wait_seconds:
            super().warm_up(listed)

    def connections(
        self, targets: Sequence[SymbolTarget], files: Iterable[FoundFile]
    ) -> tuple[Connections, ...]:
        """What is known of each target; a LanguageServerError where the server cannot say."""
        listed = [*files]
        self._check(listed)
        self._renew(listed)
        try:
            return super().connections(targets, listed)
        except ServerStarting:
            self._note_unfinished()
            raise

    def _check(self, files: Sequence[FoundFile]) -> None:
        """Refuse what cannot be answered in time, or at all."""
        if self._server.is_needed and not self._workspaces(file.path for file in files):
            names = " or ".join(sorted(self._server.is_needed))
            more = f", with a {self._server.beside} beside it" if self._server.beside else ""
            raise ServerMissing(
                f"The language server {self._server.program} needs a {names} in the "
                f"repository{more}."
            )
        self._asked += 1
        if self._keeper.condition is not ServerCondition.resting:
            return
        wait = self._options.keeper.wait_seconds
        expected = self._expected(files)
        if expected <= wait:
            return
        said = f"The language server {self._server.program} needs about {expected:,.0f} seconds"
        if self._asked == 1:
            raise ServerStarting(
                f"{said} to read this repository, more than structure.wait_seconds ({wait:g})."
            )
        super().warm_up(files)
        raise ServerStarting(f"{said} to read this repository and has just begun.")

    def _workspaces(self, paths: Iterable[str]) -> list[Path]:
        """The folders that the server is to read, without those that it would write into."""
        beside = self._server.beside
        found = [Path(self._root, folder) for folder in folders_of(self._server, paths)]
        return [folder for folder in found if not beside or (folder / beside).is_file()]

    def _expected(self, files: Iterable[FoundFile]) -> float:
        count = sum(self._server.counts(file.path) for file in files)
        estimate = self._server.seconds + count * self._server.seconds_per_file
        return self._times.expected(estimate)

    def _note_unfinished(self) -> None:
        """What one load did not finish within its time the next one may go on with."""
        waited = self._options.keeper.wait_seconds
        done = max(self._loading.share, 0.01)
        rest = waited * (1 - done) / done if self._server.keeps else 2 * waited
        self._times.note(rest)

    def _renew(self, files: Sequence[FoundFile]) -> None:
        """Start a server anew that cannot be told what changed."""
        with self._turns.take():
            self._list(files)
            if self._server.hears_changes or not self._loaded or not self._changes():
                return
            if self._keeper.condition is ServerCondition.starting:
                self._keeper.call(lambda _: None)
            self._keeper.renew()

    def _is_relevant(self, path: str) -> bool:
        return self._server.reads(path)

    def _open(self, connection: ServerConnection) -> ServerSession:
        began = time.monotonic()
        self._cache.mkdir(parents=True, exist_ok=True)
        self._loaded = dict(self._listing)
        limits = self._write_database() if self._server is CLANGD else ""
        self._loading.begin()
        folders = self._workspaces(self._loaded)
        if self._server.listing:
            needed = sorted(self._server.is_needed)
            listed = [folder / name for folder in folders for name in needed]
            self._told[self._server.listing] = [str(file) for file in listed if file.is_file()]
        client = LanguageClient(
            connection,
            self._root,
            seconds=self._options.request_seconds,
            options=self._told,
            folders=[*map(str, folders)],
        )
        session = ServerSession(client, self._root, self._files, limits)
        self._begin(session)
        # Some servers begin to read with the first document that they see.
        first = next(filter(self._server.counts, self._sources()), None)
        scope = session.scope(first) if first is not None else None
        if scope is not None:
            session.show(scope)
            self._loading.wait(self._options.load_seconds, lambda: connection.ended is not None)
        if self._loading.warning:
            session.limits = f"{self._server.program} warns: {self._loading.warning}"
        if connection.ended is None:
            self._times.note(0.0 if self._server.keeps else time.monotonic() - began)
        return session

    def _sources(self) -> Iterable[str]:
        """Files of the server's languages, those first that a compiler is started for."""
        return sorted(self._loaded, key=lambda path: not catalogue.is_source(path))

    def _write_database(self) -> str:
        """Say how everything is compiled, in our directory; return what that leaves unseen."""
        own = catalogue.own_commands(self._root)
        entries = own or catalogue.made_up(self._root, [*self._loaded])
        place = self._cache / catalogue.FILE
        place.write_text(json.dumps(entries), encoding="utf-8")
        return "" if own else _GUESSED

    def _begin(self, session: ServerSession) -> None:
        session.begin(frozenset(filter(self._server.counts, self._listing)))

    def _answer(
        self, session: ServerSession, targets: Sequence[SymbolTarget]
    ) -> tuple[Connections, ...]:
        self._begin(session)
        self._tell(session)
        sense = ServerSense(session, self._options.question_seconds)
        return tuple(connections_of(sense, target) for target in targets)

    def _tell(self, session: ServerSession) -> None:
        """Tell the server what changed since it was last told."""
        kinds = zip((_CREATED, _CHANGED, _DELETED), self._changes(), strict=True)
        changes = {path: kind for kind, paths in kinds for path in self._absolute(paths)}
        if changes:
            session.client.files_changed(changes)
            self._loaded = dict(self._listing)


MOST_VALUE = 120
"""Characters of a constant's value; a longer one says little in a list."""

_ABSTRACT = frozenset({"interface", "trait", "protocol"})
# Names in a sentence; more would hide it.
_NAMED = 3


def connections_of(sense: ServerSense, target: SymbolTarget) -> Connections:
    """What is known of a target; whatever is not known is among the gaps."""
    sense.forget()
    scope = sense.scope(target.path)
    if scope is None:
        return unknown(target, f"{display_path(target.path)} is not there any more")
    number = find_item(scope.outline, target)
    found = Facts(sense, MOST_VALUE).connections(target)
    if sense.refusal is not None:
        return unknown(target, sense.refusal)
    if number is None or found is None:
        return unknown(target, f"{display_path(target.path)} no longer declares {target.name}")
    item = scope.outline.items[number]
    found = _with_relatives(found, sense, scope, number)
    if item.kind in CALLABLE:
        found = replace(found, calls=_with_outgoing(found.calls, sense, scope, number))
    gaps = (*found.gaps, *(gap for gap in sense.gaps if gap.facts != OF_USES), *_gaps(sense))
    is_lost = any(gap.facts == OF_USES for gap in sense.gaps)
    return replace(found, references=None if is_lost else found.references, gaps=gaps)


def _gaps(sense: ServerSense) -> Iterator[Gap]:
    """What the server cannot know, and names that mean nothing to it."""
    if sense.limits:
        yield Gap(OF_USES, sense.limits)
    # Headers and packages that are not on this machine leave such names.
    if names := [*sense.unknown]:
        shown = ", ".join(names[:_NAMED])
        more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
        yield Gap((Fact.calls,), f"the language server does not know {shown}{more}")


def _with_relatives(
    found: Connections, sense: ServerSense, scope: FileScope, number: int
) -> Connections:
    """With the types that implement this one, and in Go with those that it implements unsaid."""
    item = scope.outline.items[number]
    if item.kind not in CONTAINERS:
        return found
    below = {edge.target: edge for edge in found.subtypes}
    above = {edge.target: edge for edge in (*found.extends, *found.implements)}
    implements = [*found.implements]
    for other in sense.implementations(Declaration(scope.path, number)):
        edge = _edge(sense, other)
        # Additions to a type are not its subtypes.
        if edge is None or edge.target in above or edge.target == found.symbol:
            continue
        if _is_above(sense, item, other):
            implements.append(edge)
            above[edge.target] = edge
        else:
            below.setdefault(edge.target, edge)
    return replace(found, subtypes=tuple(below.values()), implements=tuple(implements))


def _is_above(sense: ServerSense, item: Item, other: Declaration) -> bool:
    scope = sense.scope(other.path)
    kind = scope.outline.items[other.number].kind if scope else ""
    return kind in _ABSTRACT and item.kind not in _ABSTRACT


def _edge(sense: ServerSense, declaration: Declaration) -> Edge | None:
    scope = sense.scope(declaration.path)
    if scope is None or scope.outline.items[declaration.number].kind not in CONTAINERS:
        return None
    item = scope.outline.items[declaration.number]
    number = declaration.number
    if item.kind in ADDITIONS:
        number = scope.head(scope.by_path.get(item.path, [number]))
    return Edge(place_of(scope, number), Known.resolved)


def _with_outgoing(
    calls: tuple[Edge, ...], sense: ServerSense, scope: FileScope, number: int
) -> tuple[Edge, ...]:
    """With calls that the server tells of where the outline has no name, as inside a macro."""
    makers = makers_of(scope, number)
    asked = {
        scope.offset(reference.line, reference.column)
        for maker in makers
        for reference in scope.references_in.get(maker, ())
    }
    known = {edge.target: edge for edge in calls}
    for meaning, name, spot in sense.outgoing(Declaration(scope.path, number)):
        if spot.offset in asked:
            continue
        place = SymbolPlace(name, None, module=meaning.module)
        if meaning.declaration is not None:
            there = sense.scope(meaning.declaration.path)
            if there is None:
                continue
            place = place_of(there, meaning.declaration.number)
        edge = known.get(place, Edge(place, Known.resolved))
        known[place] = edge._replace(lines=tuple(sorted({*edge.lines, spot.line})))
    return tuple(sorted(known.values(), key=lambda edge: edge.lines[:1]))

"""How symbols of one repository connect: each language's best witness is asked, names otherwise."""

import shlex
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

from asterism.analysis.resolve.candidates import family_of
from asterism.analysis.syntax.language import detect
from asterism.config.environment import program
from asterism.config.settings import Settings
from asterism.config.trust import is_trusted
from asterism.engine.snapshot import QuerySnapshot
from asterism.indexing.plan import as_found
from asterism.languages.registry import facets_of
from asterism.lsp.keeper import KeeperOptions, ServerCondition
from asterism.store.catalogue.catalogue import Catalogue
from asterism.store.registry import Registered
from asterism.structure.positions import SymbolTarget
from asterism.structure.project import CheckerProject
from asterism.structure.repository import FileReader, FilesOnce, IndexedRepository, KeptOutlines
from asterism.types.deadlines import check_deadline
from asterism.types.errors import LanguageServerError, ServerGarbled, ServerMissing
from asterism.types.files import FoundFile, display_path
from asterism.types.structure import Connections, Fact

# The value of a setting that switches a language server off.
OFF = "off"

# Characters of a reason; what a program that crashed printed is mostly a list of addresses.
MOST_WORDS = 300

_ALL = frozenset(Fact)

# What comes of an answer in another shape than the protocol's, or of a disk that is full.
_ODD = (
    ArithmeticError,
    AttributeError,
    LookupError,
    OSError,
    RecursionError,
    TypeError,
    ValueError,
)


Witness: TypeAlias = CheckerProject[Any]
"""A compiler or type checker with a repository loaded."""
_Make: TypeAlias = Callable[[], Witness]


class Connector:
    """One repository's witnesses; each starts with the first question about its language."""

    def __init__(
        self, registered: Registered, settings: Settings, cache: Path, environment: str | None
    ) -> None:
        """`cache` is Asterism's directory for this repository, `environment` the active one."""
        self.made_for = (registered.repository.root, settings)
        self._registered = registered
        self._memory_bytes = settings.structure.memory_mb * 1_000_000
        self._settings = settings
        self._keeper = KeeperOptions(wait_seconds=settings.structure.wait_seconds)
        self._cache = cache
        self._environment = environment
        self._outlines = KeptOutlines()
        self._files = FileReader(registered.repository.root, self._outlines)
        self._witnesses: dict[str, Witness] = {}
        self._found: dict[str, str | None] = {}
        self.own: Mapping[str, _Make] = {"typescript": self._typescript, "python": self._python}
        """What comes with Asterism; the others are language servers that the user installs."""

    def warm_up(self, catalogue: Catalogue, languages: Collection[str] = ()) -> None:
        """Start the witnesses that a query may need, in the background.

        Those of `languages` alone, where some are given. What the index knows of the files is
        enough to begin with; trouble shows when something is asked.
        """
        wanted = {_family(language) for language in languages} or {*self.own, *self._served}
        wanted = {family for family in wanted if self.has_witness(family)}
        if all(self._is_under_way(family) for family in wanted):
            return
        states = catalogue.files(self._registered.repository.name).values()
        listing = tuple(as_found(state) for state in states if _can_be_told(state.path))
        for family in wanted & {_family(state.language) for state in states}:
            with suppress(LanguageServerError):
                self.witness(family).warm_up(listing)

    def questions(self, snapshot: QuerySnapshot) -> "Questions":
        """What one query asks: all its answers come from one snapshot."""
        return Questions(self, snapshot, FilesOnce(self._files))

    def has_witness(self, language: str) -> bool:
        """Whether there is one to ask for a language, running or not.

        A language server that is off, or neither installed nor named, is nothing that is missing.
        """
        family = _family(language)
        given = self._setting(family)
        if given is None:
            return family in self.own
        if given == OFF or not self.is_trusted:
            return False
        return bool(given) or self._installed(family) is not None

    @property
    def is_trusted(self) -> bool:
        """Whether programs may start that the repository can make execute something."""
        # Asked anew each time: a folder may become a link.
        return is_trusted(Path(self._registered.repository.root), self._settings)

    def is_withheld(self, language: str) -> bool:
        """Whether a language server would answer if the user trusted the repository.

        Nothing is started to find that out.
        """
        family = _family(language)
        given = self._setting(family)
        if given is None or self.is_trusted:
            return False
        return given != OFF if given else self._program(family) is not None

    def _setting(self, family: str) -> str | None:
        """The setting of a language server; None where a family has none."""
        if family in self.own:
            return None
        from asterism.structure.servers.catalogue import BY_FAMILY

        return getattr(self._settings.structure, family) if family in BY_FAMILY else None

    @property
    def advice(self) -> str:
        """How the user gets more, where language servers are withheld."""
        root = shlex.quote(display_path(self._registered.repository.root))
        return (
            "Connected by name: language servers start only for repositories that you trust, "
            f"because build files can make them run programs; `asterism trust {root}` allows it."
        )

    @property
    def _served(self) -> Collection[str]:
        """The families whose language servers may start."""
        if not self.is_trusted:
            return ()
        from asterism.structure.servers.catalogue import BY_FAMILY

        return BY_FAMILY

    def _program(self, family: str) -> str | None:
        from asterism.structure.servers.catalogue import BY_FAMILY

        return program(BY_FAMILY[family].program, self._registered.repository.root)

    def witness(self, language: str) -> Witness:
        """The language server for a language; raises LanguageServerError if there is no answer."""
        family = _family(language)
        if family not in self._witnesses:
            make = self.own.get(family)
            self._witnesses[family] = make() if make else self._server(family)
        return self._witnesses[family]

    def close(self) -> None:
        """End all processes."""
        for witness in self._witnesses.values():
            witness.close()
        self._witnesses.clear()

    def _is_under_way(self, family: str) -> bool:
        witness = self._witnesses.get(family)
        return witness is not None and witness.condition is not ServerCondition.resting

    def _typescript(self) -> Witness:
        from asterism.structure.typescript.project import (
            TypeScriptOptions,
            TypeScriptProject,
            require_compiler,
        )

        given = self._settings.structure.typescript
        if given == OFF:
            raise ServerMissing("The setting structure.typescript is off.")
        options = TypeScriptOptions(
            memory_bytes=self._memory_bytes, keeper=self._keeper, outline_of=self._outlines
        )
        root = self._registered.repository.root
        return TypeScriptProject(require_compiler(given or None), root, str(self._cache), options)

    def _python(self) -> Witness:
        from asterism.structure.python.project import (
            PythonOptions,
            PythonProject,
            find_environment,
            require_checker,
        )

        given = self._settings.structure.python
        if given == OFF:
            raise ServerMissing("The setting structure.python is off.")
        root = self._registered.repository.root
        environment = find_environment(root, self._environment)
        options = PythonOptions(
            cache=str(self._cache / "python"),
            memory_bytes=self._memory_bytes,
            keeper=self._keeper,
            environment=environment,
            outline_of=self._outlines,
        )
        return PythonProject(require_checker(given or None), root, options)

    def _server(self, family: str) -> Witness:
        from asterism.structure.servers.catalogue import BY_FAMILY, require_server
        from asterism.structure.servers.project import ServerOptions, ServerProject

        server = BY_FAMILY[family]
        if not self.is_trusted:
            raise ServerMissing(self.advice)
        given = self._setting(family)
        found = require_server(server, given) if given else self._installed(family)
        if found is None:
            raise ServerMissing(f"The language server {server.program} is not installed.")
        options = ServerOptions(memory_bytes=self._memory_bytes, keeper=self._keeper)
        place = (self._registered.repository.root, self._cache)
        return ServerProject(server, found, self._files, place, options)

    def _installed(self, family: str) -> str | None:
        """Where a server is that the user has installed; it is looked for once."""
        if family not in self._found:
            from asterism.structure.servers.catalogue import BY_FAMILY, can_start

            place = self._program(family)
            works = place is not None and can_start(BY_FAMILY[family], place)
            self._found[family] = place if works else None
        return self._found[family]


class Questions:
    """The questions of one query: each file is read once, and nothing is asked twice.

    A witness that failed is not asked again: the query has waited long enough.
    """

    def __init__(self, connector: Connector, snapshot: QuerySnapshot, files: FilesOnce) -> None:
        """`Connector.questions` makes these."""
        self.notes: list[str] = []
        """How answers came about, for the reader; filled by questions."""
        self.files = files
        """The files as they were when the query first read them."""
        self._connector = connector
        self._snapshot = snapshot
        self._failed: set[str] = set()
        self._known: dict[SymbolTarget, Connections | None] = {}

    @cached_property
    def by_name(self) -> Callable[[SymbolTarget], Connections | None]:
        """Answers for the same state, by names alone."""
        from asterism.structure.facts import ByName

        name = self._snapshot.registered.repository.name
        repository = IndexedRepository(name, self.files, self._snapshot.catalogue)
        return ByName(repository).connections

    @cached_property
    def _listing(self) -> tuple[FoundFile, ...]:
        """The files that a compiler can be told of."""
        return tuple(file for file in self._snapshot.listing if _can_be_told(file.path))

    def ask(self, targets: Sequence[SymbolTarget]) -> tuple[Connections | None, ...]:
        """What is known of each target; None for one that is not in its file any more."""
        families: dict[str, list[SymbolTarget]] = {}
        for target in dict.fromkeys(targets):
            check_deadline()
            if target not in self._known:
                families.setdefault(_family(detect(target.path).language), []).append(target)
        for family, wanted in families.items():
            self._known |= zip(wanted, self._answers(family, wanted), strict=True)
        return tuple(self._known[target] for target in targets)

    def _answers(self, family: str, targets: list[SymbolTarget]) -> Sequence[Connections | None]:
        found: dict[SymbolTarget, Connections | None] = {}
        if self._connector.is_withheld(family) and self._connector.advice not in self.notes:
            self.notes.append(self._connector.advice)
        if self._connector.has_witness(family) and family not in self._failed:
            told = [target for target in targets if _can_be_told(target.path)]
            try:
                found = dict(zip(told, self._resolved(family, told), strict=True))
            except LanguageServerError as error:
                self._failed.add(family)
                self.notes.append(_by_name_note(error))
            if len(told) < len(targets):
                self.notes.append(_by_name_note("compilers know no file names that are no UTF-8."))
        return [self._best(target, found.get(target)) for target in targets]

    def _best(self, target: SymbolTarget, found: Connections | None) -> Connections | None:
        """What a witness says, or what names say where it says nothing."""
        silent = [gap.why for gap in found.gaps if set(gap.facts) == _ALL] if found else []
        if found is not None and not silent:
            return self._completed(target, found)
        named = self._named(target)
        if named is None:
            return found
        if silent:
            self.notes.append(_by_name_note(f"{display_path(target.path)}: {silent[0]}."))
        return named

    def _named(self, target: SymbolTarget) -> Connections | None:
        from asterism.structure.shapes import honest

        named = self.by_name(target)
        return named and honest(named)

    def _completed(self, target: SymbolTarget, found: Connections) -> Connections:
        """With what names say of facts that a language server knows not all of."""
        language = detect(target.path).language
        if _family(language) in self._connector.own:
            return self._with_unread(target, found, language)
        missing = {fact for gap in found.gaps for fact in gap.facts}
        if not missing:
            return found
        return self._joined(found, self.by_name(target), missing)

    def _with_unread(self, target: SymbolTarget, found: Connections, language: str) -> Connections:
        """With its uses in files that the compiler does not read: components, notebooks."""
        unread = {
            other
            for other in self._languages
            if family_of(other) == family_of(language) and _family(other) != _family(language)
        }
        named = self.by_name(target) if unread else None
        if named is None:
            return found
        there = replace(
            named,
            callers=tuple(edge for edge in named.callers if _is_in(edge.target.path, unread)),
            users=tuple(edge for edge in named.users if _is_in(edge.target.path, unread)),
            references=tuple(path for path in named.references or () if _is_in(path, unread)),
        )
        return self._joined(found, there, {Fact.callers, Fact.references})

    def _joined(
        self, found: Connections, named: Connections | None, missing: Collection[Fact]
    ) -> Connections:
        from asterism.structure.shapes import completed

        return completed(found, named, missing) if named is not None else found

    @cached_property
    def _languages(self) -> frozenset[str]:
        return frozenset(detect(file.path).language for file in self._snapshot.listing)

    def _resolved(self, family: str, targets: list[SymbolTarget]) -> Sequence[Connections]:
        if not targets:
            return ()
        try:
            return self._connector.witness(family).connections(targets, self._listing)
        except _ODD as error:
            raise ServerGarbled(
                f"The answer for {family} is of no use ({error!r:.200})."
            ) from error


def _can_be_told(path: str) -> bool:
    """Whether a file's name can be written in a message at all."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


def _is_in(path: str | None, languages: Collection[str]) -> bool:
    """Whether a file is in one of some languages."""
    return path is not None and detect(path).language in languages


def _by_name_note(why: object) -> str:
    """Why names had to do; the last words of a program may be many."""
    words = " ".join(str(why).split())
    short = words if len(words) <= MOST_WORDS else f"{words[:MOST_WORDS]}…"
    return f"Connected by name: {short}"


def _family(language: str) -> str:
    """Languages that have one witness."""
    return facets_of(language).server or language

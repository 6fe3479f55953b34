"""TypeScript and JavaScript: live connections of symbols, from the native compiler."""

import json
import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from asterism.analysis.syntax.outlines import outline
from asterism.lsp.connection import Answer, ServerConnection
from asterism.lsp.keeper import KeeperOptions
from asterism.lsp.process import ServerCommand
from asterism.programs.start import is_below
from asterism.programs.table import TYPESCRIPT
from asterism.structure.positions import SymbolTarget
from asterism.structure.project import CheckerProject
from asterism.structure.repository import OutlineOf
from asterism.structure.typescript.config import CompilerPlan, is_config, is_source, plan
from asterism.structure.typescript.connections import connections_of
from asterism.structure.typescript.places import CompilerView, SymbolPlaces, Types
from asterism.structure.typescript.session import CompilerSession
from asterism.types.errors import ServerMissing
from asterism.types.files import FoundFile
from asterism.types.structure import Connections

# The one version whose protocol these modules speak.
COMPILER_VERSION = "7.0.2"

# Filled when the package is built; the compiler reads its `lib.*.d.ts` from beside itself.
SHIPPED = Path(__file__).parents[1] / "typescript_compiler" / "tsc"


def find_compiler(given: str | None = None) -> str | None:
    """The compiler's program, or None."""
    place = Path(given) if given else SHIPPED
    # A relative path could name a file of the repository.
    is_there = place.is_absolute() and place.is_file() and os.access(place, os.X_OK)
    return str(place) if is_there and (place.parent / "lib.es5.d.ts").is_file() else None


def require_compiler(given: str | None = None) -> str:
    """The compiler's program, or an error that says what to do."""
    found = find_compiler(given)
    if found is not None:
        return found
    if given:
        raise ServerMissing(
            f"There is no TypeScript compiler at {given}: the setting must name, by its absolute "
            f"path, the `tsc` of version {COMPILER_VERSION}'s platform package, with its "
            "`lib.*.d.ts` beside it."
        )
    raise ServerMissing(
        "The TypeScript compiler was not shipped with this installation; install Asterism again "
        "with npm at hand, or name the compiler's `tsc` in the settings."
    )


_NAME = "TypeScript compiler"

# Go keeps itself below this by collecting more often; what lies between the two is for peaks.
MEMORY_SHARE_OF_GO = 0.75


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeScriptOptions:
    """What the compiler may use, and how long it may take."""

    memory_bytes: int = 2_000_000_000
    load_seconds: float = 120.0
    """For reading the whole repository; 1,900 files take 0.7 CPU-seconds."""
    request_seconds: float = 10.0
    """For one question; the slowest measured took 0.6 s, on a name that occurs in every file."""
    keeper: KeeperOptions = field(default_factory=KeeperOptions)
    outline_of: OutlineOf = outline
    """Who reads what a file says."""


class TypeScriptProject(CheckerProject[CompilerSession]):
    """One repository's TypeScript and JavaScript. Any thread may ask; questions are in turn."""

    def __init__(
        self, compiler: str, root: str, cache: str, options: TypeScriptOptions | None = None
    ) -> None:
        """`compiler` is the program, `cache` a directory of Asterism for this repository alone."""
        self._library = str(Path(compiler).resolve().parent)
        self._cache = Path(cache, "typescript")
        self._options = options or TypeScriptOptions()
        self._plan: list[CompilerPlan] = []
        self._own: frozenset[str] = frozenset()
        memory = int(self._options.memory_bytes * MEMORY_SHARE_OF_GO) >> 20
        server = ServerCommand(
            name=_NAME,
            program=TYPESCRIPT,
            command=(compiler,),
            values={"root": root.rstrip("/"), "cache": str(self._cache), "memory_mib": str(memory)},
            memory_bytes=self._options.memory_bytes,
        )
        places = (root, str(self._cache), self._library)
        self._readable = tuple(map(os.path.realpath, places))
        answers: dict[str, Answer] = {"readFile": self._read_file}
        super().__init__(server, root, self._options.keeper, answers)

    def _read_file(self, path: Any) -> dict[str, None] | None:
        """Answer the compiler, which asks before it reads a file.

        With None it reads the file itself; content None means that the file does not exist.
        """
        with suppress(ValueError):
            real = os.path.realpath(path) if isinstance(path, str) else ""
            if any(is_below(real, place) for place in self._readable):
                return None
        return {"content": None}

    def _is_relevant(self, path: str) -> bool:
        return is_source(path) or is_config(path)

    def _answer(
        self, session: CompilerSession, targets: Sequence[SymbolTarget]
    ) -> tuple[Connections, ...]:
        self._refresh(session)
        rights = [planned.right for planned in self._plan]
        projects = list(zip(session.projects, rights, strict=True))
        views = [_view(session, project, self._own, projects) for project in session.projects]
        return tuple(
            connections_of(views[_index(f"{self._root}/{target.path}", rights)], target)
            for target in targets
        )

    def _open(self, connection: ServerConnection) -> CompilerSession:
        """Load the repository as it is listed now."""
        session = CompilerSession(
            connection,
            self._root,
            self._library,
            seconds=self._options.request_seconds,
            outline_of=self._options.outline_of,
        )
        listing = dict(self._listing)
        session.open(self._write(listing), seconds=self._options.load_seconds)
        self._loaded = listing
        return session

    def _refresh(self, session: CompilerSession) -> None:
        """Let the compiler read again what changed since it last did."""
        found = self._changes()
        if not found:
            return
        changes = {
            "created": self._absolute(found.created),
            "deleted": self._absolute(found.deleted),
            "changed": self._absolute(found.changed),
        }
        seconds = self._options.load_seconds
        if found.created or found.deleted or any(map(is_config, found.changed)):
            configs = self._write(self._listing)
            changes["changed"] += configs
            session.files_changed(changes, seconds=seconds)
            session.open(configs, seconds=seconds)
        else:
            session.files_changed(changes, seconds=seconds)
        self._loaded = dict(self._listing)

    def _write(self, listing: dict[str, FoundFile]) -> list[str]:
        """Write the configurations for these files, and return their paths."""
        self._plan = plan(self._root, list(listing))
        self._own = frozenset().union(*(planned.right for planned in self._plan))
        written = []
        for number, planned in enumerate(self._plan):
            place = self._cache / str(number) / "tsconfig.json"
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(json.dumps(planned.configuration), encoding="utf-8")
            written.append(str(place))
        return written


def _view(
    session: CompilerSession,
    project: str,
    own: frozenset[str],
    projects: list[tuple[str, frozenset[str]]],
) -> CompilerView:
    places = SymbolPlaces(session, project, own)
    return CompilerView(session, project, own, places, Types(session, project, places), projects)


def _index(path: str, rights: Sequence[frozenset[str]]) -> int:
    """The project that is right about a file."""
    return next((number for number, right in enumerate(rights) if path in right), 0)

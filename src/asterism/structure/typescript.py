"""TypeScript and JavaScript: live connections of symbols, from the native compiler."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from asterism.backends.lsp.connection import Connection
from asterism.backends.lsp.keeper import Condition, Keeper, KeeperOptions
from asterism.backends.lsp.process import ServerCommand
from asterism.domain.files import FoundFile
from asterism.domain.structure import Connections
from asterism.structure.targets import Target
from asterism.structure.turns import Turns
from asterism.structure.typescript_config import Plan, is_config, is_source, plan
from asterism.structure.typescript_connections import connections_of
from asterism.structure.typescript_places import Places
from asterism.structure.typescript_session import Session
from asterism.structure.typescript_types import Types
from asterism.structure.typescript_view import View

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


class TypeScriptProject:
    """One repository's TypeScript and JavaScript. Any thread may ask; questions are in turn."""

    def __init__(
        self, compiler: str, root: str, cache: str, options: TypeScriptOptions | None = None
    ) -> None:
        """`compiler` is the program, `cache` a directory of ours for this repository alone."""
        self._root = root.rstrip("/")
        self._library = str(Path(compiler).resolve().parent)
        self._cache = Path(cache, "typescript")
        self._options = options or TypeScriptOptions()
        self._listing: dict[str, FoundFile] = {}
        self._loaded: dict[str, FoundFile] = {}
        self._plan: list[Plan] = []
        self._own: frozenset[str] = frozenset()
        self._turns = Turns(_NAME, self._options.keeper.wait_seconds)
        memory = int(self._options.memory_bytes * MEMORY_SHARE_OF_GO) >> 20
        server = ServerCommand(
            name=_NAME,
            command=(compiler, "--api", "--async", "--cwd", self._root),
            directory=self._root,
            variables=(("GOMEMLIMIT", f"{memory}MiB"),),
            memory_bytes=self._options.memory_bytes,
        )
        self._keeper: Keeper[Session] = Keeper(server, self._open, self._options.keeper)

    @property
    def condition(self) -> Condition:
        """Where the compiler stands."""
        return self._keeper.condition

    @property
    def trouble(self) -> str | None:
        """What went wrong last, for a person."""
        return self._keeper.trouble

    @property
    def pid(self) -> int | None:
        """The compiler's process, while there is one."""
        return self._keeper.pid

    def memory(self) -> int:
        """Resident bytes of the compiler."""
        return self._keeper.memory()

    def warm_up(self, files: Iterable[FoundFile]) -> None:
        """Begin to load the repository in the background."""
        with self._turns.take_if_free() as is_free:
            # While a question is answered there is nothing left to warm up.
            if is_free:
                self._listing = _relevant(files)
                self._keeper.warm_up()

    def connections(
        self, targets: Sequence[Target], files: Iterable[FoundFile]
    ) -> tuple[Connections, ...]:
        """What is known of each target, by the files as they are now.

        `files` is the repository's listing of this moment: what differs from the last one is read
        again first. Raises a LanguageServerError where the compiler gives no answer at all.
        """
        with self._turns.take():
            self._listing = _relevant(files)
            return self._keeper.call(lambda session: self._answer(session, targets))

    def close(self) -> None:
        """End the compiler."""
        self._keeper.close()

    def _answer(self, session: Session, targets: Sequence[Target]) -> tuple[Connections, ...]:
        self._refresh(session)
        rights = [planned.right for planned in self._plan]
        projects = list(zip(session.projects, rights, strict=True))
        views = [_view(session, project, self._own, projects) for project in session.projects]
        return tuple(
            connections_of(views[_index(f"{self._root}/{target.path}", rights)], target)
            for target in targets
        )

    def _open(self, connection: Connection) -> Session:
        """Load the repository as it is listed now."""
        session = Session(
            connection, self._root, self._library, seconds=self._options.request_seconds
        )
        listing = dict(self._listing)
        session.open(self._write(listing), seconds=self._options.load_seconds)
        self._loaded = listing
        return session

    def _refresh(self, session: Session) -> None:
        """Let the compiler read again what changed since it last did."""
        before, now = self._loaded, self._listing
        if before == now:
            return
        created = [path for path in now if path not in before]
        deleted = [path for path in before if path not in now]
        changed = [path for path in now if path in before and now[path] != before[path]]
        changes = {
            "created": self._absolute(created),
            "deleted": self._absolute(deleted),
            "changed": self._absolute(changed),
        }
        seconds = self._options.load_seconds
        if created or deleted or any(is_config(path) for path in changed):
            configs = self._write(now)
            changes["changed"] += configs
            session.files_changed(changes, seconds=seconds)
            session.open(configs, seconds=seconds)
        else:
            session.files_changed(changes, seconds=seconds)
        self._loaded = dict(now)

    def _absolute(self, paths: Iterable[str]) -> list[str]:
        return [f"{self._root}/{path}" for path in paths]

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
    session: Session, project: str, own: frozenset[str], projects: list[tuple[str, frozenset[str]]]
) -> View:
    places = Places(session, project, own)
    return View(session, project, own, places, Types(session, project, places), projects)


def _index(path: str, rights: Sequence[frozenset[str]]) -> int:
    """The project that is right about a file."""
    return next((number for number, right in enumerate(rights) if path in right), 0)


def _relevant(files: Iterable[FoundFile]) -> dict[str, FoundFile]:
    """What the compiler reads, and what says where modules are found."""
    return {file.path: file for file in files if is_source(file.path) or is_config(file.path)}

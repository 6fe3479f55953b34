"""Python: live connections of symbols, from the type checker `ty` as a language server."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from asterism.backends.lsp.client import LanguageClient, standard_answers
from asterism.backends.lsp.connection import Connection
from asterism.backends.lsp.keeper import Condition, Keeper, KeeperOptions
from asterism.backends.lsp.process import ServerCommand
from asterism.domain.files import FoundFile
from asterism.domain.structure import Connections
from asterism.structure.python_connections import connections_of
from asterism.structure.python_places import Files
from asterism.structure.python_resolving import Resolver
from asterism.structure.targets import Target
from asterism.structure.turns import Turns

_NAME = "Python type checker"

SOURCE_ENDINGS = (".py", ".pyi")

# Files that say where modules are found.
_CONFIGS = frozenset({"pyproject.toml", "ty.toml", "pyvenv.cfg"})
# A repository may have the checker look away from files that the index has all the same; only what
# is never anybody's own code stays out.
_NOT_OWN = (
    ".venv",
    "venv",
    ".tox",
    ".nox",
    ".eggs",
    ".direnv",
    ".git",
    ".hg",
    ".svn",
    ".mypy_cache",
    ".ruff_cache",
    "__pypackages__",
    "node_modules",
    "site-packages",
)
_SOURCES = {"include": ["**"], "exclude": ["!**", *(f"**/{name}/" for name in _NOT_OWN)]}

_CREATED, _CHANGED, _DELETED = 1, 2, 3


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonOptions:
    """What the type checker may use, and how long it may take."""

    memory_bytes: int = 2_000_000_000
    request_seconds: float = 20.0
    """For one question; the first one reads the files it needs."""
    environment: str | None = None
    """The virtual environment that imports come from."""
    keeper: KeeperOptions = field(default_factory=KeeperOptions)


class PythonProject:
    """One repository's Python. Any thread may ask; questions are in turn."""

    def __init__(self, checker: str, root: str, options: PythonOptions | None = None) -> None:
        """`checker` is the program `ty`."""
        self._root = root.rstrip("/")
        self._options = options or PythonOptions()
        self._listing: dict[str, FoundFile] = {}
        self._loaded: dict[str, FoundFile] = {}
        self._files = Files(self._root)
        self._turns = Turns(_NAME, self._options.keeper.wait_seconds)
        server = ServerCommand(
            name=_NAME,
            command=(checker, "server"),
            directory=self._root,
            memory_bytes=self._options.memory_bytes,
        )
        answers = standard_answers(self._root, {"ty": self._settings()})
        self._keeper: Keeper[LanguageClient] = Keeper(
            server, self._open, self._options.keeper, answers
        )

    @property
    def condition(self) -> Condition:
        """Where the checker stands."""
        return self._keeper.condition

    @property
    def trouble(self) -> str | None:
        """What went wrong last, for a person."""
        return self._keeper.trouble

    @property
    def pid(self) -> int | None:
        """The checker's process, while there is one."""
        return self._keeper.pid

    def memory(self) -> int:
        """Resident bytes of the checker."""
        return self._keeper.memory()

    def warm_up(self, files: Iterable[FoundFile]) -> None:
        """Begin to start the checker in the background."""
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
        again first. Raises a LanguageServerError where the checker gives no answer at all.
        """
        with self._turns.take():
            self._listing = _relevant(files)
            return self._keeper.call(lambda client: self._answer(client, targets))

    def close(self) -> None:
        """End the checker."""
        self._keeper.close()

    def _settings(self) -> dict[str, object]:
        place = self._options.environment
        configuration: dict[str, object] = {"src": _SOURCES}
        if place:
            configuration["environment"] = {"python": place}
        # Nobody looks at diagnostics here, so none need be found.
        return {"configuration": configuration, "diagnosticMode": "off"}

    def _open(self, connection: Connection) -> LanguageClient:
        # Whatever was kept of an earlier checker's time is read again.
        self._loaded = dict(self._listing)
        self._files = Files(self._root)
        settings = self._settings()
        seconds = self._options.request_seconds
        return LanguageClient(connection, self._root, seconds=seconds, options=settings)

    def _answer(self, client: LanguageClient, targets: Sequence[Target]) -> tuple[Connections, ...]:
        self._refresh(client)
        resolver = Resolver(client, self._files)
        return tuple(connections_of(resolver, target) for target in targets)

    def _refresh(self, client: LanguageClient) -> None:
        """Tell the checker what changed since it was last told."""
        before, now = self._loaded, self._listing
        if before == now and self._files.is_filled:
            return
        changes = {path: _CREATED for path in now if path not in before}
        changes |= {path: _DELETED for path in before if path not in now}
        changes |= {p: _CHANGED for p in now if p in before and now[p] != before[p]}
        absolute = {f"{self._root}/{path}": kind for path, kind in changes.items()}
        if changes:
            client.files_changed(absolute)
            self._loaded = dict(now)
        own = {f"{self._root}/{path}" for path in now if path.endswith(SOURCE_ENDINGS)}
        self._files.refresh(own, absolute)


def _relevant(files: Iterable[FoundFile]) -> dict[str, FoundFile]:
    return {
        file.path: file
        for file in files
        if file.path.endswith(SOURCE_ENDINGS) or file.path.rpartition("/")[2] in _CONFIGS
    }

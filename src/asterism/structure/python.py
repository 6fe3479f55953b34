"""Python: live connections of symbols, from the type checker `ty` as a language server."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from asterism.analysis.syntax.outlines import outline
from asterism.backends.lsp.client import LanguageClient, standard_answers
from asterism.backends.lsp.connection import Connection
from asterism.backends.lsp.keeper import KeeperOptions
from asterism.backends.lsp.process import ServerCommand
from asterism.domain.structure import Connections
from asterism.programs.table import TY
from asterism.structure.kept_outlines import OutlineOf
from asterism.structure.project import Project
from asterism.structure.python_connections import connections_of
from asterism.structure.python_places import Files
from asterism.structure.python_resolving import Resolver
from asterism.structure.targets import Target

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
    cache: str
    """A directory of ours, for the declarations of the standard library."""
    environment: str | None = None
    """The virtual environment that imports come from."""
    keeper: KeeperOptions = field(default_factory=KeeperOptions)
    outline_of: OutlineOf = outline
    """Who reads what a file says."""


class PythonProject(Project[LanguageClient]):
    """One repository's Python. Any thread may ask; questions are in turn."""

    def __init__(self, checker: str, root: str, options: PythonOptions) -> None:
        """`checker` is the program `ty`."""
        place = root.rstrip("/")
        self._options = options
        environment = self._options.environment
        self._files = Files(place, self._options.outline_of)
        server = ServerCommand(
            name=_NAME,
            program=TY,
            command=(checker,),
            values={
                "root": place,
                "cache": self._options.cache,
                **({"environment": environment} if environment else {}),
            },
            memory_bytes=self._options.memory_bytes,
        )
        answers = standard_answers(place, {"ty": self._settings()})
        super().__init__(server, root, self._options.keeper, answers)

    def _is_relevant(self, path: str) -> bool:
        return path.endswith(SOURCE_ENDINGS) or path.rpartition("/")[2] in _CONFIGS

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
        self._files = Files(self._root, self._options.outline_of)
        settings = self._settings()
        seconds = self._options.request_seconds
        return LanguageClient(connection, self._root, seconds=seconds, options=settings)

    def _answer(self, client: LanguageClient, targets: Sequence[Target]) -> tuple[Connections, ...]:
        self._refresh(client)
        resolver = Resolver(client, self._files)
        return tuple(connections_of(resolver, target) for target in targets)

    def _refresh(self, client: LanguageClient) -> None:
        """Tell the checker what changed since it was last told."""
        found = self._changes()
        if not found and self._files.is_filled:
            return
        kinds = zip((_CREATED, _CHANGED, _DELETED), found, strict=True)
        changes = {path: kind for kind, paths in kinds for path in self._absolute(paths)}
        if changes:
            client.files_changed(changes)
            self._loaded = dict(self._listing)
        own = set(self._absolute(path for path in self._listing if path.endswith(SOURCE_ENDINGS)))
        self._files.refresh(own, changes)

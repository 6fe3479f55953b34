"""Python: live connections of symbols, from the type checker `ty` as a language server."""

import os
import sysconfig
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from asterism.analysis.syntax.outlines import outline
from asterism.lsp.connection import LanguageClient, ServerConnection, standard_answers
from asterism.lsp.keeper import KeeperOptions, ServerCondition
from asterism.lsp.process import ServerCommand
from asterism.programs.start import fences
from asterism.programs.table import TY
from asterism.structure.positions import SymbolTarget
from asterism.structure.project import CheckerProject
from asterism.structure.python.connections import connections_of
from asterism.structure.python.paths import (
    PythonFiles,
    check_links,
    configuration_path,
    write_configuration,
)
from asterism.structure.python.references import PythonResolver
from asterism.structure.repository import OutlineOf
from asterism.types.errors import ServerMissing
from asterism.types.files import FoundFile
from asterism.types.structure import Connections

_ENVIRONMENTS = (".venv", "venv", "env", ".env")
_MARK = "pyvenv.cfg"


def find_checker(given: str | None = None) -> str | None:
    """The program `ty`: the one given, or the one installed with Asterism; None without either."""
    place = Path(given) if given else Path(sysconfig.get_path("scripts"), "ty")
    # A relative path could name a file of the repository.
    is_there = place.is_absolute() and place.is_file() and os.access(place, os.X_OK)
    return str(place) if is_there else None


def require_checker(given: str | None = None) -> str:
    """The program `ty`, or an error that says what to do."""
    found = find_checker(given)
    if found is None:
        raise ServerMissing(
            f"There is no type checker at {given}: the setting must name the program `ty`, by its "
            "absolute path."
            if given
            else "The Python type checker `ty` is not installed; install Asterism again."
        )
    return found


def find_environment(root: str, active: str | None = None) -> str | None:
    """The virtual environment of a repository: its own, or else the active one.

    One that is a link out of the repository is only taken if the user has activated it.
    """
    chosen = os.path.realpath(active) if active else None
    inside = os.path.realpath(root) + os.sep
    for name in _ENVIRONMENTS:
        place = Path(root, name)
        real = os.path.realpath(place)
        if (real == chosen or real.startswith(inside)) and (place / _MARK).is_file():
            return str(place)
    return active if active and Path(active, _MARK).is_file() else None


_NAME = "Python type checker"

SOURCE_ENDINGS = (".py", ".pyi")

# Files that say where modules are found.
_CONFIGS = frozenset({"pyproject.toml", "ty.toml", "pyvenv.cfg"})

_CREATED, _CHANGED, _DELETED = 1, 2, 3


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonOptions:
    """What the type checker may use, and how long it may take."""

    memory_bytes: int = 2_000_000_000
    request_seconds: float = 20.0
    """For one question; the first one reads the files it needs."""
    cache: str
    """Directory for the checker's configuration and the stubs of the standard library."""
    environment: str | None = None
    """The virtual environment that imports come from."""
    keeper: KeeperOptions = field(default_factory=KeeperOptions)
    outline_of: OutlineOf = outline
    """Who reads what a file says."""
    is_fenced: bool = field(default_factory=lambda: fences().files)
    """Whether the kernel keeps the checker inside of the repository."""


class PythonProject(CheckerProject[LanguageClient]):
    """One repository's Python. Any thread may ask; questions are in turn."""

    def __init__(self, checker: str, root: str, options: PythonOptions) -> None:
        """`checker` is the program `ty`."""
        place = root.rstrip("/")
        self._options = options
        environment = self._options.environment
        self._checked: dict[str, FoundFile] = {}
        """The files for which the links were last looked at."""
        self._configuration = str(configuration_path(options.cache, environment))
        self._files = PythonFiles(place, self._options.outline_of)
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
        # With configurationFile, ty does not read the settings of the repository. Diagnostics are
        # not used.
        return {"configurationFile": self._configuration, "diagnosticMode": "off"}

    def warm_up(self, files: Iterable[FoundFile]) -> None:
        """Begin to load the repository in the background, unless its links forbid that."""
        listed = [*files]
        with suppress(ServerMissing):
            self._check_links(listed)
            super().warm_up(listed)

    def connections(
        self, targets: Sequence[SymbolTarget], files: Iterable[FoundFile]
    ) -> tuple[Connections, ...]:
        """Connections of each target; raises ServerMissing if a link leads out unfenced."""
        listed = [*files]
        self._check_links(listed)
        return super().connections(targets, listed)

    def _check_links(self, files: list[FoundFile]) -> None:
        """Look for links before the checker starts and before it is told of changed files."""
        found = {file.path: file for file in files if self._is_relevant(file.path)}
        is_checked = self.condition is not ServerCondition.resting and found == self._checked
        if not self._options.is_fenced and not is_checked:
            check_links(self._root, self._options.environment)
            self._checked = found

    def _configure(self) -> None:
        """Write the configuration for the files as they are now."""
        write_configuration(self._root, self._options.cache, self._options.environment)

    def _open(self, connection: ServerConnection) -> LanguageClient:
        # Whatever was kept of an earlier checker's time is read again.
        self._loaded = dict(self._listing)
        self._files = PythonFiles(self._root, self._options.outline_of)
        self._configure()
        settings = self._settings()
        seconds = self._options.request_seconds
        return LanguageClient(connection, self._root, seconds=seconds, options=settings)

    def _answer(
        self, client: LanguageClient, targets: Sequence[SymbolTarget]
    ) -> tuple[Connections, ...]:
        self._refresh(client)
        resolver = PythonResolver(client, self._files)
        return tuple(connections_of(resolver, target) for target in targets)

    def _refresh(self, client: LanguageClient) -> None:
        """Tell the checker what changed since it was last told."""
        found = self._changes()
        if not found and self._files.is_filled:
            return
        kinds = zip((_CREATED, _CHANGED, _DELETED), found, strict=True)
        changes = {path: kind for kind, paths in kinds for path in self._absolute(paths)}
        if changes:
            self._configure()
            if any(path.rpartition("/")[2] in _CONFIGS for paths in found for path in paths):
                changes[self._configuration] = _CHANGED
            client.files_changed(changes)
            self._loaded = dict(self._listing)
        own = set(self._absolute(path for path in self._listing if path.endswith(SOURCE_ENDINGS)))
        self._files.refresh(own, changes)

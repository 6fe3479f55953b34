"""A folder of agents' files: listing, reading, creating, editing, importing and exporting them."""

import os
import re
import secrets
import stat
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from asterism.context.agents.nodes import LARGEST, AgentInvalid, AgentProblem
from asterism.context.agents.parse import read_agent
from asterism.types.context import Agent
from asterism.types.errors import InputError, PathMissing, PathUnreadable, StorageFailed
from asterism.types.files import display_path

ENDING = ".yaml"
_ENDINGS = (ENDING, ".yml")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
_BOM = "\ufeff"


class AgentFile(NamedTuple):
    """An agent's file: the agent, or what is wrong with it."""

    name: str
    path: Path
    agent: Agent | None = None
    problems: tuple[AgentProblem, ...] = ()


class AgentFolder:
    """The agents of a directory, one file each; the file's name is the agent's."""

    def __init__(self, directory: Path) -> None:
        """Nothing is read yet."""
        self.directory = directory

    def names(self) -> tuple[str, ...]:
        """The names of all agents, in order."""
        return tuple(sorted(self._paths()))

    def list(self) -> tuple[AgentFile, ...]:
        """Every agent; one whose file has problems is among them, with those."""
        return tuple(self.look(name) for name in self.names())

    def look(self, name: str) -> AgentFile:
        """An agent's file, whatever is in it."""
        return look_at(self.path(name), name)

    def unused(self) -> tuple[Path, ...]:
        """Files that look like agents but are not used: wrong name, or another takes precedence."""
        used = set(self._paths().values())
        found = (path for ending in _ENDINGS for path in self.directory.glob(f"*{ending}"))
        return tuple(sorted(path for path in found if path not in used and path.is_file()))

    def path(self, name: str) -> Path:
        """The file of an agent, which has to be there."""
        found = self._paths().get(name)
        if found is None:
            known = ", ".join(self.names()) or "none"
            raise PathMissing(
                f"There is no agent {name!r} in {_shown(self.directory)}; there are: {known}."
            )
        return found

    def load(self, name: str) -> Agent:
        """An agent; raises `AgentInvalid` with all that is wrong."""
        return load_agent(self.path(name))

    def text(self, name: str) -> str:
        """An agent's file as it is written; it names secrets and holds none."""
        return _read(self.path(name))

    def export(self, name: str) -> str:
        """An agent's file to be given away, checked: no vectors, no values of secrets."""
        path = self.path(name)
        text = _read(path)
        read_agent(name, text, _shown(path))
        return text

    def create(self, name: str, text: str, *, replace: bool = False) -> Agent:
        """A new agent from a text, which is checked first; an existing one is not overwritten."""
        _check_name(name)
        existing = self._paths().get(name)
        if existing is not None and not replace:
            raise InputError(
                f"There is an agent {name!r} already, in {_shown(existing)}. Choose another name, "
                "or replace it."
            )
        path = existing or self.directory / f"{name}{ENDING}"
        agent = read_agent(name, text, name)
        before = _read(existing) if existing is not None else None
        _write(path, text, before)
        return agent

    def edit(self, name: str, change: Callable[[str], str]) -> Agent:
        """Change an agent's text; what would make it wrong is refused, and the file stays."""
        path = self.path(name)
        before = _read(path)
        after = change(before)
        agent = read_agent(name, after, f"Nothing was changed: with this, {_shown(path)}")
        if after != before:
            _write(path, after, before)
        return agent

    def remove(self, name: str) -> None:
        """Delete an agent's file."""
        self.path(name).unlink(missing_ok=True)

    def _paths(self) -> Mapping[str, Path]:
        try:
            entries = sorted(self.directory.iterdir())
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise PathUnreadable(
                f"{_shown(self.directory)} cannot be read: {error.strerror}."
            ) from error
        found: dict[str, Path] = {}
        for path in entries:
            if path.suffix in _ENDINGS and _NAME.fullmatch(path.stem) and path.is_file():
                # Of NAME.yaml and NAME.yml the first counts.
                found.setdefault(path.stem, path)
        return found


def load_agent(path: Path) -> Agent:
    """The agent of a file anywhere."""
    return read_agent(path.stem, _read(path), _shown(path))


def look_at(path: Path, name: str = "") -> AgentFile:
    """A file anywhere as an agent, whatever is in it; one that is not there is an error."""
    name = name or path.stem
    try:
        return AgentFile(name, path, load_agent(path))
    except AgentInvalid as error:
        return AgentFile(name, path, None, error.problems)
    except PathMissing:
        raise
    except InputError as error:
        return AgentFile(name, path, None, (AgentProblem(1, "", str(error)),))


def is_path(written: str) -> bool:
    """Whether a file is meant and no agent's name, which has neither an ending nor a separator."""
    return written.endswith(_ENDINGS) or "/" in written or os.sep in written


def import_agent(
    folder: AgentFolder, source: Path, name: str = "", *, replace: bool = False
) -> Agent:
    """Take a file over into a folder, comments and all, under its own name or another."""
    return folder.create(name or source.stem, _read(source), replace=replace)


def _check_name(name: str) -> None:
    if not _NAME.fullmatch(name):
        raise InputError(
            f"{name!r} is no name for an agent: letters, digits, - and _, at most 64 of them."
        )


def _read(path: Path) -> str:
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST + 1)
    except FileNotFoundError as error:
        raise PathMissing(f"{_shown(path)} does not exist.") from error
    except OSError as error:
        raise PathUnreadable(f"{_shown(path)} cannot be read: {error.strerror}.") from error
    if len(content) > LARGEST:
        raise InputError(
            f"{_shown(path)} is larger than {LARGEST:,} bytes. Move long references into files "
            "that are searched."
        )
    try:
        return content.decode("utf-8").removeprefix(_BOM).replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise AgentInvalid(_shown(path), [AgentProblem(line, "", "this is not UTF-8")]) from error


def _write(path: Path, text: str, before: str | None) -> None:
    """Put a whole new file in place at once, unless another hand has changed it meanwhile."""
    real = Path(os.path.realpath(path))
    if before is not None and _read(real) != before:
        raise InputError(f"{_shown(path)} has changed in the meantime; do it again.")
    old = _old_bytes(real)
    if old is not None and b"\r\n" in old:
        text = text.replace("\n", "\r\n")
    try:
        real.parent.mkdir(parents=True, exist_ok=True)
        _replace(real, text.encode("utf-8"))
    except OSError as error:
        raise StorageFailed(f"{_shown(path)} was not written: {error.strerror}.") from error


def _old_bytes(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise PathUnreadable(f"{_shown(path)} cannot be read: {error.strerror}.") from error


def _replace(path: Path, content: bytes) -> None:
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(6)}.tmp")
    mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else 0o666
    try:
        handle = os.open(temporary, _NEW_FILE, mode)
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if path.exists():
            temporary.chmod(mode)
        temporary.replace(path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise


def _shown(path: Path) -> str:
    return display_path(str(path))

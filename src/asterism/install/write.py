"""The only place that touches clients' files: reading them, and carrying out a plan."""

import hashlib
import os
import re
import secrets
import stat
from collections.abc import Iterable
from contextlib import suppress
from datetime import date
from pathlib import Path
from typing import NamedTuple

from asterism.install.clients import Client, ClientPlaces
from asterism.install.plan import Backup, FileChange, ReadFile
from asterism.types.errors import InputError, PathUnreadable, StorageFailed
from asterism.types.files import display_path

# Enough to tell the states of one file apart.
_HASH_LENGTH = 12
_BACKUP = re.compile(r"\.asterism-backup-\d{8}-[0-9a-f]{12}$")
# A configuration of a coding agent has kilobytes; Claude Code's own grows to some megabytes.
LARGEST = 64_000_000
# Bytes as they are given, on Windows too.
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)


def is_found(client: Client, places: ClientPlaces) -> bool:
    """Whether a client seems to be on this machine."""
    return any(places.at(sign).exists() for sign in client.signs)


class WrittenFile(NamedTuple):
    """A change that was carried out, and where the copy of the earlier state is."""

    change: FileChange
    backup: Path | None


class Reader:
    """Reads each file once, so that a plan is of one state; with a root, none outside of it."""

    def __init__(self, root: Path | None = None) -> None:
        self._root = None if root is None else Path(os.path.realpath(root))
        self._files: dict[Path, ReadFile] = {}

    def __call__(self, path: Path) -> ReadFile:
        """The file at a path, or its absence."""
        if path not in self._files:
            self._files[path] = self._found(path)
        return self._files[path]

    def _found(self, path: Path) -> ReadFile:
        real = Path(os.path.realpath(path))
        if self._root is not None and not real.is_relative_to(self._root):
            raise InputError(
                f"{_shown(path)} was not touched: it leads out of the project, to {_shown(real)}."
            )
        content = _content(real)
        return ReadFile(path, real, content, tuple(_backups(real)) if content is not None else ())


def write(changes: Iterable[FileChange], today: date) -> list[WrittenFile]:
    """Carry out changes one by one; what cannot be written stops it, and says what was done."""
    done: list[WrittenFile] = []
    for change in changes:
        try:
            done.append(WrittenFile(change, _write(change, today)))
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise StorageFailed(
                f"{_shown(change.path)} was not changed: {reason}.{_so_far(done)}"
            ) from error
        except InputError as error:
            raise InputError(f"{error}{_so_far(done)}") from None
    return done


def _so_far(done: list[WrittenFile]) -> str:
    if not done:
        return " Nothing was written."
    names = ", ".join(_shown(entry.change.path) for entry in done)
    return f" Changed before that: {names}. Run the command again once this is put right."


def _write(change: FileChange, today: date) -> Path | None:
    now = _content(change.real)
    if now == change.after:
        # Another run did the same in the meantime.
        return None
    if now != change.before:
        raise InputError(
            f"{_shown(change.path)} has changed since the plan was made; run the command again."
        )
    _check_writable(change)
    backup = None
    if change.keeps_copy and change.before is not None:
        backup = _back_up(change.real, change.before, today)
    if change.after is None:
        change.real.unlink()
        _remove_directories(change.real, change.directories)
    else:
        _replace(change.real, change.after, change.real, 0o600 if change.private else 0o666)
    for copy in change.needless:
        copy.unlink(missing_ok=True)
    return backup


def _check_writable(change: FileChange) -> None:
    """A read-only file is not replaced, though its directory would allow it."""
    with suppress(FileNotFoundError):
        if not change.real.stat().st_mode & (stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH):
            raise InputError(
                f"{_shown(change.path)} is read-only and was not changed; make it writable first."
            )


def _replace(path: Path, content: bytes, like: Path, new_mode: int = 0o666) -> None:
    """Put a whole new file in a place, with the mode and owner of another, perhaps the old one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(6)}.tmp")
    status = like.stat() if like.exists() else None
    # From its first byte on, it has the permissions of the old one.
    mode = new_mode if status is None else stat.S_IMODE(status.st_mode)
    try:
        handle = os.open(temporary, _NEW_FILE, mode)
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if status is not None:
            if hasattr(os, "chown"):
                with suppress(PermissionError):
                    os.chown(temporary, status.st_uid, status.st_gid)
            temporary.chmod(mode)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _remove_directories(path: Path, count: int) -> None:
    for directory in list(path.parents)[:count]:
        try:
            directory.rmdir()
        except OSError:
            # Something else is in it.
            return


def _back_up(path: Path, content: bytes, today: date) -> Path:
    """Keep a copy beside the file; a state that has one already gets no second."""
    for copy in _backups(path):
        if copy.content == content:
            return copy.path
    backup = path.with_name(f"{path.name}.asterism-backup-{today:%Y%m%d}-{_hash(content)}")
    _replace(backup, content, path)
    return backup


def _backups(path: Path) -> list[Backup]:
    """The copies of earlier states, newest first."""
    copies = path.parent.glob(f"{_escaped(path.name)}.asterism-backup-*")
    try:
        found = [Backup(copy, copy.read_bytes()) for copy in copies if _BACKUP.search(copy.name)]
    except OSError:
        # Copies help to go back exactly; without them only our own lines are taken out.
        return []
    return sorted(found, key=lambda copy: copy.path.name, reverse=True)


def _escaped(name: str) -> str:
    return re.sub(r"([*?[])", r"[\1]", name)


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:_HASH_LENGTH]


def _content(path: Path) -> bytes | None:
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise PathUnreadable(f"{_shown(path)} is not a file; move it away first.")
        if status.st_size > LARGEST:
            raise PathUnreadable(f"{_shown(path)} is too large to be edited.")
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise PathUnreadable(f"{_shown(path)} cannot be read: {error.strerror}.") from error


def _shown(path: Path) -> str:
    return display_path(str(path))

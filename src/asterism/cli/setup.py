"""The engine as the command line uses it: the user's places and settings, warnings on stderr."""

import hashlib
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from asterism.analysis.source.checkouts import check_inside, enclosing_checkout, on_disk
from asterism.analysis.source.secrets import is_secret_path
from asterism.config.environment import cache_directory, data_directory
from asterism.config.layers import Limited
from asterism.config.load import load, start_logs
from asterism.config.settings import Settings
from asterism.engine.engine import Engine
from asterism.engine.stores import DataDirectories
from asterism.store.registry import Registered
from asterism.telemetry.log import is_logging
from asterism.types.errors import PathMissing, PathUnreadable, SettingError, UsageError
from asterism.types.files import display_path


def settings_for(directory: str, arguments: Mapping[str, object] | None = None) -> Settings:
    """Settings for a directory; warnings go to standard error.

    What a repository's file may not set is said once for each change of the file that matters.
    """
    loaded = load(Path(directory), arguments, "the command line")
    known = loaded.limited and _is_known(loaded.limited)
    for warning in (*loaded.warnings, *_log(loaded.settings)):
        is_old = known and loaded.limited is not None and warning == loaded.limited.warning
        if warning not in _said and not is_old:
            _said.add(warning)
            sys.stderr.write(f"asterism: warning: {warning}\n")
    return loaded.settings


def _is_known(limited: Limited) -> bool:
    """Whether an earlier command gave this warning; from now on one did."""
    place, given = cache_directory() / "warned" / _digest(limited.file), _digest(limited.warning)
    try:
        if place.is_file() and place.read_bytes() == given.encode():
            return True
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(given.encode())
    except OSError:
        # Then the next command gives it again.
        return False
    return False


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=16).hexdigest()


def _log(settings: Settings) -> list[str]:
    """Begin the log with the first settings that are read; without one a command goes on.

    A server has begun its own before, and that stays.
    """
    if is_logging():
        return []
    try:
        start_logs(settings)
    except SettingError as error:
        return [str(error)]
    return []


# A watcher reads its settings again and again; once is enough to be told.
_said: set[str] = set()


class FilePlace(NamedTuple):
    """A file, and its path and name inside its repository."""

    path: str
    root: str
    relative_path: str
    repo: str


def place_of(typed: str) -> FilePlace:
    """The repository is the enclosing checkout, else the current directory, else the file's own."""
    if "\0" in typed:
        raise PathMissing(f"{display_path(typed)} is not a possible path; check it.")
    path = Path(on_disk(typed)).absolute()
    checkout = enclosing_checkout(str(path.parent))
    here = Path.cwd() if path.is_relative_to(Path.cwd()) else None
    around = here if checkout is None else Path(checkout.root)
    root = path.parent if around is None else around
    relative = os.path.relpath(path, root).replace(os.sep, "/")
    behind = os.path.relpath(os.path.realpath(path), os.path.realpath(root))
    if is_secret_path(relative) or is_secret_path(behind.replace(os.sep, "/")):
        raise PathUnreadable(
            f"{display_path(typed)} looks like a secret by its name; such files are never read."
        )
    if around is not None:
        check_inside(str(path), str(around))
    return FilePlace(str(path), str(root), relative, root.name)


def folder_of(typed: str) -> Path:
    """A directory that the user names; a link in a checkout does not lead out of it."""
    path = Path(on_disk(typed)).absolute()
    checkout = enclosing_checkout(str(path.parent))
    if checkout is not None:
        check_inside(str(path), checkout.root)
    return path


def engine() -> Engine:
    """The engine over the user's own indexes."""
    return Engine(DataDirectories(data_directory(), cache_directory()), settings_for)


def directory_named(typed: str | None) -> Path:
    """The directory a user means, as an absolute path; nothing means where they stand."""
    return Path(on_disk(typed)).absolute() if typed is not None else Path.cwd()


def place_named(typed: str | None) -> Path:
    """A file or directory that the user names and that exists; nothing means where they stand."""
    place = directory_named(typed)
    if not place.exists():
        raise PathMissing(f"{display_path(str(typed or place))} does not exist; check the path.")
    return place


def repository_around(here: Engine, typed: str | None) -> Registered | None:
    """The repository that a path means; without one that of the current directory, if any."""
    return here.registry.find(Path.cwd()) if typed is None else here.locate(directory_named(typed))


INPUT_BYTES = 1_000_000
"""What a question on standard input may have: a hundred times what is read of it."""


def question_typed(typed: str) -> str:
    """The question; `-` reads it from standard input, whose bytes that are no text are shown."""
    if typed != "-":
        return typed
    if sys.stdin is None:
        raise UsageError("There is no standard input to read the question from; give it instead.")
    data = sys.stdin.buffer.read(INPUT_BYTES + 1)
    if len(data) > INPUT_BYTES:
        raise UsageError(f"The question is over {INPUT_BYTES:,} bytes; give the part that matters.")
    return data.decode("utf-8", "replace")

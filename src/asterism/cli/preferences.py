"""The user's settings for a command, and a word on those that could not be used."""

import hashlib
import sys
from collections.abc import Mapping
from pathlib import Path

from asterism.config.environment import cache_directory
from asterism.config.layers import Limited
from asterism.config.load import load
from asterism.config.logs import start_logs
from asterism.config.settings import Settings
from asterism.telemetry.log import is_logging
from asterism.types.errors import SettingError


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

"""The user's settings for a command, and a word on those that could not be used."""

import sys
from collections.abc import Mapping
from pathlib import Path

from asterism.config.loading import load
from asterism.config.logs import start_logs
from asterism.config.settings import Settings
from asterism.domain.errors import SettingError
from asterism.telemetry.logs import is_logging


def settings_for(directory: str, arguments: Mapping[str, object] | None = None) -> Settings:
    """Settings for a directory; warnings go to standard error."""
    loaded = load(Path(directory), arguments, "the command line")
    for warning in (*loaded.warnings, *_log(loaded.settings)):
        if warning not in _said:
            _said.add(warning)
            sys.stderr.write(f"asterism: warning: {warning}\n")
    return loaded.settings


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

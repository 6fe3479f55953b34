"""The user's settings for a command, and a word on those that could not be used."""

import sys
from collections.abc import Mapping
from pathlib import Path

from asterism.config.loading import load
from asterism.config.settings import Settings


def settings_for(directory: str, arguments: Mapping[str, object] | None = None) -> Settings:
    """Settings for a directory; warnings go to standard error."""
    loaded = load(Path(directory), arguments, "the command line")
    for warning in loaded.warnings:
        if warning not in _said:
            _said.add(warning)
            sys.stderr.write(f"asterism: warning: {warning}\n")
    return loaded.settings


# A watcher reads its settings again and again; once is enough to be told.
_said: set[str] = set()

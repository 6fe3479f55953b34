"""The engine as the command line uses it: the user's places and settings, warnings on stderr."""

from pathlib import Path

from asterism.analysis.source.shown_paths import on_disk
from asterism.cli.preferences import settings_for
from asterism.config.environment import cache_directory, data_directory
from asterism.engine.engine import Engine
from asterism.engine.wiring import Places


def engine() -> Engine:
    """The engine over the user's own indexes."""
    return Engine(Places(data_directory(), cache_directory()), settings_for)


def directory_named(typed: str | None) -> Path:
    """The directory a user means, as an absolute path; nothing means where they stand."""
    return Path(on_disk(typed)).absolute() if typed is not None else Path.cwd()

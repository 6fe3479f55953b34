"""A repository opened for a program: found or made known, with its settings."""

import logging
import os
from collections.abc import Callable, Mapping
from pathlib import Path

from asterism.api.arguments import text
from asterism.api.codebase import Codebase
from asterism.config.environment import cache_directory, data_directory
from asterism.config.load import load
from asterism.config.settings import Settings
from asterism.engine.engine import Engine
from asterism.engine.stores import DataDirectories
from asterism.indexing.report import Progress
from asterism.types.errors import UsageError

_log = logging.getLogger("asterism")


def open(
    path: str | os.PathLike[str] | None = None,
    *,
    name: str | None = None,
    project: str | None = None,
    jobs: int = 1,
    settings: Mapping[str, object] | None = None,
    listener: Callable[[Progress], None] | None = None,
) -> Codebase:
    """Open a repository; one that is not known yet is made known, and indexed when first needed.

    `path` is a directory, or anything in a repository that is known; nothing means the repository
    around the current directory. `name` and `project` are for a new one. `jobs` says how many
    processes read files: more than one is faster on a first build, and needs a script to have
    `if __name__ == "__main__":`. `settings` are as in the settings files, `{"index.sync_seconds":
    5}`, and come before these. `listener` hears how far a build is.
    """
    if isinstance(jobs, bool) or not isinstance(jobs, int) or jobs < 1:
        raise UsageError(f"jobs is {jobs!r}; give a whole number from 1 on.")
    said: set[str] = set()

    def settings_for(root: str) -> Settings:
        loaded = load(Path(root), {"work.jobs": jobs, **(settings or {})}, "asterism.open")
        for warning in loaded.warnings:
            if warning not in said:
                said.add(warning)
                _log.warning("%s", warning)
        return loaded.settings

    engine = Engine(DataDirectories(data_directory(), cache_directory()), settings_for)
    where = Path.cwd() if path is None else Path(text("path", os.fspath(path))).absolute()
    registered = engine.registry.find(where) if name is None and project is None else None
    if registered is None or not where.exists():
        root = engine.root_for(where) if path is None else where
        registered = engine.register(root, name, project)
    # A mistake in the settings shows here, not with the first question.
    settings_for(registered.repository.root)
    return Codebase(engine, registered, listener)

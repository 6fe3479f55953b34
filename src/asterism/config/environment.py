"""The one module that reads the environment."""

import os
from pathlib import Path

from asterism.analysis.source.checkouts import global_excludes
from asterism.config.files import USER_FILE
from asterism.config.layers import Layer
from asterism.config.settings import all_settings


def environment_layer() -> Layer:
    """The settings given as `ASTERISM_…` variables."""
    values = {
        setting.key: os.environ[setting.variable]
        for setting in all_settings()
        if os.environ.get(setting.variable)
    }
    return Layer("the environment", values, strict=False)


def home() -> str | None:
    """The user's home directory."""
    return os.environ.get("HOME") or None


def user_file() -> Path | None:
    """Where the user's own settings are, whether or not the file exists."""
    base = os.environ.get("XDG_CONFIG_HOME") or (f"{home()}/.config" if home() else None)
    return Path(base, USER_FILE) if base else None


def git_excludes() -> str | None:
    """The user's global excludes file, as git would find it."""
    here = home()
    return None if here is None else global_excludes(here, os.environ.get("XDG_CONFIG_HOME"))


def cores() -> int:
    """How many processes can run at once here."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1

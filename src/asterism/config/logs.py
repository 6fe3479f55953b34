"""The log as the user's settings want it."""

from pathlib import Path
from typing import cast

from asterism.config.environment import home, secret_values
from asterism.config.settings import Settings
from asterism.telemetry.events import hide
from asterism.telemetry.log import Format, Level, LogOptions, start_logging
from asterism.types.errors import SettingError
from asterism.types.files import display_path


def start_logs(settings: Settings, serving: bool = False, others: tuple[str, ...] = ()) -> None:
    """Log from now on as the settings say; `serving` is what a process does that stays.

    `others` are loggers of libraries whose warnings belong into the same log.
    """
    options = log_options(settings, serving, others)
    hide(secret_values())
    try:
        start_logging(options)
    except OSError as error:
        raise SettingError(
            f"log.file = {display_path(options.file)!r} cannot be written ({error.strerror}); give "
            "another file, or none."
        ) from error


def log_options(
    settings: Settings, serving: bool = False, others: tuple[str, ...] = ()
) -> LogOptions:
    """What is logged, how, and where."""
    chosen = settings.log
    level = chosen.level
    if level == "auto":
        level = "info" if serving or chosen.file else "off"
    return LogOptions(
        cast("Level", level), cast("Format", chosen.format), _file(chosen.file), others
    )


def _file(written: str) -> str:
    user = home()
    path = f"{user}{written[1:]}" if user and written.startswith("~/") else written
    if path and not Path(path).is_absolute():
        raise SettingError(f"log.file = {written!r} is not allowed; give an absolute path.")
    return path

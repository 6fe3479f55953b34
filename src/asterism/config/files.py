"""Settings files: `asterism.toml` in a repository, and the user's own."""

import errno
import os
import stat
import tomllib
from pathlib import Path

from asterism.config.layers import Layer
from asterism.types.errors import SettingError
from asterism.types.files import display_path

REPOSITORY_FILE = "asterism.toml"
USER_FILE = "asterism/config.toml"

MOST_BYTES = 64_000
"""Every setting with a comment of its own takes a tenth of it."""
LONGEST_LINE = 1_000
"""Characters of a line in a repository's file: parsing a key takes the square of its parts."""
REASON_AT_MOST = 200
"""Characters of the parser's message, which may quote a key of any length."""


def read_layer(path: Path) -> Layer | None:
    """The values of the user's settings file by key; None if there is no such file."""
    data = _read(path, os.O_RDONLY)
    return None if data is None else _layer(path, data)


def read_repository_layer(folder: Path) -> Layer | None:
    """The same of the file in a repository, which may be written to do harm.

    A link is refused: its target may be any file of the user, and messages quote keys and values.
    """
    path = folder / REPOSITORY_FILE
    data = _read(path, os.O_RDONLY | os.O_NOFOLLOW)
    if data is None:
        return None
    if max(map(len, data.splitlines()), default=0) > LONGEST_LINE:
        raise SettingError(
            f"{_shown(path)} has a line of more than {LONGEST_LINE:,} bytes; break it, or remove "
            "the file."
        )
    return _layer(path, data)._replace(repository=str(folder.resolve()))


def _read(path: Path, flags: int) -> bytes | None:
    """The bytes of a plain file of a sensible size; a pipe is not waited for."""
    try:
        handle = os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise SettingError(f"{_shown(path)} is a link; put the file itself there.") from error
        raise _unreadable(path, error) from error
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise SettingError(f"{_shown(path)} is not a plain file; remove it.")
        with os.fdopen(handle, "rb", closefd=False) as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise _unreadable(path, error) from error
    finally:
        os.close(handle)
    if len(data) > MOST_BYTES:
        raise SettingError(f"{_shown(path)} is larger than {MOST_BYTES:,} bytes; shorten it.")
    return data


def _layer(path: Path, data: bytes) -> Layer:
    try:
        content = tomllib.loads(data.decode("utf-8"))
    except RecursionError:
        # Without a cause: its traceback has a thousand frames.
        raise SettingError(
            f"{_shown(path)} nests lists or tables too deeply; correct or remove it."
        ) from None
    except ValueError as error:
        # Also a number of too many digits, which the parser does not map.
        reason = display_path(str(error))[:REASON_AT_MOST]
        raise SettingError(
            f"{_shown(path)} is not valid TOML: {reason}; correct or remove it."
        ) from error
    values: dict[str, object] = {}
    for section, entries in content.items():
        if not isinstance(entries, dict):
            values[section] = entries
            continue
        for name, value in entries.items():
            values[f"{section}.{name}"] = value
    return Layer(_shown(path), values)


def _unreadable(path: Path, error: OSError) -> SettingError:
    return SettingError(f"{_shown(path)} cannot be read ({error.strerror}); check it.")


def _shown(path: Path) -> str:
    return display_path(str(path))

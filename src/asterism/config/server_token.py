"""The token that the servers of one user share, in a private file that is made when needed."""

import contextlib
import os
import re
import secrets
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

from asterism.types.errors import SettingError
from asterism.types.files import display_path

DIRECTORY, NAME = "server", "token"
TOKEN_BYTES = 32
"""Random bytes, 64 characters as text: too many to guess."""

_TOKEN = re.compile(rf"[0-9a-f]{{{2 * TOKEN_BYTES}}}\n?")
_LONGEST = 4 * TOKEN_BYTES
_PRIVATE_FILE, _PRIVATE_DIRECTORY = 0o600, 0o700
_FOR_OTHERS = 0o077


class TokenFile:
    """The file below the data directory, and the token that was last read from it."""

    def __init__(self, data_directory: Path, hear: Callable[[str], None] | None = None) -> None:
        """`hear` is told each token, so that logs can leave it out."""
        self.path = data_directory / DIRECTORY / NAME
        self._hear = hear
        self._token = ""
        self._seen: tuple[int, ...] = ()

    def flaw(self) -> str | None:
        """What is wrong with the file, in words; nothing if it may be used or does not exist."""
        try:
            self._read()
        except FileNotFoundError:
            return None
        except (_Flaw, OSError) as error:
            return _words(error)
        return None

    def ensure(self) -> str:
        """The token; the file is made if it is missing, and replaced if it is not private."""
        try:
            with _alone(self.path.parent):
                try:
                    self._token = self._read()
                except (_Flaw, FileNotFoundError):
                    self._token = self._made()
                self._seen = _signature(self.path)
        except (_Flaw, OSError) as error:
            place = display_path(str(self.path))
            raise SettingError(
                f"The server's token cannot be kept in {place} ({_words(error)}); permit that, or "
                "set ASTERISM_SERVER_TOKEN."
            ) from error
        if self._hear is not None:
            self._hear(self._token)
        return self._token

    def current(self) -> str:
        """The token as another server of the user may have renewed it; the last one known else."""
        with contextlib.suppress(_Flaw, OSError):
            seen = _signature(self.path)
            if seen != self._seen:
                self._token, self._seen = self._read(), seen
                if self._hear is not None:
                    self._hear(self._token)
        return self._token

    def _read(self) -> str:
        """The token of the file itself, never of one that a link leads to."""
        _check_directory(self.path.parent)
        flags = os.O_RDONLY | _flag("O_NOFOLLOW") | _flag("O_CLOEXEC") | _flag("O_NONBLOCK")
        if self.path.is_symlink():
            raise _Flaw("it is a link")
        descriptor = os.open(self.path, flags)
        try:
            about = os.fstat(descriptor)
            if not stat.S_ISREG(about.st_mode):
                raise _Flaw("it is no plain file")
            _check_private(about, is_directory=False)
            text = os.read(descriptor, _LONGEST).decode("ascii", "replace")
        finally:
            os.close(descriptor)
        if not _TOKEN.fullmatch(text):
            raise _Flaw("it holds no token")
        return text.strip()

    def _made(self) -> str:
        """A new token in a new file, which has its name only when it is complete."""
        token = secrets.token_hex(TOKEN_BYTES)
        draft = self.path.with_name(f".{NAME}-{secrets.token_hex(8)}")
        descriptor = os.open(
            draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _flag("O_CLOEXEC"), _PRIVATE_FILE
        )
        try:
            with open(descriptor, "w", encoding="ascii") as file:  # noqa: PTH123
                file.write(f"{token}\n")
                file.flush()
                os.fsync(file.fileno())
            draft.replace(self.path)
        except BaseException:
            draft.unlink(missing_ok=True)
            raise
        return token


class _Flaw(Exception):
    """Why a file or its directory cannot be trusted."""


@contextlib.contextmanager
def _alone(directory: Path) -> Iterator[None]:
    """The directory for one process at a time, made private."""
    directory.parent.mkdir(mode=_PRIVATE_DIRECTORY, parents=True, exist_ok=True)
    with contextlib.suppress(FileExistsError):
        directory.mkdir(mode=_PRIVATE_DIRECTORY)
    try:
        import fcntl
    except ImportError:
        # Without such locks two servers that start at once may make two tokens; the last one holds.
        yield
        return
    flags = os.O_RDONLY | os.O_DIRECTORY | _flag("O_NOFOLLOW") | _flag("O_CLOEXEC")
    descriptor = os.open(directory, flags)
    try:
        if os.fstat(descriptor).st_uid == os.geteuid():
            os.fchmod(descriptor, _PRIVATE_DIRECTORY)
        _check_directory(directory)
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _check_directory(directory: Path) -> None:
    about = directory.lstat()
    if not stat.S_ISDIR(about.st_mode):
        raise _Flaw("its directory is a link or no directory")
    _check_private(about, is_directory=True)


def _check_private(about: os.stat_result, is_directory: bool) -> None:
    # Elsewhere a user's directories are kept from others by other means than modes.
    if os.name != "posix":
        return
    what = "its directory" if is_directory else "it"
    if about.st_uid != os.geteuid():
        raise _Flaw(f"{what} belongs to another user")
    if about.st_mode & _FOR_OTHERS:
        raise _Flaw(f"others may use {what} (mode {stat.S_IMODE(about.st_mode):o})")
    if not is_directory and about.st_nlink != 1:
        raise _Flaw("it has a second name")


def _signature(path: Path) -> tuple[int, ...]:
    about = path.lstat()
    return (about.st_dev, about.st_ino, about.st_size, about.st_mtime_ns, about.st_ctime_ns)


def _flag(name: str) -> int:
    """A flag of `open` that not every system has."""
    return getattr(os, name, 0)


def _words(error: Exception) -> str:
    return (error.strerror or "it cannot be read") if isinstance(error, OSError) else str(error)

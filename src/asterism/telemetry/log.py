"""Log handlers: JSON or plain lines, to standard error or to a file of limited size."""

import logging
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Literal, TypeAlias

from asterism.telemetry.events import LOGGER, Event, excerpt, one_line
from asterism.telemetry.meters import LOG_FAILURES

Level: TypeAlias = Literal["off", "error", "warning", "info", "debug"]
Format: TypeAlias = Literal["plain", "json"]

FILE_BYTES = 10_000_000
"""A file that grows beyond this is set aside: some 50,000 lines, which an editor still opens."""
FILES_KEPT = 3
"""Files that were set aside; the oldest is deleted."""

MESSAGE_AT_MOST = 2_000
TRACE_AT_MOST = 6_000
"""Characters; the end has the place of the error."""

_LEVELS: Mapping[Level, int] = {
    "error": logging.ERROR,
    "warning": logging.WARNING,
    "info": logging.INFO,
    "debug": logging.DEBUG,
}


@dataclass(frozen=True, slots=True)
class LogOptions:
    """Level, format and destination of the log."""

    level: Level = "off"
    format: Format = "plain"
    file: str = ""
    """An absolute path; nothing means standard error."""
    others: tuple[str, ...] = ()
    """Loggers of libraries whose warnings belong into the same log."""


def start_logging(options: LogOptions) -> None:
    """Log from now on as the options say, and no longer as an earlier call said.

    A file that cannot be written is an OSError, and then nothing is logged.
    """
    global _started
    stop_logging()
    _started = True
    if options.level == "off":
        return
    level = _LEVELS[options.level]
    handler = _Rotating(options.file) if options.file else _Quiet(sys.stderr)
    handler.setFormatter(_Json() if options.format == "json" else _Plain())
    _listen(LOGGER, handler, level)
    for name in options.others:
        _listen(logging.getLogger(name), handler, max(level, logging.WARNING))


def stop_logging() -> None:
    """Log nothing more, and close the file."""
    global _started
    for logger, handler in _listening:
        logger.removeHandler(handler)
        logger.setLevel(logging.NOTSET)
        logger.propagate = True
        handler.close()
    _listening.clear()
    _started = False


def is_logging() -> bool:
    """Whether it was said already what is logged, be it nothing."""
    return _started


def _listen(logger: logging.Logger, handler: logging.Handler, level: int) -> None:
    logger.addHandler(handler)
    logger.setLevel(level)
    logger.propagate = False
    _listening.append((logger, handler))


_started = False

# Loggers that have one of these handlers, which `stop_logging` removes.
_listening: list[tuple[logging.Logger, logging.Handler]] = []


class _Quiet(logging.StreamHandler[IO[str]]):
    """Writes lines; one that cannot be written is counted, and no reason to stop."""

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - the library's name
        """Count it: standard error may be what failed."""
        LOG_FAILURES.add()


class _Rotating(_Quiet):
    """Writes to a file that several processes may share, and sets it aside when it is large."""

    def __init__(self, path: str) -> None:
        """Open the file, and create it if it is missing; other users may not read it."""
        self._path = Path(path)
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        super().__init__(self._opened())

    def emit(self, record: logging.LogRecord) -> None:
        """Write a line to the file that has the name now."""
        try:
            self._follow()
        except OSError:
            self.handleError(record)
            return
        super().emit(record)

    def close(self) -> None:
        """Close the file."""
        super().close()
        self.stream.close()

    def _opened(self) -> IO[str]:
        descriptor = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        return os.fdopen(descriptor, "a", encoding="utf-8", errors="backslashreplace")

    def _follow(self) -> None:
        """Set a large file aside, and go over to the new one where another process did so."""
        size = self._size()
        if size is not None and size < FILE_BYTES:
            return
        with _alone(self.stream):
            # Meanwhile another process may have done it.
            if self._size() is not None:
                self._set_aside()
        fresh = self._opened()
        self.stream.close()
        self.stream = fresh

    def _size(self) -> int | None:
        """The size of the file; None if it is gone or was replaced."""
        ours = os.fstat(self.stream.fileno())
        try:
            named = self._path.stat()
        except FileNotFoundError:
            return None
        same = (named.st_dev, named.st_ino) == (ours.st_dev, ours.st_ino)
        return named.st_size if same else None

    def _set_aside(self) -> None:
        """The youngest last: no new file is begun before its name is free."""
        for number in range(FILES_KEPT, 0, -1):
            older = self._aside(number - 1) if number > 1 else self._path
            if older.exists():
                older.replace(self._aside(number))

    def _aside(self, number: int) -> Path:
        return self._path.with_name(f"{self._path.name}.{number}")


@contextmanager
def _alone(stream: IO[str]) -> Iterator[None]:
    """No other process that has the same file open is in here; where the system knows locks."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    fcntl.flock(stream, fcntl.LOCK_EX)
    try:
        yield
    finally:
        fcntl.flock(stream, fcntl.LOCK_UN)


class _Plain(logging.Formatter):
    """Time, level and event on one line, for people."""

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        event = record.args[0] if isinstance(record.args, tuple) and record.args else None
        text = str(event) if isinstance(event, Event) else f"{record.name}: {_message(record)}"
        trace = _trace(record)
        line = f"{_moment(record)} {record.levelname.lower():<7} {text}"
        return line + (f"\n{trace}" if trace else "")


class _Json(logging.Formatter):
    """An object on each line, for programs."""

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        line: dict[str, object] = {"time": _moment(record), "level": record.levelname.lower()}
        event = record.args[0] if isinstance(record.args, tuple) and record.args else None
        if isinstance(event, Event):
            line["event"] = event.name
            if event.request:
                line["request"] = event.request
            line |= {_free(name, line): value for name, value in event.shown().items()}
        else:
            line |= {"event": "message", "logger": record.name, "message": _message(record)}
        if trace := _trace(record):
            line["traceback"] = trace
        return one_line(line)


def _free(name: str, taken: Mapping[str, object]) -> str:
    return f"{name}_" if name in taken else name


def _moment(record: logging.LogRecord) -> str:
    moment = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
    return moment.replace("+00:00", "Z")


def _message(record: logging.LogRecord) -> str:
    """A message of a library, on one line."""
    text = excerpt(record.getMessage(), MESSAGE_AT_MOST)
    return text if text.isprintable() else one_line(text)[1:-1]


def _trace(record: logging.LogRecord) -> str:
    """The places in the program that an error went through; its words only where they are ours.

    What an error of a library says may quote anything, a file's text included.
    """
    error = record.exc_info[1] if isinstance(record.exc_info, tuple) else None
    if error is None:
        return ""
    import traceback

    frames = traceback.extract_tb(error.__traceback__)
    places = [f"{frame.filename}:{frame.lineno} in {frame.name}" for frame in frames]
    return _tail([*places, f"{type(error).__name__}{_own_words(error)}"])


def _own_words(error: BaseException) -> str:
    ours = type(error).__module__.startswith("asterism.")
    return f": {excerpt(str(error), MESSAGE_AT_MOST)}" if ours else ""


def _tail(lines: Sequence[str]) -> str:
    text = "\n".join(lines)
    return text[-TRACE_AT_MOST:]

"""Findings of the doctor, and the checks of the machine: Python, libraries, disk, limits."""

import os
import platform
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from tempfile import TemporaryFile
from typing import NamedTuple

from asterism import __version__
from asterism.analysis.syntax.language import DialectEntry, missing_grammars
from asterism.config.environment import cache_directory, data_directory, program
from asterism.programs.start import Launch, TimeoutExpired, run
from asterism.programs.table import DOCTOR_PROBE
from asterism.types.files import display_path


class Severity(StrEnum):
    """How serious a finding is."""

    ok = "ok"
    warning = "warning"
    """It works, and could be better."""
    problem = "problem"
    """Something will fail."""


class Finding(NamedTuple):
    """One line of the report."""

    check: str
    """What was looked at, in a word or two."""
    verdict: Severity
    message: str
    advice: str = ""
    """What to do next; nothing where all is well or the message says it."""


def ok(check: str, message: str) -> Finding:
    """All is well."""
    return Finding(check, Severity.ok, message)


def warning(check: str, message: str, advice: str = "") -> Finding:
    """It works, and could be better."""
    return Finding(check, Severity.warning, message, advice)


def problem(check: str, message: str, advice: str = "") -> Finding:
    """Something will fail."""
    return Finding(check, Severity.problem, message, advice)


OLDEST_PYTHON = (3, 11)
LIBRARIES = ("pylance", "pyarrow", "numpy", "tokenizers", "tree-sitter", "watchfiles", "httpx")

LITTLE_ROOM = 1_000_000_000
"""Bytes free below which a large repository may not fit: an index takes some five times its source
while it is built."""
NO_ROOM = 100_000_000
"""Bytes free below which no index should be begun."""

FEW_WATCHES = 65_536
"""Directories that may be watched, all of the user's programs together; large repositories have
tens of thousands, and editors watch them too."""
FEW_INSTANCES = 64
"""Watchers at once, of all of the user's programs."""

PROBE_SECONDS = 120.0
_REINSTALL = "Install Asterism again."

_PARTS = {"parser": "Parser", "store": "Store", "model": "Built-in model"}


def program_findings() -> Iterator[Finding]:
    """Which program this is, and what it runs on."""
    running = f"{platform.python_version()} on {platform.system()} {platform.machine()}"
    if sys.version_info[:2] < OLDEST_PYTHON:
        wanted = ".".join(map(str, OLDEST_PYTHON))
        yield problem("Python", running, f"Install Python {wanted} or newer.")
    elif sys.maxsize < 2**32:
        yield problem("Python", f"{running}, 32 bits", "Install a Python of 64 bits.")
    else:
        yield ok("Python", running)
    yield ok("Asterism", f"{__version__} in {display_path(str(Path(__file__).parents[2]))}")


def library_findings() -> Iterator[Finding]:
    """Which libraries are there, by what their installation says of itself."""
    found, missing = [], []
    for name in LIBRARIES:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            missing.append(name)
    if missing:
        yield problem("Libraries", f"missing: {', '.join(missing)}", _REINSTALL)
    else:
        yield ok("Libraries", ", ".join(found))


def grammar_findings(
    missing: Callable[[], Iterable[DialectEntry]] = missing_grammars,
) -> Iterator[Finding]:
    """Which grammars are not installed, and the extra that installs them."""
    titles: dict[str, list[str]] = {}
    for entry in missing():
        if entry.optional is not None:
            titles.setdefault(entry.optional.extra, []).append(entry.title)
    if not titles:
        yield ok("Grammars", "all are installed")
    for extra, found in titles.items():
        names = ", ".join(dict.fromkeys(found))
        text = f"files in {names} are read as plain text; install `asterism[{extra}]` to parse them"
        yield ok("Grammars", text)


def part_findings(part: str) -> Iterator[Finding]:
    """Try a part of the program in a process of its own."""
    name = _PARTS[part]
    launch = Launch(program=DOCTOR_PROBE, command=(sys.executable,), values={"part": part})
    try:
        done = run(launch, PROBE_SECONDS)
    except TimeoutExpired:
        yield problem(name, f"gave no sign of life for {PROBE_SECONDS:.0f} seconds", _REINSTALL)
        return
    said = done.stdout.strip() or next(reversed(done.stderr.strip().splitlines()), "no word")
    if done.returncode == 0:
        yield ok(name, said)
    elif done.returncode < 0:
        advice = f"Perhaps the libraries are not for this processor. {_REINSTALL}"
        yield problem(name, f"crashed (signal {-done.returncode})", advice)
    else:
        yield problem(name, f"does not work: {said}", _REINSTALL)


def place_findings() -> Iterator[Finding]:
    """Whether the data and cache directories are writable, private, and have free space."""
    yield from _place("Data directory", data_directory, "ASTERISM_DATA_DIR")
    yield from _place("Cache directory", cache_directory, "ASTERISM_CACHE_DIR")


def _place(check: str, find: Callable[[], Path], variable: str) -> Iterator[Finding]:
    place = find()
    shown = display_path(str(place))
    existing = next(each for each in (place, *place.parents) if os.path.lexists(each))
    instead = f"set {variable} to another directory"
    try:
        with TemporaryFile(dir=existing):
            pass
        if not os.access(existing, os.R_OK | os.X_OK):
            raise PermissionError(None, "it may not be read")
        room = shutil.disk_usage(existing).free
    except OSError as error:
        yield problem(
            check,
            f"{shown} cannot be used ({error.strerror})",
            f"Fix the permissions, or {instead}.",
        )
        return
    text = f"{shown}, {room / 1e9:,.1f} GB free"
    if room < NO_ROOM:
        yield problem(check, text, f"Free disk space (`asterism clean` may help), or {instead}.")
    elif room < LITTLE_ROOM:
        yield warning(check, text, f"Free disk space for large repositories, or {instead}.")
    elif existing == place and os.name == "posix" and place.stat().st_mode & 0o077:
        advice = f"It holds text of your code: `chmod 700 {shown}`."
        yield warning(check, f"{text}; others on this machine may look into it", advice)
    else:
        yield ok(check, text if existing == place else f"{text}, made when it is needed")


def watch_findings(limits: Path = Path("/proc/sys/fs/inotify")) -> Iterator[Finding]:
    """How much the system lets us watch; only Linux has such limits."""
    try:
        watches = int((limits / "max_user_watches").read_text(encoding="ascii"))
        instances = int((limits / "max_user_instances").read_text(encoding="ascii"))
    except (OSError, ValueError):
        yield ok("File watching", "the system tells of no limits")
        return
    text = f"{watches:,} directories, {instances:,} watchers"
    if watches < FEW_WATCHES:
        advice = "For large repositories: `sudo sysctl fs.inotify.max_user_watches=524288`."
        yield warning("File watching", text, advice)
    elif instances < FEW_INSTANCES:
        advice = "For several at once: `sudo sysctl fs.inotify.max_user_instances=512`."
        yield warning("File watching", text, advice)
    else:
        yield ok("File watching", text)


def git_findings() -> Iterator[Finding]:
    """Whether git is there; Asterism reads checkouts and ignore rules by itself."""
    git = program("git")
    yield ok("git", display_path(git) if git else "not found, and not needed to index")

"""Language servers that are asked where they are installed, and what each of them needs."""

import json
import os
import re
import shlex
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from asterism.programs import table
from asterism.programs.start import SubprocessError, probe
from asterism.programs.table import Program
from asterism.structure.servers.session import ReadySignal
from asterism.types.errors import ServerMissing

FILE = "compile_commands.json"

# Where builds leave it.
_FOLDERS = ("", "build", "out", "builddir", "cmake-build-debug", "cmake-build-release")
_SOURCES = {
    **dict.fromkeys((".c",), ("clang", "-std=gnu17")),
    **dict.fromkeys((".cc", ".cpp", ".cxx", ".c++"), ("clang++", "-std=gnu++20")),
}
# Code whose generated headers are missing has errors in every file; the rest of it still counts.
_TOLERANT = ("-ferror-limit=0", "-w")
_INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*[<"]([^>"\n]+)[>"]', re.M)

# Flags that take a folder or a macro. Of flags with a common prefix the longest comes first.
_FOLDER_FLAGS = ("-isystem", "-iquote", "-idirafter", "-I")
_MACROS = ("-D", "-U")
_TAKEN = (*_FOLDER_FLAGS, *_MACROS)
_STANDARD = re.compile(r"-std=[A-Za-z0-9+:]{1,20}")
_MACRO = re.compile(r"[A-Za-z_]\w*(\([\w, .]*\))?(=.*)?", re.S)

# A database has a kilobyte or two for each source.
LARGEST = 256_000_000
# Words of one command.
MOST_WORDS = 10_000
# Folders that are searched for headers; a command with more is refused by some systems.
MOST_FOLDERS = 200
# Of a file; includes stand at its beginning.
_READ_BYTES = 200_000


def is_source(path: str) -> bool:
    """Whether a compiler is started for a file."""
    return PurePosixPath(path).suffix.lower() in _SOURCES


def own_commands(root: str) -> list[dict[str, Any]] | None:
    """Entries from the compilation database of the repository, if a build has written one.

    Commands are not passed on as written, because a command can name another compiler, plugins,
    response files and headers from anywhere. Only the sources, the folders of headers below the
    root, macros and the language's standard are taken over.
    """
    return next((found for folder in _FOLDERS if (found := _own(root, Path(root, folder)))), None)


def _own(root: str, folder: Path) -> list[dict[str, Any]] | None:
    real = os.path.realpath(root)
    try:
        place = folder / FILE
        if not _is_below(str(place), real) or place.stat().st_size > LARGEST:
            return None
        entries = json.loads(place.read_bytes())
        made = [_entry(entry, folder, real) for entry in entries if isinstance(entry, dict)]
    except (OSError, ValueError, TypeError, RecursionError):
        return None
    return [entry for entry in made if entry is not None] or None


def _entry(entry: dict[str, Any], folder: Path, root: str) -> dict[str, Any] | None:
    """One command with its allowed flags; None if the file is not a source below root."""
    file, directory = entry.get("file"), entry.get("directory", "")
    if not isinstance(file, str) or not isinstance(directory, str):
        return None
    base = os.path.join(folder, directory)  # noqa: PTH118
    source = os.path.realpath(os.path.join(base, file))  # noqa: PTH118
    driver = _SOURCES.get(PurePosixPath(source).suffix.lower())
    if driver is None or not _is_below(source, root):
        return None
    flags = _harmless(_words(entry), base, root)
    standard = [flag for flag in flags if flag.startswith("-std=")][-1:]
    others = [flag for flag in flags if not flag.startswith("-std=")]
    arguments = [driver[0], *(standard or driver[1:]), *_TOLERANT, *others, source]
    return {"directory": root, "file": source, "arguments": arguments}


def _words(entry: dict[str, Any]) -> list[str]:
    arguments, command = entry.get("arguments"), entry.get("command")
    if isinstance(arguments, list):
        return [word for word in arguments if isinstance(word, str)][:MOST_WORDS]
    if isinstance(command, str):
        return shlex.split(command)[:MOST_WORDS]
    return []


def _harmless(words: list[str], base: str, root: str) -> list[str]:
    """The flags that are taken over: header folders below root, macros, and the standard."""
    found: list[str] = []
    pending = iter(words[1:])
    for word in pending:
        flag = next((flag for flag in _TAKEN if word.startswith(flag)), None)
        if flag is None:
            if _STANDARD.fullmatch(word):
                found.append(word)
            continue
        value = word.removeprefix(flag) or next(pending, "")
        if flag in _MACROS:
            if _MACRO.fullmatch(value):
                found.append(f"{flag}{value}")
            continue
        place = os.path.realpath(os.path.join(base, value))  # noqa: PTH118
        if value and _is_below(place, root):
            found += [flag, place]
    return found


def _is_below(path: str, root: str) -> bool:
    """Whether the real path is below the root."""
    real = os.path.realpath(path)
    return real == root or real.startswith(f"{root.rstrip('/')}/")


def made_up(root: str, paths: list[str]) -> list[dict[str, Any]]:
    """An entry for each source, with the folders that its includes need."""
    return [*_entries(root, paths)]


def _entries(root: str, paths: list[str]) -> Iterator[dict[str, Any]]:
    folders = [f"-I{root}/{folder}".rstrip("/") for folder in include_folders(root, paths)]
    for path in paths:
        found = _SOURCES.get(PurePosixPath(path).suffix.lower())
        if found is not None:
            file = f"{root}/{path}"
            arguments = [*found, *_TOLERANT, *folders, file]
            yield {"directory": root, "file": file, "arguments": arguments}


def include_folders(root: str, paths: list[str]) -> list[str]:
    """The folders that make the includes of these files lead to files, the busiest first."""
    by_name: dict[str, list[str]] = {}
    for path in paths:
        by_name.setdefault(path.rpartition("/")[2], []).append(path)
    there = frozenset(paths)
    counts: Counter[str] = Counter()
    for path in paths:
        beside = path.rpartition("/")[0]
        for written in _includes(f"{root}/{path}"):
            if f"{beside}/{written}".lstrip("/") in there:
                continue
            for header in by_name.get(written.rpartition("/")[2], ()):
                if header == written or header.endswith(f"/{written}"):
                    counts[header[: len(header) - len(written)].rstrip("/")] += 1
    return [folder for folder, _ in counts.most_common(MOST_FOLDERS)]


def _includes(place: str) -> set[str]:
    try:
        with Path(place).open("rb") as file:
            text = file.read(_READ_BYTES)
    except OSError:
        return set()
    return {found.decode("utf-8", "replace").lstrip("./") for found in _INCLUDE.findall(text)}


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerProfile:
    """One language server."""

    family: str
    """The language it is for, as the settings call it."""
    started: Program
    """Its row of the table of programs."""
    titles: str
    """Its languages, for a person."""
    endings: tuple[str, ...]
    configs: frozenset[str] = frozenset()
    """Names of files that say how the others belong together."""
    is_needed: frozenset[str] = frozenset()
    """Of these files one has to be there, else it would know of nothing."""
    beside: str = ""
    """A file that has to exist beside those, because the server would write it otherwise."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """What it is told in the handshake, and where it asks for its settings."""
    listing: str = ""
    """The option that lists the needed files; without it the server searches for other kinds."""
    section: str = ""
    """The name of its settings."""
    ready: ReadySignal = ReadySignal.asked
    hears_changes: bool = True
    """Whether it reads a file again that it is told of; else it is started anew."""
    keeps: bool = False
    """Whether what it has read is on disk, so that the next start goes on from there."""
    seconds: float = 1.0
    """Until it answers, in an empty repository."""
    seconds_per_file: float = 0.01
    """More for each file of its languages; it only has to tell a moment from minutes."""

    @property
    def program(self) -> str:
        """As it is found on the path."""
        return self.started.name

    def counts(self, path: str) -> bool:
        """Whether a file is in one of its languages."""
        return PurePosixPath(path).suffix.lower() in self.endings

    def reads(self, path: str) -> bool:
        """Whether a file matters to it."""
        return self.counts(path) or path.rpartition("/")[2] in self.configs


def folders_of(server: ServerProfile, paths: Iterable[str]) -> list[str]:
    """The folders of a repository that are workspaces of a server; none for the whole of it."""
    found = {
        path.rpartition("/")[0] for path in paths if path.rpartition("/")[2] in server.is_needed
    }
    return sorted(folder for folder in found if not found & _above(folder))


def _above(folder: str) -> set[str]:
    parts = folder.split("/") if folder else []
    return {"/".join(parts[:end]) for end in range(len(parts))}


CLANGD = ServerProfile(
    family="cpp",
    started=table.CLANGD,
    titles="C and C++",
    endings=(
        *(".c", ".h", ".cc", ".cpp", ".cxx", ".c++"),
        *(".hpp", ".hh", ".hxx", ".h++", ".ipp", ".tpp", ".inl"),
    ),
    configs=frozenset({FILE, "compile_flags.txt", ".clangd"}),
    ready=ReadySignal.progress,
    hears_changes=False,
    keeps=True,
    # 48 files of C took 2 s, 77 of C++ 16 s, on two cores; from disk both take 0.2 s.
    seconds_per_file=0.1,
)

GOPLS = ServerProfile(
    family="go",
    started=table.GOPLS,
    titles="Go",
    endings=(".go",),
    configs=frozenset({"go.mod", "go.sum", "go.work"}),
    is_needed=frozenset({"go.mod", "go.work"}),
    options={"staticcheck": False, "semanticTokens": False},
    section="gopls",
    seconds=3.0,
    seconds_per_file=0.005,
)

RUST_ANALYZER = ServerProfile(
    family="rust",
    started=table.RUST_ANALYZER,
    titles="Rust",
    endings=(".rs",),
    configs=frozenset({"Cargo.toml", "Cargo.lock"}),
    is_needed=frozenset({"Cargo.toml"}),
    beside="Cargo.lock",
    # Without the list it reads rust-project.json, which could name a toolchain in the repository.
    listing="linkedProjects",
    # Build scripts and procedural macros are programs of the repository, and builds write into it.
    # A rust-analyzer.toml overrides these options only for saving, formatting and running, and
    # Asterism requests none of them.
    options={
        "checkOnSave": False,
        "cachePriming": {"enable": False},
        "cargo": {
            "autoreload": True,
            "buildScripts": {
                "enable": False,
                "overrideCommand": None,
                "rebuildOnSave": False,
                "useRustcWrapper": False,
            },
            "extraArgs": ["--offline", "--locked"],
            "extraEnv": {},
            "metadataExtraArgs": ["--offline", "--locked"],
            "features": "all",
            "sysroot": "discover",
        },
        "check": {"overrideCommand": None},
        "files": {"watcher": "client"},
        "procMacro": {"enable": False, "attributes": {"enable": False}, "server": None},
        "runnables": {"command": None},
        "rustc": {"source": None},
        "rustfmt": {"overrideCommand": None},
        "workspace": {"discoverConfig": None},
    },
    section="rust-analyzer",
    ready=ReadySignal.quiescent,
    seconds=4.0,
    seconds_per_file=0.01,
)

JDTLS = ServerProfile(
    family="java",
    started=table.JDTLS,
    titles="Java",
    endings=(".java",),
    configs=frozenset({"pom.xml", "build.gradle", "build.gradle.kts", ".classpath"}),
    # Gradle would run the repository's own scripts; project files would be written beside them.
    options={
        "settings": {
            "java": {
                "autobuild": {"enabled": False},
                "configuration": {"updateBuildConfiguration": "disabled"},
                "import": {
                    "generatesMetadataFilesAtProjectRoot": False,
                    "gradle": {
                        "enabled": False,
                        "wrapper": {"enabled": False},
                        "annotationProcessing": {"enabled": False},
                    },
                    # m2e runs plugins and annotation processors that a pom.xml names.
                    "maven": {"enabled": False, "offline": {"enabled": True}},
                },
                "maven": {"downloadSources": False, "updateSnapshots": False},
                "eclipse": {"downloadSources": False},
                "jdt": {
                    "ls": {
                        "androidSupport": {"enabled": False},
                        "lombokSupport": {"enabled": False},
                        "protobufSupport": {"enabled": False},
                    }
                },
            }
        },
        "extendedClientCapabilities": {"classFileContentsSupport": True},
        # Bundles are jar files that the server would load.
        "bundles": [],
    },
    ready=ReadySignal.service,
    keeps=True,
    # A virtual machine and a workspace have to come up first.
    seconds=15.0,
    seconds_per_file=0.01,
)

SERVERS: Sequence[ServerProfile] = (CLANGD, GOPLS, RUST_ANALYZER, JDTLS)
BY_FAMILY: Mapping[str, ServerProfile] = {server.family: server for server in SERVERS}


CHECK_SECONDS = 10.0


def require_server(server: ServerProfile, given: str) -> str:
    """The program that a setting names, or an error that says what to do."""
    place = Path(given)
    # A relative path could name a file of the repository.
    if not (place.is_absolute() and place.is_file() and os.access(place, os.X_OK)):
        raise ServerMissing(
            f"There is no program at {given}: the setting structure.{server.family} must name "
            f"{server.program}, by its absolute path."
        )
    return str(place)


def can_start(server: ServerProfile, place: str) -> bool:
    """Whether the program runs: rustup installs a `rust-analyzer` that may only print an error.

    The probe runs in `/`, because rustup's `rust-analyzer` starts the toolchain that a
    `rust-toolchain.toml` in the working directory names.
    """
    if not server.started.probe:
        return True
    try:
        return probe(server.started, place, CHECK_SECONDS).returncode == 0
    except (OSError, SubprocessError):
        return False


def rust_toolchain() -> str:
    """The user's Rust toolchain: RUSTUP_TOOLCHAIN, or else the default of rustup.

    The name has no effect if rustup is not installed.
    """
    home = os.environ.get("RUSTUP_HOME") or os.path.join(os.environ.get("HOME", ""), ".rustup")  # noqa: PTH118
    found: object = os.environ.get("RUSTUP_TOOLCHAIN")
    with suppress(OSError, ValueError, KeyError):
        found = found or tomllib.loads(Path(home, "settings.toml").read_text())["default_toolchain"]
    return found if found and isinstance(found, str) else "stable"

"""Source files out of what registries and repositories hand out: tarballs, wheels, bare clones."""

import re
import subprocess
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

# Smaller files hold no documented symbol, larger ones are generated.
SMALLEST_BYTES = 200
LARGEST_BYTES = 400_000

# Code that others wrote, that a program wrote, or that was built.
PASSED_OVER = re.compile(
    r"(^|/)(vendor|third_?party|3rdparty|node_modules|_vendor|externals?|extern|deps|dist|build|generated|gen"
    r"|\.git|debian|locale|fixtures?|testdata|__generated__|snapshots?|\.yarn)/"
    r"|\.min\.|\.pb\.|_pb2|\.generated\.|\.g\.cs$|\.designer\.|bundle\.js$|_generated|zz_generated",
    re.IGNORECASE,
)
SUFFIXES = frozenset(
    [
        *(
            "py",
            "pyi",
            "js",
            "mjs",
            "cjs",
            "jsx",
            "ts",
            "mts",
            "cts",
            "tsx",
            "go",
            "rs",
            "java",
            "kt",
        ),
        *(
            "kts",
            "scala",
            "sc",
            "swift",
            "cs",
            "c",
            "h",
            "cc",
            "cpp",
            "cxx",
            "hpp",
            "hh",
            "hxx",
            "php",
        ),
        *("rb", "rake", "ex", "exs", "hs", "lua", "zig", "sh", "bash", "bats"),
    ]
)


class SourceFile(NamedTuple):
    """A file's path inside its source, and its bytes."""

    path: str
    data: bytes


def wanted(path: str, size: int) -> bool:
    """Whether a file is worth reading, by its name and size."""
    suffix = path.rsplit(".", 1)[-1].lower()
    return (
        suffix in SUFFIXES
        and SMALLEST_BYTES <= size <= LARGEST_BYTES
        and not PASSED_OVER.search(path)
        and not _leads_out(path)
    )


def _leads_out(path: str) -> bool:
    """Whether a path means something outside of its archive."""
    return path.startswith("/") or ".." in path.split("/")


Wanted = Callable[[str, int], bool]


def source_files(archive: Path, wanted: Wanted = wanted) -> Iterator[SourceFile]:
    """Every source file of a tarball, a wheel, a git directory, or a folder."""
    if (archive / "HEAD").is_file() or (archive / ".git").is_dir():
        return _from_git(archive, wanted)
    if archive.is_dir():
        return _from_folder(archive, wanted)
    if archive.suffix in {".whl", ".zip"}:
        return _from_zip(archive, wanted)
    return _from_tar(archive, wanted)


def _from_folder(root: Path, wanted: Wanted) -> Iterator[SourceFile]:
    for path in sorted(root.rglob("*")):
        relative = path.relative_to(root).as_posix()
        if path.is_file() and not path.is_symlink() and wanted(relative, path.stat().st_size):
            yield SourceFile(relative, path.read_bytes())


def _from_tar(archive: Path, wanted: Wanted) -> Iterator[SourceFile]:
    with tarfile.open(archive, "r|*") as members:
        for member in members:
            # The first folder is the package's name and version.
            path = member.name.removeprefix("./").split("/", 1)[-1]
            if member.isfile() and wanted(path, member.size):
                stream = members.extractfile(member)
                if stream is not None:
                    yield SourceFile(path, stream.read())


def _from_zip(archive: Path, wanted: Wanted) -> Iterator[SourceFile]:
    with zipfile.ZipFile(archive) as members:
        for member in members.infolist():
            if wanted(member.filename, member.file_size):
                try:
                    data = members.read(member)
                except (zlib.error, NotImplementedError, RuntimeError) as error:
                    # Damage, an unknown compression method, a password.
                    raise zipfile.BadZipFile(f"{member.filename}: {error}") from error
                yield SourceFile(member.filename, data)


def git_directory(folder: Path) -> Path:
    """Where the objects are: a bare clone, or the hidden folder of an ordinary one."""
    return folder / ".git" if (folder / ".git").is_dir() else folder


def _from_git(folder: Path, wanted: Wanted) -> Iterator[SourceFile]:
    git = ["git", "--git-dir", str(git_directory(folder))]
    listing = subprocess.run(
        [*git, "ls-tree", "-r", "-l", "-z", "HEAD"], capture_output=True, check=True
    ).stdout.decode("utf-8", "replace")
    chosen: list[tuple[str, str]] = []
    for line in filter(None, listing.split("\0")):
        about, path = line.split("\t", 1)
        _mode, kind, digest, size = about.split()
        if kind == "blob" and size.isdigit() and wanted(path, int(size)):
            chosen.append((digest, path))
    for start in range(0, len(chosen), 500):
        yield from _blobs(git, chosen[start : start + 500])


def _blobs(git: list[str], chosen: list[tuple[str, str]]) -> Iterator[SourceFile]:
    asked = "".join(f"{digest}\n" for digest, _path in chosen).encode()
    answer = subprocess.run(
        [*git, "cat-file", "--batch"], input=asked, capture_output=True, check=True
    ).stdout
    place = 0
    for _digest, path in chosen:
        end = answer.index(b"\n", place)
        words = answer[place:end].split()
        place = end + 1
        if len(words) == 3:  # A blob that the clone lacks is answered with two words.
            size = int(words[2])
            yield SourceFile(path, answer[place : place + size])
            place += size + 1

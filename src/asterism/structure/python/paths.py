"""Search paths and source positions for the Python type checker."""

import json
import os
import re
import threading
import tomllib
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from contextlib import suppress
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import Any

from asterism.analysis.source.text import decode, read
from asterism.analysis.syntax.outlines import outline as outlined
from asterism.programs.start import is_below
from asterism.structure.positions import SourceUnits
from asterism.structure.repository import OutlinedFile, OutlineOf
from asterism.types.errors import InputError, ServerMissing
from asterism.types.files import display_path
from asterism.types.outline import Import
from asterism.types.structure import SymbolPlace

CONFIGURATION = "ty.toml"

# Folders of package managers and other tools; their files are not part of the project.
_NOT_OWN = (
    ".venv", "venv", ".tox", ".nox", ".eggs", ".direnv", ".git", ".hg", ".svn", ".mypy_cache",
    ".ruff_cache", "__pypackages__", "node_modules", "site-packages",
)  # fmt: skip
# The index includes files that a repository excludes from checking, so exclusions are undone.
_INCLUDE = ("**",)
_EXCLUDE = ("!**", *(f"**/{name}/" for name in _NOT_OWN))

_LARGEST = 4_000_000
_VERSION = re.compile(r"3\.(?:[7-9]|1[0-4])")
_LOWEST = re.compile(r"(?:>=|~=|===?|>)\s*(3\.\d+)(?![\d])")
_WORD = re.compile(r"\w{1,40}")
# The default of ty if no setting names a version.
_DEFAULT_VERSION = "3.14"
_PACKAGES = (
    *("lib/python3*/site-packages", "lib64/python3*/site-packages"),
    *("lib/pypy3*/site-packages", "Lib/site-packages"),
)
_MODULES = (".py", ".pyi")
_REPARSE_POINT = 0x400


def configuration_path(cache: str, environment: str | None) -> Path:
    """The path of the configuration; processes with other active environments have others."""
    key = sha256(os.fsencode(environment or "")).hexdigest()[:12]
    return Path(cache, key, CONFIGURATION)


def write_configuration(root: str, cache: str, environment: str | None) -> Path:
    """Write the one configuration that the checker reads, and return its path.

    The checker does not read the settings of the repository itself. Search paths from them are
    included if their real paths are in the repository.
    """
    settings, project = _own_settings(root)
    wanted = _table(settings, "environment")
    packages, version = _packages(root, environment, _text(wanted, "python"))
    name = _text(project, "name")
    roots = _inside(root, wanted.get("root")) or _named_root(root, name)
    written = _text(wanted, "python-version")
    required = _LOWEST.search(_text(project, "requires-python"))
    chosen = [written, required[1] if required else "", version or ""]
    valid = [one for one in chosen if _VERSION.fullmatch(one)]
    used = valid[0] if valid else _DEFAULT_VERSION
    outside = environment if packages is None else None
    place = configuration_path(cache, environment)
    values: dict[str, str | list[str]] = {
        "python": outside or _made_environment(place.parent, packages or [], used)
    }
    # An environment outside has its own version, unless the repository demands one.
    if outside is None or valid:
        values["python-version"] = used
    platform = _text(wanted, "python-platform")
    if _WORD.fullmatch(platform):
        values["python-platform"] = platform
    values |= {"root": roots} if roots else {}
    values["extra-paths"] = _inside(root, wanted.get("extra-paths"))
    lines = ["[src]", f"include = {_toml(_INCLUDE)}", f"exclude = {_toml(_EXCLUDE)}", ""]
    lines += ["[environment]", *(f"{key} = {_toml(value)}" for key, value in values.items()), ""]
    _write(place, "\n".join(lines))
    return place


def check_links(root: str, environment: str | None) -> None:
    """Raise ServerMissing if a link could make the checker read outside of the repository.

    For systems where the kernel does not confine the checker. A link to the environment is allowed,
    because the user has activated it.
    """
    allowed = os.path.realpath(environment) if environment else None
    found = next((one for one in _links_outside(root) if os.path.realpath(one) != allowed), None)
    if found is not None:
        raise ServerMissing(
            f"The link {display_path(os.path.relpath(found, root))} leads out of the repository, "
            "and this system cannot keep the Python type checker from following it; remove the "
            "link to connect Python by its types."
        )


def _links_outside(root: str) -> Iterator[str]:
    """Links that an import can name and whose targets are outside of the repository."""
    real = os.path.realpath(root)
    pending = [root]
    while pending:
        try:
            entries = [*os.scandir(pending.pop())]
        except OSError:
            continue
        for entry in entries:
            if not _is_link(entry):
                if entry.is_dir():
                    pending.append(entry.path)
            elif _is_importable(entry) and not is_below(os.path.realpath(entry.path), real):
                yield entry.path


def _is_importable(entry: "os.DirEntry[str]") -> bool:
    name, ending = os.path.splitext(entry.name)  # noqa: PTH122
    with suppress(OSError):
        is_module = ending in _MODULES or (not ending and entry.is_dir())
        return is_module and name.removesuffix("-stubs").isidentifier()
    return True


def _is_link(entry: "os.DirEntry[str]") -> bool:
    with suppress(OSError):
        # On Windows junctions are links too.
        attributes = getattr(entry.stat(follow_symlinks=False), "st_file_attributes", 0)
        return entry.is_symlink() or bool(attributes & _REPARSE_POINT)
    return True


def _own_settings(root: str) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """The settings for ty in a repository, and the `project` table of its pyproject.toml."""
    pyproject = _read(root, "pyproject.toml")
    own = _read(root, CONFIGURATION)
    settings = _table(_table(pyproject or {}, "tool"), "ty") if own is None else own
    return settings, _table(pyproject or {}, "project")


def _read(root: str, name: str) -> Mapping[str, Any] | None:
    place = os.path.realpath(Path(root, name))
    if not is_below(place, os.path.realpath(root)):
        return None
    try:
        if not os.path.isfile(place) or os.path.getsize(place) > _LARGEST:  # noqa: PTH113, PTH202
            return None
        return tomllib.loads(Path(place).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None


def _table(settings: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = settings.get(name)
    return found if isinstance(found, dict) else {}


def _text(settings: Mapping[str, Any], name: str) -> str:
    found = settings.get(name)
    return found if isinstance(found, str) else ""


def _inside(root: str, written: Any) -> list[str]:
    """The folders of a setting that are in the repository, all links followed."""
    given = written if isinstance(written, list) else []
    return [*_folders(root, root, (one for one in given if isinstance(one, str)))]


def _folders(root: str, base: str, written: Iterable[str]) -> Iterator[str]:
    real = os.path.realpath(root)
    for one in written:
        with suppress(ValueError, OSError):
            place = os.path.realpath(os.path.join(base, one))  # noqa: PTH118
            # A line break in a name would begin another line of a path file.
            is_plain = "\n" not in place and "\r" not in place
            if is_plain and is_below(place, real) and os.path.isdir(place):  # noqa: PTH112
                # Below `root` as given, because the checker names files that way.
                yield root + place[len(real) :]


def _named_root(root: str, name: str) -> list[str]:
    """Source folders of a project NAME whose package is NAME/NAME.

    The checker detects the other layouts, but does not know the project's name.
    """
    folder = Path(root, name)
    is_plain = _WORD.fullmatch(name) and Path(root, "src").is_dir() is False
    if not (is_plain and (folder / name).is_dir()):
        return []
    if any((folder / f"__init__{ending}").exists() for ending in _MODULES):
        return []
    return [*_folders(root, root, (name, "."))]


def _packages(
    root: str, environment: str | None, written: str
) -> tuple[list[str] | None, str | None]:
    """The folders of packages in a repository's own environment, and its version of Python.

    Returns no list for an environment outside of the repository, which the user has activated.
    """
    real = os.path.realpath(root)
    place = environment or next(_folders(root, root, (written,) if written else ()), None)
    if place is None:
        return [], None
    if not is_below(os.path.realpath(place), real):
        return None, None
    found = [
        *_folders(root, place, (str(one) for name in _PACKAGES for one in Path(place).glob(name)))
    ]
    for folder in [*found]:
        for file in sorted(Path(folder).glob("*.pth")):
            found += _folders(root, folder, _lines(file, real))
    return [*dict.fromkeys(found)], _version(Path(place, "pyvenv.cfg"), real)


def _lines(file: Path, root: str) -> list[str]:
    """The folders that a path file (.pth) names; lines of Python are skipped."""
    return [
        line.strip()
        for line in _content(file, root).splitlines()
        if line.strip() and not line.startswith(("#", "import ", "import\t"))
    ]


def _version(file: Path, root: str) -> str | None:
    found = re.search(r"^version(?:_info)?\s*=\s*(3\.\d+)", _content(file, root), re.M)
    return found[1] if found else None


def _content(file: Path, root: str) -> str:
    with suppress(OSError):
        if is_below(os.path.realpath(file), root) and file.is_file():
            with file.open(encoding="utf-8", errors="replace") as stream:
                return stream.read(_LARGEST)
    return ""


def _made_environment(cache: Path, packages: list[str], version: str) -> str:
    """Write an environment in the cache, whose only path file lists the folders of packages."""
    place = cache / "environment"
    library = "Lib" if os.name == "nt" else f"lib/python{version}"
    folder, programs = place / library / "site-packages", place / "bin"
    for needed in (folder, programs):
        needed.mkdir(parents=True, exist_ok=True)
    _write(place / "pyvenv.cfg", f"home = {programs}\nversion = {version}\n")
    _write(folder / "packages.pth", "".join(f"{one}\n" for one in packages))
    return str(place)


def _write(place: Path, text: str) -> None:
    """Replace a file at once, because the checker of another process may read it."""
    place.parent.mkdir(parents=True, exist_ok=True)
    data = text.encode("utf-8", "surrogateescape")
    if place.is_file() and place.read_bytes() == data:
        return
    made = place.with_name(f"{place.name}.{os.getpid()}.{threading.get_ident()}")
    made.write_bytes(data)
    made.replace(place)


def _toml(value: str | Iterable[str]) -> str:
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return f"[{', '.join(map(_toml, value))}]"


# Files kept with their outlines, some 50 KB each.
KEPT_FILES = 1000

_TYPE_PACKAGES = re.compile(r"/(?:site|dist)-packages/([^/]+)")
_STUBS = re.compile(r"/(?:stdlib|stubs/[^/]+)/([^/]+)")
_LIBRARY = re.compile(r"/lib/python[\d.]+/([^/]+)")


class PythonFile(OutlinedFile):
    """One file as it is now on disk."""

    def __init__(self, path: str, root: str, outline_of: OutlineOf) -> None:
        """Raises InputError where it cannot be read."""
        source = SourceUnits(decode(read(path)).decode("utf-8", "replace"))
        super().__init__(path.removeprefix(root + "/"), source, outline_of)

    def offset(self, line: int, column: int) -> int:
        """The byte at a line and a UTF-16 column, both from 0."""
        return self.source.to_bytes(self.source.unit_at(line, column))

    def position(self, offset: int) -> tuple[int, int]:
        """The line and the UTF-16 column of a byte, both from 0."""
        unit = self.source.to_units(offset)
        return self.source.line_of(unit) - 1, self.source.column_of(unit)

    def around(self, offset: int) -> int | None:
        """The innermost symbol around a byte."""
        return self._enclosing.at(offset)

    def named(self, offset: int) -> int | None:
        """The symbol whose name begins at a byte."""
        return self._named.get(offset)

    def import_at(self, line: int) -> Import | None:
        """The import that covers a line, from 1."""
        found = (i for i in self.outline.imports if i.start_line <= line <= i.end_line)
        return next(found, None)

    def line(self, offset: int) -> int:
        """The line of a byte, from 1."""
        return 1 + self.source.decoded.count(b"\n", 0, offset)

    def place(self, index: int | None) -> SymbolPlace:
        """The place of a symbol, or of the module if it has no symbol."""
        if index is None:
            return SymbolPlace(PurePosixPath(self.path).name, self.path, 1, "module")
        item = self.item(index)
        return SymbolPlace(item.qualified_name, self.path, self.line(item.name_offset), item.kind)


def read_file(path: str, root: str, outline_of: OutlineOf) -> PythonFile | None:
    """The file, or None where it is gone or cannot be read."""
    try:
        return PythonFile(path, root, outline_of)
    except InputError:
        return None


def module_of(path: str) -> str | None:
    """The top module that an installed file, a stub or one of the standard library belongs to."""
    for pattern in (_TYPE_PACKAGES, _STUBS, _LIBRARY):
        if found := pattern.search(path):
            return found.group(1).partition(".")[0].removesuffix("-stubs")
    return None


class PythonFiles:
    """The repository's own files, each read once until it is said to have changed."""

    def __init__(self, root: str, outline_of: OutlineOf = outlined) -> None:
        self.root = root
        self._outline_of = outline_of
        self._own: AbstractSet[str] = frozenset()
        self._known: OrderedDict[str, PythonFile | None] = OrderedDict()

    @property
    def is_filled(self) -> bool:
        """Whether it was ever said which files there are."""
        return bool(self._own)

    def refresh(self, own: AbstractSet[str], changed: Iterable[str]) -> None:
        """Take note of which files there are and which have changed, by absolute path."""
        self._own = own
        for path in changed:
            self._known.pop(path, None)

    def get(self, path: str) -> PythonFile | None:
        """A file of the repository; None for others, and for one that cannot be read."""
        if path not in self._own:
            return None
        if path not in self._known:
            self._known[path] = read_file(path, self.root, self._outline_of)
            if len(self._known) > KEPT_FILES:
                self._known.popitem(last=False)
        self._known.move_to_end(path)
        return self._known[path]

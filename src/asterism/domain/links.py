"""Keys that an imported module has in common with every file it could mean.

When a file appears or vanishes, the imports that may now mean another file are those whose key is
among the file's keys. A key too many costs a look; a key too few would leave an import wrong.
"""

import re
from functools import lru_cache
from pathlib import PurePosixPath

# Files that stand for their folder.
_INDEX_STEMS = frozenset({"index", "__init__", "mod", "init", "main", "lib", "package"})
# Imports of these languages may name only a direction (`from . import x`, `super`).
_RELATIVE_SUFFIXES = frozenset({".py", ".pyi", ".rs"})
# Words that name a place relative to the importing file and no file of their own.
_DIRECTIONS = frozenset({"", "*", "_", "self", "super", "crate"})
# In a module without a slash a dot separates packages, unless what follows is one of these.
_EXTENSIONS = frozenset(
    {
        *("c", "cc", "cpp", "cxx", "h", "hh", "hpp", "hxx", "inc", "ipp", "cs", "swift", "zig"),
        *("js", "jsx", "mjs", "cjs", "ts", "tsx", "mts", "cts", "json", "css", "scss", "vue"),
        *("svelte", "py", "pyi", "rb", "php", "lua", "sh", "bash", "go", "java", "kt", "kts"),
        *("rs", "scala", "hs", "ex", "exs"),
    }
)
_STEPS = re.compile(r"[/\\]|::?")
_JOINERS = str.maketrans("", "", "_-")


@lru_cache(maxsize=4096)  # a repository's files import the same modules
def link_key(module: str) -> str:
    """The key of a module as an import writes it: `./auth/tokenService.js` is `tokenservice`.

    It is the last step of the path, or the last package of a dotted name, without extension; the
    empty key where the module names only a direction (`.`, `../`, `crate`).
    """
    steps = [step for step in _STEPS.split(module) if step.strip(".")]
    if not steps:
        return ""
    parts = _parts(steps[-1])
    is_file = len(parts) == 2 and parts[1].lower() in _EXTENSIONS
    if len(steps) > 1 or "/" in module or is_file:
        return _key(parts[0])
    named = [part for part in parts if part not in _DIRECTIONS]
    return _key(named[-1]) if named else ""


def path_keys(path: str) -> frozenset[str]:
    """The keys of every module that could mean this file."""
    place = PurePosixPath(path)
    first, *rest = _parts(place.name) or [""]
    # The extension is a module's last part only where a name has more dots than one.
    named = rest if len(rest) > 1 else [part for part in rest if part.lower() not in _EXTENSIONS]
    # Packages of many languages are folders, and a member's name may follow the file's.
    keys = {_key(part) for part in (first, *named, *_parts(place.parent.name))}
    if first.lower() in _INDEX_STEMS or place.suffix in _RELATIVE_SUFFIXES:
        keys.add("")
    return frozenset(keys)


def _parts(name: str) -> list[str]:
    return [part for part in name.split(".") if part]


def _key(part: str) -> str:
    # `UserController` may stand in `user_controller`.
    plain = part.lower().translate(_JOINERS)
    return "" if plain in _DIRECTIONS else plain

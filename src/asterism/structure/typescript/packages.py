"""The packages of a monorepo: their names as aliases of their sources, not of what is built."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

LARGEST_MANIFEST = 1_000_000

# Folders that builds write to, where a package's entry points usually lead.
_BUILT = frozenset({"dist", "build", "lib", "out", "output", "esm", "cjs", "types", "es", "umd"})
_ENDING = re.compile(r"(\.d)?\.[cm]?[jt]sx?$")
_ENTRIES = ("source", "types", "typings", "module", "main")


def package_aliases(root: str, files: Sequence[str]) -> dict[str, list[str]]:
    """Aliases for every named package below a root, and for the entry points it exports."""
    stems = {f"{root}/{_ENDING.sub('', path)}" for path in files if _ENDING.search(path)}
    aliases: dict[str, list[str]] = {}
    for path in files:
        if path.rpartition("/")[2] != "package.json":
            continue
        place = Path(root, path)
        manifest = _read(place)
        name = manifest.get("name")
        if not isinstance(name, str) or not name or "*" in name:
            continue
        directory = str(place.parent)
        for key, targets in _entries(manifest):
            found = [stem for target in targets if (stem := _source(directory, target, stems))]
            if found and key.count("*") == 0:
                aliases.setdefault(name + key, []).extend(dict.fromkeys(found))
        folders = ("src", "lib", ".")
        aliases.setdefault(f"{name}/*", []).extend(
            f"{directory}/{folder}/*".replace("/./", "/") for folder in folders
        )
    return aliases


def _entries(manifest: Mapping[str, Any]) -> Iterator[tuple[str, list[str]]]:
    """What can be imported of a package (`""` for itself, `/sub`), and where that leads."""
    exports = manifest.get("exports")
    main = [manifest[key] for key in _ENTRIES if isinstance(manifest.get(key), str)]
    if isinstance(exports, dict) and any(key.startswith(".") for key in exports):
        for key, value in exports.items():
            if key == ".":
                main = [*_leaves(value), *main]
            else:
                yield key.removeprefix("."), list(_leaves(value))
    else:
        main = [*_leaves(exports), *main]
    yield "", [*main, "src/index", "lib/index", "index", "src/main"]


def _leaves(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _leaves(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _leaves(inner)


def _source(directory: str, target: str, stems: set[str]) -> str | None:
    """The source file, without its ending, that an entry point is built from, if it is there."""
    parts = PurePosixPath(_ENDING.sub("", target)).parts
    built = 0
    while built < len(parts) and parts[built] in _BUILT:
        built += 1
    rest = parts[built:]
    for choice in (parts, ("src", *rest), ("lib", *rest), rest):
        stem = "/".join((directory, *choice))
        for place in (stem, f"{stem}/index"):
            if place in stems:
                return place
    return None


def _read(manifest: Path) -> dict[str, Any]:
    try:
        if manifest.stat().st_size > LARGEST_MANIFEST:
            return {}
        content = json.loads(manifest.read_text(encoding="utf-8", errors="replace"))
    except (OSError, ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}

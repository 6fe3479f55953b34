"""One TypeScript configuration for a whole repository, whatever configurations it has itself."""

import json
import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

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
        manifest = _packages_read(place)
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


def _packages_read(manifest: Path) -> dict[str, Any]:
    try:
        if manifest.stat().st_size > LARGEST_MANIFEST:
            return {}
        content = json.loads(manifest.read_text(encoding="utf-8", errors="replace"))
    except (OSError, ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}


# A string is matched first, so that what looks like a comment inside of one stays.
_TOKEN = re.compile(
    r'"(?:\\.|[^"\\])*+(?:"|\Z)|//[^\n\r]*|/\*.*?(?:\*/|\Z)|,(?=\s*[}\]])', re.DOTALL
)


def loads(text: str) -> Any:
    """The value; raises ValueError where even that leniency does not help."""
    # Twice, because a comment may stand between a trailing comma and its bracket.
    return json.loads(_TOKEN.sub(_kept, _TOKEN.sub(_kept, text.removeprefix("\ufeff"))))


def _kept(found: re.Match[str]) -> str:
    text = found.group()
    return text if text.startswith('"') else " "


SOURCE_ENDINGS = (".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs")

# A configuration is a page of text; something larger only has the name of one.
LARGEST_CONFIG = 200_000

# `extends` may be circular, and lists of it can name the same file many times.
DEEPEST_EXTENDS = 10
MOST_EXTENDED = 100

# Nothing is checked or written: every option is there to find declarations and infer types.
_OPTIONS: Mapping[str, Any] = {
    "allowJs": True,
    "checkJs": False,
    "noEmit": True,
    "skipLibCheck": True,
    "strict": True,
    "jsx": "preserve",
    "target": "esnext",
    "module": "preserve",
    "moduleResolution": "bundler",
    "allowImportingTsExtensions": True,
    "allowArbitraryExtensions": True,
    "resolveJsonModule": True,
    "esModuleInterop": True,
    "experimentalDecorators": True,
    "maxNodeModuleJsDepth": 0,
    "incremental": False,
    "composite": False,
}

# Each project costs a resolution of all imports; a monorepo of more apps gets the rest by chance.
MOST_PROJECTS = 8

Aliases = dict[str, list[str]]


class AliasScope(NamedTuple):
    """The aliases that hold below a directory: of several around a file the innermost counts."""

    directory: str
    aliases: Aliases


class CompilerPlan(NamedTuple):
    """One project, and the source files whose own imports it resolves right."""

    configuration: dict[str, Any]
    right: frozenset[str]
    """Absolute paths."""


def is_source(path: str) -> bool:
    """Whether the compiler reads a file of this name."""
    return path.endswith(SOURCE_ENDINGS)


def is_config(path: str) -> bool:
    """Whether a file of this name says where modules are found."""
    name = path.rpartition("/")[2]
    return name == "package.json" or (
        name.startswith(("tsconfig", "jsconfig")) and name.endswith(".json")
    )


def plan(root: str, files: Sequence[str]) -> list[CompilerPlan]:
    """The projects that together are right about every file of a repository.

    One is enough unless two of its configurations mean different places by one alias, as the apps
    of a monorepo do by `@/*`. Then each meaning has a project, with its own files' references.
    """
    found = scopes(root, files)
    groups = _groups(found)[:MOST_PROJECTS]
    sources = [f"{root}/{path}" for path in files if is_source(path)]
    firsts = [aliases for aliases, _ in groups] or [{}]
    right: list[set[str]] = [set() for _ in firsts]
    by_directory = {directory: i for i, (_, members) in enumerate(groups) for directory in members}
    directories = {scope.directory for scope in found}
    for path in sources:
        nearest = _nearest(path, directories)
        right[by_directory.get(nearest, 0)].add(path)
    union = _union(root, files, found)
    planned = [
        CompilerPlan(_configuration(root, sorted(members), first, union), frozenset(members))
        for first, members in zip(firsts, right, strict=True)
    ]
    return [one for one in planned if one.right] or planned[:1]


def _groups(found: Sequence[AliasScope]) -> list[tuple[Aliases, list[str]]]:
    """What conflicting aliases mean, each meaning with the directories where it holds."""
    meanings: dict[str, set[tuple[str, ...]]] = {}
    for scope in found:
        for key, values in scope.aliases.items():
            meanings.setdefault(key, set()).add(tuple(values))
    # Every `baseUrl` gives `*` a meaning; alone that is no reason for one more project.
    conflicts = {key for key, values in meanings.items() if len(values) > 1 and key != "*"}
    groups: dict[tuple[tuple[str, tuple[str, ...]], ...], list[str]] = {}
    for scope in found:
        if conflicts & scope.aliases.keys():
            wanted = {*conflicts, "*"} & scope.aliases.keys()
            meaning = tuple(sorted((name, tuple(scope.aliases[name])) for name in wanted))
            groups.setdefault(meaning, []).append(scope.directory)
    return [
        ({name: list(values) for name, values in meaning}, members)
        for meaning, members in groups.items()
    ]


def _nearest(path: str, directories: Collection[str]) -> str:
    directory = path
    while directory := directory.rpartition("/")[0]:
        if directory in directories:
            return directory
    return ""


def _union(root: str, files: Sequence[str], found: Sequence[AliasScope]) -> Aliases:
    """The aliases of all configurations and packages together."""
    aliases: Aliases = {}
    for scope in found:
        merge(aliases, scope.aliases)
    merge(aliases, package_aliases(root, files))
    return aliases


def _configuration(
    root: str, sources: Sequence[str], first: Aliases, union: Aliases
) -> dict[str, Any]:
    """One configuration over some files, to which the compiler adds what they import."""
    aliases: Aliases = {key: list(values) for key, values in first.items()}
    merge(aliases, union)
    types = Path(root, "node_modules", "@types")
    known = ["node"] if (types / "node").is_dir() else []
    return {
        "compilerOptions": {
            **_OPTIONS,
            "paths": aliases,
            "types": known,
            "typeRoots": [str(types)],
        },
        "files": list(sources),
        "include": [],
    }


def merge(into: Aliases, more: Mapping[str, Iterable[str]]) -> None:
    """Add aliases behind those that are there."""
    for key, values in more.items():
        known = into.setdefault(key, [])
        known.extend(value for value in values if value not in known)


def scopes(root: str, files: Sequence[str]) -> list[AliasScope]:
    """The aliases of every configuration in a repository; one that cannot be read has none."""
    found: dict[str, Aliases] = {}
    # The plain name of a directory counts before its variants, as `tsconfig.build.json`.
    configs = [path for path in files if is_config(path) and not path.endswith("package.json")]
    for path in sorted(configs, key=lambda path: (os.path.dirname(path), len(path), path)):  # noqa: PTH120
        place = Path(root, path)
        aliases = _aliases(root, place)
        if aliases:
            merge(found.setdefault(str(place.parent), {}), aliases)
    return [AliasScope(directory, aliases) for directory, aliases in found.items()]


class _Effective(NamedTuple):
    """What a configuration says of modules, with what it extends."""

    base: str | None = None
    paths: Mapping[str, Any] | None = None
    paths_base: str = ""


def _aliases(root: str, config: Path) -> Aliases:
    reader = _Reader(root, str(config.parent))
    effective = reader.effective(config, DEEPEST_EXTENDS)
    base = effective.base or effective.paths_base
    aliases: Aliases = {}
    for key, values in (effective.paths or {}).items():
        places = [value for value in values if isinstance(value, str)] if values else []
        # A second `*` is an error that would cost the whole configuration.
        if key.count("*") <= 1 and all(place.count("*") <= 1 for place in places) and places:
            aliases[key] = [_absolute(base, place) for place in places]
    if effective.base and Path(effective.base).name != "node_modules":
        merge(aliases, {"*": [_absolute(effective.base, "*")]})
    inside = {
        key: [place for place in places if is_inside(place, root)]
        for key, places in aliases.items()
    }
    return {key: places for key, places in inside.items() if places}


def is_inside(place: str, root: str) -> bool:
    """Whether the real path of an alias is in the repository."""
    real, fixed = os.path.realpath(root), place.partition("*")[0]
    return os.path.realpath(fixed) == real or os.path.realpath(fixed).startswith(f"{real}/")


class _Reader:
    """Reads a configuration and those it extends, if they are in the repository."""

    def __init__(self, root: str, leaf: str) -> None:
        self._root = root
        self._leaf = leaf
        self._left = MOST_EXTENDED

    def effective(self, config: Path, depth: int) -> _Effective:
        """The module settings of a configuration."""
        self._left -= 1
        content = _read(config) if is_inside(str(config), self._root) else {}
        result = _Effective()
        extended = content.get("extends")
        for name in extended if isinstance(extended, list) else [extended]:
            if not isinstance(name, str) or not depth or self._left <= 0:
                continue
            parent = _extended(config.parent, name)
            if parent is not None:
                above = self.effective(parent, depth - 1)
                result = _Effective(
                    above.base or result.base,
                    above.paths if above.paths is not None else result.paths,
                    above.paths_base or result.paths_base,
                )
        return self._own(result, config, content.get("compilerOptions"))

    def _own(self, above: _Effective, config: Path, options: object) -> _Effective:
        if not isinstance(options, dict):
            return above
        result = above
        base, paths = options.get("baseUrl"), options.get("paths")
        if isinstance(base, str):
            place = _absolute(str(config.parent), _in_leaf(base, self._leaf))
            result = result._replace(base=place)
        if isinstance(paths, dict):
            settled = {
                key: [_in_leaf(value, self._leaf) for value in values if isinstance(value, str)]
                for key, values in paths.items()
                if isinstance(values, list)
            }
            result = result._replace(paths=settled, paths_base=str(config.parent))
        return result


def _in_leaf(place: str, leaf: str) -> str:
    return place.replace("${configDir}", leaf)


def _extended(directory: Path, name: str) -> Path | None:
    """The file that an `extends` means: beside the configuration, or in an installed package."""
    if name.startswith((".", "/")):
        places = [directory / name]
    else:
        places = [above / "node_modules" / name for above in (directory, *directory.parents)]
    for place in places:
        for choice in (str(place), f"{place}.json", f"{place}/tsconfig.json"):
            # Path.is_file would raise for an invalid file name.
            if os.path.isfile(choice):  # noqa: PTH113
                return Path(choice)
    return None


def _read(config: Path) -> dict[str, Any]:
    try:
        if config.stat().st_size > LARGEST_CONFIG:
            return {}
        content = loads(config.read_text(encoding="utf-8", errors="replace"))
    except (OSError, ValueError, RecursionError):
        # A broken configuration is the repository's state today, not an error of Asterism.
        return {}
    return content if isinstance(content, dict) else {}


def _absolute(base: str, place: str) -> str:
    return os.path.normpath(os.path.join(base, place))  # noqa: PTH118

"""Where the modules of languages stand whose imports bind no plain names: a file or a folder."""

import re
import tomllib
from collections.abc import Callable, Mapping
from posixpath import dirname, join, normpath
from typing import Any

from asterism.analysis.graph.files import FileSet
from asterism.analysis.graph.modules import resolve_module

_GO_MODULE = re.compile(rb"^module\s+\"?([^\s\"]+)", re.MULTILINE)
_GO_VERSION = re.compile(r"v\d+$")


def module_file(
    importer: str,
    language: str,
    module: str,
    files: FileSet,
    crates: Callable[[], Mapping[str, str]] = dict,
) -> str | None:
    """The file that a module means, in every language in which one file is one module.

    `crates` gives the first file of each crate by the name that code has for it.
    """
    found = resolve_module(importer, language, module, files)
    if found is not None or not module:
        return found
    if language == "rust":
        return _rust(module, files, crates)
    resolve = _RESOLVERS.get(language)
    return resolve(importer, module, files) if resolve else None


def go_name(module: str) -> str:
    """The name under which a package of Go is used when no other is given."""
    *before, last = module.split("/")
    if _GO_VERSION.match(last) and before:
        last = before[-1]
    return last.partition(".v")[0].removeprefix("go-").removesuffix("-go").replace("-", "_")


def go_folder(importer: str, module: str, text_of: Callable[[str], bytes | None]) -> str | None:
    """The folder of a package of Go; None for what belongs to another module.

    `text_of` gives the text of a file: the nearest `go.mod` says how the module is called. Where
    there is none, the folder is only known to be an end of the module's path: `…/harbor/lids`.
    """
    folder, is_module = dirname(importer), False
    while True:
        text = text_of(join(folder, "go.mod"))
        found = _GO_MODULE.search(text) if text else None
        if found is not None:
            is_module = True
            name = found.group(1).decode("utf-8", "replace")
            if module == name:
                return folder
            if module.startswith(f"{name}/"):
                return join(folder, module[len(name) + 1 :])
        if not folder:
            return None if is_module or "." not in module.partition("/")[0] else f"…/{module}"
        folder = dirname(folder)


def is_in_folder(path: str, folder: str) -> bool:
    """Whether a file stands in a folder as `go_folder` names it."""
    own = dirname(path)
    return own == folder or (folder.startswith("…/") and own != "" and folder.endswith(f"/{own}"))


def _lua(importer: str, module: str, files: FileSet) -> str | None:
    steps = module.replace(".", "/")
    for ending in (f"{steps}.lua", f"{steps}/init.lua"):
        found = files.ending(ending)
        if found:
            # The folder that is searched for modules is `lua`, or the root.
            best = [path for path in found if path in (ending, f"lua/{ending}")] or found
            return best[0] if len(best) == 1 else None
    return None


def _zig(importer: str, module: str, files: FileSet) -> str | None:
    if module.endswith(".zig"):
        path = normpath(join(dirname(importer), module))
        return path if path in files else None
    # A package by its name: its first file is called like it.
    return files.only((f"src/{module}.zig", f"{module}.zig", f"src/{module}/{module}.zig"))


def _haskell(importer: str, module: str, files: FileSet) -> str | None:
    found = files.ending(module.replace(".", "/") + ".hs")
    if len(found) > 1:
        root = importer.split("/")[0]
        found = [path for path in found if path.split("/")[0] == root]
    return found[0] if len(found) == 1 else None


def _rust(module: str, files: FileSet, crates: Callable[[], Mapping[str, str]]) -> str | None:
    """A crate of the same workspace: `name::a::b` stands in the folder of that name.

    Where no folder has that name, the manifests say which crate does.
    """
    crate, _, rest = module.partition("::")
    if crate in ("crate", "self", "super", "std", "core", "alloc"):
        return None
    roots = [
        *files.ending(f"{crate}/src/lib.rs"),
        *(files.ending(f"{crate.replace('_', '-')}/src/lib.rs") if "_" in crate else ()),
    ]
    root = roots[0] if len(roots) == 1 else crates().get(crate)
    if root is None:
        return None
    inside = f"crate::{rest}" if rest else "crate"
    return resolve_module(root, "rust", inside, files) or (root if not rest else None)


def crate_roots(files: FileSet, text_of: Callable[[str], bytes | None]) -> dict[str, str]:
    """The first file of each crate, by the name that code has for it, as its manifest says."""
    found: dict[str, str] = {}
    for manifest in files.ending("Cargo.toml"):
        try:
            said = tomllib.loads((text_of(manifest) or b"").decode("utf-8", "replace"))
        except (tomllib.TOMLDecodeError, RecursionError):
            continue
        library = _table(said, "lib")
        name = library.get("name") or _table(said, "package").get("name")
        root = normpath(join(dirname(manifest), str(library.get("path", "src/lib.rs"))))
        if isinstance(name, str) and root in files:
            found[name.replace("-", "_")] = root
    return found


def _table(said: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = said.get(name)
    return found if isinstance(found, Mapping) else {}


_RESOLVERS: dict[str, Callable[[str, str, FileSet], str | None]] = {
    "lua": _lua,
    "zig": _zig,
    "haskell": _haskell,
}

"""Rust: what sets it apart, as data."""

import tomllib
from collections.abc import Callable, Mapping
from posixpath import basename, dirname, join, normpath, splitext
from typing import Any

from asterism.languages.facets import (
    BaseFacets,
    Dialect,
    Facets,
    FileSet,
    ImportFacets,
    Roots,
    ScopeFacets,
    TraceFacets,
    TypeFacets,
)

RUST = Facets(
    name="rust",
    title="Rust",
    order=60,
    visibility="`pub` in any form; variants and trait members like what they belong to; "
    "macros with `#[macro_export]`",
    dialects=(
        Dialect(
            key="rust", rules="rust.rules:RUST", extensions=(".rs",), interpreters=("rust-script",)
        ),
    ),
    outside_packages=(
        r"/registry/src/[^/]+/(.+?)-\d",
        r"/git/checkouts/([^/]+)-[0-9a-f]+/",
        r"/library/(core|alloc|std|proc_macro|test)/",
    ),
    scopes=ScopeFacets(
        reach=frozenset({"loose"}),
        own_type_words=True,
        macros_by_sign=True,
        prelude=frozenset({"Box", "Option", "Result", "String", "Vec"}),
    ),
    imports=ImportFacets(
        form="path",
        file="rust:module_file",
        other_file="rust:crate_file",
        roots="rust:crate_roots",
        joint="::",
        submodule="self::{}",
        relative_words=frozenset({"crate", "super", "self"}),
        passes_stars=True,
    ),
    types=TypeFacets(declarations="words", fixed=True, result_wrappers=True, declared_modules=True),
    bases=BaseFacets(mark=rb":(?!:)"),
    traces=TraceFacets(
        frames=(
            # Where it panicked, and the functions of its backtrace.
            r"panicked at (?:'[^\n]*', )?{path}:(?P<line>\d+):\d+",
            r"{margin}\d+:\s+(?:0x[0-9a-f]+ - )?(?P<name>[A-Za-z_][\w:<>{}]*::[\w:<>{}]+)"
            r"[^\S\n]*$",
        )
    ),
)

LANGUAGES = (RUST,)


_CRATE_FILES = ("lib.rs", "main.rs")


def module_file(importer: str, module: str, files: FileSet) -> str | None:
    """The file of `crate::a::b`, `self::a`, `super::a`, or of a module below the importer's own."""
    root = _crate_root(importer, files)
    here = _module_folder(importer, root)
    first, *steps = module.split("::")
    if first == "crate":
        if root is None or _is_crate_itself(importer, root):
            return None
        at = root
    elif first in ("self", "super"):
        at = here
        if first == "super":
            steps.insert(0, "super")
    else:
        # Without a leading word it is a module declared here, or another crate.
        if _file_of(join(here, first), root, importer, files) is None:
            return None
        at, steps = here, [first, *steps]
    while steps and steps[0] == "super":
        if at in ("", root):
            return None
        at = dirname(at)
        del steps[0]
    return _file_of(join(at, *steps), root, importer, files)


def _crate_root(importer: str, files: FileSet) -> str | None:
    """The nearest folder with a crate's first file in it."""
    folder = dirname(importer)
    while True:
        if any(join(folder, name) in files for name in _CRATE_FILES):
            return folder
        if not folder:
            return None
        folder = dirname(folder)


def _is_crate_itself(importer: str, root: str) -> bool:
    """Programs beside a library, `src/bin/x.rs`, are crates of one file."""
    return dirname(importer) == join(root, "bin")


def _module_folder(importer: str, root: str | None) -> str:
    """Where the files of the importer's own submodules stand; this names the module too."""
    folder, name = dirname(importer), basename(importer)
    if name == "mod.rs" or (folder == root and name in _CRATE_FILES):
        return folder
    return join(folder, splitext(name)[0])


def _file_of(module: str, root: str | None, importer: str, files: FileSet) -> str | None:
    if module != root:
        return files.only((f"{module}.rs", join(module, "mod.rs")))
    if dirname(importer) == root and basename(importer) in _CRATE_FILES:
        return importer
    return files.only(join(module, name) for name in _CRATE_FILES)


def crate_file(importer: str, module: str, files: FileSet, crates: Roots) -> str | None:
    """A crate of the same workspace: `name::a::b` is in the folder of that name.

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
    return module_file(root, inside, files) or (root if not rest else None)


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

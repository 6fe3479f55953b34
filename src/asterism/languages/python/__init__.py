"""Python: what sets it apart, as data."""

from collections.abc import Iterator
from posixpath import dirname, join

from asterism.languages.facets import (
    BaseFacets,
    CallFacets,
    Dialect,
    DisplayFacets,
    Facets,
    FileSet,
    ImportFacets,
    ScopeFacets,
    TraceFacets,
    TypeFacets,
)

_MEMBERS = (str, bytes, dict, list, set, tuple, int, float)

PYTHON = Facets(
    name="python",
    title="Python",
    order=30,
    visibility="in `__all__` where the module has one, else a module-level name without "
    "leading underscore",
    dialects=(
        Dialect(
            key="python",
            rules="python.rules:PYTHON",
            extensions=(".py", ".pyi", ".pyw"),
            filenames=("SConstruct", "SConscript", "wscript"),
            interpreters=("python", "pypy"),
        ),
    ),
    display=DisplayFacets(path_line="# {}", comments="hash", indented_conditions=True),
    scopes=ScopeFacets(
        builtin_members=frozenset(name for known in _MEMBERS for name in dir(known)),
        open_types="body",
        own_type_words=True,
    ),
    imports=ImportFacets(
        file="python:module_file", submodule=".{}", passes_stars=True, passing_files="__init__."
    ),
    types=TypeFacets(
        declarations="line",
        with_statements=True,
        attribute_set=r"\bself\.(?=\w+\s*(?::[^=\n]*)?=(?!=))",
    ),
    bases=BaseFacets(mark=rb"\(", depth=1, keywords=True),
    calls=CallFacets(decorators=True),
    traces=TraceFacets(
        frames=(
            r"{margin}File \"(?P<path>[^\"\n]+)\", line (?P<line>\d+)(?:, in (?P<name>[\w.<>]+))?",
        )
    ),
)

LANGUAGES = (PYTHON,)


# A package before a module of the same name, code before stubs, as Python looks for them.
_PYTHON = ("/__init__.py", ".py", "/__init__.pyi", ".pyi")
# Folders below which a project keeps its packages.
_PYTHON_ROOTS = ("", "src")


def module_file(importer: str, module: str, files: FileSet) -> str | None:
    """The file that a module means, relative or from a root."""
    name = module.lstrip(".")
    steps = name.replace(".", "/")
    if up := len(module) - len(name):
        return _relative_python(importer, up, steps, files)
    for root in _python_roots(importer, files):
        if found := files.first(_python_files(join(root, steps))):
            return found
    if "/" not in steps:
        # A single name below some folder is as likely a package that is installed.
        return None
    return _unique_python(steps, files)


def _relative_python(importer: str, up: int, steps: str, files: FileSet) -> str | None:
    folder = dirname(importer)
    for _ in range(up - 1):
        if not folder:
            return None
        folder = dirname(folder)
    if steps:
        return files.first(_python_files(join(folder, steps)))
    return files.first(join(folder, name) for name in ("__init__.py", "__init__.pyi"))


def _python_files(path: str) -> Iterator[str]:
    return (path + ending for ending in _PYTHON)


def _python_roots(importer: str, files: FileSet) -> Iterator[str]:
    """The folders from the importer up that are not packages themselves, then the usual ones."""
    folder = dirname(importer)
    while folder:
        if not _is_package(folder, files):
            yield folder
            yield join(folder, "src")
        folder = dirname(folder)
    yield from _PYTHON_ROOTS


def _unique_python(steps: str, files: FileSet) -> str | None:
    """The one file that the name ends in, if its topmost folder does not belong to a package."""
    for ending in _PYTHON:
        found = files.ending(steps + ending)
        found = [path for path in found if not _is_package(_above(path, steps + ending), files)]
        if found:
            return found[0] if len(found) == 1 else None
    return None


def _above(path: str, ending: str) -> str:
    return path.removesuffix(ending).rstrip("/")


def _is_package(folder: str, files: FileSet) -> bool:
    return f"{folder}/__init__.py" in files if folder else "__init__.py" in files

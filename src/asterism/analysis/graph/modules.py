"""Which file of the repository does an import mean? Where two could be meant, none is."""

from collections.abc import Callable, Iterator, Sequence
from posixpath import basename, dirname, join, normpath, splitext

from asterism.analysis.graph.files import FileSet
from asterism.analysis.graph.rust_modules import rust_file

__all__ = ["FileSet", "resolve_module"]

# In the compiler's order. A source stands in for the script that is made of it.
_TYPESCRIPT = (".ts", ".tsx", ".d.ts", ".js", ".jsx", ".mts", ".d.mts", ".mjs", ".cts", ".d.cts")
_TYPESCRIPT_FIRST = (*_TYPESCRIPT, ".cjs", ".json")
_JAVASCRIPT_FIRST = (".js", ".jsx", ".mjs", ".cjs", ".json", *_TYPESCRIPT)
_SOURCES_OF = {
    ".js": (".ts", ".tsx", ".d.ts"),
    ".jsx": (".tsx", ".d.ts"),
    ".mjs": (".mts", ".d.mts"),
    ".cjs": (".cts", ".d.cts"),
}
_JVM = (".java", ".kt", ".scala")
# A package before a module of the same name, code before stubs, as Python looks for them.
_PYTHON = ("/__init__.py", ".py", "/__init__.pyi", ".pyi")
# Folders below which a project keeps its packages.
_PYTHON_ROOTS = ("", "src")


def resolve_module(importer: str, language: str, module: str, files: FileSet) -> str | None:
    """The path of the file that `module` means in a file of that language.

    Modules are as `wanted_names` gives them. Those of other packages and of the languages whose
    imports bind no plain names (Go, C#, Ruby, C …) mean no file.
    """
    resolve = _RESOLVERS.get(language)
    return resolve(importer, module, files) if resolve and module else None


def _typescript(importer: str, module: str, files: FileSet) -> str | None:
    return _ecmascript(importer, module, files, _TYPESCRIPT_FIRST)


def _javascript(importer: str, module: str, files: FileSet) -> str | None:
    path = _beside(importer, module)
    # A script that names a script means it, even beside the source of another.
    if path in files:
        return path
    return _ecmascript(importer, module, files, _JAVASCRIPT_FIRST)


def _ecmascript(
    importer: str, module: str, files: FileSet, extensions: Sequence[str]
) -> str | None:
    path = _beside(importer, module)
    if path is None:
        return None
    stem, extension = splitext(path)
    candidates: list[str] = []
    if not module.endswith(("/", "/.", "/..")) and module not in (".", ".."):
        candidates += [stem + source for source in _SOURCES_OF.get(extension, ())]
        candidates.append(path)
        candidates += [path + extension for extension in extensions]
    candidates += [join(path, "index" + extension) for extension in extensions]
    return files.first(candidates)


def _beside(importer: str, module: str) -> str | None:
    """The path that a relative module names, without what bundlers add behind `?`."""
    if not module.startswith(("./", "../")) and module not in (".", ".."):
        return None
    path = normpath(join(dirname(importer), module.partition("?")[0]))
    if path == ".":
        return ""
    return None if path.startswith("..") and path[2:3] in ("", "/") else path


def _python(importer: str, module: str, files: FileSet) -> str | None:
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


def _jvm(importer: str, module: str, files: FileSet) -> str | None:
    steps = module.replace(".", "/")
    if "/" not in steps:
        return None
    found = [path for extension in _JVM for path in files.ending(steps + extension)]
    return found[0] if len(found) == 1 else None


def _php(importer: str, module: str, files: FileSet) -> str | None:
    """A namespace begins with names that its folders need not have, so its end counts."""
    steps = module.strip("\\").split("\\")
    for start in range(len(steps) - 1):
        ending = "/".join(steps[start:]) + ".php"
        found = files.ending(ending)
        if start:
            found = [path for path in found if not _is_namespace(_above(path, ending))]
        if found:
            return found[0] if len(found) == 1 else None
    return None


def _is_namespace(folder: str) -> bool:
    """Whether a folder is called like a namespace: then the module would have named it."""
    return basename(folder)[:1].isupper()


_RESOLVERS: dict[str, Callable[[str, str, FileSet], str | None]] = {
    "typescript": _typescript,
    "javascript": _javascript,
    "python": _python,
    "java": _jvm,
    "kotlin": _jvm,
    "scala": _jvm,
    "php": _php,
    "rust": rust_file,
}

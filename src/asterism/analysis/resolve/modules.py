"""Which file of the repository does an import mean? Where two could be meant, none is."""

from collections.abc import Callable, Mapping
from posixpath import dirname

from asterism.languages.file_set import FileSet, Roots
from asterism.languages.registry import code_of, facets_of


def resolve_module(importer: str, language: str, module: str, files: FileSet) -> str | None:
    """The path of the file that `module` means in a file of that language.

    Modules are as `wanted_names` gives them. Those of other packages and of the languages whose
    imports bind no plain names (Go, C#, Ruby, C …) mean no file.
    """
    finder = facets_of(language).imports.file
    found: str | None = code_of(finder)(importer, module, files) if finder and module else None
    return found


def module_file(
    importer: str, language: str, module: str, files: FileSet, roots: Roots = dict
) -> str | None:
    """The file that a module means, in every language in which one file is one module."""
    found = resolve_module(importer, language, module, files)
    finder = facets_of(language).imports.other_file
    if found is None and finder and module:
        found = code_of(finder)(importer, module, files, roots)
    return found


def package_roots(
    language: str, files: FileSet, text_of: Callable[[str], bytes | None]
) -> Mapping[str, str]:
    """The first file of each package that manifests name, by the name that code has for it."""
    reader = facets_of(language).imports.roots
    found: Mapping[str, str] = code_of(reader)(files, text_of) if reader else {}
    return found


def is_in_folder(path: str, folder: str) -> bool:
    """Whether a file stands in a folder as an import names it."""
    own = dirname(path)
    return own == folder or (folder.startswith("…/") and own != "" and folder.endswith(f"/{own}"))

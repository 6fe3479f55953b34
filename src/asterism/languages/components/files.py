"""Which file an import of a component's script means."""

from asterism.languages.ecmascript.files import typescript_file
from asterism.languages.file_set import FileSet

# What bundlers are usually configured to read as the folder of the sources. SvelteKit's `$lib` is
# the folder `lib` in it.
_SOURCES = {"@/": "src/", "~/": "src/", "~~/": "", "@@/": "", "$lib/": "src/lib/", "#/": "src/"}


def module_file(importer: str, module: str, files: FileSet) -> str | None:
    """The file that a module means: relative to the importer, or below the sources by an alias."""
    found = typescript_file(importer, module, files)
    if found is not None:
        return found
    for alias, folder in _SOURCES.items():
        if module.startswith(alias):
            return _in_sources(importer, folder, module.removeprefix(alias), files)
    return None


def _in_sources(importer: str, folder: str, path: str, files: FileSet) -> str | None:
    """The file below the nearest folder above the importer that has it."""
    above = importer.split("/")[:-1]
    while True:
        root = "/".join(above)
        # As a file at that root would import it.
        beside = f"{root}/-" if root else "-"
        for start in dict.fromkeys((folder, "")):
            found = typescript_file(beside, f"./{start}{path}", files)
            if found is not None:
                return found
        if not above:
            return None
        above.pop()

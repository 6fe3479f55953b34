"""Which file a module of Haskell means."""

from asterism.languages.file_set import FileSet, Roots


def module_file(importer: str, module: str, files: FileSet, _roots: Roots) -> str | None:
    """The file that a module means."""
    found = files.ending(module.replace(".", "/") + ".hs")
    if len(found) > 1:
        root = importer.split("/")[0]
        found = [path for path in found if path.split("/")[0] == root]
    return found[0] if len(found) == 1 else None

"""Which file a type of a namespace means."""

from posixpath import basename

from asterism.languages.file_set import FileSet


def type_file(importer: str, module: str, files: FileSet) -> str | None:
    """A namespace begins with names that its folders need not have, so its end counts."""
    steps = module.strip("\\").split("\\")
    for start in range(len(steps) - 1):
        ending = "/".join(steps[start:]) + ".php"
        found = files.ending(ending)
        if start:
            found = [
                path for path in found if not _is_namespace(path.removesuffix(ending).rstrip("/"))
            ]
        if found:
            return found[0] if len(found) == 1 else None
    return None


def _is_namespace(folder: str) -> bool:
    """Whether a folder is called like a namespace: then the module would have named it."""
    return basename(folder)[:1].isupper()

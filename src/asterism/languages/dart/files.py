"""Which file an import of Dart means."""

from posixpath import dirname, join, normpath

from asterism.languages.file_set import FileSet


def module_file(importer: str, module: str, files: FileSet) -> str | None:
    """The file of `package:name/path.dart`, or of a path from the importer's folder."""
    scheme, colon, address = module.partition(":")
    if not colon:
        path = normpath(join(dirname(importer), module))
        return path if path in files else None
    if scheme != "package":
        return None
    package, _, path = address.partition("/")
    found = files.ending(f"{package}/lib/{path}")
    if not found and f"lib/{path}" in files:
        # The repository is the package itself, whatever its folder is called.
        found = [f"lib/{path}"]
    return found[0] if len(found) == 1 else None

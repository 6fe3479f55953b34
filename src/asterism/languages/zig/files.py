"""Which file an import of Zig means."""

from posixpath import dirname, join, normpath

from asterism.languages.file_set import FileSet, Roots


def module_file(importer: str, module: str, files: FileSet, _roots: Roots) -> str | None:
    """The file that a module means."""
    if module.endswith(".zig"):
        path = normpath(join(dirname(importer), module))
        return path if path in files else None
    # A package by its name: its first file is called like it.
    return files.only((f"src/{module}.zig", f"{module}.zig", f"src/{module}/{module}.zig"))

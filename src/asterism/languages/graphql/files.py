"""Which file an `#import` line means."""

from posixpath import dirname, join, normpath

from asterism.languages.file_set import FileSet


def module_file(importer: str, module: str, files: FileSet) -> str | None:
    """The file at a path relative to the importer, or else from the root."""
    return files.first((normpath(join(dirname(importer), module)), normpath(module)))

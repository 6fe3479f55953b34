"""Which file a type of a package means, in the languages of the JVM."""

from asterism.languages.file_set import FileSet

_JVM = (".java", ".kt", ".scala")


def type_file(importer: str, module: str, files: FileSet) -> str | None:
    """The file that is called like a type, in the folders of its package."""
    steps = module.replace(".", "/")
    if "/" not in steps:
        return None
    found = [path for extension in _JVM for path in files.ending(steps + extension)]
    return found[0] if len(found) == 1 else None

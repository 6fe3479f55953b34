"""A file's bytes in, its outline out, whatever the file is. Parsing never fails."""

from asterism.analysis.source.text import decode, is_binary
from asterism.analysis.syntax.catalogue import TEXT, Entry, detect, is_missing, sharing
from asterism.analysis.syntax.prose import outline_prose
from asterism.analysis.syntax.windows import outline_text
from asterism.languages.registry import code_of
from asterism.types.errors import WorkerDied
from asterism.types.outline import Outline, Problem

UNFOLLOWED = Problem(1, 0, "damaged in a way that cannot be followed; read as plain text")
"""A file that a rule of its language fails on must not keep a repository from being indexed. Each
such file is a bug, which `make fuzz` looks for."""

NOT_INSTALLED = "read as plain text: its grammar is not installed (pip install 'asterism[{}]')"

# A shebang is at most one line; the kernel reads no more of it either.
SHEBANG_BYTES = 256


def language_of(path: str, data: bytes) -> Entry:
    """The language of a file by its name; by its text where the name leaves it open."""
    entry = detect(path, data[:SHEBANG_BYTES])
    others = sharing(path)
    if not others:
        return entry
    for other in others:
        if not is_missing(other) and code_of(other.claims)(data):
            return other
    return TEXT if entry in others and not is_missing(entry) else entry


def outline_bytes(path: str, data: bytes) -> Outline:
    """The outline of a file as it lies on disk; a binary file has an empty one."""
    if is_binary(data):
        return Outline(path, language_of(path, data).language)
    return outline(path, decode(data))


def outline(path: str, source: bytes) -> Outline:
    """The outline of decoded text: UTF-8, LF line ends, no byte-order mark."""
    entry = language_of(path, source)
    if entry.home == "text":
        return outline_text(path, entry.language, source)
    if entry.home == "prose":
        return outline_prose(path, entry.language, source)
    if entry.optional is not None and is_missing(entry):
        missing = Problem(1, 0, NOT_INSTALLED.format(entry.optional.extra))
        return outline_text(path, entry.language, source)._replace(problems=(missing,))
    # Imported here: a Markdown file or a status command needs no grammar.
    from asterism.analysis.syntax.walker import outline_tree

    try:
        return outline_tree(path, entry, source)
    except WorkerDied:
        # It says nothing about the file.
        raise
    except Exception:  # noqa: BLE001 - parsing never fails, whatever a rule has not thought of
        return outline_text(path, entry.language, source)._replace(problems=(UNFOLLOWED,))

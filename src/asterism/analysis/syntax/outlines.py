"""A file's bytes in, its outline out, whatever the file is. Parsing never fails."""

from asterism.analysis.source.text import decode, is_binary
from asterism.analysis.syntax.catalogue import Entry, detect, entry_of
from asterism.analysis.syntax.prose import outline_prose
from asterism.analysis.syntax.windows import outline_text
from asterism.languages.registry import code_of
from asterism.types.errors import WorkerDied
from asterism.types.outline import Outline, Problem

UNFOLLOWED = Problem(1, 0, "damaged in a way that cannot be followed; read as plain text")
"""A file that a rule of its language fails on must not keep a repository from being indexed. Each
such file is a bug, which `make fuzz` looks for."""

# A shebang is at most one line; the kernel reads no more of it either.
SHEBANG_BYTES = 256


def language_of(path: str, data: bytes) -> Entry:
    """The language of a file by its name; by its text where the name leaves it open."""
    entry = detect(path, data[:SHEBANG_BYTES])
    if entry.ambiguous and path.endswith(entry.ambiguous) and code_of(entry.is_other)(data):
        return entry_of(entry.other_key)
    return entry


def text_of(path: str, data: bytes) -> bytes:
    """The text of a file as it is read and shown: decoded, and in the view of its language.

    A view has the lines of the file, so a line number means the same in both.
    """
    text = decode(data)
    view = detect(path).view
    if not view:
        return text
    shown: bytes = code_of(view)(text)
    return shown


def outline_bytes(path: str, data: bytes) -> Outline:
    """The outline of a file as it lies on disk; a binary file has an empty one."""
    if is_binary(data):
        return Outline(path, language_of(path, data).language)
    return outline(path, text_of(path, data))


def outline(path: str, source: bytes) -> Outline:
    """The outline of a text from `text_of`: UTF-8, LF line ends, no byte-order mark."""
    entry = language_of(path, source)
    try:
        return outline_as(path, entry, source)
    except WorkerDied:
        # It says nothing about the file.
        raise
    except Exception:  # noqa: BLE001 - parsing never fails, whatever a rule has not thought of
        return outline_text(path, entry.language, source)._replace(problems=(UNFOLLOWED,))


def outline_as(path: str, entry: Entry, source: bytes) -> Outline:
    """The outline of a text in a known dialect."""
    if entry.home == "text":
        return outline_text(path, entry.language, source)
    if entry.home == "prose":
        return outline_prose(path, entry.language, source)
    if entry.reader:
        found: Outline = code_of(entry.reader)(path, entry.language, source)
        return found
    # Imported here: a Markdown file or a status command needs no grammar.
    if entry.parts:
        from asterism.analysis.syntax.parts import outline_parts

        return outline_parts(path, entry, source)
    from asterism.analysis.syntax.walker import outline_tree

    return outline_tree(path, entry, source)

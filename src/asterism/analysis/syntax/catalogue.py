"""Which file is in which language: look-up by extension, name and shebang."""

import re
from functools import cache
from posixpath import basename, splitext
from typing import NamedTuple

from asterism.languages.registry import languages


class Entry(NamedTuple):
    """One dialect: what its files are called, and where its data is."""

    key: str
    """Names the grammar; dialects of one language have different keys and one `language`."""
    language: str
    title: str
    home: str
    """`folder.module:VARIABLE` under `languages`; `prose` and `text` need no grammar."""
    extensions: tuple[str, ...]
    filenames: tuple[str, ...] = ()
    interpreters: tuple[str, ...] = ()
    """What a shebang may name, without version digits."""
    ambiguous: tuple[str, ...] = ()
    """Extensions that another dialect has too."""
    other_key: str = ""
    is_other: str = ""
    """What tells from the text whether a file of these is in the other dialect."""
    parts: str = ""
    reader: str = ""
    view: str = ""

    @property
    def has_grammar(self) -> bool:
        """Whether one grammar reads the whole file."""
        return ":" in self.home


TABLE = tuple(
    Entry(
        dialect.key,
        facets.name,
        facets.title,
        dialect.rules,
        dialect.extensions,
        dialect.filenames,
        dialect.interpreters,
        dialect.ambiguous,
        dialect.other_key,
        dialect.is_other,
        dialect.parts,
        dialect.reader,
        dialect.view,
    )
    for facets in languages()
    for dialect in facets.dialects
)

_BY_KEY = {entry.key: entry for entry in TABLE}
TEXT = _BY_KEY["text"]
_BY_EXTENSION = {extension: entry for entry in TABLE for extension in entry.extensions}
_BY_FILENAME = {name: entry for entry in TABLE for name in entry.filenames}
_BY_INTERPRETER = {name: entry for entry in TABLE for name in entry.interpreters}

_SHEBANG = re.compile(
    rb"^#![ \t]*(?:\S*/env(?:[ \t]+-\S+)*(?:[ \t]+\w+=\S*)*[ \t]+)?(\S+)", re.ASCII
)
_VERSION = re.compile(r"[\d.]+$")


def detect(path: str, head: bytes = b"") -> Entry:
    """The language of a file: by its extension, else its name, else its shebang, else text."""
    name = basename(path)
    extension = splitext(name)[1]
    entry = _BY_EXTENSION.get(extension) or _BY_EXTENSION.get(extension.lower())
    if entry is None:
        entry = _BY_FILENAME.get(name)
    if entry is None and not extension and head.startswith(b"#!"):
        entry = _by_shebang(head)
    return entry or TEXT


def entry_of(key: str) -> Entry:
    """The row of a dialect."""
    return _BY_KEY[key]


@cache
def titles() -> dict[str, str]:
    """How each language is written for people."""
    return {entry.language: entry.title for entry in TABLE}


def _by_shebang(head: bytes) -> Entry | None:
    found = _SHEBANG.match(head)
    if found is None:
        return None
    program = basename(found.group(1).decode("utf-8", "replace"))
    return _BY_INTERPRETER.get(program) or _BY_INTERPRETER.get(_VERSION.sub("", program))

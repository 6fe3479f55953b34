"""Where the files of a repository hold tokens that are masked in what leaves the machine."""

from collections.abc import Iterator
from typing import NamedTuple

from asterism.analysis.source.text import decode, read
from asterism.disclosure.tokens import find_tokens, line_of
from asterism.types.errors import InputError
from asterism.types.files import Discovery


class TokenPlace(NamedTuple):
    """A token by its place and kind; what it is stays in the file."""

    path: str
    line: int
    kind: str
    proven: bool
    """Whether it holds a checksum that is right."""


def token_places(found: Discovery) -> Iterator[TokenPlace]:
    """Every token in the files that were found, file by file; a file that is gone has none."""
    for file in found.files:
        try:
            text = decode(read(f"{found.root}/{file.path}")).decode("utf-8", "replace")
        except InputError:
            continue
        for token in find_tokens(text):
            yield TokenPlace(file.path, line_of(text, token), token.kind, token.proven)

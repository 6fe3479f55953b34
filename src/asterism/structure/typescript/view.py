"""One project of the TypeScript compiler, as one question sees it."""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from asterism.structure.typescript.places import Places
from asterism.structure.typescript.session import Session
from asterism.structure.typescript.types import Types


class View(NamedTuple):
    """Where to ask, and which files count as the repository's own."""

    session: Session
    project: str
    files: AbstractSet[str]
    """By absolute path."""
    places: Places
    types: Types
    projects: Sequence[tuple[str, AbstractSet[str]]]
    """Every project with the files whose references it is right about."""

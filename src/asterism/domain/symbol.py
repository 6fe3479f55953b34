"""One row of the symbols table: a name, its role, and where it stands."""

from enum import StrEnum
from typing import NamedTuple


class Role(StrEnum):
    """What a place does with a name."""

    DEFINITION = "definition"
    EXPORT = "export"
    IMPORT = "import"
    USAGE = "usage"


class SymbolRow(NamedTuple):
    """A name at a place."""

    id: str
    name: str
    qualified_name: str
    kind: str
    role: Role
    filepath: str
    line: int
    is_exported: bool
    chunk_id: str | None

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

    name: str
    qualified_name: str
    """The definition's path; of an import, the module and the name there; of a re-export, that
    name alone; of a use, its receiver before it."""
    kind: str
    role: Role
    filepath: str
    line: int
    is_exported: bool
    chunk_id: str | None
    ordinal: int
    """Which of the rows with this role, qualified name and module it is in its file, from 0."""
    signature: str | None = None
    """Of a definition."""
    module: str | None = None
    """As written, of an import or a re-export."""

    @property
    def id(self) -> str:
        """A stable name for the row, without line numbers: `src/box.ts#usage#this.size#0`.

        The parts are the path, the role, the qualified name, the module where there is one, and
        the ordinal. A `#` inside a part is written `%23`, so no two rows share an id.
        """
        words = [self.filepath, self.role.value, self.qualified_name]
        if self.module is not None:
            words.append(self.module)
        words.append(str(self.ordinal))
        return "#".join(word.replace("%", "%25").replace("#", "%23") for word in words)

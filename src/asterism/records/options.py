"""Where the records are kept; light enough to be imported by the settings."""

from dataclasses import dataclass
from pathlib import Path

FILE = "records.sqlite"
"""The database in the user's data directory, unless another one is named."""


@dataclass(frozen=True, slots=True)
class RecordsOptions:
    """The database of one user."""

    directory: Path
    """The user's data directory."""
    url: str = ""
    """Another database, as SQLAlchemy writes it; nothing means the file in the directory."""
    password: str = ""

    @property
    def file(self) -> Path:
        """The file that is used where no other database is named."""
        return self.directory / FILE

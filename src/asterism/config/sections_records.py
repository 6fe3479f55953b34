"""Where conversations are kept."""

from dataclasses import dataclass

from asterism.config.described import described
from asterism.config.setting import Kind, Voice


@dataclass(frozen=True, slots=True)
class RecordsSettings:
    """Where conversations and sessions are kept."""

    url: str = described(
        Kind.text,
        "",
        "The database of conversations, as SQLAlchemy writes it: `postgresql://user@host/name` (it "
        "needs the extra `postgres`), or `sqlite:////absolute/path`; nothing means a file in the "
        "data directory. A password stands in `ASTERISM_RECORDS_PASSWORD`.",
        voice=Voice.user,
    )

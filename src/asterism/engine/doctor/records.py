"""Can the conversations be read and written? Nothing is made and nothing is changed for that."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from asterism.config.records import records_options
from asterism.config.settings import Settings
from asterism.engine.doctor.findings import Finding, ok

CHECK = "Conversations"


def record_findings(settings: Settings, data: Path) -> Iterator[Finding]:
    """How many there are, and where; whatever stands in the way is an error of the database."""
    from asterism.records.conversations import Conversations
    from asterism.records.database import look_into
    from asterism.types.conversation import Shelf

    looked = look_into(records_options(settings, data))
    if looked is None:
        yield ok(CHECK, "none yet")
        return
    with closing(looked.database) as database:
        if not looked.is_current:
            yield ok(CHECK, f"in {database.place}; the next question brings the tables up to date")
            return
        total = Conversations(database).page(Shelf.all, limit=1).total
        yield ok(CHECK, f"{total:,} in {database.place}")

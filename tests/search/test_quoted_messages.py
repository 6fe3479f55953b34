"""Whether a message that a query quotes is in the code that was found."""

import pytest

from asterism.search.query.parse import understand
from asterism.search.ranking.text import lacks_quotes
from tests.store.chunk_samples import chunk

LINK = 'raise LinkError("Cannot hard link across devices.")'
SORT = "fail(`Cannot use ${first} and ${second} at the same time`)"


@pytest.mark.parametrize(
    ("query", "sources", "lacks"),
    [
        ('"Cannot hard link across devices."', [LINK], False),
        ('"Cannot hard link across devices."', ["import os", LINK], False),
        ('"Cannot hard link across devices."', ["def link(path): ...", SORT], True),
        # Names fill gaps of the message.
        ('"Cannot use _sort and _sort_desc at the same time"', [SORT], False),
        # Three words of ten are in many texts.
        ('"Cannot use _sort and _sort_desc at the same time"', ["# both at the same"], True),
        # Of several messages one is enough.
        ('"no such file here" or "hard link across devices"', [LINK], False),
        # Fewer words may be quoted to stress them.
        ('how does "auto merge" work', [LINK], False),
        ("how is a hard link made", [SORT], False),
    ],
)
def test_messages(query: str, sources: list[str], lacks: bool) -> None:
    chunks = [chunk(name=f"f{number}", full_source=text) for number, text in enumerate(sources)]
    assert lacks_quotes(understand(query), chunks) is lacks

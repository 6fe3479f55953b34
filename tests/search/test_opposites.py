"""Which symbols are named for the opposite of what a query says."""

import pytest

from asterism.search.ranking.opposites import direction_of, is_opposite
from asterism.search.ranking.symbols import content_terms
from tests.store.chunk_samples import chunk


@pytest.mark.parametrize(
    ("query", "name", "expected"),
    [
        ("how is text decoded", "encode", True),
        ("how is text decoded", "Encoder", True),
        ("how is text decoded", "decode", False),
        ("how is text decoded", "encode_and_decode", False),
        ("encode and decode text", "encode", False),
        ("a job is popped from the queue", "pushJob", True),
        ("where is a frame written", "read_frame", True),
        ("dropped connections", "addConnection", True),
        ("the sessions that were sent", "receive", True),
        # Words of English that say no action.
        ("show me the dialog", "hideDialog", False),
        ("when is the server ready", "write", False),
        ("where are connections closed", "disconnect", False),
        # A lock and a format are things as well.
        ("how is the lock released", "unlock", False),
        ("how is the account unlocked", "lock", True),
        ("which format does a date have", "parseDate", False),
        ("how is a date parsed", "formatDate", True),
        ("how is the price computed", "addPrice", False),
    ],
)
def test_names(query: str, name: str, expected: bool) -> None:
    found = chunk(name=name, parent_name=None, filename="x.py")
    assert is_opposite(found, direction_of(content_terms(query))) is expected


@pytest.mark.parametrize(
    ("name", "parent", "file", "expected"),
    [
        ("run", "codecs.Encoder", "text.py", True),
        ("run", "Decoder", "encoder.py", False),
        ("run", "Codec", "encoder.py", True),
        ("open", "Encoder", "encoder.py", False),
    ],
)
def test_the_nearest_name_decides(name: str, parent: str, file: str, expected: bool) -> None:
    found = chunk(name=name, parent_name=parent, filename=file)
    assert is_opposite(found, direction_of(["decoded"])) is expected

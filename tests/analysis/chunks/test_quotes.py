"""Which signatures of the same file a chunk quotes."""

import pytest

from asterism.analysis.chunks.units import ChunkOptions
from tests.analysis.chunks.cutting import chunks_of

FILE = """
    LIMIT = 3

    class Base:
        def shared(self):
            return LIMIT

    class Store(Base):
        def load(self, key):
            return self.find(key) or helper(key)

        def find(self, key):
            return self.find(key)

        def other(self, helper):
            return helper, Store, store.load()

    def helper(key: str) -> str:
        return helper(key) + key.load()
    """


def quoted(name: str, options: ChunkOptions | None = None) -> list[str]:
    """The lines under `Referenced symbols:`."""
    (found,) = (c for c in chunks_of("a.py", FILE, options) if c.qualified_name == name)
    head = found.embedding_text.split("\n---\n", 1)[0]
    return [line for line in head.split("\n") if line.startswith("- ")]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Store.load", ["- find: def find(self, key)", "- helper: def helper(key: str) -> str"]),
        ("Base.shared", ["- LIMIT: LIMIT = 3"]),
        # An item needs no quote of itself or of its ancestors.
        ("Store.find", []),
        ("helper", []),
        # A parameter hides the function; a member of something else is not our member.
        ("Store.other", []),
        # What the children mention is quoted with the children.
        ("Store", ["- Base: class Base"]),
    ],
)
def test_what_is_quoted(name: str, expected: list[str]) -> None:
    assert quoted(name) == expected


def test_no_more_than_the_limit() -> None:
    assert quoted("Store.load", ChunkOptions(max_quoted=1)) == ["- find: def find(self, key)"]


def test_a_root_item_quotes_nothing() -> None:
    (_, found) = chunks_of("a.py", "def f(): ...\nf()\n")
    assert found.embedding_text == "[Python] a.py > f()\n---\nf()"

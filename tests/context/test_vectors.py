"""Items are as near to each other as what they say, beyond what a server's tools all share."""

import numpy as np
import pytest

from asterism.context.vectors import ItemIndex, likeness
from asterism.models.embed.cache import NoCache
from asterism.types.context import Item, Rule, Tool
from tests.context.spoken import Taught

VECTORS = {
    # Three of a pattern: the last two say the same, and are 0.73 to the first.
    "a": [0.894, 0.447, 0.0],
    "b": [0.894, -0.155, 0.420],
    "c": [0.894, -0.155, 0.420],
    "far": [0.0, 0.0, 1.0],
}


def tool(server: str, name: str) -> Tool:
    return Tool(server=server, name=name)


def near(items: list[Item], first: int, second: int) -> float:
    prepared = ItemIndex(Taught(VECTORS), NoCache()).prepare(items)
    rows = likeness(prepared, slice(0, len(items)))
    assert np.array_equal(rows[[first]], likeness(prepared, [first]))
    return float(rows[first, second])


def plain(first: str, second: str) -> float:
    rows = Taught(VECTORS).embed_queries([first, second])
    return float(rows[0] @ rows[1])


@pytest.mark.parametrize(
    "items",
    [
        [tool("s", "a"), tool("s", "b")],
        [tool("s", "a"), tool("t", "b"), tool("u", "c")],
        [Rule(name="a", text="a"), Rule(name="b", text="b"), Rule(name="c", text="c")],
        [tool("s", "a"), Rule(name="b", text="b"), tool("s", "c")],
    ],
    ids=["two", "of three servers", "rules", "a rule between"],
)
def test_without_others_of_the_server_the_cosine_counts(items: list[Item]) -> None:
    assert near(items, 0, 1) == pytest.approx(plain("a", "b"), abs=1e-3)


def test_what_a_servers_tools_share_does_not_count() -> None:
    alike: list[Item] = [tool("s", name) for name in ("a", "b", "c")]
    assert near(alike, 0, 1) < 0.1 < plain("a", "b")
    # Two that say the same say it beyond what the server's tools share.
    assert near(alike, 1, 2) == pytest.approx(1.0, abs=1e-3)
    unlike: list[Item] = [*alike, tool("t", "far")]
    assert near(unlike, 1, 3) == pytest.approx(plain("b", "far"), abs=1e-3)

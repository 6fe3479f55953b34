"""Context and relations of a repository that a program opened."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import asterism
from asterism.api.codebase import Codebase
from asterism.types.errors import UsageError

OFF = {"structure.python": "off"}
SHOP = """\
LIMIT = 3


def total(prices):
    return round(sum(prices), LIMIT)


def receipt(prices):
    return str(total(prices))


def show(prices):
    print(receipt(prices))
"""


@pytest.fixture
def code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Codebase]:
    monkeypatch.setenv("ASTERISM_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("ASTERISM_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "shop.py").write_text(SHOP)
    with asterism.open(tmp_path / "shop", settings=OFF) as opened:
        yield opened


def test_context(code: Codebase) -> None:
    context = code.context("symbol = total")
    assert (len(context), context.found, context.budget) == (1, 1, 8000)
    assert context.text == "\n\n".join(part.text.rstrip("\n") for part in context.parts)
    assert [part.priority for part in context.parts] == [1.0, 1.0]
    assert context.used_tokens == sum(-(-len(part.text) // 4) for part in context.parts)
    assert context.account.returned_count == 1
    assert context.notes == ("Connected by name: The setting structure.python is off.",)
    assert code.context("symbol = total", max_tokens=60).used_tokens <= 60


def test_context_of_nothing(code: Codebase) -> None:
    nothing = code.context("quantum badgers", min_score=1.0)
    assert not nothing
    assert [part.text.split(".")[0] for part in nothing.parts[1:]] == ["Nothing certain"]
    assert code.context("symbol = totl").did_you_mean == ("total",)
    assert not code.context("symbol = total", path="other")


def test_relations(code: Codebase) -> None:
    (found,) = code.callers("total", depth=2)
    assert found.tree is not None
    (receipt,) = found.tree.children
    assert [child.edge.target.name for child in receipt.children] == ["show"]
    (callees,) = code.callees("receipt")
    assert callees.tree is not None
    assert [child.edge.target.name for child in callees.tree.children] == ["total"]
    (total,) = code.references("total")
    # Names do not follow every import, so that there is no such file is not known.
    assert (total.tree, total.connections.references) == (None, None)
    none = code.callers("totl")
    assert (len(none), none.total, none.did_you_mean) == (0, 0, ("total",))


@pytest.mark.parametrize(
    ("method", "arguments", "says"),
    [
        ("context", {"query": 3}, "query is 3; give a text"),
        ("context", {"query": "x", "max_tokens": "many"}, "give a whole number"),
        ("context", {"query": "x", "max_tokens": 3}, "The token budget is 3"),
        ("context", {"query": "x", "min_score": "high"}, "give a number"),
        ("context", {"query": "x", "min_score": 7}, "give 0 to 1"),
        ("callers", {"name": ""}, "The name is empty"),
        ("callers", {"name": "total", "depth": 0}, "give 1 to 10"),
        ("callees", {"name": "total", "depth": 1.5}, "give a whole number"),
        ("references", {"name": None}, "give a text"),
    ],
)
def test_bad_questions(
    code: Codebase, method: str, arguments: dict[str, object], says: str
) -> None:
    with pytest.raises(UsageError, match=says):
        getattr(code, method)(**arguments)


def test_closed_is_closed(code: Codebase) -> None:
    code.close()
    with pytest.raises(UsageError, match="was closed"):
        code.context("total")
    with pytest.raises(UsageError, match="was closed"):
        code.callers("total")

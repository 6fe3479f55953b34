"""Do items and code share one budget, and is everything that is left out accounted for?"""

from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from asterism.engine.engine import Engine
from asterism.engine.search import SearchRequest
from asterism.engine.sessions import ContextFor, ContextRequest, context_for
from asterism.engine.stores import DataDirectories
from asterism.types.errors import UsageError
from tests.engine.conftest import SETTINGS, make

AGENT = """\
rules:
  - name: Always
    text: Answer in English.
  - name: Refunds
    description: Giving money back to customers
    include: agent
    text: |
      A refund never exceeds what was charged, and is booked with its own key so that it cannot happen twice.
references:
  - name: Weather
    include: agent
    text: Autumn is wet.
"""
CODE = '''\
def refund(charge, amount):
    """Give a customer money back, at most what was charged."""
    if amount > charge.amount:
        raise ValueError("a refund never exceeds the charge")
    return book(charge.account, -amount)
'''
MESSAGE = "refund a customer at most what was charged"


@pytest.fixture
def engine(places: DataDirectories) -> Engine:
    folder = places.data / "agents"
    folder.mkdir(parents=True)
    (folder / "shop.yaml").write_text(AGENT)
    return Engine(places, lambda _root: SETTINGS)


REQUEST = ContextRequest(message=MESSAGE, agent="shop", min_score=0.0, connect=False)


def asked(engine: Engine, root: Path | None, request: ContextRequest = REQUEST) -> ContextFor:
    with closing(engine):
        registered = None
        if root is not None:
            registered = engine.register(root)
            engine.index(registered)
        return context_for(engine, registered, request)


def test_items_and_code_come_together(engine: Engine, tmp_path: Path) -> None:
    found = asked(engine, make(tmp_path / "repo", refunds=CODE))
    assert [str(item.key) for item in found.context.items] == ["rule:Always", "rule:Refunds"]
    assert [code.place for code in found.code] == ["refunds.py:1-5"]
    assert found.code[0].form.detail == "full"
    assert found.used_tokens <= found.budget == 8_000
    assert {str(left.key) for left in found.context.left_out} == {"ref:Weather"}
    assert len(found.request_id) == 16


def test_a_small_budget_holds_for_both(engine: Engine, tmp_path: Path) -> None:
    root = make(tmp_path / "repo", refunds=CODE)
    found = asked(engine, root, replace(REQUEST, max_tokens=60))
    assert found.used_tokens <= 60
    assert str(found.context.items[0].key) == "rule:Always"
    full = [code for code in found.code if code.form.detail == "full"]
    dropped = [left for left in found.context.left_out if left.reason == "budget"]
    lesser = [item for item in found.context.items if item.detail != "full"]
    assert not full
    assert dropped or lesser or found.code


def test_without_an_index_the_items_come_alone(engine: Engine) -> None:
    found = asked(engine, None)
    assert found.code == ()
    assert any("no index is around" in note for note in found.notes)


def test_code_can_be_left_away(engine: Engine, tmp_path: Path) -> None:
    request = replace(REQUEST, code_hits=0, keep=False)
    found = asked(engine, make(tmp_path / "repo", refunds=CODE), request)
    assert (found.code, found.notes, found.request_id) == ((), (), "")


PRICES = "".join(f"def price_{n}(basket):\n    return basket.total * {n}\n\n\n" for n in range(9))


def test_code_is_chosen_as_for_a_reply_with_code(engine: Engine, tmp_path: Path) -> None:
    """In proportion to the best: a hit that scores less than half is given all the same."""
    root = make(tmp_path / "repo", refunds=CODE, prices=PRICES)
    request = replace(REQUEST, message="how is the price of a basket computed", min_score=None)
    with closing(engine):
        registered = engine.register(root)
        engine.index(registered)
        found = context_for(engine, registered, request)
        reply = engine.context(registered, SearchRequest(text=request.message))
    assert [code.place for code in found.code] == [
        f"{place.path}:{place.chunk.start_line}-{place.chunk.end_line}" for place in reply.results
    ]
    assert len(found.code) > 1
    assert min(code.score for code in found.code) < 0.5


def test_code_that_is_not_likely_is_counted(engine: Engine, tmp_path: Path) -> None:
    request = replace(REQUEST, min_score=1.0)
    found = asked(engine, make(tmp_path / "repo", refunds=CODE), request)
    assert found.code == ()
    assert any("score less than 1" in note for note in found.notes)


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        (replace(REQUEST, message="  "), "message is empty"),
        (replace(REQUEST, max_tokens=10), "token budget is 10"),
    ],
)
def test_bad_requests(engine: Engine, request_: ContextRequest, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        asked(engine, None, request_)

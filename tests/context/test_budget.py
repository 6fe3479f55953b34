"""One budget over items and code: what fits, in less detail, or not at all."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asterism.context.budget import CodeForm, CodeHit, fit_budget
from asterism.context.request import Built
from asterism.types.context import (
    Item,
    ItemDetail,
    LeftOutReason,
    Reference,
    RequestContext,
    RequestItem,
    RequestMode,
    Tool,
    content_hash,
)


def words(text: str) -> int:
    """Tokens, for these tests."""
    return len(text.split())


def built_of(*given: tuple[Item, RequestMode, float | None]) -> Built:
    entries = tuple(
        RequestItem(key=item.key, mode=mode, content_hash=content_hash(item), score=score)
        for item, mode, score in given
    )
    return Built(
        context=RequestContext(agent="a", prompt_hash="", items=entries),
        items={item.key: item for item, _mode, _score in given},
        choices={},
    )


def page(name: str, size: int) -> Reference:
    """A reference of so many paragraphs of ten words."""
    return Reference(name=name, text="\n\n".join(["w " * 10] * size))


def hit(place: str, score: float, *sizes: int) -> CodeHit:
    names = ("full", "collapsed", "signature", "location")
    forms = [CodeForm(name, "c " * size) for name, size in zip(names, sizes, strict=False)]
    return CodeHit(place=place, score=score, forms=tuple(forms))


SESSION = (page("held", 4), RequestMode.manual, None)
CHOSEN = (page("chosen", 4), RequestMode.agent, 0.6)
BROUGHT = (page("brought", 4), RequestMode.expansion, 0.9)
SIZE = 43
"""Words of each of these pages between its markers."""


def outcome(budget: int, *code: CodeHit) -> dict[str, str]:
    allotment = fit_budget(built_of(SESSION, CHOSEN, BROUGHT), code, budget, words)
    assert allotment.used_tokens <= budget
    found = {item.key.name: str(item.detail) for item in allotment.context.items}
    found |= {kept.place: kept.form.detail for kept in allotment.code}
    return found | {
        entry.key if isinstance(entry.key, str) else entry.key.name: str(entry.reason)
        for entry in allotment.context.left_out
    }


@pytest.mark.parametrize(
    ("budget", "code", "expected"),
    [
        (
            3 * SIZE + 50,
            [hit("good", 0.8, 50, 20, 5, 1)],
            {"held": "full", "chosen": "full", "brought": "full", "good": "full"},
        ),
        # What came along gives way first.
        (
            3 * SIZE + 12,
            [hit("good", 0.8, 50, 20, 5, 1)],
            {"held": "full", "chosen": "full", "brought": "name", "good": "full"},
        ),
        (
            2 * SIZE + 50,
            [hit("good", 0.8, 50, 20, 5, 1)],
            {"held": "full", "chosen": "full", "brought": "budget", "good": "full"},
        ),
        # Then the lower score, here the code, and then the chosen item.
        (
            2 * SIZE + 20,
            [hit("weak", 0.3, 50, 20, 5, 1)],
            {"held": "full", "chosen": "full", "brought": "budget", "weak": "collapsed"},
        ),
        (
            2 * SIZE + 20,
            [hit("good", 0.8, 50, 20, 5, 1)],
            {"held": "full", "chosen": "name", "brought": "name", "good": "full"},
        ),
        # The session's item comes last. What wants more than half gives up detail first.
        (
            2 * SIZE + 1,
            [hit("good", 0.8, 50, 20, 5, 1)],
            {"held": "full", "chosen": "name", "brought": "name", "good": "collapsed"},
        ),
        (
            SIZE - 1,
            [],
            {"held": "name", "chosen": "name", "brought": "name"},
        ),
        (1, [], {"held": "budget", "chosen": "budget", "brought": "budget"}),
        (0, [hit("x", 0.9, 1)], dict.fromkeys(("held", "chosen", "brought", "x"), "budget")),
    ],
)
def test_who_gives_way(budget: int, code: list[CodeHit], expected: dict[str, str]) -> None:
    assert outcome(budget, *code) == expected


def test_a_giant_does_not_push_the_others_out() -> None:
    giant = (page("giant", 2000), RequestMode.always, None)
    allotment = fit_budget(built_of(giant, CHOSEN), [hit("code", 0.5, 50, 20, 5, 1)], 200, words)
    found = {item.key.name: item for item in allotment.context.items}
    assert found["giant"].detail is ItemDetail.excerpt
    assert found["giant"].pieces == (0, 1, 2, 3)
    assert found["chosen"].detail is ItemDetail.full
    assert [kept.form.detail for kept in allotment.code] == ["full"]
    assert allotment.context.left_out == ()


def test_a_tool_gives_up_words_and_never_its_schema() -> None:
    tool = Tool(server="s", name="t", description="Reads. " + "Much more. " * 20, schema={"a": "b"})
    given = (tool, RequestMode.always, None)
    full = fit_budget(built_of(given), (), 100, words)
    assert [item.detail for item in full.context.items] == [ItemDetail.full]
    less = fit_budget(built_of(given), (), 10, words)
    assert [item.detail for item in less.context.items] == [ItemDetail.excerpt]
    none = fit_budget(built_of(given), (), 2, words)
    assert [entry.reason for entry in none.context.left_out] == [LeftOutReason.budget]


_SIZES = st.lists(st.integers(0, 60), min_size=1, max_size=4)
_MODES = st.sampled_from([RequestMode.always, RequestMode.agent, RequestMode.expansion])


@given(
    st.lists(st.tuples(st.integers(1, 9), _MODES, st.floats(0, 1)), max_size=5),
    st.lists(st.tuples(_SIZES, st.floats(0, 1)), max_size=5),
    st.integers(0, 400),
)
def test_it_never_exceeds_and_loses_nothing(
    items: list[tuple[int, RequestMode, float]],
    code: list[tuple[list[int], float]],
    budget: int,
) -> None:
    built = built_of(
        *((page(f"p{at}", size), mode, score) for at, (size, mode, score) in enumerate(items))
    )
    hits = [hit(f"h{at}", score, *sizes) for at, (sizes, score) in enumerate(code)]
    allotment = fit_budget(built, hits, budget, words)
    assert allotment.used_tokens <= budget
    kept = len(allotment.context.items) + len(allotment.code)
    assert kept + len(allotment.context.left_out) == len(items) + len(code)
    assert allotment == fit_budget(built, hits, budget, words)

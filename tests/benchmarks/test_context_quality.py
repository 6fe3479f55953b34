"""Is the labelled set of requests whole, and are precision, recall and noise counted right?"""

from collections import Counter

from asterism.context.items import index_text
from asterism.context.vectors import ItemIndex
from asterism.context.words import stems_of
from asterism.models.embed.cache import NoCache
from asterism.models.embed.static import StaticEmbedder
from asterism.types.context import Item, ItemKey, RequestMode, RuleKey
from benchmarks.context.quality import (
    VARIANTS,
    Labelled,
    Outcome,
    Quality,
    load_set,
    quality,
    run,
)

SET = load_set()
ITEMS: tuple[Item, ...] = (*SET.agent.rules, *SET.agent.references, *SET.tools)
A, B, C = RuleKey("A"), RuleKey("B"), RuleKey("C")


def test_the_set_is_as_large_as_promised() -> None:
    assert len(ITEMS) >= 60
    assert len(SET.requests) >= 200
    assert sum(not request.needs for request in SET.requests) >= 20
    assert sum(len(request.needs) > 1 for request in SET.requests) >= 50
    assert len({request.ask for request in SET.requests}) == len(SET.requests)


def test_every_label_is_an_item_and_every_item_is_needed() -> None:
    items = {item.key for item in ITEMS}
    needed = {key for request in SET.requests for key in request.needs}
    assert needed == items


def test_requests_are_not_made_of_the_items_own_words() -> None:
    said = {item.key: stems_of(index_text(item)) for item in ITEMS}
    shares = []
    for request in SET.requests:
        words = stems_of(request.ask)
        shares += [len(words & said[key]) / max(len(words), 1) for key in request.needs]
    assert sum(shares) / len(shares) < 0.35


def outcome(needs: set[ItemKey], chosen: set[ItemKey], ask: str = "x") -> Outcome:
    modes: dict[ItemKey, RequestMode] = dict.fromkeys(chosen, RequestMode.agent)
    return Outcome(Labelled(ask, frozenset(needs)), modes)


def test_figures_are_counted_by_hand() -> None:
    found = quality(
        [
            outcome({A}, {A, B}),
            outcome({A, B}, {A}, "One thing. Another thing."),
            outcome(set(), {C}),
            outcome(set(), set()),
        ]
    )
    assert found == Quality(
        precision=2 / 4,
        recall=2 / 3,
        whole=1 / 2,
        sentences=1 / 2,
        noise=1 / 2,
        disturbed=1 / 2,
        idle=1 / 2,
    )


def test_choosing_beats_chance_by_far() -> None:
    """The figures themselves are in the results; this only tells when choosing is broken."""
    index = ItemIndex(StaticEmbedder(), NoCache())
    found = quality(run(SET, index, VARIANTS[0]))
    # Two of the 83 items, drawn at random, would have a precision of 0.02.
    assert found.precision > 0.1
    assert found.recall > 0.2
    modes = Counter(variant.name for variant in VARIANTS)
    assert max(modes.values()) == 1

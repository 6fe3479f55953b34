"""Which items a message needs: every rule of choosing as a table."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asterism.context.choice import ALL_PARTS, ChoosingOptions, Chosen, choose, compare
from asterism.context.vectors import ItemIndex
from asterism.models.embed.cache import EmbeddingCache, NoCache
from asterism.models.embed.static import StaticEmbedder
from asterism.types.agent_settings import ContextSettings, Domain
from asterism.types.context import Item, LeftOutReason, Reference, Rule, Tool
from tests.context.spoken import Taught, near

ONE, TWO = "Qone?", "Qtwo?"
"""Sentences on axes of their own; no item says their words."""


def chosen_of(
    message: str,
    cosines: dict[str, list[float]],
    settings: ContextSettings,
    options: ChoosingOptions = ALL_PARTS,
) -> Chosen:
    """What is chosen among rules whose only piece of meaning is their text."""
    items = [Rule(name=f"n{number}", text=text) for number, text in enumerate(cosines)]
    embedder = Taught({ONE: near(0, 1.0), TWO: near(1, 1.0), **cosines})
    index = ItemIndex(embedder, NoCache())
    return choose(compare(message, items, index, options), Domain.texts, settings, options)


def texts(chosen: Chosen) -> list[str]:
    """The texts of what was chosen."""
    return [c.item.text for c in chosen.choices if isinstance(c.item, Rule)]


@pytest.mark.parametrize(
    ("cosines", "settings", "expected"),
    [
        pytest.param(
            {"a": 0.5, "b": 0.6, "c": 0.4},
            ContextSettings(top_n=2),
            ["b", "a"],
            id="filled up to top_n, best first",
        ),
        pytest.param(
            {"a": 0.7, "b": 0.8, "c": 0.9, "d": 0.6},
            ContextSettings(top_n=2),
            ["c", "b", "a"],
            id="include_score exceeds top_n, and the rest is not added then",
        ),
        pytest.param(
            {"a": 0.69, "b": 0.71},
            ContextSettings(top_n=1),
            ["b"],
            id="below include_score only what fills up",
        ),
        pytest.param(
            {"a": 0.9, "b": 0.8}, ContextSettings(top_n=0), ["a", "b"], id="top_n 0 keeps the sure"
        ),
        pytest.param({"a": 0.5}, ContextSettings(top_n=0), [], id="top_n 0 fills nothing"),
        pytest.param(
            {"a": 0.0, "b": -0.5},
            ContextSettings(include_score=0.0),
            [],
            id="nothing that does not score",
        ),
        pytest.param(
            {"a": 0.9, "b": 0.8, "c": 0.75},
            ContextSettings(top_k=2),
            ["a", "b"],
            id="only the top_k pieces are looked at",
        ),
        pytest.param({}, ContextSettings(), [], id="no candidates"),
    ],
)
def test_one_sentence(
    cosines: dict[str, float], settings: ContextSettings, expected: list[str]
) -> None:
    vectors = {text: near(0, cosine) for text, cosine in cosines.items()}
    assert texts(chosen_of(ONE, vectors, settings)) == expected


def test_an_item_counts_by_its_best_piece_and_is_grouped() -> None:
    long = "p1\n\np2\n\np3"
    vectors = {"p1": near(0, 0.3), "p2": near(0, 0.8), "p3": near(0, 0.6), "b": near(0, 0.5)}
    items: list[Item] = [Reference(name="n", text=long), Rule(name="m", text="b")]
    index = ItemIndex(Taught({ONE: near(0, 1.0), **vectors}), NoCache())
    scores = compare(ONE, items, index, ALL_PARTS)
    found = choose(scores, Domain.texts, ContextSettings(), ALL_PARTS).choices
    assert [(c.item.name, round(c.score, 3), c.piece, c.piece_text) for c in found] == [
        ("n", 0.8, 2, "p2"),
        ("m", 0.5, 1, "b"),
    ]
    assert found[0].best_pieces == (2, 3, 1, 0)
    assert (round(found[0].cosine, 3), found[0].sentence) == (0.8, ONE)


def test_the_best_sentence_counts_for_each_piece() -> None:
    vectors = {"a": [0.6, 0.3], "b": [0.2, 0.9]}
    vectors = {text: [*vector, 0, 0, 0, 0, 0, 1] for text, vector in vectors.items()}
    found = chosen_of(f"{ONE} {TWO}", vectors, ContextSettings()).choices
    assert [(c.item.name, c.sentence) for c in found] == [("n1", TWO), ("n0", ONE)]


@pytest.mark.parametrize(
    ("representation", "expected"),
    [(True, ["a", "b", "t"]), (False, ["a", "b", "c"])],
)
def test_each_sentence_is_represented(representation: bool, expected: list[str]) -> None:
    vectors = {"a": near(0, 0.65), "b": near(0, 0.6), "c": near(0, 0.55), "t": near(1, 0.3)}
    options = ChoosingOptions(representation=representation)
    found = chosen_of(f"{ONE} {TWO}", vectors, ContextSettings(top_n=3), options)
    assert texts(found) == expected


def test_a_sentence_without_an_item_that_scores_brings_none() -> None:
    vectors = {"a": near(0, 0.6), "b": near(0, 0.5)}
    assert texts(chosen_of(f"{ONE} {TWO}", vectors, ContextSettings(top_n=1))) == ["a"]


def test_many_sentences_may_exceed_the_count() -> None:
    vectors = {"a": near(0, 0.4), "b": near(1, 0.4)}
    assert texts(chosen_of(f"{ONE} {TWO}", vectors, ContextSettings(top_n=1))) == ["a", "b"]


def test_the_rest_is_listed_with_reasons() -> None:
    vectors = {"a": near(0, 0.6), "b": near(0, 0.5), "c": near(0, 0.0)}
    chosen = chosen_of(ONE, vectors, ContextSettings(top_n=1))
    assert [(str(e.key), e.reason, round(e.score or 0, 3)) for e in chosen.left_out] == [
        ("rule:n1", LeftOutReason.over_count, 0.5)
    ]


def test_domains_are_chosen_apart() -> None:
    tool = Tool(server="s", name="t", description="d")
    rule = Rule(name="r", text="x")
    vectors = {ONE: near(0, 1.0), "t: d": near(0, 0.4), "x": near(0, 0.9)}
    index = ItemIndex(Taught(vectors), NoCache())
    scores = compare(ONE, [rule, tool], index, ALL_PARTS)
    for domain, item in ((Domain.texts, rule), (Domain.tools, tool)):
        found = choose(scores, domain, ContextSettings(top_n=1), ALL_PARTS)
        assert [choice.item for choice in found.choices] == [item]


def test_words_lift_what_says_them() -> None:
    items = [Rule(name="n", text="about zebras"), Rule(name="m", text="about horses")]
    vectors = {
        "a zebra": near(0, 1.0),
        "about zebras": near(0, 0.3),
        "about horses": near(0, 0.305),
    }
    index = ItemIndex(Taught(vectors), NoCache())
    orders = {}
    for hybrid in (True, False):
        options = ChoosingOptions(hybrid=hybrid)
        scores = compare("a zebra", items, index, options)
        found = choose(scores, Domain.texts, ContextSettings(), options).choices
        orders[hybrid] = [choice.item.name for choice in found]
    assert orders == {True: ["n", "m"], False: ["m", "n"]}


def test_what_noise_scores_as_well_is_not_added() -> None:
    """A model without measurements has its floor where sentences about nothing score."""
    vectors = {
        ONE: near(0, 1.0),
        "hello": near(1, 1.0),
        "a": [0.5, 0.4, 0, 0, 0, 0, 0, 0.77],
        "b": [0.3, 0.4, 0, 0, 0, 0, 0, 0.87],
    }
    items = [Rule(name=f"n{text}", text=text) for text in ("a", "b")]
    index = ItemIndex(Taught(vectors), NoCache())
    names = {}
    for floor in (True, False):
        options = ChoosingOptions(floor=floor)
        scores = compare(ONE, items, index, options)
        found = choose(scores, Domain.texts, ContextSettings(), options)
        names[floor] = [choice.item.name for choice in found.choices]
        if floor:
            assert [entry.reason for entry in found.left_out] == [LeftOutReason.not_relevant]
    assert names == {True: ["na"], False: ["na", "nb"]}


@pytest.mark.parametrize("message", ["hello", "thanks, that was great!", "ok, go on", "", "?!"])
def test_small_talk_brings_nothing_with_the_built_in_model(message: str) -> None:
    items: list[Item] = [
        Rule(name="Error handling", text="Catch only what you can do something about."),
        Reference(name="Deployment guide", text="Tagging starts the pipeline."),
        Tool(server="git", name="blame", description="Show who last changed each line"),
    ]
    index = ItemIndex(StaticEmbedder(), NoCache())
    scores = compare(message, items, index, ALL_PARTS)
    for domain in Domain:
        assert choose(scores, domain, ContextSettings(), ALL_PARTS).choices == ()


def test_what_is_asked_for_outright_comes_with_the_built_in_model() -> None:
    items: list[Item] = [
        Rule(name="Error handling", description="Exceptions and retries", text="Catch little."),
        Reference(name="Deployment guide", description="Releases", text="Tagging starts it."),
        Tool(server="git", name="blame", description="Show who last changed each line of a file"),
    ]
    index = ItemIndex(StaticEmbedder(), NoCache())
    for message, domain, name in (
        ("How do we handle errors and exceptions here?", Domain.texts, "Error handling"),
        ("Where is the deployment guide?", Domain.texts, "Deployment guide"),
        ("Who last changed this line? Use git blame.", Domain.tools, "blame"),
    ):
        found = choose(
            compare(message, items, index, ALL_PARTS), domain, ContextSettings(), ALL_PARTS
        )
        assert found.choices[0].item.name == name


def test_all_that_is_new_is_embedded_in_one_batch_and_kept_on_disk(tmp_path: Path) -> None:
    items = [Rule(name="a", description="d", text="x\n\ny"), Rule(name="b", text="z")]
    vectors = {"x": [1.0, 0.0], "y": [0.0, 1.0]}
    first = Taught(vectors)
    with EmbeddingCache(tmp_path, 1_000_000) as cache:
        index = ItemIndex(first, cache)
        index.prepare(items)
        index.prepare(items)
    assert first.batches == [["a: d", "x", "y", "b", "z"]]
    edited = [Rule(name="a", description="d", text="x\n\nnew"), items[1]]
    second = Taught(vectors)
    with EmbeddingCache(tmp_path, 1_000_000) as cache:
        ItemIndex(second, cache).prepare(items)
        ItemIndex(second, cache).prepare(edited)
    assert second.batches == [["new"]]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.floats(-1, 1), st.floats(-1, 1)), min_size=1, max_size=12),
    st.integers(0, 6),
    st.integers(1, 12),
    st.floats(0.1, 1),
    st.floats(0, 0.9),
)
def test_what_always_holds(
    cosines: list[tuple[float, float]], top_n: int, top_k: int, include_score: float, noise: float
) -> None:
    """The sure ones come, nothing below the floor does, and no more than was asked for."""
    vectors = {
        f"t{at}": [first, second, 0, max(1 - first**2 - second**2, 0.0) ** 0.5 + 0.01]
        for at, (first, second) in enumerate(cosines)
    }
    items = [Rule(name=f"n{at}", text=text) for at, text in enumerate(vectors)]
    taught = {ONE: [1.0], TWO: [0, 1.0], "hello": [noise, 0, (1 - noise**2) ** 0.5, 0], **vectors}
    index = ItemIndex(Taught(taught), NoCache())
    values = ContextSettings(top_n=top_n, top_k=top_k, include_score=include_score)
    scores = compare(f"{ONE} {TWO}", items, index, ALL_PARTS)
    found = choose(scores, Domain.texts, values, ALL_PARTS)
    best = dict(zip(items, scores.prepared.best(scores.pooled), strict=True))
    top = sorted(best.values(), reverse=True)[:top_k][-1]
    chosen = [choice.item for choice in found.choices]
    assert len(set(chosen)) == len(chosen)
    assert all(choice.score >= scores.floor for choice in found.choices)
    assert [choice.score for choice in found.choices] == sorted(
        (choice.score for choice in found.choices), reverse=True
    )
    sure = [item for item, score in best.items() if score >= max(include_score, scores.floor)]
    assert {item for item in sure if best[item] > top} <= set(chosen)
    assert len(chosen) <= max(top_n, len(sure) + len(scores.sentences))
    named = {entry.key for entry in found.left_out}
    assert named | {item.key for item in chosen} == {item.key for item in items if best[item] > 0}
    assert not named & {item.key for item in chosen}

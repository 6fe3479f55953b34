"""How many results of a ranking are returned, and which of them are shown by their heads."""

from collections.abc import Sequence
from typing import NamedTuple

import pytest

from asterism.search.selection.options import WORTH, WorthOptions, worth_staged
from asterism.search.selection.worth import WorthChoice, worthwhile
from asterism.types.search import Hit, Stage
from tests.search.selection_hits import hit

OPTIONS = WorthOptions(floor=0.2, behind=1.2, most_results=3, whole_lines=10)


class Case(NamedTuple):
    """Hits and what becomes of them, by their ids."""

    hits: Sequence[Hit]
    results: str
    heads: str = ""
    nested: str = ""
    others: str = ""
    gate: float | None = None
    text: str = ""
    tests: str = ""


def one(
    name: str, score: float, lines: tuple[int, int] = (1, 4), kind: str = "function", size: int = 4
) -> Hit:
    """A hit with an id of one letter; hits of one file have an id that begins alike."""
    made = hit(name, text="x" * size, lines=lines, score=score)
    chunk = made.chunk._replace(
        node_kind=kind, name=name, qualified_name=name, signature=f"def {name}()"
    )
    return made._replace(chunk=chunk._replace(relative_path=f"{name[0]}.py"))


CASES = {
    "near the best": Case([one("a", 0.5), one("b", 0.3), one("c", 0.19)], "a b", others="c"),
    "near a weaker one": Case([one("a", 0.25), one("b", 0.15), one("c", 0.09)], "a b", others="c"),
    "a sure one needs no others": Case([one("a", 0.9), one("b", 0.6)], "a", others="b"),
    "two sure ones": Case([one("a", 0.99), one("b", 0.98)], "a b"),
    "however long": Case([one("a", 0.5), one("b", 0.4, size=100_000)], "a b"),
    "code beside a sure test": Case(
        [one("a", 0.95), one("b", 0.4), one("c", 0.5)], "a b", others="c", tests="a c"
    ),
    "of tests alone the near ones": Case(
        [one("a", 0.5), one("b", 0.3), one("c", 0.1)], "a b", others="c", tests="a b c"
    ),
    "nothing is relevant": Case([one("a", 0.19), one("b", 0.18)], "", others="a b"),
    "nothing was found": Case([], ""),
    "a gate is absolute": Case(
        [one("a", 0.19), one("b", 0.05), one("c", 0.01)], "a b", others="c", gate=0.05
    ),
    "over the number": Case([one(name, 0.5) for name in "abcd"], "a b c", others="d"),
    "the name of a definition": Case(
        [one("a", 0.5), one("b", 0.6), one("c", 0.4)], "a", others="b c", text="a"
    ),
    "inside a function that is shown": Case(
        [one("a", 0.6, (1, 90)), one("a2", 0.5, (5, 9))], "a", nested="a2"
    ),
    "around a function that is shown": Case(
        [one("a2", 0.6, (5, 9)), one("a", 0.5, (1, 90))], "a2", nested="a"
    ),
    "inside a short class": Case(
        [one("a", 0.6, (1, 10), "class"), one("a2", 0.5, (5, 9))], "a", nested="a2"
    ),
    "inside a long class": Case(
        [one("a", 0.6, (1, 11), "class"), one("a2", 0.5, (5, 9))], "a a2", heads="a"
    ),
    "the same lines of another file": Case([one("a", 0.6, (1, 90)), one("b", 0.5, (5, 9))], "a b"),
}


def chosen(case: Case) -> WorthChoice:
    tests = {at for at, hit in enumerate(case.hits) if hit.chunk.name in case.tests.split()}
    return worthwhile(case.hits, OPTIONS, case.gate, case.text, tests)


@pytest.mark.parametrize("name", CASES)
def test_choice(name: str) -> None:
    case = CASES[name]
    found = chosen(case)

    def ids(numbers: Sequence[int] | frozenset[int]) -> str:
        return " ".join(case.hits[number].chunk.name for number in numbers)

    shown = (ids(found.results), ids(found.heads), ids(found.nested), ids(found.others))
    assert shown == (case.results, case.heads, case.nested, case.others)


def test_every_hit_is_accounted_for_once() -> None:
    for case in CASES.values():
        found = chosen(case)
        numbers = [*found.results, *found.nested, *found.others]
        assert sorted(numbers) == [*range(len(case.hits))]


def test_a_discovering_stage_wants_more() -> None:
    wider = worth_staged(WORTH, Stage.discover)
    assert wider.floor < WORTH.floor
    assert wider.behind > WORTH.behind
    assert wider.most_results == 2 * WORTH.most_results
    assert worth_staged(WORTH, Stage.refine) == worth_staged(WORTH, None) == WORTH

"""How many results of a ranking a context returns: each has to be worth its tokens."""

import math
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import NamedTuple

from asterism.search.ranking.priors import is_inline_test, traits_of
from asterism.search.selection.options import WORTH, WorthOptions, worth_staged
from asterism.search.selection.sieve import file_of, score_of
from asterism.types.index import Chunk
from asterism.types.search import Hit, Intent, Question, Stage

_SURE = 0.001
"""Scores nearer to 0 or 1 are not told apart: they are calibrated on thousands of pairs."""

CALLABLE = frozenset({"function", "method", "constructor"})
"""Kinds whose code is read as a whole; the members of other kinds are read one by one."""


class WorthChoice(NamedTuple):
    """What becomes of each hit, by its place in the given order."""

    results: tuple[int, ...]
    """Those that are returned, the best first."""
    heads: frozenset[int]
    """Of these the types that are shown without their members: members are results themselves."""
    nested: tuple[int, ...]
    """Those whose code is shown with a result: inside of it, or around it."""
    over: tuple[int, ...]
    """Those that are worth their tokens and over the number of results."""
    unworthy: tuple[int, ...] = ()

    @property
    def others(self) -> tuple[int, ...]:
        """Those that are not shown, the best first."""
        return (*self.over, *self.unworthy)


class WorthRequest(NamedTuple):
    """What is asked of a ranking, and how much of it may be returned."""

    question: Question
    limit: int
    gate: float | None
    stage: Stage | None


def chosen(hits: Sequence[Hit], asked: WorthRequest) -> WorthChoice:
    """The results of a ranking that are worth their tokens."""
    question, most = asked.question, asked.limit
    name = question.text.strip() if question.text.strip() in question.identifiers else ""
    if asked.gate is None and most <= WORTH.default_limit:
        most = min(most, WORTH.most_results)
    tests: frozenset[int] = frozenset()
    if Intent.tests not in question.intents:
        tests = frozenset(at for at, hit in enumerate(hits) if _is_test(hit.chunk))
    worth = worth_staged(replace(WORTH, most_results=most), asked.stage)
    return worthwhile(hits, worth, asked.gate, name, tests)


def candidates(hits: Sequence[Hit], choice: WorthChoice) -> list[Hit]:
    """What is named of the others: a sure answer has few of them."""
    best = max(map(score_of, hits), default=0.0)
    most = min(WORTH.most_candidates, max(WORTH.most_named - len(choice.results), 0))
    found = [hits[at] for at in choice.others[:most]]
    least = WORTH.least_candidates if choice.results else most
    near = (hit for hit in found[least:] if behind(score_of(hit), best) <= WORTH.behind_candidate)
    return [*found[:least], *near]


def _is_test(chunk: Chunk) -> bool:
    """Whether a chunk is a test, by its path or by its place in a file."""
    return "test" in traits_of(chunk.relative_path).kinds or is_inline_test(chunk)


def worthwhile(
    hits: Sequence[Hit],
    options: WorthOptions,
    gate: float | None = None,
    text: str = "",
    tests: Collection[int] = (),
) -> WorthChoice:
    """Choose the results of a ranking.

    With a gate a result is returned if it scores so much. Without one it may be so far behind the
    best in log-odds; where even the best is below the floor nothing is returned. Other code is
    compared with the best that is not among the `tests`: those say what is expected, not how it is
    done. A query that is nothing but the name of a definition returns that definition.
    """
    order = sorted(range(len(hits)), key=lambda one: -score_of(hits[one]))
    named = [one for one in order if _is_name(hits[one].chunk, text)]
    if gate is not None:
        passing = [one for one in order if score_of(hits[one]) >= gate]
    elif named:
        passing = named
    else:
        best = max((score_of(hit) for hit in hits), default=0.0)
        code = max((score_of(hits[one]) for one in order if one not in tests), default=0.0)
        passing = [
            one
            for one in order
            if _is_worth(hits[one], best if one in tests else max(code, options.floor), options)
        ]
        passing = passing if best >= options.floor else []
    results: list[int] = []
    heads: set[int] = set()
    nested: list[int] = []
    over: list[int] = []
    for one in passing:
        around = [other for other in results if _contains(hits[other].chunk, hits[one].chunk)]
        shown = [other for other in around if _is_whole(hits[other].chunk, options)]
        inside = any(_contains(hits[one].chunk, hits[other].chunk) for other in results)
        if shown or inside:
            nested.append(one)
        elif len(results) >= options.most_results:
            over.append(one)
        else:
            heads.update(around)
            results.append(one)
    chosen = {*passing}
    unworthy = tuple(one for one in order if one not in chosen)
    return WorthChoice(tuple(results), frozenset(heads), tuple(nested), tuple(over), unworthy)


def _is_worth(hit: Hit, best: float, options: WorthOptions) -> bool:
    return score_of(hit) > 0 and behind(score_of(hit), best) <= options.behind


def behind(score: float, best: float) -> float:
    """How far a score is behind the best one, in log-odds."""
    return _log_odds(best) - _log_odds(score)


def _log_odds(score: float) -> float:
    within = min(max(score, _SURE), 1 - _SURE)
    return math.log(within / (1 - within))


def _is_name(chunk: Chunk, text: str) -> bool:
    """Whether the text of a query is exactly what a chunk defines."""
    name = text.strip()
    return bool(name) and name in (chunk.name, chunk.qualified_name) and bool(chunk.signature)


def _contains(outer: Chunk, inner: Chunk) -> bool:
    """Whether a chunk's lines are among another's of the same file."""
    return (
        file_of(outer) == file_of(inner)
        and outer.start_line <= inner.start_line
        and inner.end_line <= outer.end_line
    )


def _is_whole(chunk: Chunk, options: WorthOptions) -> bool:
    """Whether everything inside a chunk is shown with it."""
    lines = chunk.end_line - chunk.start_line + 1
    return chunk.node_kind in CALLABLE or lines <= options.whole_lines

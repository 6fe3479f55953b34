"""A searcher that finds what it was told, and results by hand."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from asterism.evaluation.datasets import FoundPlace, PathMatch
from asterism.evaluation.replies import ReplyText
from asterism.evaluation.runs import Building, Measures, QueryResult, Run


class FakeSearcher:
    """Answers from a table, and remembers what it was asked."""

    name = "fake"

    def __init__(
        self,
        answers: Mapping[str, Sequence[FoundPlace]],
        output: Mapping[str, Sequence[FoundPlace]] | None = None,
        replies: Mapping[str, ReplyText] | None = None,
    ) -> None:
        self._answers = answers
        self._output = output
        self._replies = replies or {}
        self.asked: list[tuple[str, int]] = []
        self.indexed: list[Path] = []
        self.closed = 0

    def index(self, directory: Path) -> str:
        self.indexed.append(directory)
        return "2 chunks"

    def search(self, query: str, limit: int) -> Sequence[FoundPlace]:
        self.asked.append((query, limit))
        return self._answers.get(query, ())[:limit]

    def within(self, query: str, limit: int, budget: int) -> Sequence[FoundPlace] | None:
        return None if self._output is None else self._output.get(query, ())

    def reply(self, query: str) -> ReplyText | None:
        return self._replies.get(query)

    def close(self) -> None:
        self.closed += 1


def result(
    id_: str,
    ndcg: float,
    repo: str = "shop",
    language: str = "go",
    category: str = "",
    first_tokens: int | None = 10,
) -> QueryResult:
    """A result of which only a few figures matter."""
    found = Measures._make([*[ndcg] * 11, first_tokens])
    places = (FoundPlace("a", 1, 2, 3, "", 0.75),)
    return QueryResult(id_, repo, language, category, found, (1, None), places, (True,), 2.0, 1.0)


def scored(id_: str, *places: tuple[float, bool], is_answerable: bool = True) -> QueryResult:
    """A result whose places have these scores and are right or not."""
    found = tuple(
        FoundPlace(f"{number}.py", score=score) for number, (score, _) in enumerate(places)
    )
    whole = result(id_, 0.0, category="" if is_answerable else "unanswerable")
    ranks = (1,) if is_answerable else ()
    return whole._replace(found=found, right=tuple(right for _, right in places), ranks=ranks)


def run_of(*results: QueryResult, name: str = "fake") -> Run:
    """A run with these results."""
    return Run(
        name=name,
        dataset="set",
        limit=10,
        match=PathMatch.strict,
        scope="root",
        results=results,
        buildings=(Building("shop", "go", "2 chunks", 2.5, 1.5),),
        peak_bytes=3 * 2**20,
    )

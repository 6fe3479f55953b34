"""A labelled set from any indexed repository: questions whose answers the index itself knows.

Each category asks for something else, and says something else about a tool:

- `definition`: a name; its definitions.
- `misspelt`: the same with one slip of the fingers, so that no definition has that name.
- `docstring`: the first sentence of a symbol's documentation, without the words of its name; the
  symbol. The answer contains the sentence word for word, so this is an upper bound: it shows that
  documentation is searched at all, not that meaning is understood.
- `mention`: a sentence of prose or documentation in another file that names this symbol and no
  other, the name taken out; the symbol. An author wrote the words, and the answer lacks them.
  The place they come from is `given`: finding that again earns no rank. Many are too vague
  to answer, so this is for comparing tools and not for its own figure.
- `literal`: a text in quotation marks that stands on one line of the repository; that line.
- `snippet`: three lines from the middle of a symbol that stand nowhere else; those lines.
- `usage`: "where is x used"; the places that use x, one target for each chunk.
- `unanswerable`: about something of which the repository contains no word; nothing.

The set depends on the repository's content and the seed alone. Candidates are drawn by a hash of
what they are, so another file more or less leaves most of the set as it was.
"""

import hashlib
import heapq
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from asterism.evaluation.candidates import TOPICS, QueryCandidate, Topic, candidates, texts_of
from asterism.evaluation.datasets import LabelledPlace, Query
from asterism.store.catalogue.catalogue import Catalogue
from asterism.store.registry import Registered
from asterism.types.errors import IndexMissing
from asterism.types.files import display_path
from asterism.types.index import Chunk, Role, SymbolQuery, SymbolRow
from asterism.types.search import Filter

# A finger that misses a key hits the next one of its row.
_ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_NEXT = {letter: row[at - 1] for row in _ROWS for at, letter in enumerate(row)}


def misspelt(name: str, number: int) -> str:
    """The name with two letters swapped, one left out, one doubled or one mistyped.

    The number decides where and how. The first letter stays: people rarely get it wrong.
    """
    if len(name) < 3:
        return name + name[-1:]
    at = 1 + number % (len(name) - 2)
    left, letter, behind, right = name[:at], name[at], name[at + 1], name[at + 2 :]
    slips = (
        f"{left}{behind}{letter}{right}",
        f"{left}{behind}{right}",
        f"{left}{letter}{letter}{behind}{right}",
        f"{left}{_NEXT.get(letter.lower(), 'x')}{behind}{right}",
    )
    chosen = slips[number // len(name) % len(slips)]
    # Two equal letters swapped are the same name.
    return chosen if chosen != name else slips[1]


_Item = TypeVar("_Item")


def rank_of(seed: str, key: str) -> int:
    """A number between 0 and 2^64 that looks random and is always the same."""
    text = f"{seed}\0{key}".encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "big")


class Draw(Generic[_Item]):
    """Keeps the items of the smallest ranks, one of each key."""

    def __init__(self, size: int, seed: str) -> None:
        self._size = size
        self._seed = seed
        self._kept: dict[str, _Item] = {}
        # The largest rank first, as a heap gives the smallest.
        self._heap: list[tuple[int, str]] = []

    def offer(self, key: str, item: _Item) -> None:
        """Take part in the draw; of equal keys the first item counts."""
        if key in self._kept:
            return
        entry = (-rank_of(self._seed, key), key)
        if len(self._heap) < self._size:
            heapq.heappush(self._heap, entry)
        else:
            dropped = heapq.heappushpop(self._heap, entry)
            self._kept.pop(dropped[1], None)
            if dropped == entry:
                return
        self._kept[key] = item

    def drawn(self) -> list[_Item]:
        """The items, in the order of their ranks."""
        return [self._kept[key] for _, key in sorted(self._heap, reverse=True)]


CATEGORY = "unanswerable"


def unanswerable_queries(
    repo: str, root: Path, files: Iterable[str], size: int, seed: int
) -> list[Query]:
    """Topics that the files do not mention, as questions without targets."""
    left = dict.fromkeys(TOPICS)
    for text in texts_of(root, files):
        lowered = text.lower()
        for topic in [topic for topic in left if _is_about(lowered, topic)]:
            del left[topic]
    drawn = sorted(left, key=lambda topic: rank_of(f"{seed}/{CATEGORY}", topic.question))
    return [
        Query(f"{repo}-{CATEGORY}-{number:02}", topic.question, repo, (), category=CATEGORY)
        for number, topic in enumerate(drawn[:size], 1)
    ]


def _is_about(lowered: str, topic: Topic) -> bool:
    return any(word in lowered for word in topic.words)


# Drawn beyond the size, since some candidates turn out to be ambiguous: names above all.
SPARE_FACTOR = 8

# A name with more definitions says too little about which is meant.
DEFINITIONS_AT_MOST = 3

# With more users than a list of ten shows, the question has no good answer.
USERS_AT_MOST = 8

# A heading of prose that happens to be called like a symbol is not its definition.
_HEADING = "section"


@dataclass(frozen=True, slots=True)
class SetOptions:
    """How large a set becomes, and which one it is."""

    per_category: int = 40
    seed: int = 1


def make_queries(registered: Registered, options: SetOptions) -> list[Query]:
    """The questions about an indexed repository, by category."""
    repository = registered.repository
    directory = registered.project.directory
    with Catalogue.open(directory) as catalogue:
        files = catalogue.files(repository.name)
        if not files:
            shown = display_path(repository.root)
            raise IndexMissing(f"Nothing of {shown} is indexed; run `asterism index {shown}`.")
        drawn = _drawn(_chunks(directory, repository.name, catalogue), options)
        root = Path(repository.root)
        elsewhere = _Occurrences(root, files, drawn)
        names = _Names(catalogue, repository.name)
        asked = {
            category: _first(_answered(found, names, elsewhere, options), options.per_category)
            for category, found in drawn.items()
        }
    answered = [
        Query(
            f"{repository.name}-{category}-{number:02}",
            candidate.text,
            repository.name,
            candidate.targets,
            files[candidate.targets[0].path].language,
            category,
            candidate.given,
        )
        for category, found in asked.items()
        for number, candidate in enumerate(found, 1)
    ]
    return answered + unanswerable_queries(
        repository.name, root, files, options.per_category, options.seed
    )


def _chunks(directory: Path, repo: str, catalogue: Catalogue) -> Iterator[Chunk]:
    from asterism.store.lance.table import LanceTable

    version = catalogue.chunks_version()
    if version:
        table = LanceTable.open(directory, name=catalogue.table.name)
        yield from table.snapshot(version).scan(Filter(repos=(repo,)))


def _drawn(chunks: Iterable[Chunk], options: SetOptions) -> Mapping[str, Sequence[QueryCandidate]]:
    """Some candidates of each category, in the order of the draw."""
    categories = ("definition", "misspelt", "docstring", "mention", "literal", "snippet", "usage")
    draws = {
        category: Draw[QueryCandidate](
            options.per_category * SPARE_FACTOR, f"{options.seed}/{category}"
        )
        for category in categories
    }
    for chunk in chunks:
        for candidate in candidates(chunk):
            draws[candidate.category].offer(candidate.key, candidate)
    return {category: draw.drawn() for category, draw in draws.items()}


def _answered(
    found: Sequence[QueryCandidate], names: "_Names", elsewhere: "_Occurrences", options: SetOptions
) -> Iterator[QueryCandidate]:
    """Those candidates that have a clear answer, with it."""
    steps: Mapping[str, Callable[[QueryCandidate], QueryCandidate | None]] = {
        "definition": names.defined,
        "misspelt": lambda candidate: names.misspelt(candidate, options.seed),
        "docstring": lambda candidate: candidate,
        "mention": names.mentioned,
        "literal": elsewhere.only,
        "snippet": elsewhere.only,
        "usage": names.used,
    }
    seen: set[str] = set()
    for candidate in found:
        answered = steps[candidate.category](candidate)
        if answered is not None and answered.text not in seen:
            seen.add(answered.text)
            yield answered


def _first(found: Iterator[QueryCandidate], size: int) -> list[QueryCandidate]:
    return [candidate for _, candidate in zip(range(size), found, strict=False)]


class _Names:
    """The rows of the symbols table for a candidate's name."""

    def __init__(self, catalogue: Catalogue, repo: str) -> None:
        self._catalogue = catalogue
        self._repo = repo

    def defined(self, candidate: QueryCandidate) -> QueryCandidate | None:
        """The candidate with its name's definitions as targets, if they are few."""
        rows = self._rows(candidate.name, Role.DEFINITION, DEFINITIONS_AT_MOST)
        return candidate._replace(targets=tuple(map(_line, rows))) if rows else None

    def misspelt(self, candidate: QueryCandidate, seed: int) -> QueryCandidate | None:
        """The same under a name that is not defined."""
        text = misspelt(candidate.name, rank_of(f"{seed}/slip", candidate.name))
        if self._catalogue.find_symbols(self._query(text, None, 1)).total:
            return None
        found = self.defined(candidate)
        return None if found is None else found._replace(text=text)

    def mentioned(self, candidate: QueryCandidate) -> QueryCandidate | None:
        """The candidate with the one definition of the name it mentions, in another file."""
        rows = self._rows(candidate.name, Role.DEFINITION, 1)
        if not rows or rows[0].filepath == candidate.given[0].path:
            return None
        return candidate._replace(targets=(_line(rows[0]),))

    def used(self, candidate: QueryCandidate) -> QueryCandidate | None:
        """The candidate with the users of the one thing of its name."""
        definitions = self._rows(candidate.name, Role.DEFINITION, 1)
        if not definitions:
            return None
        # Uses in one chunk are one answer; a few in each of them may be many rows.
        rows = self._rows(candidate.name, Role.USAGE, USERS_AT_MOST * USERS_AT_MOST)
        users: dict[tuple[str, str], list[int]] = {}
        for row in rows:
            if row.chunk_id != definitions[0].chunk_id:
                users.setdefault((row.filepath, row.chunk_id or ""), []).append(row.line)
        if not 1 <= len(users) <= USERS_AT_MOST:
            return None
        targets = tuple(
            LabelledPlace(path, min(lines), max(lines)) for (path, _), lines in users.items()
        )
        return candidate._replace(targets=targets)

    def _rows(self, name: str, role: Role, at_most: int) -> list[SymbolRow]:
        """The rows of a name, none where there are more than so many."""
        page = self._catalogue.find_symbols(self._query(name, role, at_most))
        if page.total > at_most:
            return []
        return [found.row for found in page.rows if found.row.kind != _HEADING]

    def _query(self, name: str, role: Role | None, limit: int) -> SymbolQuery:
        roles = () if role is None else (role,)
        return SymbolQuery(name, roles=roles, repos=(self._repo,), limit=limit)


class _Occurrences:
    """How often the texts of candidates occur in the files of a repository."""

    def __init__(
        self, root: Path, files: Iterable[str], drawn: Mapping[str, Sequence[QueryCandidate]]
    ) -> None:
        texts = (
            candidate.text for found in drawn.values() for candidate in found if candidate.unique
        )
        self._counts = dict.fromkeys(texts, 0)
        for text in texts_of(root, files):
            self._count(text)

    def only(self, candidate: QueryCandidate) -> QueryCandidate | None:
        """The candidate, if its text occurs in one place."""
        return candidate if self._counts[candidate.text] == 1 else None

    def _count(self, text: str) -> None:
        # A file that is in question already need not be searched for the text again.
        for wanted, count in self._counts.items():
            if count < 2:
                self._counts[wanted] += text.count(wanted)


def _line(row: SymbolRow) -> LabelledPlace:
    return LabelledPlace(row.filepath, row.line, row.line)

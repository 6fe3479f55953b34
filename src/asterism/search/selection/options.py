"""What a selection is asked to keep: the options, their presets, limits and stages."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Literal

from asterism.types.errors import UsageError
from asterism.types.search import Stage

CHARS_PER_TOKEN = 4
CEILING_CHARS = 100_000
"""No reply is longer once serialised; about 25,000 tokens, which clients' windows still hold."""
MOST_RESULTS = 50
MOST_ON_A_PAGE = 100
"""The largest limit of an ordinary search, and of one page of an exhaustive one."""

_LEAST_SCORE = math.ulp(0.0)
"""The gate that keeps out only what does not score at all."""
_DISCOVER_LIMIT = 2
_DISCOVER_GATE = 0.5
"""Looking around wants twice the hits, and a threshold at half the score or half the cosine."""


class Overflow(StrEnum):
    """What happens to a text that is too long."""

    degrade = "degrade"
    """It is given in less detail, and dropped when not even its name fits."""
    cut = "cut"
    """It is cut to `max_chunk_chars`, and dropped when that does not fit."""


def _check_count(name: str, value: int | None, least: int) -> None:
    if value is not None and value < least:
        raise UsageError(f"{name} is {value}; it has to be at least {least}.")


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectionOptions:
    """Every number of a selection; `None` means no such limit."""

    rank_by: Literal["score", "distance"] = "score"
    """What best means: the highest score or the lowest distance, ties in the given order."""
    gate: float = 0.0
    """The score a hit needs."""
    distance_cutoff: float | None = None
    """The distance a hit may have at most; a hit without one does not pass."""
    min_keep: int = 0
    """How many of the best are kept when none passes; nothing is added to those that pass."""
    pool: int | None = None
    """How many of the best are looked at."""
    always_include: float | None = None
    """The score from which `max_results` does not apply."""
    max_results: int | None = None
    max_per_file: int | None = None
    equal_text: bool = True
    """Equal text within one file is a duplicate; a listing of every match says no."""
    token_budget: int | None = None
    max_chars: int = CEILING_CHARS
    max_chunk_chars: int | None = None
    counted: Literal["reply", "text"] = "reply"
    """What `max_chars` and the tokens count: serialised rows, or the texts in them."""
    overflow: Overflow = Overflow.degrade
    order: Literal["score", "store"] = "score"
    """Best first, or as the hits came."""
    merge_same_file: bool = False
    """Hits of a file stand together, by line, and no code is given twice."""
    diverse: bool = False
    """A file's further hits count for less, so that more files come to light."""

    def __post_init__(self) -> None:
        """Refuse numbers that mean nothing."""
        for name in ("min_keep", "token_budget", "max_chars"):
            _check_count(name, getattr(self, name), 0)
        for name in ("pool", "max_results", "max_per_file", "max_chunk_chars"):
            _check_count(name, getattr(self, name), 1)
        for name in ("gate", "distance_cutoff", "always_include"):
            value = getattr(self, name)
            if value is not None and math.isnan(value):
                raise UsageError(f"{name} is not a number; give one, or leave it out.")

    @property
    def limit_chars(self) -> int:
        """The character limit; nothing raises it over the ceiling."""
        return min(self.max_chars, CEILING_CHARS)


CONTEXT = SelectionOptions(token_budget=8_000, merge_same_file=True)
"""Code for an agent to read; how many results there are is a matter of `WorthOptions`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorthOptions:
    """When a result of a ranking is worth its tokens, and how much of it is shown.

    Distances are in log-odds behind the best result: a sure result leaves little space for others,
    an unsure one much. They were chosen on 90 questions of readers (benchmarks/RESULTS.md).
    """

    floor: float = 0.12
    """The score below which not even the best result is returned. Readers' questions to another
    repository are above it in 34 %, those to their own in 95 % (0.08: 42 and 96; 0.2: 24 and 81).
    """
    behind: float = 3.2
    """So far behind the best a result is returned: its odds are a 25th of the best one's."""
    behind_strong: float = 1.4
    """So far behind it a result is shown with its connections and all it uses of its file."""
    behind_candidate: float = 4.2
    """So far behind it a candidate is named: its odds are a 65th of the best one's."""
    default_limit: int = 10
    """The limit of a request that names none."""
    most_results: int = 6
    """Results within that limit: more of them have less code, and candidates cost less."""
    most_code: int = 5
    """Results with code in a reply within the goal; the wanted symbol is the 6th to 10th in 4 %."""
    pool: int = 40
    """How many of the best are looked at."""
    least_candidates: int = 3
    """Lines about the best of what is not returned, however far behind it is."""
    most_candidates: int = 10
    most_named: int = 12
    """Results and candidates together, so that many results have few candidates after them."""
    goal_tokens: int = 2_450
    """Tokens of a reply to a query in words: beyond them only the best result has code."""
    goal_share: float = 0.3
    """The same as a share of the budget, where that is more."""
    whole_lines: int = 60
    """A type of so many lines at most is shown whole instead of its head and one member."""


WORTH = WorthOptions()


def worth_staged(options: WorthOptions, stage: Stage | None) -> WorthOptions:
    """The options for a stage: discovering wants twice the results, and looser ones."""
    if stage is not Stage.discover:
        return options
    return replace(
        options,
        floor=options.floor * _DISCOVER_GATE,
        behind=options.behind - math.log(_DISCOVER_GATE),
        most_results=options.most_results * _DISCOVER_LIMIT,
    )


CHUNKS = SelectionOptions(max_results=10, max_chars=80_000)
"""Rows of a list; a fifth of the ceiling is left for what stands around them."""

CHAT = SelectionOptions(
    rank_by="distance",
    distance_cutoff=1.4,
    min_keep=2,
    max_per_file=2,
    max_chars=40_000,
    max_chunk_chars=5_000,
    counted="text",
    overflow=Overflow.cut,
    order="store",
)
"""Vector search inside a chat; the defaults of the five `CODEINFO_…` settings."""

ITEMS = SelectionOptions(
    gate=_LEAST_SCORE, pool=20, max_results=5, max_per_file=1, always_include=0.7
)
"""Rules, references and tools: an item takes the place of a file, and counts by its best piece."""

PRESETS: Mapping[str, SelectionOptions] = MappingProxyType(
    {"context": CONTEXT, "chunks": CHUNKS, "chat": CHAT, "items": ITEMS}
)


def preset(name: str) -> SelectionOptions:
    """The options of that name."""
    if name not in PRESETS:
        raise UsageError(f"There is no preset {name!r}; there are {', '.join(PRESETS)}.")
    return PRESETS[name]


def limited(options: SelectionOptions, limit: int, *, exhaustive: bool = False) -> SelectionOptions:
    """The options with the user's limit; an exhaustive page is longer and lists equal texts."""
    most = MOST_ON_A_PAGE if exhaustive else MOST_RESULTS
    if not 1 <= limit <= most:
        advice = "page through the rest with the cursor" if exhaustive else "ask exhaustively"
        raise UsageError(f"The limit is {limit}; give 1 to {most}, and {advice} for more.")
    return replace(options, max_results=limit, equal_text=options.equal_text and not exhaustive)


def staged(options: SelectionOptions, stage: Stage | None) -> SelectionOptions:
    """The options for a stage: discovering looks wider, refining keeps nothing that fails."""
    if stage is None:
        return options
    if stage is Stage.refine:
        return replace(options, min_keep=0, diverse=False)
    limit, cutoff = options.max_results, options.distance_cutoff
    return replace(
        options,
        max_results=None if limit is None else limit * _DISCOVER_LIMIT,
        # Half of the least number there is would be none at all.
        gate=options.gate * _DISCOVER_GATE or options.gate,
        distance_cutoff=None if cutoff is None else 2 - (2 - cutoff) * _DISCOVER_GATE,
        diverse=True,
    )

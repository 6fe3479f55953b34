"""The account of a selection: what came in, what goes out, and what became of the rest."""

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence

from asterism.search.selection.budget import Allotment
from asterism.search.selection.options import CEILING_CHARS
from asterism.search.selection.sieve import Sieve, distance_of, file_of, score_of
from asterism.search.selection.sizes import CHARS_PER_TOKEN, Size, Sizes
from asterism.types.selection import Account, Dropped, FileMatches, Kept, TruncationInfo

NEAR_LIMIT = 0.7
"""The used share of a limit from which it is worth telling."""


def account(sieve: Sieve, allotment: Allotment, sizes: Sizes) -> Account:
    """Every hit once: returned, or dropped for one reason."""
    written = allotment.total if allotment.given else sizes.bare
    used, returned = _utilisation(written, sizes), len(allotment.given)
    # Beyond the pool and over the limit are one thing to the user: there is more to be had.
    over_count = len(sieve.ranked) - len(sieve.pool) + len(sieve.spread) - len(sieve.wanted)
    return Account(
        total_count=len(sieve.ranked),
        returned_count=returned,
        dropped=Dropped(
            below_gate=len(sieve.unique) - len(sieve.passing or sieve.spread),
            per_file=len(sieve.passing) - len(sieve.spread) if sieve.passing else 0,
            duplicate=len(sieve.pool) - len(sieve.unique),
            budget=over_count + len(sieve.wanted) - returned,
        ),
        truncation_info=_truncation(sieve, allotment, written, sizes),
        token_method=sizes.measure.token_method,
        over_count=over_count,
        utilisation=min(1.0, used),
        near_limit=allotment.reason is None and used > NEAR_LIMIT,
    )


def _truncation(sieve: Sieve, allotment: Allotment, written: Size, sizes: Sizes) -> TruncationInfo:
    options, budget = sizes.options, sizes.options.token_budget
    return TruncationInfo(
        reason=allotment.reason,
        original_count=len(sieve.wanted),
        returned_count=len(allotment.given),
        estimated_chars=written.chars,
        limit_chars=options.limit_chars,
        estimated_tokens=sizes.tokens(written),
        limit_tokens=options.limit_chars // CHARS_PER_TOKEN if budget is None else budget,
    )


def _utilisation(written: Size, sizes: Sizes) -> float:
    """The used share of the limit that is fullest."""
    limits = [(written.chars, sizes.options.limit_chars), (written.reply, CEILING_CHARS)]
    if sizes.options.token_budget is not None:
        limits.append((sizes.tokens(written), sizes.options.token_budget))
    return max(used / max(1, limit) for used, limit in limits)


def file_matches(kept: Iterable[Kept]) -> tuple[FileMatches, ...]:
    """What was kept, file by file, in the order in which files first appear."""
    files: defaultdict[tuple[str, str], list[Kept]] = defaultdict(list)
    for one in kept:
        files[file_of(one.hit.chunk)].append(one)
    return tuple(_matches(*file, members) for file, members in files.items())


def _matches(repo: str, path: str, members: Sequence[Kept]) -> FileMatches:
    nearest = min(distance_of(one.hit) for one in members)
    return FileMatches(
        repo=repo,
        path=path,
        highest_match=nearest if math.isfinite(nearest) else None,
        best_score=max(score_of(one.hit) for one in members),
        chunk_count=len(members),
        line_count=sum(one.line_count for one in members),
    )

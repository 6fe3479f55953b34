"""At which rank was each target found?"""

from collections.abc import Sequence

from asterism.evaluation.labels import Found, PathMatch, Query, Target


def first_ranks(
    found: Sequence[Found], targets: Sequence[Target], prefix: str, match: PathMatch
) -> tuple[int | None, ...]:
    """The rank, from 1, of the first place that covers each target, or None.

    `prefix` leads from the top of the checkout to the directory that was indexed.
    """
    return tuple(
        next(
            (rank for rank, place in enumerate(found, 1) if covers(place, target, prefix, match)),
            None,
        )
        for target in targets
    )


def file_ranks(
    found: Sequence[Found], targets: Sequence[Target], prefix: str, match: PathMatch
) -> tuple[int | None, ...]:
    """The rank of the first place in each file that a target is in, or None."""
    files = {target.path: target._replace(start_line=None, end_line=None) for target in targets}
    return first_ranks(found, [*files.values()], prefix, match)


def right_places(
    found: Sequence[Found], targets: Sequence[Target], prefix: str, match: PathMatch
) -> tuple[bool, ...]:
    """Whether each place covers any target."""
    return tuple(any(covers(place, target, prefix, match) for target in targets) for place in found)


def covers(place: Found, target: Target, prefix: str, match: PathMatch) -> bool:
    """Whether the paths are the same and the lines overlap; whoever names no lines means all."""
    if match is PathMatch.strict:
        same = (f"{prefix}/{place.path}" if prefix else place.path) == target.path
    else:
        same = same_ending(place.path, target.label or target.path)
    return same and _overlap(place, target)


def same_ending(one: str, other: str) -> bool:
    """Whether two paths are equal, or one is the end of the other, by whole names."""
    return one == other or one.endswith(f"/{other}") or other.endswith(f"/{one}")


def without_given(found: Sequence[Found], query: Query, prefix: str) -> list[Found]:
    """What is left of a ranking without the places that the question was taken from.

    A place that covers a target as well stays: it is an answer.
    """
    return [
        place
        for place in found
        if not _any_covered(place, query.given, prefix)
        or _any_covered(place, query.targets, prefix)
    ]


def _any_covered(place: Found, targets: Sequence[Target], prefix: str) -> bool:
    return any(covers(place, target, prefix, PathMatch.strict) for target in targets)


def _overlap(place: Found, target: Target) -> bool:
    if target.start_line is None or place.start_line is None or place.end_line is None:
        return True
    last = target.end_line if target.end_line is not None else target.start_line
    return place.end_line >= target.start_line and place.start_line <= last

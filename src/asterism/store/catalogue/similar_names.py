"""Which defined names a misspelt one may mean."""

from collections import Counter
from collections.abc import Iterable

# A third of the letters may be wrong; beyond that the suggestion reads like a guess.
_LETTERS_PER_ERROR = 3


def closest(name: str, candidates: Iterable[str], limit: int) -> list[str]:
    """The candidates that are most like the name, best first, at most so many."""
    plain, allowed = _plain(name), errors_allowed(name)
    letters = [*Counter(plain).items()]
    ranked: list[tuple[int, int, int, str]] = []
    for candidate in candidates:
        other = _plain(candidate)
        if candidate == name or abs(len(other) - len(plain)) > allowed:
            continue
        if _missing(letters, other) > allowed:
            continue
        errors = _distance(plain, other, allowed)
        if errors <= allowed:
            # Among equals the one whose underscores, then capitals, are those that were written.
            words = _distance(name.lower(), candidate.lower(), len(name))
            ranked.append((errors, words, _distance(name, candidate, len(name)), candidate))
    ranked.sort()
    return [candidate for *_, candidate in ranked[:limit]]


def errors_allowed(name: str) -> int:
    """How many letters may be wrong; a single letter is like every other."""
    plain = _plain(name)
    return max(1, len(plain) // _LETTERS_PER_ERROR) if len(plain) > 1 else 0


def lengths_alike(name: str) -> tuple[int, int]:
    """How many letters, underscores aside, a name that is like this one has."""
    length, allowed = len(_plain(name)), errors_allowed(name)
    return length - allowed, length + allowed


def _missing(letters: list[tuple[str, int]], other: str) -> int:
    """How many letters the other one lacks: each takes an edit of its own."""
    count = other.count
    return sum([wanted - found for letter, wanted in letters if (found := count(letter)) < wanted])


def _plain(name: str) -> str:
    # `parse_config` and `parseConfig` are one name in two habits.
    return name.replace("_", "").lower()


def _distance(left: str, right: str, enough: int) -> int:
    """How many letters to insert, delete, replace or swap with their neighbour."""
    before: list[int] = []
    above = list(range(len(right) + 1))
    for row, letter in enumerate(left, start=1):
        current = [row]
        for column, other in enumerate(right, start=1):
            cost = min(above[column] + 1, current[-1] + 1, above[column - 1] + (letter != other))
            swapped = row > 1 and column > 1 and letter == right[column - 2]
            if swapped and left[row - 2] == other:
                cost = min(cost, before[column - 2] + 1)
            current.append(cost)
        if min(current) > enough:
            return enough + 1
        before, above = above, current
    return above[-1]

"""How much of a room each of several may take: what it wants, or its share."""

import math
from collections.abc import Sequence

LEAST_SHARE = 300
"""Characters of a share that is worth having, some eight lines: where the room has too few of them
the first get theirs, and the rest are named. In 1,000 tokens 420 labelled questions see code of
0.949 of their files with 300, 0.933 with 600, 0.929 with 900; in 2,000 it makes no difference."""


def shares(wants: Sequence[int], room: int, least: int) -> list[int]:
    """The most that each may take, the best first; `least` of them get a share in any case.

    Whoever wants less than its share gets that, and what it leaves is shared by the others, so
    that the room is used. The second share is half the first, the third a third, as the first hits
    are the likeliest; equal ones leave slightly fewer of the right hits whole (0.888 for 0.892).
    """
    count = min(len(wants), max(least, room // LEAST_SHARE))
    weights = [1 / (place + 1) for place in range(count)]
    level = _level(wants[:count], weights, max(0, room))
    each = [max(wants, default=0) if math.isinf(level) else int(level * one) for one in weights]
    return each + [0] * (len(wants) - count)


def _level(wants: Sequence[int], weights: Sequence[float], room: float) -> float:
    """The share of weight 1 at which the room is just used up."""
    left = sum(weights)
    order = sorted(range(len(wants)), key=lambda one: wants[one] / weights[one])
    for one in order:
        if wants[one] * left > room * weights[one]:
            break
        room -= wants[one]
        left -= weights[one]
    else:
        return math.inf
    return room / left

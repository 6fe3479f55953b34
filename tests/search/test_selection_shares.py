"""A share is what is wanted, or the part that is due by place."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asterism.search.selection.budget import LEAST_SHARE, shares
from tests.analysis.chunks.invariants import STEADY


@pytest.mark.parametrize(
    ("wants", "space", "least", "expected"),
    [
        ([], 900, 3, []),
        # The second share is half the first, the third a third.
        ([9_000, 9_000, 9_000], 1_100, 3, [600, 300, 200]),
        # What the first leaves is shared by the others in the same proportion.
        ([100, 9_000, 9_000], 1_100, 3, [1_200, 600, 400]),
        # A hit that wants more than the others leave gets what is left.
        ([9_000, 100, 100], 1_100, 3, [900, 450, 300]),
        # Everything fits.
        ([100, 200], 300, 3, [200, 200]),
        # The space holds two useful shares.
        ([9_000] * 4, 2 * LEAST_SHARE, 1, [400, 200, 0, 0]),
        # The first few get one however small it is.
        ([9_000] * 4, 110, 3, [60, 30, 20, 0]),
        ([9_000] * 4, 0, 3, [0, 0, 0, 0]),
        ([9_000], -5, 3, [0]),
    ],
)
def test_shares(wants: Sequence[int], space: int, least: int, expected: Sequence[int]) -> None:
    assert shares(wants, space, least) == expected


@STEADY
@given(st.lists(st.integers(0, 5_000), max_size=20), st.integers(0, 20_000))
def test_shares_fall_and_use_the_space(wants: list[int], space: int) -> None:
    found = shares(wants, space, 3)
    assert found == sorted(found, reverse=True)
    used = sum(min(want, share) for want, share in zip(wants, found, strict=True))
    assert used <= space
    # What is left over is rounding, or no hit with a share wants it.
    sharing = [want for want, share in zip(wants, found, strict=True) if share]
    assert used >= min(space, sum(sharing)) - len(wants)

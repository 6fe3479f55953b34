"""Does every text that is not blank go out once, in order, within the limits?"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asterism.models.http.service import CHARACTERS_PER_TOKEN, BatchLimits, batches


@pytest.mark.parametrize(
    ("lengths", "limits", "expected"),
    [
        ([], BatchLimits(2, 100), []),
        ([4, 4, 4], BatchLimits(2, 100), [[0, 1], [2]]),
        ([4, 0, 4, 0, 4], BatchLimits(2, 100), [[0, 2], [4]]),
        ([36, 36, 36], BatchLimits(9, 20), [[0, 1], [2]]),
        ([4, 4000, 4, 4], BatchLimits(9, 20), [[0], [1], [2, 3]]),
        ([4000], BatchLimits(9, 20), [[0]]),
    ],
)
def test_batches(lengths: list[int], limits: BatchLimits, expected: list[list[int]]) -> None:
    assert list(batches(["x" * length for length in lengths], limits)) == expected


@given(
    st.lists(st.text(" ax\n", max_size=50), max_size=40),
    st.builds(BatchLimits, st.integers(1, 6), st.integers(1, 30)),
)
def test_nothing_is_lost_and_limits_hold(texts: list[str], limits: BatchLimits) -> None:
    found = list(batches(texts, limits))
    sent = [position for batch in found for position in batch]
    assert sent == [position for position, text in enumerate(texts) if text.strip()]
    for batch in found:
        assert len(batch) <= limits.texts
        characters = sum(len(texts[position]) for position in batch)
        assert len(batch) == 1 or characters / CHARACTERS_PER_TOKEN <= limits.tokens

"""Are weights in bytes near the real ones, and small enough for every processor?"""

import numpy as np
import pytest

from training.models.byte_graph import bytes_of


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("outlier", [0.0, 30.0])
def test_bytes_of_weights(seed: int, outlier: float) -> None:
    chance = np.random.default_rng(seed)
    weight = chance.normal(size=(12, 64)).astype(np.float32)
    weight[3, 7] += outlier
    table, scale = bytes_of(weight)
    assert np.abs(table * scale[:, None] - weight).max(1) == pytest.approx(scale / 2, rel=0.2)
    whole = table.astype(int)
    for sign in (1, -1):
        same = np.maximum(sign * whole, 0)
        assert (same[:, 0::2] + same[:, 1::2]).max() <= 128


def test_a_row_of_nothing() -> None:
    table, scale = bytes_of(np.zeros((2, 4), dtype=np.float32))
    assert not table.any()
    assert np.isfinite(scale).all()

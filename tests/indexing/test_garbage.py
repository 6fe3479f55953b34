"""Python's collector rests during a batch, and afterwards is as it was."""

import gc
from collections.abc import Iterator

import pytest

from asterism.indexing.read import MANY, no_collection


@pytest.fixture(autouse=True)
def _as_it_was() -> Iterator[None]:
    running = gc.isenabled()
    yield
    (gc.enable if running else gc.disable)()


@pytest.mark.parametrize("running", [True, False])
def test_it_rests_inside_and_is_restored(running: bool) -> None:
    (gc.enable if running else gc.disable)()
    with no_collection():
        assert not gc.isenabled()
        with no_collection():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled() is running


def test_an_error_restores_it_too() -> None:
    gc.enable()
    with pytest.raises(ZeroDivisionError), no_collection():
        raise ZeroDivisionError
    assert gc.isenabled()


class Ring:
    """Garbage that only the collector can find."""

    def __init__(self) -> None:
        self.me = self


@pytest.mark.parametrize(("records", "is_young"), [(10, True), (2 * MANY, False)])
def test_only_a_large_batch_makes_what_is_young_old(records: int, is_young: bool) -> None:
    gc.enable()
    gc.collect()
    with no_collection():
        Ring()
        # Kept until the end: records that are let go of do not count.
        kept = [[number] for number in range(records)]
    assert (gc.collect(1) > 0) is is_young
    assert len(kept) == records

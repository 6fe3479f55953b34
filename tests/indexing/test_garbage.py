"""Python's collector rests during a batch, and afterwards is as it was."""

import gc
from collections.abc import Iterator

import pytest

from asterism.indexing.garbage import no_collection


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

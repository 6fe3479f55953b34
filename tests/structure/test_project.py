"""Does every thread get a turn, or a clear message?"""

import threading

import pytest

from asterism.structure.project import ThreadTurns
from asterism.types.errors import ServerTimeout


def test_one_at_a_time() -> None:
    turns = ThreadTurns("compiler", 60.0)
    order: list[str] = []

    def work(name: str) -> None:
        with turns.take():
            order.append(f"{name} in")
            order.append(f"{name} out")

    threads = [threading.Thread(target=work, args=(str(n),)) for n in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [entry.split()[1] for entry in order] == ["in", "out"] * 5


def test_who_waits_too_long_is_told() -> None:
    turns = ThreadTurns("compiler", 0.01)
    with turns.take():
        with turns.take_if_free() as is_free:
            assert not is_free
        with pytest.raises(ServerTimeout, match="The compiler is busy with other questions"):
            turns.take().__enter__()
    with turns.take_if_free() as is_free:
        assert is_free
    with turns.take():
        pass

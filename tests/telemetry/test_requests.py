"""Does every line know its request, in threads and tasks as well?"""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context

import pytest

from asterism.telemetry.events import current_request, request


def test_outside_of_a_request_is_no_id() -> None:
    assert current_request() == ""
    with request() as name:
        assert current_request() == name
        assert len(name) == 12
    assert current_request() == ""


def test_what_is_inside_another_belongs_to_it() -> None:
    with request("outer") as outer, request("inner") as inner:
        assert (outer, inner) == ("outer", "outer")
        assert current_request() == "outer"


def test_it_ends_with_an_error() -> None:
    with pytest.raises(KeyError), request("mine"):
        raise KeyError
    assert current_request() == ""


@pytest.mark.parametrize("name", ["", "a b", "x" * 65, "line\nbreak", 'quo"te', "é"])
def test_a_name_that_could_write_into_the_log_is_replaced(name: str) -> None:
    with request(name) as chosen:
        assert chosen != name
        assert chosen.isalnum()


def test_tasks_do_not_mix() -> None:
    async def answer(name: str) -> str:
        with request(name):
            await asyncio.sleep(0)
            return current_request()

    async def both() -> list[str]:
        return list(await asyncio.gather(answer("one"), answer("two")))

    assert asyncio.run(both()) == ["one", "two"]


def test_a_thread_with_a_copied_context_belongs_to_it() -> None:
    with request("mine"), ThreadPoolExecutor(1) as pool:
        assert pool.submit(copy_context().run, current_request).result() == "mine"
        assert pool.submit(current_request).result() == ""

"""Patience with a stream: again while nothing has come, never after, and not for ever."""

import asyncio
from collections.abc import Callable

import pytest

from asterism.models.http.service import PassingFailure, ServiceName
from asterism.models.llm.stream import ERRAND, Persistence, Pieces, persistently
from asterism.types.chat import ModelReply
from asterism.types.errors import AsterismError, ProviderDown, ReplyCut
from tests.llm.asking import Pauses

SERVICE = ServiceName("The language model", "http://localhost/v1", "KEY", False, ERRAND)


async def silent() -> Pieces:
    """Never says anything."""
    await asyncio.Event().wait()
    yield ""


async def falling_silent() -> Pieces:
    """Says a word, and nothing more."""
    yield "It"
    await asyncio.Event().wait()


async def failing() -> Pieces:
    """Fails before it begins."""
    for reason in ("it failed",):
        raise PassingFailure(reason)
    yield ""


async def breaking() -> Pieces:
    """Fails after a word."""
    yield "It"
    raise PassingFailure("the connection broke")


async def collected(make: Callable[[], Pieces], how: Persistence) -> list[str | ModelReply]:
    """Everything that comes."""
    return [piece async for piece in persistently(make, SERVICE, how)]


@pytest.mark.parametrize(
    ("make", "error", "attempts"),
    [
        (silent, ProviderDown, 3),
        (falling_silent, ReplyCut, 1),
        (failing, ProviderDown, 3),
        (breaking, ReplyCut, 1),
    ],
)
def test_what_is_tried_again(
    make: Callable[[], Pieces], error: type[AsterismError], attempts: int
) -> None:
    made: list[Pieces] = []

    def counted() -> Pieces:
        made.append(make())
        return made[-1]

    with pytest.raises(error) as raised:
        asyncio.run(collected(counted, Persistence(3, 0.05, Pauses())))
    assert type(raised.value) is error
    assert len(made) == attempts


def test_the_first_that_begins_is_taken() -> None:
    async def fine() -> Pieces:
        yield "It is"
        yield ModelReply("It is")

    tries = iter([failing(), failing(), fine()])
    found = asyncio.run(collected(lambda: next(tries), Persistence(3, 60.0, Pauses())))
    assert found == ["It is", ModelReply("It is")]


def test_a_caller_that_leaves_early_closes_the_stream() -> None:
    closed: list[bool] = []

    async def watched() -> Pieces:
        try:
            yield "It"
            yield "is"
        finally:
            closed.append(True)

    async def leave() -> None:
        stream = persistently(watched, SERVICE, Persistence(1, 60.0))
        assert await anext(stream) == "It"
        await stream.aclose()
        assert closed == [True]

    asyncio.run(leave())

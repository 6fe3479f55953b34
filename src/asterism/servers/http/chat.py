"""Turns of a chat over HTTP: one reply at the end, or a stream of events."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING

from asterism.engine.chat.requests import Answered, TurnHandle, answer_json
from asterism.operations.dispatch.toolbox import failure
from asterism.operations.error_codes import code_of, sentence_of
from asterism.operations.operation import Operation
from asterism.servers.http.api import READ_ONLY, excess, problem_response
from asterism.servers.http.events import (
    ALIVE,
    ALIVE_SECONDS,
    CONTENT_TYPE,
    EventResponse,
    Tell,
    event,
    told,
)
from asterism.servers.http.replies import HttpProblem, Refused, Wording, encoded, problem_json
from asterism.servers.http.requests import arguments_of
from asterism.servers.http.routes import ROUTES_OF_TOOLS, routed
from asterism.servers.http.shares import spender_of
from asterism.servers.http.state import ServerState
from asterism.types.chat import TurnEvent, TurnStatus
from asterism.types.deadlines import counted_work, counting_threads
from asterism.types.errors import AsterismError

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import BaseRoute
    from starlette.types import Receive

LOOK_SECONDS = 1.0
"""How often a stream looks whether the server ends."""

_JSON = "application/json"
_WORDING = Wording(ROUTES_OF_TOOLS)


def routes(state: ServerState) -> list[BaseRoute]:
    """The routes of the operations that begin turns."""
    from starlette.routing import Route

    chat = _Chat(state)
    return [
        Route(route.path, chat.endpoint(operation), methods=[route.method])
        for route, operation in routed(state.toolbox.operations)
        if operation.begin is not None
    ]


class _Chat:
    """The running turns of one server."""

    def __init__(self, state: ServerState) -> None:
        self._state = state

    def endpoint(self, operation: Operation) -> Callable[[Request], Awaitable[Response]]:
        """A route that begins a turn."""
        import anyio.to_thread

        async def answer(request: Request) -> Response:
            if self._state.read_only and not operation.read_only:
                raise Refused(READ_ONLY)
            client = spender_of(request)
            problem = excess(self._state, client)
            if problem is not None:
                raise Refused(problem)
            given = await arguments_of(request, operation)
            events = _Events()
            try:
                begin = partial(self._state.toolbox.begin, operation, given, events.hear)
                # The turn copies this context, and with it its client.
                with counting_threads(partial(self._state.shares.counted, client)):
                    asked = await anyio.to_thread.run_sync(_counted, begin)
                events.follow(asked)
                await asyncio.wrap_future(asked.begun)
            except AsterismError as error:
                return problem_response(_problem(error, self._state.toolbox.told))
            if CONTENT_TYPE in request.headers.get("accept", ""):
                return _Stream(asked, self._told(asked, events))
            return await self._whole(request, asked)

        return answer

    async def _whole(self, request: Request, asked: TurnHandle) -> Response:
        """The complete answer; a client that leaves stops the turn."""
        import anyio
        from starlette.responses import Response

        async with anyio.create_task_group() as group:
            group.start_soon(_stop_when_gone, request.receive, asked)
            try:
                answered = await asyncio.wrap_future(asked.answer)
            except AsterismError as error:
                group.cancel_scope.cancel()
                return problem_response(_problem(error, self._state.toolbox.told))
            group.cancel_scope.cancel()
        problem = _failed(answered, self._state.toolbox.told)
        if problem is not None:
            return problem_response(problem)
        return Response(encoded(answer_json(answered)), media_type=_JSON)

    async def _told(self, asked: TurnHandle, events: _Events) -> AsyncIterator[bytes]:
        """The events of a turn, as they are sent."""
        begun = asked.begun.result()
        turn = begun.recorded.turn
        start = {"conversationId": turn.conversation_id, "turnId": turn.id}
        yield event("start", encoded({**start, "number": begun.recorded.number}))
        async for piece in events.pieces(self._state.threads.ending.is_set):
            yield piece
        try:
            answered = await asyncio.wrap_future(asked.answer)
        except AsterismError as error:
            yield event("error", encoded(problem_json(_problem(error, self._state.toolbox.told))))
            return
        problem = _failed(answered, self._state.toolbox.told)
        if problem is None:
            yield event("done", encoded(answer_json(answered)))
        else:
            yield event("error", encoded({**problem_json(problem), **start}))


def _counted(begin: Callable[[], TurnHandle]) -> TurnHandle:
    with counted_work():
        return begin()


class _Events:
    """The events of a turn, carried from its thread into the event loop of the server."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._queue: asyncio.Queue[TurnEvent | None] = asyncio.Queue()
        self._asked: TurnHandle | None = None

    def hear(self, event_: TurnEvent) -> None:
        """Called by the turn, in its own thread."""
        self._loop.call_soon_threadsafe(self._queue.put_nowait, event_)

    def follow(self, asked: TurnHandle) -> None:
        """Hear of the end as well."""
        self._asked = asked

        def over(_future: object) -> None:
            self._loop.call_soon_threadsafe(self._queue.put_nowait, None)

        asked.answer.add_done_callback(over)

    async def pieces(self, is_ending: Callable[[], bool]) -> AsyncIterator[bytes]:
        """Events as they are sent, and a sign of life now and then."""
        silent = 0.0
        while True:
            try:
                async with asyncio.timeout(LOOK_SECONDS):
                    found = await self._queue.get()
            except TimeoutError:
                silent += LOOK_SECONDS
                if is_ending() and self._asked is not None:
                    self._asked.stop()
                if silent >= ALIVE_SECONDS:
                    silent = 0.0
                    yield ALIVE
                continue
            if found is None:
                return
            silent = 0.0
            shown = told(found)
            if shown is not None:
                name, data = shown
                yield event(name, encoded(data))


class _Stream(EventResponse):
    """A response that streams the events of a turn; a client that leaves stops it."""

    def __init__(self, asked: TurnHandle, pieces: AsyncIterator[bytes]) -> None:
        super().__init__()
        self._asked = asked
        self._pieces = pieces

    async def send_events(self, receive: Receive, tell: Tell) -> None:
        """Send events until the turn is over."""
        import anyio

        async with anyio.create_task_group() as group:
            group.start_soon(_stop_when_gone, receive, self._asked)
            async for piece in self._pieces:
                await tell(piece)
            group.cancel_scope.cancel()


async def _stop_when_gone(receive: Receive, asked: TurnHandle) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    asked.stop()


def _problem(error: AsterismError, told: Callable[[str], str]) -> HttpProblem:
    return _WORDING.problem_of(failure(told(sentence_of(error)), code_of(error).name))


def _failed(answered: Answered, told: Callable[[str], str]) -> HttpProblem | None:
    """A turn that ended without an answer."""
    error = answered.turn.error
    if answered.turn.status is not TurnStatus.failed or error is None:
        return None
    return HttpProblem(error.code, _WORDING.told(told(error.message)))

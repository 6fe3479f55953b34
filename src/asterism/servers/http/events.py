"""Server-sent events: progress of a job, then its result."""

from collections.abc import Awaitable, Callable
from typing import TypeAlias

import anyio
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from asterism.engine.chat.requests import Json as EventsJson
from asterism.engine.chat.requests import call_json, citations_json, result_json
from asterism.indexing.report import Progress
from asterism.operations.schema import Json
from asterism.servers.http.replies import encoded
from asterism.types.chat import (
    ApprovalWanted,
    CitationsFound,
    ContextReady,
    Discarded,
    Noted,
    Token,
    ToolEnded,
    ToolStarted,
    TurnDone,
    TurnEvent,
    TurnFailed,
)
from asterism.types.sessions import request_json


def told(event: TurnEvent) -> tuple[str, EventsJson] | None:
    """The name and data of an event; None for the last, which is sent with checked citations."""
    match event:
        case ContextReady(context):
            return "context", request_json(context)
        case Token(text):
            return "token", {"text": text}
        case Discarded(text):
            return "discarded", {"text": text}
        case ToolStarted(call):
            return "tool_start", call_json(call)
        case ToolEnded(_, result):
            return "tool_end", result_json(result)
        case ApprovalWanted(calls):
            return "approval", {"calls": [call_json(call) for call in calls]}
        case CitationsFound(citations):
            return "citations", {"citations": citations_json(citations)}
        case Noted(text):
            return "note", {"text": text}
        case TurnDone() | TurnFailed():
            return None


CONTENT_TYPE = "text/event-stream"
TELL_SECONDS = 0.1
"""How often a client hears of progress; more often could not be read."""
ALIVE_SECONDS = 15.0
"""A line now and then keeps proxies from taking a silent stream for a dead one."""
ALIVE = b": still at it\n\n"

Tell: TypeAlias = Callable[[bytes], Awaitable[None]]
"""Sends a piece of a stream."""


class Latest:
    """The latest progress of a job: written by its thread, sent by the event loop."""

    def __init__(self) -> None:
        self._progress: Progress | None = None

    def hear(self, progress: Progress) -> None:
        """Called by the thread that works."""
        self._progress = progress

    def news(self) -> Json | None:
        """The progress since the last call; None if there is nothing new."""
        progress, self._progress = self._progress, None
        return progress and {
            "stage": progress.stage.value,
            "files_done": progress.files_done,
            "files_total": progress.files_total,
            "detail": progress.detail or None,
        }


class StreamedWork:
    """Work that ends with an event: its name and its data."""

    def __init__(self, work: Callable[[Latest], Awaitable[tuple[str, bytes]]]) -> None:
        self._work = work
        self.latest = Latest()
        self.outcome: tuple[str, bytes] | None = None
        self.over = anyio.Event()

    async def run(self) -> None:
        """Do it."""
        try:
            self.outcome = await self._work(self.latest)
        finally:
            self.over.set()


class EventResponse(Response):
    """A response of events, each sent at once."""

    media_type = CONTENT_TYPE

    def __init__(self) -> None:
        super().__init__(headers={"cache-control": "no-store", "x-accel-buffering": "no"})
        del self.headers["content-length"]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send events until there are no more."""
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})

        async def tell(data: bytes) -> None:
            await send({"type": "http.response.body", "body": data, "more_body": True})

        await self.send_events(receive, tell)
        await send({"type": "http.response.body", "body": b""})

    async def send_events(self, receive: Receive, tell: Tell) -> None:
        """Tell each event."""
        raise NotImplementedError


class ProgressResponse(EventResponse):
    """A response that streams the progress of a job."""

    def __init__(self, work: Callable[[Latest], Awaitable[tuple[str, bytes]]]) -> None:
        super().__init__()
        self._work = work

    async def send_events(self, receive: Receive, tell: Tell) -> None:
        """Send progress until the job is over; the client may leave at any time."""
        job = StreamedWork(self._work)
        async with anyio.create_task_group() as group:
            group.start_soon(job.run)
            await _tell(job, tell)
        if job.outcome is not None:
            await tell(event(*job.outcome))


async def _tell(job: StreamedWork, tell: Tell) -> None:
    silent = 0.0
    while not job.over.is_set():
        with anyio.move_on_after(TELL_SECONDS):
            await job.over.wait()
        news = job.latest.news()
        silent = 0.0 if news else silent + TELL_SECONDS
        if news:
            await tell(event("progress", encoded(news)))
        elif silent >= ALIVE_SECONDS:
            silent = 0.0
            await tell(ALIVE)


def event(name: str, data: bytes) -> bytes:
    """One event; JSON has no line ends."""
    return b"event: " + name.encode() + b"\ndata: " + data + b"\n\n"

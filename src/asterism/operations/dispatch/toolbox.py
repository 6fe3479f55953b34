"""Runs the operations of one server: checks, turns, deadlines, limits of replies, the log."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import replace
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from asterism.disclosure.places import visible
from asterism.engine.engine import Engine
from asterism.engine.upgrade import Upgrader
from asterism.indexing.report import SyncReport
from asterism.operations.arguments import checked
from asterism.operations.calls import Call, Caller, Standpoint
from asterism.operations.dispatch.hidden_paths import Hiding
from asterism.operations.dispatch.jobs import Jobs
from asterism.operations.dispatch.project_turns import ProjectTurns
from asterism.operations.dispatch.watchers import Watchers
from asterism.operations.error_codes import INTERNAL, INTERNAL_SENTENCE, code_of, sentence_of
from asterism.operations.limits import (
    MOST_CHARS,
    CallReply,
    TextPart,
    account_of,
    fitted,
    limit_for,
    measured,
    with_size,
)
from asterism.operations.operation import Operation
from asterism.operations.registry import OPERATIONS, tools_of
from asterism.store.lance.process import stay_small
from asterism.store.registry import Registered
from asterism.telemetry.events import log_failure
from asterism.telemetry.operations import MeasuredCall, ReplySize, record_reply
from asterism.types.deadlines import limited_to, work_begun
from asterism.types.errors import AsterismError, Cancelled, IndexMissing

if TYPE_CHECKING:
    # It brings models and databases, which wait for the first question in words.
    from asterism.engine.chat.requests import Hear, TurnHandle
    from asterism.engine.chat.service import Asking

QUERY_SECONDS = 30.0
"""How long a query may take: some hundred times what an ordinary one takes."""


class Toolbox:
    """The operations of one server; any number of threads may call them."""

    def __init__(
        self,
        engine: Engine,
        here: Standpoint | None = None,
        hidden: tuple[str, ...] = (),
        query_seconds: float = QUERY_SECONDS,
        operations: Sequence[Operation] = OPERATIONS,
    ) -> None:
        """`hidden` are directories of the server itself.

        Where there are any, no reply names them, nor any other path that is in no repository.
        """
        # Now, before there are threads and Lance: each thread would keep an arena of its own. After
        # 450 edits beside searches 78 MB lay free in eight of them, and 15 in one.
        stay_small()
        self._hiding = Hiding(hidden, self._roots)
        self._query_seconds = query_seconds
        self._engine = engine
        self._here = here or Standpoint()
        self._jobs = Jobs(engine)
        self._watchers = Watchers(engine)
        self._upgrader = Upgrader(engine)
        self._lock = Lock()
        self._projects: dict[Path, ProjectTurns] = {}
        self._asking: Asking | None = None
        self.operations = operations
        self.tools = tools_of(operations)

    def call(
        self, name: str, arguments: Mapping[str, object] | None, caller: Caller | None = None
    ) -> CallReply:
        """Answer one call of a tool that exists; a failure is an answer too."""
        return self.run(self.tools[name], arguments, caller)

    def run(
        self,
        operation: Operation,
        arguments: Mapping[str, object] | None,
        caller: Caller | None = None,
    ) -> CallReply:
        """Answer one call of an operation: checked, limited, measured and logged."""
        name = operation.name
        with MeasuredCall(name, dict(arguments or {})) as done:
            try:
                reply = self._answer(operation, arguments, caller or Caller())
            except AsterismError as error:
                reply = failure(sentence_of(error), code_of(error).name)
            except Exception as error:  # noqa: BLE001 - the outer edge: no caller sees a traceback
                log_failure(name, error)
                reply = failure(f"{INTERNAL_SENTENCE} [{INTERNAL.name}]", INTERNAL.name)
            reply = self._hiding.reply(reply, arguments)
            if reply.error is not None:
                done.outcome = reply.error
            done.note(**_counts(reply))
        return reply

    def told(self, sentence: str) -> str:
        """A sentence that is not part of a reply, with hidden paths replaced."""
        return self._hiding.text(sentence)

    def begin(
        self, operation: Operation, arguments: Mapping[str, object] | None, hear: Hear
    ) -> TurnHandle:
        """Begin a turn of a chat, whose events are heard; an error is raised."""
        call = self._call(operation, arguments, Caller())
        if operation.begin is None:
            raise TypeError(f"{operation.name} begins no turn.")
        return operation.begin(call, operation.request(**call.arguments), hear)

    def seconds_of(self, operation: Operation) -> float | None:
        """How long an operation may take; None for no limit."""
        return self._query_seconds if operation.has_deadline else None

    def index(self, registered: Registered, force: bool, caller: Caller) -> SyncReport:
        """Index, and return when it is done; it stops if the caller leaves."""
        return self._jobs.run(registered, force, caller)

    def start_indexing(self, registered: Registered, force: bool) -> None:
        """Index in the background."""
        self._jobs.start(registered, force)

    def stop_indexing(self, registered: Registered) -> bool:
        """Ask an indexing to end, in this process or another; False if none runs."""
        return self._jobs.stop(registered)

    def forget(self, registered: Registered) -> None:
        """Stop what works on a repository that is to be removed."""
        self._watchers.forget(registered)
        self._upgrader.forget(registered)
        # Without an index there is no job.
        with suppress(IndexMissing):
            self._jobs.stop(registered)

    def asking(self) -> Asking:
        """The chat service; its searches take turns with those of the tools."""
        from asterism.engine.chat.service import Asking

        with self._lock:
            if self._asking is None:
                self._asking = Asking(self._engine, self._project_lock)
            return self._asking

    def halt(self) -> None:
        """Ask whatever takes long to stop, because the server is about to end."""
        self._jobs.halt()
        self._upgrader.halt()

    def close(self) -> None:
        """Stop what runs, and end helper processes."""
        if self._asking is not None:
            self._asking.close()
        self._upgrader.halt()
        self._watchers.close()
        self._jobs.close()
        self._upgrader.close()
        self._engine.close()

    def _roots(self) -> list[str]:
        try:
            return [one.repository.root for one in self._engine.registry.repositories()]
        except AsterismError:
            # A list that cannot be read names nothing.
            return []

    def _call(
        self, operation: Operation, arguments: Mapping[str, object] | None, caller: Caller
    ) -> Call:
        given = checked(operation, arguments)
        limit = limit_for(given.get("max_tokens"), caller.client)
        return Call(
            engine=self._engine,
            here=self._here,
            host=self,
            arguments=given,
            limit=MOST_CHARS if operation.limits_texts else limit,
            caller=caller,
        )

    def _answer(
        self, operation: Operation, arguments: Mapping[str, object] | None, caller: Caller
    ) -> CallReply:
        call = self._call(operation, arguments, caller)
        with self._deadline(operation, caller), self._turn(operation, call), work_begun():
            # The client may have left while the call waited for its turn.
            if caller.gone():
                raise Cancelled("The request was cancelled.")
            reply = operation.answer(call)
        if operation.needs_index:
            registered = call.repository()
            self._watchers.attend(registered)
            self._upgrader.attend(registered)
        # What a model reads shows what an editor would hide; the structured reply has it verbatim.
        parts = tuple(part._replace(text=visible(part.text)) for part in reply.parts)
        reply = with_size(fitted(replace(reply, parts=parts), call.limit))
        _record(operation.name, reply, call.limit)
        return reply

    def _deadline(self, operation: Operation, caller: Caller) -> AbstractContextManager[object]:
        """A query ends in time, and when its client leaves; its waiting counts."""
        seconds = self.seconds_of(operation)
        if seconds is None:
            return nullcontext()
        arrived = time.monotonic() if caller.arrived is None else caller.arrived
        return limited_to(seconds, caller.gone, arrived=arrived)

    def _turn(self, operation: Operation, call: Call) -> AbstractContextManager[object]:
        """One search at a time for each project; indexing and status run beside it."""
        return self._project_lock(call.repository()) if operation.needs_index else nullcontext()

    def _project_lock(self, registered: Registered) -> ProjectTurns:
        with self._lock:
            return self._projects.setdefault(registered.project.directory, ProjectTurns())


def failure(sentence: str, code: str) -> CallReply:
    """The answer to a call that failed."""
    return CallReply(parts=(TextPart(sentence),), meta={"asterism": {"code": code}}, error=code)


def truncation_warning(name: str, reply: CallReply) -> str | None:
    """The warning for a client whose reply was shortened; None if it is complete."""
    account = account_of(reply)
    if not account.get("truncated"):
        return None
    info = account["truncation_info"]
    return (
        f"{name}: the reply was shortened ({info['reason']}): {info['returned_count']} of "
        f"{info['original_count']} results are in it, in {info['estimated_chars']:,} of "
        f"{info['limit_chars']:,} characters."
    )


def _record(name: str, reply: CallReply, limit: int) -> None:
    account = account_of(reply)
    info = account.get("truncation_info") or {}
    size = measured(reply)
    record_reply(
        ReplySize(
            surface=name,
            utilisation=min(1.0, size / limit),
            reason=info.get("reason"),
            chars=size,
            limit_chars=limit,
            original_count=info.get("original_count", 0),
            returned_count=info.get("returned_count", 0),
            dropped=account.get("dropped") or {},
        )
    )


def _counts(reply: CallReply) -> dict[str, object]:
    account = account_of(reply)
    names = ("mode", "total_count", "returned_count", "truncated")
    return {name: account[name] for name in names if name in account}

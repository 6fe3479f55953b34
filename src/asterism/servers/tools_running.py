"""All tools over one engine: checks a call, runs it, keeps the reply inside its limits."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

from asterism.disclosure.places import visible
from asterism.engine.engine import Engine
from asterism.engine.upgrade import Upgrader
from asterism.operations.arguments import checked
from asterism.operations.calls import Call, Caller
from asterism.operations.limits import (
    MOST_CHARS,
    Part,
    Reply,
    account_of,
    fitted,
    limit_for,
    measured,
    with_size,
)
from asterism.operations.operation import Operation
from asterism.operations.registry import OPERATIONS
from asterism.operations.repositories import Standpoint
from asterism.operations.schema import Tool
from asterism.servers.access_hiding import Hiding
from asterism.servers.tools import tools_of
from asterism.servers.tools_answers_described import ANSWERING
from asterism.servers.tools_errors import INTERNAL, INTERNAL_SENTENCE, code_of, sentence_of
from asterism.servers.tools_jobs import Jobs
from asterism.servers.tools_turns import Turns
from asterism.servers.tools_watching import Watchers
from asterism.store.lance.process import stay_small
from asterism.store.registry import Registered
from asterism.telemetry.events import log_failure
from asterism.telemetry.operations import ReplySize, ToolCall, record_reply
from asterism.types.deadlines import limited_to, work_begun
from asterism.types.errors import AsterismError, Cancelled, IndexMissing

if TYPE_CHECKING:
    # It brings models and databases, which wait for the first question in words.
    from asterism.engine.chat.service import Asking

ANSWERS = frozenset(tool.name for tool in ANSWERING)
"""Tools that answer in words; an answer may take minutes, and holds nobody up."""
ASKING = frozenset({"index_debug"})
"""Other tools that read what the engine keeps between questions of a project."""


QUERY_SECONDS = 30.0
"""How long a query may take: some hundred times what an ordinary one takes."""


class Work(NamedTuple):
    """Something that can be asked of a server: how it is called, and what answers."""

    tool: Tool
    run: Callable[[Call], Reply]
    asks: bool = True
    """It reads what the engine keeps between questions of a project."""


def work_of(operation: Operation) -> Work:
    """The work of an operation that is declared."""
    return Work(operation.tool, operation.answer, operation.asks)


class Toolbox:
    """The tools of one server; any number of threads may call them."""

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
        self._projects: dict[Path, Turns] = {}
        self._asking: Asking | None = None
        self.operations = operations
        self.tools = tools_of(operations)
        self._declared = {one.name: work_of(one) for one in operations if one.is_tool}

    def call(
        self, name: str, arguments: Mapping[str, object] | None, caller: Caller | None = None
    ) -> Reply:
        """Answer one call of a tool that exists; a failure is an answer too."""
        return self.run(self.work(name), arguments, caller)

    def work(self, name: str) -> Work:
        """What a call of a tool that exists does."""
        declared = self._declared.get(name)
        if declared is not None:
            return declared
        return Work(self.tools[name], partial(self._do, name), name in ASKING)

    def run(
        self, work: Work, arguments: Mapping[str, object] | None, caller: Caller | None = None
    ) -> Reply:
        """The same for what is no tool: checked, limited, measured and logged like one."""
        name = work.tool.name
        with ToolCall(name, dict(arguments or {})) as done:
            try:
                reply = self._answer(work, arguments, caller or Caller())
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
        """What this server may say to its clients, of a sentence that is no reply of a tool."""
        return self._hiding.text(sentence)

    def seconds_of(self, tool: Tool) -> float | None:
        """How long a query may take; what writes is not ended half-way, and answers take long."""
        is_limited = tool.read_only and tool.name not in ANSWERS
        return self._query_seconds if is_limited else None

    def forget(self, registered: Registered) -> None:
        """Stop what works on a repository that is to be removed."""
        self._watchers.forget(registered)
        self._upgrader.forget(registered)
        # Where there is no index, nobody indexes.
        with suppress(IndexMissing):
            self._jobs.stop(registered)

    def standing(self) -> tuple[Engine, Standpoint]:
        """What tells which repository a request means."""
        return self._engine, self._here

    def asking(self) -> Asking:
        """What answers in words; its searches take turns with the tools'."""
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

    def _answer(self, work: Work, arguments: Mapping[str, object] | None, caller: Caller) -> Reply:
        name = work.tool.name
        given = checked(work.tool, arguments)
        # The budget of codebase_search is of its texts, and their assembly keeps to it.
        of_texts = name == "codebase_search"
        limit = MOST_CHARS if of_texts else limit_for(given.get("max_tokens"), caller.client)
        call = Call(
            engine=self._engine, here=self._here, arguments=given, limit=limit, caller=caller
        )
        with self._deadline(work, caller), self._turn(work, call), work_begun():
            # Whoever left while waiting for a turn needs no answer.
            if caller.gone():
                raise Cancelled("The request was cancelled.")
            reply = work.run(call)
        if work.asks:
            self._watchers.attend(call.repository())
            self._upgrader.attend(call.repository())
        # What a model reads shows what an editor would hide; the structured reply has it verbatim.
        parts = tuple(part._replace(text=visible(part.text)) for part in reply.parts)
        reply = with_size(fitted(replace(reply, parts=parts), limit))
        _record(name, reply, limit)
        return reply

    def _deadline(self, work: Work, caller: Caller) -> AbstractContextManager[object]:
        """A query ends in time, and when its client leaves; its waiting counts."""
        seconds = self.seconds_of(work.tool)
        if seconds is None:
            return nullcontext()
        arrived = time.monotonic() if caller.arrived is None else caller.arrived
        return limited_to(seconds, caller.gone, arrived=arrived)

    def _turn(self, work: Work, call: Call) -> AbstractContextManager[object]:
        """One question at a time for a project; indexing and looking at states go beside."""
        return self._project_lock(call.repository()) if work.asks else nullcontext()

    def _project_lock(self, registered: Registered) -> Turns:
        with self._lock:
            return self._projects.setdefault(registered.project.directory, Turns())

    def _do(self, name: str, call: Call) -> Reply:
        return self._tool(name)(call)

    def _tool(self, name: str) -> Callable[[Call], Reply]:
        if name in ANSWERS:
            from asterism.servers.tools_answers import TOOLS_THAT_ANSWER

            return partial(TOOLS_THAT_ANSWER[name], asking=self.asking())
        # They bring what searching needs, and wait for the first call.
        from asterism.servers import tools_items, tools_keeping

        jobs = self._jobs
        tools: Mapping[str, Callable[[Call], Reply]] = {
            "index_codebase": lambda call: tools_keeping.index_codebase(call, jobs),
            "index_status": tools_keeping.index_status,
            "watch_status": tools_keeping.watch_status,
            "cancel_indexing": lambda call: tools_keeping.cancel_indexing(call, jobs),
            "index_debug": tools_keeping.index_debug,
            "list_repositories": tools_keeping.list_repositories,
            "search_items": tools_items.search_items,
            "list_items": tools_items.list_items,
            "edit_item": tools_items.edit_item,
        }
        return tools[name]


def failure(sentence: str, code: str) -> Reply:
    """The answer to a call that failed."""
    return Reply(parts=(Part(sentence),), meta={"asterism": {"code": code}}, error=code)


def truncation_warning(name: str, reply: Reply) -> str | None:
    """What a client is told when a limit took something away."""
    account = account_of(reply)
    if not account.get("truncated"):
        return None
    info = account["truncation_info"]
    return (
        f"{name}: the reply was shortened ({info['reason']}): {info['returned_count']} of "
        f"{info['original_count']} results are in it, in {info['estimated_chars']:,} of "
        f"{info['limit_chars']:,} characters."
    )


def _record(name: str, reply: Reply, limit: int) -> None:
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


def _counts(reply: Reply) -> dict[str, object]:
    account = account_of(reply)
    names = ("mode", "total_count", "returned_count", "truncated")
    return {name: account[name] for name in names if name in account}

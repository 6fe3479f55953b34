"""A question, an answer, and everything in between kept: models, context, tools and records."""

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import wait
from contextlib import suppress
from dataclasses import replace
from functools import partial
from threading import Lock
from typing import Any, NamedTuple

from asterism.chat.ports import INTERNAL, TurnOptions, error_of
from asterism.chat.prompts import history_of
from asterism.chat.run import RunningTurn, resume, start
from asterism.chat.turn import Parts
from asterism.config.options import turn_options
from asterism.engine.chat.agents import AgentParts, AskedAgents, options_for
from asterism.engine.chat.background import BackgroundLoop, ChatThreads, Keeping, recorded_event
from asterism.engine.chat.requests import Answered, AskRequest, GoOnRequest, Hear, TurnHandle
from asterism.engine.chat.sources import BestHits, CodeSource, Guard, checked
from asterism.engine.engine import Engine
from asterism.models.llm.options import LlmOptions
from asterism.models.llm.protocol import LanguageModel
from asterism.models.llm.provider import Lent, make_model
from asterism.records.turns import Begun, Busy, NewTurn, Turns
from asterism.store.registry import Registered
from asterism.types.chat import RESUMABLE, Turn, TurnDone, TurnError, TurnEvent, TurnStatus
from asterism.types.context import Agent
from asterism.types.errors import AsterismError, Cancelled, TurnRunning
from asterism.types.request_limits import check_text

END_SECONDS = 5.0
"""How long a turn that is stopped may take to end."""
MOST_MODELS = 8
"""Models whose connections are kept."""
FIRST_LOOK, LAST_LOOK = 0.02, 0.5
"""Seconds between two looks whether a turn before has ended: short at first, then longer."""


def _nobody(_event: TurnEvent) -> None:
    """Ignores events."""


class _Order(NamedTuple):
    """What is to be done for a caller."""

    registered: Registered
    asked: TurnHandle
    hear: Hear
    lent: Lent | None


class Asking:
    """Answers questions about a user's repositories; any number of threads may ask."""

    def __init__(self, engine: Engine, guard: Guard | None = None) -> None:
        """`guard` is held while the index of a project is asked."""
        self._engine = engine
        self._locks: dict[str, Lock] = {}
        self._guard = guard or self._lock_of
        self._loop = BackgroundLoop("asterism-ask")
        self._threads = ChatThreads()
        self._models: dict[LlmOptions, LanguageModel] = {}
        self._open: set[TurnHandle] = set()
        self._running: dict[str, TurnHandle] = {}
        """By the ids of their turns; those that wait for their turn have none yet."""
        self._agents = AskedAgents(engine)

    def ask(
        self,
        registered: Registered,
        request: AskRequest,
        hear: Hear = _nobody,
        lent: Lent | None = None,
    ) -> TurnHandle:
        """Start a turn; `hear` is called with each event, in the service's thread."""
        check_text("question", request.question)
        order = _Order(registered, TurnHandle(), hear, lent)
        return self._submit(order, self._ask(order, request))

    def go_on(
        self,
        registered: Registered,
        request: GoOnRequest,
        hear: Hear = _nobody,
        lent: Lent | None = None,
    ) -> TurnHandle:
        """Go on with a turn that waits for approval, or was interrupted."""
        order = _Order(registered, TurnHandle(), hear, lent)
        return self._submit(order, self._go_on(order, request))

    def stop(self, turn: str) -> bool:
        """Stop a turn, whichever process answers it; False if none does."""
        asked = self._running.get(turn)
        if asked is not None:
            asked.stop()
            return True
        return self._engine.records().turns().stop(turn)

    @property
    def open_turns(self) -> int:
        """How many questions are open, those that wait included."""
        return len(self._open)

    def agents(self, registered: Registered | None = None) -> tuple[Agent, ...]:
        """The agents that can be asked, about a repository or about none."""
        return self._agents.list(registered)

    def check_agent(self, name: str, registered: Registered | None = None) -> None:
        """Complain of an agent that does not exist."""
        self._agents.check(name, registered)

    def close(self) -> None:
        """Stop running turns and close models and servers; the caller closes the engine."""
        open_now = [*self._open]
        for asked in open_now:
            asked.stop()
        # How each ended is kept under its turn.
        wait([asked.answer for asked in open_now], END_SECONDS)
        with suppress(TimeoutError):
            self._loop.submit(self._let_go()).result(END_SECONDS)
        self._loop.close()
        self._threads.close()

    def _submit(self, order: _Order, work: Coroutine[Any, Any, Answered]) -> TurnHandle:
        asked = order.asked
        asked.answer = self._loop.submit(self._told(order, work))
        self._open.add(asked)
        asked.answer.add_done_callback(lambda _future: self._open.discard(asked))
        return asked

    async def _told(self, order: _Order, work: Coroutine[Any, Any, Answered]) -> Answered:
        """Runs the work; if it fails before the turn begins, the caller gets the error."""
        order.asked.attach(asyncio.get_running_loop())
        try:
            return await work
        except BaseException as error:
            if not order.asked.begun.done():
                order.asked.begun.set_exception(error)
            raise

    async def _ask(self, order: _Order, request: AskRequest) -> Answered:
        settings = self._engine.settings_of(order.registered)
        # What is wrong with the request shows before anything is kept of it.
        model = self._model(options_for(settings, request.model, request.provider), order.lent)
        records = self._engine.records()
        turns = await self._threads.keep(records.turns)
        agent = request.agent
        if request.conversation and not agent:
            known = await self._threads.keep(records.conversations().get, request.conversation)
            agent = known.agent
        if agent:
            await self._threads.search(self._agents.check, agent, order.registered)
        wanted = NewTurn(
            request.question,
            request.conversation,
            request.request_id,
            order.registered.repository.name,
            agent,
        )
        begun = await self._taken(order, lambda: turns.begin(wanted), request.wait_seconds)
        conduct = turn_options(settings)
        if request.retries is not None:
            conduct = replace(conduct, retries=request.retries)
        return await self._answer(order, turns, begun, _How(model, conduct))

    async def _go_on(self, order: _Order, request: GoOnRequest) -> Answered:
        settings = self._engine.settings_of(order.registered)
        turns = await self._threads.keep(self._engine.records().turns)
        before = (await self._threads.keep(turns.get, request.turn)).turn
        # The model that began the answer continues it, unless the request names another.
        is_named = request.model or request.provider
        named = (
            (request.model, request.provider) if is_named else (before.model_id, before.provider)
        )
        model = self._model(options_for(settings, *named), order.lent)
        take_up = partial(turns.take_up, request.turn)
        begun = await self._taken(order, take_up, request.wait_seconds)
        how = _How(model, turn_options(settings), request.approvals)
        return await self._answer(order, turns, begun, how)

    async def _taken(
        self, order: _Order, take: Callable[[], Begun | Busy], seconds: float
    ) -> Begun:
        """The turn, as soon as the one before it has ended."""
        loop = asyncio.get_running_loop()
        deadline, pause = loop.time() + seconds, FIRST_LOOK
        while True:
            found = await self._threads.keep(take)
            if isinstance(found, Begun):
                order.asked.begun.set_result(found)
                return found
            if loop.time() >= deadline:
                which = "This request" if found.is_same else "The question before this one"
                raise TurnRunning(
                    f"{which} is still being answered, as turn {found.turn}; ask again later, or "
                    "stop it."
                )
            if await order.asked.stopped_within(pause):
                raise Cancelled("The question was taken back before its turn came.")
            pause = min(LAST_LOOK, pause * 2)

    async def _answer(self, order: _Order, turns: Turns, begun: Begun, how: "_How") -> Answered:
        if not begun.is_ours:
            order.hear(TurnDone(begun.recorded.turn))
            return await self._answered(order, begun, begun.recorded.turn, is_repeat=True)
        keeping = Keeping(turns, self._threads)
        turn = begun.recorded.turn
        self._running[turn.id] = order.asked
        try:
            async with keeping.attended(turn.id, order.asked.stop_requested):
                ground = CodeSource(self._engine, order.registered, self._guard, self._threads)
                agent = await self._agents.parts(begun.conversation, turn, ground, how.conduct)
                running = await self._started(ground, keeping, begun, (agent, how))
                turn = await self._followed(order, keeping, running)
                await agent.ended(turn)
        except AsterismError as error:
            await self._fail(keeping, turn, error_of(error))
            raise
        except Exception:
            # A programming error: the turn is marked as failed at once, not after its timeout.
            await self._fail(keeping, turn, INTERNAL)
            raise
        finally:
            del self._running[turn.id]
        return await self._answered(order, begun, turn)

    async def _fail(self, keeping: Keeping, turn: Turn, error: TurnError) -> None:
        """Keep that a turn failed before it could begin."""
        with suppress(AsterismError):
            await keeping.save(replace(turn, status=TurnStatus.failed, error=error))

    async def _started(
        self, ground: CodeSource, keeping: Keeping, begun: Begun, who: "tuple[AgentParts, _How]"
    ) -> RunningTurn:
        """The running turn with its model, context and tools."""
        agent, how = who
        turns = self._engine.records().turns()
        before = await self._threads.keep(turns.of, begun.conversation.id)
        number, turn = begun.recorded.number, begun.recorded.turn
        history = history_of(one.turn for one in before if one.number < number)
        search = BestHits(ground)
        parts = Parts(how.model, agent.contexts, agent.tools, search, keeping, history)
        if begun.was in RESUMABLE:
            waiting = replace(turn, status=begun.was)
            return resume(waiting, parts, agent.options, how.approvals)
        return start(turn, parts, agent.options)

    async def _followed(self, order: _Order, keeping: Keeping, running: RunningTurn) -> Turn:
        """Forward every event, record the important ones, and stop the turn on request."""
        stopping = asyncio.create_task(_stop_when(order.asked.stop_requested, running))
        try:
            async for event in running:
                order.hear(event)
                noted = recorded_event(event)
                if noted is not None:
                    await keeping.note(running.turn.id, *noted)
        finally:
            stopping.cancel()
        return await running.wait()

    async def _answered(
        self, order: _Order, begun: Begun, turn: Turn, is_repeat: bool = False
    ) -> Answered:
        roots = CodeSource(self._engine, order.registered, self._guard, self._threads).roots
        found = await self._threads.search(lambda: checked(turn.citations, roots()))
        number = begun.recorded.number
        return Answered(begun.conversation, turn, number, tuple(found), is_repeat)

    def _model(self, options: LlmOptions, lent: Lent | None) -> LanguageModel | None:
        """The model; its connections are kept for the next question, unless it is a client's.

        A request may name any model, so the least recently used ones are dropped.
        """
        if options.provider == "sampling":
            return make_model(options, lent)
        if options not in self._models:
            model = make_model(options)
            if model is None:
                return None
            while len(self._models) >= MOST_MODELS:
                # Turns that use it keep it; then it is freed with its connections.
                del self._models[next(iter(self._models))]
            self._models[options] = model
        self._models[options] = self._models.pop(options)
        return self._models[options]

    async def _let_go(self) -> None:
        for model in self._models.values():
            await model.close()
        self._models.clear()

    def _lock_of(self, registered: Registered) -> Lock:
        return self._locks.setdefault(registered.project.id, Lock())


class _How(NamedTuple):
    """Who answers, and how."""

    model: LanguageModel | None
    conduct: TurnOptions
    approvals: Mapping[str, bool] = {}


async def _stop_when(requested: asyncio.Event, running: RunningTurn) -> None:
    await requested.wait()
    running.stop()

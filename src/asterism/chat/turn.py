"""One turn: context, model, tools and again, until there is an answer."""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import aclosing
from dataclasses import replace
from typing import Any, NamedTuple

from asterism.chat import extractive
from asterism.chat.extractive import cited
from asterism.chat.ports import (
    CodeSearch,
    Contexts,
    PreparedRequest,
    Recorder,
    Tools,
    TurnOptions,
    error_of,
)
from asterism.chat.prompts import (
    LAST_ROUND,
    assembled,
    budget_of,
    fitted,
    mark_of,
    output_of,
    size_of,
)
from asterism.chat.retrieval_loop import Grounded, Judging, ground
from asterism.chat.tool_calls import CallTerms, is_looping, offered, run_call, sort_calls
from asterism.disclosure.places import MaskedPlace, MaskedTokens, places_in
from asterism.models.llm.protocol import LanguageModel, ModelRequest
from asterism.telemetry.notices import counting_masked
from asterism.types.chat import (
    RESUMABLE,
    ApprovalWanted,
    CitationsFound,
    ContextReady,
    Discarded,
    Ending,
    Message,
    ModelReply,
    Noted,
    Role,
    Round,
    Token,
    ToolCall,
    ToolEnded,
    ToolResult,
    ToolSpec,
    ToolStarted,
    Turn,
    TurnDone,
    TurnEvent,
    TurnFailed,
    TurnStatus,
)
from asterism.types.errors import AsterismError, ReplyCut, TextTooLong


def masked_places(results: Iterable[ToolResult]) -> Iterator[MaskedPlace]:
    """The places of tokens in the rows of results.

    Of a row that was shortened the lines are not known, so the place is its first line.
    """
    for result in results:
        rows = (result.data or {}).get("results")
        for row in rows if isinstance(rows, list) else ():
            if isinstance(row, dict):
                yield from _in_row(row)


def _in_row(row: dict[str, object]) -> Iterator[MaskedPlace]:
    path, text = row.get("relPath"), row.get("chunk")
    first, last = row.get("startLine"), row.get("endLine")
    if not (isinstance(path, str) and isinstance(text, str) and isinstance(first, int)):
        return
    places = places_in(path, first, text)
    if places and last != first + text.count("\n"):
        yield MaskedPlace(path, first)
    else:
        yield from places


SHRINKS = 3
"""How often a request that is too long is halved: an eighth of a large window fits a small one."""


class Parts(NamedTuple):
    """Who does what in a turn."""

    model: LanguageModel | None
    """None answers from the hits alone."""
    contexts: Contexts
    tools: Tools
    search: CodeSearch | None
    recorder: Recorder
    history: tuple[Message, ...] = ()
    """The conversation so far."""


class Conduct:
    """Carries one turn to its end; `turn` is always what is known so far."""

    def __init__(
        self, turn: Turn, parts: Parts, options: TurnOptions, emit: Callable[[TurnEvent], None]
    ) -> None:
        """Nothing happens yet."""
        self.turn = turn
        self._parts = parts
        self._options = options
        self._emit = emit
        self._mark = mark_of(turn.id)
        self._said: list[str] = []
        """What the model has said in this round."""
        self._unsaved = False
        self._masked = MaskedTokens()

    async def run(self, approvals: Mapping[str, bool]) -> None:
        """Answer, or continue the turn; `approvals` says which calls the user approved."""
        try:
            await self._answer(approvals)
        except AsterismError as error:
            self._set(answer=self._so_far, error=error_of(error))
            await self.end(TurnStatus.failed)

    async def end(self, status: TurnStatus) -> None:
        """Keep the turn as it stands now, and say that it is over."""
        if status in (TurnStatus.stopped, TurnStatus.interrupted):
            self._set(answer=self._so_far or self.turn.answer)
        results = [result for one in self.turn.rounds for result in one.results]
        sources = (*self.turn.grounding, *results)
        if self._masked.counts and status not in RESUMABLE:
            self._masked.add({}, masked_places(sources))
            self._note(*self._masked.note("the model", self._options.masking_report))
        self._set(status=status, citations=cited(sources))
        if self.turn.citations:
            self._emit(CitationsFound(self.turn.citations))
        await self._save()
        if status is TurnStatus.failed and self.turn.error is not None:
            self._emit(TurnFailed(self.turn, self.turn.error))
        else:
            self._emit(TurnDone(self.turn))

    @property
    def _so_far(self) -> str:
        return "".join(self._said)

    async def _answer(self, approvals: Mapping[str, bool]) -> None:
        self._set(status=TurnStatus.running)
        await self._save()
        prepared = await self._prepared()
        model = self._parts.model
        if model is None:
            await self._extract()
            return
        self._set(provider=model.provider, model_id=model.model_id)
        if not (self.turn.rounds or self.turn.grounding):
            await self._ground(prepared, model)
        if self.turn.pending and not await self._carry_out(prepared, approvals):
            return
        while True:
            is_last = self._is_last()
            reply = await self._ask(prepared, model, may_call=not is_last)
            if is_last or not reply.calls:
                await self._finish(reply)
                return
            if reply.text:
                self._emit(Discarded(reply.text))
            self._said.clear()
            self._set(rounds=(*self.turn.rounds, Round(reply.text, reply.calls)))
            await self._save()
            if not await self._carry_out(prepared, {}):
                return
            results = self.turn.rounds[-1].results
            prepared = self._given(await self._parts.contexts.widen(prepared, results))

    async def _prepared(self) -> PreparedRequest:
        """A fresh context, or for a turn that goes on the one it had."""
        turn, contexts = self.turn, self._parts.contexts
        if turn.rounds or turn.context is not None:
            return self._given(await contexts.rebuild(turn.context))
        return self._given(await contexts.build(turn.question))

    def _given(self, prepared: PreparedRequest) -> PreparedRequest:
        if prepared.context is not None and prepared.context != self.turn.context:
            self._set(context=prepared.context)
            self._emit(ContextReady(prepared.context))
        self._note(*prepared.notes)
        return prepared

    async def _ground(self, prepared: PreparedRequest, model: LanguageModel) -> None:
        """Search before the model is asked, where it cannot itself or is to judge the hits."""
        self._set(grounding=prepared.grounding)
        search = self._parts.search
        can_look = model.calls_tools and offered(prepared.tools)
        if search is None or (can_look and not self._options.retries):
            return
        judging = Judging(model, self._options.retries, self._mark)
        self._take(await ground(self.turn.question, search, judging))

    async def _extract(self) -> None:
        """Answer from the hits alone."""
        name = extractive.NAME
        self._set(provider=name, model_id=name)
        found = Grounded((), ())
        if self._parts.search is not None:
            found = await ground(self.turn.question, self._parts.search, Judging(None))
            self._take(found)
        is_faint = any(extractive.is_faint(result.data) for result in found.results)
        answer = extractive.compose(found.hits, is_faint=is_faint)
        self._emit(Token(answer))
        await self._finish(ModelReply(answer, model_id=name))

    def _take(self, found: Grounded) -> None:
        self._set(
            grounding=(*self.turn.grounding, *found.results),
            searches=(*self.turn.searches, *found.searches),
            usage=self.turn.usage.plus(found.usage),
        )
        self._masked.at_least(found.masked)
        self._note(*found.notes)

    def _is_last(self) -> bool:
        """Whether the model has to answer now, and the reader is told why."""
        rounds, most = self.turn.rounds, self._options.max_turns
        if rounds and is_looping(rounds, self._options):
            self._note("The model kept asking for the same; it was made to answer.")
            return True
        if len(rounds) + 1 >= most:
            if rounds:
                self._note(f"The model was asked {most} times, the most that is allowed.")
            return True
        return False

    async def _ask(
        self, prepared: PreparedRequest, model: LanguageModel, may_call: bool
    ) -> ModelReply:
        """One reply; one that breaks off is asked for anew, a request too long is made shorter."""
        request = assembled(self.turn, prepared, self._parts.history, self._mark)
        if not may_call and self.turn.rounds:
            request = request._replace(steps=(*request.steps, Message(Role.user, LAST_ROUND)))
        tools = offered(prepared.tools) if model.calls_tools else ()
        budget = budget_of(model, self._options, tools)
        broken, shrunk = 0, 0
        while True:
            trimmed = fitted(request, budget)
            self._note(*trimmed.notes)
            try:
                if not trimmed.fits and budget:
                    raise TextTooLong(
                        "The question and its context are longer than the model can read; ask a "
                        "shorter one, or set model.window if the model can read more."
                    )
                return await self._stream(
                    model,
                    ModelRequest(
                        messages=trimmed.request.messages,
                        tools=tools,
                        may_call=may_call,
                        max_output_tokens=output_of(model, self._options),
                        temperature=self._options.temperature,
                        top_p=self._options.top_p,
                    ),
                )
            except ReplyCut:
                broken += 1
                if broken > self._options.broken_replies:
                    raise
                self._emit(Discarded(self._so_far))
            except TextTooLong:
                shrunk += 1
                if shrunk > SHRINKS or not trimmed.fits:
                    raise
                budget = size_of(trimmed.request) // 2
            self._said.clear()

    async def _stream(self, model: LanguageModel, request: ModelRequest) -> ModelReply:
        self._said.clear()
        reply = ModelReply("")
        with counting_masked() as masked:
            try:
                async with aclosing(model.reply(request)) as pieces:
                    async for piece in pieces:
                        if isinstance(piece, ModelReply):
                            reply = piece
                        else:
                            self._said.append(piece)
                            self._emit(Token(piece))
                            # A model that is faster than its reader lets it read, and can be
                            # stopped.
                            await asyncio.sleep(0)
            finally:
                # A token that is sent in every round is counted once.
                self._masked.at_least(masked)
        self._set(
            usage=self.turn.usage.plus(reply.usage), model_id=reply.model_id or model.model_id
        )
        return reply

    async def _carry_out(self, prepared: PreparedRequest, approvals: Mapping[str, bool]) -> bool:
        """Run the calls that wait for a result; False if the turn has to wait for approval."""
        terms = CallTerms(offered(prepared.tools), self._options, approvals)
        calls = sort_calls(self.turn.pending, self.turn.rounds[:-1], terms)
        for result in calls.answered:
            call = next(one for one in self.turn.pending if one.id == result.call_id)
            self._emit(ToolStarted(call))
            self._ended(call, result)
        async with asyncio.TaskGroup() as group:
            for call, tool, arguments in calls.run:
                if not tool.effects:
                    group.create_task(self._call(call, tool, arguments))
        # What changes something runs alone, and is known to have run before the next begins.
        for call, tool, arguments in calls.run:
            if tool.effects:
                await self._call(call, tool, arguments)
                await self._save()
        if calls.wait:
            self._emit(ApprovalWanted(calls.wait))
            await self.end(TurnStatus.awaiting_approval)
            return False
        await self._save()
        return True

    async def _call(self, call: ToolCall, tool: ToolSpec, arguments: Mapping[str, object]) -> None:
        self._emit(ToolStarted(call))
        result = await run_call(call, tool, arguments, (self._parts.tools, self._options))
        self._ended(call, result)

    def _ended(self, call: ToolCall, result: ToolResult) -> None:
        last = self.turn.rounds[-1]
        place = {one.id: number for number, one in enumerate(last.calls)}
        results = sorted((*last.results, result), key=lambda one: place.get(one.call_id, 0))
        self._set(rounds=(*self.turn.rounds[:-1], last._replace(results=tuple(results))))
        if result.left_out:
            self._note(f"{result.left_out:,} characters of what {call.name} said were left out.")
        self._emit(ToolEnded(call, result))

    async def _finish(self, reply: ModelReply) -> None:
        self._set(answer=reply.text)
        if reply.ending is Ending.length:
            self._note("The answer reached the limit for its length and is not complete.")
        elif reply.ending is Ending.refusal:
            self._note("The model declined to answer.")
        elif not reply.text.strip():
            self._note("The model gave no text as its answer.")
        await self.end(TurnStatus.done)

    async def _save(self) -> None:
        """Keep the turn; where that fails the answer still comes, and the reader is told."""
        try:
            await self._parts.recorder.save(self.turn)
        except AsterismError as error:
            if not self._unsaved:
                self._unsaved = True
                self._note(f"This turn is not saved: {error}")

    def _note(self, *notes: str) -> None:
        for note in notes:
            if note not in self.turn.notes:
                self._set(notes=(*self.turn.notes, note))
                self._emit(Noted(note))

    def _set(self, **changes: Any) -> None:
        self.turn = replace(self.turn, **changes)

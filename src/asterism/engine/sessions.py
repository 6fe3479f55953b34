"""Sessions of agents, and the context of each request: rules, references, tools and code."""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from asterism.context.budget import CodeForm, CodeHit, KeptCode, fit_budget
from asterism.context.replay import ReplayedRequest, replay
from asterism.context.sessions import (
    ItemUsage,
    Missing,
    add,
    advice,
    cited,
    items_of,
    mentioned,
    missing,
    new_session,
    remove,
    usage_of,
    with_settings,
)
from asterism.engine.agents import Agents, ListedAgent, contents_of
from asterism.engine.engine import Engine
from asterism.engine.search import SearchRequest
from asterism.search.selection.sizes import source_text
from asterism.search.selection.worth import WorthRequest, chosen
from asterism.store.registry import Registered
from asterism.types.chat import Message
from asterism.types.context import Agent, Item, ItemKey, RequestContext, Tool, ToolKey
from asterism.types.errors import AsterismError, IndexMissing, PathMissing, UsageError
from asterism.types.files import display_path
from asterism.types.search import Detail
from asterism.types.sessions import (
    ItemUse,
    Session,
    SessionSummary,
    StoredRequest,
    request_from_json,
    request_json,
)

if TYPE_CHECKING:
    from asterism.context.request import Built
    from asterism.records.sessions import SessionStore


CHARS_PER_TOKEN = 4
"""What an item costs is noted without a tokenizer: it is compared with other items' alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionRequest:
    """A request of a session: what it is given, and what became of the session by it."""

    session: Session | None
    ready: ListedAgent
    built: Built
    added: tuple[ItemKey, ...] = ()
    """What the message mentioned, which the session holds from now on."""
    notes: tuple[str, ...] = ()
    """What did not go as it should, in sentences."""


class Sessions:
    """The sessions of one user, seen from one repository or from none."""

    def __init__(
        self,
        agents: Agents,
        registered: Registered | None = None,
        clock: Callable[[], float] = time.time,
        connect: bool = True,
    ) -> None:
        """Without `connect` no server is started, and tools are as if there were none."""
        self._agents = agents
        self._registered = registered
        self._clock = clock
        self._connect = connect

    def new(self, agent: str, title: str = "") -> Session:
        """A session with what the agent always includes."""
        ready = self.ready(agent)
        session = new_session(ready.agent, ready.tools, secrets.token_hex(6), self._clock())
        return self._saved(replace(session, title=title))

    def get(self, id_: str) -> Session:
        """A session by its id or the beginning of it."""
        return self._store().get(id_)

    def list(self, agent: str | None = None) -> tuple[SessionSummary, ...]:
        """The sessions, the one used last first."""
        return self._store().sessions(agent)

    def add(self, id_: str, names: Sequence[str]) -> Session:
        """Add items by hand."""
        session = self.get(id_)
        items = self._items(session)
        for name in names:
            session = add(session, items, name)
        return self._saved(session)

    def remove(self, id_: str, names: Sequence[str]) -> Session:
        """Remove items by hand, whatever mode they came by."""
        session = self.get(id_)
        for name in names:
            session = remove(session, name)
        return self._saved(session)

    def set(self, id_: str, changes: Mapping[str, object]) -> Session:
        """Override settings; None takes one back."""
        return self._saved(with_settings(self.get(id_), changes))

    def delete(self, id_: str) -> str:
        """Forget a session, and what items said that no request names any more; its whole id."""
        store = self._store()
        whole = store.delete(id_)
        named: set[str] = set()
        for written in store.contexts():
            context = request_from_json(json.loads(written))
            named |= {context.prompt_hash, *(entry.content_hash for entry in context.items)}
        self._agents.kept.forget_all_but(named)
        return whole

    def missing(self, session: Session, ready: ListedAgent) -> tuple[Missing, ...]:
        """What a session holds that its agent has no more, renamed items among it."""
        return missing(session, items_of(ready.agent, ready.tools), ready.absent)

    def ready(self, agent: str) -> ListedAgent:
        """An agent with its tools."""
        loaded = self._agents.places(self._registered).load(agent)
        return self._agents.ready(loaded, connect=self._connect)

    def request(self, message: str, session: str = "", agent: str = "") -> SessionRequest:
        """The context of a request in a session, or in one that is begun for it and not kept.

        What the message mentions is added to the session first.
        """
        held = self.get(session) if session else None
        ready = self.ready(agent if held is None else held.agent)
        begun = held or new_session(ready.agent, ready.tools, "", self._clock())
        found = mentioned(begun, items_of(ready.agent, ready.tools), message)
        now = found.session if held is None or not found.added else self._saved(found.session)
        gone = tuple(entry.sentence for entry in self.missing(now, ready))
        return SessionRequest(
            session=None if held is None else now,
            ready=ready,
            built=self._agents.build(ready, message, now, self._registered),
            added=found.added,
            notes=(*found.notes, *gone),
        )

    def keep(self, request: SessionRequest, context: RequestContext, message: str) -> str:
        """Keep what a request was given, by name, and what its items say; gives its id."""
        id_ = secrets.token_hex(8)
        now = self._clock()
        session = request.session.id if request.session is not None else ""
        contents = contents_of(request.ready)
        written = json.dumps(request_json(context), ensure_ascii=False)
        stored = StoredRequest(id_, session, context.agent, message, written, now)
        uses = [
            ItemUse(
                request=id_,
                session=session,
                agent=context.agent,
                key=entry.key,
                mode=entry.mode,
                score=entry.score,
                tokens=_tokens(contents.items[entry.key]),
                at=now,
            )
            for entry in context.items
            if entry.key in contents.items
        ]
        self._store().add_request(stored, uses)
        self._agents.kept.keep(context, contents)
        return id_

    def note_answer(self, request: str, answer: str, called: Mapping[ItemKey, int]) -> None:
        """Note which items of a request its answer speaks of, and which tools were called."""
        store = self._store()
        context = request_from_json(json.loads(store.request(request).context))
        then = [self._agents.kept.item(entry.content_hash) for entry in context.items]
        spoken_of = set(cited(answer, [item for item in then if item is not None]))
        for key in spoken_of | called.keys():
            store.mark(request, key, cited=key in spoken_of, calls=called.get(key, 0))

    def requests(self, session: str) -> tuple[StoredRequest, ...]:
        """The requests of a session, the last one first."""
        return self._store().requests(session)

    def replay(self, request: str, history: Sequence[Message] = ()) -> ReplayedRequest:
        """The messages that a request had, and what has changed since.

        Tools of servers that are not asked, or do not answer, are as they were. An agent that is
        gone or broken has nothing any more, so that all is as it was.
        """
        stored = self._store().request(request)
        context = request_from_json(json.loads(stored.context))
        ready, note = self._found(stored.agent)
        now = contents_of(ready)
        unasked = {
            item.key: item
            for entry in context.items
            if isinstance(entry.key, ToolKey)
            and (not self._connect or entry.key.server in ready.absent)
            and (item := self._agents.kept.item(entry.content_hash)) is not None
        }
        now = replace(now, items={**now.items, **unasked})
        again = replay(context, now, self._agents.kept, history, stored.message)
        return replace(again, note=note)

    def usage(self, agent: str) -> tuple[tuple[ItemUsage, ...], tuple[str, ...]]:
        """What came of each item of an agent, and advice."""
        uses = [*self.uses(agent)]
        found = usage_of(uses)
        ready = self._found(agent)[0] if uses else self.ready(agent)
        requests = len({use.request for use in uses})
        items = items_of(ready.agent, ready.tools)
        return found, tuple(advice(found, items, requests))

    def uses(self, agent: str | None = None) -> Iterator[ItemUse]:
        """Every use that was recorded, the oldest first."""
        return self._store().uses(agent)

    def _found(self, agent: str) -> tuple[ListedAgent, str]:
        """An agent, switched on or off; one that cannot be used has nothing, and it is said why."""
        try:
            file = self._agents.places(self._registered).look(agent).file
        except PathMissing as error:
            return ListedAgent(Agent(name=agent)), str(error)
        if file.agent is None:
            return ListedAgent(Agent(name=agent)), f"{file.name} has problems: {file.problems[0]}"
        return self._agents.ready(file.agent, connect=self._connect), ""

    def _store(self) -> SessionStore:
        return self._agents.records().sessions()

    def _items(self, session: Session) -> Mapping[ItemKey, Item]:
        ready = self.ready(session.agent)
        return items_of(ready.agent, ready.tools)

    def _saved(self, session: Session) -> Session:
        session = replace(session, updated=self._clock())
        self._store().save(session)
        return session


def _tokens(item: Item) -> int:
    if isinstance(item, Tool):
        text = f"{item.name}{item.description}{json.dumps(item.schema, default=str)}"
    else:
        text = f"{item.name}{item.description}{item.text}"
    return -(-len(text) // CHARS_PER_TOKEN)


DEFAULT_AGENT = "reader"
"""The one that comes with us."""

TOKENS = 8_000
"""Of all items and code together, as for code alone."""
LEAST_TOKENS = 50

TOKEN_METHOD = f"characters / {CHARS_PER_TOKEN}"

_FORMS = (Detail.full, Detail.collapsed, Detail.signature, Detail.location)


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextRequest:
    """What is asked for, and within which limits."""

    message: str
    agent: str = DEFAULT_AGENT
    session: str = ""
    """The session to go on with; its agent is the session's."""
    max_tokens: int = TOKENS
    code_hits: int = 10
    """Hits of the code search at most; 0 leaves code out."""
    min_score: float | None = None
    """Of code that is given; nothing means what is worth its tokens, as in a reply with code."""
    connect: bool = True
    """Whether the agent's servers are asked for their tools."""
    keep: bool = True
    """Whether the request is recorded, to be shown and replayed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextFor:
    """What a request is given."""

    request_id: str
    """Empty if it was not recorded."""
    session: Session | None
    context: RequestContext
    """Items by name, and everything that was left out, with reasons."""
    items: Mapping[ItemKey, Item]
    """The items by their keys."""
    code: tuple[KeptCode, ...]
    used_tokens: int
    budget: int
    added: tuple[ItemKey, ...] = ()
    """What the message mentioned."""
    notes: tuple[str, ...] = ()


def context_for(
    engine: Engine, registered: Registered | None, request: ContextRequest
) -> ContextFor:
    """Choose items and code for a message, and fit both into one budget."""
    if not request.message.strip():
        raise UsageError("The message is empty; say what the request is about.")
    if request.max_tokens < LEAST_TOKENS:
        raise UsageError(f"The token budget is {request.max_tokens}; give {LEAST_TOKENS} or more.")
    sessions = Sessions(engine.agents(), registered, connect=request.connect)
    asked = sessions.request(request.message, request.session, request.agent)
    notes = [*engine.agents().places(registered).notes(), *asked.notes]
    code = _code(engine, registered, request, notes)
    built = asked.built
    fitted = fit_budget(built, code, request.max_tokens, _message_tokens)
    context = replace(fitted.context, notes=(*notes, *fitted.context.notes))
    kept = sessions.keep(asked, context, request.message) if request.keep else ""
    return ContextFor(
        request_id=kept,
        session=asked.session,
        context=context,
        items=built.items,
        code=fitted.code,
        used_tokens=fitted.used_tokens,
        budget=fitted.budget,
        added=asked.added,
        notes=context.notes,
    )


def _code(
    engine: Engine, registered: Registered | None, request: ContextRequest, notes: list[str]
) -> list[CodeHit]:
    """The likely hits for the message; a search that fails adds a note."""
    if request.code_hits <= 0:
        return []
    from asterism.engine.context_reply import pooled

    if registered is None:
        notes.append("No code is given: no index is around; make one with `asterism index`.")
        return []
    search = SearchRequest(text=request.message, limit=request.code_hits)
    try:
        reply = engine.search(registered, pooled(search))
    except IndexMissing as error:
        notes.append(f"No code is given: {error}")
        return []
    except AsterismError as error:
        notes.append(f"No code is given, because the search failed: {error}")
        return []
    found = [kept.hit for kept in reply.selection.kept]
    results: Sequence[int] = range(min(request.code_hits, len(found)))
    if not reply.total.exact:
        question = reply.search.question
        wanted = WorthRequest(question, request.code_hits, request.min_score, None)
        results = chosen(found, wanted).results
    if found and not results:
        gate = request.min_score
        least = "are not likely enough" if gate is None else f"score less than {gate:g}"
        notes.append(
            f"No code is given: {len(found):,} candidates {least}; ask with a lower minimum score "
            "to see them."
        )
    hits = []
    for at in results:
        hit = found[at]
        place = (
            f"{display_path(hit.chunk.relative_path)}:{hit.chunk.start_line}-{hit.chunk.end_line}"
        )
        texts = {detail: source_text(hit, detail) for detail in _FORMS}
        forms = [CodeForm(str(detail), text) for detail, text in texts.items()]
        hits.append(CodeHit(place=place, score=hit.score, forms=tuple(forms)))
    return hits


def _message_tokens(text: str) -> int:
    return -(-len(text) // CHARS_PER_TOKEN)

"""Everything that a request should know: rules, references, tools and code, in one budget."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from asterism.context.budget import CodeForm, CodeHit, KeptCode, fit_budget
from asterism.engine.engine import Engine
from asterism.engine.search import SearchRequest
from asterism.engine.sessions import CHARS_PER_TOKEN, Sessions
from asterism.search.selection.options import CONTEXT
from asterism.search.selection.sizes import source_text
from asterism.store.registry import Registered
from asterism.types.context import Item, ItemKey, RequestContext
from asterism.types.errors import AsterismError, IndexMissing, UsageError
from asterism.types.files import display_path
from asterism.types.search import Detail
from asterism.types.sessions import Session

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
    """Of code that is given; nothing means what is more likely right than not."""
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
    """What the names stand for."""
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
    fitted = fit_budget(built, code, request.max_tokens, _tokens)
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
    """The likely hits for the message; what stands in the way of searching is a note."""
    if request.code_hits <= 0:
        return []
    if registered is None:
        notes.append("No code is given: no index is around; make one with `asterism index`.")
        return []
    gate = (CONTEXT.gate or 0.0) if request.min_score is None else request.min_score
    search = SearchRequest(text=request.message, limit=request.code_hits, min_score=gate)
    try:
        reply = engine.search(registered, search)
    except IndexMissing as error:
        notes.append(f"No code is given: {error}")
        return []
    except AsterismError as error:
        notes.append(f"No code is given, because the search failed: {error}")
        return []
    below = reply.selection.account.dropped.below_gate
    if not reply.selection.kept and below:
        notes.append(
            f"No code is given: {below:,} candidates score less than {gate:g}; ask with a lower "
            "minimum score to see them."
        )
    hits = []
    for kept in reply.selection.kept:
        if kept.within is not None:
            # Its code stands in the text of another hit.
            continue
        chunk = kept.hit.chunk
        place = f"{display_path(chunk.relative_path)}:{chunk.start_line}-{chunk.end_line}"
        texts = {detail: source_text(kept.hit, detail) for detail in _FORMS}
        forms = [CodeForm(str(detail), text) for detail, text in texts.items()]
        hits.append(CodeHit(place=place, score=kept.hit.score, forms=tuple(forms)))
    return hits


def _tokens(text: str) -> int:
    return -(-len(text) // CHARS_PER_TOKEN)

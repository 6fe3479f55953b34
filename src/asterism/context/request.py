"""The context of one request: what the session holds, what is chosen for it, what goes with that.

It is built anew for each request, holds everything the session holds, and is recorded by name.
"""

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType

from asterism.context.choice import ALL_PARTS, Choice, ChoosingOptions, choose, compare, domain_of
from asterism.context.items import ToolSettings, offered_items
from asterism.context.relations import (
    RelatedItem,
    RelationBasis,
    expand,
    expand_result,
    relation_graph,
)
from asterism.context.vectors import ItemIndex
from asterism.context.words import Scale
from asterism.types.agent_settings import AgentSettings, Domain, Layer, settings_of
from asterism.types.context import (
    Agent,
    Include,
    Item,
    ItemKey,
    LeftOut,
    LeftOutReason,
    RequestContext,
    RequestItem,
    RequestMode,
    SessionItem,
    Tool,
    ToolKey,
    content_hash,
    text_hash,
)
from asterism.types.errors import AsterismError

_QUOTED = 60
"""Characters of a sentence in the words that say why an item was chosen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextInput:
    """Everything that a request's context depends on."""

    agent: Agent
    message: str
    session: tuple[SessionItem, ...] = ()
    inherited: Layer | None = None
    """The agent's settings as the session took them over; None takes what the file says now."""
    overrides: Layer = field(default_factory=lambda: MappingProxyType({}))
    """What the session sets itself."""
    tools: tuple[Tool, ...] = ()
    """What the agent's servers list."""
    absent: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """Servers that are not there, and why."""

    @property
    def settings(self) -> AgentSettings:
        """What holds for this request."""
        base = self.agent.settings if self.inherited is None else self.inherited
        return settings_of(base, self.overrides)


@dataclass(frozen=True, slots=True, kw_only=True)
class Chooser:
    """What chooses by meaning: an index of items, and where relations are kept."""

    index: ItemIndex
    relations: Path | None = None
    options: ChoosingOptions = ALL_PARTS
    instead: "Callable[[], Chooser] | None" = None
    """What chooses if this cannot, because its model is missing."""
    notes: tuple[str, ...] = ()
    """What a request says for which this had to choose."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Built:
    """A request's context, the items it names, and what spoke for those that were chosen."""

    context: RequestContext
    items: Mapping[ItemKey, Item]
    """Every item that is offered, by key."""
    choices: Mapping[ItemKey, Choice]


@dataclass(slots=True)
class _Draft:
    """What has been gathered so far."""

    items: dict[ItemKey, RequestItem] = field(default_factory=dict)
    left_out: list[LeftOut] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    choices: dict[ItemKey, Choice] = field(default_factory=dict)
    considered: int = 0

    def add(self, item: Item, mode: RequestMode, score: float | None = None, why: str = "") -> None:
        """Take an item in, unless it is there."""
        given = RequestItem(
            key=item.key, mode=mode, content_hash=content_hash(item), score=score, why=why
        )
        self.items.setdefault(item.key, given)


def build_request(asked: ContextInput, chooser: Chooser | None) -> Built:
    """The context of a request; without a chooser nothing is chosen by meaning.

    If choosing fails, the request goes on with what the session holds, and says so.
    """
    offered = offered_items(asked.agent, asked.tools)
    draft = _Draft(notes=[f"{name} is not there: {why}" for name, why in asked.absent.items()])
    _add_session(draft, asked, offered)
    candidates = _candidates(draft, asked, offered)
    draft.considered = len(candidates)
    if chooser is not None and candidates:
        _choose(draft, asked, candidates, chooser)
    _add_by_rules(draft, asked, offered, [key for key in draft.items if isinstance(key, ToolKey)])
    return Built(context=_context(draft, asked, offered), items=offered, choices=draft.choices)


def _choose(draft: _Draft, asked: ContextInput, candidates: list[Item], chooser: Chooser) -> None:
    draft.notes += chooser.notes
    try:
        _add_chosen(draft, asked, candidates, chooser)
    except AsterismError as error:
        if chooser.instead is None:
            draft.notes.append(not_chosen(error))
        else:
            draft.notes.append(chosen_instead(error))
            _choose(draft, asked, candidates, chooser.instead())


def chosen_instead(error: AsterismError) -> str:
    """What a request says whose own model is missing."""
    return f"{error} The built-in model chose instead."


def not_chosen(error: AsterismError) -> str:
    """What a request says that goes on without what choosing would have brought."""
    return f"Nothing was chosen by meaning, because that failed: {error}"


def extend_by_result(
    context: RequestContext,
    asked: ContextInput,
    called: ToolKey,
    result: str,
    chooser: Chooser | None,
) -> RequestContext:
    """The context with what goes with a tool's result: by stated rules, and by meaning.

    What the request was given before stays as it is.
    """
    offered = offered_items(asked.agent, asked.tools)
    draft = _Draft({item.key: item for item in context.items}, considered=context.considered)
    stated = _stated(asked, called)
    if chooser is not None and stated is not False:
        candidates = _candidates(_Draft(draft.items), asked, offered)

        def related(index: ItemIndex) -> tuple[RelatedItem, ...]:
            wanted = stated is True
            return expand_result(
                result, called.name, candidates, asked.settings, index, wanted=wanted
            )

        try:
            _add_related(draft, _by_either(chooser, related))
        except AsterismError as error:
            draft.notes.append(f"The result of {called.qualified} brought nothing: {error}")
    _add_by_rules(draft, asked, offered, [called])
    built = _context(draft, asked, offered)
    kept = tuple(entry for entry in context.left_out if entry.key not in draft.items)
    return replace(
        built, prompt_hash=context.prompt_hash, left_out=kept, notes=context.notes + built.notes
    )


def _by_either(
    chooser: Chooser, related: Callable[[ItemIndex], tuple[RelatedItem, ...]]
) -> tuple[RelatedItem, ...]:
    """By the chooser's model, or by the fallback model, which its request reported."""
    try:
        return related(chooser.index)
    except AsterismError:
        if chooser.instead is None:
            raise
        return related(chooser.instead().index)


def _add_session(draft: _Draft, asked: ContextInput, offered: Mapping[ItemKey, Item]) -> None:
    standing = ToolSettings(asked.agent, asked.overrides)
    for held in asked.session:
        item = offered.get(held.key)
        if item is None:
            draft.left_out.append(_missing(held.key, asked))
        elif not standing.may_use(item):
            draft.left_out.append(LeftOut(held.key, LeftOutReason.not_allowed))
        else:
            draft.add(item, held.mode)


def _missing(key: ItemKey, asked: ContextInput) -> LeftOut:
    """Why an item that the session holds is not to be had."""
    agent = asked.agent
    if isinstance(key, ToolKey):
        server = agent.server(key.server)
        if server is not None and not server.enabled:
            return LeftOut(key, LeftOutReason.disabled)
        gone = (
            f"the agent has no server {key.server}" if server is None else "it lists no such tool"
        )
        return LeftOut(key, LeftOutReason.missing, detail=asked.absent.get(key.server, gone))
    if any(item.key == key for item in agent.texts):
        return LeftOut(key, LeftOutReason.disabled)
    return LeftOut(
        key, LeftOutReason.missing, detail="the agent's file has none of this name any more"
    )


def _candidates(draft: _Draft, asked: ContextInput, offered: Mapping[ItemKey, Item]) -> list[Item]:
    """What may be chosen; what the session may not call is left out before anything is compared."""
    standing = ToolSettings(asked.agent, asked.overrides)
    allowed: list[Item] = []
    for key, item in offered.items():
        if standing.include_of(item) is Include.agent and key not in draft.items:
            if standing.may_use(item):
                allowed.append(item)
            else:
                draft.left_out.append(LeftOut(key, LeftOutReason.not_allowed))
    return allowed


def _add_chosen(
    draft: _Draft, asked: ContextInput, candidates: list[Item], chooser: Chooser
) -> None:
    settings = asked.settings
    scores = compare(asked.message, candidates, chooser.index, chooser.options)
    left_out: list[LeftOut] = []
    for domain in Domain:
        chosen = choose(scores, domain, settings.of(domain), chooser.options)
        left_out += chosen.left_out
        for choice in chosen.choices:
            draft.choices[choice.item.key] = choice
            draft.add(choice.item, RequestMode.agent, choice.score, _fits(choice.sentence))
    wants_graph = any(settings.of(domain).graph_enabled for domain in Domain)
    if draft.choices and (wants_graph or _wants_pieces(settings)):
        index, scale = chooser.index, chooser.index.scale()
        ground = RelationBasis(
            prepared=scores.prepared,
            scale=scale,
            fit=scores.pooled,
            graph=relation_graph(scores.prepared, index.identity, scale, chooser.relations)
            if wants_graph
            else None,
        )
        _add_related(draft, expand(ground, _bringing(draft, settings, ground.scale), settings))
    draft.left_out += [entry for entry in left_out if entry.key not in draft.items]


def _bringing(draft: _Draft, settings: AgentSettings, scale: Scale) -> list[Item]:
    """The chosen items that are likely enough to bring others along."""
    return [
        choice.item
        for choice in draft.choices.values()
        if choice.score >= scale.brings * settings.of(domain_of(choice.item)).floor_factor
    ]


def _wants_pieces(settings: AgentSettings) -> bool:
    return any(settings.of(domain).expansion_enabled for domain in Domain)


def _add_related(draft: _Draft, related: Iterable[RelatedItem]) -> None:
    for entry in related:
        draft.add(entry.item, RequestMode.expansion, entry.score, f"goes with {entry.to}")


def _add_by_rules(
    draft: _Draft, asked: ContextInput, offered: Mapping[ItemKey, Item], start: list[ToolKey]
) -> None:
    """The tools that the agent's file says come along; circles end where they began."""
    standing = ToolSettings(asked.agent, asked.overrides)
    waiting = deque(start)
    followed = set(start)
    while waiting:
        tool = waiting.popleft()
        for target in asked.agent.tool_rules.get(tool, ()):
            item = offered.get(target)
            if target in followed or item is None or not standing.may_use(item):
                continue
            followed.add(target)
            waiting.append(target)
            draft.add(item, RequestMode.expansion, why=f"comes along with {tool.qualified}")


def _stated(asked: ContextInput, tool: ToolKey) -> bool | None:
    """Whether the results of a tool are to bring more; None where its agent leaves it open."""
    server = asked.agent.server(tool.server)
    stated = server.choice(tool.name).expand_results if server is not None else None
    enabled = any(asked.settings.of(domain).tool_results_enabled for domain in Domain)
    # Nothing is embedded where neither the tool nor a domain asks for it.
    return stated if stated is not None or enabled else False


def _context(draft: _Draft, asked: ContextInput, offered: Mapping[ItemKey, Item]) -> RequestContext:
    order = {key: place for place, key in enumerate(offered)}
    items = sorted(draft.items.values(), key=lambda item: order.get(item.key, len(order)))
    return RequestContext(
        agent=asked.agent.name,
        prompt_hash=text_hash(asked.agent.system_prompt),
        items=tuple(items),
        left_out=tuple(entry for entry in draft.left_out if entry.key not in draft.items),
        notes=tuple(draft.notes),
        considered=draft.considered,
    )


def _fits(sentence: str) -> str:
    shown = sentence if len(sentence) <= _QUOTED else f"{sentence[: _QUOTED - 1]}…"
    return f"fits “{shown}”"

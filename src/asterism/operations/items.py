"""The operations on rules, references and tools of agents: search_items, list_items, edit_item.

Their fields are named as those of stored turns are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated

from asterism.operations.calls import Call
from asterism.operations.chat_requests import KINDS, AgentName, EditItem, item_of
from asterism.operations.json import EntryCounts
from asterism.operations.limits import CallReply, plain_account, reply_of
from asterism.operations.operation import Operation, Route
from asterism.operations.schema import (
    Json,
    MaxTokens,
    ProjectId,
    RepositoryId,
    choices,
    switch,
    text,
)
from asterism.types.context import Agent, Include, Item, Reference, Rule
from asterism.types.errors import UsageError

_LEFT_OUT = 10
"""Items that were not chosen and are named all the same, the best first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchItems:
    """A task whose items are wanted."""

    query: Annotated[str, text("The task, in a sentence or more.")]
    agentName: AgentName
    type: Annotated[
        list[str] | None, choices("Only these; all three unless told otherwise.", KINDS)
    ] = None
    tools: Annotated[
        bool, switch("Ask the agent's servers for their tools, which may start programs.")
    ] = True
    repository_id: RepositoryId = None
    project_id: ProjectId = None
    max_tokens: MaxTokens = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ListItems:
    """The list of an agent's items."""

    agentName: AgentName
    type: Annotated[
        list[str] | None, choices("Only these; rules and references unless told otherwise.", KINDS)
    ] = None
    name: Annotated[str | None, text("Only the item of this name, with its text.")] = None
    repository_id: RepositoryId = None
    project_id: ProjectId = None
    max_tokens: MaxTokens = None


@dataclass(frozen=True, kw_only=True)
class _Items:
    agentName: str
    action: str = ""
    items: tuple[Json, ...]
    leftOut: tuple[Json, ...] | None = None
    notes: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class ItemsFound(EntryCounts, _Items):
    """Items of an agent; a search also gives the best of those that were not chosen."""


def search_items(call: Call, asked: SearchItems) -> CallReply:
    """What matters for a task, with texts and scores."""
    from asterism.engine.sessions import ContextRequest, context_for
    from asterism.operations.context_json import context_for_json

    wanted = asked.type or KINDS
    request = ContextRequest(
        message=asked.query,
        agent=asked.agentName,
        code_hits=0,
        connect=asked.tools and "tool" in wanted,
        keep=False,
    )
    found = context_for_json(context_for(call.engine, call.repository_if_any(), request))
    left_out = [entry for entry in found["leftOut"] if entry.get("type") in wanted]
    items = tuple(item for item in found["items"] if item["type"] in wanted)
    shown = _Items(
        agentName=found["agent"],
        items=items,
        leftOut=tuple(left_out[:_LEFT_OUT]),
        notes=tuple(found["notes"]),
    )
    return _reply(shown, call)


def list_items(call: Call, asked: ListItems) -> CallReply:
    """What an agent has."""
    from asterism.context.items import in_order, item_json

    agents = call.engine.agents()
    agent = agents.places(call.repository_if_any()).load(asked.agentName)
    wanted = asked.type or ("rule", "reference")
    ready = agents.ready(agent, connect="tool" in wanted)
    items: list[Item] = [*agent.rules, *agent.references, *ready.tools]
    items = [item for item in in_order(items) if str(item.key.kind) in wanted]
    if asked.name is not None:
        items = [item for item in items if item.name == asked.name]
        if not items:
            raise UsageError(
                f"The agent {agent.name} has no item {asked.name!r} of these kinds; call "
                "list_items without a name."
            )
    shown = item_json if asked.name is not None else _in_short
    found = _Items(
        agentName=agent.name, items=tuple(map(shown, items)), notes=tuple(ready.absent.values())
    )
    return _reply(found, call)


def edit_item(call: Call, asked: EditItem) -> CallReply:
    """Change one rule or reference in the agent's file."""
    from asterism.context.agents.edit import add_item, enable_item, remove_item, replace_item
    from asterism.context.items import item_json

    agent, kind, name = asked.agentName, asked.type, asked.name
    folder = call.engine.agents().places(call.repository_if_any()).changeable(agent)
    match asked.action:
        case "add":
            change = partial(add_item, item=item_of(asked))
        case "update":
            held = _of_kind(folder.load(agent), kind)
            before = next((item for item in held if item.name == name), None)
            if before is None:
                raise UsageError(f"The agent {agent} has no {kind} {name!r}; add it instead.")
            change = partial(replace_item, name=name, item=_changed(before, asked))
        case "remove":
            change = partial(remove_item, kind=kind, name=name)
        case _:
            change = partial(enable_item, kind=kind, name=name, enabled=asked.action == "enable")
    changed = folder.edit(agent, change)
    items = [item for item in _of_kind(changed, kind) if item.name == name]
    found = _Items(
        agentName=agent, action=asked.action, items=tuple(map(item_json, items)), notes=()
    )
    return _reply(found, call)


def _of_kind(agent: Agent, kind: str) -> tuple[Rule, ...] | tuple[Reference, ...]:
    return agent.rules if kind == "rule" else agent.references


def _changed(before: Rule | Reference, asked: EditItem) -> Rule | Reference:
    given: Json = {
        "text": asked.text,
        "description": asked.description,
        "priority": asked.priority,
        "include": None if asked.include is None else Include(asked.include),
    }
    changes = {name: value for name, value in given.items() if value is not None}
    if not changes:
        raise UsageError("update changes nothing; give text, description, priority or include.")
    return replace(before, **changes)


def _in_short(item: Item) -> Json:
    from asterism.context.items import item_json

    shown = item_json(item)
    for name in ("text", "schema"):
        shown.pop(name, None)
    return shown


def _reply(found: _Items, call: Call) -> CallReply:
    count = len(found.items)
    account = plain_account(count, count, call.limit)
    return reply_of(ItemsFound(**vars(found), **account), "items", _text)


def _text(found: Json) -> str:
    """The items as a model reads them."""
    blocks = [_block(item) for item in found["items"]]
    if not blocks:
        blocks = ["No item fits."] if "leftOut" in found else ["No items."]
    left_out = found.get("leftOut") or ()
    if left_out:
        names = ", ".join(f"{_name(entry)} ({entry['reason']})" for entry in left_out)
        blocks.append(f"Left out: {names}")
    return "\n\n".join([*blocks, *found["notes"]])


def _block(item: Json) -> str:
    mode = item.get("includeMode") or item.get("include") or ""
    score = f" {item['similarityScore']:.2f}" if "similarityScore" in item else ""
    badge = f" [{mode}{score}]" if mode else ""
    head = f"{_name(item)}{badge}"
    if item.get("description"):
        head += f": {item['description']}"
    return f"{head}\n{item['text'].strip()}" if item.get("text") else head


def _name(item: Json) -> str:
    named = f"{item['serverName']}.{item['name']}" if "serverName" in item else item["name"]
    return f"{item['type']} {named}"


OPERATIONS = (
    Operation(
        name="search_items",
        title="Find rules, references and tools",
        description="""\
Find the rules, references and tools of an agent that matter for a task, by meaning.

Use it for: what the user's team wants kept to before you do something ("commit", "add a column"), \
which of many tools fits.
Do not use it for: code (codebase_search), all items of an agent (list_items).

Gives each item with its text, how likely it is of use (0 to 1), and why it is there: always, \
manual, agent (chosen for this query) or expansion (goes with a chosen one); then the best of what \
was left out. Nothing is filled up: no items means that none fits.

Example: {"query": "write a migration that adds a column", "agentName": "reader"}""",
        request=SearchItems,
        reply=ItemsFound,
        run=search_items,
        is_tool=True,
        route=Route("POST", "/api/items/search"),
    ),
    Operation(
        name="list_items",
        title="List rules, references and tools",
        description="""\
List what an agent has: rules, references and, if wanted, the tools of its servers.

Use it for: seeing all items before you change one (edit_item), reading one whole (name).
Do not use it for: what matters for a task (search_items).

Example: {"agentName": "reader", "type": ["rule"]}""",
        request=ListItems,
        reply=ItemsFound,
        run=list_items,
        is_tool=True,
        route=Route("GET", "/api/items"),
    ),
    Operation(
        name="edit_item",
        title="Change a rule or reference",
        description="""\
Add, change, remove or switch a rule or reference of an agent of the user's. The agent's file \
keeps its comments and order.

Use it for: what the user asks to be remembered or forgotten ("from now on …").
Do not use it for: tools and servers, which the user changes; anything the user did not ask for.

Example: {"agentName": "mine", "action": "add", "type": "rule", "name": "Money", "text": "Amounts \
are whole cents.", "include": "agent"}""",
        request=EditItem,
        reply=ItemsFound,
        run=edit_item,
        read_only=False,
        destructive=True,
        is_tool=True,
        route=Route("POST", "/api/items"),
    ),
)

"""The tools for rules, references and tools of the user's agents: text and scores, no vectors."""

from dataclasses import replace
from functools import partial

from asterism.context.agents.edit import add_item, enable_item, remove_item, replace_item
from asterism.context.items import in_order, item_json
from asterism.engine.sessions import ContextRequest, context_for
from asterism.operations.calls import Call
from asterism.operations.limits import Part, Reply, fitted, plain_account
from asterism.operations.schema import Json
from asterism.servers.wire_requests import context_for_json
from asterism.store.registry import Registered
from asterism.types.context import DEFAULT_PRIORITY, Include, Item, Reference, Rule
from asterism.types.errors import IndexMissing, RepositoryUnclear, UsageError

_LISTS = {"rule": "rules", "reference": "references"}
_LEFT_OUT = 10
"""Items that were not chosen and are named all the same, the best first."""


def search_items(call: Call) -> Reply:
    """What matters for a task, with texts and scores."""
    wanted = call.arguments.get("type") or ("rule", "reference", "tool")
    request = ContextRequest(
        message=call.arguments["query"],
        agent=call.arguments["agentName"],
        code_hits=0,
        connect=call.arguments["tools"] and "tool" in wanted,
        keep=False,
    )
    found = context_for_json(context_for(call.engine, _around(call), request))
    left_out = [entry for entry in found["leftOut"] if entry.get("type") in wanted]
    structured = {
        "agentName": found["agent"],
        "items": [item for item in found["items"] if item["type"] in wanted],
        "leftOut": left_out[:_LEFT_OUT],
        "notes": found["notes"],
    }
    return _reply(structured, call)


def list_items(call: Call) -> Reply:
    """What an agent has."""
    arguments = call.arguments
    agents = call.engine.agents()
    agent = agents.places(_around(call)).load(arguments["agentName"])
    wanted = arguments.get("type") or ("rule", "reference")
    ready = agents.ready(agent, connect="tool" in wanted)
    items: list[Item] = [*agent.rules, *agent.references, *ready.tools]
    items = [item for item in in_order(items) if str(item.key.kind) in wanted]
    if "name" in arguments:
        items = [item for item in items if item.name == arguments["name"]]
        if not items:
            raise UsageError(
                f"The agent {agent.name} has no item {arguments['name']!r} of these kinds; call "
                "list_items without a name."
            )
    structured = {
        "agentName": agent.name,
        "items": [item_json(item) if "name" in arguments else _in_short(item) for item in items],
        "notes": [*ready.absent.values()],
    }
    return _reply(structured, call)


def edit_item(call: Call) -> Reply:
    """Change one rule or reference in the agent's file."""
    arguments = call.arguments
    agent, kind, name = arguments["agentName"], arguments["type"], arguments["name"]
    folder = call.engine.agents().places(_around(call)).changeable(agent)
    match arguments["action"]:
        case "add":
            change = partial(add_item, item=_new(arguments))
        case "update":
            held = getattr(folder.load(agent), _LISTS[kind])
            before = next((item for item in held if item.name == name), None)
            if before is None:
                raise UsageError(f"The agent {agent} has no {kind} {name!r}; add it instead.")
            change = partial(replace_item, name=name, item=_changed(before, arguments))
        case "remove":
            change = partial(remove_item, kind=kind, name=name)
        case _:
            is_on = arguments["action"] == "enable"
            change = partial(enable_item, kind=kind, name=name, enabled=is_on)
    changed = folder.edit(agent, change)
    items = [item for item in getattr(changed, _LISTS[kind]) if item.name == name]
    structured = {
        "agentName": agent,
        "action": arguments["action"],
        "items": [item_json(item) for item in items],
        "notes": [],
    }
    return _reply(structured, call)


def _around(call: Call) -> Registered | None:
    """The repository that is meant, if any: agents can be asked about without one."""
    try:
        return call.repository()
    except (RepositoryUnclear, IndexMissing):
        if "repository_id" in call.arguments or "project_id" in call.arguments:
            raise
        return None


def _new(arguments: Json) -> Rule | Reference:
    if not arguments.get("text", "").strip():
        raise UsageError("add needs a text; say what the item is to say.")
    kind = Rule if arguments["type"] == "rule" else Reference
    return kind(
        name=arguments["name"],
        text=arguments["text"],
        description=arguments.get("description", ""),
        priority=arguments.get("priority", DEFAULT_PRIORITY),
        include=Include(arguments.get("include", "always")),
    )


def _changed(before: Rule | Reference, arguments: Json) -> Rule | Reference:
    names = ("text", "description", "priority")
    changes = {name: arguments[name] for name in names if name in arguments}
    if "include" in arguments:
        changes["include"] = Include(arguments["include"])
    if not changes:
        raise UsageError("update changes nothing; give text, description, priority or include.")
    return replace(before, **changes)


def _in_short(item: Item) -> Json:
    shown = item_json(item)
    for name in ("text", "schema"):
        shown.pop(name, None)
    return shown


def _reply(structured: Json, call: Call) -> Reply:
    count = len(structured["items"])
    structured = {**structured, **plain_account(count, count, call.limit)}
    reply = Reply(
        parts=(Part(_text(structured)),), structured=structured, rows="items", render=_text
    )
    return fitted(reply, call.limit)


def _text(structured: Json) -> str:
    """The items as a model reads them."""
    blocks = [_block(item) for item in structured["items"]]
    if not blocks:
        blocks = ["No item fits."] if "leftOut" in structured else ["There is none."]
    left_out = structured.get("leftOut") or ()
    if left_out:
        names = ", ".join(f"{_name(entry)} ({entry['reason']})" for entry in left_out)
        blocks.append(f"Left out: {names}")
    return "\n\n".join([*blocks, *structured["notes"]])


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

"""What the HTTP API does with conversations, over the engine."""

from asterism.engine.chat.requests import (
    Json,
    conversation_json,
    event_json,
    export_json,
    export_markdown,
    match_json,
    turn_json,
)
from asterism.operations.calls import Call
from asterism.operations.limits import Part, Reply
from asterism.types.chat import Shelf

_NO_TEXT = (Part(""),)
_BRIEF = ("rounds", "found", "context", "searches")
"""What a brief conversation leaves out of its turns."""


def list_conversations(call: Call) -> Reply:
    """A page of conversations."""
    given = call.arguments
    page = (
        call.engine.records()
        .conversations()
        .page(
            Shelf(given.get("shelf", "open")),
            _about(call),
            given["limit"],
            given.get("cursor"),
        )
    )
    listed = [conversation_json(entry) for entry in page.conversations]
    return _told({"conversations": listed, "total": page.total, "cursor": page.cursor})


def _about(call: Call) -> str | None:
    """The name of the repository that conversations are about; an id is for one that is known."""
    if "repository_id" in call.arguments:
        return call.repository().repository.name
    name: str | None = call.arguments.get("repository")
    return name


def search_conversations(call: Call) -> Reply:
    """Turns in which something was said."""
    given = call.arguments
    page = (
        call.engine.records()
        .conversations()
        .search(
            given["query"],
            Shelf(given.get("shelf", "all")),
            _about(call),
            given["limit"],
            given.get("cursor"),
        )
    )
    matches = [match_json(match) for match in page.matches]
    return _told({"matches": matches, "total": page.total, "cursor": page.cursor})


def show_conversation(call: Call) -> Reply:
    """A conversation with its turns."""
    records, id_ = call.engine.records(), call.arguments["conversation_id"]
    found = export_json(records.conversations().get(id_), records.turns().of(id_))
    if call.arguments["brief"]:
        found["turns"] = [_brief(turn) for turn in found["turns"]]
    return _told(found)


def export_conversation(call: Call) -> Reply:
    """All of a conversation, for keeping elsewhere."""
    records, id_ = call.engine.records(), call.arguments["conversation_id"]
    conversation, turns = records.conversations().get(id_), records.turns().of(id_)
    if call.arguments["format"] == "markdown":
        return _told({"conversationId": id_, "markdown": export_markdown(conversation, turns)})
    return _told(export_json(conversation, turns))


def archive_conversation(call: Call) -> Reply:
    """Put a conversation away."""
    changed = call.engine.records().conversations().archive(call.arguments["conversation_id"])
    return _told(conversation_json(changed))


def restore_conversation(call: Call) -> Reply:
    """Bring a conversation back."""
    changed = call.engine.records().conversations().restore(call.arguments["conversation_id"])
    return _told(conversation_json(changed))


def delete_conversation(call: Call) -> Reply:
    """Remove a conversation for good."""
    id_ = call.arguments["conversation_id"]
    call.engine.records().conversations().delete(id_)
    return _told({"conversationId": id_, "deleted": True})


def show_turn(call: Call) -> Reply:
    """A turn with what happened in it."""
    turns, id_ = call.engine.records().turns(), call.arguments["turn_id"]
    recorded = turns.get(id_)
    return _told({**turn_json(recorded), "events": [event_json(one) for one in turns.events(id_)]})


def _brief(turn: Json) -> Json:
    return {name: value for name, value in turn.items() if name not in _BRIEF}


def _told(found: Json) -> Reply:
    return Reply(parts=_NO_TEXT, structured=found)

"""The context of a request as JSON: items with text and score, code, and what was left out."""

from asterism.context.messages import item_text, tool_description
from asterism.engine.sessions import TOKEN_METHOD, ContextFor
from asterism.operations.schema import Json
from asterism.types.context import RequestItem, Tool
from asterism.types.sessions import Session, request_item_json, request_json


def context_for_json(found: ContextFor, *, texts: bool = True) -> Json:
    """A request's context for programs, without vectors."""
    wire = request_json(found.context)
    return {
        "requestId": found.request_id,
        "sessionId": None if found.session is None else found.session.id,
        "agent": found.context.agent,
        "items": [_item(found, entry, texts) for entry in found.context.items],
        "code": [
            {
                "place": code.place,
                "score": round(code.score, 4),
                "detail": code.form.detail,
                **({"text": code.form.text} if texts else {}),
            }
            for code in found.code
        ],
        "leftOut": wire["leftOut"],
        "added": [str(key) for key in found.added],
        "usedTokens": found.used_tokens,
        "budget": found.budget,
        "tokenMethod": TOKEN_METHOD,
        "notes": list(found.notes),
    }


def _item(found: ContextFor, entry: RequestItem, texts: bool) -> Json:
    item = found.items.get(entry.key)
    shown = request_item_json(entry)
    if item is None:
        return shown
    shown["description"] = item.description
    if isinstance(item, Tool):
        if texts:
            shown["text"] = tool_description(item, entry.detail)
        return shown
    shown["priority"] = item.priority
    return {**shown, "text": item_text(item, entry)} if texts else shown


def session_json(session: Session) -> Json:
    """A session for programs."""
    return {
        "id": session.id,
        "agent": session.agent,
        "title": session.title,
        "created": session.created,
        "updated": session.updated,
        "items": [{"item": str(held.key), "includeMode": str(held.mode)} for held in session.items],
        "inherited": dict(session.inherited),
        "settings": dict(session.settings),
    }

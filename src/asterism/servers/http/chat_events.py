"""The events of a turn as a stream of server-sent events tells them."""

from asterism.engine.chat.transcripts import Json, call_json, citations_json, result_json
from asterism.types.chat import (
    ApprovalWanted,
    CitationsFound,
    ContextReady,
    Discarded,
    Noted,
    Token,
    ToolEnded,
    ToolStarted,
    TurnDone,
    TurnEvent,
    TurnFailed,
)
from asterism.types.context_json import request_json


def told(event: TurnEvent) -> tuple[str, Json] | None:
    """The name and data of an event; the end is told apart, with what was checked for it."""
    match event:
        case ContextReady(context):
            return "context", request_json(context)
        case Token(text):
            return "token", {"text": text}
        case Discarded(text):
            return "discarded", {"text": text}
        case ToolStarted(call):
            return "tool_start", call_json(call)
        case ToolEnded(_, result):
            return "tool_end", result_json(result)
        case ApprovalWanted(calls):
            return "approval", {"calls": [call_json(call) for call in calls]}
        case CitationsFound(citations):
            return "citations", {"citations": citations_json(citations)}
        case Noted(text):
            return "note", {"text": text}
        case TurnDone() | TurnFailed():
            return None

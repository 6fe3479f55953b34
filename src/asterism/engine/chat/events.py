"""What is noted of a turn's events under the turn: that they happened, not all they hold."""

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


def recorded_event(event: TurnEvent) -> tuple[str, dict[str, object]] | None:
    """The kind of an event and a few facts; None for pieces of the answer, which stand in it.

    Results, citations and context are kept whole with the turn itself.
    """
    match event:
        case ContextReady(context):
            return "context", {"items": len(context.items), "leftOut": len(context.left_out)}
        case ToolStarted(call):
            return "tool_start", {"callId": call.id, "name": call.name}
        case ToolEnded(call, result):
            return "tool_end", {
                "callId": call.id,
                "name": call.name,
                "isError": result.is_error,
                "characters": len(result.text),
                "milliseconds": result.milliseconds,
            }
        case ApprovalWanted(calls):
            return "approval", {"calls": [call.id for call in calls]}
        case CitationsFound(citations):
            return "citations", {"count": len(citations)}
        case Noted(text):
            return "note", {"text": text}
        case TurnDone(turn):
            return "done", {"status": turn.status.value}
        case TurnFailed(_, error):
            return "error", {"code": error.code}
        case Token() | Discarded():
            return None

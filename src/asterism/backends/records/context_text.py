"""What a request was given, as JSON that is kept, and shown, by name."""

from typing import Any

from asterism.domain.context import (
    ItemDetail,
    ItemKey,
    ItemKind,
    LeftOut,
    LeftOutReason,
    ReferenceKey,
    RequestContext,
    RequestItem,
    RequestMode,
    RuleKey,
    ToolKey,
)

Json = dict[str, Any]


def context_json(context: RequestContext) -> Json:
    """The context of a request by names."""
    return {
        "agent": context.agent,
        "promptHash": context.prompt_hash,
        "items": [_item_json(item) for item in context.items],
        "leftOut": [_left_out_json(entry) for entry in context.left_out],
        "notes": list(context.notes),
        "considered": context.considered,
    }


def context_of(found: Json) -> RequestContext:
    """The same as a record, from which the request can be built again."""
    return RequestContext(
        agent=found["agent"],
        prompt_hash=found["promptHash"],
        items=tuple(map(_item, found["items"])),
        left_out=tuple(map(_left_out, found["leftOut"])),
        notes=tuple(found["notes"]),
        considered=found["considered"],
    )


def _item_json(item: RequestItem) -> Json:
    made: Json = {**_key_json(item.key), "includeMode": item.mode.value}
    if item.score is not None:
        made["similarityScore"] = item.score
    return {
        **made,
        "contentHash": item.content_hash,
        "detail": item.detail.value,
        "pieces": list(item.pieces),
        "why": item.why,
    }


def _item(found: Json) -> RequestItem:
    return RequestItem(
        key=_key(found),
        mode=RequestMode(found["includeMode"]),
        content_hash=found["contentHash"],
        score=found.get("similarityScore"),
        detail=ItemDetail(found["detail"]),
        pieces=tuple(found["pieces"]),
        why=found["why"],
    )


def _left_out_json(entry: LeftOut) -> Json:
    key = {"place": entry.key} if isinstance(entry.key, str) else _key_json(entry.key)
    made: Json = {**key, "reason": entry.reason.value, "detail": entry.detail}
    return made if entry.score is None else {**made, "similarityScore": entry.score}


def _left_out(found: Json) -> LeftOut:
    key = found["place"] if "place" in found else _key(found)
    reason = LeftOutReason(found["reason"])
    return LeftOut(key, reason, found.get("similarityScore"), found["detail"])


def _key_json(key: ItemKey) -> Json:
    made: Json = {"type": key.kind.value, "name": key.name}
    return {**made, "serverName": key.server} if isinstance(key, ToolKey) else made


def _key(found: Json) -> ItemKey:
    match ItemKind(found["type"]):
        case ItemKind.rule:
            return RuleKey(found["name"])
        case ItemKind.reference:
            return ReferenceKey(found["name"])
        case ItemKind.tool:
            return ToolKey(found["serverName"], found["name"])

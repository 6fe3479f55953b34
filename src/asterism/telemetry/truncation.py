"""How full replies are, and what limits took from them: counts, a histogram, lines in the log."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field

from asterism.telemetry.events import log_event
from asterism.telemetry.measures import (
    DROPPED,
    NEAR_LIMIT,
    NEAR_LIMITS,
    REPLIES,
    TRUNCATIONS,
    UTILISATION,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplySize:
    """What became of one reply when its size was looked at."""

    surface: str
    """Who gives it: a tool, or `search` for what the engine chooses."""
    utilisation: float
    """The used share of the fullest limit, 0 to 1."""
    reason: str | None = None
    """The limit that took something away, in the words of `truncation_info`."""
    chars: int = 0
    limit_chars: int = 0
    original_count: int = 0
    returned_count: int = 0
    dropped: Mapping[str, int] = field(default_factory=dict)
    """Hits that were left out, by reason."""


def record_reply(reply: ReplySize) -> None:
    """Count a reply; a truncation is a warning in the log, a nearly full reply a line."""
    REPLIES.add(reply.surface)
    UTILISATION.observe(reply.surface, value=reply.utilisation)
    for reason, count in reply.dropped.items():
        DROPPED.add(reply.surface, reason, amount=count)
    if reply.reason is not None:
        TRUNCATIONS.add(reply.surface, reply.reason)
        _log("truncated", logging.WARNING, reply)
    elif reply.utilisation > NEAR_LIMIT:
        NEAR_LIMITS.add(reply.surface)
        _log("near_limit", logging.INFO, reply)


def _log(event: str, level: int, reply: ReplySize) -> None:
    log_event(
        event,
        level,
        surface=reply.surface,
        reason=reply.reason,
        utilisation=round(reply.utilisation, 3),
        chars=reply.chars,
        limit_chars=reply.limit_chars,
        original_count=reply.original_count,
        returned_count=reply.returned_count,
    )

"""What the engine does, counted and logged: records of the domain in, numbers and lines out."""

from __future__ import annotations

import logging
import platform
from typing import TYPE_CHECKING

from asterism import __version__
from asterism.indexing.report import SyncReport
from asterism.indexing.watcher import Outcome, WatchState
from asterism.telemetry.events import LOGGER, log_event
from asterism.telemetry.meters import (
    BUILD,
    CACHES,
    SYNC_CHUNKS,
    SYNC_FILES,
    SYNC_VECTORS,
    WATCH_EVENTS,
    WATCH_SYNCS,
)
from asterism.telemetry.operations import Operation, ReplySize, record_reply
from asterism.types.search import Account

if TYPE_CHECKING:
    # It brings what searches, which most commands do not need.
    from asterism.engine.search import SearchReply

SEARCH = "search"
"""The surface whose replies are what the selector chose, before any server wraps them."""

# Whoever reads the numbers wants to know whose they are.
BUILD.set(__version__, platform.python_version(), value=1)

_FILES = ("added", "changed", "removed", "touched", "parsed", "reread")
_VECTORS = ("embedded", "cached", "reused")


def record_search(reply: SearchReply, done: Operation) -> None:
    """Count what a search gave out, and add it to its line in the log."""
    account, question = reply.selection.account, reply.search.question
    record_account(SEARCH, account)
    done.note(
        # The words themselves only for whoever asked to see more.
        query=question.text if LOGGER.isEnabledFor(logging.DEBUG) else None,
        query_chars=len(question.text),
        found=reply.total.matches,
        returned=account.returned_count,
        truncated=account.truncated,
        reason=account.truncation_info.reason,
        files_behind=reply.state.behind or None,
        index_state=reply.state.message or None,
        notes=reply.notes or None,
    )


def record_account(surface: str, account: Account) -> None:
    """Count a selection for whoever gives it out."""
    info = account.truncation_info
    record_reply(
        ReplySize(
            surface=surface,
            utilisation=account.utilisation,
            reason=None if info.reason is None else info.reason.value,
            chars=info.estimated_chars,
            limit_chars=info.limit_chars,
            original_count=info.original_count,
            returned_count=info.returned_count,
            dropped=account.dropped._asdict(),
        )
    )


def record_sync(report: SyncReport, done: Operation) -> None:
    """Count what a sync did, and add it to its line in the log."""
    counts = {what: getattr(report, what) for what in (*_FILES, *_VECTORS)}
    for what in _FILES:
        SYNC_FILES.add(what, amount=counts[what])
    for source in _VECTORS:
        SYNC_VECTORS.add(source, amount=counts[source])
    SYNC_CHUNKS.add(amount=report.chunks_written)
    if not report.did_something:
        # A server that is asked often would fill its log with nothing.
        done.level = min(done.level, logging.DEBUG)
    done.note(
        files=report.files,
        **{what: count for what, count in counts.items() if count},
        chunks_written=report.chunks_written,
        unread=len(report.unread) or None,
        warnings=report.warnings or None,
        cancelled=report.cancelled or None,
    )


def record_look_up(cache: str, hit: bool) -> None:
    """Count a look into a cache."""
    CACHES.add(cache, "hit" if hit else "miss")


class WatchRecord:
    """Counts what one watcher saw since it last told."""

    def __init__(self) -> None:
        """Nothing yet."""
        self._events = 0

    def add(self, state: WatchState) -> None:
        """Count the events and the sync that a state tells of."""
        events, self._events = state.events - self._events, state.events
        WATCH_EVENTS.add(amount=events)
        WATCH_SYNCS.add(str(state.outcome))
        level = logging.WARNING if state.outcome == Outcome.failed else logging.DEBUG
        log_event("watch", level, events=events, outcome=state.outcome, sentence=state.sentence)

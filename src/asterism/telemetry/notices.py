"""Sentences for the user about repairs that a command made beside its own work."""

import logging
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock

from asterism.disclosure.tokens import FoundToken, masked_body
from asterism.telemetry.events import log_event
from asterism.telemetry.meters import MASKED_TOKENS

_counting: ContextVar[Counter[str] | None] = ContextVar("masked_tokens", default=None)


def masked_for(receiver: str, body: Mapping[str, object]) -> dict[str, object]:
    """A request's body without tokens; `receiver` is a section of the settings: `embedding`."""
    found: list[FoundToken] = []
    clean = {key: masked_body(value, found) for key, value in body.items()}
    record_masked(receiver, found)
    return clean


def record_masked(receiver: str, tokens: Sequence[FoundToken]) -> None:
    """Count tokens that were masked for a receiver, also for a counter of this context."""
    if not tokens:
        return
    counts = Counter(token.kind for token in tokens)
    for kind, count in counts.items():
        MASKED_TOKENS.add(receiver, kind, amount=count)
    log_event("masked", logging.INFO, receiver=receiver, kinds=dict(counts))
    mine = _counting.get()
    if mine is not None:
        mine.update(counts)


@contextmanager
def counting_masked() -> Iterator[Counter[str]]:
    """Counts tokens masked in this context and in contexts copied from it."""
    counter: Counter[str] = Counter()
    reset = _counting.set(counter)
    try:
        yield counter
    finally:
        _counting.reset(reset)


_said: list[str] = []
_lock = Lock()


def notify(sentence: str) -> None:
    """Keep a sentence until a command shows it, and log it."""
    with _lock:
        _said.append(sentence)
    log_event("notice", logging.WARNING, message=sentence)


def taken() -> list[str]:
    """The sentences since this was last asked."""
    with _lock:
        found = _said[:]
        _said.clear()
    return found

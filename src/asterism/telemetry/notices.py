"""Sentences for the user about repairs that a command made beside its own work."""

import logging
from threading import Lock

from asterism.telemetry.events import log_event

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

"""How far a language server is with reading a repository, by what it tells on its own."""

import re
import threading
import time
from collections.abc import Callable
from enum import StrEnum
from typing import Any

from asterism.lsp.connection import Answer
from asterism.types.errors import ServerTimeout

# How often somebody who waits looks whether the server is still there.
_LOOK_SECONDS = 0.1

# Characters of a server's complaint.
MOST_WORDS = 150

_OF = re.compile(r"(?<!\d)(\d++)/(\d+)")


class Ready(StrEnum):
    """How a server lets know that it has read everything."""

    asked = "asked"
    """It answers no question before."""
    progress = "progress"
    """It reports its progress, from a first beginning to an end."""
    quiescent = "quiescent"
    """It says when it has nothing left to do."""
    service = "service"
    """It says that its service is ready."""


class Loading:
    """Listens to one server after the other."""

    def __init__(self, ready: Ready) -> None:
        self._ready = ready
        self._is_done = threading.Event()
        self._tokens: set[str] = set()
        self.share = 0.0
        """How much of the work is done, from 0 to 1, as far as the server tells."""
        self.warning = ""
        """What the server complains of: it does not see everything."""

    def answers(self) -> dict[str, Answer]:
        """What is to be done with what a server tells."""
        return {
            "$/progress": self._progress,
            "experimental/serverStatus": self._status,
            "language/status": self._service,
        }

    def begin(self) -> None:
        """Forget what an earlier server told."""
        self._tokens.clear()
        self.share = 0.0
        self.warning = ""
        self._is_done.clear()
        if self._ready is Ready.asked:
            self._is_done.set()

    def wait(self, seconds: float, is_over: Callable[[], bool]) -> None:
        """Wait until everything is read, or until `is_over` says that the server is gone."""
        end = time.monotonic() + seconds
        while not self._is_done.wait(_LOOK_SECONDS):
            if is_over():
                return
            if time.monotonic() > end:
                raise ServerTimeout(f"it has not read the repository within {seconds:g} seconds")

    def _progress(self, params: Any) -> None:
        token, value = str(params["token"]), params["value"]
        if value["kind"] == "begin":
            self._tokens.add(token)
        elif value["kind"] == "end":
            self._tokens.discard(token)
            if not self._tokens and self._ready is Ready.progress:
                self.share = 1.0
                self._is_done.set()
        if found := _OF.search(str(value.get("message"))):
            done, total = map(int, found.groups())
            self.share = done / max(1, total)

    def _status(self, params: Any) -> None:
        is_well = params.get("health", "ok") == "ok"
        # What follows a colon is the output of the program that it ran.
        self.warning = "" if is_well else str(params.get("message")).partition(": ")[0][:MOST_WORDS]
        if params["quiescent"] and self._ready is Ready.quiescent:
            self._is_done.set()

    def _service(self, params: Any) -> None:
        if params["type"] == "ServiceReady" and self._ready is Ready.service:
            self._is_done.set()

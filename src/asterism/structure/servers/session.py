"""A language server that has read a repository: its documents and its files."""

import re
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Collection
from enum import StrEnum
from typing import Any

from asterism.analysis.resolve.scopes import FileScope
from asterism.lsp.connection import Answer, LanguageClient, to_uri
from asterism.structure.repository import FileReader
from asterism.types.errors import ServerTimeout

# How often a waiting thread checks whether the server is still alive.
_LOOK_SECONDS = 0.1

# Characters of a server's complaint.
MOST_WORDS = 150

_OF = re.compile(r"(?<!\d)(\d++)/(\d+)")


class ReadySignal(StrEnum):
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

    def __init__(self, ready: ReadySignal) -> None:
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
        if self._ready is ReadySignal.asked:
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
            if not self._tokens and self._ready is ReadySignal.progress:
                self.share = 1.0
                self._is_done.set()
        if found := _OF.search(str(value.get("message"))):
            done, total = map(int, found.groups())
            self.share = done / max(1, total)

    def _status(self, params: Any) -> None:
        is_well = params.get("health", "ok") == "ok"
        # What follows a colon is the output of the program that it ran.
        self.warning = "" if is_well else str(params.get("message")).partition(": ")[0][:MOST_WORDS]
        if params["quiescent"] and self._ready is ReadySignal.quiescent:
            self._is_done.set()

    def _service(self, params: Any) -> None:
        if params["type"] == "ServiceReady" and self._ready is ReadySignal.service:
            self._is_done.set()


# Documents that are open at once; a server holds the whole tree of each in memory.
OPEN_DOCUMENTS = 6


class ServerSession:
    """What is open at a server, and the files that both sides speak of."""

    def __init__(
        self, client: LanguageClient, root: str, files: FileReader, limits: str = ""
    ) -> None:
        """`limits` is what the server cannot see here, as the end of a sentence."""
        self.client = client
        self.limits = limits
        self._root = root
        self._files = files
        self._paths: Collection[str] = ()
        self._scopes: dict[str, FileScope | None] = {}
        self._open: OrderedDict[str, FileScope] = OrderedDict()

    def begin(self, paths: Collection[str]) -> None:
        """A new moment: these are the files, each of which is looked at once."""
        self._paths = paths
        self._scopes.clear()

    def offers(self, capability: str) -> bool:
        """Whether the server said that it can do something."""
        return bool(self.client.capabilities.get(capability))

    def uri(self, path: str) -> str:
        """The address of a file."""
        return to_uri(f"{self._root}/{path}")

    def own(self, absolute: str) -> str | None:
        """The path of a file in the repository; None for others."""
        if not absolute.startswith(f"{self._root}/"):
            return None
        path = absolute[len(self._root) + 1 :]
        return path if path in self._paths else None

    def scope(self, path: str) -> FileScope | None:
        """A file as it is now."""
        if path not in self._scopes:
            self._scopes[path] = self._files.scope(path) if path in self._paths else None
        return self._scopes[path]

    def show(self, scope: FileScope) -> None:
        """Let the server go by this text of a file."""
        path, absolute = scope.path, f"{self._root}/{scope.path}"
        if self._open.get(path) is scope:
            self._open.move_to_end(path)
            return
        if path in self._open:
            self.client.close(absolute)
        self._open[path] = scope
        text = scope.source.decode("utf-8", "replace")
        self.client.open(absolute, scope.language, text)
        if len(self._open) > OPEN_DOCUMENTS:
            oldest, _ = self._open.popitem(last=False)
            self.client.close(f"{self._root}/{oldest}")

"""The language server protocol: requests, replies, handshake and documents."""

import contextlib
import itertools
import os
import queue
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import quote_from_bytes, unquote_to_bytes

from asterism.lsp.process import LARGEST_MESSAGE, Channel, Message, MessageReader, encode
from asterism.types.errors import (
    LanguageServerError,
    ServerDied,
    ServerGarbled,
    ServerRefused,
    ServerTimeout,
)

Answer = Callable[[Any], Any]
"""What a request of the server is answered with, from its parameters.

What it tells without being asked may have one too, which then only listens.
"""

_METHOD_NOT_FOUND = -32601
_INTERNAL_ERROR = -32603


class ServerConnection:
    """One conversation. Threads may share it; when it is over every waiting request is told why."""

    def __init__(
        self,
        channel: Channel,
        answers: Mapping[str, Answer] | None = None,
        largest: int = LARGEST_MESSAGE,
    ) -> None:
        self._channel = channel
        self._answers = dict(answers or {})
        self._reader = MessageReader(channel.read, largest)
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()
        self._waiting: dict[int, queue.SimpleQueue[Message | LanguageServerError]] = {}
        self._ended: LanguageServerError | None = None
        # Writing has its own thread: a server that no longer reads must not hold up a deadline.
        self._outgoing: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._threads = [
            threading.Thread(target=work, name=f"server-{name}", daemon=True)
            for name, work in (("reader", self._read_all), ("writer", self._write_all))
        ]
        for thread in self._threads:
            thread.start()

    @property
    def ended(self) -> LanguageServerError | None:
        """Why the conversation is over, or None while it goes on."""
        return self._ended

    def request(self, method: str, params: Any = None, *, seconds: float) -> Any:
        """The server's answer; without one in time the request is cancelled and raises."""
        number = next(self._numbers)
        box: queue.SimpleQueue[Message | LanguageServerError] = queue.SimpleQueue()
        with self._lock:
            if self._ended is not None:
                raise _again(self._ended)
            self._waiting[number] = box
        self._send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        try:
            reply = box.get(timeout=max(0.0, seconds))
        except queue.Empty:
            with self._lock:
                self._waiting.pop(number, None)
            self.notify("$/cancelRequest", {"id": number})
            raise ServerTimeout(f"no answer to {method} within {seconds:g} seconds") from None
        if isinstance(reply, LanguageServerError):
            raise _again(reply)
        if (problem := reply.get("error")) is not None:
            raise ServerRefused(f"{method}: {_problem_text(problem)}")
        return reply.get("result")

    def notify(self, method: str, params: Any = None) -> None:
        """Tell the server something; nothing comes back."""
        self._send({"jsonrpc": "2.0", "method": method, "params": params})

    def end(self, reason: LanguageServerError) -> None:
        """End the conversation: every waiting request is given the reason; the first one stays."""
        with self._lock:
            if self._ended is None:
                self._ended = reason
            boxes, self._waiting = list(self._waiting.values()), {}
        for box in boxes:
            box.put(self._ended)
        self._outgoing.put(None)

    def join(self, seconds: float) -> None:
        """Wait for the conversation's threads, which end soon after both sides have."""
        deadline = time.monotonic() + seconds
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()))

    def _send(self, message: Message) -> None:
        self._outgoing.put(encode(message))

    def _write_all(self) -> None:
        # What breaks here meets the reader too, and it knows better why.
        with contextlib.suppress(OSError):
            while (data := self._outgoing.get()) is not None:
                self._channel.write(data)
        self._channel.finish_writing()

    def _read_all(self) -> None:
        try:
            while (message := self._reader.next()) is not None:
                self._take(message)
            self.end(ServerDied("the server ended"))
        except OSError as error:
            self.end(ServerDied(f"the connection broke ({error.strerror})"))
        except LanguageServerError as error:
            self.end(error)
        finally:
            self._channel.finish_reading()

    def _take(self, message: Message) -> None:
        number = message.get("id")
        if "method" in message:
            method, params = str(message["method"]), message.get("params")
            if number is not None:
                self._send(self._answer(number, method, params))
            elif method in self._answers:
                self._answer(None, method, params)
            return
        if not isinstance(number, int):
            raise ServerGarbled("the server sent a message that is neither question nor answer")
        with self._lock:
            # An answer that comes after its deadline is ignored.
            box = self._waiting.pop(number, None)
        if box is not None:
            box.put(message)

    def _answer(self, number: object, method: str, params: Any) -> Message:
        reply: Message = {"jsonrpc": "2.0", "id": number}
        answer = self._answers.get(method)
        if answer is None:
            return {**reply, "error": {"code": _METHOD_NOT_FOUND, "message": "not supported"}}
        with contextlib.suppress(KeyError, TypeError, AttributeError, ValueError):
            return {**reply, "result": answer(params)}
        return {**reply, "error": {"code": _INTERNAL_ERROR, "message": "odd parameters"}}


def _again(reason: LanguageServerError) -> LanguageServerError:
    """A new error of the same kind: one object raised in two threads would mix their traces."""
    return type(reason)(*reason.args)


def _problem_text(problem: object) -> str:
    if isinstance(problem, dict):
        return str(problem.get("message") or problem)
    return str(problem)


_SCHEME = "file://"

# What we can do, as a server is told. UTF-16 is the one encoding that every server speaks.
_CAPABILITIES = {
    "general": {"positionEncodings": ["utf-16"]},
    "textDocument": {
        "callHierarchy": {"dynamicRegistration": False},
        "typeHierarchy": {"dynamicRegistration": False},
        "definition": {"linkSupport": False},
        "typeDefinition": {"linkSupport": False},
        "references": {},
        "implementation": {"linkSupport": False},
        "hover": {"contentFormat": ["markdown", "plaintext"]},
        "synchronization": {},
    },
    "workspace": {
        "configuration": True,
        "workspaceFolders": True,
        "didChangeWatchedFiles": {"dynamicRegistration": True, "relativePatternSupport": True},
    },
    "window": {"workDoneProgress": True},
    # The Rust server tells by this when it has read everything.
    "experimental": {"serverStatusNotification": True},
}


def to_uri(path: str) -> str:
    """The address of an absolute path, any bytes of a file name included."""
    return _SCHEME + quote_from_bytes(os.fsencode(path))


def to_path(uri: str) -> str | None:
    """The path of an address; None for what is no file, as text inside an archive."""
    if not uri.startswith(_SCHEME):
        return None
    return os.fsdecode(unquote_to_bytes(uri[len(_SCHEME) :]))


def standard_answers(root: str, settings: Mapping[str, Any] | None = None) -> dict[str, Answer]:
    """Answers to what servers ask of a client, for one workspace and its settings."""
    folders = [_folder(root)]

    def configuration(params: Any) -> list[Any]:
        return [_section(settings or {}, item.get("section")) for item in params["items"]]

    def nothing(params: Any) -> None:
        return None

    return {
        "workspace/configuration": configuration,
        "workspace/workspaceFolders": lambda params: folders,
        "client/registerCapability": nothing,
        "client/unregisterCapability": nothing,
        "window/workDoneProgress/create": nothing,
        "window/showMessageRequest": nothing,
        "workspace/diagnostic/refresh": nothing,
        "workspace/semanticTokens/refresh": nothing,
        "workspace/inlayHint/refresh": nothing,
        "workspace/codeLens/refresh": nothing,
    }


def _folder(path: str) -> dict[str, str]:
    return {"uri": to_uri(path), "name": os.path.basename(path)}  # noqa: PTH119


def _section(settings: Mapping[str, Any], name: str | None) -> Any:
    found: Any = settings
    for part in (name or "").split("."):
        if part:
            found = found.get(part) if isinstance(found, Mapping) else None
    return found


class LanguageClient:
    """A server that was shaken hands with; every request has the same deadline."""

    def __init__(
        self,
        connection: ServerConnection,
        root: str,
        *,
        seconds: float,
        options: Any = None,
        folders: Sequence[str] = (),
    ) -> None:
        """Shake hands; `options` are what this kind of server calls initialization options.

        `folders` are the workspaces, where the root itself is not the one.
        """
        self.connection = connection
        self._seconds = seconds
        params = {
            # A server that looks after its parent ends with us even without the kernel's help.
            "processId": os.getpid(),
            "rootUri": to_uri(root),
            "capabilities": _CAPABILITIES,
            "initializationOptions": options,
            "workspaceFolders": [_folder(folder) for folder in folders or (root,)],
        }
        answer = self.request("initialize", params)
        if not isinstance(answer, dict) or not isinstance(answer.get("capabilities"), dict):
            # Its replies could not be told from "nothing found".
            raise ServerGarbled("it does not answer the handshake")
        self.capabilities: Mapping[str, Any] = answer["capabilities"]
        connection.notify("initialized", {})

    def request(self, method: str, params: Any) -> Any:
        """The server's answer to any request."""
        return self.connection.request(method, params, seconds=self._seconds)

    def at(self, method: str, path: str, line: int, column: int, **more: Any) -> Any:
        """The answer to a request about a place: line and UTF-16 column, both from 0."""
        place = {"line": line, "character": column}
        return self.request(
            method, {"textDocument": {"uri": to_uri(path)}, "position": place, **more}
        )

    def open(self, path: str, language: str, text: str) -> None:
        """Hand a document over; from now on the server goes by this text, not by the file."""
        document = {"uri": to_uri(path), "languageId": language, "version": 1, "text": text}
        self.connection.notify("textDocument/didOpen", {"textDocument": document})

    def close(self, path: str) -> None:
        """Give a document back to the file system."""
        self.connection.notify("textDocument/didClose", {"textDocument": {"uri": to_uri(path)}})

    def files_changed(self, changes: Mapping[str, int]) -> None:
        """Tell of files on disk: 1 for a new one, 2 for a changed one, 3 for one that is gone."""
        listed = [{"uri": to_uri(path), "type": kind} for path, kind in changes.items()]
        self.connection.notify("workspace/didChangeWatchedFiles", {"changes": listed})

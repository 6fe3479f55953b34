"""The language server protocol: handshake, documents, and what a server may ask of us."""

import os
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote_from_bytes, unquote_to_bytes

from asterism.lsp.connection import Answer, Connection
from asterism.types.errors import ServerGarbled

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
        connection: Connection,
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
            # Nothing it says to questions could be told from "there is none".
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

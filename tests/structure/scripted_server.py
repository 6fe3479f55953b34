"""A language server for tests: names mean what a declaration of that name says, wherever it is.

Comments steer it: `// Gate is Door` makes Gate an implementation of Door, and `// calls shut` a call
that no other tool sees. A file `mode` beside the program says what it does otherwise.
"""

import json
import os
import re
import sys
from pathlib import Path
from typing import Any
from urllib.parse import unquote

MODE = Path(sys.argv[0]).with_name("mode").read_text()
ENDINGS = (".go", ".rs", ".java", ".c", ".cc", ".h")
DECLARED = r"\b(?:func|fn|type|class|struct|interface|trait|void|int)\s+(?:\([^)]*\)\s*)?"


def send(message: dict[str, Any]) -> None:
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    sys.stdout.buffer.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
    sys.stdout.buffer.flush()


def receive() -> dict[str, Any] | None:
    length = 0
    while line := sys.stdin.buffer.readline().strip():
        length = int(line.partition(b":")[2])
    body = sys.stdin.buffer.read(length)
    return json.loads(body) if body else None


class Workspace:
    """The files below a directory, as they were read or opened."""

    def __init__(self, root: str) -> None:
        self.texts = {
            str(place): place.read_text()
            for place in sorted(Path(root).rglob("*"))
            if place.suffix in ENDINGS
        }

    def found(self, pattern: str) -> list[dict[str, Any]]:
        """Where the first group of a pattern stands."""
        return [
            located(path, text, found.start(1), found.end(1))
            for path, text in self.texts.items()
            for found in re.finditer(pattern, text)
        ]

    def declared(self, word: str) -> list[dict[str, Any]]:
        return self.found(rf"{DECLARED}({word})\b")

    def word(self, params: dict[str, Any]) -> str:
        text = self.texts[unquote(params["textDocument"]["uri"].removeprefix("file://"))]
        line = text.split("\n")[params["position"]["line"]]
        found = re.compile(r"\w+").match(line, params["position"]["character"])
        return found.group() if found else ""


def located(path: str, text: str, start: int, end: int) -> dict[str, Any]:
    line = text.count("\n", 0, start)
    column = start - (text.rfind("\n", 0, start) + 1)
    first = {"line": line, "character": column}
    last = {"line": line, "character": column + end - start}
    return {"uri": f"file://{path}", "range": {"start": first, "end": last}}


def answer(workspace: Workspace, method: str, params: Any) -> Any:
    match method:
        case "textDocument/definition":
            return workspace.declared(workspace.word(params))
        case "textDocument/references":
            return workspace.found(rf"\b({workspace.word(params)})\b(?!\.)")
        case "textDocument/implementation":
            made = workspace.found(rf"// (\w+) is {workspace.word(params)}\b")
            words = [workspace.word({"textDocument": one, **spot(one)}) for one in made]
            return [place for word in words for place in workspace.declared(word)]
        case "textDocument/prepareCallHierarchy":
            place = workspace.declared(workspace.word(params))[0]
            return [{"uri": place["uri"], "selectionRange": place["range"], "name": "it"}]
        case "callHierarchy/outgoingCalls":
            calls = workspace.found(r"// calls (\w+)")
            return [
                outgoing(workspace, call) for call in calls if call["uri"] == params["item"]["uri"]
            ]
    return None


def spot(place: dict[str, Any]) -> dict[str, Any]:
    return {"position": place["range"]["start"]}


def outgoing(workspace: Workspace, call: dict[str, Any]) -> dict[str, Any]:
    word = workspace.word({"textDocument": call, **spot(call)})
    target = workspace.declared(word)[0]
    to = {"name": word, "uri": target["uri"], "selectionRange": target["range"]}
    return {"to": to, "fromRanges": [call["range"]]}


def report_ready() -> None:
    token = "reading"
    begin = {"token": token, "value": {"kind": "begin", "title": "reading"}}
    half = {"token": token, "value": {"kind": "report", "message": "1/4"}}
    send({"method": "$/progress", "params": begin})
    send({"method": "$/progress", "params": half})
    if MODE == "slow":
        return
    send({"method": "$/progress", "params": {"token": token, "value": {"kind": "end"}}})
    health = {"health": "ok", "quiescent": True}
    if MODE == "warns":
        health |= {"health": "warning", "message": "Failed to read metadata: error: offline"}
    send({"method": "experimental/serverStatus", "params": health})
    send({"method": "language/status", "params": {"type": "ServiceReady", "message": ""}})


def main() -> None:
    workspace, root, opened = None, "", 0
    while (message := receive()) is not None:
        method: str = message["method"]
        params: Any = message.get("params")
        if method == "initialize":
            root = unquote(params["rootUri"].removeprefix("file://"))
            workspace = Workspace(root)
            able = {"implementationProvider": True, "callHierarchyProvider": True}
            send({"id": message["id"], "result": {"capabilities": able}})
            if MODE == "notes":
                told = json.dumps(params["initializationOptions"])
                Path(__file__).with_name("told.json").write_text(told)
        elif method == "textDocument/didOpen":
            opened += 1
            if opened == 1:
                report_ready()
        elif method == "workspace/didChangeWatchedFiles":
            workspace = Workspace(root)
        elif "id" in message and MODE == "dies at references" and method.endswith("references"):
            os._exit(3)
        elif "id" in message and MODE == "refuses" and method.startswith("textDocument/"):
            error = {"code": -32603, "message": "no package metadata"}
            send({"id": message["id"], "error": error})
        elif "id" in message and workspace is not None:
            send({"id": message["id"], "result": answer(workspace, method, params)})


if __name__ == "__main__":
    main()

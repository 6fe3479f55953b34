"""A tool server that misbehaves on demand: `fake_server.py BEHAVIOUR [DETAIL]`, MCP over stdio."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

Json = dict[str, Any]

ECHO: Json = {
    "name": "echo",
    "description": "Say something again",
    "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}},
}


class FakeServer:
    """Answers requests line by line, as its behaviour wants."""

    def __init__(self, behaviour: str, detail: str) -> None:
        self.behaviour = behaviour
        self.detail = detail
        self.tools = [ECHO]
        if behaviour == "hints":
            # The hints about a tool by three kinds of servers; most give no hint.
            hints = (
                None,
                {"readOnlyHint": True},
                {"readOnlyHint": False},
                {"destructiveHint": True},
            )
            self.tools = [
                {**ECHO, "name": f"tool_{number}"} | ({"annotations": hint} if hint else {})
                for number, hint in enumerate(hints)
            ]
        if behaviour == "many":
            self.tools = [{**ECHO, "name": f"tool_{number}"} for number in range(int(detail))]

    def run(self) -> None:
        starts: dict[str, Callable[[], None]] = {
            "die": lambda: sys.exit(3),
            "greet": lambda: _write("Welcome to the server!\n\n{not json"),
            "chatter": self._chatter,
            "one-line": self._one_line,
            "family": self._start_child,
        }
        starts.get(self.behaviour, lambda: None)()
        for line in sys.stdin:
            self._answer(json.loads(line))
        if self.behaviour == "stay":
            time.sleep(600)

    def _answer(self, message: Json) -> None:
        if "id" not in message or self.behaviour == "hang":
            return
        if self.behaviour == "count" and message["method"] == "tools/list":
            with Path(self.detail).open("a", encoding="utf-8") as file:
                file.write("listed\n")
        method = message["method"]
        if method == "initialize":
            version = message["params"]["protocolVersion"]
            info = {"name": "fake", "version": "1"}
            capabilities = {"tools": {"listChanged": True}}
            answer = {"protocolVersion": version, "capabilities": capabilities, "serverInfo": info}
        elif method == "tools/list" and self.behaviour == "endless":
            answer = {"tools": [], "nextCursor": "again"}
        elif method == "tools/list":
            answer = {"tools": self.tools}
        elif method == "tools/call":
            answer = self._call(message["params"])
        else:
            self._send({"id": message["id"], "error": {"code": -32601, "message": "unknown"}})
            return
        self._send({"id": message["id"], "result": answer})

    def _call(self, params: Json) -> Json:
        text = params["arguments"].get("text", "")
        match self.behaviour:
            case "die-when-called":
                os._exit(4)
            case "hang-when-called":
                time.sleep(600)
            case "long":
                text = "x" * int(self.detail)
            case "failing":
                return {"content": [{"type": "text", "text": "No such page"}], "isError": True}
            case "flood-when-called":
                self._chatter()
            case "growing":
                self.tools = [ECHO, {**ECHO, "name": "shout"}]
                self._send({"method": "notifications/tools/list_changed"})
            case "environment":
                text = json.dumps(dict(os.environ))
        return {"content": [{"type": "text", "text": text}]}

    def _chatter(self) -> None:
        """Notifications without end."""
        params = {"level": "info", "data": "x" * 1000}
        while True:
            self._send({"method": "notifications/message", "params": params})

    def _one_line(self) -> None:
        """A line without end."""
        while True:
            sys.stdout.write("x" * 65536)

    def _start_child(self) -> None:
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        Path(self.detail).write_text(f"{os.getpid()} {child.pid}", encoding="utf-8")

    def _send(self, message: Json) -> None:
        _write(json.dumps({"jsonrpc": "2.0", **message}))


def _write(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    FakeServer(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "").run()

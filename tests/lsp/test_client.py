"""Do paths and addresses agree, and are a server's questions answered?"""

import os
import threading

import pytest

from asterism.lsp.connection import (
    LanguageClient,
    ServerConnection,
    standard_answers,
    to_path,
    to_uri,
)
from asterism.lsp.process import MessageReader, Pipes, encode
from asterism.types.errors import ServerDied


@pytest.mark.parametrize(
    ("path", "uri"),
    [
        ("/a/b.ts", "file:///a/b.ts"),
        ("/a b/ü#?.ts", "file:///a%20b/%C3%BC%23%3F.ts"),
        ("/caf\udce9.ts", "file:///caf%E9.ts"),
    ],
)
def test_addresses_go_both_ways(path: str, uri: str) -> None:
    assert to_uri(path) == uri
    assert to_path(uri) == path


def test_what_is_no_file_has_no_path() -> None:
    assert to_path("bundled:///libs/lib.es5.d.ts") is None


def test_standard_answers() -> None:
    answers = standard_answers("/work space", {"ty": {"a": {"b": 1}}})
    items = [{"section": "ty.a"}, {"section": "ty.a.b.c"}, {"section": None}, {}]
    assert answers["workspace/configuration"]({"items": items}) == [
        {"b": 1},
        None,
        {"ty": {"a": {"b": 1}}},
        {"ty": {"a": {"b": 1}}},
    ]
    assert answers["workspace/workspaceFolders"](None) == [
        {"uri": "file:///work%20space", "name": "work space"}
    ]
    assert answers["client/registerCapability"]({"registrations": []}) is None


def test_a_conversation_over_pipes() -> None:
    heard: list[object] = []
    told: list[object] = []
    (output, answering), (asked, standard_input) = os.pipe(), os.pipe()

    def serve() -> None:
        with os.fdopen(asked, "rb", 0) as reading, os.fdopen(answering, "wb", 0) as peer:
            reader = MessageReader(reading.read)
            while (message := reader.next()) is not None:
                heard.append(message["method"])
                if message["method"] == "initialized":
                    for params in (None, {"value": 7}):
                        peer.write(encode({"method": "$/progress", "params": params}))
                    peer.write(encode({"method": "unknown/method"}))
                if "id" in message:
                    result = {"capabilities": {"hoverProvider": True}}
                    peer.write(encode({"id": message["id"], "result": result}))

    thread = threading.Thread(target=serve)
    thread.start()
    progress = {"$/progress": lambda params: told.append(params["value"])}
    pipes = Pipes(os.fdopen(output, "rb", 0), os.fdopen(standard_input, "wb", 0))
    connection = ServerConnection(pipes, progress)
    client = LanguageClient(connection, "/r", seconds=60)
    assert client.capabilities == {"hoverProvider": True}
    client.open("/r/a.py", "python", "x = 1")
    client.files_changed({"/r/b.py": 2})
    client.at("textDocument/hover", "/r/a.py", 0, 0)
    connection.end(ServerDied("enough"))
    thread.join()
    connection.join(60)
    # Odd parameters are no reason to end a conversation.
    assert told == [7]
    assert heard == [
        "initialize",
        "initialized",
        "textDocument/didOpen",
        "workspace/didChangeWatchedFiles",
        "textDocument/hover",
    ]

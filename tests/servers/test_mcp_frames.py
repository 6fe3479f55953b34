"""Is every frame that is no message answered with an error, and every message left as it is?"""

import json
from typing import Any

import pytest

from asterism.servers.mcp.frames import DEEPEST, FRAME_BYTES, Broken, message_in

PARSE, REQUEST, PARAMS = -32700, -32600, -32602


def framed(text: str, **changes: Any) -> bytes:
    message = {"jsonrpc": "2.0", "id": 7, "method": "ping", **changes}
    return json.dumps(message).replace('"HERE"', text).encode()


def nested(depth: int) -> str:
    return "[" * depth + "]" * depth


BROKEN: list[tuple[bytes, int, int | str | None]] = [
    # No JSON.
    (b"not json at all", PARSE, None),
    (b"{", PARSE, None),
    (b'{"jsonrpc":"2.0","id":7,"method":"ping"', PARSE, None),
    (b'{"jsonrpc":"2.0","id":7,"method":"ping"} trailing', PARSE, None),
    (b"{'jsonrpc':'2.0'}", PARSE, None),
    (b"\x00\x01\x02", PARSE, None),
    (b"\xef\xbf\xbd" * 100, PARSE, None),
    (b"[" * 100_000, PARSE, None),
    (b'{"a":' * 50_000, PARSE, None),
    (b'"unended', PARSE, None),
    (b'"' + b'\\"' * 50_000, PARSE, None),
    (b'"' + b"\\" * 50_001 + b'"', PARSE, None),
    (b"9" * 5_000, PARSE, None),
    (b"x" * (FRAME_BYTES + 1), PARSE, None),
    # No UTF-8.
    (b"\xff\xfe{}", PARSE, None),
    (b"\xff", PARSE, None),
    (b'{"jsonrpc":"2.0","id":7,"method":"ping","params":{"x":"\xc3("}}', PARSE, 7),
    (b'{"jsonrpc":"2.0","id":"a","method":"p\xed\xa0\x80"}', PARSE, "a"),
    ('{"jsonrpc":"2.0","id":7,"method":"ping"}'.encode("utf-16"), PARSE, None),
    # Halves of characters.
    (framed("", params={"x": "\ud800"}), PARSE, 7),
    (framed("", params={"\udc00": "x"}), PARSE, 7),
    (framed("", params={"x": [{"y": "a\udfff"}]}), PARSE, 7),
    (framed("", method="\ud800"), PARSE, 7),
    (framed("", id="\ud800"), PARSE, None),
    # Numbers.
    (framed("NaN", params={"x": "HERE"}), PARSE, 7),
    (framed("-Infinity", params={"x": "HERE"}), PARSE, 7),
    (framed("1e999", params={"x": "HERE"}), PARSE, 7),
    (framed("-1e999", params={"x": "HERE"}), PARSE, 7),
    (framed("1e999", id="HERE"), PARSE, None),
    (framed("9" * 5_000, params={"x": "HERE"}), PARSE, None),
    # Depth.
    (framed(nested(DEEPEST - 1), params={"x": "HERE"}), PARSE, None),
    (framed(nested(5_000), params={"x": "HERE"}), PARSE, None),
    # JSON that is no message.
    (b"[]", REQUEST, None),
    (b'[{"jsonrpc":"2.0","id":7,"method":"ping"}]', REQUEST, None),
    (b"null", REQUEST, None),
    (b"5", REQUEST, None),
    (b'"text"', REQUEST, None),
    (b"true", REQUEST, None),
    (b"{}", REQUEST, None),
    (b'{"jsonrpc":"2.0"}', REQUEST, None),
    (b'{"jsonrpc":"2.0","id":7}', REQUEST, 7),
    (b'{"id":7,"method":"ping"}', REQUEST, 7),
    (framed("", jsonrpc="1.0"), REQUEST, 7),
    (framed("", jsonrpc=2.0), REQUEST, 7),
    (framed("", jsonrpc=None), REQUEST, 7),
    (framed("", method=5), REQUEST, 7),
    (framed("", method=None), REQUEST, 7),
    (b'{"jsonrpc":"2.0","method":5}', REQUEST, None),
    # Ids.
    (framed("", id=None), REQUEST, None),
    (framed("", id=True), REQUEST, None),
    (framed("", id=1.5), REQUEST, None),
    (framed("", id={}), REQUEST, None),
    (framed("", id=[7]), REQUEST, None),
    (framed("", id=10**30), REQUEST, None),
    (framed("", id="x" * 2_000), REQUEST, None),
    # Parameters.
    (framed("", params=[1]), PARAMS, 7),
    (framed("", params="x"), PARAMS, 7),
    (framed("", params=5, id="a"), PARAMS, "a"),
    # Answers of the client: an error about one must not look like an answer to one of its requests.
    (b'{"jsonrpc":"2.0","id":7,"result":5}', REQUEST, None),
    (b'{"jsonrpc":"2.0","id":7,"error":"x"}', REQUEST, None),
    (b'{"jsonrpc":"2.0","result":{}}', REQUEST, None),
    (b'{"jsonrpc":"2.0","id":7,"result":{},"error":{"code":1,"message":"x"}}', REQUEST, None),
    (b'{"jsonrpc":"2.0","id":7,"error":{"code":"1","message":"x"}}', REQUEST, None),
]


@pytest.mark.parametrize(("frame", "code", "id_"), BROKEN, ids=range(len(BROKEN)))
@pytest.mark.parametrize("end", [b"", b"\n", b"\r\n"])
def test_what_is_no_message(frame: bytes, code: int, id_: int | str | None, end: bytes) -> None:
    found = message_in(frame + end)
    assert isinstance(found, Broken), found
    assert (found.code, found.id) == (code, id_)
    reply = json.loads(found.reply())
    assert {*reply} == {"jsonrpc", "id", "error"}
    assert (reply["jsonrpc"], reply["id"], reply["error"]["code"]) == ("2.0", id_, code)
    assert reply["error"]["message"].endswith(".")
    assert len(found.reply()) < 1_500
    assert "\n" not in found.reply()


@pytest.mark.parametrize(
    "frame",
    [
        framed(""),
        framed("", id="seven"),
        framed("", id=-7),
        framed("", id=0),
        framed("", params=None),
        framed("", params={"x": "\U0001f600 ä \\ud800", "y": "[" * 500, "z": '\\"{{[['}),
        framed('"\\\\\\\\"', params={"x": "HERE"}),
        framed('"\\ud83d\\ude00"', params={"x": "HERE"}),
        framed("1e300", params={"x": "HERE"}),
        framed(nested(DEEPEST - 2), params={"x": "HERE"}),
        b'{"jsonrpc":"2.0","method":"notifications/initialized"}',
        b'{"jsonrpc":"2.0","id":7,"result":{}}',
        b'{"jsonrpc":"2.0","id":7,"error":{"code":-1,"message":"x"}}',
        b'{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"x"}}',
        framed("", params={"x": "y" * 1_000_000}),
    ],
    ids=lambda frame: frame[:60].decode(),
)
@pytest.mark.parametrize(
    "around", [(b"", b"\n"), (b"", b"\r\n"), (b"\xef\xbb\xbf", b"\n"), (b" \t", b"  ")]
)
def test_a_message_is_left_as_it_is(frame: bytes, around: tuple[bytes, bytes]) -> None:
    assert message_in(around[0] + frame + around[1]) == frame.decode()


@pytest.mark.parametrize(
    "frame",
    [
        b"",
        b"\n",
        b"\r\n",
        b" \t \n",
        b"\xef\xbb\xbf\n",
        b'{"jsonrpc":"2.0","method":"notifications/unheard","params":[1]}\n',
    ],
)
def test_where_no_answer_is_due(frame: bytes) -> None:
    assert message_in(frame) is None

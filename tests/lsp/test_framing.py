"""Are messages read whole from any pieces, and bad ones told apart?"""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asterism.lsp.process import MessageReader, encode
from asterism.types.errors import LanguageServerError, ServerDied, ServerGarbled


def reader(data: bytes, piece: int = 7, largest: int = 1000) -> MessageReader:
    position = 0

    def read(size: int) -> bytes:
        nonlocal position
        found = data[position : position + min(size, piece)]
        position += len(found)
        return found

    return MessageReader(read, largest)


@given(
    st.lists(st.dictionaries(st.text(), st.text() | st.integers(), max_size=3), max_size=4),
    st.integers(1, 50),
)
def test_messages_survive_any_cutting(messages: list[dict[str, str | int]], piece: int) -> None:
    taken = reader(b"".join(encode(message) for message in messages), piece, 10_000)
    assert [taken.next() for _ in messages] == messages
    assert taken.next() is None


def test_a_lone_surrogate_survives() -> None:
    assert reader(encode({"path": "caf\udce9.ts"})).next() == {"path": "caf\udce9.ts"}


def test_other_headers_and_any_case_are_allowed() -> None:
    body = json.dumps({"a": 1}).encode()
    head = b"Content-Type: x\r\ncontent-LENGTH:  %d\r\n\r\n" % len(body)
    assert reader(head + body).next() == {"a": 1}


@pytest.mark.parametrize(
    ("data", "kind", "says"),
    [
        (b"hello\n" * 2000, ServerGarbled, "without a header: 'hello"),
        (b"hello", ServerGarbled, "last words are no message: 'hello'"),
        (b"A: b\r\n\r\n{}", ServerGarbled, "without a length: 'A: b'"),
        (b"Content-Length: -4\r\n\r\n{}", ServerGarbled, "without a length"),
        (b"Content-Length: 1001\r\n\r\n{}", ServerGarbled, "1,001 bytes; at most 1,000"),
        (b"Content-Length: 3\r\n\r\n{{{", ServerGarbled, "not JSON: '{{{'"),
        (b"Content-Length: 2\r\n\r\n[]", ServerGarbled, "not a message: '[]'"),
        (b"Content-Length: 9\r\n\r\n{}", ServerDied, "in the middle of a message"),
        (b"Content-Length: 900\r\n\r\n" + b"[" * 900, ServerGarbled, "not JSON"),
    ],
)
def test_what_is_wrong_is_said(data: bytes, kind: type[LanguageServerError], says: str) -> None:
    with pytest.raises(kind) as caught:
        reader(data).next()
    assert says in str(caught.value)

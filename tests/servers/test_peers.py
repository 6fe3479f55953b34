"""Is the user at the other end of a loopback connection known, and no other user taken for it?"""

import os
import socket
import struct
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

import pytest

from asterism.servers.http import peers
from asterism.servers.http.peers import Connection, End, Owner, Pair, owner_in_tables, peer_uid
from tests.servers.http_clients import WAIT_SECONDS
from tests.servers.other_user import IS_ROOT, OTHER_UID, run_as_other_user

on_linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells who a peer is")

OURS, THEIRS = End(b"\x7f\0\0\1", 0x20E4), End(b"\x7f\0\0\1", 0xC350)
PAIR = Pair(OURS, THEIRS)
HEADER = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  inode"


def word(*parts: int) -> str:
    """Four bytes as the kernel of this machine writes them."""
    return f"{struct.unpack('=I', bytes(parts))[0]:08X}"


V4 = word(127, 0, 0, 1)
MAPPED = "0" * 16 + word(0, 0, 0xFF, 0xFF) + V4
V6 = "0" * 24 + word(0, 0, 0, 1)


def line(local: str, remote: str, state: str = "01", uid: int = 1000, inode: int = 77) -> str:
    return (
        f"   0: {local} {remote} {state} 00000000:00000000 00:00000000 00000000  {uid}"
        f"        0 {inode} 1 0000000000000000 20 4 30 10 -1"
    )


def table(*lines: str) -> str:
    return "\n".join([HEADER, *lines, ""])


OUR_LINE = line(f"{V4}:20E4", f"{V4}:C350", uid=1000, inode=55)
THEIR_ENDS = (f"{V4}:C350", f"{V4}:20E4")
V6_PAIR = Pair(End(b"\0" * 15 + b"\1", 0x20E4), End(b"\0" * 15 + b"\1", 0xC350))


@pytest.mark.parametrize(
    ("pair", "lines", "expected"),
    [
        (PAIR, [OUR_LINE, line(*THEIR_ENDS, uid=1001)], 1001),
        # A client's socket of the new kind, with an address of the old.
        (PAIR, [OUR_LINE, line(f"{MAPPED}:C350", f"{MAPPED}:20E4", uid=1001)], 1001),
        (
            V6_PAIR,
            [
                line(f"{V6}:20E4", f"{V6}:C350", inode=55),
                line(f"{V6}:C350", f"{V6}:20E4", uid=1001),
            ],
            1001,
        ),
        # The client is gone: what the kernel keeps shows user 0, which is no user's.
        (PAIR, [OUR_LINE, line(*THEIR_ENDS, "06", uid=0, inode=0)], None),
        (PAIR, [OUR_LINE, line(*THEIR_ENDS, "01", uid=0, inode=0)], None),
        (PAIR, [OUR_LINE, line(*THEIR_ENDS, "05", uid=1000)], None),
        (PAIR, [OUR_LINE, line(*THEIR_ENDS, "0A", uid=1000)], None),
        # Our own end is not this connection any more, or is not there.
        (PAIR, [line(*THEIR_ENDS)], None),
        (PAIR, [line(*THEIR_ENDS), line(f"{V4}:20E4", f"{V4}:C350", "08", inode=55)], None),
        (PAIR, [line(*THEIR_ENDS), line(f"{V4}:20E4", f"{V4}:C350", inode=56)], None),
        # Other connections.
        (PAIR, [OUR_LINE, line(f"{V4}:C351", f"{V4}:20E4")], None),
        (PAIR, [OUR_LINE, line(f"{V4}:C350", f"{V4}:20E5")], None),
        (PAIR, [OUR_LINE], None),
        # The id of users that this container does not know can be any user.
        (PAIR, [OUR_LINE, line(*THEIR_ENDS, uid=65_534)], None),
        # Lines that cannot be read.
        (PAIR, [OUR_LINE, "", "x", f" 1: {THEIR_ENDS[0]} {THEIR_ENDS[1]} zz a b c d e f g"], None),
        # An address of another machine has no user here, although a table shows one.
        (Pair(OURS, End(b"\x0a\0\0\1", 0xC350)), [OUR_LINE, line(*THEIR_ENDS)], None),
        (Pair(End(b"\x0a\0\0\1", 0x20E4), THEIRS), [OUR_LINE, line(*THEIR_ENDS)], None),
    ],
)
def test_tables(pair: Pair, lines: list[str], expected: int | None) -> None:
    def look(wanted: Pair) -> Owner | None:
        return owner_in_tables(wanted, iter([table(*lines)]))

    assert peer_uid(pair, 55, look) == expected


def test_a_connection_is_looked_up_once_and_only_if_it_is_one() -> None:
    asked: list[Pair] = []

    def look(pair: Pair) -> Owner | None:
        asked.append(pair)
        return None

    with connected() as (server_end, _):
        connection = Connection(server_end, look)
        assert asked == []
        assert connection.uid is None
        assert connection.uid is None
    assert len(asked) == 2
    assert Connection(None, look).uid is None
    left, right = socket.socketpair()
    with left, right:
        assert Connection(left, look).uid is None
    assert len(asked) == 2


@contextmanager
def connected(
    host: str = "127.0.0.1", family: socket.AddressFamily = socket.AF_INET
) -> Iterator[tuple[socket.socket, socket.socket]]:
    with socket.create_server((host, 0), family=family) as listening:
        port = listening.getsockname()[1]
        with socket.create_connection((host, port)) as client:
            server_end, _ = listening.accept()
            with server_end:
                yield server_end, client


@on_linux
@pytest.mark.parametrize("way", ["kernel", "tables"])
@pytest.mark.parametrize("kind", ["old", "new", "mapped"])
def test_our_own_client_is_us(way: str, kind: str) -> None:
    look = peers._asked_of_kernel if way == "kernel" else by_tables
    with socket.create_server(
        ("::1" if kind == "new" else "127.0.0.1", 0),
        family=socket.AF_INET6 if kind == "new" else socket.AF_INET,
    ) as listening:
        port = listening.getsockname()[1]
        client = socket.socket(socket.AF_INET if kind == "old" else socket.AF_INET6)
        with client:
            client.connect(({"old": "127.0.0.1", "new": "::1"}.get(kind, "::ffff:127.0.0.1"), port))
            server_end, _ = listening.accept()
            with server_end:
                assert Connection(server_end, look).uid == os.geteuid()
                client.close()
                assert Connection(server_end, look).uid is None


def by_tables(pair: Pair) -> Owner | None:
    return owner_in_tables(pair, peers._tables())


@on_linux
def test_a_kernel_that_does_not_answer_is_read_from_its_tables(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def fails(_pair: Pair) -> Owner | None:
        raise PermissionError

    monkeypatch.setattr(peers, "_asked_of_kernel", fails)
    with connected() as (server_end, _):
        assert Connection(server_end).uid == os.geteuid()
        monkeypatch.setattr(peers, "TABLES", (tmp_path / "absent",))
        assert Connection(server_end).uid is None


@on_linux
@pytest.mark.parametrize("way", ["kernel", "tables"])
def test_another_user_is_not_us(way: str) -> None:
    look = peers._asked_of_kernel if way == "kernel" else by_tables
    if not IS_ROOT:
        # Without the right to become another user the injected tables above have to do.
        with connected() as (server_end, _):
            found = Connection(server_end, look).uid
        assert found is not None
        assert found != OTHER_UID
        return
    with socket.create_server(("127.0.0.1", 0)) as listening:
        code = (
            "with socket.create_connection(('127.0.0.1', int(sys.argv[1]))) as client:\n"
            "    print(client.recv(1))\n"
        )
        heard: list[str] = []
        port = str(listening.getsockname()[1])
        other = Thread(target=lambda: heard.append(run_as_other_user(code, port)))
        other.start()
        server_end, _ = listening.accept()
        with server_end:
            assert Connection(server_end, look).uid == OTHER_UID
            server_end.sendall(b"x")
        other.join(WAIT_SECONDS)
        assert heard == ["b'x'\n"]

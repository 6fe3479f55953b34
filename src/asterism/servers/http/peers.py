"""The user at the other end of a loopback connection, from the tables of Linux."""

import os
import socket
import struct
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, TypeAlias

TABLES = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))
_OVERFLOW = Path("/proc/sys/kernel/overflowuid")

_ESTABLISHED = 1
_V4_AS_V6 = b"\0" * 10 + b"\xff\xff"

_NETLINK_SOCK_DIAG, _BY_FAMILY, _REQUEST, _ANY_COOKIE = 4, 20, 1, 0xFFFFFFFF
_HEADER = struct.Struct("=IHHII")
_ENDS = struct.Struct("!HH16s16s")
_TAIL = struct.Struct("=IIIII")
_ANSWER_SECONDS = 1.0


class End(NamedTuple):
    """One end of a connection: its address in four or sixteen bytes, and its port."""

    address: bytes
    port: int


class Pair(NamedTuple):
    """A connection as one of its ends sees it."""

    local: End
    remote: End

    @property
    def turned(self) -> "Pair":
        """The same connection as the other end sees it."""
        return Pair(self.remote, self.local)


class Owner(NamedTuple):
    """The user and the inode of an established socket."""

    uid: int
    inode: int


Look: TypeAlias = Callable[[Pair], Owner | None]
"""Finds the owner of the established socket whose ends are these."""


class Connection:
    """A client's connection; the user at its other end is looked up once, on first use."""

    def __init__(self, connected: socket.socket | None, look: Look | None = None) -> None:
        self._look = look or owner
        self._pair, self._inode = _own_end(connected)
        self._uid: int | None = None
        self._is_known = False

    @property
    def uid(self) -> int | None:
        """The user of the other end; None if it is another machine or unknown."""
        if not self._is_known:
            self._is_known = True
            if self._pair is not None:
                self._uid = peer_uid(self._pair, self._inode, self._look)
        return self._uid


def tells_users() -> bool:
    """Whether the system has tables that name the users of connections."""
    with (
        suppress(OSError),
        socket.create_server(("127.0.0.1", 0)) as listening,
        socket.create_connection(listening.getsockname(), _ANSWER_SECONDS),
    ):
        accepted, _ = listening.accept()
        with accepted:
            return Connection(accepted).uid == os.geteuid()
    return False


def peer_uid(pair: Pair, inode: int, look: Look) -> int | None:
    """The user at the other end of a connection, of which we have the end with this inode.

    Both ends have to be established: while ours is, the other end is that of our client, and no
    later socket that was given the same port.
    """
    if not (_is_loopback(pair.local.address) and _is_loopback(pair.remote.address)):
        return None
    theirs, ours = look(pair.turned), look(pair)
    if theirs is None or ours is None or ours.inode != inode or theirs.inode == inode:
        return None
    return None if theirs.uid == _nobody() else theirs.uid


def owner(pair: Pair) -> Owner | None:
    """The owner by netlink, else by the tables in `/proc`."""
    if sys.platform != "linux":
        return None
    try:
        return _asked_of_kernel(pair)
    except OSError:
        return owner_in_tables(pair, _tables())


def owner_in_tables(pair: Pair, tables: Iterator[str]) -> Owner | None:
    """The same by the text of `/proc/net/tcp` and `tcp6`."""
    # A program may use a socket of the new kind for an address of the old.
    wanted = {_hexadecimal(pair), _hexadecimal(_as_v6(pair))}
    for table in tables:
        for line in table.splitlines()[1:]:
            fields = line.split()
            if len(fields) < 10 or (fields[1], fields[2]) not in wanted:
                continue
            with suppress(ValueError):
                state, uid, inode = int(fields[3], 16), int(fields[7]), int(fields[9])
                # A socket that its process has closed has no user, although the table shows one.
                if state == _ESTABLISHED and inode:
                    return Owner(uid, inode)
    return None


def _tables() -> Iterator[str]:
    for path in TABLES:
        with suppress(OSError):
            yield path.read_text(encoding="ascii", errors="replace")


def _asked_of_kernel(pair: Pair) -> Owner | None:
    """Asks the kernel about one socket, instead of reading a table of all sockets."""
    kinds = ((socket.AF_INET, pair), (socket.AF_INET6, _as_v6(pair)))
    with socket.socket(socket.AF_NETLINK, socket.SOCK_DGRAM, _NETLINK_SOCK_DIAG) as kernel:
        kernel.settimeout(_ANSWER_SECONDS)
        for family, ends in kinds:
            if family == socket.AF_INET and len(pair.local.address) != 4:
                continue
            wanted = _ENDS.pack(
                ends.local.port, ends.remote.port, ends.local.address, ends.remote.address
            )
            asked = struct.pack("=BBBBI", family, socket.IPPROTO_TCP, 0, 0, 0xFFFFFFFF)
            asked += wanted + struct.pack("=III", 0, _ANY_COOKIE, _ANY_COOKIE)
            length = _HEADER.size + len(asked)
            kernel.sendto(_HEADER.pack(length, _BY_FAMILY, _REQUEST, 1, 0) + asked, (0, 0))
            told, (sender, _) = kernel.recvfrom(8_192)
            if sender == 0 and (found := _owner_told(told, wanted)) is not None:
                return found
    return None


def _owner_told(told: bytes, wanted: bytes) -> Owner | None:
    """The owner in the kernel's answer, if it is about the requested socket."""
    ends_at = _HEADER.size + 4
    tail_at = ends_at + len(wanted) + 12
    if len(told) < tail_at + _TAIL.size or _HEADER.unpack_from(told)[1] != _BY_FAMILY:
        return None
    state = told[_HEADER.size + 1]
    if state != _ESTABLISHED or told[ends_at : ends_at + len(wanted)] != wanted:
        return None
    *_, uid, inode = _TAIL.unpack_from(told, tail_at)
    return Owner(uid, inode) if inode else None


def _own_end(connected: socket.socket | None) -> tuple[Pair | None, int]:
    if connected is None or connected.family not in (socket.AF_INET, socket.AF_INET6):
        return None, 0
    try:
        local, remote = connected.getsockname(), connected.getpeername()
        ends = (
            End(socket.inet_pton(connected.family, host), port)
            for host, port in (local[:2], remote[:2])
        )
        return Pair(*map(_plain, ends)), os.fstat(connected.fileno()).st_ino
    except (OSError, ValueError):
        return None, 0


def _plain(end: End) -> End:
    """An address of the old kind in its own form."""
    is_mapped = len(end.address) == 16 and end.address.startswith(_V4_AS_V6)
    return End(end.address[12:], end.port) if is_mapped else end


def _as_v6(pair: Pair) -> Pair:
    return Pair(
        *(End(_V4_AS_V6 + end.address, end.port) if len(end.address) == 4 else end for end in pair)
    )


def _hexadecimal(pair: Pair) -> tuple[str, ...]:
    """The two ends as the tables write them: words of four bytes in the machine's order."""
    return tuple(
        "".join(f"{word:08X}" for word in struct.unpack(f"={len(address) // 4}I", address))
        + f":{port:04X}"
        for address, port in pair
    )


def _is_loopback(address: bytes) -> bool:
    return address[:1] == b"\x7f" if len(address) == 4 else address == b"\0" * 15 + b"\x01"


def _nobody() -> int:
    """The user id that a container shows for every user it does not know."""
    try:
        return int(_OVERFLOW.read_text(encoding="ascii"))
    except (OSError, ValueError):
        return 65_534

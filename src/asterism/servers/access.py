"""Access rules of the HTTP server: allowed hosts, origins, tokens and users.

A page of the web can make a browser send requests to this machine, and by changing what its own
name means it can even read the answers. The browser then says that name as the host, and the page
as the origin: both have to be ours.

A program of the user who runs the server needs no token on the same machine, if it shows no sign of
acting for another client, as a browser does for a page and a proxy for its clients.
"""

import hashlib
import hmac
import ipaddress
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple
from urllib.parse import urlsplit

from asterism.types.errors import SettingError

LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
SHORTEST_TOKEN = 16
"""Characters; a client that may try often enough guesses shorter ones."""

_NAME = re.compile(r"[a-z0-9._:-]+")
_DEFAULT_PORTS = {"http": "80", "https": "443"}


class AccessRefusal(NamedTuple):
    """Why a request is not answered."""

    status: int
    code: str
    message: str


class IdentityKind(StrEnum):
    """The rule by which a request was admitted."""

    anyone = "anyone"
    """The server does not identify clients."""
    user = "user"
    token = "token"
    page = "page"
    """A page of the server's own, which the user has opened."""


class Identity(NamedTuple):
    """The client of a request: equal values are one client. Routes find it in `request.state`."""

    kind: IdentityKind
    name: str = ""
    """The user's number where the system tells it, else the address that the request is from."""


def _unknown() -> int | None:
    """The user is unknown."""
    return None


class Asked(NamedTuple):
    """The headers of a request that access depends on; each as often as it was sent."""

    hosts: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()
    authorizations: tuple[str, ...] = ()
    is_relayed: bool = False
    """Whether a browser or a proxy sent it, perhaps for another client."""
    address: str = ""
    uid: Callable[[], int | None] = _unknown
    """Which user of this machine asks, as the system tells it."""
    cookie: str = ""
    page_key: str = ""
    """The key that a page of the server sends."""


_RELAYING = frozenset({"cookie", "forwarded", "origin", "referer", "sec-fetch-site", "via"})
_RELAYING_PREFIXES = ("x-forwarded-", "x-real-", "cf-", "true-client-")
_BROWSER = "mozilla/"


PAGE_HEADER = "x-asterism-page"


def page_cookie(port: int | None) -> str:
    """The name of the cookie of pages: of its own for each port, for all ports share them."""
    return f"asterism_page_{port or 0}"


def cookie_of(headers: tuple[str, ...], name: str) -> str:
    """The value of a cookie; empty if it is missing or sent twice."""
    pairs = (pair.strip().partition("=") for header in headers for pair in header.split(";"))
    found = [value for key, _, value in pairs if key == name]
    return found[0] if len(found) == 1 else ""


def is_relayed(headers: Iterable[tuple[str, str]]) -> bool:
    """Whether headers, named in small letters, are those of a browser or a proxy.

    Every browser sends `Sec-Fetch-Site` or calls itself Mozilla; pages cannot prevent either.
    Programs on Node send other headers of that family, so these say nothing.
    """
    return any(
        name in _RELAYING
        or name.startswith(_RELAYING_PREFIXES)
        or (name == "user-agent" and _BROWSER in value.lower())
        for name, value in headers
    )


def _no_page(_cookie: str, _key: str) -> bool:
    """There are no pages."""
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """The rules of one server."""

    hosts: frozenset[str] = LOOPBACK_NAMES
    """Names and addresses, in small letters and without ports."""
    any_address: bool = False
    """It listens on every address; an address in place of a name cannot be made to mean another."""
    origins: frozenset[str] = frozenset()
    """Pages beside its own."""
    token: str = ""
    renewed: Callable[[], str] | None = None
    """The token that the user's servers share, as it is now; counts where there is no other."""
    own_uid: int | None = None
    """The user whose programs need no token on this machine."""
    is_page: Callable[[str, str], bool] = _no_page
    """Whether a cookie and a key are those of a page that the user has opened."""

    @property
    def is_closed(self) -> bool:
        """Whether clients have to be identified."""
        return bool(self.token) or self.renewed is not None or self.own_uid is not None

    def refusal(self, asked: Asked, is_open: bool = False) -> AccessRefusal | None:
        """Why a request is refused; None if it is admitted. Open routes need no token."""
        found = self.identified(asked, is_open)
        return found if isinstance(found, AccessRefusal) else None

    def identified(self, asked: Asked, is_open: bool = False) -> Identity | AccessRefusal:
        """The client that sent a request, or why the request is refused."""
        host = asked.hosts[0] if len(asked.hosts) == 1 else ""
        if not self._is_ours(host):
            return _HOST
        if len(asked.origins) > 1 or not all(self._may_ask(page, host) for page in asked.origins):
            return _ORIGIN
        if is_open:
            return Identity(IdentityKind.anyone, asked.address)
        if not self.is_closed:
            return Identity(IdentityKind.anyone, _name(asked))
        if self._is_known(asked.authorizations):
            return Identity(IdentityKind.token, _name(asked))
        if not asked.authorizations and self._is_own(asked, host):
            return Identity(IdentityKind.user, _name(asked))
        if not asked.authorizations and self._is_open_page(asked):
            return Identity(IdentityKind.page, _name(asked))
        return _TOKEN

    def is_foreign(self, origin: str) -> bool:
        """Whether a page that may ask is one of another server, which a browser has to be told."""
        return _plain_origin(origin) in self.origins

    def _is_ours(self, host: str) -> bool:
        name = host_name(host)
        return bool(name) and (name in self.hosts or self._is_any(name))

    def _is_any(self, name: str) -> bool:
        return self.any_address and _address(name) is not None

    def _may_ask(self, origin: str, host: str) -> bool:
        """A page of this server has exactly the host of the request, port included."""
        page = _plain_origin(origin)
        if not page:
            return False
        if page in self.origins:
            return True
        scheme, _, place = page.partition("://")
        return place == _with_port(host.lower(), scheme)

    def _is_known(self, authorizations: tuple[str, ...]) -> bool:
        if len(authorizations) != 1:
            return False
        scheme, _, given = authorizations[0].partition(" ")
        known = self.token or (self.renewed() if self.renewed is not None else "")
        same = hmac.compare_digest(_digest(given.strip()), _digest(known))
        return scheme.lower() == "bearer" and bool(known) and same

    def _is_open_page(self, asked: Asked) -> bool:
        shown = asked.cookie and asked.page_key
        return bool(shown) and self.is_page(asked.cookie, asked.page_key)

    def _is_own(self, asked: Asked, host: str) -> bool:
        """Whether a program of our own user asks for itself.

        It calls this machine as such: by another name it would be called through a proxy.
        """
        return (
            self.own_uid is not None
            and not asked.is_relayed
            and is_this_machine(host_name(host))
            and asked.uid() == self.own_uid
        )


_HOST = AccessRefusal(
    421,
    "host_refused",
    "The server is not called by this name; use its address, or add the name to "
    "server.allowed_hosts.",
)
_ORIGIN = AccessRefusal(
    403,
    "origin_refused",
    "Pages of this origin may not ask the server; add it to server.allowed_origins if it should.",
)
_TOKEN = AccessRefusal(
    401,
    "unauthorized",
    "The request needs the server's token; send it as `Authorization: Bearer TOKEN`. "
    "`asterism doctor` tells the user who runs the server where it is kept.",
)


def is_this_machine(host: str) -> bool:
    """Whether a server that listens on a host is reached from this machine alone."""
    address = _address(host.lower())
    return host.lower() == "localhost" or (address is not None and address.is_loopback)


def access_for(host: str, token: str, allowed_hosts: str = "", allowed_origins: str = "") -> Access:
    """The rules of a server that listens on a host; without a token it must be this machine's."""
    own = host.lower()
    address = _address(own)
    if not is_this_machine(host) and not token:
        raise SettingError(
            f"{host} can be reached from other machines, so requests need a token: set "
            "ASTERISM_SERVER_TOKEN or server.token_file (`openssl rand -hex 32` makes one), or "
            "listen on 127.0.0.1."
        )
    if token and (len(token) < SHORTEST_TOKEN or not token.isascii() or " " in token):
        raise SettingError(
            f"The token has to have {SHORTEST_TOKEN} letters and digits at least, without spaces; "
            "`openssl rand -hex 32` makes one."
        )
    return Access(
        hosts=LOOPBACK_NAMES | {own} | {*map(_known_host, _words(allowed_hosts))},
        any_address=address is not None and address.is_unspecified,
        origins=frozenset(map(_known_origin, _words(allowed_origins))),
        token=token,
    )


def host_name(host: str) -> str:
    """The name of a `Host` header without its port, in small letters; empty if it is not valid."""
    text = host.lower()
    if text.startswith("["):
        name, closed, rest = text[1:].partition("]")
        is_sound = closed and _is_port(rest) and _address(name) is not None
        return name if is_sound else ""
    name, colon, port = text.partition(":")
    return name if _is_port(colon + port) else ""


def _name(asked: Asked) -> str:
    uid = asked.uid()
    return asked.address if uid is None else str(uid)


def _digest(text: str) -> bytes:
    """A digest of fixed length, so that comparing takes constant time."""
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).digest()


def _is_port(text: str) -> bool:
    return not text or (text.startswith(":") and text[1:].isdecimal() and text.isascii())


def _address(name: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(name)
    except ValueError:
        return None


def _plain_origin(origin: str) -> str:
    """Scheme, host and port; empty if it is not an origin, such as `null`."""
    try:
        parts = urlsplit(origin.strip().lower())
        port = parts.port
    except ValueError:
        return ""
    is_more = parts.path or parts.query or parts.fragment or "@" in parts.netloc
    if parts.scheme not in _DEFAULT_PORTS or not parts.hostname or is_more:
        return ""
    name = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return f"{parts.scheme}://{name}:{port or _DEFAULT_PORTS[parts.scheme]}"


def _with_port(host: str, scheme: str) -> str:
    has_port = host.rpartition("]")[2].count(":") == 1
    return host if has_port else f"{host}:{_DEFAULT_PORTS[scheme]}"


def _known_host(written: str) -> str:
    found = written.lower() if _address(written) else host_name(written)
    if not found or not _NAME.fullmatch(found):
        raise SettingError(
            f"server.allowed_hosts: {written!r} is not allowed; give names as `code.example.org`, "
            "separated by commas."
        )
    return found


def _known_origin(written: str) -> str:
    found = _plain_origin(written.rstrip("/"))
    if not found:
        raise SettingError(
            f"server.allowed_origins: {written!r} is not allowed; give pages as "
            "`https://example.org`, separated by commas."
        )
    return found


def _words(text: str) -> Iterable[str]:
    return (word for part in text.split(",") if (word := part.strip()))

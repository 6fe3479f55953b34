"""Are requests told apart by the name they call, the page they come from and the token they bring?"""

import pytest

from asterism.servers.access import Access, Asked, access_for, host_name
from asterism.types.errors import SettingError

TOKEN = "0123456789abcdef0123"
LOCAL = access_for("127.0.0.1", "")
NAMED = access_for("127.0.0.1", "", "code.example, Box.local", "https://pages.example")
PUBLIC = access_for("0.0.0.0", TOKEN, "code.example")


def code_of(access: Access, asked: Asked, is_open: bool = False) -> str | None:
    refusal = access.refusal(asked, is_open)
    return None if refusal is None else refusal.code


@pytest.mark.parametrize(
    ("access", "host", "expected"),
    [
        (LOCAL, "127.0.0.1:8420", None),
        (LOCAL, "localhost", None),
        (LOCAL, "LOCALHOST:1", None),
        (LOCAL, "[::1]:8420", None),
        (LOCAL, "", "host_refused"),
        (LOCAL, "evil.example", "host_refused"),
        (LOCAL, "evil.example:8420", "host_refused"),
        (LOCAL, "localhost.evil.example", "host_refused"),
        (LOCAL, "localhost:8420@evil.example", "host_refused"),
        (LOCAL, "localhost:evil", "host_refused"),
        (LOCAL, "localhost:", "host_refused"),
        (LOCAL, "127.0.0.1.nip.example", "host_refused"),
        (LOCAL, "10.0.0.5", "host_refused"),
        (LOCAL, "[::1", "host_refused"),
        (LOCAL, "[::1]evil", "host_refused"),
        (LOCAL, "::1", "host_refused"),
        (LOCAL, "localhost ", "host_refused"),
        (NAMED, "code.example:443", None),
        (NAMED, "box.local", None),
        (NAMED, "other.example", "host_refused"),
        # An address cannot be made to mean another machine, a name can.
        (PUBLIC, "10.0.0.5:8420", None),
        (PUBLIC, "[fe80::1]", None),
        (PUBLIC, "code.example", None),
        (PUBLIC, "evil.example", "host_refused"),
    ],
)
def test_hosts(access: Access, host: str, expected: str | None) -> None:
    assert code_of(access, Asked((host,)), is_open=True) == expected


@pytest.mark.parametrize("hosts", [(), ("localhost", "localhost"), ("localhost", "evil.example")])
def test_one_host_and_no_more(hosts: tuple[str, ...]) -> None:
    assert code_of(LOCAL, Asked(hosts)) == "host_refused"


@pytest.mark.parametrize(
    ("origin", "is_allowed"),
    [
        ("http://127.0.0.1:8420", True),
        ("HTTP://127.0.0.1:8420", True),
        ("http://127.0.0.1:3000", False),
        ("http://localhost:8420", False),
        ("https://pages.example", True),
        ("https://pages.example:443", True),
        ("http://pages.example", False),
        ("https://pages.example.evil.example", False),
        ("https://evil.example", False),
        ("null", False),
        ("", False),
        ("file://", False),
        ("http://127.0.0.1:8420/path", False),
        ("http://user@127.0.0.1:8420", False),
        ("http://127.0.0.1:99999", False),
        ("http://[::1", False),
    ],
)
def test_origins(origin: str, is_allowed: bool) -> None:
    asked = Asked(("127.0.0.1:8420",), (origin,))
    assert code_of(NAMED, asked) == (None if is_allowed else "origin_refused")


def test_a_page_on_the_default_port_is_ours() -> None:
    assert code_of(NAMED, Asked(("code.example",), ("http://code.example",))) is None
    assert code_of(NAMED, Asked(("code.example",), ("https://code.example",))) is None
    assert code_of(NAMED, Asked(("[::1]",), ("http://[::1]",))) is None
    assert code_of(NAMED, Asked(("[::1]:7",), ("http://[::1]:8",))) == "origin_refused"


@pytest.mark.parametrize(
    ("authorizations", "is_known"),
    [
        ((f"Bearer {TOKEN}",), True),
        ((f"bearer {TOKEN}",), True),
        ((f"Bearer  {TOKEN} ",), True),
        ((), False),
        (("",), False),
        ((TOKEN,), False),
        ((f"Basic {TOKEN}",), False),
        ((f"Bearer {TOKEN}x",), False),
        ((f"Bearer {TOKEN[:-1]}",), False),
        (("Bearer \udcff",), False),
        ((f"Bearer {TOKEN}", f"Bearer {TOKEN}"), False),
    ],
)
def test_tokens(authorizations: tuple[str, ...], is_known: bool) -> None:
    asked = Asked(("10.0.0.5",), (), authorizations)
    assert code_of(PUBLIC, asked) == (None if is_known else "unauthorized")
    assert code_of(PUBLIC, asked, is_open=True) is None


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.0.0.5", "code.example"])
def test_other_machines_need_a_token(host: str) -> None:
    with pytest.raises(SettingError, match=r"need a token: set ASTERISM_SERVER_TOKEN"):
        access_for(host, "")
    assert access_for(host, TOKEN).token == TOKEN


@pytest.mark.parametrize("host", ["127.0.0.1", "127.1.2.3", "::1", "localhost"])
def test_this_machine_needs_none(host: str) -> None:
    assert access_for(host, "").token == ""


@pytest.mark.parametrize("token", ["short", "0123456789 abcdef 0123", "é" * 40])
def test_a_token_that_can_be_guessed_is_refused(token: str) -> None:
    with pytest.raises(SettingError, match="openssl rand"):
        access_for("127.0.0.1", token)


@pytest.mark.parametrize(
    "hosts", ["https://code.example", "code.example/x", "a:b", "*", "*.example", "[x]", "a b"]
)
def test_an_invalid_host_is_an_error_and_opens_nothing(hosts: str) -> None:
    with pytest.raises(SettingError, match=r"server\.allowed_hosts"):
        access_for("127.0.0.1", "", hosts)
    assert code_of(Access(hosts=frozenset({""})), Asked(("evil.example:x",))) == "host_refused"


@pytest.mark.parametrize("written", ["fd00::1", "[fd00::1]", "[FD00::1]:8420"])
def test_addresses_of_the_new_kind_are_names_too(written: str) -> None:
    access = access_for("127.0.0.1", "", written)
    assert code_of(access, Asked(("[fd00::1]:8420",))) is None


@pytest.mark.parametrize("origins", ["pages.example", "https://pages.example/path", "*"])
def test_an_invalid_origin_is_an_error(origins: str) -> None:
    with pytest.raises(SettingError, match=r"server\.allowed_origins"):
        access_for("127.0.0.1", "", "", origins)


def test_the_name_of_a_host() -> None:
    assert [host_name(text) for text in ("A.b:1", "[::1]:2", "x:y", "[x]")] == [
        "a.b",
        "::1",
        "",
        "",
    ]

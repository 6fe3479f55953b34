"""Is a page let in by a code once, and later only with its cookie and its key together?"""

from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from asterism.operations.dispatch.toolbox import Toolbox
from asterism.servers.access import Access, cookie_of
from asterism.servers.http.page_sessions import (
    CODE_SECONDS,
    IDLE_SECONDS,
    MOST_CODES,
    MOST_SESSIONS,
    Opened,
    PageSessions,
)
from tests.servers.conftest import make_engine
from tests.servers.http_clients import client_of, error_of
from tests.servers.test_http_serve import TOKEN

BEARER = {"authorization": f"Bearer {TOKEN}"}
ORIGIN = {"origin": "http://127.0.0.1:8420"}


class Clock:
    """A time that a test sets."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def opened(pages: PageSessions) -> Opened:
    found = pages.open(pages.code())
    assert found is not None
    return found


def test_a_code_opens_one_session() -> None:
    pages = PageSessions()
    code = pages.code()
    page = pages.open(code)
    assert page is not None
    assert pages.open(code) is None
    assert pages.open("") is None
    assert pages.holds(*page)
    assert len({code, *page}) == 3
    pages.end(*page)
    assert not pages.holds(*page)


def test_cookie_and_key_belong_together() -> None:
    pages = PageSessions()
    one, two = opened(pages), opened(pages)
    for cookie, key in [
        (one.cookie, two.key),
        (one.cookie, ""),
        ("", one.key),
        (one.key, one.cookie),
        (one.cookie + "\0" + one.key, ""),
        ("", ""),
    ]:
        assert not pages.holds(cookie, key)
    assert pages.holds(*one)
    assert pages.holds(*two)


def test_time_runs_out() -> None:
    clock = Clock()
    pages = PageSessions(clock)
    late, page = pages.code(), opened(pages)
    clock.now += CODE_SECONDS
    assert pages.open(late) is None
    assert pages.holds(*page)
    for _ in range(3):
        # As long as it asks it stays.
        clock.now += IDLE_SECONDS - 1
        assert pages.holds(*page)
    clock.now += IDLE_SECONDS
    assert not pages.holds(*page)


def test_there_is_an_end_to_codes_and_sessions() -> None:
    pages = PageSessions()
    first = opened(pages)
    codes = [pages.code() for _ in range(MOST_CODES + 1)]
    assert pages.open(codes[0]) is None
    assert pages.open(codes[1]) is not None
    # One that asks is not the one that was idle longest.
    idle = opened(pages)
    assert pages.holds(*first)
    for _ in range(MOST_SESSIONS - 3):
        opened(pages)
    assert pages.holds(*first)
    opened(pages)
    opened(pages)
    assert not pages.holds(*idle)
    assert pages.holds(*first)


@pytest.mark.parametrize(
    ("headers", "value"),
    [
        ((), ""),
        (("a=1",), "1"),
        (("b=2; a=1",), "1"),
        (("b=2;a=1;c",), "1"),
        (("a=1", "b=2"), "1"),
        (("a=1; a=2",), ""),
        (("a=1", "a=1"), ""),
        (("aa=1",), ""),
        (("a",), ""),
        (("a=x=y",), "x=y"),
    ],
)
def test_cookies(headers: tuple[str, ...], value: str) -> None:
    assert cookie_of(headers, "a") == value


@pytest.fixture
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    toolbox = Toolbox(make_engine(tmp_path_factory.mktemp("pages")))
    with client_of(toolbox, access=Access(token=TOKEN)) as made:
        yield made
    toolbox.close()


def test_a_page_asks_with_what_it_was_given(client: TestClient) -> None:
    made = client.post("/session/code", headers=BEARER).json()
    assert made["seconds"] == CODE_SECONDS
    begun = client.post("/session", json={"code": made["code"]}, headers=ORIGIN)
    assert begun.status_code == 200
    cookie = begun.headers["set-cookie"]
    assert "; HttpOnly" in cookie
    assert "; SameSite=strict" in cookie
    assert "; Path=/" in cookie
    assert "Domain" not in cookie
    key = begun.json()["key"]
    assert key not in cookie
    page = {**ORIGIN, "x-asterism-page": key}
    assert client.get("/api/repositories", headers=page).status_code == 200
    # A cookie is sent to other servers of this machine too, and a key alone identifies no page.
    assert error_of(client.get("/api/repositories", headers=ORIGIN)) == "unauthorized"
    foreign = {**page, "origin": "http://127.0.0.1:3000"}
    assert error_of(client.get("/api/repositories", headers=foreign)) == "origin_refused"
    assert error_of(client.post("/session/code", headers=page)) == "unauthorized"
    again = client.post("/session", json={"code": made["code"]}, headers=ORIGIN)
    assert error_of(again) == "unauthorized"
    saved = dict(client.cookies)
    assert client.delete("/session", headers=page).status_code == 204
    client.cookies.update(saved)
    assert error_of(client.get("/api/repositories", headers=page)) == "unauthorized"


@pytest.mark.parametrize("body", [{}, {"code": 5}, {"code": ""}, {"code": "x" * 40}])
def test_what_is_no_code(client: TestClient, body: dict[str, object]) -> None:
    answer = client.post("/session", json=body)
    assert (answer.status_code, error_of(answer)) == (401, "unauthorized")
    assert "set-cookie" not in answer.headers


def test_every_client_may_send_little(client: TestClient) -> None:
    answer = client.post("/session", json={"code": "x" * 2_000})
    assert (answer.status_code, error_of(answer)) == (413, "too_large")


def test_only_who_is_known_gets_a_code(client: TestClient) -> None:
    assert error_of(client.post("/session/code")) == "unauthorized"
